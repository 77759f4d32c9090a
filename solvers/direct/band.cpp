#include <algorithm>
#include <cmath>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/threads.hpp>
#include <voussoir/solvers/direct/band.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>

namespace voussoir {

BandMatrix::BandMatrix(std::int64_t n, std::int64_t half_bandwidth) : n_(n), half_(half_bandwidth) {
  if (n < 0 || half_bandwidth < 0) {
    throw Error(ErrorCode::misuse, "the number of equations and the bandwidth must not be negative", "band matrix");
  }
  half_ = std::min(half_, std::max<std::int64_t>(n_ - 1, 0));
  const std::int64_t entries = n_ * (half_ + 1);
  detail::allocating(static_cast<double>(entries) * sizeof(double), "a band matrix",
                     [&] { value_.assign(static_cast<std::size_t>(entries), 0.0); });
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
  threads_ = threads;
  inverse_.assign(static_cast<std::size_t>(n), 0.0);
  null_pivots_.clear();
  inertia_ = {};

  std::vector<double> reference(static_cast<std::size_t>(n), 0.0), diagonal(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const double* r = factor_.row(i);
    diagonal[i] = std::abs(r[0]);
    for (std::int64_t d = 0; d <= std::min(half, n - 1 - i); ++d) {
      reference[i] = std::max(reference[i], std::abs(r[d]));
      reference[i + d] = std::max(reference[i + d], std::abs(r[d]));
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    if (diagonal[i] > 1e-8 * reference[i]) reference[i] = diagonal[i];
  }

  // Right-looking by panels: the rows of a panel are finished first, then every later row takes up the whole panel
  // while it is in cache. Rows are independent of each other and sum in a fixed order, so threads do not change a bit.
  constexpr std::int64_t panel = 32;
  const int team = threads > 0 ? threads : default_threads();
  std::vector<double> multiplier(static_cast<std::size_t>(panel * (half + 1)));
  for (std::int64_t first = 0; first < n; first += panel) {
    const std::int64_t end = std::min(first + panel, n);
    for (std::int64_t k = first; k < end; ++k) {
      double* pivot_row = factor_.row(k);
      const std::int64_t last = std::min(half, n - 1 - k);
      const double pivot = pivot_row[0];
      if (!std::isfinite(pivot)) {
        throw Error(ErrorCode::not_finite, "factorisation encountered a value that is not finite; check the matrix",
                    "equation " + std::to_string(k));
      }
      double* l = multiplier.data() + (k - first) * (half + 1);
      if (std::abs(pivot) <= tolerance * reference[k]) {
        null_pivots_.push_back(static_cast<std::int32_t>(k));
        ++inertia_.zero;
        // What is left in the row is rounding; without it the equation is decoupled from those to come.
        std::fill(pivot_row + 1, pivot_row + half + 1, 0.0);
        std::fill(l, l + half + 1, 0.0);
        continue;
      }
      ++(pivot < 0 ? inertia_.negative : inertia_.positive);
      inverse_[k] = 1 / pivot;
      for (std::int64_t d = 1; d <= last; ++d) l[d] = pivot_row[d] * inverse_[k];
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
#pragma omp parallel for schedule(dynamic, 8) num_threads(team) if (reach - end > 64)
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
      if (inverse_[k] != 0) std::copy(l + 1, l + std::min(half, n - 1 - k) + 1, pivot_row + 1);
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

void BandLdlt::solve(std::span<double> rhs_and_solution, int columns) const {
  const std::int64_t n = factor_.size(), half = factor_.half_bandwidth();
  if (columns < 0 || static_cast<std::int64_t>(rhs_and_solution.size()) != n * columns) {
    throw Error(ErrorCode::misuse, "the right-hand sides must have one number per equation and column", "band solve");
  }
  const int team = threads_ > 0 ? threads_ : default_threads();
#pragma omp parallel for schedule(static) num_threads(team) if (columns > 1)
  for (int c = 0; c < columns; ++c) {
    double* x = rhs_and_solution.data() + n * c;
    for (std::int64_t i = 0; i < n; ++i) {
      const double* r = factor_.row(i);
      const double xi = x[i];
      const std::int64_t last = std::min(half, n - 1 - i);
#pragma omp simd
      for (std::int64_t d = 1; d <= last; ++d) x[i + d] -= r[d] * xi;
      x[i] *= inverse_[i];
    }
    backward(x);
  }
}

std::vector<double> BandLdlt::null_vectors() const {
  // With D_kk = 0, A = L D Lᵀ sends the solution of Lᵀ v = e_k to zero.
  const std::size_t n = static_cast<std::size_t>(factor_.size());
  std::vector<double> vectors(n * null_pivots_.size(), 0.0);
  for (std::size_t c = 0; c < null_pivots_.size(); ++c) {
    vectors[c * n + null_pivots_[c]] = 1;
    backward(vectors.data() + c * n);
  }
  return vectors;
}

namespace detail {

namespace {

class BandFactorization final : public Factorization {
 public:
  explicit BandFactorization(const DirectOptions& options) : Factorization(options) {}

 protected:
  void do_analyse(const SymmetricCsr&, std::span<const std::int32_t>) override { statistics_.ordering = "as given"; }
  Pivots do_factorise(const SymmetricCsr& matrix, double small) override {
    BandMatrix band(matrix);
    const double width = static_cast<double>(band.half_bandwidth());
    statistics_.factor_entries = band.size() * (band.half_bandwidth() + 1);
    statistics_.memory_mb = static_cast<double>(statistics_.factor_entries) * sizeof(double) / 1e6;
    statistics_.flops = static_cast<double>(band.size()) * width * (width + 2);
    ldlt_.factorise(std::move(band), small, options_.threads);
    return {ldlt_.inertia().negative, ldlt_.null_pivots(), true};
  }
  void do_solve(double* vectors, int columns) override {
    const Inertia& count = ldlt_.inertia();
    const std::int64_t n = count.negative + count.zero + count.positive;
    ldlt_.solve({vectors, static_cast<std::size_t>(n * columns)}, columns);
  }

 private:
  BandLdlt ldlt_;
};

}  // namespace

std::unique_ptr<Factorization> make_band(const DirectOptions& options) {
  return std::make_unique<BandFactorization>(options);
}

}  // namespace detail

}  // namespace voussoir
