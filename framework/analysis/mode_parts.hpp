#pragma once
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>

// The pieces of a ModeSet, for models that are whole and for parts of one: what parts compute is added up.

namespace voussoir {

/// The rigid motion of each of ModeSet::directions, a column each.
Vector mode_rigid_motions(const AnalysisModel& model);
/// M on all equations, prescribed and dependent ones included, times the rigid motions.
Vector mode_rigid_inertia(const AnalysisModel& model, MassKind kind, const Vector& motions);
/// Vectors of free unknowns with those that follow them.
Vector modes_with_dependents(const AnalysisModel& model, const Vector& vectors);
/// The columns as nodal fields; NaN at unknowns that the model does not have.
std::vector<NodalField> nodal_shapes(const AnalysisModel& model, const Vector& vectors);
/// Fills in rotation_nodes and modal_masses, and gives shapes and participation factors their signs. Returns the sign
/// by which each shape was multiplied.
std::vector<int> orient_modes(const Domain& domain, ModeSet& set);

}  // namespace voussoir
