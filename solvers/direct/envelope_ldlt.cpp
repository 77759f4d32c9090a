#include <algorithm>
#include <cmath>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/threads.hpp>
#include <voussoir/solvers/direct/envelope_ldlt.hpp>

namespace voussoir {

void EnvelopeLdlt::Reference::add(std::int64_t i, std::int64_t j, double value) {
  const double size = std::abs(value);
  largest_[i] = std::max(largest_[i], size);
  largest_[j] = std::max(largest_[j], size);
  if (i == j) diagonal_[i] = size;
}

void EnvelopeLdlt::reset(std::int64_t n, int threads) {
  threads_ = threads;
  inverse_.assign(static_cast<std::size_t>(n), 0.0);
  null_pivots_.clear();
  inertia_ = {};
}

bool EnvelopeLdlt::take_pivot(std::int64_t equation, double pivot, double null_size) {
  if (!std::isfinite(pivot)) {
    throw Error(ErrorCode::not_finite, "factorisation encountered a value that is not finite; check the matrix",
                "equation " + std::to_string(equation));
  }
  if (std::abs(pivot) <= null_size) {
    null_pivots_.push_back(static_cast<std::int32_t>(equation));
    ++inertia_.zero;
    return false;
  }
  inverse_[equation] = 1 / pivot;
  ++(pivot < 0 ? inertia_.negative : inertia_.positive);
  return true;
}

int EnvelopeLdlt::team() const { return threads_ > 0 ? threads_ : default_threads(); }

void EnvelopeLdlt::solve(std::span<double> rhs_and_solution, int columns) const {
  const auto n = static_cast<std::int64_t>(inverse_.size());
  if (columns < 0 || static_cast<std::int64_t>(rhs_and_solution.size()) != n * columns) {
    throw Error(ErrorCode::misuse, "the right-hand sides must have one number per equation and column",
                std::string(name_) + " solve");
  }
#pragma omp parallel for schedule(static) num_threads(team()) if (columns > 1)
  for (int c = 0; c < columns; ++c) {
    double* x = rhs_and_solution.data() + n * c;
    forward(x);
    backward(x);
  }
}

std::vector<double> EnvelopeLdlt::null_vectors() const {
  // With D_kk = 0, A = L D Lᵀ sends the solution of Lᵀ v = e_k to zero.
  const std::size_t n = inverse_.size();
  std::vector<double> vectors(n * null_pivots_.size(), 0.0);
  for (std::size_t c = 0; c < null_pivots_.size(); ++c) {
    vectors[c * n + null_pivots_[c]] = 1;
    backward(vectors.data() + c * n);
  }
  return vectors;
}

}  // namespace voussoir
