#pragma once
#include <voussoir/backends/condensation_services.hpp>

namespace voussoir::cpu {

/// Elimination of dense interiors on the cores of this machine. It has no state, so one object serves all backends.
CondensationServices& condensation_services();

}  // namespace voussoir::cpu
