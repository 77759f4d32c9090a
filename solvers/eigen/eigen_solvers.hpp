#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/registry.hpp>
#include <voussoir/framework/analysis/eigen_solver.hpp>
#include <voussoir/framework/analysis/modal_analysis.hpp>

// Eigen-solvers by name, and modal analyses whose collaborators are chosen by name. To add a solver:
//
//   VSR_REGISTER(eigen_solvers, "mine", "what it does in one line",
//                EigenSolverFactory{[](const std::string& options) { return std::make_shared<Mine>(options); }});

namespace voussoir {

/// Creates eigen-solvers of one kind.
struct EigenSolverFactory {
  /// Creates a solver; must not return null. `options` is the text after the colon of its name, or ""; unknown options
  /// should be an Error (bad_input), see refuse_options().
  std::function<std::shared_ptr<EigenSolver>(const std::string& options)> make;
};
/// The registry of eigen-solvers: built-in ones and those of users.
Registry<EigenSolverFactory>& eigen_solvers();

/// Creates an eigen-solver by name, NAME[:OPTIONS]. "auto" chooses by the size of the model when it is asked to solve,
/// and its report says why. An unknown name is an Error (not_found) that lists all.
std::shared_ptr<EigenSolver> make_eigen_solver(const std::string& name);

/// The options of a modal analysis, chosen by name.
struct ModalOptions {
  std::string backend = "auto";                ///< a specification for Backend::open()
  std::string solver = "auto";                 ///< a name for make_eigen_solver()
  std::string constraints = "transformation";  ///< elimination, transformation
  MassKind mass = MassKind::consistent;        ///< form of the mass matrix
  WorkChoices work = {};                       ///< methods that the backend uses
};

/// Creates a ModalAnalysis whose backend and solver are chosen by name. The domain must outlive the analysis.
std::unique_ptr<ModalAnalysis> make_modal_analysis(const Domain& domain, const ModalOptions& options = {});
/// As above, on an open backend. `options.backend` and `options.work` are ignored.
std::unique_ptr<ModalAnalysis> make_modal_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                   const ModalOptions& options = {});

}  // namespace voussoir
