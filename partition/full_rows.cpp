#include <voussoir/backends/error.hpp>
#include <voussoir/partition/part_matrices.hpp>

// Rows of matrices and parts of them: FullRows and submatrix().

namespace voussoir {

FullRows full_rows(const SymmetricCsr& matrix) {
  FullRows rows;
  const auto n = static_cast<std::size_t>(matrix.n);
  std::vector<std::int64_t> count(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)]);
      ++count[i + 1];
      if (j != i) ++count[j + 1];
    }
  for (std::size_t i = 0; i < n; ++i) count[i + 1] += count[i];
  rows.row_start = count;
  rows.column.resize(static_cast<std::size_t>(count[n]));
  rows.value.resize(rows.column.size());
  // Rows are taken in order, so entries below the diagonal come first and ascend.
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)]);
      const double value = matrix.value[static_cast<std::size_t>(k)];
      if (j != i) {
        const auto to = static_cast<std::size_t>(count[j]++);
        rows.column[to] = static_cast<std::int32_t>(i);
        rows.value[to] = value;
      }
      const auto to = static_cast<std::size_t>(count[i]++);
      rows.column[to] = static_cast<std::int32_t>(j);
      rows.value[to] = value;
    }
  return rows;
}

FullRows transposed(const FullRows& matrix) {
  const auto n = static_cast<std::size_t>(matrix.size());
  FullRows result;
  result.row_start.assign(n + 1, 0);
  for (const std::int32_t j : matrix.column) ++result.row_start[static_cast<std::size_t>(j) + 1];
  for (std::size_t i = 0; i < n; ++i) result.row_start[i + 1] += result.row_start[i];
  result.column.resize(matrix.column.size());
  result.value.resize(matrix.value.size());
  std::vector<std::int64_t> next = result.row_start;
  // Rows are taken in order, so columns of the result ascend.
  for (std::size_t i = 0; i < n; ++i)
    for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const auto to =
          static_cast<std::size_t>(next[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)])]++);
      result.column[to] = static_cast<std::int32_t>(i);
      result.value[to] = matrix.value[static_cast<std::size_t>(k)];
    }
  return result;
}

FullRows full_rows(const GeneralCsr& matrix) {
  const FullRows rows{matrix.row_start, matrix.column, matrix.value}, other = transposed(rows);
  FullRows result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.n); ++i) {
    auto a = static_cast<std::size_t>(rows.row_start[i]), b = static_cast<std::size_t>(other.row_start[i]);
    const auto end_a = static_cast<std::size_t>(rows.row_start[i + 1]),
               end_b = static_cast<std::size_t>(other.row_start[i + 1]);
    while (a < end_a || b < end_b) {
      const bool own = a < end_a && (b == end_b || rows.column[a] <= other.column[b]);
      const std::int32_t column = own ? rows.column[a] : other.column[b];
      result.column.push_back(column);
      result.value.push_back(own ? rows.value[a++] : 0.0);
      if (b < end_b && other.column[b] == column) ++b;
    }
    result.row_start.push_back(static_cast<std::int64_t>(result.column.size()));
  }
  return result;
}

namespace {

/// The rows `unknowns` of a matrix, of which columns are numbered by their places in `unknowns`.
template <class Rows, class Result>
void take_submatrix(const Rows& matrix, std::int64_t size, std::span<const std::int32_t> unknowns, Result& result) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(size), -1);
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    if (unknowns[i] < 0 || unknowns[i] >= size || (i > 0 && unknowns[i] <= unknowns[i - 1]))
      throw Error(ErrorCode::misuse, "the unknowns of a submatrix must ascend and belong to the matrix",
                  "entry " + std::to_string(i));
    place[static_cast<std::size_t>(unknowns[i])] = static_cast<std::int32_t>(i);
  }
  result.n = static_cast<std::int64_t>(unknowns.size());
  result.row_start.push_back(0);
  for (const std::int32_t u : unknowns) {
    for (auto k = matrix.row_start[static_cast<std::size_t>(u)]; k < matrix.row_start[static_cast<std::size_t>(u) + 1];
         ++k)
      if (const std::int32_t to = place[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)])];
          to >= 0) {
        result.column.push_back(to);
        result.value.push_back(matrix.value[static_cast<std::size_t>(k)]);
      }
    result.row_start.push_back(static_cast<std::int64_t>(result.column.size()));
  }
}

}  // namespace

SymmetricCsr submatrix(const SymmetricCsr& matrix, std::span<const std::int32_t> unknowns) {
  SymmetricCsr result;
  take_submatrix(matrix, matrix.n, unknowns, result);
  return result;
}

GeneralCsr submatrix(const FullRows& matrix, std::span<const std::int32_t> unknowns) {
  GeneralCsr result;
  take_submatrix(matrix, matrix.size(), unknowns, result);
  return result;
}

}  // namespace voussoir
