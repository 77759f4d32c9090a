#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>

#include <algorithm>
#include <numeric>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/matrix/assembly_plan.hpp>
#include <voussoir/backends/cuda/matrix/sliced_search.hpp>
#include <voussoir/backends/cuda/matrix/sparse_product.hpp>
#include <voussoir/backends/cuda/matrix/symmetric_product.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/readable_bytes.hpp>

// Stored matrices: how they are made, copied and described. Products are in sparse_product.cu and symmetric_product.cu.

namespace voussoir::cuda {

namespace {

/// Blocks on the diagonal, a thread per equation. Of equal columns, should a row have some, the last counts.
__global__ void copy_diagonal_rows(SlicedView rows, const double* value, int b, int block_size, std::int32_t equations,
                                   double* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= equations) return;
  const auto equation = static_cast<std::int32_t>(i);
  const std::int32_t place = rows.place[equation / b], lane = place % slice_rows;
  const std::int64_t first = rows.slice_first[place / slice_rows];
  const std::int32_t length = rows.length[place];
  for (int j = 0; j < block_size; ++j) {
    const std::int32_t wanted = equation / block_size * block_size + j;
    double entry = 0;
    for (std::int32_t k = 0; k < length; ++k)
      if (rows.column[(first + k) * slice_rows + lane] == wanted / b)
        entry = value[((first + k) * b * b + equation % b * b + wanted % b) * slice_rows + lane];
    out[i * block_size + j] = entry;
  }
}

/// The same of half a matrix.
__global__ void copy_diagonal_half(SlicedView rows, const double* value, int b, int block_size, std::int32_t equations,
                                   double* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= equations) return;
  const auto equation = static_cast<std::int32_t>(i);
  for (int j = 0; j < block_size; ++j) {
    const std::int32_t wanted = equation / block_size * block_size + j;
    const std::int32_t low = equation < wanted ? equation : wanted, high = equation < wanted ? wanted : equation;
    const std::int32_t place = rows.place[low / b], k = find_column(rows, place, high / b);
    const std::int64_t cell = static_cast<std::int64_t>(rows.slice_first[place / slice_rows]) + k;
    out[i * block_size + j] =
        k < 0 ? 0.0 : value[(cell * b * b + low % b * b + high % b) * slice_rows + place % slice_rows];
  }
}

}  // namespace

CudaSparseMatrix::CudaSparseMatrix(std::shared_ptr<const Layout> layout, int block_size)
    : layout_(std::move(layout)), block_size_(block_size) {
  if (block_size_ < 1 || block_size_ > 6)
    throw Error(ErrorCode::misuse, "block sizes go from 1 to 6, not " + std::to_string(block_size_));
  for (int d = 0; d < layout_->devices(); ++d)
    if (layout_->owned(d) % block_size_ != 0 || layout_->ghosts(d) % block_size_ != 0)
      throw Error(ErrorCode::misuse, "the equations of device " + std::to_string(d) + " do not fall into blocks of " +
                                         std::to_string(block_size_));
  parts_.resize(static_cast<std::size_t>(layout_->devices()));
}

CudaSparseMatrix::CudaSparseMatrix(const DeviceModel& model, int block_size)
    : CudaSparseMatrix(model.layout(), block_size) {
  model_ = &model;
}

CudaSparseMatrix::CudaSparseMatrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows)
    : CudaSparseMatrix(std::move(layout), rows.block_size) {
  const auto entries = static_cast<std::size_t>(block_size_ * block_size_);
  if (rows.row_start.empty() || rows.block_rows() * block_size_ != layout_->size() ||
      rows.column.size() != static_cast<std::size_t>(rows.row_start.back()) ||
      rows.value.size() != rows.column.size() * entries)
    throw Error(ErrorCode::misuse, "make_matrix: rows, columns and values do not agree with each other or with the " +
                                       std::to_string(layout_->size()) + " equations of the layout");
  for (int d = 0; d < layout_->devices(); ++d) take(d, rows);
}

void CudaSparseMatrix::take(int device, const HostMatrix& rows) {
  const int b = block_size_;
  const auto entries = static_cast<std::size_t>(b * b);
  const auto& memory = layout_->memory(device);
  Part& target = part(device);
  const std::int32_t count = layout_->owned(device) / b;
  const std::int64_t* start = rows.row_start.data() + layout_->first(device) / b;
  {
    std::vector<std::int32_t> lengths(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::int32_t>(start[i + 1] - start[i]);
    const Array<std::int32_t> length(memory, lengths);
    DeviceSection section(*memory);
    target.rows = make_slices(memory, count, length.read_device());
  }
  target.value = Array<double>(memory, target.rows.room() * entries);
  const auto column = target.rows.column.write_host();
  const auto value = target.value.write_host();
  std::fill(value.begin(), value.end(), 0.0);
  const auto slice_first = target.rows.slice_first.read_host();
  const auto row_of = target.rows.row.read_host();
  for (std::size_t p = 0; p < row_of.size(); ++p) {
    const std::size_t slice = p / slice_rows, lane = p % slice_rows;
    const std::int32_t row = row_of[p];
    const std::int64_t first = row < 0 ? 0 : start[row], length = row < 0 ? 0 : start[row + 1] - first;
    for (std::size_t cell = slice_first[slice]; cell < slice_first[slice + 1]; ++cell) {
      const auto k = static_cast<std::int64_t>(cell - slice_first[slice]);
      std::int32_t& here = column[cell * slice_rows + lane];
      here = std::max(row, 0);
      if (k >= length) continue;
      const std::int64_t number = rows.column[static_cast<std::size_t>(first + k)];
      const std::int32_t local = number < 0 || number >= rows.block_rows() ? -1 : layout_->local(device, number * b);
      if (local < 0 || local % b != 0 || (b > 1 && layout_->local(device, number * b + b - 1) != local + b - 1))
        throw Error(ErrorCode::misuse, "make_matrix: column " + std::to_string(number) + " of a row of device " +
                                           std::to_string(device) + " is neither owned nor a ghost there");
      here = local / b;
      for (std::size_t e = 0; e < entries; ++e)
        value[(cell * entries + e) * slice_rows + lane] = rows.value[static_cast<std::size_t>(first + k) * entries + e];
    }
  }
  for (Array<std::int32_t>* array : {&target.rows.column, &target.rows.row}) array->drop_host_mirror();
  target.rows.slice_first.drop_host_mirror();
  target.value.drop_host_mirror();
}

void CudaSparseMatrix::require_fitting(const Vector& x, const Vector& y) const {
  const char* what = "matrix product";
  voussoir::detail::require_layout(*layout_, x, what);
  voussoir::detail::require_alike(x, y, what);
  if (&x == &y) throw Error(ErrorCode::misuse, std::string(what) + ": a product needs two different vectors");
}

int CudaSparseMatrix::dot_partials(int device) const {
  const Part& own = part(device);
  return own.tiles ? partials_of_half_product(own.rows, block_size_) : partials_of_product(own.rows);
}

void CudaSparseMatrix::enqueue_half(int device, const Vector& x, Vector& y, double* partials, TilePhase phase) const {
  const auto& memory = layout_->memory(device);
  DeviceSection section(*memory);
  const Part& own = part(device);
  const HalfProduct half{own.rows,
                         *own.tiles,
                         own.value.read_device(),
                         x.part(device).read_device(),
                         phase == TilePhase::rest ? y.part(device).update_device() : y.part(device).write_device(),
                         x.columns(),
                         partials,
                         phase};
  multiply_half(half, block_size_, memory);
}

bool CudaSparseMatrix::has_interior(int device) const {
  const Part& own = part(device);
  if (own.tiles) return own.tiles->interior_tiles > 0;
  return interior_slices(own.rows, layout_->memory(device)) > 0;
}

void CudaSparseMatrix::enqueue_slices(int device, const Vector& x, Vector& y, std::int32_t first,
                                      std::int32_t end) const {
  const Part& own = part(device);
  SparseProduct product;
  product.rows = own.rows.view();
  product.rows.slices = end - first;
  product.rows.slice_first += first;
  product.rows.row += std::ptrdiff_t{first} * slice_rows;
  product.rows.length += std::ptrdiff_t{first} * slice_rows;
  product.value = own.value.read_device();
  product.x = x.part(device).read_device();
  product.y = y.part(device).update_device();
  multiply(product, block_size_, cuda_memory(layout_->memory(device)));
}

void CudaSparseMatrix::enqueue_interior(int device, const Vector& x, Vector& y) const {
  if (!has_interior(device)) return;
  if (part(device).tiles) return enqueue_half(device, x, y, nullptr, TilePhase::interior);
  DeviceSection section(*layout_->memory(device));
  enqueue_slices(device, x, y, 0, part(device).rows.interior_slices);
}

void CudaSparseMatrix::enqueue_rest(int device, const Vector& x, Vector& y, double* partials) const {
  if (!has_interior(device)) return enqueue(device, x, y, partials);
  const Part& own = part(device);
  if (own.tiles) return enqueue_half(device, x, y, partials, TilePhase::rest);
  const auto& memory = layout_->memory(device);
  DeviceSection section(*memory);
  enqueue_slices(device, x, y, own.rows.interior_slices, own.rows.slices);
  if (!partials) return;
  // The sum of both pieces takes the place of the first partial sum.
  const CudaMemory& cuda = cuda_memory(memory);
  fill_bytes_async(partials, 0, static_cast<std::size_t>(dot_partials(device)) * sizeof(double), cuda.stream());
  enqueue_dot(x.part(device).read_device(), y.part(device).read_device(), layout_->owned(device), partials, cuda);
}

void CudaSparseMatrix::enqueue(int device, const Vector& x, Vector& y, double* partials) const {
  if (part(device).tiles) return enqueue_half(device, x, y, partials, TilePhase::all);
  const auto& memory = layout_->memory(device);
  DeviceSection section(*memory);
  const Part& own = part(device);
  SparseProduct product;
  product.rows = own.rows.view();
  product.value = own.value.read_device();
  product.x = x.part(device).read_device();
  product.y = y.part(device).write_device();
  product.columns = x.columns();
  product.long_slices = own.rows.long_slices.read_device();
  product.long_count = static_cast<int>(own.rows.long_slices.size());
  product.partials = partials;
  multiply(product, block_size_, cuda_memory(memory));
}

void CudaSparseMatrix::apply(const Vector& x, Vector& y) const {
  require_fitting(x, y);
  exchange_ghosts(x);
  for (int d = 0; d < layout_->devices(); ++d) enqueue(d, x, y, nullptr);
}

double CudaSparseMatrix::apply_dot(const Vector& x, Vector& y) const {
  require_fitting(x, y);
  exchange_ghosts(x);
  const bool one = x.columns() == 1;
  for (int d = 0; d < layout_->devices(); ++d) {
    const auto& memory = layout_->memory(d);
    const CudaMemory& cuda = cuda_memory(memory);
    enqueue(d, x, y, one ? cuda.partials() : nullptr);
    DeviceSection section(*memory);
    if (one)
      enqueue_sum(cuda.partials(), dot_partials(d), cuda.results(), cuda);
    else
      enqueue_dot(x.part(d).read_device(), y.part(d).read_device(),
                  static_cast<std::int64_t>(voussoir::detail::owned_entries(x, d)), cuda.results(), cuda);
  }
  double total = 0;
  for (int d = 0; d < layout_->devices(); ++d) {
    const CudaMemory& cuda = cuda_memory(layout_->memory(d));
    cuda.wait();
    total += cuda.results()[0];
  }
  return total;
}

std::int64_t CudaSparseMatrix::stored_blocks() const {
  return std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0},
                         [](std::int64_t n, const Part& p) { return n + p.rows.entries; });
}

std::size_t CudaSparseMatrix::bytes() const {
  std::size_t total = 0;
  for (const Part& p : parts_)
    total += p.rows.bytes() + p.value.bytes() + (p.tiles ? p.tiles->bytes() : 0) + (p.plan ? p.plan->bytes() : 0);
  return total;
}

std::size_t CudaSparseMatrix::bytes_moved() const {
  const auto block = sizeof(double) * static_cast<std::size_t>(block_size_ * block_size_) + sizeof(std::int32_t);
  std::size_t total = 0;
  for (int d = 0; d < layout_->devices(); ++d) {
    const SlicedRows& rows = part(d).rows;
    total += static_cast<std::size_t>(rows.entries) * block + rows.slice_first.bytes() + rows.row.bytes() +
             rows.length.bytes();
    if (part(d).tiles) total += part(d).tiles->bytes_moved(block_size_);
    total += sizeof(double) * static_cast<std::size_t>(layout_->local_size(d) + layout_->owned(d));
  }
  return total;
}

std::string CudaSparseMatrix::describe() const {
  const std::string size = std::to_string(block_size_);
  const bool half = std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.tiles != nullptr; });
  return (block_size_ == 1 ? std::string("CSR matrix") : "BSR matrix of " + size + "×" + size + " blocks") +
         (half ? ", symmetric half" : "") + ", in slices of " + std::to_string(slice_rows) + " rows, " +
         std::to_string(layout_->size()) + " equations, " + std::to_string(stored_blocks()) +
         (block_size_ == 1 ? " entries, " : " blocks, ") + voussoir::detail::readable_bytes(bytes());
}

void CudaSparseMatrix::copy_diagonal(int device, int block_size, double* values) const {
  const Part& own = part(device);
  const std::int32_t equations = layout_->owned(device);
  launch(own.tiles ? copy_diagonal_half : copy_diagonal_rows, grid_for(equations), stream_of(layout_->memory(device)),
         own.rows.view(), own.value.read_device(), block_size_, block_size, equations, values);
}

HostMatrix CudaSparseMatrix::to_host() const {
  HostMatrix host;
  host.block_size = block_size_;
  const auto b = static_cast<std::size_t>(block_size_);
  host.row_start.assign(static_cast<std::size_t>(layout_->size()) / b + 1, 0);
  // visit(row, column, block, mirrored) in equation numbering, for every block of the whole matrix; numbers of a block
  // are `slice_rows` apart.
  const auto for_each = [&](auto&& visit) {
    for (int d = 0; d < layout_->devices(); ++d) {
      const SlicedRows& rows = part(d).rows;
      const auto slice_first = rows.slice_first.read_host();
      const auto place = rows.place.read_host(), length = rows.length.read_host(), column = rows.column.read_host();
      const auto value = part(d).value.read_host();
      const std::int64_t first = layout_->first(d) / block_size_;
      for (std::int32_t row = 0; row < rows.rows; ++row) {
        const auto p = static_cast<std::size_t>(place[static_cast<std::size_t>(row)]);
        for (std::int32_t k = 0; k < length[p]; ++k) {
          const std::size_t cell = slice_first[p / slice_rows] + static_cast<std::size_t>(k), lane = p % slice_rows;
          const std::int32_t local = column[cell * slice_rows + lane];
          const std::int64_t number = layout_->global(d, local * block_size_) / block_size_;
          const double* block = value.data() + cell * b * b * slice_rows + lane;
          visit(first + row, number, block, false);
          if (part(d).tiles && local != row && local < rows.rows) visit(number, first + row, block, true);
        }
      }
    }
  };
  for_each([&](std::int64_t row, std::int64_t, const double*, bool) {
    ++host.row_start[static_cast<std::size_t>(row) + 1];
  });
  std::partial_sum(host.row_start.begin(), host.row_start.end(), host.row_start.begin());

  struct Source {
    const double* block;
    std::int32_t column;
    bool mirrored;
  };
  std::vector<Source> sources(static_cast<std::size_t>(host.row_start.back()));
  std::vector<std::int64_t> next(host.row_start.begin(), host.row_start.end() - 1);
  for_each([&](std::int64_t row, std::int64_t column, const double* block, bool mirrored) {
    sources[static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++)] = {
        block, static_cast<std::int32_t>(column), mirrored};
  });
  // Local order is owned ones first, then ghosts; equation order mixes them.
  for (std::size_t row = 0; row + 1 < host.row_start.size(); ++row)
    std::stable_sort(sources.begin() + host.row_start[row], sources.begin() + host.row_start[row + 1],
                     [](const Source& one, const Source& two) { return one.column < two.column; });
  host.column.resize(sources.size());
  host.value.resize(sources.size() * b * b);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    host.column[k] = sources[k].column;
    double* target = host.value.data() + k * b * b;
    for (std::size_t i = 0; i < b; ++i)
      for (std::size_t j = 0; j < b; ++j)
        target[i * b + j] = sources[k].block[(sources[k].mirrored ? j * b + i : i * b + j) * slice_rows];
  }
  return host;
}

std::unique_ptr<SparseMatrix> CudaBackend::make_matrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows) {
  if (!layout) throw Error(ErrorCode::misuse, "make_matrix: a matrix needs a layout");
  return std::make_unique<CudaSparseMatrix>(std::move(layout), rows);
}

BlockDiagonal CudaBackend::block_diagonal(const SparseMatrix& source, int block_size) {
  const auto* matrix = dynamic_cast<const CudaSparseMatrix*>(&source);
  if (!matrix) throw Error(ErrorCode::misuse, "block_diagonal: the matrix was not made by this backend");
  const Layout& layout = *matrix->layout();
  for (int d = 0; d < layout.devices(); ++d)
    if (block_size < 1 || block_size > 6 || layout.owned(d) % block_size != 0)
      throw Error(ErrorCode::misuse, "block_diagonal: the " + std::to_string(layout.owned(d)) +
                                         " equations of device " + std::to_string(d) + " do not fall into blocks of " +
                                         std::to_string(block_size));
  BlockDiagonal diagonal{block_size, matrix->layout(), {}};
  for (int d = 0; d < layout.devices(); ++d) {
    Array<double> blocks(memory(d), static_cast<std::size_t>(layout.owned(d)) * static_cast<std::size_t>(block_size));
    DeviceSection section(*memory(d));
    matrix->copy_diagonal(d, block_size, blocks.write_device());
    diagonal.blocks.push_back(std::move(blocks));
  }
  return diagonal;
}

}  // namespace voussoir::cuda
