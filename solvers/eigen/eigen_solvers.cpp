#include <voussoir/solvers/eigen/eigen_solvers.hpp>

#include <algorithm>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/solvers/detail/elimination_effort.hpp>
#include <voussoir/solvers/eigen/detail/eigen_rules.hpp>
#include <voussoir/solvers/eigen/lobpcg.hpp>
#include <voussoir/solvers/eigen/shift_invert_lanczos.hpp>
#include <voussoir/solvers/eigen/subspace_iteration.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

template <class T>
EigenSolverFactory plain_solver(const std::string& name) {
  return {[name](const std::string& options) {
    refuse_options("eigen-solver '" + name + "'", options);
    return std::make_shared<T>();
  }};
}

Registry<EigenSolverFactory>* make_table() {
  auto* table = new Registry<EigenSolverFactory>("eigen-solver");
  table->add_built_in("lanczos", "shift-invert block Lanczos with thick restarts; needs a factorisation",
                      plain_solver<ShiftInvertLanczos>("lanczos"));
  table->add_built_in("subspace", "subspace iteration with Bathe's starting vectors; needs a factorisation",
                      plain_solver<SubspaceIteration>("subspace"));
  table->add_built_in("lobpcg",
                      "block conjugate gradients with multigrid, for models too large to factorise; another "
                      "preconditioner may follow a colon",
                      {[](const std::string& options) {
                        if (!options.empty()) preconditioners().find(options.substr(0, options.find(':')));
                        return std::make_shared<Lobpcg>(options);
                      }});
  return table;
}

/// Chooses another solver when it knows the problem.
class AutomaticEigenSolver final : public EigenSolver {
 public:
  std::string name() const override { return "auto"; }

 protected:
  EigenSolution find(const EigenProblem& problem, const EigenRequest& request) override {
    auto [solver, reason] = choose(problem, request);
    EigenSolution solution;
    try {
      solution = make_eigen_solver(solver)->solve(problem, request);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || solver != "lanczos" || why_not_lobpcg(problem, request) != "")
        throw;
      solver = "lobpcg";
      reason = "the factor of " + std::to_string(problem.free_equations()) + " unknowns does not fit in memory";
      solution = make_eigen_solver(solver)->solve(problem, request);
    }
    solution.report.choice = solver + ", since " + reason;
    return solution;
  }

 private:
  struct Choice {
    std::string solver, reason;
  };

  /// Why LOBPCG cannot be used; empty if it can.
  static std::string why_not_lobpcg(const EigenProblem& problem, const EigenRequest& request) {
    if (request.from > 0 || request.shift == request.shift) return "modes inside the spectrum need a factorisation";
    if (problem.equations_without_mass() > 0) return "some unknowns have no mass";
    if (detail::is_large_part(request.modes, problem)) return "a large part of all modes is asked for";
    if (!problem.knows_free_motions()) return "only a factorisation finds the free motions of its element types";
    if (problem.backend().find<MultigridServices>() == nullptr) return "the backend has no multigrid";
    return {};
  }

  static Choice choose(const EigenProblem& problem, const EigenRequest& request) {
    const Domain& domain = problem.model().domain();
    const int dimension = detail::dimension_of(domain);
    const std::int64_t n = problem.free_equations(), limit = detail::affordable_equations(domain);
    const std::string unknowns = std::to_string(n) + " unknowns";
    if (n <= limit) return {"lanczos", unknowns + " are factorised in seconds (up to " + std::to_string(limit) + ")"};
    if (dimension < 2) return {"lanczos", "trusses, beams and springs are factorised quickly"};
    if (const std::string why = why_not_lobpcg(problem, request); !why.empty()) return {"lanczos", why};
    if (n <= 10 * limit && detail::elimination_effort(domain) <= small_effort)
      return {"lanczos", unknowns + " in a mesh that is thin or long are factorised in seconds"};
    return {"lobpcg",
            unknowns + " exceed the range in which a factorisation is fastest (" + std::to_string(limit) + ")"};
  }

  /// Up to here a factorisation, a hundred solutions and another factorisation to count take less than LOBPCG, which
  /// spends some 50 µs on an unknown for 27 modes, on two cores.
  static constexpr double small_effort = 1e10;
};

// RegistryBase::all() lists it from the start.
[[maybe_unused]] const bool table_made = (eigen_solvers(), true);

}  // namespace

Registry<EigenSolverFactory>& eigen_solvers() {
  static auto* const table = make_table();
  return *table;
}

std::shared_ptr<EigenSolver> make_eigen_solver(const std::string& name) {
  if (name == "auto") return std::make_shared<AutomaticEigenSolver>();
  const std::size_t colon = name.find(':');
  const std::string options = colon == std::string::npos ? "" : name.substr(colon + 1);
  return eigen_solvers().find(name.substr(0, colon)).make(options);
}

std::unique_ptr<ModalAnalysis> make_modal_analysis(const Domain& domain, const ModalOptions& options) {
  auto backend = Backend::open(options.backend);
  backend->choose(options.work);
  return make_modal_analysis(domain, std::move(backend), options);
}

std::unique_ptr<ModalAnalysis> make_modal_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                   const ModalOptions& options) {
  Analysis::Collaborators c;
  c.backend = std::move(backend);
  if (options.constraints == "elimination")
    c.handler = std::make_shared<EliminationHandler>();
  else if (options.constraints != "transformation")
    throw Error(ErrorCode::bad_input,
                "a modal analysis takes the constraint handlers transformation and elimination; "
                "penalty springs would add frequencies of their own",
                "constraint handler '" + options.constraints + "'");
  auto analysis = std::make_unique<ModalAnalysis>(domain, std::move(c), make_eigen_solver(options.solver));
  analysis->set_mass_kind(options.mass);
  return analysis;
}

}  // namespace voussoir
