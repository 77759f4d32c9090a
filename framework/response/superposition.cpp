#include <voussoir/framework/response/superposition.hpp>

#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/response/detail/coordinate_product.hpp>

namespace voussoir {
namespace {

using detail::tile_entries;
using detail::tile_rows;

constexpr const char* superposition_place = "superposition";
/// Fewer multiplications than these are not worth a second thread.
constexpr double worth_threads = 1e6;

void check(const CoordinateHistory& history, const ModalValues& values) {
  if (history.coordinates != values.columns())
    throw Error(ErrorCode::misuse,
                std::to_string(history.coordinates) + " coordinates but " + std::to_string(values.columns()) +
                    " columns of modal values",
                superposition_place);
  if (history.times.empty()) throw Error(ErrorCode::misuse, "the history has no times", superposition_place);
  if (history.values.size() != history.times.size() * history.coordinates)
    throw Error(ErrorCode::misuse, "the history does not have a value for each time and coordinate",
                superposition_place);
}

bool by_threads(const CoordinateHistory& history, const ModalValues& values) {
  return static_cast<double>(history.values.size()) * static_cast<double>(values.entries()) > worth_threads;
}

void check_finite(const Extremes& e, std::size_t entry, const char* what) {
  if (!std::isfinite(e.maximum) || !std::isfinite(e.minimum))
    throw Error(ErrorCode::not_finite,
                std::string(what) + " " + std::to_string(entry + 1) + " is not finite at some time",
                superposition_place);
}

/// A NaN replaces any number and is replaced by none, so that it is found afterwards.
void include(Extremes& e, double value, double time) {
  if (value > e.maximum || std::isnan(value)) e.maximum = value, e.maximum_time = time;
  if (value < e.minimum || std::isnan(value)) e.minimum = value, e.minimum_time = time;
}

/// include() for the 8 entries of a tile, without branches.
struct TileExtremes {
  double high[tile_entries], low[tile_entries], high_time[tile_entries], low_time[tile_entries];

  void begin(const double* value, double time) {
    for (std::size_t e = 0; e < tile_entries; ++e) {
      high[e] = low[e] = value[e];
      high_time[e] = low_time[e] = time;
    }
  }
  void include(const double* value, double time) {
#pragma omp simd
    for (std::size_t e = 0; e < tile_entries; ++e) {
      const bool unknown = value[e] != value[e];
      const bool higher = value[e] > high[e] || unknown, lower = value[e] < low[e] || unknown;
      high[e] = higher ? value[e] : high[e];
      high_time[e] = higher ? time : high_time[e];
      low[e] = lower ? value[e] : low[e];
      low_time[e] = lower ? time : low_time[e];
    }
  }
};

}  // namespace

std::vector<Extremes> extremes(const CoordinateHistory& history, const ModalValues& values) {
  check(history, values);
  const std::size_t entries = values.entries(), times = history.times.size(), columns = history.coordinates;
  std::vector<Extremes> result(entries);
  detail::for_each_index(
      (entries + tile_entries - 1) / tile_entries, by_threads(history, values), [&](std::size_t tile) {
        const std::size_t first = tile * tile_entries;
        std::vector<double> packed(columns * tile_entries);
        detail::pack_tile(
            values, [&](std::size_t e) { return first + e; }, packed.data());
        TileExtremes found;
        double product[tile_rows][tile_entries];
        for (std::size_t t = 0; t < times; t += tile_rows) {
          const std::size_t count = std::min(tile_rows, times - t);
          detail::tile_product(history.values.data() + t * columns, count, columns, packed.data(), product);
          if (t == 0) found.begin(product[0], history.times[0]);
          for (std::size_t r = 0; r < count; ++r) found.include(product[r], history.times[t + r]);
        }
        for (std::size_t e = 0; e < tile_entries && first + e < entries; ++e) {
          result[first + e] = {found.high[e], found.high_time[e], found.low[e], found.low_time[e]};
          check_finite(result[first + e], first + e, "entry");
        }
      });
  return result;
}

std::vector<Extremes> extremes_of(const CoordinateHistory& history, const ModalValues& values, std::size_t group,
                                  const std::function<double(std::span<const double>)>& scalar) {
  check(history, values);
  if (group == 0 || values.entries() % group != 0)
    throw Error(ErrorCode::misuse,
                std::to_string(values.entries()) + " entries cannot be divided into groups of " + std::to_string(group),
                superposition_place);
  const std::size_t times = history.times.size(), columns = history.coordinates;
  const std::size_t tiles = (group + tile_entries - 1) / tile_entries;
  std::vector<Extremes> result(values.entries() / group);
  detail::for_each_index(result.size(), by_threads(history, values), [&](std::size_t g) {
    std::vector<double> packed(tiles * columns * tile_entries), member(tile_rows * tiles * tile_entries);
    for (std::size_t k = 0; k < tiles; ++k)
      detail::pack_tile(
          values, [&](std::size_t e) { return g * group + std::min(k * tile_entries + e, group - 1); },
          packed.data() + k * columns * tile_entries);
    Extremes& found = result[g];
    double product[tile_rows][tile_entries];
    for (std::size_t t = 0; t < times; t += tile_rows) {
      const std::size_t count = std::min(tile_rows, times - t);
      for (std::size_t k = 0; k < tiles; ++k) {
        detail::tile_product(history.values.data() + t * columns, count, columns,
                             packed.data() + k * columns * tile_entries, product);
        for (std::size_t r = 0; r < count; ++r)
          std::copy_n(product[r], tile_entries, member.data() + (r * tiles + k) * tile_entries);
      }
      for (std::size_t r = 0; r < count; ++r) {
        const double value = scalar(std::span(member.data() + r * tiles * tile_entries, group));
        if (t + r == 0) found = {value, history.times[0], value, history.times[0]};
        include(found, value, history.times[t + r]);
      }
    }
    check_finite(found, g, "group");
  });
  return result;
}

std::vector<double> histories(const CoordinateHistory& history, const ModalValues& values,
                              std::span<const std::size_t> entries) {
  check(history, values);
  for (const std::size_t entry : entries)
    if (entry >= values.entries())
      throw Error(ErrorCode::misuse,
                  "there is no entry " + std::to_string(entry + 1) + "; there are " + std::to_string(values.entries()),
                  superposition_place);
  const std::size_t times = history.times.size(), columns = history.coordinates;
  std::vector<double> result(entries.size() * times), packed(columns * tile_entries);
  double product[tile_rows][tile_entries];
  for (std::size_t first = 0; first < entries.size(); first += tile_entries) {
    const std::size_t width = std::min(tile_entries, entries.size() - first);
    detail::pack_tile(
        values, [&](std::size_t e) { return entries[first + std::min(e, width - 1)]; }, packed.data());
    for (std::size_t t = 0; t < times; t += tile_rows) {
      const std::size_t count = std::min(tile_rows, times - t);
      detail::tile_product(history.values.data() + t * columns, count, columns, packed.data(), product);
      for (std::size_t e = 0; e < width; ++e)
        for (std::size_t r = 0; r < count; ++r) result[(first + e) * times + t + r] = product[r][e];
    }
  }
  return result;
}

std::vector<double> values_at(const CoordinateHistory& history, const ModalValues& values, std::size_t time_index) {
  check(history, values);
  if (time_index >= history.times.size())
    throw Error(
        ErrorCode::misuse,
        "the history has " + std::to_string(history.times.size()) + " times, not " + std::to_string(time_index + 1),
        superposition_place);
  const std::size_t columns = history.coordinates;
  std::vector<double> result(values.entries()), packed(columns * tile_entries);
  double product[tile_rows][tile_entries];
  for (std::size_t first = 0; first < result.size(); first += tile_entries) {
    detail::pack_tile(
        values, [&](std::size_t e) { return first + e; }, packed.data());
    detail::tile_product(history.values.data() + time_index * columns, 1, columns, packed.data(), product);
    for (std::size_t e = 0; e < tile_entries && first + e < result.size(); ++e) result[first + e] = product[0][e];
  }
  return result;
}

}  // namespace voussoir
