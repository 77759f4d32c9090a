#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

/// Free vibration K φ = λ M φ of a model at rest: both matrices, assembled on the backend, and what is known of the
/// problem before it is solved. λ is the square of the angular frequency.
///
/// Vectors have all equations of the model; those that are prescribed or depend on others are zero in them, and
/// products keep them zero. Loads do not act, temperatures are the initial ones.
class EigenProblem {
 public:
  /// Assembles K and M. The model must outlive the problem. Refuses, as Error (bad_input), models without mass, models
  /// whose unknowns are not those of mechanics (a temperature has no frequency) and models that are not symmetric;
  /// motions that have neither stiffness nor mass, and unknowns with a mass that nothing resists, are an Error
  /// (singular) that names them.
  explicit EigenProblem(const AnalysisModel& model, MassKind mass = MassKind::consistent);

  const AnalysisModel& model() const { return model_; }                  ///< the numbered model
  Backend& backend() const { return model_.backend(); }                  ///< the backend that holds the matrices
  MassKind mass_kind() const { return mass_kind_; }                      ///< form of M
  const SparseMatrix& stiffness() const { return *stiffness_; }          ///< K
  const SparseMatrix& mass() const { return *mass_; }                    ///< M
  const Vector& stiffness_diagonal() const { return diagonal_; }         ///< of K; a scale for forces
  const Vector& mass_diagonal() const { return mass_diagonal_; }         ///< of M
  std::int64_t free_equations() const { return free_; }                  ///< unknowns that are solved for
  std::int64_t equations_without_mass() const { return without_mass_; }  ///< free equations whose diagonal of M is zero
  /// An upper estimate of the largest λ that the mesh has: the largest ratio of diagonals. For scales only.
  double largest_ratio() const { return largest_ratio_; }

  /// The motions without stiffness that are known before anything is solved: rigid motions of free parts, and
  /// mechanisms between them. M-orthonormal columns; a Vector without a layout where there are none.
  const Vector& free_motions() const { return free_motions_; }
  /// Number of columns of free_motions().
  int free_motion_count() const { return free_motions_.layout() ? free_motions_.columns() : 0; }

  /// Whether there may be others, which geometry does not show: mechanisms of elements of unknown kind, or very many
  /// free parts. A factorisation of K finds them.
  bool may_have_other_free_motions() const { return others_possible_; }

  /// Whether free_motions() has all of them, as far as geometry tells. Where it has not, only a factorisation of K
  /// finds the others, and a solver without one must refuse the model.
  bool knows_free_motions() const;

  /// Forms stiffness · K + mass · M in an SOE whose model is model().
  void form(LinearSOE& soe, double stiffness, double mass) const;

 private:
  /// Calls work(terms) for stiffness · K + mass · M without loads.
  template <class Work>
  void with_terms(double stiffness, double mass, const Work& work) const;
  void assemble(SparseMatrix& matrix, double stiffness, double mass) const;
  void check_model() const;
  void look_at_diagonals();
  void find_free_motions();

  const AnalysisModel& model_;
  MassKind mass_kind_;
  std::unique_ptr<SparseMatrix> stiffness_, mass_;
  Vector diagonal_, mass_diagonal_, free_motions_;
  std::int64_t free_ = 0, without_mass_ = 0;
  double largest_ratio_ = 0;
  bool others_possible_ = false;
};

}  // namespace voussoir
