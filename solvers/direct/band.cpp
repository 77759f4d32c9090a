#include <algorithm>
#include <cmath>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/band.hpp>
#include <voussoir/solvers/direct/detail/envelope_factorization.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>

namespace voussoir {

BandMatrix::BandMatrix(std::int64_t n, std::int64_t half_bandwidth) : n_(n), half_(half_bandwidth) {
  if (n < 0 || half_bandwidth < 0) {
    throw Error(ErrorCode::misuse, "the number of equations and the bandwidth must not be negative", "band matrix");
  }
  half_ = std::min(half_, std::max<std::int64_t>(n_ - 1, 0));
  detail::allocating(static_cast<double>(entries()) * sizeof(double), "a band matrix",
                     [&] { value_.assign(static_cast<std::size_t>(entries()), 0.0); });
}

BandMatrix::BandMatrix(const SymmetricCsr& matrix) {
  check_pattern(matrix);
  std::int64_t half = 0;
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    half = std::max(half, matrix.column[matrix.row_start[i + 1] - 1] - i);
  }
  *this = BandMatrix(matrix.n, half);
  for (std::int64_t i = 0; i < n_; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      row(i)[matrix.column[k] - i] = matrix.value[k];
    }
  }
}

double& BandMatrix::at(std::int64_t i, std::int64_t j) {
  if (i < 0 || j < i || j >= n_ || j - i > half_) {
    throw Error(ErrorCode::misuse,
                "entry (" + std::to_string(i) + ", " + std::to_string(j) +
                    ") lies outside the upper half of a band of " + std::to_string(half_) + " in a matrix of " +
                    std::to_string(n_) + " equations",
                "band matrix");
  }
  return row(i)[j - i];
}

double BandMatrix::at(std::int64_t i, std::int64_t j) const { return const_cast<BandMatrix*>(this)->at(i, j); }

double BandMatrix::elimination_flops() const {
  const double width = static_cast<double>(half_);
  return static_cast<double>(n_) * width * (width + 2);
}

void BandMatrix::multiply(std::span<const double> x, std::span<double> y) const {
  if (static_cast<std::int64_t>(x.size()) != n_ || static_cast<std::int64_t>(y.size()) != n_) {
    throw Error(ErrorCode::misuse, "the vectors must have one number per equation", "band matrix times vector");
  }
  std::fill(y.begin(), y.end(), 0.0);
  for (std::int64_t i = 0; i < n_; ++i) {
    const double* r = row(i);
    const std::int64_t last = std::min(half_, n_ - 1 - i);
    double sum = r[0] * x[i];
    for (std::int64_t d = 1; d <= last; ++d) {
      sum += r[d] * x[i + d];
      y[i + d] += r[d] * x[i];
    }
    y[i] += sum;
  }
}

void BandLdlt::factorise(BandMatrix matrix, double tolerance, int threads) {
  factor_ = std::move(matrix);
  const std::int64_t n = factor_.size(), half = factor_.half_bandwidth();
  reset(n, threads);
  Reference reference(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const double* r = factor_.row(i);
    for (std::int64_t d = 0; d <= std::min(half, n - 1 - i); ++d) reference.add(i, i + d, r[d]);
  }

  // Right-looking by panels: the rows of a panel are finished first, then every later row takes up the whole panel
  // while it is in cache. Rows are independent of each other and sum in a fixed order, so threads do not change a bit.
  constexpr std::int64_t panel = 32;
  std::vector<double> multiplier(static_cast<std::size_t>(panel * (half + 1)));
  for (std::int64_t first = 0; first < n; first += panel) {
    const std::int64_t end = std::min(first + panel, n);
    for (std::int64_t k = first; k < end; ++k) {
      double* pivot_row = factor_.row(k);
      const std::int64_t last = std::min(half, n - 1 - k);
      double* l = multiplier.data() + (k - first) * (half + 1);
      if (!take_pivot(k, pivot_row[0], tolerance * reference(k))) {
        // What is left in the row is rounding; without it the equation is decoupled from those to come.
        std::fill(pivot_row + 1, pivot_row + half + 1, 0.0);
        std::fill(l, l + half + 1, 0.0);
        continue;
      }
      for (std::int64_t d = 1; d <= last; ++d) l[d] = pivot_row[d] * inverse(k);
      for (std::int64_t j = k + 1; j < std::min(end, k + last + 1); ++j) {
        double* target = factor_.row(j);
        const double factor = l[j - k];
        const double* source = pivot_row + (j - k);
        const std::int64_t length = last - (j - k) + 1;
#pragma omp simd
        for (std::int64_t d = 0; d < length; ++d) target[d] -= factor * source[d];
      }
    }
    const std::int64_t reach = std::min(end - 1 + half, n - 1);
#pragma omp parallel for schedule(dynamic, 8) num_threads(team()) if (reach - end > 64)
    for (std::int64_t j = end; j <= reach; ++j) {
      double* target = factor_.row(j);
      for (std::int64_t k = std::max(first, j - half); k < end; ++k) {
        const double factor = multiplier[(k - first) * (half + 1) + (j - k)];
        const double* source = factor_.row(k) + (j - k);
        const std::int64_t length = std::min(half, n - 1 - k) - (j - k) + 1;
#pragma omp simd
        for (std::int64_t d = 0; d < length; ++d) target[d] -= factor * source[d];
      }
    }
    for (std::int64_t k = first; k < end; ++k) {
      double* pivot_row = factor_.row(k);
      const double* l = multiplier.data() + (k - first) * (half + 1);
      if (inverse(k) != 0) std::copy(l + 1, l + std::min(half, n - 1 - k) + 1, pivot_row + 1);
    }
  }
}

void BandLdlt::backward(double* x) const {
  const std::int64_t n = factor_.size(), half = factor_.half_bandwidth();
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const double* r = factor_.row(i);
    double sum = x[i];
    for (std::int64_t d = 1; d <= std::min(half, n - 1 - i); ++d) sum -= r[d] * x[i + d];
    x[i] = sum;
  }
}

void BandLdlt::forward(double* x) const {
  const std::int64_t n = factor_.size(), half = factor_.half_bandwidth();
  for (std::int64_t i = 0; i < n; ++i) {
    const double* r = factor_.row(i);
    const double xi = x[i];
    const std::int64_t last = std::min(half, n - 1 - i);
#pragma omp simd
    for (std::int64_t d = 1; d <= last; ++d) x[i + d] -= r[d] * xi;
    x[i] *= inverse(i);
  }
}

namespace detail {

std::unique_ptr<Factorization> make_band(const DirectOptions& options) {
  return std::make_unique<EnvelopeFactorization<BandMatrix, BandLdlt>>(options);
}

}  // namespace detail

}  // namespace voussoir
