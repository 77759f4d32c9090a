#include <voussoir/partition/geneo.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

constexpr std::int64_t dense_up_to = 300;
constexpr Eigen::Index block_width = 8;

/// a + factor · b, with the entries of both.
SymmetricCsr weighted_sum(const SymmetricCsr& a, const SymmetricCsr& b, double factor) {
  SymmetricCsr sum;
  sum.n = a.n;
  sum.row_start.push_back(0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.n); ++i) {
    auto p = static_cast<std::size_t>(a.row_start[i]), q = static_cast<std::size_t>(b.row_start[i]);
    const auto end_p = static_cast<std::size_t>(a.row_start[i + 1]),
               end_q = static_cast<std::size_t>(b.row_start[i + 1]);
    while (p < end_p || q < end_q) {
      const std::int32_t cp = p < end_p ? a.column[p] : INT32_MAX, cq = q < end_q ? b.column[q] : INT32_MAX;
      sum.column.push_back(std::min(cp, cq));
      sum.value.push_back((cp <= cq ? a.value[p] : 0.0) + (cq <= cp ? factor * b.value[q] : 0.0));
      p += cp <= cq;
      q += cq <= cp;
    }
    sum.row_start.push_back(static_cast<std::int64_t>(sum.column.size()));
  }
  return sum;
}

Eigen::MatrixXd dense_matrix(const SymmetricCsr& matrix) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(matrix.n, matrix.n);
  for (std::int64_t i = 0; i < matrix.n; ++i)
    for (auto k = matrix.row_start[static_cast<std::size_t>(i)]; k < matrix.row_start[static_cast<std::size_t>(i) + 1];
         ++k) {
      const std::int32_t j = matrix.column[static_cast<std::size_t>(k)];
      dense(i, j) = dense(j, i) = matrix.value[static_cast<std::size_t>(k)];
    }
  return dense;
}

LowEigenpairs dense_pairs(const SymmetricCsr& a, const SymmetricCsr& b, double threshold) {
  const Eigen::MatrixXd right = dense_matrix(b);
  if (Eigen::LLT<Eigen::MatrixXd>(right).info() != Eigen::Success)
    throw Error(ErrorCode::singular, "the right-hand matrix of an eigenproblem is not positive definite");
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense_matrix(a), right);
  if (solver.info() != Eigen::Success) throw Error(ErrorCode::not_converged, "a dense eigenproblem was not solved");
  LowEigenpairs pairs;
  for (Eigen::Index k = 0; k < solver.eigenvalues().size() && solver.eigenvalues()(k) < threshold; ++k) {
    pairs.values.push_back(solver.eigenvalues()(k));
    const Eigen::VectorXd v = solver.eigenvectors().col(k);
    pairs.vectors.emplace_back(v.data(), v.data() + v.size());
  }
  return pairs;
}

/// Block Lanczos iteration, fully orthogonalised in B, for (A + σ B)⁻¹ B, whose eigenvalues are 1 / (λ + σ).
class BlockLanczos {
 public:
  BlockLanczos(const SymmetricCsr& a, const SymmetricCsr& b, double shift)
      : b_(b), shift_(shift), n_(a.n), factor_(Factorization::make(DirectMethod::multifrontal, {})) {
    factor_->factorise(weighted_sum(a, b, shift));
    if (!factor_->null_pivots().empty() || factor_->inertia().negative > 0)
      throw Error(ErrorCode::singular, "the right-hand matrix of an eigenproblem is not positive definite");
  }

  /// The `count` lowest pairs, all of which are below the threshold, which is the shift.
  LowEigenpairs find(Eigen::Index count) {
    Eigen::MatrixXd next = random_block();
    for (;;) {
      const Eigen::Index before = basis_.cols();
      append(next);
      if (basis_.cols() == before) {  // an invariant space: other directions are needed
        append(random_block());
        if (basis_.cols() == before)
          throw Error(ErrorCode::not_converged, "block Lanczos iteration found " + std::to_string(before) +
                                                    " of the directions of an eigenproblem and no more");
      }
      next = image_.rightCols(basis_.cols() - before);
      if (basis_.cols() < count) continue;
      Eigen::MatrixXd small = weighted_.transpose() * image_;
      small = (0.5 * (small + small.transpose())).eval();
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz(small);  // ascending: the wanted ones are the last
      const Eigen::MatrixXd y = ritz.eigenvectors().rightCols(count);
      const Eigen::VectorXd mu = ritz.eigenvalues().tail(count);
      const Eigen::MatrixXd x = basis_ * y, error = image_ * y - x * mu.asDiagonal();
      const double squared = (weigh(error).cwiseProduct(error)).colwise().sum().maxCoeff();
      if (basis_.cols() < n_ && squared > std::pow(1e-8 / shift_, 2)) continue;
      // A block finds as many of equal eigenvalues as it has columns; others need another beginning.
      if (basis_.cols() < n_ && !(1 / mu(0) - shift_ < (1 + 1e-6) * shift_)) {
        next = random_block();
        continue;
      }
      LowEigenpairs pairs;
      for (Eigen::Index k = count; k-- > 0;) {
        pairs.values.push_back(1 / mu(k) - shift_);
        pairs.vectors.emplace_back(x.col(k).data(), x.col(k).data() + n_);
      }
      return pairs;
    }
  }

 private:
  Eigen::MatrixXd weigh(const Eigen::MatrixXd& x) const {
    Eigen::MatrixXd product(x.rows(), x.cols());
    const auto n = static_cast<std::size_t>(n_);
    for (Eigen::Index j = 0; j < x.cols(); ++j) multiply(b_, {x.col(j).data(), n}, {product.col(j).data(), n});
    return product;
  }
  Eigen::MatrixXd random_block() {
    Eigen::MatrixXd block(n_, std::min<Eigen::Index>(block_width, n_));
    for (Eigen::Index j = 0; j < block.cols(); ++j)
      for (Eigen::Index i = 0; i < n_; ++i) {
        seed_ = seed_ * 6364136223846793005ull + 1442695040888963407ull;
        block(i, j) = static_cast<double>(static_cast<std::int64_t>(seed_) >> 11) / static_cast<double>(1ll << 52);
      }
    // One application suppresses what the wanted vectors do not contain.
    Eigen::MatrixXd load = weigh(block);
    factor_->solve({load.data(), static_cast<std::size_t>(load.size())}, static_cast<int>(load.cols()));
    return load;
  }
  /// Adds the columns that are new, orthonormal in B.
  void append(Eigen::MatrixXd block) {
    for (Eigen::Index j = 0; j < block.cols() && basis_.cols() < n_; ++j) {
      Eigen::VectorXd v = block.col(j);
      const double before = std::sqrt(v.dot(weigh(v).col(0)));
      if (!(before > 0)) continue;
      for (int pass = 0; pass < 2; ++pass) v -= basis_ * (weighted_.transpose() * v);
      Eigen::VectorXd w = weigh(v).col(0);
      const double after = std::sqrt(v.dot(w));
      if (!(after > 1e-10 * before)) continue;
      v /= after;
      w /= after;
      Eigen::VectorXd applied = w;
      factor_->solve({applied.data(), static_cast<std::size_t>(n_)});
      basis_.conservativeResize(n_, basis_.cols() + 1);
      weighted_.conservativeResize(n_, basis_.cols());
      image_.conservativeResize(n_, basis_.cols());
      basis_.rightCols(1) = v;
      weighted_.rightCols(1) = w;
      image_.rightCols(1) = applied;
    }
  }

  const SymmetricCsr& b_;
  const double shift_;
  const Eigen::Index n_;
  std::unique_ptr<Factorization> factor_;
  std::uint64_t seed_ = 88172645463325252ull;
  Eigen::MatrixXd basis_ = Eigen::MatrixXd(n_, 0), weighted_ = basis_, image_ = basis_;  // V, B V, (A + σB)⁻¹ B V
};

}  // namespace

LowEigenpairs low_eigenpairs(const SymmetricCsr& a, const SymmetricCsr& b, double threshold) {
  if (a.n != b.n)
    throw Error(ErrorCode::misuse, "matrices of " + std::to_string(a.n) + " and " + std::to_string(b.n) + " unknowns");
  if (!(threshold > 0) || !std::isfinite(threshold))
    throw Error(ErrorCode::bad_input, "the threshold of an eigenproblem must be positive and finite");
  if (a.n == 0) return {};
  if (a.n <= dense_up_to) return dense_pairs(a, b, threshold);
  const auto shifted = Factorization::make(DirectMethod::automatic, {});
  shifted->factorise_indefinite(weighted_sum(a, b, -threshold));
  const auto count = shifted->inertia().negative;
  if (count == 0) return {};
  if (3 * count > a.n) return dense_pairs(a, b, threshold);
  LowEigenpairs pairs = BlockLanczos(a, b, threshold).find(static_cast<Eigen::Index>(count));
  if (!(pairs.values.back() < threshold * (1 + 1e-4)))
    throw Error(ErrorCode::not_converged, "block Lanczos iteration missed eigenvalues below the threshold");
  return pairs;
}

CoarseSpace geneo_coarse_space(const SymmetricCsr& matrix, std::span<const Overlap> sets,
                               const std::vector<std::vector<double>>& weights,
                               const std::vector<SymmetricCsr>& neumann, double threshold, int threads) {
  if (sets.size() != weights.size() || sets.size() != neumann.size())
    throw Error(ErrorCode::misuse, "each set needs weights and a Neumann matrix");
  std::vector<LowEigenpairs> found(sets.size());
  for_each_part(static_cast<int>(sets.size()), threads, [&](int part) {
    const auto p = static_cast<std::size_t>(part);
    SymmetricCsr weighted = submatrix(matrix, sets[p].unknowns);
    for (std::size_t i = 0; i < weights[p].size(); ++i)
      for (auto k = weighted.row_start[i]; k < weighted.row_start[i + 1]; ++k)
        weighted.value[static_cast<std::size_t>(k)] *=
            weights[p][i] * weights[p][static_cast<std::size_t>(weighted.column[static_cast<std::size_t>(k)])];
    try {
      found[p] = low_eigenpairs(neumann[p], weighted, threshold);
    } catch (const Error& error) {
      throw Error(error.code(), error.what(), "GenEO, part " + std::to_string(p));
    }
  });
  CoarseSpace space;
  for (std::size_t p = 0; p < sets.size(); ++p)
    for (auto& vector : found[p].vectors) {
      double square = 0;
      for (std::size_t i = 0; i < vector.size(); ++i) {
        vector[i] *= weights[p][i];
        square += vector[i] * vector[i];
      }
      for (double& value : vector) value /= std::sqrt(square);
      space.add(sets[p].unknowns, vector);
    }
  return space;
}

double geneo_bound(const FullRows& matrix, std::span<const Overlap> sets, double threshold) {
  std::vector<std::vector<std::int32_t>> sets_of(static_cast<std::size_t>(matrix.size()));
  std::size_t most = 1, coupled = 1;
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (const std::int32_t u : sets[s].unknowns) {
      auto& list = sets_of[static_cast<std::size_t>(u)];
      list.push_back(static_cast<std::int32_t>(s));
      most = std::max(most, list.size());
    }
  for (std::size_t s = 0; s < sets.size(); ++s) {
    std::vector<char> neighbour(sets.size(), 0);
    for (const std::int32_t u : sets[s].unknowns)
      for (auto k = matrix.row_start[static_cast<std::size_t>(u)];
           k < matrix.row_start[static_cast<std::size_t>(u) + 1]; ++k)
        for (const std::int32_t other : sets_of[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)])])
          neighbour[static_cast<std::size_t>(other)] = 1;
    coupled = std::max(coupled, static_cast<std::size_t>(std::count(neighbour.begin(), neighbour.end(), 1)));
  }
  const auto c = static_cast<double>(coupled);
  return (1 + c) * (2 + (2 * c + 1) * static_cast<double>(most) / threshold);
}

}  // namespace voussoir
