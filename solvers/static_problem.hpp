#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/static_analysis.hpp>

namespace voussoir {

/// Creates a system of equations with the storage of that name: "bsr", "csr", "matrix-free", … (storages()). An unknown
/// name is an Error that proposes the nearest one and lists all. "auto" depends on the model: make_static_analysis()
/// accepts it, this function does not.
std::shared_ptr<LinearSOE> make_soe(const std::string& name);
/// Creates a solver by name, as on the command line: SOLVER[:OPTIONS][+PRECONDITIONER[:OPTIONS]], for example
///
///   direct                the best direct method of the build; direct:mumps, direct:eigen, …
///   cg                    conjugate gradients with block Jacobi
///   cg+amg                with algebraic multigrid; cg+amg:k-cycle,steps=3 (AmgOptions::parse)
///   gmres, bicgstab       for models that are not symmetric, with block Jacobi
///
/// The registries solvers() and preconditioners() (registries.hpp) contain the built-in ones, which docs/solvers.md
/// describes, and those that users add. A wrong part of a name is an Error (not_found or bad_input) that proposes the
/// nearest one and lists all. "auto" is not accepted, as in make_soe().
std::shared_ptr<Solver> make_solver(const std::string& name, double relative_tolerance = 1e-8,
                                    int max_iterations = 50000);
/// Names for make_solver(): every solver, alone and with every preconditioner, and with the options that they propose.
std::vector<std::string> solver_names();
/// Names for make_soe().
std::vector<std::string> soe_names();

/// The options of a static analysis, chosen by name.
struct StaticOptions {
  std::string backend = "auto";  ///< a specification for Backend::open()
  std::string solver = "auto";   ///< a name for make_solver(); auto: by the size and dimension of the model
  std::string storage = "auto";  ///< a name for make_soe(); auto: the storage that suits the solver and the model
  std::string constraints = "transformation";  ///< elimination, transformation, penalty
  std::string numbering = "auto";              ///< plain, rcm; auto: rcm for bands and profiles
  std::string algorithm = "auto";              ///< linear, newton; auto: newton where an element is not linear
  /// Tangent of elements whose parameters depend on their own unknown T, as a conductivity k(T): full, the whole
  /// tangent, which is not symmetric and with which Newton's method converges quadratically; symmetric, without the
  /// change with T; auto: full if the solver, the backend and the size of the model allow it, and symmetric if that
  /// fails
  std::string tangent = "auto";
  double relative_tolerance = 1e-8;  ///< tolerance of iterative solvers
  int max_iterations = 50000;        ///< limit of iterative solvers
  WorkChoices work = {};             ///< methods that the backend uses
};

/// Creates a StaticAnalysis whose backend, solver and other collaborators are chosen by name. The domain must outlive
/// the analysis.
///
///   auto analysis = make_static_analysis(domain);
///   auto results = analysis->run();
std::unique_ptr<StaticAnalysis> make_static_analysis(const Domain& domain, const StaticOptions& options = {});
/// As above, on an open backend. `options.backend` and `options.work` are ignored.
std::unique_ptr<StaticAnalysis> make_static_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                     const StaticOptions& options = {});

}  // namespace voussoir
