#pragma once
#include <memory>
#include <optional>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/mode_set.hpp>

namespace voussoir {

/// Free vibration of a model at rest: natural frequencies and modes. Loads do not act, prescribed unknowns do not move,
/// and there is no damping.
///
///   ModalAnalysis analysis(domain, collaborators, make_eigen_solver("auto"));
///   EigenRequest request;
///   request.modes = 27;
///   const ModeSet modes = analysis.solve(request);
class ModalAnalysis : public Analysis {
 public:
  /// The domain must outlive the analysis. Of the collaborators, an SOE, a solver, an integrator and an algorithm are
  /// not used. Throws Error (misuse) without a backend or an eigen-solver.
  ModalAnalysis(const Domain& domain, Collaborators collaborators, std::shared_ptr<EigenSolver> solver);
  ModalAnalysis(const Domain&& domain, Collaborators collaborators, std::shared_ptr<EigenSolver> solver) = delete;
  /// The same with a domain that the analysis shares.
  ModalAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators, std::shared_ptr<EigenSolver> solver);

  /// Consistent (default) or lumped masses.
  void set_mass_kind(MassKind kind) { mass_kind_ = kind; }
  MassKind mass_kind() const { return mass_kind_; }  ///< consistent unless set
  /// What run() asks for; ten modes unless set.
  void set_request(EigenRequest request) { request_ = std::move(request); }

  /// Finds modes. A solver that did not reach its tolerance or is not sure of all modes says so in the report; the
  /// result is what it has. Throws Error for a model that has no modes, or of which some are not defined.
  ModeSet solve(const EigenRequest& request);
  /// The modes of the last solve() or run(). Error (misuse) before.
  const ModeSet& modes() const;

  /// Solves for the request that was set: a result for each mode, whose unknowns are its shape. Throws Error
  /// (not_converged) where modes are not exact or not complete.
  std::vector<StepResult> run() override;

 private:
  std::shared_ptr<EigenSolver> solver_;
  MassKind mass_kind_ = MassKind::consistent;
  EigenRequest request_;
  std::optional<ModeSet> modes_;
};

}  // namespace voussoir
