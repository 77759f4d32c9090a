#include <algorithm>
#include <string>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/model_plans.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/cuda/vectors/dependencies.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/described_elements.hpp>
#include <voussoir/backends/detail/large_vector.hpp>

// Element vectors, summed to nodal vectors: residuals and body loads; and values recovered at points.

namespace voussoir::cuda {

using voussoir::detail::require_batch;
using voussoir::detail::require_factors;
using voussoir::detail::require_one_column;
using voussoir::detail::require_state;

namespace {

/// From the layout of lanes to plain order, element by element.
__global__ void order_values(std::int64_t count, int values, const double* lanes_of_values, double* plain) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::int64_t e = i / values, k = i % values;
  plain[i] = lanes_of_values[(e / 32 * values + k) * 32 + e % 32];
}

}  // namespace

void CudaBackend::residual(const DeviceModel& model, const ElementState& state, std::span<const double> batch_factors,
                           bool through_dependencies, Vector& r) {
  require_state(model, state, "residual");
  require_one_column(*model.layout(), r, "residual");
  require_factors(batch_factors, model.batch_count(), "residual");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  ModelPlans& plans = ModelPlans::of(model);
  // What is handed on must be this call's share alone, so it is summed apart.
  const bool apart = through_dependencies && plans.any_dependency();
  Vector share;
  if (apart) {
    share = Vector(model.layout());
    fill(share, 0);
  }
  FaultWords faults(model);
  for (int d = 0; d < devices(); ++d) {
    Array<double>& y = (apart ? share : r).part(d);
    if (apart) plans.dependencies(d);  // made here, before a section is open
    Array<double> vectors;
    for (int b = 0; b < model.batch_count(); ++b) {
      const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(b)];
      const double factor = batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(b)];
      if (factor == 0 || batch.element_count == 0) continue;
      const NodeGather& plan = plans.gather(d, b);
      const std::size_t room = room_for(batch.element_count, batch.program->dofs());
      if (vectors.size() < room) vectors = Array<double>(memory(d), room);
      DeviceSection section(*memory(d));
      const DeviceProgram& program = device_program(*batch.program);
      program.residuals(ElementRun::all(model, d, b, faults, state), vectors.write_device());
      add_to_nodes(model, d, b, plan, vectors.read_device(), factor, {y.update_device()});
    }
    if (apart) {
      DeviceSection section(*memory(d));
      hand_on_dependent(model, d, {y.update_device()});
    }
  }
  faults.rethrow();
  if (apart) axpy(1, share, r);
}

void CudaBackend::body_load(const DeviceModel& model, int batch_number, const ElementState& state, const BodyLoad& load,
                            Vector& f) {
  require_one_column(*model.layout(), f, "body_load");
  require_batch(batch_number, model.batch_count(), "body_load");
  require_state(model, state, "body_load");
  FaultWords faults(model);
  for (int d = 0; d < devices(); ++d) {
    const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(batch_number)];
    if (!batch.program->takes_body_load())
      throw Error(ErrorCode::misuse, "elements of type " + batch.program->name() +
                                         " do not support body loads; apply gravity and the like to solid elements");
    if (batch.element_count == 0) continue;
    const NodeGather& plan = ModelPlans::of(model).gather(d, batch_number);
    Array<double> vectors(memory(d), room_for(batch.element_count, batch.program->dofs()));
    DeviceSection section(*memory(d));
    device_program(*batch.program)
        .body_loads(ElementRun::all(model, d, batch_number, faults, state), load, vectors.write_device());
    add_to_nodes(model, d, batch_number, plan, vectors.read_device(), 1, {f.part(d).update_device()});
  }
  faults.rethrow();
}

std::vector<double> CudaBackend::recover(const DeviceModel& model, int batch_number, const ElementState& state) {
  require_state(model, state, "recover");
  require_batch(batch_number, model.batch_count(), "recover");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  FaultWords faults(model);
  std::vector<double> result;
  for (int d = 0; d < devices(); ++d) {
    const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(batch_number)];
    const int values = batch.program->points() * static_cast<int>(batch.program->recovered_names().size());
    if (batch.element_count == 0 || values == 0) continue;
    const DeviceProgram& program = device_program(*batch.program);
    // Values pass in pieces, so that many of them need little room beside the model.
    const std::int32_t piece = piece_elements(piece_bytes, values, batch.element_count);
    Array<double> grouped(memory(d), room_for(piece, values)), plain(memory(d), room_for(piece, values));
    for (std::int32_t first = 0; first < batch.element_count; first += piece) {
      ElementRun run = ElementRun::all(model, d, batch_number, faults, state);
      run.first = first;
      run.count = std::min(piece, batch.element_count - first);
      const std::int64_t numbers = std::int64_t{run.count} * values;
      {
        DeviceSection section(*memory(d));
        program.recover(run, grouped.write_device());
        double* ordered = plain.write_device();
        launch(order_values, grid_for(numbers), stream_of(memory(d)), numbers, values, grouped.read_device(), ordered);
        if (numbers < static_cast<std::int64_t>(plain.size()))
          fill_bytes_async(ordered + numbers, 0, sizeof(double) * (plain.size() - static_cast<std::size_t>(numbers)),
                           stream_of(memory(d)));
      }
      const auto numbers_here = plain.read_host();
      // An element on the border of two devices is computed by both, with the same result.
      const auto width = static_cast<std::size_t>(values);
      if (result.empty())
        result = voussoir::detail::large_zeros(
            static_cast<std::size_t>(voussoir::detail::described_elements(model, batch_number)) * width);
      voussoir::detail::place_records(numbers_here.first(static_cast<std::size_t>(numbers)), width, batch.origin, first,
                                      result);
    }
  }
  faults.rethrow();
  return result;
}

}  // namespace voussoir::cuda
