#include <algorithm>

#include <voussoir/backends/cost_model/machine_profile.hpp>
#include <voussoir/backends/version.hpp>

// Rates for a machine that has not been measured. The numbers are rounded ones of docs/benchmarks: two Neoverse V1
// cores for the CPU, an H200 for devices with memory of their own.

namespace voussoir {
namespace {

/// What the built-in rates are derived from.
struct Assumptions {
  double launch;          ///< seconds per call
  double synchronise;     ///< seconds until the host has a result
  double bandwidth;       ///< bytes per second of memory
  double link;            ///< bytes per second between host and device
  double element_work;    ///< ElementClass::work() per second in integration
  double product_work;    ///< the same in matrix-free products
  double factor_rate;     ///< flops per second of a direct solver
  double set_up_numbers;  ///< numbers of the matrix per second in the set-up of multigrid
};

Assumptions assumptions_of(const Backend& backend) {
  const double threads = std::max(1, backend.threads() > 0 ? backend.threads() : 1);
  if (backend.memory(0)->shares_host_memory() || !backend.name().starts_with("cuda"))
    return {2e-6, 2e-6, 20e9 * threads, 10e9, 4e9 * threads, 2e10 * threads, 4e9 * threads, 5e7 * threads};
  return {3e-6, 1.5e-5, 4e12, 5e10, 2.5e12, 2.5e13, 2e10, 4e9};
}

OperationCost assumed(double latency, double seconds_per_unit) {
  OperationCost cost;
  cost.latency = latency;
  cost.levels = {{1, seconds_per_unit}};
  cost.is_assumption = true;
  return cost;
}

}  // namespace

MachineProfile default_profile(const Backend& backend) {
  const Assumptions a = assumptions_of(backend);
  MachineProfile profile;
  profile.machine = machine_name();
  profile.backend = backend.name();
  profile.device = backend.describe();
  profile.devices = backend.devices();
  profile.threads = backend.threads();
  profile.version = version();
  profile.is_assumption = true;
  profile.notes.emplace_back("built-in rates, not measured on this machine");
  const auto add = [&](std::string_view name, double latency, double seconds_per_unit) {
    profile.costs[std::string(name)] = assumed(latency, seconds_per_unit);
  };
  const bool on_host = backend.memory(0)->shares_host_memory();
  profile.overlaps_copies = !on_host;
  const double number = 8 / a.bandwidth;  // seconds to move one number
  add(operations::fill, a.launch, number);
  add(operations::copy, a.launch, 2 * number);
  add(operations::axpy, a.launch, 3 * number);
  add(operations::add, a.launch, 3 * number);
  add(operations::saxpy, a.launch, 4 * number);
  add(operations::border, a.launch, number);
  for (const auto name : {operations::add, operations::saxpy, operations::border})
    profile.costs[std::string(name)].queued = !on_host;
  add(operations::staged_in, a.synchronise, 1 / a.link);
  add(operations::staged_out, a.synchronise, 1 / a.link);
  add(operations::new_array, a.synchronise, 2 / a.link);
  add(operations::dot, a.synchronise, 2 * number);
  add(operations::to_device, a.synchronise, 1 / a.link);
  add(operations::to_host, a.synchronise, 1 / a.link);
  add(operations::exchange, a.synchronise, 8 / a.link);
  add(operations::stencil, a.launch, 3 * number);
  add(operations::slab_in, a.synchronise, 1 / (on_host ? a.bandwidth / 2 : a.link));
  add(operations::slab_out, a.synchronise, 1 / (on_host ? a.bandwidth / 2 : a.link));
  add(operations::slab_tile(1), a.launch, 3 * number);
  add(operations::diffusion, a.launch, 3 * number);
  add(operations::source, a.launch, on_host ? 5e-9 / std::max(1, backend.threads()) : 3 * number);
  add(operations::sweep, a.launch, 5 * number);
  add(operations::sweep_across, a.launch, 5 * number);
  add(operations::sweep_own, a.launch, 8 * number);
  add(operations::sweep_own_across, a.launch, 8 * number);
  for (const int c : {1, 2, 3, 6}) add(operations::bsr(c), a.launch, number * (1 + 0.5 / (c * c)) * 1.4);
  add(operations::csr, a.launch, number * 1.5 * 1.4);
  add(operations::cg, 2 * a.launch + a.synchronise, 12 * number);
  add(operations::amg_set_up, 200 * a.launch, 1 / a.set_up_numbers);
  add(operations::amg_cycle, 60 * a.launch, 4 * number);
  add(operations::factor, 1e-3, 1 / a.factor_rate);
  add(operations::factor_linear, 0, 2e-8);
  const ElementClass brick{"solid.hex8.full", 8, 8, 3};
  profile.element_types = {brick};
  const double work = brick.work();
  add(operations::of_type("integrate", brick.type), a.launch, work / a.element_work);
  add(operations::of_type("assemble", brick.type), 2 * a.launch, 1.5 * work / a.element_work);
  add(operations::of_type("pattern", brick.type), 1e-4, 200 * number);
  add(operations::of_type("product element", brick.type), a.launch, 330 * number);
  add(operations::of_type("product matrix-free", brick.type), a.launch, work / a.product_work);
  return profile;
}

}  // namespace voussoir
