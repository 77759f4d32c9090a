#include <algorithm>
#include <string>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/matrix/host_assembly.hpp>
#include <voussoir/backends/cuda/matrix/matrix_sums.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/detail/checks.hpp>

// Assembly: integration into a stored matrix, all elements at once or in as many runs as memory asks for.

namespace voussoir::cuda {

namespace {

/// Fewest elements that are integrated at once, where memory is short.
constexpr std::int32_t fewest_elements = 1024;

/// Room for element matrices of a run: for all of them, or, where they would take more than a quarter of the memory
/// that is left, for as many as fit.
class MatrixBuffer {
 public:
  /// How many elements at once; the buffer has room for them.
  std::int32_t reserve(const std::shared_ptr<DeviceMemory>& memory, std::int32_t count, int entries) {
    const CudaMemory& cuda = cuda_memory(memory);
    const std::size_t used = memory->bytes_in_use(), free = cuda.free();
    const auto bytes_each = static_cast<std::int64_t>(sizeof(double)) * entries;
    const auto quarter = static_cast<std::int64_t>((free > used ? free - used : 0) / 4);
    const std::int64_t all = (std::int64_t{count} + lanes - 1) / lanes * lanes;
    std::int64_t chunk = std::min(all, std::max<std::int64_t>(fewest_elements, quarter / bytes_each / lanes * lanes));
    for (;; chunk = std::max<std::int64_t>(fewest_elements, chunk / 2 / lanes * lanes)) {
      const std::size_t wanted = room_for(chunk, entries);
      if (values_.size() >= wanted) break;
      try {
        values_ = {};
        values_ = Array<double>(memory, wanted);
        break;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || chunk <= fewest_elements) throw;
      }
    }
    return static_cast<std::int32_t>(std::min<std::int64_t>(chunk, count));
  }
  double* write_device() { return values_.write_device(); }

 private:
  Array<double> values_;
};

/// What assembling on one device is about.
struct DeviceAssembly {
  const DeviceModel& model;
  int device;
  const ElementState& state;
  const MatrixTerms& terms;
  const WorkChoices& choices;
  FaultWords& faults;
  CudaSparseMatrix& matrix;

  const AssemblyPlan& plan() const { return *matrix.part(device).plan; }
  const ElementBatch& batch(int number) const { return model.part(device).batches[static_cast<std::size_t>(number)]; }
  const DependentGather& dependent(int number) const { return plan().dependents[static_cast<std::size_t>(number)]; }

  /// True where the runs of elements set every number that they add to, so that none need be zeroed before.
  bool sets_everything() const {
    const AssemblyPlan& p = plan();
    return p.whole_blocks && choices.deterministic &&
           std::all_of(p.gathers.begin(), p.gathers.end(),
                       [&](const BatchGather& g) { return !MatrixMix::of(terms, batch(g.batch)).empty(); }) &&
           std::all_of(p.dependents.begin(), p.dependents.end(),
                       [](const DependentGather& g) { return g.element.empty(); });
  }

  void run() {
    const auto& memory = model.layout()->memory(device);
    const cudaStream_t stream = stream_of(memory);
    const bool set_first = sets_everything();
    DeviceSection section(*memory);
    CudaSparseMatrix::Part& part = matrix.part(device);
    if (!set_first) fill_bytes_async(part.value.write_device(), 0, part.value.bytes(), stream);
    MatrixBuffer buffer;
    for (std::size_t g = 0; g < plan().gathers.size();) {
      const int number = plan().gathers[g].batch;
      const bool wanted = !MatrixMix::of(terms, batch(number)).empty();
      Array<double> kept;
      if (wanted && !dependent(number).element.empty())
        kept = Array<double>(memory, dependent(number).element.size() *
                                         static_cast<std::size_t>(batch(number).program->matrix_entries()));
      for (; g < plan().gathers.size() && plan().gathers[g].batch == number; ++g)
        if (wanted) add_run(plan().gathers[g], buffer, set_first, kept, stream);
      if (!kept.empty())
        add_dependent(dependent(number), kept.read_device(), MatrixTarget::of(model, device, matrix), stream);
    }
    isolate_constrained(plan(), model.part(device).constrained.read_device(), MatrixTarget::of(model, device, matrix),
                        stream);
  }

  void add_run(const BatchGather& gather, MatrixBuffer& buffer, bool set_first, Array<double>& kept,
               cudaStream_t stream) {
    const ElementBatch& elements = batch(gather.batch);
    const ElementProgram& program = *elements.program;
    const DeviceProgram& routines = device_program(program);
    const MatrixMix mix = MatrixMix::of(terms, elements);
    const std::int32_t chunk = buffer.reserve(model.layout()->memory(device), gather.count, program.matrix_entries());
    for (std::int32_t done = 0; done < gather.count; done += chunk) {
      const ElementRun run{
          model, device, gather.batch, faults, state, gather.first + done, std::min(chunk, gather.count - done)};
      double* values = buffer.write_device();
      routines.matrices(run, mix, choices.integration, values);
      ElementMatrices matrices{values,    program.nodes(), program.components(),
                               run.first, run.count,       program.symmetric()};
      if (!elements.slot.empty()) {
        matrices.element_nodes = elements.nodes.read_device();
        matrices.slot = elements.slot.read_device();
      }
      const MatrixTarget target = MatrixTarget::of(model, device, matrix);
      if (choices.deterministic)
        gather_matrices(gather, matrices, target, set_first && done == 0, stream);
      else
        scatter_matrices(elements.nodes.read_device(),
                         plan().skip[static_cast<std::size_t>(gather.batch)].read_device(), matrices, target, stream);
      if (!kept.empty()) keep_dependent(dependent(gather.batch), matrices, kept.update_device(), stream);
    }
  }
};

}  // namespace

void CudaBackend::assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                           SparseMatrix& target) {
  auto* matrix = dynamic_cast<CudaSparseMatrix*>(&target);
  if (!matrix || matrix->model() != &model)
    throw Error(ErrorCode::misuse, "assemble: the matrix was not made for this model by this backend");
  voussoir::detail::require_state(model, state, "assemble");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  voussoir::detail::require_factors(terms, model.batch_count(), "assemble");
  FaultWords faults(model);
  for (int d = 0; d < devices(); ++d) {
    follow_model(model, d, *matrix);
    if (choices_.assembly == Assembly::host)
      assemble_on_host({model, d, state, terms, choices_.integration, faults}, *matrix);
    else
      DeviceAssembly{model, d, state, terms, choices_, faults, *matrix}.run();
  }
  faults.rethrow();
}

}  // namespace voussoir::cuda
