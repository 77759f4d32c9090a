#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/detail/superposition_basis.hpp>
#include <voussoir/framework/analysis/superposed_response.hpp>
#include <voussoir/framework/response/modal_system.hpp>

namespace voussoir::detail {

/// Columns of numbers, each of which a coordinate multiplies: values[column][entry].
using ColumnValues = std::vector<std::vector<double>>;

/// Values at points of some elements of a block, in all columns.
struct PointColumns {
  std::int32_t block = 0;
  int points = 0;
  std::vector<std::int32_t> elements;  // of the block
  std::vector<std::string> names;
  bool stress = false;   // the names are the six stresses
  ColumnValues columns;  // elements × points × names each
};

/// What a response is made of: the selected modes and, after them, the load patterns that act; with static correction
/// the latter bring their static responses.
///
/// Displacements are u = Σ φ_i c_i + Σ s_j p_j. Without correction c = q and s = 0; with it, s is the static response
/// to the pattern and c_i = q_i − Σ_j P_ij p_j/ω_i² what the modes move beside it.
///
/// Damping forces are those of C = α M + K Φ diag(d) Φᵀ M with d_i = (2 a_i − α)/ω_i², which has 2 a_i in the modes
/// and, but for α, balances within the structure. Forces out of balance are then, by the modal equations, Σ (K − ω_i²
/// M) φ_i (c_i + d_i q_i′) + Σ_j p_j B_j, and zero at free equations where static responses are corrected.
class ResponseColumns {
 public:
  ResponseColumns(std::shared_ptr<const SuperpositionBasis> basis, std::vector<int> modes, ModalSystem system,
                  double alpha, std::vector<int> patterns, bool corrected);

  const SuperpositionBasis& basis() const { return *basis_; }
  const AnalysisModel& model() const { return basis_->model(); }
  const ModalSystem& system() const { return system_; }
  const std::vector<int>& modes() const { return modes_; }
  bool corrected() const { return corrected_; }
  std::size_t mode_count() const { return modes_.size(); }
  std::size_t pattern_count() const { return patterns_.size(); }
  const LoadPattern& pattern(std::size_t j) const { return basis_->pattern(patterns_[j]); }
  double modal_load(std::size_t i, std::size_t j) const {
    return pattern(j).modal[static_cast<std::size_t>(modes_[i])];
  }

  /// Number of coordinates of displacements and what depends on them: modes, then patterns where corrected.
  std::size_t displacement_columns() const { return mode_count() + (corrected_ ? pattern_count() : 0); }
  /// Number of coordinates of reactions: modes and patterns.
  std::size_t reaction_columns() const { return mode_count() + pattern_count(); }
  std::vector<double> displacement_coordinates(const ModalPoint& point) const;
  std::vector<double> reaction_coordinates(const ModalPoint& point) const;
  /// Coordinates of a quantity in a frame: modes; where displacements are corrected, patterns; in the absolute frame,
  /// the motion of the base by each pattern.
  std::vector<double> motion_coordinates(const ModalPoint& point, ModalQuantity quantity, MotionFrame frame) const;

  /// A motion of all nodes.
  NodalField motion(const ModalPoint& point, ModalQuantity quantity, MotionFrame frame) const;
  /// The columns on all equations that motion_coordinates() multiplies.
  ColumnValues motion_columns(ModalQuantity quantity, MotionFrame frame) const;
  /// The same for one equation.
  std::vector<double> motion_entries(std::int32_t equation, ModalQuantity quantity, MotionFrame frame) const;
  /// The whole result.
  StepResult state(const ModalPoint& point, const std::string& name, bool recover) const;
  /// Places of reactions in a field of all unknowns, and their values in each column; after them the sums.
  std::vector<std::size_t> reaction_places(ColumnValues& columns) const;
  /// Calls visit with values at points, in as many passes as memory asks for, blocks and elements in their order.
  void visit_points(const PointRequest& request, const std::function<void(const PointColumns&)>& visit) const;

  /// A field of all unknowns from values on the equations.
  NodalField field_of(const std::vector<double>& values, const std::string& name) const;
  /// The equation of an unknown at a node. Throws Error (not_found).
  std::int32_t equation_of(Id node, const std::string& unknown) const;

 private:
  Vector from_modes(std::span<const double> coefficients) const;
  Vector displacement(const ModalPoint& point) const;
  /// The result of a state with these unknowns and accelerations, K times `damping` added to its forces.
  StepResult result_of(Vector unknowns, Vector acceleration, Vector damping, std::span<const double> loads,
                       const std::string& name, bool recover) const;
  /// Whether a motion has columns that are static responses.
  bool adds_statics(ModalQuantity quantity) const { return corrected_ && quantity == ModalQuantity::displacement; }
  void fill_points(int batch, PointColumns& chunk) const;
  /// A column of displacements, on all equations.
  Vector displacement_column(std::size_t column) const;

  std::shared_ptr<const SuperpositionBasis> basis_;
  std::vector<int> modes_;
  ModalSystem system_;
  double alpha_;
  std::vector<int> patterns_;
  bool corrected_;
};

}  // namespace voussoir::detail
