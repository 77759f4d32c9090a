#include <voussoir/backends/cuda/projection/cuda_projection.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/elements/element_equations.hpp>
#include <voussoir/backends/cuda/elements/element_operator.hpp>
#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>
#include <voussoir/backends/cuda/projection/element_projection.hpp>
#include <voussoir/backends/cuda/projection/half_projection.hpp>
#include <voussoir/backends/cuda/projection/matrix_stream.hpp>
#include <voussoir/backends/detail/projection_parts.hpp>

namespace voussoir::cuda {

namespace {

/// Lists that projections need of a model, made when they are first asked for.
struct ProjectionLists {
  /// list_rows() of a batch, and what they were made for.
  struct Rows {
    Array<std::int32_t> row;
    bool made = false, constrained = false, clustered = false;
    std::weak_ptr<const ClusterSet> clusters;  ///< where they are `clustered`
  };
  struct Batch {
    Rows stored;     ///< in the order in which an operator stores matrices
    Rows described;  ///< in the order of the model's description
  };
  std::vector<std::vector<Batch>> batches;        ///< per device
  std::vector<Array<std::int32_t>> constrained;   ///< owned equations that are not free, per device
  std::uint64_t constraints = ~std::uint64_t{0};  ///< ModelRevision::constraints of these
};

ProjectionLists& lists_of(const DeviceModel& model) {
  auto& lists = ModelPlans::of(model).other<ProjectionLists>([&] {
    auto made = std::make_shared<ProjectionLists>();
    made->batches.resize(static_cast<std::size_t>(model.devices()));
    for (auto& batches : made->batches) batches.resize(static_cast<std::size_t>(model.batch_count()));
    return made;
  });
  if (lists.constraints == model.revision().constraints) return lists;
  lists.constrained.clear();
  for (auto& batches : lists.batches)
    for (ProjectionLists::Batch& batch : batches) batch.stored.made = false;
  for (int d = 0; d < model.devices(); ++d) {
    const auto flags = model.part(d).constrained.read_host();
    std::vector<std::int32_t> rows;
    for (std::int32_t i = 0; i < model.layout()->owned(d); ++i)
      if (flags[static_cast<std::size_t>(i)]) rows.push_back(i);
    lists.constrained.emplace_back(model.layout()->memory(d), std::span<const std::int32_t>(rows));
  }
  lists.constraints = model.revision().constraints;
  return lists;
}

ProjectionLists::Batch& lists_of(const DeviceModel& model, int device, int batch) {
  return lists_of(model).batches[static_cast<std::size_t>(device)][static_cast<std::size_t>(batch)];
}

/// Makes a list of the rows of a batch. `counted` has local numbers of its elements; empty: their own. Outside a
/// section.
void make_rows(const DeviceModel& model, int device, int batch, const std::vector<std::int32_t>& counted,
               const Array<std::int32_t>* order, std::int64_t count, ProjectionLists::Rows& rows) {
  const auto& memory = model.layout()->memory(device);
  const DeviceModel::Part& part = model.part(device);
  const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
  const Array<std::int32_t> numbers(memory, std::span<const std::int32_t>(counted));
  const int dofs = elements.program->dofs();
  rows.row = Array<std::int32_t>(memory, static_cast<std::size_t>(row_list_size(count, dofs)));
  DeviceSection section(*memory);
  ElementRowSource source;
  source.count = count;
  source.order = order ? order->read_device() : nullptr;
  source.counted = numbers.empty() ? nullptr : numbers.read_device();
  source.nodes = elements.program->nodes();
  source.dofs = dofs;
  source.node = elements.nodes.read_device();
  source.equations = element_equations(part, batch);
  source.constrained = rows.constrained ? part.constrained.read_device() : nullptr;
  list_rows(source, rows.row.write_device(), cuda_memory(memory));
  rows.made = true;
}

/// Rows of the elements in the order in which an operator stores their matrices; `constrained`: without those of
/// equations that are not free. Outside a section.
const Array<std::int32_t>& rows_of_stored(const CudaElementOperator& matrix, int device, int batch, bool constrained) {
  const DeviceModel& model = *matrix.model();
  ProjectionLists::Rows& rows = lists_of(model, device, batch).stored;
  const auto clusters = matrix.clusters_of(device, batch);
  if (rows.made && rows.constrained == constrained && rows.clustered == (clusters != nullptr) &&
      rows.clusters.lock() == clusters)
    return rows.row;
  rows.constrained = constrained;
  rows.clustered = clusters != nullptr;
  rows.clusters = clusters;
  make_rows(model, device, batch, voussoir::detail::counted_elements(model, device, batch),
            clusters ? &clusters->batches[static_cast<std::size_t>(batch)].element : nullptr,
            model.part(device).batches[static_cast<std::size_t>(batch)].element_count, rows);
  return rows.row;
}

/// Rows of all elements of a batch that the model's description has, in its order. Outside a section.
const Array<std::int32_t>& rows_of_description(const DeviceModel& model, int device, int batch) {
  ProjectionLists::Rows& rows = lists_of(model, device, batch).described;
  if (rows.made) return rows.row;
  const std::vector<std::int32_t> counted = voussoir::detail::counted_by_description(model, device, batch);
  const std::int64_t own = model.part(device).batches[static_cast<std::size_t>(batch)].element_count;
  make_rows(model, device, batch, counted, nullptr, counted.empty() ? own : static_cast<std::int64_t>(counted.size()),
            rows);
  return rows.row;
}

/// Zero where an equation is not free.
__global__ void clear_rows(std::int64_t numbers, int columns, const std::uint8_t* constrained, double* x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < numbers && constrained[i / columns]) x[i] = 0;
}

class CudaProjection final : public ProjectionServices {
 public:
  explicit CudaProjection(CudaBackend& backend) : backend_(backend) {}

  void project(const Operator& a, const Vector& x, std::span<double> result) override;
  void project(const DeviceModel& model, ElementMatrixSource& source, const Vector& x,
               std::span<double> result) override;

 private:
  void project_matrix(const CudaSparseMatrix& matrix, const Vector& x, std::span<double> result) const;
  void project_stored(const CudaElementOperator& matrix, const Vector& x, std::span<double> result) const;
  PanelSums enqueue_stored(const CudaElementOperator& matrix, int device, const Vector& x) const;
  static Array<double> expanded(const DeviceModel& model, int device, const Vector& x);

  CudaBackend& backend_;
};

/// Whether an operator of this backend is symmetric for sure.
bool is_symmetric(const Operator& a) {
  if (const auto* elements = dynamic_cast<const CudaElementOperator*>(&a)) return elements->model()->symmetric();
  const auto* matrix = dynamic_cast<const CudaSparseMatrix*>(&a);
  return matrix && matrix->model() && matrix->model()->symmetric();
}

/// Whether half a matrix is stored on every device, whose slices fit in its shared memory.
bool is_half(const Operator& a) {
  const auto* matrix = dynamic_cast<const CudaSparseMatrix*>(&a);
  for (int d = 0; matrix && d < matrix->layout()->devices(); ++d)
    if (!matrix->part(d).tiles || half_projection_bytes(matrix->block_size()) >
                                      cuda_memory(matrix->layout()->memory(d)).facts().shared_bytes_per_block)
      return false;
  return matrix != nullptr;
}

bool fits(const DeviceModel& model) {
  for (int d = 0; d < model.devices(); ++d)
    for (const ElementBatch& batch : model.part(d).batches)
      if (!fits_projection(batch.program->dofs(), cuda_memory(model.layout()->memory(d)))) return false;
  return true;
}

void CudaProjection::project(const Operator& a, const Vector& x, std::span<double> result) {
  voussoir::detail::require_projection(backend_, *a.layout(), x, result);
  if (is_half(a)) return project_matrix(dynamic_cast<const CudaSparseMatrix&>(a), x, result);
  if (const auto* elements = dynamic_cast<const CudaElementOperator*>(&a);
      elements && elements->is_stored_symmetric() && fits(*elements->model()))
    return project_stored(*elements, x, result);
  Vector y(x.layout(), x.columns());
  a.apply(x, y);
  backend_.block_dot(x, y, result);
  if (is_symmetric(a)) voussoir::detail::add_transpose(result, x.columns(), 0.5);
}

void CudaProjection::project_matrix(const CudaSparseMatrix& matrix, const Vector& x, std::span<double> result) const {
  exchange_ghosts(x);
  std::vector<PanelSums> shares;
  for (int d = 0; d < backend_.devices(); ++d) {
    const auto& memory = backend_.memory(d);
    DeviceSection section(*memory);
    const CudaSparseMatrix::Part& own = matrix.part(d);
    shares.emplace_back(all_panels(x.columns()), memory);
    project_half(
        {own.rows.view(), own.value.read_device(), x.part(d).read_device(), x.columns(), backend_.devices() > 1},
        matrix.block_size(), shares.back(), cuda_memory(memory));
    shares.back().enqueue_total();
  }
  std::fill(result.begin(), result.end(), 0.0);
  for (const PanelSums& share : shares) share.add_to(result, x.columns());
  voussoir::detail::add_transpose(result, x.columns(), 1.0);
}

/// x of a device with dependent equations following the others, so that raw matrices are projected; ghosts included.
Array<double> CudaProjection::expanded(const DeviceModel& model, int device, const Vector& x) {
  Array<double> copy = x.part(device).clone();
  const auto& memory = model.layout()->memory(device);
  ModelPlans::of(model).dependencies(device);
  DeviceSection section(*memory);
  double* values = copy.update_device();
  const std::int64_t numbers = std::int64_t{model.layout()->local_size(device)} * x.columns();
  launch(clear_rows, grid_for(numbers), stream_of(memory), numbers, x.columns(),
         model.part(device).constrained.read_device(), values);
  for (int c = 0; c < x.columns(); ++c) set_dependent(model, device, true, {values, x.columns(), c});
  return copy;
}

PanelSums CudaProjection::enqueue_stored(const CudaElementOperator& matrix, int device, const Vector& x) const {
  const DeviceModel& model = *matrix.model();
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = backend_.memory(device);
  const bool free_only = matrix.equations() == OperatorEquations::free;
  const bool depends = free_only && !part.dependencies.empty();
  const Array<double> inner = depends ? expanded(model, device, x) : Array<double>();
  std::vector<const Array<std::int32_t>*> rows;
  for (int b = 0; b < model.batch_count(); ++b)
    rows.push_back(matrix.stored_matrices(device, b).empty()
                       ? nullptr
                       : &rows_of_stored(matrix, device, b, free_only && !depends));
  const Array<std::int32_t>& held = lists_of(model).constrained[static_cast<std::size_t>(device)];

  DeviceSection section(*memory);
  PanelSums sums(upper_panels(x.columns()), memory);
  const double* px = x.part(device).read_device();
  for (int b = 0; b < model.batch_count(); ++b) {
    if (!rows[static_cast<std::size_t>(b)]) continue;
    const ElementBatch& elements = part.batches[static_cast<std::size_t>(b)];
    ProjectedElements job;
    job.matrices = matrix.stored_matrices(device, b).read_device();
    job.count = elements.element_count;
    job.rows = rows[static_cast<std::size_t>(b)]->read_device();
    job.dofs = elements.program->dofs();
    job.x = depends ? inner.read_device() : px;
    job.columns = x.columns();
    project_elements(job, sums, cuda_memory(memory));
  }
  if (free_only && !held.empty())  // a unit diagonal
    project_rows(held.read_device(), static_cast<std::int64_t>(held.size()), px, x.columns(), sums,
                 cuda_memory(memory));
  sums.enqueue_total();
  return sums;
}

void CudaProjection::project_stored(const CudaElementOperator& matrix, const Vector& x,
                                    std::span<double> result) const {
  exchange_ghosts(x);
  std::vector<PanelSums> shares;
  for (int d = 0; d < backend_.devices(); ++d) shares.push_back(enqueue_stored(matrix, d, x));
  std::fill(result.begin(), result.end(), 0.0);
  for (const PanelSums& share : shares) share.add_to(result, x.columns());
  voussoir::detail::mirror_upper(result, x.columns());
}

void CudaProjection::project(const DeviceModel& model, ElementMatrixSource& source, const Vector& x,
                             std::span<double> result) {
  voussoir::detail::require_projection(backend_, *model.layout(), x, result);
  if (!fits(model))
    throw Error(ErrorCode::unavailable,
                "project: the model has elements with more unknowns than the memory on the chip of this GPU has room "
                "for; project an operator of the model, or use the openmp backend");
  exchange_ghosts(x);
  std::vector<PanelSums> shares;
  std::vector<std::unique_ptr<MatrixStream>> streams;
  for (int d = 0; d < backend_.devices(); ++d) {
    for (int b = 0; b < model.batch_count(); ++b)
      if (model.part(d).batches[static_cast<std::size_t>(b)].element_count > 0) rows_of_description(model, d, b);
    DeviceSection section(*backend_.memory(d));
    shares.emplace_back(upper_panels(x.columns()), backend_.memory(d));
    streams.push_back(std::make_unique<MatrixStream>(backend_.memory(d), source.largest_group_bytes()));
  }
  voussoir::detail::GroupCheck check(model);
  source.rewind();
  for (ElementMatrixGroup group; source.next(group);) {
    check.take(group);
    const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(group.entries) *
                              static_cast<std::size_t>((group.count + 31) / 32 * 32);
    for (int d = 0; d < backend_.devices(); ++d) {
      const ElementBatch& elements = model.part(d).batches[static_cast<std::size_t>(group.batch)];
      if (elements.element_count == 0) continue;
      const Array<std::int32_t>& rows = rows_of_description(model, d, group.batch);
      DeviceSection section(*backend_.memory(d));
      ProjectedElements job;
      job.dofs = elements.program->dofs();
      job.rows = rows.read_device() + static_cast<std::ptrdiff_t>(group.first) * listed_rows(job.dofs);
      job.count = group.count;
      job.x = x.part(d).read_device();
      job.columns = x.columns();
      MatrixStream& stream = *streams[static_cast<std::size_t>(d)];
      job.matrices = stream.bring(group.values, bytes, group.pinned);
      project_elements(job, shares[static_cast<std::size_t>(d)], cuda_memory(backend_.memory(d)));
      stream.used();
    }
  }
  check.finish();
  for (int d = 0; d < backend_.devices(); ++d) {
    DeviceSection section(*backend_.memory(d));
    shares[static_cast<std::size_t>(d)].enqueue_total();
  }
  std::fill(result.begin(), result.end(), 0.0);
  for (const PanelSums& share : shares) share.add_to(result, x.columns());
  voussoir::detail::mirror_upper(result, x.columns());
}

}  // namespace

std::unique_ptr<ProjectionServices> make_projection(CudaBackend& backend) {
  return std::make_unique<CudaProjection>(backend);
}

}  // namespace voussoir::cuda
