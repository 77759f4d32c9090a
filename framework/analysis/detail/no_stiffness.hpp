#pragma once
#include <voussoir/framework/analysis/mode_measure.hpp>

namespace voussoir::detail {

/// What rounding leaves of the energy of a motion without stiffness, relative to that of the diagonal alone.
inline constexpr double no_stiffness = energy_lost_in_rounding;

}  // namespace voussoir::detail
