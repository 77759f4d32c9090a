#include <voussoir/solvers/direct/host_system.hpp>

namespace voussoir {

SymmetricCsr upper_triangle(const HostMatrix& matrix, std::span<const std::int32_t> place) {
  const int s = matrix.block_size;
  const auto equations = matrix.block_rows() * s;
  const auto number = [&](std::int64_t equation) {
    return place.empty() ? static_cast<std::int32_t>(equation) : place[equation];
  };
  SymmetricCsr a;
  a.row_start.push_back(0);
  // Two passes: counting first keeps the peak at the size of the result.
  std::size_t entries = 0;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) {
      a.column.reserve(entries);
      a.value.reserve(entries);
    }
    for (std::int64_t e = 0; e < equations; ++e) {
      const std::int32_t row = number(e);
      if (row < 0) continue;
      const std::int64_t block_row = e / s;
      // A missing diagonal entry is a zero, and must stand first.
      bool first = true;
      const auto add = [&](std::int32_t column, double value) {
        first = false;
        if (pass == 0) {
          ++entries;
        } else {
          a.column.push_back(column);
          a.value.push_back(value);
        }
      };
      for (auto b = matrix.row_start[block_row]; b < matrix.row_start[block_row + 1]; ++b)
        for (int j = 0; j < s; ++j) {
          const std::int32_t column = number(static_cast<std::int64_t>(matrix.column[b]) * s + j);
          if (column < row) continue;
          if (first && column != row) add(row, 0.0);
          add(column, matrix.value[(b * s + e % s) * s + j]);
        }
      if (first) add(row, 0.0);
      if (pass == 1) {
        a.row_start.push_back(static_cast<std::int64_t>(a.column.size()));
        ++a.n;
      }
    }
  }
  return a;
}

}  // namespace voussoir
