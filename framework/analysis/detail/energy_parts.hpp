#pragma once
#include <optional>

#include <voussoir/framework/analysis/analysis_state.hpp>

namespace voussoir::detail {

/// Parts of the internal energy of a model.
struct EnergyParts {
  double plastic = 0;    ///< dissipated by plastic flow
  double hourglass = 0;  ///< stored by the hourglass control of one-point elements
};

/// Parts of the internal energy at a state: the volume integral of the history variable "plastic_energy" of laws that
/// have it, and, of hexahedra and quadrilaterals with one point, ½ (u · f − V flux : gradient), since their hourglass
/// forces are linear in the displacements. Sums are taken in element order.
EnergyParts energy_parts(const AnalysisModel& model, const AnalysisState& state);

/// Whether the strain energy of a nonlinear model follows from its displacements: all of its elements are linear or are
/// elements for large displacements whose law has a stored energy, and none has a history. False for models with
/// penalty springs.
bool has_stored_energy(const AnalysisModel& model);
/// The strain energy at a state of such a model: the volume integral of the energy at the points, and half of force
/// times motion of linear elements without one; thermal strain is subtracted. No value for other models. Sums are taken
/// in element order.
std::optional<double> stored_energy(const AnalysisModel& model, const AnalysisState& state);

}  // namespace voussoir::detail
