#include <voussoir/backends/cuda/multigrid/divided_rows.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/multigrid/device_copies.hpp>
#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>
#include <voussoir/backends/detail/row_selection.hpp>

namespace voussoir::cuda {

namespace {

constexpr int row_warps = 8;

/// The rows that are taken, as kernels see them.
struct TakenRows {
  LevelPattern pattern;
  std::int32_t count = 0;
  const std::int32_t* pick = nullptr;    // null: all rows in order
  const std::int32_t* number = nullptr;  // of each column, or negative

  __device__ std::int32_t source(std::int32_t row) const { return pick ? pick[row] : row; }
};

/// The row of a warp.
__device__ inline std::int64_t row_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * row_warps + static_cast<int>(threadIdx.x) / 32;
}

/// The number of blocks that are kept of each row.
__global__ void __launch_bounds__(32 * row_warps) count_taken(TakenRows taken, std::int64_t* start) {
  const std::int64_t row = row_of_warp();
  if (row >= taken.count) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int32_t source = taken.source(static_cast<std::int32_t>(row)), length = taken.pattern.length(source);
  const std::int32_t* columns = taken.pattern.columns_of(source);
  std::int32_t kept = 0;
  for (std::int32_t base = 0; base < length; base += 32) {
    const std::int32_t k = base + lane;
    const bool yes = k < length && taken.number[columns[k]] >= 0;
    kept += __popc(__ballot_sync(0xffffffffu, yes ? 1 : 0));
  }
  if (lane == 0) start[row] = kept;
}

/// The new columns of each row, ascending, and which block of the old row each one was.
__global__ void __launch_bounds__(32 * row_warps)
    place_taken(TakenRows taken, const std::int64_t* start, std::int32_t* column, std::int32_t* place) {
  const std::int64_t row = row_of_warp();
  if (row >= taken.count) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int32_t source = taken.source(static_cast<std::int32_t>(row)), length = taken.pattern.length(source);
  const std::int32_t* columns = taken.pattern.columns_of(source);
  for (std::int32_t k = lane; k < length; k += 32) {
    const std::int32_t own = taken.number[columns[k]];
    if (own < 0) continue;
    std::int32_t before = 0;
    for (std::int32_t j = 0; j < length; ++j) {
      const std::int32_t other = taken.number[columns[j]];
      before += other >= 0 && other < own ? 1 : 0;
    }
    column[start[row] + before] = own;
    place[start[row] + before] = k;
  }
}

__global__ void __launch_bounds__(32 * row_warps)
    copy_taken(TakenRows taken, int height, int width, const double* value, const std::int64_t* start,
               const std::int32_t* place, double* target) {
  const std::int64_t row = row_of_warp();
  if (row >= taken.count) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int32_t source = taken.source(static_cast<std::int32_t>(row)), length = taken.pattern.length(source);
  const std::int32_t kept = static_cast<std::int32_t>(start[row + 1] - start[row]), line = kept * width;
  const std::int64_t block = static_cast<std::int64_t>(height) * width;
  const double* from = value + taken.pattern.start[source] * block;
  double* to = target + start[row] * block;
  const std::int32_t* own = place + start[row];
  for (int r = 0; r < height; ++r)
    for (std::int32_t q = lane; q < line; q += 32) {
      const std::int32_t k = q / width, c = q - k * width;
      to[static_cast<std::int64_t>(r) * line + q] = from[(static_cast<std::int64_t>(r) * length + own[k]) * width + c];
    }
}

__global__ void __launch_bounds__(32 * row_warps) mark_columns(TakenRows taken, std::uint8_t* marked) {
  const std::int64_t row = row_of_warp();
  if (row >= taken.count) return;
  const std::int32_t source = taken.source(static_cast<std::int32_t>(row)), length = taken.pattern.length(source);
  const std::int32_t* columns = taken.pattern.columns_of(source);
  for (std::int32_t k = static_cast<int>(threadIdx.x) % 32; k < length; k += 32) marked[columns[k]] = 1;
}

__global__ void mark_reaching(LevelPattern a, std::int32_t first, std::uint8_t* marked) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= a.rows) return;
  const std::int32_t length = a.length(row);
  marked[row] = length > 0 && a.columns_of(row)[length - 1] >= first ? 1 : 0;
}

template <class Number>
__global__ void fill_noise_from(std::int64_t count, std::uint64_t first, Number* x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) x[i] = static_cast<Number>(voussoir::detail::noise(first + static_cast<std::uint64_t>(i)));
}

template <class Number>
__global__ void pack_numbers(std::int64_t count, int columns, const std::int32_t* rows, const Number* x,
                             double* values) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::int64_t row = i / columns;
  values[i] = static_cast<double>(x[static_cast<std::int64_t>(rows[row]) * columns + (i - row * columns)]);
}

template <class Number>
__global__ void unpack_numbers(std::int64_t count, int columns, const std::int32_t* places, const double* values,
                               Number* x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::int64_t row = i / columns;
  x[i] = static_cast<Number>(values[static_cast<std::int64_t>(places[row]) * columns + (i - row * columns)]);
}

/// Copies an array to another device, which goes on when everything has arrived.
template <class T>
void send(const Array<T>& values, const std::shared_ptr<DeviceMemory>& from, Array<T>& target,
          const std::shared_ptr<DeviceMemory>& to, std::size_t at, bool whole) {
  if (values.empty()) return;
  const CudaMemory &own = cuda_memory(from), &other = cuda_memory(to);
  T* room;
  {
    DeviceSection section(*to);
    room = (whole ? target.write_device() : target.update_device()) + at;
  }
  if (from != to) wait_for(own, other);
  {
    DeviceSection section(*from);
    copy_over(room, other, values.read_device(), own, values.size(), own);
  }
  if (from != to) wait_for(other, own);
}

/// Numbers of columns and rows on a device, brought there together.
class Selection {
 public:
  /// `rows` may be null: all of them.
  Selection(const std::shared_ptr<DeviceMemory>& memory, std::span<const std::int32_t> number,
            const std::span<const std::int32_t>* rows)
      : columns_(number.size()),
        has_rows_(rows != nullptr),
        values_(memory, number.size() + (rows ? rows->size() : 0)) {
    const auto target = values_.write_host();
    std::copy(number.begin(), number.end(), target.begin());
    if (rows) std::copy(rows->begin(), rows->end(), target.begin() + static_cast<std::ptrdiff_t>(columns_));
  }
  /// Inside a section.
  const std::int32_t* number() const { return values_.read_device(); }
  const std::int32_t* rows() const { return has_rows_ ? values_.read_device() + columns_ : nullptr; }

 private:
  std::size_t columns_;
  bool has_rows_;
  Array<std::int32_t> values_;
};

/// The same array on another device.
template <class T>
void move_over(Array<T>& values, const std::shared_ptr<DeviceMemory>& from, const std::shared_ptr<DeviceMemory>& to) {
  Array<T> there(to, values.size());
  send(values, from, there, to, 0, true);
  values = std::move(there);
}

}  // namespace

LevelMatrix take_rows(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& from,
                      const std::span<const std::int32_t>* rows, std::span<const std::int32_t> number,
                      std::int32_t columns, const std::shared_ptr<DeviceMemory>& to) {
  voussoir::detail::require_row_selection(a, rows, number, columns);
  LevelMatrix result;
  result.rows = rows ? static_cast<std::int32_t>(rows->size()) : a.rows;
  result.columns = columns;
  result.height = a.height;
  result.width = a.width;
  const Selection selection(from, number, rows);
  result.start = Array<std::int64_t>(from, static_cast<std::size_t>(result.rows) + 1);
  {
    DeviceSection section(*from);
    const cudaStream_t stream = stream_of(from);
    const TakenRows taken{pattern_of(a), result.rows, selection.rows(), selection.number()};
    std::int64_t* start = result.start.write_device();
    if (result.rows > 0) launch(count_taken, grid_of_warps(result.rows, row_warps), stream, taken, start);
    exclusive_sums(start, result.rows, from);
    // Rows for another device are put below others there, which needs their starts on the host.
    const auto blocks =
        static_cast<std::size_t>(from != to ? result.start.read_host().back() : fetch_total(from, start + result.rows));
    result.column = Array<std::int32_t>(from, blocks);
    result.value = Array<double>(from, static_cast<std::size_t>(result.entries()));
    if (blocks > 0) {
      Array<std::int32_t> place(from, blocks);
      launch(place_taken, grid_of_warps(result.rows, row_warps), stream, taken, start, result.column.write_device(),
             place.write_device());
      launch(copy_taken, grid_of_warps(result.rows, row_warps), stream, taken, a.height, a.width, a.value.read_device(),
             start, place.read_device(), result.value.write_device());
    }
  }
  if (from != to) {
    result.start = Array<std::int64_t>(to, result.start.read_host());
    move_over(result.column, from, to);
    move_over(result.value, from, to);
  }
  return result;
}

std::vector<std::int32_t> columns_of_rows(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& memory,
                                          std::span<const std::int32_t> rows) {
  voussoir::detail::require_rows(a, rows);
  if (rows.empty() || a.columns == 0) return {};
  const Array<std::int32_t> pick(memory, rows);
  Array<std::uint8_t> marked(memory, static_cast<std::size_t>(a.columns));
  {
    DeviceSection section(*memory);
    const TakenRows taken{pattern_of(a), static_cast<std::int32_t>(rows.size()), pick.read_device(), nullptr};
    std::uint8_t* marks = marked.write_device();
    fill_bytes_async(marks, 0, marked.bytes(), stream_of(memory));
    launch(mark_columns, grid_of_warps(taken.count, row_warps), stream_of(memory), taken, marks);
  }
  return voussoir::detail::list_marked(marked.read_host());
}

std::vector<std::int32_t> rows_reaching(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& memory,
                                        std::int32_t first) {
  if (a.rows == 0) return {};
  Array<std::uint8_t> marked(memory, static_cast<std::size_t>(a.rows));
  {
    DeviceSection section(*memory);
    launch(mark_reaching, grid_for(a.rows), stream_of(memory), pattern_of(a), first, marked.write_device());
  }
  return voussoir::detail::list_marked(marked.read_host());
}

void copy_numbers(const Array<double>& values, const std::shared_ptr<DeviceMemory>& from, Array<double>& target,
                  const std::shared_ptr<DeviceMemory>& to, std::size_t at) {
  voussoir::detail::require_room(values.size(), target.size(), at);
  send(values, from, target, to, at, false);
}

void fill_with_noise_from(LevelVector& x, const std::shared_ptr<DeviceMemory>& memory, std::uint64_t first) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    auto& values = voussoir::cuda::numbers<Number>(x);
    if (values.empty()) return;
    const auto count = static_cast<std::int64_t>(values.size());
    DeviceSection section(*memory);
    launch(fill_noise_from<Number>, grid_for(count), stream_of(memory), count, first, values.write_device());
  });
}

void pack_rows(const LevelVector& x, const std::shared_ptr<DeviceMemory>& memory, const Array<std::int32_t>& rows,
               Array<double>& values) {
  const auto count = static_cast<std::int64_t>(rows.size()) * x.columns;
  voussoir::detail::require_room(static_cast<std::size_t>(count), values.size(), 0);
  if (count == 0) return;
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    DeviceSection section(*memory);
    launch(pack_numbers<Number>, grid_for(count), stream_of(memory), count, x.columns, rows.read_device(),
           numbers<Number>(x).read_device(), values.update_device());
  });
}

void unpack_rows(const Array<double>& values, const std::shared_ptr<DeviceMemory>& memory,
                 const Array<std::int32_t>& places, LevelVector& x, std::int64_t first) {
  const auto count = static_cast<std::int64_t>(places.size()) * x.columns;
  if (count == 0) return;
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    auto& target = numbers<Number>(x);
    const auto at = static_cast<std::size_t>(first * x.columns);
    voussoir::detail::require_room(static_cast<std::size_t>(count), target.size(), at);
    DeviceSection section(*memory);
    launch(unpack_numbers<Number>, grid_for(count), stream_of(memory), count, x.columns, places.read_device(),
           values.read_device(), target.update_device() + at);
  });
}

}  // namespace voussoir::cuda
