#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir {

namespace {

[[noreturn]] void bad_pattern(const std::string& text, std::int64_t row = -1) {
  throw Error(ErrorCode::bad_input, text,
              row < 0 ? std::string("symmetric matrix") : "equation " + std::to_string(row));
}

}  // namespace

void check_pattern(const SymmetricCsr& matrix) {
  if (matrix.n < 0) bad_pattern("the number of equations is negative");
  if (matrix.n > std::numeric_limits<std::int32_t>::max()) {
    bad_pattern("the matrix has more equations than 32-bit numbers can count; solve it by CG or partition it");
  }
  if (static_cast<std::int64_t>(matrix.row_start.size()) != matrix.n + 1) {
    bad_pattern("row_start must have one number more than there are equations, but has " +
                std::to_string(matrix.row_start.size()) + " for " + std::to_string(matrix.n) + " equations");
  }
  const std::int64_t entries = matrix.row_start.back();
  if (matrix.row_start.front() != 0 || entries < 0 || static_cast<std::int64_t>(matrix.column.size()) != entries ||
      static_cast<std::int64_t>(matrix.value.size()) != entries) {
    bad_pattern("row_start must begin with 0 and end with the length of column and value");
  }
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    const std::int64_t begin = matrix.row_start[i], end = matrix.row_start[i + 1];
    // The end is compared with the total too, since the rows after this one are not yet known to ascend.
    if (end < begin || end > entries) bad_pattern("row_start must not decrease", i);
    if (begin == end || matrix.column[begin] != i) {
      bad_pattern(
          "the row must begin with its diagonal entry and contain nothing below the diagonal; keep the upper "
          "triangle only, and store a diagonal entry even if it is zero",
          i);
    }
    for (std::int64_t k = begin + 1; k < end; ++k) {
      if (matrix.column[k] <= matrix.column[k - 1]) bad_pattern("columns must increase within the row; sort them", i);
      if (matrix.column[k] >= matrix.n) {
        bad_pattern("column " + std::to_string(matrix.column[k]) + " lies outside a matrix of " +
                        std::to_string(matrix.n) + " equations; a symmetric matrix is square",
                    i);
      }
    }
  }
}

void check_values(const SymmetricCsr& matrix) {
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      if (!std::isfinite(matrix.value[k])) {
        throw Error(ErrorCode::not_finite,
                    "the matrix entry that couples it with equation " + std::to_string(matrix.column[k]) +
                        " is not a finite number; check the material properties and look for degenerate elements there",
                    "equation " + std::to_string(i));
      }
    }
  }
}

bool same_pattern(const SymmetricCsr& a, const SymmetricCsr& b) {
  return a.n == b.n && a.row_start == b.row_start && a.column == b.column;
}

void multiply(const SymmetricCsr& matrix, std::span<const double> x, std::span<double> y) {
  if (static_cast<std::int64_t>(x.size()) != matrix.n || static_cast<std::int64_t>(y.size()) != matrix.n) {
    throw Error(ErrorCode::misuse, "the vectors must have one number per equation", "matrix times vector");
  }
  std::fill(y.begin(), y.end(), 0.0);
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    const std::int64_t begin = matrix.row_start[i], end = matrix.row_start[i + 1];
    const double xi = x[i];
    double sum = matrix.value[begin] * xi;
    for (std::int64_t k = begin + 1; k < end; ++k) {
      sum += matrix.value[k] * x[matrix.column[k]];
      y[matrix.column[k]] += matrix.value[k] * xi;
    }
    y[i] += sum;
  }
}

double relative_residual(const SymmetricCsr& matrix, std::span<const double> x, std::span<const double> b) {
  if (static_cast<std::int64_t>(b.size()) != matrix.n) {
    throw Error(ErrorCode::misuse, "the right-hand side must have one number per equation", "residual");
  }
  std::vector<double> product(static_cast<std::size_t>(matrix.n));
  multiply(matrix, x, product);
  double residual = 0, size = 0;
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    residual += (b[i] - product[i]) * (b[i] - product[i]);
    size += b[i] * b[i];
  }
  return size > 0 ? std::sqrt(residual / size) : std::sqrt(residual);
}

double infinity_norm(const SymmetricCsr& matrix) {
  std::vector<double> sum(static_cast<std::size_t>(matrix.n), 0.0);
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const double size = std::abs(matrix.value[k]);
      sum[i] += size;
      if (matrix.column[k] != i) sum[matrix.column[k]] += size;
    }
  }
  return sum.empty() ? 0.0 : *std::max_element(sum.begin(), sum.end());
}

}  // namespace voussoir
