#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>

namespace voussoir::detail {

/// A distribution of loads over the model: a load case, or the inertia −M r of a base that accelerates.
struct LoadPattern {
  std::string label;          ///< "base acceleration along x", "load case 'wind'"
  int load_case = -1;         ///< index of the domain's load case, or −1
  int direction = -1;         ///< of ModeSet::direction_names(), or −1
  std::vector<double> modal;  ///< φᵀ f of every mode
  Vector statics;             ///< u of K u = f on all equations; without a layout until it was solved for
  double static_energy = 0;   ///< fᵀ u, where it was solved for
};

/// The modes of a model on its backend, and the load patterns that act on them.
class SuperpositionBasis {
 public:
  SuperpositionBasis(const AnalysisModel& model, const ModeSet& modes, MassKind mass);

  const AnalysisModel& model() const { return model_; }
  MassKind mass_kind() const { return mass_kind_; }
  int modes() const { return static_cast<int>(omegas_.size()); }
  double omega(int mode) const { return omegas_[static_cast<std::size_t>(mode)]; }
  double total_mass(int direction) const { return total_mass_[static_cast<std::size_t>(direction)]; }
  const Vector& shapes() const { return shapes_; }
  /// A number that other modes, or the same in another order or with other signs, do not have.
  std::uint64_t fingerprint() const { return fingerprint_; }
  /// What the eigen-solver says of modes that are missing; empty where none is known to be.
  const std::string& incomplete() const { return incomplete_; }
  const std::vector<std::string>& notes() const { return notes_; }  ///< what else the user should know

  /// Throws Error (misuse) where the model has changed since.
  void check_unchanged() const;

  /// The pattern of a load case or of a direction; made when it is asked for the first time. Throws Error.
  int pattern_of_case(const std::string& name);
  int pattern_of_direction(const std::string& name);
  const LoadPattern& pattern(int index) const { return patterns_[static_cast<std::size_t>(index)]; }
  /// The rigid motion of a direction on all equations.
  Vector rigid_motion(int direction) const;

  void set_solver(std::shared_ptr<LinearSOE> soe, std::shared_ptr<Solver> solver);
  /// Why static responses cannot be computed; empty where they can.
  std::string no_statics() const;
  /// Computes the static responses of these patterns that are not there yet.
  void solve_statics(const std::vector<int>& patterns);

  /// A vector whose entries are zero; those of AnalysisModel::make_vector() are undefined on some devices.
  Vector zeros() const;
  /// y = Σ coefficient_i φ_i, with a coefficient for each mode.
  Vector combination(std::span<const double> coefficients) const;
  /// A shape on all equations.
  Vector shape(int mode) const;
  /// y = M x on all equations, prescribed and dependent ones too.
  void mass_times(const Vector& x, Vector& y) const;
  /// Coordinates φᵀ M u of a field, and uᵀMu. `what` is for messages.
  std::vector<double> project(const NodalField& field, const std::string& what, double& whole) const;

 private:
  void check_model() const;
  void check_modes(const ModeSet& modes) const;
  void take_shapes(const ModeSet& modes);
  void note(const std::string& text);
  Vector force(const LoadPattern& pattern) const;
  int add(LoadPattern pattern);

  const AnalysisModel& model_;
  std::uint64_t serial_;
  MassKind mass_kind_;
  std::unique_ptr<ElementOperator> mass_;
  Vector shapes_;  // a column per mode, dependent equations included
  std::uint64_t fingerprint_ = 0;
  std::vector<double> omegas_;
  std::array<double, ModeSet::directions> total_mass_{};
  std::vector<LoadPattern> patterns_;
  std::shared_ptr<LinearSOE> soe_;
  std::shared_ptr<Solver> solver_;
  std::string incomplete_;
  std::vector<std::string> notes_;
  std::string free_;  // how the model can move freely; empty where it cannot
};

}  // namespace voussoir::detail
