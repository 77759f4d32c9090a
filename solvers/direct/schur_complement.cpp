// Factorisations with a boundary: all other equations are eliminated, and loads and solutions go back and forth.
#include <algorithm>
#include <span>
#include <utility>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

void Factorization::split() {
  eliminated_place_.assign(static_cast<std::size_t>(matrix_.n), -1);
  eliminated_equation_.clear();
  for (std::int64_t i = 0; i < matrix_.n; ++i) {
    if (boundary_place_[i] >= 0) continue;
    eliminated_place_[i] = static_cast<std::int32_t>(eliminated_equation_.size());
    eliminated_equation_.push_back(static_cast<std::int32_t>(i));
  }
  eliminated_ = {};
  if (boundary_.empty() || eliminates_partially()) return;
  eliminated_.n = static_cast<std::int64_t>(eliminated_equation_.size());
  eliminated_.row_start.push_back(0);
  for (std::int32_t i : eliminated_equation_) {
    for (std::int64_t k = matrix_.row_start[i]; k < matrix_.row_start[i + 1]; ++k) {
      const std::int32_t j = eliminated_place_[matrix_.column[k]];
      if (j >= 0) eliminated_.column.push_back(j);
    }
    eliminated_.row_start.push_back(static_cast<std::int64_t>(eliminated_.column.size()));
  }
  eliminated_.value.assign(eliminated_.column.size(), 0.0);
}

void Factorization::copy_eliminated_values() {
  if (eliminated_.n == 0) return;
  std::size_t next = 0;
  for (std::int32_t i : eliminated_equation_) {
    for (std::int64_t k = matrix_.row_start[i]; k < matrix_.row_start[i + 1]; ++k) {
      if (eliminated_place_[matrix_.column[k]] >= 0) eliminated_.value[next++] = matrix_.value[k];
    }
  }
}

void Factorization::form_schur_complement() {
  const std::int64_t m = static_cast<std::int64_t>(boundary_.size());
  if (eliminates_partially() && !eliminated_equation_.empty()) {
    schur_ = do_schur_complement();
  } else {
    schur_.assign(static_cast<std::size_t>(m * m), 0.0);
    for (std::int32_t i : boundary_) {
      for (std::int64_t k = matrix_.row_start[i]; k < matrix_.row_start[i + 1]; ++k) {
        const std::int64_t a = boundary_place_[i], b = boundary_place_[matrix_.column[k]];
        if (b < 0) continue;
        schur_[a + b * m] = schur_[b + a * m] = matrix_.value[k];
      }
    }
    if (!eliminated_equation_.empty()) {
      // The coupling A_ib by columns, so that blocks of its columns can be solved for; row b of the result then is a
      // product with the same columns again.
      std::vector<std::vector<std::pair<std::int32_t, double>>> coupling(static_cast<std::size_t>(m));
      for (std::int64_t i = 0; i < matrix_.n; ++i) {
        for (std::int64_t k = matrix_.row_start[i]; k < matrix_.row_start[i + 1]; ++k) {
          const std::int32_t j = matrix_.column[k];
          if (boundary_place_[i] >= 0 && eliminated_place_[j] >= 0) {
            coupling[boundary_place_[i]].emplace_back(eliminated_place_[j], matrix_.value[k]);
          } else if (boundary_place_[j] >= 0 && eliminated_place_[i] >= 0) {
            coupling[boundary_place_[j]].emplace_back(eliminated_place_[i], matrix_.value[k]);
          }
        }
      }
      const std::int64_t inner = static_cast<std::int64_t>(eliminated_equation_.size());
      constexpr std::int64_t block = 32;
      std::vector<double> vectors;
      for (std::int64_t first = 0; first < m; first += block) {
        const std::int64_t columns = std::min(block, m - first);
        vectors.assign(static_cast<std::size_t>(inner * columns), 0.0);
        for (std::int64_t c = 0; c < columns; ++c) {
          for (const auto& [row, value] : coupling[first + c]) vectors[row + c * inner] = value;
        }
        do_solve(vectors.data(), static_cast<int>(columns));
        for (std::int64_t c = 0; c < columns; ++c) {
          for (std::int64_t a = 0; a < m; ++a) {
            double sum = 0;
            for (const auto& [row, value] : coupling[a]) sum += value * vectors[row + c * inner];
            schur_[a + (first + c) * m] -= sum;
          }
        }
      }
    }
  }
  for (std::int64_t b = 0; b < m; ++b) {
    for (std::int64_t a = 0; a < m; ++a) schur_[a + b * m] /= scale_[boundary_[a]] * scale_[boundary_[b]];
  }
  // Rounding differs between the two halves; their mean is symmetric to the last bit.
  for (std::int64_t b = 0; b < m; ++b) {
    for (std::int64_t a = 0; a < b; ++a) {
      schur_[a + b * m] = schur_[b + a * m] = 0.5 * (schur_[a + b * m] + schur_[b + a * m]);
    }
  }
}

// Takes and gives whole vectors; afterwards the boundary's entries are zero.
void Factorization::solve_eliminated(std::vector<double>& vectors, int columns) {
  const std::int64_t n = matrix_.n, inner = static_cast<std::int64_t>(eliminated_equation_.size());
  if (eliminates_partially()) {
    if (inner > 0) do_solve(vectors.data(), columns);
  } else if (inner > 0) {
    std::vector<double> part(static_cast<std::size_t>(inner) * columns);
    for (int c = 0; c < columns; ++c) {
      for (std::int64_t k = 0; k < inner; ++k) part[k + c * inner] = vectors[eliminated_equation_[k] + c * n];
    }
    do_solve(part.data(), columns);
    for (int c = 0; c < columns; ++c) {
      for (std::int64_t k = 0; k < inner; ++k) vectors[eliminated_equation_[k] + c * n] = part[k + c * inner];
    }
  }
  for (int c = 0; c < columns; ++c) {
    for (std::int32_t b : boundary_) vectors[b + c * n] = 0;
    for (std::int32_t k : null_pivots_) vectors[k + c * n] = 0;
  }
}

std::vector<double> Factorization::reduce(std::span<const double> rhs, int columns) {
  check_factorised("reduce");
  check_vectors(rhs.size(), columns, matrix_.n, "reduce");
  return detail::allocating(static_cast<double>(rhs.size_bytes()), "right-hand sides",
                            [&] { return reduce_checked(rhs, columns); });
}

std::vector<double> Factorization::reduce_checked(std::span<const double> rhs, int columns) {
  const std::int64_t n = matrix_.n, m = static_cast<std::int64_t>(boundary_.size());
  std::vector<double> vectors(rhs.begin(), rhs.end());
  for (int c = 0; c < columns; ++c) {
    for (std::int64_t i = 0; i < n; ++i) vectors[i + c * n] *= scale_[i];
  }
  std::vector<double> reduced;
  if (m == 0 || columns == 0) return reduced;
  if (eliminates_partially() && !eliminated_equation_.empty()) {
    reduced = do_reduce(vectors.data(), columns);
  } else {
    reduced.resize(static_cast<std::size_t>(m * columns));
    for (int c = 0; c < columns; ++c) {
      for (std::int64_t b = 0; b < m; ++b) reduced[b + c * m] = vectors[boundary_[b] + c * n];
    }
    solve_eliminated(vectors, columns);
    std::vector<double> product(static_cast<std::size_t>(n));
    for (int c = 0; c < columns; ++c) {
      multiply(matrix_, std::span(vectors).subspan(static_cast<std::size_t>(c * n), static_cast<std::size_t>(n)),
               product);
      for (std::int64_t b = 0; b < m; ++b) reduced[b + c * m] -= product[boundary_[b]];
    }
  }
  for (int c = 0; c < columns; ++c) {
    for (std::int64_t b = 0; b < m; ++b) reduced[b + c * m] /= scale_[boundary_[b]];
  }
  return reduced;
}

void Factorization::expand(std::span<const double> boundary_solution, std::span<double> rhs_and_solution, int columns) {
  check_factorised("expand");
  const std::int64_t n = matrix_.n, m = static_cast<std::int64_t>(boundary_.size());
  check_vectors(boundary_solution.size(), columns, m, "expand: solution on the boundary");
  check_vectors(rhs_and_solution.size(), columns, n, "expand: loads");
  if (rhs_and_solution.empty()) return;
  detail::allocating(static_cast<double>(rhs_and_solution.size_bytes()), "right-hand sides",
                     [&] { expand_checked(boundary_solution, rhs_and_solution, columns); });
}

void Factorization::expand_checked(std::span<const double> boundary_solution, std::span<double> rhs_and_solution,
                                   int columns) {
  const std::int64_t n = matrix_.n, m = static_cast<std::int64_t>(boundary_.size());
  std::vector<double> vectors(rhs_and_solution.size());
  std::vector<double> known(static_cast<std::size_t>(n)), product(static_cast<std::size_t>(n));
  for (int c = 0; c < columns; ++c) {
    std::fill(known.begin(), known.end(), 0.0);
    for (std::int64_t b = 0; b < m; ++b) known[boundary_[b]] = boundary_solution[b + c * m] / scale_[boundary_[b]];
    multiply(matrix_, known, product);
    for (std::int64_t i = 0; i < n; ++i) vectors[i + c * n] = rhs_and_solution[i + c * n] * scale_[i] - product[i];
  }
  solve_eliminated(vectors, columns);
  for (int c = 0; c < columns; ++c) {
    for (std::int64_t i = 0; i < n; ++i) rhs_and_solution[i + c * n] = vectors[i + c * n] * scale_[i];
    for (std::int64_t b = 0; b < m; ++b) rhs_and_solution[boundary_[b] + c * n] = boundary_solution[b + c * m];
  }
}

const std::vector<double>& Factorization::schur_complement() const {
  check_factorised("Schur complement");
  if (boundary_.empty()) {
    throw Error(ErrorCode::misuse, "no boundary was named; give its equations to analyse()", "Schur complement");
  }
  return schur_;
}

}  // namespace voussoir
