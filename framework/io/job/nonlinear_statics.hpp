#pragma once
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir {

/// The procedure of steps of statics in increments, with large displacements. JobStep::modal has a DynamicStep with the
/// method "static".
inline constexpr Procedure nonlinear_statics = static_cast<Procedure>(static_cast<int>(Procedure::thermal_stress) + 1);

}  // namespace voussoir
