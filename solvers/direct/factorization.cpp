#include <algorithm>
#include <cmath>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

namespace {

// The power of two next to 1/√x: scaling by it changes exponents alone, so no digit is lost.
double inverse_root_power_of_two(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, -static_cast<int>(std::floor(exponent / 2.0)));
}

double norm(const double* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return std::sqrt(sum);
}

// Modified Gram-Schmidt, twice over: one pass alone loses orthogonality where the vectors are nearly parallel.
void orthonormalise(std::vector<double>& vectors, std::int64_t n) {
  const std::int64_t columns = static_cast<std::int64_t>(vectors.size()) / n;
  for (std::int64_t c = 0; c < columns; ++c) {
    double* x = vectors.data() + c * n;
    for (int pass = 0; pass < 2; ++pass) {
      // Normalised before and after, since unscaled motions of different units differ by many orders of magnitude.
      const double before = norm(x, n);
      if (before > 0) {
        for (std::int64_t i = 0; i < n; ++i) x[i] /= before;
      }
      for (std::int64_t other = 0; other < c; ++other) {
        const double* y = vectors.data() + other * n;
        double product = 0;
        for (std::int64_t i = 0; i < n; ++i) product += x[i] * y[i];
        for (std::int64_t i = 0; i < n; ++i) x[i] -= product * y[i];
      }
      const double after = norm(x, n);
      if (after > 0) {
        for (std::int64_t i = 0; i < n; ++i) x[i] /= after;
      }
    }
  }
}

}  // namespace

std::unique_ptr<Factorization> Factorization::make(DirectMethod method, const DirectOptions& options) {
  if (options.threads < 0) throw Error(ErrorCode::bad_input, "the number of threads is negative; 0 means automatic");
  if (!(options.free_motion_tolerance >= 0 && options.free_motion_tolerance < 1)) {
    throw Error(ErrorCode::bad_input, "the tolerance of free motions must lie between 0 (automatic) and 1");
  }
  if (!(options.pivot_threshold >= 0 && options.pivot_threshold <= 0.5)) {
    throw Error(ErrorCode::bad_input, "the pivot threshold must lie between 0 and 0.5");
  }
  const DirectChoice choice = choose_direct(0, 0, method);
  std::unique_ptr<Factorization> made;
  switch (choice.method) {
#ifdef VOUSSOIR_HAVE_MUMPS
    case DirectMethod::mumps:
      made = detail::make_mumps(options);
      break;
#endif
#ifdef VOUSSOIR_HAVE_CHOLMOD
    case DirectMethod::cholmod:
      made = detail::make_cholmod(options);
      break;
#endif
    case DirectMethod::band:
      made = detail::make_band(options);
      break;
    case DirectMethod::profile:
      made = detail::make_profile(options);
      break;
    case DirectMethod::multifrontal:
      made = detail::make_multifrontal(options);
      break;
    default:
      made = detail::make_eigen(options);
      break;
  }
  made->statistics_.method = to_string(choice.method);
  // Rewritten with the size of the matrix as soon as that is known; the wish must be remembered until then.
  made->wanted_ = method;
  made->statistics_.why = choice.why;
  return made;
}

void Factorization::check_factorised(const char* what) const {
  if (!factorised_)
    throw Error(ErrorCode::misuse, "the matrix has not been factorised yet; call factorise() first", what);
}

void Factorization::check_vectors(std::size_t size, int columns, std::int64_t length, const char* what) const {
  if (columns < 0 || static_cast<std::int64_t>(size) != length * columns) {
    throw Error(ErrorCode::misuse,
                "expected " + std::to_string(columns) + " vectors of " + std::to_string(length) + " numbers, but got " +
                    std::to_string(size) + " numbers",
                what);
  }
}

void Factorization::analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) {
  check_pattern(matrix);
  const double bytes = 2.0 * static_cast<double>(matrix.entries()) * (sizeof(double) + sizeof(std::int32_t));
  detail::allocating(bytes, "the analysis of a matrix", [&] { analyse_checked(matrix, boundary); });
}

void Factorization::analyse_checked(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(matrix.n), -1);
  for (std::size_t b = 0; b < boundary.size(); ++b) {
    if (boundary[b] < 0 || boundary[b] >= matrix.n) {
      throw Error(ErrorCode::bad_input,
                  "a boundary equation must be one of the matrix, which has " + std::to_string(matrix.n),
                  "equation " + std::to_string(boundary[b]));
    }
    if (place[boundary[b]] >= 0) {
      throw Error(ErrorCode::bad_input, "it occurs twice in the boundary; name it once",
                  "equation " + std::to_string(boundary[b]));
    }
    place[boundary[b]] = static_cast<std::int32_t>(b);
  }
  const Stopwatch watch;
  analysed_ = factorised_ = false;
  matrix_ = matrix;
  boundary_.assign(boundary.begin(), boundary.end());
  boundary_place_ = std::move(place);
  split();
  statistics_.why = choose_direct(matrix.n, matrix.entries(), wanted_).why;
  if (!eliminated_equation_.empty()) {
    if (boundary_.empty() || eliminates_partially()) {
      do_analyse(matrix_, boundary_);
    } else {
      do_analyse(eliminated_, {});
    }
  }
  analysed_ = true;
  ++statistics_.analyses;
  statistics_.analyse_seconds = watch.seconds();
}

// Diagonal scaling first, which is right for definite matrices, then a few sweeps of Ruiz' iteration (largest entry of
// each row to 1) for those whose diagonal is small against the rest of the row.
void Factorization::equilibrate(std::span<const double> sizes) {
  const std::int64_t n = matrix_.n;
  scale_.assign(static_cast<std::size_t>(n), 1.0);
  size_.assign(sizes.begin(), sizes.end());
  for (std::int64_t i = 0; i < n; ++i) {
    double diagonal = std::abs(matrix_.value[matrix_.row_start[i]]);
    if (!size_.empty()) diagonal = std::max(diagonal, size_[i]);  // what cancellation left must not be blown up
    if (diagonal > 0) scale_[i] = inverse_root_power_of_two(diagonal);
  }
  std::vector<double> largest(static_cast<std::size_t>(n));
  for (int sweep = 0; sweep < 4; ++sweep) {
    std::fill(largest.begin(), largest.end(), 0.0);
    for (std::size_t i = 0; i < size_.size(); ++i) largest[i] = size_[i] * scale_[i] * scale_[i];
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = matrix_.row_start[i]; k < matrix_.row_start[i + 1]; ++k) {
        const std::int32_t j = matrix_.column[k];
        const double size = std::abs(matrix_.value[k]) * scale_[i] * scale_[j];
        largest[i] = std::max(largest[i], size);
        largest[j] = std::max(largest[j], size);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      // Within a factor of four is as good as powers of two can promise.
      if (largest[i] > 0 && (largest[i] > 4 || largest[i] < 0.25)) scale_[i] *= inverse_root_power_of_two(largest[i]);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = matrix_.row_start[i]; k < matrix_.row_start[i + 1]; ++k) {
      matrix_.value[k] *= scale_[i] * scale_[matrix_.column[k]];
    }
  }
  for (std::size_t i = 0; i < size_.size(); ++i) size_[i] *= scale_[i] * scale_[i];
}

void Factorization::factorise(const SymmetricCsr& matrix, std::span<const double> sizes) {
  factorise_values(matrix, sizes, Search::free_motions);
}

void Factorization::factorise_indefinite(const SymmetricCsr& matrix) {
  if (!boundary_.empty())
    throw Error(ErrorCode::misuse, "an indefinite matrix is factorised as a whole, without a boundary", "factorise");
  factorise_values(matrix, {}, Search::nothing);
}

void Factorization::factorise_values(const SymmetricCsr& matrix, std::span<const double> sizes, Search search) {
  // A pattern that equals the analysed one has been checked already, except for the length of its values.
  if (!analysed_ || matrix.value.size() != matrix.column.size() || !same_pattern(matrix, matrix_)) {
    const std::vector<std::int32_t> boundary = boundary_;
    analyse(matrix, boundary);
  }
  check_values(matrix);
  if (!sizes.empty()) check_vectors(sizes.size(), 1, matrix.n, "factorise: sizes");
  const double bytes = static_cast<double>(matrix.entries()) * sizeof(double);
  detail::allocating(bytes, "the values of a matrix", [&] { factorise_checked(matrix, sizes, search); });
}

void Factorization::factorise_checked(const SymmetricCsr& matrix, std::span<const double> sizes, Search search) {
  const Stopwatch watch;
  factorised_ = false;
  matrix_.value = matrix.value;
  equilibrate(sizes);
  copy_eliminated_values();

  const bool whole = boundary_.empty() || eliminates_partially();
  inertia_ = {};
  null_pivots_.clear();
  free_motions_.clear();
  const double known = statistics_.memory_mb * 1e6;
  if (whole && !eliminated_equation_.empty()) {
    detail::allocating(known, "the factor", [&] { find_pivots(matrix_, search); });
  } else if (!eliminated_equation_.empty()) {
    // The method counts the eliminated equations alone.
    const auto name = [&](std::int64_t k) { return "equation " + std::to_string(eliminated_equation_[k]); };
    naming_equations(name, [&] { detail::allocating(known, "the factor", [&] { find_pivots(eliminated_, search); }); });
    for (std::int32_t& equation : null_pivots_) equation = eliminated_equation_[equation];
  }
  std::sort(null_pivots_.begin(), null_pivots_.end());
  ++statistics_.factorisations;
  factorised_ = true;
  if (!boundary_.empty()) {
    try {
      const double m = static_cast<double>(boundary_.size());
      detail::allocating(m * m * sizeof(double), "a Schur complement", [&] { form_schur_complement(); });
    } catch (...) {
      factorised_ = false;
      throw;
    }
  }
  statistics_.factorise_seconds = watch.seconds();
}

void Factorization::solve_equilibrated(std::vector<double>& vectors, int columns) {
  if (options_.refinement_steps <= 0) {
    do_solve(vectors.data(), columns);
    return;
  }
  const std::int64_t n = matrix_.n;
  const std::vector<double> rhs = vectors;
  do_solve(vectors.data(), columns);
  // Equations without a pivot carry no information about the error, and a residual there cannot be reduced.
  const auto residual = [&](const std::vector<double>& x, std::vector<double>& r) {
    for (int c = 0; c < columns; ++c) {
      const std::size_t at = static_cast<std::size_t>(n) * c, length = static_cast<std::size_t>(n);
      multiply(matrix_, std::span(x).subspan(at, length), std::span(r).subspan(at, length));
      for (std::int64_t i = 0; i < n; ++i) r[at + i] = rhs[at + i] - r[at + i];
      for (std::int32_t k : null_pivots_) r[at + k] = 0;
    }
    return norm(r.data(), n * columns);
  };
  std::vector<double> r(vectors.size()), better(vectors.size());
  double size = residual(vectors, r);
  for (int step = 0; step < options_.refinement_steps && size > 0; ++step) {
    do_solve(r.data(), columns);
    for (std::size_t i = 0; i < r.size(); ++i) better[i] = vectors[i] + r[i];
    const double next = residual(better, r);
    if (!(next < size)) break;
    vectors.swap(better);
    if (next > 0.5 * size) break;
    size = next;
  }
}

void Factorization::solve(std::span<double> rhs_and_solution, int columns) {
  check_factorised("solve");
  check_vectors(rhs_and_solution.size(), columns, matrix_.n, "solve");
  if (!boundary_.empty()) {
    throw Error(ErrorCode::misuse,
                "the boundary was not eliminated; use reduce(), solve with the Schur complement, and expand()",
                "solve");
  }
  if (rhs_and_solution.empty()) return;
  const Stopwatch watch;
  detail::allocating(static_cast<double>(rhs_and_solution.size_bytes()), "right-hand sides",
                     [&] { solve_checked(rhs_and_solution, columns); });
  statistics_.solve_seconds = watch.seconds();
}

void Factorization::solve_checked(std::span<double> rhs_and_solution, int columns) {
  std::vector<double> vectors(rhs_and_solution.size());
  for (int c = 0; c < columns; ++c) {
    const std::int64_t at = matrix_.n * c;
    for (std::int64_t i = 0; i < matrix_.n; ++i) vectors[at + i] = rhs_and_solution[at + i] * scale_[i];
  }
  solve_equilibrated(vectors, columns);
  for (int c = 0; c < columns; ++c) {
    const std::int64_t at = matrix_.n * c;
    for (std::int64_t i = 0; i < matrix_.n; ++i) rhs_and_solution[at + i] = vectors[at + i] * scale_[i];
    // Their motion is arbitrary, and zero is what the class promises.
    for (std::int32_t k : null_pivots_) rhs_and_solution[at + k] = 0;
  }
}

Inertia Factorization::inertia() const {
  check_factorised("inertia");
  return inertia_;
}

const std::vector<std::int32_t>& Factorization::null_pivots() const {
  check_factorised("null pivots");
  return null_pivots_;
}

std::vector<double> Factorization::null_space() const {
  check_factorised("null space");
  if (!boundary_.empty()) {
    throw Error(ErrorCode::misuse, "free motions are those of a whole matrix; factorise it without a boundary",
                "null space");
  }
  if (null_pivots_.empty()) return {};
  std::vector<double> vectors = detail::allocating(static_cast<double>(free_motions_.size()) * sizeof(double),
                                                   "free motions", [&] { return free_motions_; });
  const std::int64_t n = matrix_.n;
  for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] *= scale_[static_cast<std::int64_t>(i) % n];
  orthonormalise(vectors, n);
  return vectors;
}

}  // namespace voussoir
