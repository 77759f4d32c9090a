#include <voussoir/backends/cuda/matrix/host_assembly.hpp>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include <voussoir/backends/cuda/matrix/assembly_plan.hpp>
#include <voussoir/backends/cuda/matrix/matrix_sums.hpp>
#include <voussoir/backends/detail/upper_triangle.hpp>

// Assembly on the host, of element matrices that the device computes.

namespace voussoir::cuda {

using voussoir::detail::matrix_entry;

namespace {

/// Bytes of element matrices that are under way to the host at once.
constexpr std::int64_t buffer_bytes = std::int64_t{64} << 20;

/// The numbers of a matrix on the host.
struct HostTarget {
  double* value;
  int block_size;
  bool expanded;
  std::span<const std::uint32_t> slice_first;
  std::span<const std::int32_t> place, node_row, offset, first_equation;

  HostTarget(const DeviceModel& model, int device, CudaSparseMatrix& matrix)
      : value(nullptr), block_size(matrix.block_size()), expanded(matrix.part(device).plan->expanded) {
    CudaSparseMatrix::Part& part = matrix.part(device);
    const auto values = part.value.write_host();
    std::fill(values.begin(), values.end(), 0.0);
    value = values.data();
    slice_first = part.rows.slice_first.read_host();
    place = part.rows.place.read_host();
    if (!expanded) return;
    node_row = part.plan->nodes.row.read_host();
    offset = part.plan->offset.read_host();
    first_equation = model.part(device).first_equation.read_host();
  }

  /// Row i of the block in a lane of a cell, its entries 32 apart; null where there is no block.
  double* row(const GatherCell& cell, std::size_t lane, int i) const {
    const auto block = static_cast<std::size_t>(block_size);
    if (!expanded) return value + (cell.cell * block + static_cast<std::size_t>(i)) * block * slice_rows + lane;
    const std::int32_t first = offset[static_cast<std::size_t>(cell.cell) * slice_rows + lane];
    if (first < 0) return nullptr;
    const std::int32_t node = node_row[static_cast<std::size_t>(cell.slice) * slice_rows + lane];
    const auto at =
        static_cast<std::size_t>(place[static_cast<std::size_t>(first_equation[static_cast<std::size_t>(node)] + i)]);
    return value + (slice_first[at / slice_rows] + static_cast<std::size_t>(first)) * slice_rows + at % slice_rows;
  }
};

/// Adds the contributions of a chunk of elements to cells begin … end of a run.
void sum_cells(const BatchGather& plan, const GatherCell* cells, const std::uint32_t* codes, std::int64_t begin,
               std::int64_t end, const ElementMatrices& m, const HostTarget& target) {
  const int c = m.components, dofs = m.dofs();
  const std::int64_t entries = m.entries();
  const std::uint32_t mask = (1u << plan.node_bits) - 1;
  for (std::int64_t k = begin; k < end; ++k) {
    const GatherCell& cell = cells[k];
    for (std::size_t lane = 0; lane < slice_rows; ++lane)
      for (std::uint32_t d = 0; d < cell.depth(); ++d) {
        const std::uint32_t code = codes[(std::size_t{cell.first_code} + d) * slice_rows + lane];
        if (code == no_code) break;
        const std::int64_t e = std::int64_t{code >> (2 * plan.node_bits)} + plan.first - m.first;
        if (e < 0 || e >= m.count) continue;
        const double* matrix = m.value + e / lanes * entries * lanes + e % lanes;
        const int a = static_cast<int>(code >> plan.node_bits & mask) * c, b = static_cast<int>(code & mask) * c;
        const std::int32_t* nodes = m.slot ? m.element_nodes + (e + m.first) * m.nodes : nullptr;
        for (int i = 0; i < c; ++i) {
          double* row = target.row(cell, lane, nodes ? m.slot_of(nodes[a / c], i) : i);
          for (int j = 0; j < c; ++j)
            row[(nodes ? m.slot_of(nodes[b / c], j) : j) * slice_rows] +=
                matrix[std::int64_t{matrix_entry(a + i, b + j, dofs, m.symmetric)} * lanes];
        }
      }
  }
}

/// The same on several threads: cells do not share numbers.
void sum_chunk(const BatchGather& plan, const ElementMatrices& m, const HostTarget& target) {
  const GatherCell* cells = plan.cell.read_host().data();
  const std::uint32_t* codes = plan.code.read_host().data();
  const auto workers = static_cast<std::int64_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 32u));
  std::vector<std::jthread> threads;
  for (std::int64_t w = 1; w < workers && plan.cells > 1024; ++w)
    threads.emplace_back([=, &plan, &target] {
      sum_cells(plan, cells, codes, plan.cells * w / workers, plan.cells * (w + 1) / workers, m, target);
    });
  sum_cells(plan, cells, codes, 0, threads.empty() ? plan.cells : plan.cells / workers, m, target);
}

/// Pinned memory on the host, for copies from the device. It waits for them before it goes: an error may end the work
/// while one is still under way.
class PinnedBuffer {
 public:
  PinnedBuffer(CudaMemory& memory, std::size_t bytes)
      : memory_(memory), bytes_(bytes), data_(static_cast<double*>(memory.allocate_host(bytes))) {}
  ~PinnedBuffer() {
    memory_.wait_to_end();
    memory_.release_host(data_, bytes_);
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  double* data() const { return data_; }

 private:
  CudaMemory& memory_;
  std::size_t bytes_;
  double* data_;
};

/// Chunks of element matrices on their way to the host, which has two buffers for them: one is filled while it adds
/// what is in the other.
class Pipeline {
 public:
  Pipeline(const HostAssembly& what, const BatchGather& gather, Array<double>& kept, const DependentGather& dependent)
      : what_(what), gather_(gather), kept_(kept), dependent_(dependent) {
    const ElementProgram& program = *batch().program;
    chunk_ = piece_elements(buffer_bytes, std::max(1, program.matrix_entries()), gather.count);
    buffer_ = Array<double>(memory(), room_for(chunk_, program.matrix_entries()));
    for (auto& arrived : arrived_) arrived = std::make_unique<PinnedBuffer>(cuda_memory(memory()), buffer_.bytes());
  }

  void run(const HostTarget& target) {
    start(0, 0);
    const ElementProgram& program = *batch().program;
    int turn = 0;
    for (std::int32_t done = 0; done < gather_.count; done += chunk_, turn = 1 - turn) {
      cuda_memory(memory()).wait();
      if (gather_.count - done > chunk_) start(done + chunk_, 1 - turn);
      ElementMatrices matrices{arrived_[turn]->data(), program.nodes(), program.components(),
                               gather_.first + done,   count(done),     program.symmetric()};
      if (!batch().slot.empty()) {
        matrices.element_nodes = batch().nodes.read_host().data();
        matrices.slot = batch().slot.read_host().data();
      }
      sum_chunk(gather_, matrices, target);
    }
  }

 private:
  const std::shared_ptr<DeviceMemory>& memory() const { return what_.model.layout()->memory(what_.device); }
  const ElementBatch& batch() const {
    return what_.model.part(what_.device).batches[static_cast<std::size_t>(gather_.batch)];
  }
  std::int32_t count(std::int32_t done) const { return std::min(chunk_, gather_.count - done); }

  /// Has a chunk computed and sent.
  void start(std::int32_t done, int turn) {
    const ElementProgram& program = *batch().program;
    DeviceSection section(*memory());
    const ElementRun run{what_.model, what_.device,         gather_.batch, what_.faults,
                         what_.state, gather_.first + done, count(done)};
    double* values = buffer_.write_device();
    device_program(program).matrices(run, MatrixMix::of(what_.terms, batch()), what_.integration, values);
    if (!kept_.empty())
      keep_dependent(
          dependent_,
          {values, program.nodes(), program.components(), run.first, run.count, program.symmetric(), nullptr, nullptr},
          kept_.update_device(), run.stream());
    copy_async(arrived_[turn]->data(), values, sizeof(double) * room_for(run.count, program.matrix_entries()),
               run.stream());
  }

  const HostAssembly& what_;
  const BatchGather& gather_;
  Array<double>& kept_;
  const DependentGather& dependent_;
  std::int32_t chunk_ = 0;
  Array<double> buffer_;
  std::unique_ptr<PinnedBuffer> arrived_[2];
};

}  // namespace

void assemble_on_host(const HostAssembly& what, CudaSparseMatrix& matrix) {
  CudaSparseMatrix::Part& part = matrix.part(what.device);
  const AssemblyPlan& plan = *part.plan;
  const auto& memory = what.model.layout()->memory(what.device);
  std::vector<Array<double>> kept(plan.dependents.size());
  {
    const HostTarget target(what.model, what.device, matrix);
    for (const BatchGather& gather : plan.gathers) {
      const auto number = static_cast<std::size_t>(gather.batch);
      const ElementBatch& batch = what.model.part(what.device).batches[number];
      if (MatrixMix::of(what.terms, batch).empty() || gather.count == 0) continue;
      const DependentGather& dependent = plan.dependents[number];
      if (!dependent.element.empty() && kept[number].empty())
        kept[number] =
            Array<double>(memory, dependent.element.size() * static_cast<std::size_t>(batch.program->matrix_entries()));
      Pipeline(what, gather, kept[number], dependent).run(target);
    }
  }
  DeviceSection section(*memory);
  const cudaStream_t stream = stream_of(memory);
  const MatrixTarget target = MatrixTarget::of(what.model, what.device, matrix);
  for (std::size_t b = 0; b < kept.size(); ++b)
    if (!kept[b].empty()) add_dependent(plan.dependents[b], kept[b].read_device(), target, stream);
  isolate_constrained(plan, what.model.part(what.device).constrained.read_device(), target, stream);
  part.value.drop_host_mirror();
}

}  // namespace voussoir::cuda
