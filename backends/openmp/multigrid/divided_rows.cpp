#include <voussoir/backends/openmp/multigrid/divided_rows.hpp>

#include <algorithm>

#include <voussoir/backends/detail/aggregation_rules.hpp>
#include <voussoir/backends/detail/row_selection.hpp>
#include <voussoir/backends/openmp/multigrid/services.hpp>

namespace voussoir::cpu {

namespace {

/// The same array on another device.
template <class T>
void move_over(Array<T>& values, const std::shared_ptr<DeviceMemory>& to) {
  values = Array<T>(to, values.read_host());
}

/// The rows that are taken.
struct TakenRows {
  const std::int64_t* start;
  const std::int32_t* column;
  const std::span<const std::int32_t>* pick;
  std::span<const std::int32_t> number;

  std::size_t source(std::int32_t row) const {
    const auto i = static_cast<std::size_t>(row);
    return pick ? static_cast<std::size_t>((*pick)[i]) : i;
  }
  std::int32_t number_of(std::int64_t block) const { return number[static_cast<std::size_t>(column[block])]; }
};

/// Copies a row whose blocks are already sorted; `order` are the old places of the new blocks.
void copy_row(const std::vector<std::int64_t>& order, std::int64_t length, int height, int width, const double* from,
              double* to) {
  const auto kept = static_cast<std::int64_t>(order.size());
  for (int r = 0; r < height; ++r)
    for (std::int64_t k = 0; k < kept; ++k)
      std::copy_n(from + (r * length + order[static_cast<std::size_t>(k)]) * width, width, to + (r * kept + k) * width);
}

}  // namespace

LevelMatrix take_rows(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& from,
                      const std::span<const std::int32_t>* rows, std::span<const std::int32_t> number,
                      std::int32_t columns, const std::shared_ptr<DeviceMemory>& to, int threads) {
  detail::require_row_selection(a, rows, number, columns);
  LevelMatrix result;
  result.rows = rows ? static_cast<std::int32_t>(rows->size()) : a.rows;
  result.columns = columns;
  result.height = a.height;
  result.width = a.width;
  result.start = Array<std::int64_t>(from, static_cast<std::size_t>(result.rows) + 1);
  {
    DeviceSection section(*from);
    const TakenRows taken{a.start.read_device(), a.column.read_device(), rows, number};
    std::int64_t* start = result.start.write_device();
    start[0] = 0;
    for (std::int32_t i = 0; i < result.rows; ++i) {
      const std::size_t s = taken.source(i);
      std::int64_t kept = 0;
      for (std::int64_t k = taken.start[s]; k < taken.start[s + 1]; ++k) kept += taken.number_of(k) >= 0 ? 1 : 0;
      start[i + 1] = start[i] + kept;
    }
    result.column = Array<std::int32_t>(from, static_cast<std::size_t>(start[result.rows]));
    result.value = Array<double>(from, static_cast<std::size_t>(result.entries()));
    if (!result.column.empty()) {
      std::int32_t* column = result.column.write_device();
      const double* value = a.value.read_device();
      double* target = result.value.write_device();
      const std::int64_t block = std::int64_t{a.height} * a.width;
#pragma omp parallel num_threads(threads)
      {
        std::vector<std::int64_t> order;
#pragma omp for schedule(static)
        for (std::int32_t i = 0; i < result.rows; ++i) {
          const std::size_t s = taken.source(i);
          const std::int64_t first = taken.start[s];
          order.clear();
          for (std::int64_t k = first; k < taken.start[s + 1]; ++k)
            if (taken.number_of(k) >= 0) order.push_back(k - first);
          std::sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
            return taken.number_of(first + x) < taken.number_of(first + y);
          });
          for (std::size_t k = 0; k < order.size(); ++k)
            column[start[i] + static_cast<std::int64_t>(k)] = taken.number_of(first + order[k]);
          copy_row(order, taken.start[s + 1] - first, a.height, a.width, value + first * block,
                   target + start[i] * block);
        }
      }
    }
  }
  if (from != to) {
    move_over(result.start, to);
    move_over(result.column, to);
    move_over(result.value, to);
  }
  return result;
}

std::vector<std::int32_t> columns_of_rows(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& memory,
                                          std::span<const std::int32_t> rows) {
  detail::require_rows(a, rows);
  if (rows.empty() || a.blocks() == 0) return {};
  std::vector<std::uint8_t> marked(static_cast<std::size_t>(a.columns), 0);
  DeviceSection section(*memory);
  const std::int64_t* start = a.start.read_device();
  const std::int32_t* column = a.column.read_device();
  for (const std::int32_t row : rows)
    for (std::int64_t k = start[row]; k < start[row + 1]; ++k) marked[static_cast<std::size_t>(column[k])] = 1;
  return detail::list_marked(marked);
}

std::vector<std::int32_t> rows_reaching(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& memory,
                                        std::int32_t first) {
  if (a.blocks() == 0) return {};
  std::vector<std::int32_t> rows;
  DeviceSection section(*memory);
  const std::int64_t* start = a.start.read_device();
  const std::int32_t* column = a.column.read_device();
  for (std::int32_t i = 0; i < a.rows; ++i)
    if (start[i + 1] > start[i] && column[start[i + 1] - 1] >= first) rows.push_back(i);
  return rows;
}

void copy_numbers(const Array<double>& values, const std::shared_ptr<DeviceMemory>& from, Array<double>& target,
                  const std::shared_ptr<DeviceMemory>& to, std::size_t at) {
  detail::require_room(values.size(), target.size(), at);
  if (values.empty()) return;
  if (from == to) {
    DeviceSection section(*from);
    from->copy(target.update_device() + at, values.read_device(), values.bytes());
    return;
  }
  const auto host = values.read_host();
  std::copy(host.begin(), host.end(), target.update_host().begin() + static_cast<std::ptrdiff_t>(at));
}

void fill_with_noise_from(LevelVector& x, const std::shared_ptr<DeviceMemory>& memory, std::uint64_t first) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    auto& values = numbers<Number>(x);
    if (values.empty()) return;
    DeviceSection section(*memory);
    Number* target = values.write_device();
    for (std::size_t i = 0; i < values.size(); ++i) target[i] = static_cast<Number>(detail::noise(first + i));
  });
}

void pack_rows(const LevelVector& x, const std::shared_ptr<DeviceMemory>& memory, const Array<std::int32_t>& rows,
               Array<double>& values) {
  const auto columns = static_cast<std::size_t>(x.columns);
  detail::require_room(rows.size() * columns, values.size(), 0);
  if (rows.empty()) return;
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    DeviceSection section(*memory);
    const std::int32_t* row = rows.read_device();
    const Number* from = numbers<Number>(x).read_device();
    double* target = values.update_device();
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t c = 0; c < columns; ++c)
        target[i * columns + c] = static_cast<double>(from[static_cast<std::size_t>(row[i]) * columns + c]);
  });
}

void unpack_rows(const Array<double>& values, const std::shared_ptr<DeviceMemory>& memory,
                 const Array<std::int32_t>& places, LevelVector& x, std::int64_t first) {
  if (places.empty()) return;
  const auto columns = static_cast<std::size_t>(x.columns);
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    auto& all = numbers<Number>(x);
    const auto at = static_cast<std::size_t>(first) * columns;
    detail::require_room(places.size() * columns, all.size(), at);
    DeviceSection section(*memory);
    const std::int32_t* place = places.read_device();
    const double* from = values.read_device();
    Number* target = all.update_device() + at;
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t c = 0; c < columns; ++c)
        target[i * columns + c] = static_cast<Number>(from[static_cast<std::size_t>(place[i]) * columns + c]);
  });
}

}  // namespace voussoir::cpu
