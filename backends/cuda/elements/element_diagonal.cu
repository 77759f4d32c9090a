#include <algorithm>
#include <map>
#include <string>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/elements/element_equations.hpp>
#include <voussoir/backends/cuda/elements/element_operator.hpp>
#include <voussoir/backends/cuda/matrix/dependent_gather.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/transformed_terms.hpp>

// The diagonal of a matrix that exists as its elements alone.

namespace voussoir::cuda {

using voussoir::detail::matrix_entry;

namespace {

/// Element matrices as they lie on the device: those of elements first … first + count, in plain order, or all of them
/// at their places in clusters.
struct MatrixPiece {
  const double* values = nullptr;
  std::int32_t first = 0, count = 0;
  const std::int32_t* place = nullptr;  ///< null: plain order

  __device__ const double* of(std::int32_t element, int entries) const {
    const std::int64_t at = place ? place[element] : element - first;
    return values + at / 32 * entries * 32 + at % 32;
  }
};

/// Adds the blocks on the diagonal of element matrices to owned nodes, a thread per node.
__global__ void add_node_blocks(std::int32_t owned_nodes, int nodes, int components, bool symmetric, int block_size,
                                const std::uint32_t* start, const std::uint32_t* incidence, ElementEquations equations,
                                const std::uint8_t* skip, MatrixPiece piece, double* blocks) {
  const std::int64_t node = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (node >= owned_nodes) return;
  const int dofs = nodes * components, entries = symmetric ? dofs * (dofs + 1) / 2 : dofs * dofs;
  const auto own = static_cast<std::int32_t>(node);
  for (std::uint32_t k = start[node]; k < start[node + 1]; ++k) {
    const auto e = static_cast<std::int32_t>(incidence[k] / static_cast<std::uint32_t>(nodes));
    const int a = static_cast<int>(incidence[k] % static_cast<std::uint32_t>(nodes));
    if (e < piece.first || e - piece.first >= piece.count || (skip && skip[e])) continue;
    const double* matrix = piece.of(e, entries);
    for (int i = 0; i < components; ++i)
      for (int j = 0; j < components; ++j) {
        const std::int32_t r = equations.of(own, i), c = equations.of(own, j);
        if (r / block_size != c / block_size) continue;
        blocks[static_cast<std::int64_t>(r) * block_size + c % block_size] +=
            matrix[matrix_entry(a * components + i, a * components + j, dofs, symmetric) * 32];
      }
  }
}

/// Whole matrices of a few elements, one after another.
__global__ void extract_matrices(std::int32_t count, const std::int32_t* elements, int entries, MatrixPiece piece,
                                 double* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<std::int64_t>(count) * entries) return;
  const std::int32_t e = elements[i / entries];
  if (e < piece.first || e - piece.first >= piece.count) return;
  out[i] = piece.of(e, entries)[i % entries * 32];
}

__global__ void add_numbers(std::int64_t count, const std::int64_t* at, const double* value, double* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[at[i]] += value[i];
}

/// Rows and columns of equations that are not free: a unit diagonal.
__global__ void set_constrained_blocks(std::int64_t owned, int block_size, const std::uint8_t* constrained,
                                       double* blocks) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= owned * block_size) return;
  const std::int64_t row = i / block_size, column = row / block_size * block_size + i % block_size;
  if (constrained[row] || constrained[column]) blocks[i] = row == column ? 1 : 0;
}

/// What elements with dependent equations have on the diagonal: TᵀKT, and their own share on that of a dependent
/// equation, by place in the blocks. `matrices` are those of the elements, in the order of the dependent elements.
std::map<std::int64_t, double> dependent_shares(const DeviceModel& model, int device, int number, int block_size,
                                                std::span<const double> matrices) {
  const DeviceModel::Part& part = model.part(device);
  const ElementBatch& batch = part.batches[static_cast<std::size_t>(number)];
  const ElementProgram& program = *batch.program;
  const int n = program.nodes(), components = program.components();
  const auto nodes = batch.nodes.read_host();
  const ElementEquations equations = host_element_equations(part, number);
  const DependencyIndex dependency_of(part);
  std::map<std::int64_t, double> shares;
  voussoir::detail::TransformedTerms transformed(program.dofs(), model.layout()->owned(device), program.symmetric());
  for (std::size_t k = 0; k < batch.dependent_elements.size(); ++k) {
    const std::int32_t* own = nodes.data() + static_cast<std::ptrdiff_t>(batch.dependent_elements[k]) * n;
    const double* matrix = matrices.data() + k * static_cast<std::size_t>(program.matrix_entries());
    transformed.visit([&](int i) { return equations.of(own[i / components], i % components); }, dependency_of,
                      [&](std::int32_t r, std::int32_t c, int place, double factor) {
                        if (r / block_size == c / block_size)
                          shares[std::int64_t{r} * block_size + c % block_size] += factor * matrix[place];
                      });
  }
  return shares;
}

}  // namespace

void CudaElementOperator::add_diagonal(int d, int b, int block_size, Array<double>& blocks) const {
  const DeviceModel::Part& model_part = model_->part(d);
  const ElementBatch& elements = batch(d, b);
  const ElementProgram& program = *elements.program;
  const BatchPart& own = part(d, b);
  const auto& memory = model_->layout()->memory(d);
  const cudaStream_t stream = stream_of(memory);
  const int entries = program.matrix_entries();
  const NodeGather& plan = ModelPlans::of(*model_).gather(d, b);
  const auto few = static_cast<std::int32_t>(elements.dependent_elements.size());
  Array<std::uint8_t> skip;
  Array<std::int32_t> list;
  Array<double> extracted;
  if (few > 0) {
    std::vector<std::uint8_t> marks(static_cast<std::size_t>(elements.element_count), 0);
    for (const std::int32_t e : elements.dependent_elements) marks[static_cast<std::size_t>(e)] = 1;
    skip = Array<std::uint8_t>(memory, std::span<const std::uint8_t>(marks));
    list = Array<std::int32_t>(memory, std::span<const std::int32_t>(elements.dependent_elements));
    extracted = Array<double>(memory, static_cast<std::size_t>(few) * static_cast<std::size_t>(entries));
  }
  {
    const bool stored = stores_matrices(own);
    const std::int32_t piece =
        stored ? elements.element_count : piece_elements(piece_bytes, entries, elements.element_count);
    Array<double> computed;
    if (!stored) computed = Array<double>(memory, room_for(piece, entries));
    DeviceSection section(*memory);
    for (std::int32_t first = 0; first < elements.element_count; first += piece) {
      MatrixPiece matrices{nullptr, first, std::min(piece, elements.element_count - first), nullptr};
      if (stored) {
        matrices.values = own.matrices.read_device();
        if (own.clustered) matrices.place = part(d).clusters->batches[static_cast<std::size_t>(b)].place.read_device();
      } else {
        const ElementState state = state_.state();
        ElementRun run = ElementRun::all(*model_, d, b, faults_, state);
        run.first = first;
        run.count = matrices.count;
        device_program(program).matrices(run, own.mix, choices_.integration, computed.write_device());
        matrices.values = computed.read_device();
      }
      launch(add_node_blocks, grid_for(model_part.owned_nodes), stream, model_part.owned_nodes, program.nodes(),
             program.components(), program.symmetric(), block_size, plan.start.read_device(),
             plan.incidence.read_device(), element_equations(model_part, b), few > 0 ? skip.read_device() : nullptr,
             matrices, blocks.update_device());
      if (few > 0)
        launch(extract_matrices, grid_for(std::int64_t{few} * entries), stream, few, list.read_device(), entries,
               matrices, first == 0 ? extracted.write_device() : extracted.update_device());
    }
  }
  if (few == 0) return;
  const std::map<std::int64_t, double> shares = dependent_shares(*model_, d, b, block_size, extracted.read_host());
  std::vector<std::int64_t> at;
  std::vector<double> value;
  for (const auto& [place, share] : shares) {
    at.push_back(place);
    value.push_back(share);
  }
  if (at.empty()) return;
  const Array<std::int64_t> places(memory, std::span<const std::int64_t>(at));
  const Array<double> values(memory, std::span<const double>(value));
  DeviceSection section(*memory);
  launch(add_numbers, grid_for(static_cast<std::int64_t>(at.size())), stream, static_cast<std::int64_t>(at.size()),
         places.read_device(), values.read_device(), blocks.update_device());
}

BlockDiagonal CudaElementOperator::block_diagonal(int block_size) const {
  if (!assembled_) throw Error(ErrorCode::misuse, "block_diagonal: assemble() has not been called for this operator");
  voussoir::detail::require_current(*model_, revision_, "block_diagonal");
  if (equations_ != OperatorEquations::free)
    throw Error(ErrorCode::misuse,
                "block_diagonal: the operator acts on all equations, prescribed ones included; "
                "make one on the free equations");
  if (block_size != 1 && (model_->uniform_components() == 0 || model_->uniform_components() % block_size != 0))
    throw Error(ErrorCode::misuse, "block_diagonal: blocks of " + std::to_string(block_size) +
                                       " need nodes that all have that many equations, or a multiple of it");
  BlockDiagonal diagonal;
  diagonal.block_size = block_size;
  diagonal.layout = model_->layout();
  for (int d = 0; d < model_->devices(); ++d) {
    const auto& memory = model_->layout()->memory(d);
    const cudaStream_t stream = stream_of(memory);
    const std::int64_t owned = model_->layout()->owned(d);
    Array<double> blocks(memory, static_cast<std::size_t>(owned) * static_cast<std::size_t>(block_size));
    {
      DeviceSection section(*memory);
      fill_bytes_async(blocks.write_device(), 0, blocks.bytes(), stream);
    }
    for (int b = 0; b < model_->batch_count(); ++b)
      if (!part(d, b).mix.empty()) add_diagonal(d, b, block_size, blocks);
    {
      DeviceSection section(*memory);
      launch(set_constrained_blocks, grid_for(owned * block_size), stream, owned, block_size,
             model_->part(d).constrained.read_device(), blocks.update_device());
    }
    diagonal.blocks.push_back(std::move(blocks));
  }
  rethrow_faults();
  return diagonal;
}

BlockDiagonal CudaBackend::block_diagonal(const DeviceModel& model, const ElementOperator& source, int block_size) {
  const auto* matrix = dynamic_cast<const CudaElementOperator*>(&source);
  if (!matrix || matrix->model() != &model)
    throw Error(ErrorCode::misuse, "block_diagonal: the operator was not made for this model by this backend");
  if (block_size < 1 || block_size > 6)
    throw Error(ErrorCode::misuse, "block sizes go from 1 to 6, not " + std::to_string(block_size));
  return matrix->block_diagonal(block_size);
}

}  // namespace voussoir::cuda
