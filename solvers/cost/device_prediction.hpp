#pragma once
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/model/device_distribution.hpp>

// Predicted times of iterations on several devices, each of which is a GPU of its own. docs/backends.md explains the
// model and compares it with what was measured.

namespace voussoir {

/// A connection between devices.
struct DeviceLink {
  std::string name;             ///< for reports: "NVLink", "PCIe 5"
  double bytes_per_second = 0;  ///< received by one device while all receive
  double latency = 0;           ///< seconds of a message without content
};
/// NVLink 4 of an H200, half of the 900 GB/s of its datasheet, and PCIe 5 as measured on an H200 (docs/stencils.md),
/// both with the latency of small copies that was measured there (docs/cost_model.md).
std::span<const DeviceLink> usual_links();

/// What devices tell each other in an iteration.
struct IterationMessages {
  int exchanges = 1;        ///< of halos: one for each product with the matrix
  int reductions = 2;       ///< sums over all devices whose result the next operation needs
  bool overlapped = false;  ///< whether the halo travels while interior rows are multiplied
  double gathered = 0;      ///< bytes that travel to one device and back, as for multigrid levels that only one has
};

/// The parts of a predicted time, in seconds.
struct IterationPrediction {
  double compute = 0;                                                ///< of the device that has most to do
  double exchange = 0;                                               ///< waiting for halos, and for what is gathered
  double reduction = 0;                                              ///< waiting for sums
  double seconds() const { return compute + exchange + reduction; }  ///< of one iteration
};

/// Predicts an iteration on the devices of a distribution. `compute` is the time of the slowest device alone:
/// measured on one device with as many equations, or that of P logical devices on one GPU divided by P, since those
/// work one after the other. A device receives its halo from its neighbours one by one:
///
///   exchange = max over devices (neighbours · latency + 8 · ghost equations / rate)
///
/// and with overlap only what exceeds `compute` counts. A sum over P devices takes 2 ⌈log₂ P⌉ messages. A negative or
/// infinite number is an Error (misuse).
IterationPrediction predict_iteration(const DeviceDistribution& distribution, double compute, const DeviceLink& link,
                                      const IterationMessages& messages);

}  // namespace voussoir
