#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/model_plans.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/cuda/vectors/dependencies.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/described_elements.hpp>
#include <voussoir/backends/large_vector.hpp>

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

namespace {

/// Two pieces of pinned memory by turns: while one is copied from the device, the other one is read by the host.
class Staging {
 public:
  Staging(std::shared_ptr<DeviceMemory> memory, std::size_t numbers) : memory_(std::move(memory)), numbers_(numbers) {}
  ~Staging() {
    for (Piece& piece : pieces_) {
      try {
        piece.copied.wait();
      } catch (const Error&) {
        // Work failed on the device; whoever takes the numbers, or synchronises next, gets the Error.
      }
      memory_->release_host(piece.numbers, sizeof(double) * numbers_);
    }
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Copies `count` numbers to piece `turn`, in the order of the stream.
  void begin(int turn, const double* from, std::size_t count) {
    Piece& piece = pieces_[turn % 2];
    if (!piece.numbers) piece.numbers = static_cast<double*>(memory_->allocate_host(sizeof(double) * numbers_));
    copy_async(piece.numbers, from, sizeof(double) * count, stream_of(memory_));
    piece.copied.set(stream_of(memory_));
    piece.count = count;
  }
  /// The numbers of that turn, once they have arrived. Valid until begin(turn + 2).
  std::span<const double> take(int turn) const {
    const Piece& piece = pieces_[turn % 2];
    piece.copied.wait();
    return {piece.numbers, piece.count};
  }

 private:
  struct Piece {
    double* numbers = nullptr;
    std::size_t count = 0;
    StreamMark copied;
  };
  std::shared_ptr<DeviceMemory> memory_;
  std::size_t numbers_;
  Piece pieces_[2];
};

/// Of a piece of values at points. Memory has to be pinned page by page, so pieces are small and used again.
constexpr std::int64_t staged_bytes = std::int64_t{32} << 20;

}  // namespace

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
    const auto width = static_cast<std::size_t>(values);
    // Values pass in pieces: the device computes and copies one while the host puts the one before in its place.
    const std::int32_t piece = piece_elements(staged_bytes, values, batch.element_count);
    Array<double> grouped(memory(d), room_for(piece, values)), plain(memory(d), room_for(piece, values));
    Staging staging(memory(d), room_for(piece, values));
    const auto begin = [&](std::int32_t first) {
      ElementRun run = ElementRun::all(model, d, batch_number, faults, state);
      run.first = first;
      run.count = std::min(piece, batch.element_count - first);
      const std::int64_t numbers = std::int64_t{run.count} * values;
      DeviceSection section(*memory(d));
      program.recover(run, grouped.write_device());
      double* ordered = plain.write_device();
      launch(order_values, grid_for(numbers), stream_of(memory(d)), numbers, values, grouped.read_device(), ordered);
      staging.begin(first / piece, ordered, static_cast<std::size_t>(numbers));
    };
    begin(0);
    if (result.empty())
      result = large_zeros(static_cast<std::size_t>(voussoir::detail::described_elements(model, batch_number)) * width);
    for (std::int32_t first = 0; first < batch.element_count; first += piece) {
      const auto numbers = staging.take(first / piece);
      if (piece < batch.element_count - first) begin(first + piece);
      // An element on the border of two devices is computed by both, with the same result.
      place_records(numbers, width, batch.origin, first, result);
    }
  }
  faults.rethrow();
  return result;
}

}  // namespace voussoir::cuda
