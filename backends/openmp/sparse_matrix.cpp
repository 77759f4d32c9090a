#include <voussoir/backends/openmp/sparse_matrix.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir {

namespace cpu {

CpuSparseMatrix::CpuSparseMatrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows, int threads)
    : CpuMatrix(std::move(layout), rows.block_size, threads) {
  const auto entries = static_cast<std::size_t>(block_size_ * block_size_);
  if (rows.row_start.empty() || rows.block_rows() * block_size_ != layout_->size() ||
      rows.column.size() != static_cast<std::size_t>(rows.row_start.back()) ||
      rows.value.size() != rows.column.size() * entries)
    throw Error(ErrorCode::misuse, "make_matrix: rows, columns and values do not agree with each other or with the " +
                                       std::to_string(layout_->size()) + " equations of the layout");
  parts_.resize(static_cast<std::size_t>(layout_->devices()));
  for (int d = 0; d < layout_->devices(); ++d) take(d, rows);
}

CpuSparseMatrix::CpuSparseMatrix(const DeviceModel& model, int block_size, int threads)
    : CpuMatrix(model.layout(), block_size, threads), model_(&model) {
  parts_.resize(static_cast<std::size_t>(layout_->devices()));
  for (int d = 0; d < layout_->devices(); ++d) part(d).rows = layout_->owned(d) / block_size;
}

void CpuSparseMatrix::take(int device, const HostMatrix& rows) {
  const int b = block_size_;
  const auto entries = static_cast<std::size_t>(b * b);
  const auto& memory = layout_->memory(device);
  Part& part = parts_[static_cast<std::size_t>(device)];
  part.rows = layout_->owned(device) / b;
  const std::int64_t* source = rows.row_start.data() + layout_->first(device) / b;
  const auto begin = static_cast<std::size_t>(source[0]);
  const std::size_t blocks = static_cast<std::size_t>(source[part.rows]) - begin;
  part.row_start = Array<std::int64_t>(memory, static_cast<std::size_t>(part.rows) + 1);
  part.column = Array<std::int32_t>(memory, blocks);
  part.value = Array<double>(memory, blocks * entries);
  auto start = part.row_start.write_host();
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = source[i] - source[0];
  auto column = part.column.write_host();
  for (std::size_t k = 0; k < blocks; ++k) {
    const std::int64_t number = rows.column[begin + k];
    const std::int32_t local = number < 0 || number >= rows.block_rows() ? -1 : layout_->local(device, number * b);
    if (local < 0 || local % b != 0 || (b > 1 && layout_->local(device, number * b + b - 1) != local + b - 1))
      throw Error(ErrorCode::misuse, "make_matrix: column " + std::to_string(number) + " of a row of device " +
                                         std::to_string(device) + " is neither owned nor a ghost there");
    column[k] = local / b;
  }
  std::copy_n(rows.value.begin() + static_cast<std::ptrdiff_t>(begin * entries), blocks * entries,
              part.value.write_host().begin());
  part.first_group = share_pieces(start.data(), part.rows, row_group, threads_);
}

template <class Finish>
void CpuSparseMatrix::multiply(int device, const Vector& x, Vector& y, Finish&& finish) const {
  const Part& p = part(device);
  const BlockRows rows = p.read(block_size_);
  const double* px = x.part(device).read_device();
  double* py = y.part(device).write_device();
  const auto range = [&](std::int32_t group) {
    return RowRange{std::min(p.rows, group * row_group), std::min(p.rows, (group + 1) * row_group)};
  };
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
  for (int t = 0; t < threads_; ++t) {
    // A thread's groups in two halves, one group of each at a time.
    const std::int32_t first = p.first_group[static_cast<std::size_t>(t)];
    const std::int32_t last = p.first_group[static_cast<std::size_t>(t) + 1];
    const std::int32_t half = first + (last - first + 1) / 2;
    for (std::int32_t one = first, two = half; one < half; ++one, ++two) {
      const RowRange a = range(one), b = two < last ? range(two) : RowRange{};
      if (x.columns() == 1) {
        multiply_rows(rows, a, b, px, py);
      } else {
        multiply_rows(rows, a.begin, a.end, x.columns(), px, py);
        multiply_rows(rows, b.begin, b.end, x.columns(), px, py);
      }
      finish(one, a, px, py);
      if (two < last) finish(two, b, px, py);
    }
  }
}

void CpuSparseMatrix::apply(const Vector& x, Vector& y) const {
  require_fitting(x, y, "matrix product");
  exchange_ghosts(x);
  for (int d = 0; d < layout_->devices(); ++d) {
    DeviceSection section(*layout_->memory(d));
    multiply(d, x, y, [](std::int32_t, RowRange, const double*, const double*) {});
  }
}

double CpuSparseMatrix::apply_dot(const Vector& x, Vector& y) const {
  require_fitting(x, y, "matrix product");
  exchange_ghosts(x);
  const auto per_row = static_cast<std::size_t>(block_size_) * static_cast<std::size_t>(x.columns());
  double total = 0;
  for (int d = 0; d < layout_->devices(); ++d) {
    std::vector<double> sums(static_cast<std::size_t>(part(d).groups()));
    DeviceSection section(*layout_->memory(d));
    multiply(d, x, y, [&](std::int32_t group, RowRange rows, const double* px, const double* py) {
      const std::size_t first = static_cast<std::size_t>(rows.begin) * per_row;
      sums[static_cast<std::size_t>(group)] =
          dot_stretch(px + first, py + first, static_cast<std::size_t>(rows.end - rows.begin) * per_row);
    });
    total += sum_pairwise(sums);
  }
  return total;
}

std::int64_t CpuSparseMatrix::stored_blocks() const {
  return std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0},
                         [](std::int64_t n, const Part& p) { return n + static_cast<std::int64_t>(p.column.size()); });
}

std::size_t CpuSparseMatrix::bytes() const {
  return std::accumulate(parts_.begin(), parts_.end(), std::size_t{0},
                         [](std::size_t n, const Part& p) { return n + p.bytes(); });
}

std::size_t CpuSparseMatrix::bytes_moved() const { return bytes() + vector_bytes(); }

void CpuSparseMatrix::copy_diagonal(int device, int block_size, double* values) const {
  const BlockRows a = part(device).read(block_size_);
  const int b = block_size_;
  for_blocks(static_cast<std::size_t>(layout_->owned(device)), threads_, [=](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::int32_t>(begin); row < static_cast<std::int32_t>(end); ++row)
      for (int j = 0; j < block_size; ++j) {
        const std::int32_t column = row / block_size * block_size + j;
        double& entry = values[static_cast<std::ptrdiff_t>(row) * block_size + j];
        entry = 0;
        for (std::int64_t k = a.row_start[row / b]; k < a.row_start[row / b + 1]; ++k)
          if (a.column[k] == column / b) entry = a.value[k * b * b + (row % b) * b + column % b];
      }
  });
}

HostMatrix CpuSparseMatrix::to_host() const {
  HostMatrix host;
  host.block_size = block_size_;
  const std::size_t entries = static_cast<std::size_t>(block_size_ * block_size_);
  host.row_start.reserve(static_cast<std::size_t>(layout_->size() / block_size_) + 1);
  host.row_start.push_back(0);
  host.column.reserve(static_cast<std::size_t>(stored_blocks()));
  host.value.reserve(static_cast<std::size_t>(stored_blocks()) * entries);
  for (int d = 0; d < layout_->devices(); ++d) {
    const Part& p = part(d);
    const auto row_start = p.row_start.read_host();
    const auto column = p.column.read_host();
    const auto value = p.value.read_host();
    std::vector<std::pair<std::int64_t, std::int64_t>> order;  // number of the column, place
    for (std::int32_t row = 0; row < p.rows; ++row) {
      order.clear();
      for (std::int64_t k = row_start[static_cast<std::size_t>(row)]; k < row_start[static_cast<std::size_t>(row) + 1];
           ++k)
        order.emplace_back(layout_->global(d, column[static_cast<std::size_t>(k)] * block_size_) / block_size_, k);
      // Local order is owned ones first, then ghosts; equation order mixes them.
      std::sort(order.begin(), order.end());
      for (const auto& [number, k] : order) {
        host.column.push_back(static_cast<std::int32_t>(number));
        const double* block = value.data() + static_cast<std::size_t>(k) * entries;
        host.value.insert(host.value.end(), block, block + entries);
      }
      host.row_start.push_back(static_cast<std::int64_t>(host.column.size()));
    }
  }
  return host;
}

}  // namespace cpu

std::unique_ptr<SparseMatrix> CpuBackend::make_matrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows) {
  if (!layout) throw Error(ErrorCode::misuse, "make_matrix: a matrix needs a layout");
  return std::make_unique<cpu::CpuSparseMatrix>(std::move(layout), rows, threads_);
}

}  // namespace voussoir
