#include <numeric>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/parallel.hpp>
#include <voussoir/backends/openmp/symmetric_matrix.hpp>

namespace voussoir::cpu {

namespace {

/// A tile's part of x and y should stay in a second-level cache; but the more tiles there are, the more of y passes
/// from tile to tile, and the fewer there are, the worse they share out among threads.
constexpr std::int32_t most_equations = 12288, fewest_equations = 192, wanted_tiles = 64;

std::int32_t choose_tile_rows(std::int32_t rows, int block_size) {
  return std::clamp((rows + wanted_tiles - 1) / wanted_tiles, fewest_equations / block_size,
                    most_equations / block_size);
}

}  // namespace

std::int64_t SymmetricView::find(std::int32_t row, std::int32_t column) const {
  const std::int32_t t = row / tile_rows;
  std::int64_t begin = half.rows.row_start[row], end = split(row);
  std::int32_t wanted = column;
  if (column >= tile(t).end) {
    const std::int32_t* first = outer_column + outer_start[t];
    const std::int32_t* last = outer_column + outer_start[t + 1];
    const std::int32_t* found = std::lower_bound(first, last, column);
    if (found == last || *found != column) return -1;
    wanted = static_cast<std::int32_t>(found - first);
    begin = end;
    end = half.rows.row_start[row + 1];
  }
  const std::int32_t* found = std::lower_bound(half.rows.column + begin, half.rows.column + end, wanted);
  return found == half.rows.column + end || *found != wanted ? -1 : found - half.rows.column;
}

SymmetricView CpuSymmetricMatrix::Part::view(int block_size) const {
  return {{read(block_size), outer.read_device()}, rows, tile_rows, outer_column.read_device(), outer_start.data()};
}

SymmetricView CpuSymmetricMatrix::Part::host_view(int block_size) const {
  return {{{block_size, row_start.read_host().data(), column.read_host().data(), value.read_host().data()},
           outer.read_host().data()},
          rows,
          tile_rows,
          outer_column.read_host().data(),
          outer_start.data()};
}

void CpuSymmetricMatrix::Part::cut(const std::shared_ptr<DeviceMemory>& memory, int block_size, int threads) {
  tile_rows = choose_tile_rows(rows, block_size);
  const std::int64_t* start = row_start.read_device();
  std::int32_t* columns = column.update_device();
  outer = Array<std::int32_t>(memory, static_cast<std::size_t>(rows));
  std::int32_t* outer_count = outer.write_device();
  std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(tiles()));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int32_t t = 0; t < tiles(); ++t) {
    const std::int32_t begin = t * tile_rows, end = std::min(rows, begin + tile_rows);
    auto& list = lists[static_cast<std::size_t>(t)];
    for (std::int32_t row = begin; row < end; ++row) {
      const std::int32_t* last = columns + start[row + 1];
      const std::int32_t* split = std::lower_bound(columns + start[row], columns + start[row + 1], end);
      outer_count[row] = static_cast<std::int32_t>(last - split);
      list.insert(list.end(), split, last);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (std::int32_t row = begin; row < end; ++row)
      for (std::int64_t k = start[row + 1] - outer_count[row]; k < start[row + 1]; ++k)
        columns[k] = static_cast<std::int32_t>(std::lower_bound(list.begin(), list.end(), columns[k]) - list.begin());
  }

  outer_start.assign(1, 0);
  for (const auto& list : lists) outer_start.push_back(outer_start.back() + static_cast<std::int32_t>(list.size()));
  outer_column = Array<std::int32_t>(memory, static_cast<std::size_t>(outer_start.back()));
  std::int32_t* all = outer_column.write_device();
  // Lists ascend, so what a tile hands to another one is a stretch of its list.
  std::vector<std::vector<OuterRange>> to(lists.size());
  for (std::size_t t = 0; t < lists.size(); ++t) {
    const std::int32_t begin = outer_start[t], end = outer_start[t + 1];
    std::copy(lists[t].begin(), lists[t].end(), all + begin);
    for (std::int32_t k = begin, from = begin; k < end && all[k] < rows; from = k) {
      const std::int32_t target = all[k] / tile_rows;
      while (k < end && all[k] < rows && all[k] / tile_rows == target) ++k;
      to[static_cast<std::size_t>(target)].push_back({from, k});
    }
  }
  arrivals.clear();
  arrival_start.assign(1, 0);
  for (const auto& ranges : to) {
    arrivals.insert(arrivals.end(), ranges.begin(), ranges.end());
    arrival_start.push_back(static_cast<std::int32_t>(arrivals.size()));
  }
  first_tile = share_pieces(start, rows, tile_rows, threads);
}

CpuSymmetricMatrix::CpuSymmetricMatrix(const DeviceModel& model, int block_size, int threads)
    : CpuMatrix(model.layout(), block_size, threads), model_(model) {
  parts_.resize(static_cast<std::size_t>(layout_->devices()));
  for (int d = 0; d < layout_->devices(); ++d) part(d).rows = layout_->owned(d) / block_size_;
}

template <class Finish>
void CpuSymmetricMatrix::multiply(int device, const Vector& x, Vector& y, Finish&& finish) const {
  const Part& p = part(device);
  const int columns = x.columns();
  const auto width = static_cast<std::ptrdiff_t>(block_size_) * columns;
  const std::size_t handed_numbers = p.outer_column.size() * static_cast<std::size_t>(width);
  if (p.handed.size() < handed_numbers) p.handed = Array<double>(layout_->memory(device), handed_numbers);
  std::int32_t longest = 0;
  for (std::int32_t t = 0; t < p.tiles(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    longest = std::max(longest, p.outer_start[at + 1] - p.outer_start[at]);
  }
  std::vector<double> gathered(static_cast<std::size_t>(longest * width) * static_cast<std::size_t>(threads_));

  DeviceSection section(*layout_->memory(device));
  const SymmetricView view = p.view(block_size_);
  const double* px = x.part(device).read_device();
  double* py = y.part(device).write_device();
  double* handed = handed_numbers > 0 ? p.handed.write_device() : nullptr;
  const auto multiply_one = [&](std::int32_t t, double* outer_x) {
    const RowRange tile = view.tile(t);
    const std::int32_t first = view.outer_start[t], last = view.outer_start[t + 1];
    for (std::int32_t k = first; k < last; ++k)
      std::copy_n(px + view.outer_column[k] * width, width, outer_x + (k - first) * width);
    std::fill(py + tile.begin * width, py + tile.end * width, 0.0);
    std::fill(handed + first * width, handed + last * width, 0.0);
    multiply_tile(view.half, tile, columns, {px, py, outer_x, handed + first * width});
  };
  const auto take_arrivals = [&](std::int32_t t) {
    for (std::int32_t a = p.arrival_start[static_cast<std::size_t>(t)];
         a < p.arrival_start[static_cast<std::size_t>(t) + 1]; ++a) {
      const OuterRange range = p.arrivals[static_cast<std::size_t>(a)];
      for (std::int32_t k = range.begin; k < range.end; ++k) {
        double* target = py + view.outer_column[k] * width;
        for (std::ptrdiff_t i = 0; i < width; ++i) target[i] += handed[k * width + i];
      }
    }
  };
#pragma omp parallel num_threads(threads_)
  {
#pragma omp for schedule(static, 1)
    for (int s = 0; s < threads_; ++s)
      for (std::int32_t t = p.first_tile[static_cast<std::size_t>(s)];
           t < p.first_tile[static_cast<std::size_t>(s) + 1]; ++t)
        multiply_one(t, gathered.data() + s * (longest * width));
        // All shares are there now.
#pragma omp for schedule(static, 1)
    for (int s = 0; s < threads_; ++s)
      for (std::int32_t t = p.first_tile[static_cast<std::size_t>(s)];
           t < p.first_tile[static_cast<std::size_t>(s) + 1]; ++t) {
        take_arrivals(t);
        finish(t, view.tile(t), px, py);
      }
  }
}

void CpuSymmetricMatrix::apply(const Vector& x, Vector& y) const {
  require_fitting(x, y, "matrix product");
  exchange_ghosts(x);
  for (int d = 0; d < layout_->devices(); ++d)
    multiply(d, x, y, [](std::int32_t, RowRange, const double*, const double*) {});
}

double CpuSymmetricMatrix::apply_dot(const Vector& x, Vector& y) const {
  require_fitting(x, y, "matrix product");
  exchange_ghosts(x);
  const auto width = static_cast<std::size_t>(block_size_) * static_cast<std::size_t>(x.columns());
  double total = 0;
  for (int d = 0; d < layout_->devices(); ++d) {
    std::vector<double> sums(static_cast<std::size_t>(part(d).tiles()));
    multiply(d, x, y, [&](std::int32_t t, RowRange rows, const double* px, const double* py) {
      const std::size_t first = static_cast<std::size_t>(rows.begin) * width;
      sums[static_cast<std::size_t>(t)] =
          dot_stretch(px + first, py + first, static_cast<std::size_t>(rows.end - rows.begin) * width);
    });
    total += sum_pairwise(sums);
  }
  return total;
}

std::int64_t CpuSymmetricMatrix::stored_blocks() const {
  return std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0},
                         [](std::int64_t n, const Part& p) { return n + static_cast<std::int64_t>(p.column.size()); });
}

std::size_t CpuSymmetricMatrix::bytes() const {
  std::size_t total = 0;
  for (const Part& p : parts_) {
    total += p.StoredRows::bytes() + p.outer.bytes() + p.outer_column.bytes() + p.handed.bytes();
    for (const BlockPositions& positions : p.positions) total += positions.data.bytes();
  }
  return total;
}

std::size_t CpuSymmetricMatrix::bytes_moved() const {
  std::size_t total = vector_bytes();
  for (const Part& p : parts_) {
    // What passes from tile to tile is written and read again.
    const std::size_t handed = sizeof(double) * p.outer_column.size() * static_cast<std::size_t>(block_size_);
    total += p.StoredRows::bytes() + p.outer.bytes() + p.outer_column.bytes() + 2 * handed;
  }
  return total;
}

void CpuSymmetricMatrix::copy_diagonal(int device, int block_size, double* values) const {
  const SymmetricView view = part(device).view(block_size_);
  const int b = block_size_;
  for_blocks(static_cast<std::size_t>(layout_->owned(device)), threads_, [=](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::int32_t>(begin); row < static_cast<std::int32_t>(end); ++row)
      for (int j = 0; j < block_size; ++j) {
        const std::int32_t column = row / block_size * block_size + j;
        const std::int32_t low = std::min(row, column), high = std::max(row, column);
        const std::int64_t k = view.find(low / b, high / b);
        values[static_cast<std::ptrdiff_t>(row) * block_size + j] =
            k < 0 ? 0.0 : view.half.rows.value[k * b * b + (low % b) * b + high % b];
      }
  });
}

HostMatrix CpuSymmetricMatrix::to_host() const {
  const auto b = static_cast<std::size_t>(block_size_);
  HostMatrix host;
  host.block_size = block_size_;
  host.row_start.assign(static_cast<std::size_t>(layout_->size()) / b + 1, 0);
  // visit(row, column, block, mirrored) in equation numbering, for every block of the whole matrix. What row r gets as
  // mirror images comes before its own blocks, in ascending order; only columns of other devices are out of order.
  const auto for_each = [&](auto&& visit) {
    for (int d = 0; d < layout_->devices(); ++d) {
      const Part& p = part(d);
      const SymmetricView view = p.host_view(block_size_);
      const std::int64_t first = layout_->first(d) / block_size_;
      for (std::int32_t row = 0; row < p.rows; ++row)
        for (std::int64_t k = view.half.rows.row_start[row]; k < view.half.rows.row_start[row + 1]; ++k) {
          const std::int32_t column = view.column(row, k);
          const std::int64_t number = layout_->global(d, column * block_size_) / block_size_;
          const double* block = view.half.rows.value + k * block_size_ * block_size_;
          visit(first + row, number, block, false);
          if (column != row && column < p.rows) visit(number, first + row, block, true);
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
  if (layout_->devices() > 1)
    for (std::size_t row = 0; row + 1 < host.row_start.size(); ++row)
      std::sort(sources.begin() + host.row_start[row], sources.begin() + host.row_start[row + 1],
                [](const Source& one, const Source& two) { return one.column < two.column; });
  host.column.resize(sources.size());
  host.value.resize(sources.size() * b * b);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    host.column[k] = sources[k].column;
    double* target = host.value.data() + k * b * b;
    for (std::size_t i = 0; i < b; ++i)
      for (std::size_t j = 0; j < b; ++j)
        target[i * b + j] = sources[k].block[sources[k].mirrored ? j * b + i : i * b + j];
  }
  return host;
}

}  // namespace voussoir::cpu
