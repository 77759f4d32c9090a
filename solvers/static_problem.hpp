#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/static_analysis.hpp>

namespace voussoir {

/// SOEs and solvers by name, as on a command line:
///
///   auto                  by size and kind of the model; SolveReport::choice says what and why
///   direct                the best direct method of the build; direct:mumps, direct:eigen, direct:cholmod (where built
///                         in), direct:band, direct:profile
///   cg                    conjugate gradients with block Jacobi
///   cg+none, cg+jacobi, cg+block-jacobi, cg+chebyshev, cg+fsai
///   cg+amg                algebraic multigrid; settings follow a colon, cg+amg:k-cycle,steps=3 (AmgOptions::parse)
///   cg+jacobi:single, cg+block-jacobi:single    the same with the preconditioner kept in single precision
///   gmres, bicgstab       for models that are not symmetric, with block Jacobi; gmres+none, gmres+jacobi,
///                         gmres+block-jacobi, and the same with bicgstab
///
/// and storage, where it is not left to the solver:
///
///   auto, csr, bsr, band, profile, element, element-scatter, matrix-free
///
/// `auto` depends on the model: make_static_analysis() accepts it, these two functions do not.
std::shared_ptr<LinearSOE> make_soe(const std::string& name);
std::shared_ptr<Solver> make_solver(const std::string& name, double relative_tolerance = 1e-8,
                                    int max_iterations = 50000);
/// The names that make_solver() and make_soe() take.
std::vector<std::string> solver_names();
std::vector<std::string> soe_names();

/// The options of a static analysis, by name.
struct StaticOptions {
  std::string backend = "auto";
  std::string solver = "auto";
  std::string storage = "auto";
  std::string constraints = "transformation";  ///< elimination, transformation, penalty
  std::string numbering = "auto";              ///< plain, rcm; auto: rcm for bands and profiles
  std::string algorithm = "auto";              ///< linear, newton; auto: newton where an element is not linear
  double relative_tolerance = 1e-8;            ///< of iterative solvers
  int max_iterations = 50000;                  ///< of iterative solvers
  WorkChoices work = {};                       ///< methods of the backend
};

/// A StaticAnalysis with its collaborators chosen by name: what most programs want.
///
///   auto analysis = make_static_analysis(domain);
///   auto results = analysis->run();
std::unique_ptr<StaticAnalysis> make_static_analysis(const Domain& domain, const StaticOptions& options = {});
/// The same on an open backend, whose methods stay unchanged: `options.work` is ignored.
std::unique_ptr<StaticAnalysis> make_static_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                     const StaticOptions& options = {});

}  // namespace voussoir
