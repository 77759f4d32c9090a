#pragma once
#include <voussoir/backends/detail/overlap.hpp>
#include <voussoir/backends/device_model.hpp>

// All of these act on blocks of `columns` vectors.

namespace voussoir::cpu {

/// y = Tᵀ y on one device, inside a section: owned equations get the shares of the dependent ones, whose local entries
/// (ghosts included) are complete; owned dependent entries become zero. Serial and in the order of the dependencies.
void hand_on_dependent(const DeviceModel& model, int device, double* y, int columns = 1);

/// x[dependent] = Σ coefficient · x[other], for all local dependent equations if `ghosts_too`, else for owned ones.
void set_dependent(const DeviceModel& model, int device, bool ghosts_too, double* x, int columns = 1);
/// The same for all local dependent equations, or for those of a phase.
void set_dependent(const DeviceModel& model, int device, detail::ProductPhase phase, double* x, int columns);

}  // namespace voussoir::cpu
