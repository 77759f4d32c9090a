#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/elements/node_gather.hpp>
#include <voussoir/backends/detail/overlap.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

/// The dependencies of one device as arrays on it: x[equation] = Σ coefficient · x[other], and the transpose, by the
/// owned equations that receive shares, in the order of the dependencies.
struct DeviceDependencies {
  std::int32_t count = 0;
  std::int32_t local = 0;        ///< the first ones, which need no ghosts
  Array<std::int32_t> equation;  ///< each list in the order of the dependencies
  Array<std::int32_t> start;     ///< of each dependency in `other` and `coefficient`, and the total
  Array<std::int32_t> other;
  Array<double> coefficient;

  std::int32_t receivers = 0;
  Array<std::int32_t> receiver;        ///< owned equations, ascending
  Array<std::int32_t> receiver_start;  ///< of each in `giver` and `share`, and the total
  Array<std::int32_t> giver;           ///< dependent equations
  Array<double> share;
};

DeviceDependencies make_dependencies(const DeviceModel& model, int device);

using voussoir::detail::ProductPhase;

/// x[dependent] = Σ coefficient · x[other], for all local dependent equations if `ghosts_too`, else for owned ones.
/// Inside a section; only enqueued.
void set_dependent(const DeviceModel& model, int device, bool ghosts_too, const NodalTarget& x);
/// The same for all local dependent equations, or for those of a phase.
void set_dependent(const DeviceModel& model, int device, ProductPhase phase, const NodalTarget& x);
/// y = Tᵀ y: owned equations get the shares of the dependent ones, whose local entries (ghosts included) are complete;
/// owned dependent entries become zero. Inside a section; only enqueued.
void hand_on_dependent(const DeviceModel& model, int device, const NodalTarget& y);

}  // namespace voussoir::cuda
