#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/eigen_solver.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir {

/// Natural modes of a model as a value: it needs neither the model nor a backend any more.
///
/// Shapes are M-orthonormal, φᵢᵀMφⱼ = δᵢⱼ, and have values at all unknowns, those that follow others by multi-point
/// equations included. Of the two signs, a shape has the one with which its first large component is positive.
struct ModeSet {
  /// Directions of base motion: translations along x, y, z and rotations about the axes through the origin.
  static constexpr int directions = 6;
  /// "x", "y", "z", "rx", "ry", "rz".
  static const std::array<std::string, directions>& direction_names();

  EigenReport report;              ///< eigenvalues, frequencies and residuals of the modes, and completeness
  std::vector<NodalField> shapes;  ///< one per mode
  /// Γ = φᵀ M r with the rigid motion r of each direction: how far a base motion excites a mode.
  std::vector<std::array<double, directions>> participation;
  /// rᵀMr: the mass of the model, and its moments of inertia about the origin. Mass at supports counts.
  std::array<double, directions> total_mass{};
  /// φᵀMφ of each shape when it is scaled so that its largest displacement is 1. Rotations are not displacements, those
  /// of a rigid body's rotation node (Domain::set_rotation_node()) included.
  std::vector<double> modal_masses;
  /// Indices of nodes whose ux, uy, uz are rotations, ascending: Domain::set_rotation_node().
  std::vector<std::int32_t> rotation_nodes;

  int count() const { return static_cast<int>(shapes.size()); }  ///< number of modes
  double eigenvalue(int mode) const { return report.modes[static_cast<std::size_t>(mode)].eigenvalue; }  ///< λ
  double frequency(int mode) const { return report.modes[static_cast<std::size_t>(mode)].frequency; }  ///< √λ / 2π
  /// Γ²: the mass that a base motion sees in a mode. All modes together have the mass of the model, less what is fixed
  /// to supports.
  double effective_mass(int mode, int direction) const;
  /// The effective masses of all modes up to this one, as a fraction of the total; 0 where there is no such mass.
  double accumulated(int mode, int direction) const;
};

/// The modal assurance criterion of each mode of `a` with each of `b`, by rows: (aᵀb)² / (aᵀa · bᵀb) over the
/// displacements of all nodes, 1 for the same shape and 0 for orthogonal ones; ModeSet::rotation_nodes have none. Both
/// sets must be of the same mesh; else Error (bad_input).
std::vector<double> modal_assurance(const ModeSet& a, const ModeSet& b);

/// Makes the value of a solution on a backend: shapes on all unknowns, participation and masses.
ModeSet make_mode_set(const EigenProblem& problem, const EigenSolution& solution);

}  // namespace voussoir
