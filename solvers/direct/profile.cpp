#include <omp.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/detail/envelope_factorization.hpp>
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

double ProfileMatrix::elimination_flops() const {
  double flops = 0;
  for (std::int64_t j = 0; j < size(); ++j) {
    const double height = static_cast<double>(j - first_[j]);
    flops += height * (height + 2);
  }
  return flops;
}

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
  reset(n, threads);
  Reference reference(n);
  for (std::int64_t j = 0; j < n; ++j) {
    const double* u = factor_.column(j);
    for (std::int64_t i = factor_.first_row(j); i <= j; ++i) reference.add(i, j, u[i]);
  }

  // Active columns (Crout): column j above the diagonal becomes D Lᵀ by dot products with the finished columns of Lᵀ,
  // then Lᵀ by division.
  constexpr std::int64_t group = 64;
  for (std::int64_t begin = 0; begin < n; begin += group) {
    const std::int64_t end = std::min(begin + group, n);
    reduce_by_finished(begin, end);
    for (std::int64_t j = begin; j < end; ++j) finish(j, begin, tolerance * reference(j));
  }
}

// The group of columns from `begin` to `end` walks through the finished ones together, four by four, so that each is
// fetched once for all. The fours never depend on the number of threads, and so no bit of the result does.
void ProfileLdlt::reduce_by_finished(std::int64_t begin, std::int64_t end) {
  std::int64_t top = begin;
  for (std::int64_t j = begin; j < end; ++j) top = std::min(top, factor_.first_row(j));
  const std::int64_t fours = (end - begin + 3) / 4;
#pragma omp parallel num_threads(team()) if (begin - top > 128)
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
}

// The rest of a column, whose group begins at `begin`: by the columns of the group before it, and its pivot.
void ProfileLdlt::finish(std::int64_t j, std::int64_t begin, double null_size) {
  double* u = factor_.column(j);
  for (std::int64_t i = std::max(begin, factor_.first_row(j)); i < j; ++i) {
    u[i] -= dot(factor_.column(i), u, std::max(factor_.first_row(i), factor_.first_row(j)), i);
  }
  double pivot = u[j];
  for (std::int64_t i = factor_.first_row(j); i < j; ++i) {
    const double l = u[i] * inverse(i);
    pivot -= u[i] * l;
    u[i] = l;
  }
  u[j] = pivot;
  take_pivot(j, pivot, null_size);
}

void ProfileLdlt::backward(double* x) const {
  for (std::int64_t j = factor_.size() - 1; j >= 0; --j) {
    const double* u = factor_.column(j);
    const double xj = x[j];
    if (xj == 0) continue;
    for (std::int64_t i = factor_.first_row(j); i < j; ++i) x[i] -= u[i] * xj;
  }
}

void ProfileLdlt::forward(double* x) const {
  const std::int64_t n = factor_.size();
  for (std::int64_t j = 0; j < n; ++j) x[j] -= dot(factor_.column(j), x, factor_.first_row(j), j);
  for (std::int64_t j = 0; j < n; ++j) x[j] *= inverse(j);
}

namespace detail {

std::unique_ptr<Factorization> make_profile(const DirectOptions& options) {
  return std::make_unique<EnvelopeFactorization<ProfileMatrix, ProfileLdlt>>(options);
}

}  // namespace detail

}  // namespace voussoir
