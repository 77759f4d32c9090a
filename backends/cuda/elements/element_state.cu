#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/element_equations.hpp>

// What elements see besides the model, computed from the unknowns: temperatures and history.

namespace voussoir::cuda {

namespace {

__global__ void take_temperatures(std::int64_t nodes, int component, const std::int32_t* first,
                                  const std::uint32_t* sets, const double* unknowns, const double* initial,
                                  double start, double* temperature) {
  const std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= nodes) return;
  const int slot = voussoir::detail::slot_of_unknown(sets ? sets + n : nullptr, first[n + 1] - first[n], component);
  if (slot >= 0)
    temperature[n] = unknowns[first[n] + slot];
  else
    temperature[n] = initial ? initial[n] : start;
}

}  // namespace

NodalValues CudaBackend::temperatures(const DeviceModel& model, const Vector& unknowns, int component) {
  voussoir::detail::require_one_column(*model.layout(), unknowns, "temperatures");
  exchange_ghosts(unknowns);
  NodalValues result;
  for (int d = 0; d < devices(); ++d) {
    const DeviceModel::Part& part = model.part(d);
    Array<double>& values = result.parts.emplace_back(memory(d), static_cast<std::size_t>(part.local_nodes));
    if (part.local_nodes == 0) continue;
    DeviceSection section(*memory(d));
    const double* initial = part.initial_temperature.empty() ? nullptr : part.initial_temperature.read_device();
    launch(take_temperatures, grid_for(part.local_nodes), stream_of(memory(d)), std::int64_t{part.local_nodes},
           component, part.first_equation.read_device(), part.unknowns.empty() ? nullptr : part.unknowns.read_device(),
           unknowns.part(d).read_device(), initial, model.start_temperature(), values.write_device());
  }
  return result;
}

int CudaBackend::history_lanes(const ElementProgram& program) const {
  // Elements of route host read their history on the host, as they write it there.
  return route(program) == Route::host ? program.lanes() : lanes;
}

std::shared_ptr<const ElementHistory> CudaBackend::history(const DeviceModel& model, const ElementState& state) {
  voussoir::detail::require_state(model, state, "history");
  std::shared_ptr<ElementHistory> result = make_history(model);
  if (!result) return result;
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  FaultWords faults(model);
  for (int d = 0; d < devices(); ++d)
    for (int b = 0; b < model.batch_count(); ++b) {
      const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(b)];
      ElementHistory::Batch& own = result->parts[static_cast<std::size_t>(d)][static_cast<std::size_t>(b)];
      if (own.values.empty()) continue;
      if (route(*batch.program) == Route::host) {
        const ElementView view = model.host_view(d, b, state);
        faults.note(d, b, batch.program->history(view, 0, batch.element_count, own.values.write_host().data()));
        continue;
      }
      DeviceSection section(*memory(d));
      device_program(*batch.program).histories(ElementRun::all(model, d, b, faults, state), own.values.write_device());
    }
  faults.rethrow();
  return result;
}

}  // namespace voussoir::cuda
