#pragma once
#include <voussoir/backends/vector.hpp>

namespace voussoir::cpu {

/// Refreshes the ghosts of x from their owners. Free of charge on one device.
void exchange_ghosts(const Vector& x);

}  // namespace voussoir::cpu
