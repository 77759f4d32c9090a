#include <voussoir/apps/commands/solver_options.hpp>

#include <omp.h>

#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>
#include <voussoir/solvers/numbering.hpp>

namespace voussoir::app {

std::string name_choices(const std::string& first, const std::vector<std::string>& rest) {
  std::string text = first;
  for (const auto& choice : rest) text += "|" + choice;
  return text;
}

std::string fault_of_name(const std::string& name, const std::function<void(const std::string&)>& make) {
  if (name == "auto") return {};
  try {
    make(name);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::bad_input || e.code() == ErrorCode::not_found || e.code() == ErrorCode::misuse)
      return e.what();
    throw;
  }
  return {};
}

CLI::Option* add_solver_option(CLI::App& command, std::string& solver) {
  return command
      .add_option("--solver", solver,
                  "auto chooses by the model; direct factorises the matrix, cg iterates. Settings of "
                  "multigrid follow a colon: cg+amg:k-cycle,steps=3 (docs/solvers.md, docs/multigrid.md)")
      ->type_name(name_choices("auto", solver_names()))
      ->check([](const std::string& name) { return fault_of_name(name, [](const std::string& n) { make_solver(n); }); })
      ->capture_default_str();
}

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
      .add_option(
          "--backend", options.how.backend,
          "Compute backend; openmp:N uses N threads, cuda:0,1 two GPUs. With --engine, a list such as cuda/openmp has "
          "one for each process. `voussoir info` lists the available ones")
      ->type_name("auto|openmp|openmp:N|debug|cuda|cuda:0,1")
      ->capture_default_str()
      ->group("Solving");
  add_solver_option(command, options.how.solver)->group("Solving");
  command.add_option("--storage", options.how.storage, "Storage of the matrix, or matrix-free")
      ->type_name(name_choices("auto", soe_names()))
      ->check([](const std::string& name) { return fault_of_name(name, [](const std::string& n) { make_soe(n); }); })
      ->capture_default_str()
      ->group("Solving");
  command
      .add_option("--tangent", options.how.tangent,
                  "Tangent for a conductivity that depends on temperature (full: fewer iterations, with unsymmetric "
                  "systems) and for pressures that follow faces; symmetric leaves out the change of conductivity "
                  "and the unsymmetric part of pressures (docs/solvers.md)")
      ->type_name("auto|full|symmetric")
      ->check(CLI::IsMember({"auto", "full", "symmetric"}))
      ->capture_default_str()
      ->group("Solving");
  command
      .add_option("--numbering", options.how.numbering,
                  "Order of the equations. On several devices, auto gives each of them a part of the mesh, and plain a "
                  "range of the nodes as given; divided:METHOD,speeds=2/1 is for unequal devices (docs/backends.md)")
      ->type_name("auto|plain|rcm|divided")
      ->check([](const std::string& name) { return fault_of_name(name, check_numbering); })
      ->capture_default_str()
      ->group("Solving");
  command.add_option("--threads", options.threads, "Number of CPU threads (default: all)")
      ->type_name("N")
      ->check(whole_number_between(1, 1024))
      ->group("Solving");
  command
      .add_option("--tolerance", options.how.relative_tolerance, "Relative residual at which iterative solvers stop")
      ->type_name("X")
      ->check(number_between(1e-15, 0.5))
      ->capture_default_str()
      ->group("Solving");
  command
      .add_option("--max-iterations", options.how.max_iterations, "Maximum number of iterations of an iterative solver")
      ->type_name("N")
      ->check(whole_number_between(1, 100000000))
      ->capture_default_str()
      ->group("Solving");
  add_work_options(command, options.work, "Solving");
}

CLI::Option* add_eigen_solver_option(CLI::App& command, std::string& solver) {
  return command.add_option("--solver", solver, "Eigen-solver; auto chooses by the size of the model (docs/modal.md)")
      ->type_name(name_choices("auto", eigen_solvers().names()))
      ->check([](const std::string& name) {
        return fault_of_name(name, [](const std::string& n) { make_eigen_solver(n); });
      })
      ->capture_default_str();
}

}  // namespace voussoir::app
