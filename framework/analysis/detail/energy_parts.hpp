#pragma once
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

}  // namespace voussoir::detail
