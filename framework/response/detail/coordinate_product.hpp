#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include <voussoir/framework/detail/for_each_index.hpp>
#include <voussoir/framework/response/modal_values.hpp>

// Products of coordinates with modal values, in tiles that stay in registers. Every number is the sum over the
// coordinates in their order, whatever tile or thread it is computed in: histories, peaks and single values agree to
// the last bit.

namespace voussoir::detail {

constexpr std::size_t tile_entries = 8, tile_rows = 4;

/// packed[column · 8 + e] = value of entry entry_of(e), 0 where there is none (entry_of(e) ≥ entries).
template <class EntryOf>
void pack_tile(const ModalValues& values, const EntryOf& entry_of, double* packed) {
  const std::size_t entries = values.entries();
  for (std::size_t c = 0; c < values.columns(); ++c) {
    const std::span<const double> column = values.column(c);
    for (std::size_t e = 0; e < tile_entries; ++e) {
      const std::size_t entry = entry_of(e);
      packed[c * tile_entries + e] = entry < entries ? column[entry] : 0;
    }
  }
}

/// out[row][e] = Σ_c rows[row · columns + c] packed[c · 8 + e] for up to 4 rows; those that do not exist repeat the
/// last.
inline void tile_product(const double* rows, std::size_t count, std::size_t columns, const double* packed,
                         double (*out)[tile_entries]) {
  const double* row[tile_rows];
  for (std::size_t r = 0; r < tile_rows; ++r) row[r] = rows + std::min(r, count - 1) * columns;
  double sum[tile_rows][tile_entries] = {};
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < tile_rows; ++r)
#pragma omp simd
      for (std::size_t e = 0; e < tile_entries; ++e) sum[r][e] += row[r][c] * packed[c * tile_entries + e];
  for (std::size_t r = 0; r < tile_rows; ++r)
    for (std::size_t e = 0; e < tile_entries; ++e) out[r][e] = sum[r][e];
}

}  // namespace voussoir::detail
