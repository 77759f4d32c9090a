#include <omp.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/threads.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>
#include <voussoir/solvers/direct/profile.hpp>

namespace voussoir {

ProfileMatrix::ProfileMatrix(std::vector<std::int32_t> first_row) : first_(std::move(first_row)) {
  for (std::size_t j = 0; j < first_.size(); ++j) {
    if (first_[j] < 0 || first_[j] > static_cast<std::int64_t>(j)) {
      throw Error(ErrorCode::misuse, "a column must begin between row 0 and its diagonal",
                  "profile matrix, equation " + std::to_string(j));
    }
  }
  lay_out();
}

ProfileMatrix::ProfileMatrix(const SymmetricCsr& matrix) {
  check_pattern(matrix);
  first_.resize(static_cast<std::size_t>(matrix.n));
  // Downwards, so that the topmost row is what remains.
  for (std::int64_t i = matrix.n - 1; i >= 0; --i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      first_[matrix.column[k]] = static_cast<std::int32_t>(i);
    }
  }
  lay_out();
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      column(matrix.column[k])[i] = matrix.value[k];
    }
  }
}

void ProfileMatrix::lay_out() {
  start_.assign(first_.size() + 1, 0);
  for (std::size_t j = 0; j < first_.size(); ++j) {
    start_[j + 1] = start_[j] + static_cast<std::int64_t>(j) - first_[j] + 1;
  }
  detail::allocating(static_cast<double>(start_.back()) * sizeof(double), "a matrix under a skyline",
                     [&] { value_.assign(static_cast<std::size_t>(start_.back()), 0.0); });
}

double& ProfileMatrix::at(std::int64_t i, std::int64_t j) {
  if (j < 0 || j >= size() || i > j || i < first_[j]) {
    throw Error(
        ErrorCode::misuse,
        "entry (" + std::to_string(i) + ", " + std::to_string(j) + ") lies outside the profile of the upper half",
        "profile matrix");
  }
  return column(j)[i];
}

double ProfileMatrix::at(std::int64_t i, std::int64_t j) const { return const_cast<ProfileMatrix*>(this)->at(i, j); }

void ProfileMatrix::multiply(std::span<const double> x, std::span<double> y) const {
  const std::int64_t n = size();
  if (static_cast<std::int64_t>(x.size()) != n || static_cast<std::int64_t>(y.size()) != n) {
    throw Error(ErrorCode::misuse, "the vectors must have one number per equation", "profile matrix times vector");
  }
  std::fill(y.begin(), y.end(), 0.0);
  for (std::int64_t j = 0; j < n; ++j) {
    const double* u = column(j);
    double sum = u[j] * x[j];
    for (std::int64_t i = first_[j]; i < j; ++i) {
      sum += u[i] * x[i];
      y[i] += u[i] * x[j];
    }
    y[j] += sum;
  }
}

namespace {

double dot(const double* a, const double* b, std::int64_t begin, std::int64_t end) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = begin; i < end; ++i) sum += a[i] * b[i];
  return sum;
}

// Four at once, so that `a` is loaded once for all.
void dot4(const double* a, double* const b[4], std::int64_t begin, std::int64_t end, double result[4]) {
  const double *b0 = b[0], *b1 = b[1], *b2 = b[2], *b3 = b[3];
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (std::int64_t i = begin; i < end; ++i) {
    s0 += a[i] * b0[i];
    s1 += a[i] * b1[i];
    s2 += a[i] * b2[i];
    s3 += a[i] * b3[i];
  }
  result[0] = s0;
  result[1] = s1;
  result[2] = s2;
  result[3] = s3;
}

}  // namespace

void ProfileLdlt::factorise(ProfileMatrix matrix, double tolerance, int threads) {
  factor_ = std::move(matrix);
  const std::int64_t n = factor_.size();
  threads_ = threads;
  inverse_.assign(static_cast<std::size_t>(n), 0.0);
  null_pivots_.clear();
  inertia_ = {};

  std::vector<double> reference(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t j = 0; j < n; ++j) {
    const double* u = factor_.column(j);
    for (std::int64_t i = factor_.first_row(j); i <= j; ++i) {
      reference[i] = std::max(reference[i], std::abs(u[i]));
      reference[j] = std::max(reference[j], std::abs(u[i]));
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const double diagonal = std::abs(factor_.column(j)[j]);
    if (diagonal > 1e-8 * reference[j]) reference[j] = diagonal;
  }

  // Active columns (Crout): column j above the diagonal becomes D Lᵀ by dot products with the finished columns of Lᵀ,
  // then Lᵀ by division. A group of columns walks through the finished ones together, four by four, so that each is
  // fetched once for all. The fours never depend on the number of threads, and so no bit of the result does.
  constexpr std::int64_t group = 64;
  const int team = threads > 0 ? threads : default_threads();
  for (std::int64_t begin = 0; begin < n; begin += group) {
    const std::int64_t end = std::min(begin + group, n);
    std::int64_t top = begin;
    for (std::int64_t j = begin; j < end; ++j) top = std::min(top, factor_.first_row(j));
    const std::int64_t fours = (end - begin + 3) / 4;
#pragma omp parallel num_threads(team) if (begin - top > 128)
    {
      const std::int64_t share = omp_get_num_threads(), me = omp_get_thread_num();
      for (std::int64_t i = top; i < begin; ++i) {
        const double* finished = factor_.column(i);
        const std::int64_t first = factor_.first_row(i);
        for (std::int64_t four = fours * me / share; four < fours * (me + 1) / share; ++four) {
          const std::int64_t j = begin + 4 * four, last = std::min(j + 4, end);
          std::int64_t common = first;
          for (std::int64_t c = j; c < last; ++c) common = std::max(common, factor_.first_row(c));
          if (last - j == 4 && common < i) {
            double* u[4];
            double below[4];
            for (int c = 0; c < 4; ++c) u[c] = factor_.column(j + c);
            dot4(finished, u, common, i, below);
            for (int c = 0; c < 4; ++c) {
              u[c][i] -= below[c] + dot(finished, u[c], std::max(first, factor_.first_row(j + c)), common);
            }
            continue;
          }
          for (std::int64_t c = j; c < last; ++c) {
            if (factor_.first_row(c) > i) continue;
            double* u = factor_.column(c);
            u[i] -= dot(finished, u, std::max(first, factor_.first_row(c)), i);
          }
        }
      }
    }
    for (std::int64_t j = begin; j < end; ++j) {
      double* u = factor_.column(j);
      for (std::int64_t i = std::max(begin, factor_.first_row(j)); i < j; ++i) {
        u[i] -= dot(factor_.column(i), u, std::max(factor_.first_row(i), factor_.first_row(j)), i);
      }
      double pivot = u[j];
      for (std::int64_t i = factor_.first_row(j); i < j; ++i) {
        const double l = u[i] * inverse_[i];
        pivot -= u[i] * l;
        u[i] = l;
      }
      u[j] = pivot;
      if (!std::isfinite(pivot)) {
        throw Error(ErrorCode::not_finite, "factorisation encountered a value that is not finite; check the matrix",
                    "equation " + std::to_string(j));
      }
      if (std::abs(pivot) <= tolerance * reference[j]) {
        null_pivots_.push_back(static_cast<std::int32_t>(j));
        ++inertia_.zero;
      } else {
        inverse_[j] = 1 / pivot;
        ++(pivot < 0 ? inertia_.negative : inertia_.positive);
      }
    }
  }
}

void ProfileLdlt::backward(double* x) const {
  for (std::int64_t j = factor_.size() - 1; j >= 0; --j) {
    const double* u = factor_.column(j);
    const double xj = x[j];
    if (xj == 0) continue;
    for (std::int64_t i = factor_.first_row(j); i < j; ++i) x[i] -= u[i] * xj;
  }
}

void ProfileLdlt::solve(std::span<double> rhs_and_solution, int columns) const {
  const std::int64_t n = factor_.size();
  if (columns < 0 || static_cast<std::int64_t>(rhs_and_solution.size()) != n * columns) {
    throw Error(ErrorCode::misuse, "the right-hand sides must have one number per equation and column",
                "profile solve");
  }
  const int team = threads_ > 0 ? threads_ : default_threads();
#pragma omp parallel for schedule(static) num_threads(team) if (columns > 1)
  for (int c = 0; c < columns; ++c) {
    double* x = rhs_and_solution.data() + n * c;
    for (std::int64_t j = 0; j < n; ++j) x[j] -= dot(factor_.column(j), x, factor_.first_row(j), j);
    for (std::int64_t j = 0; j < n; ++j) x[j] *= inverse_[j];
    backward(x);
  }
}

std::vector<double> ProfileLdlt::null_vectors() const {
  // As for a band: with D_kk = 0, A = L D Lᵀ sends the solution of Lᵀ v = e_k to zero.
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

class ProfileFactorization final : public Factorization {
 public:
  explicit ProfileFactorization(const DirectOptions& options) : Factorization(options) {}

 protected:
  void do_analyse(const SymmetricCsr&, std::span<const std::int32_t>) override { statistics_.ordering = "as given"; }
  Pivots do_factorise(const SymmetricCsr& matrix, double small) override {
    ProfileMatrix profile(matrix);
    n_ = profile.size();
    statistics_.factor_entries = profile.entries();
    statistics_.memory_mb = static_cast<double>(profile.entries()) * sizeof(double) / 1e6;
    statistics_.flops = 0;
    for (std::int64_t j = 0; j < n_; ++j) {
      const double height = static_cast<double>(j - profile.first_row(j));
      statistics_.flops += height * (height + 2);
    }
    ldlt_.factorise(std::move(profile), small, options_.threads);
    return {ldlt_.inertia().negative, ldlt_.null_pivots(), true};
  }
  void do_solve(double* vectors, int columns) override {
    ldlt_.solve({vectors, static_cast<std::size_t>(n_ * columns)}, columns);
  }

 private:
  std::int64_t n_ = 0;
  ProfileLdlt ldlt_;
};

}  // namespace

std::unique_ptr<Factorization> make_profile(const DirectOptions& options) {
  return std::make_unique<ProfileFactorization>(options);
}

}  // namespace detail

}  // namespace voussoir
