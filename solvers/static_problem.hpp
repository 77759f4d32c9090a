#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/static_analysis.hpp>

namespace voussoir {

/// Solvers and storages by name, as on a command line: SOLVER[:OPTIONS][+PRECONDITIONER[:OPTIONS]], for example
///
///   direct                the best direct method of the build; direct:mumps, direct:eigen, …
///   cg                    conjugate gradients with block Jacobi
///   cg+amg                with algebraic multigrid; cg+amg:k-cycle,steps=3 (AmgOptions::parse)
///   gmres, bicgstab       for models that are not symmetric, with block Jacobi
///
/// The registries solvers(), preconditioners() and storages() (registries.hpp) hold those of the library and those that
/// users add; docs/solvers.md describes the first. A wrong part of a name is an Error, not_found or bad_input, that
/// proposes the nearest one and lists all.
///
/// `auto` depends on the model: make_static_analysis() accepts it, these two functions do not.
std::shared_ptr<LinearSOE> make_soe(const std::string& name);
std::shared_ptr<Solver> make_solver(const std::string& name, double relative_tolerance = 1e-8,
                                    int max_iterations = 50000);
/// Names that make_solver() and make_soe() take: every solver, alone and with every preconditioner, and the options
/// that they propose.
std::vector<std::string> solver_names();
std::vector<std::string> soe_names();

/// The options of a static analysis, by name.
struct StaticOptions {
  std::string backend = "auto";  ///< as Backend::open() takes it
  std::string solver = "auto";   ///< a name of solver_names(); auto: by the size and dimension of the model
  std::string storage = "auto";  ///< a name of soe_names(); auto: what fits the solver and the model
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
