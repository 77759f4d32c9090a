#pragma once
#include <vector>

#include <voussoir/backends/vector.hpp>

namespace voussoir::cpu {

/// Refreshes the ghosts of x from their owners. Free of charge on one device.
void exchange_ghosts(const Vector& x);

/// The same in two steps: what is sent, packed and with its receivers, and its arrival in the ghosts of x.
std::vector<Array<double>> send_ghosts(const Vector& x);
void receive_ghosts(const Vector& x, std::vector<Array<double>> sent);

}  // namespace voussoir::cpu
