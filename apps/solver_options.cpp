#include <voussoir/apps/solver_options.hpp>

#include <omp.h>

#include <voussoir/apps/number_checks.hpp>

namespace voussoir::app {
namespace {

/// "auto|direct|cg", from which help and shell completion take the choices.
std::string choices(const std::string& first, const std::vector<std::string>& rest) {
  std::string text = first;
  for (const auto& choice : rest) text += "|" + choice;
  return text;
}

}  // namespace

StaticOptions SolverOptions::resolved() const {
  StaticOptions result = how;
  result.work = work.choices();
  if (threads <= 0) return result;
  if (how.backend == "auto" || how.backend == "openmp") {
    result.backend = "openmp:" + std::to_string(threads);
  } else if (how.backend.starts_with("openmp:")) {
    if (how.backend != "openmp:" + std::to_string(threads))
      throw CLI::ValidationError(
          "--threads", std::to_string(threads) + " contradicts --backend " + how.backend + "; give one of them");
  } else {
    omp_set_num_threads(threads);  // what the host does beside another backend
  }
  return result;
}

void add_solver_options(CLI::App& command, SolverOptions& options) {
  command
      .add_option("--backend", options.how.backend,
                  "Where numbers are crunched; openmp:N takes N threads, cuda:0,1 two GPUs. `voussoir info` says "
                  "what is there")
      ->type_name("auto|openmp|openmp:N|debug|cuda|cuda:0,1")
      ->capture_default_str()
      ->group("Solving");
  command
      .add_option("--solver", options.how.solver,
                  "auto looks at size and kind of the model and says why; direct eliminates, cg iterates. Settings of "
                  "multigrid follow a colon: cg+amg:k-cycle,steps=3 (docs/multigrid.md)")
      ->type_name(choices("auto", solver_names()))
      ->capture_default_str()
      ->group("Solving");
  command.add_option("--storage", options.how.storage, "How the matrix is kept, or not at all")
      ->type_name(choices("auto", soe_names()))
      ->capture_default_str()
      ->group("Solving");
  command.add_option("--threads", options.threads, "Threads of the processor (default: all)")
      ->type_name("N")
      ->check(whole_number_between(1, 1024))
      ->group("Solving");
  command.add_option("--tolerance", options.how.relative_tolerance, "Relative residual at which an iteration stops")
      ->type_name("X")
      ->check(number_between(1e-15, 0.5))
      ->capture_default_str()
      ->group("Solving");
  command.add_option("--max-iterations", options.how.max_iterations, "Most iterations of cg")
      ->type_name("N")
      ->check(whole_number_between(1, 100000000))
      ->capture_default_str()
      ->group("Solving");
  add_work_options(command, options.work, "Solving");
}

}  // namespace voussoir::app
