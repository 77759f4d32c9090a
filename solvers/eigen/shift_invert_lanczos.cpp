#include <voussoir/solvers/eigen/shift_invert_lanczos.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/solvers/eigen/detail/spectral_search.hpp>
#include <voussoir/solvers/eigen/detail/symmetric_eigen.hpp>

namespace voussoir {
namespace {

using detail::EigenBlocks;
using detail::SearchResult;
using detail::SpectralSearch;

/// A = (K − σM)⁻¹M restricted to a growing M-orthonormal basis V: T = VᵀMAV, and AV = VT + Q B at the last block.
class KrylovSpace {
 public:
  explicit KrylovSpace(const SpectralSearch& search) : search_(search), blocks_(search.blocks) {}

  int size() const { return static_cast<int>(t_.rows()); }
  /// Whether the space can grow by what the last product added.
  bool can_grow() const { return next_.layout() != nullptr; }
  /// Takes random vectors as the next block. They are in the range of A, and so have no part without mass.
  bool start(int columns, std::uint64_t seed) {
    const Vector fresh = search_.inverse(blocks_.random(columns, seed));
    next_ = blocks_.orthonormal(fresh.clone(), others());
    coupling_.resize(0, 0);
    return can_grow();
  }

  /// Adds the next block to the basis.
  void grow() {
    basis_.push_back(std::move(next_));
    const Vector& v = basis_.back();
    const Eigen::Index old = t_.rows(), width = v.columns();
    Vector w = search_.inverse(v);
    const Vector mw = blocks_.mass(w);
    Eigen::MatrixXd t = Eigen::MatrixXd::Zero(old + width, old + width);
    t.topLeftCorner(old, old) = t_;
    Eigen::Index at = 0;
    for (const Vector& block : basis_) {
      const Eigen::MatrixXd c = blocks_.dot(block, mw);
      t.block(at, old, c.rows(), width) = c;
      blocks_.add(block, -c, w);
      at += c.rows();
    }
    t.block(old, 0, width, old) = t.block(0, old, old, width).transpose();
    const Eigen::MatrixXd corner = t.bottomRightCorner(width, width);
    t.bottomRightCorner(width, width) = 0.5 * (corner + corner.transpose());
    t_ = std::move(t);
    last_ = width;
    next_ = blocks_.orthonormal(std::move(w), others());
    coupling_ = can_grow() ? blocks_.dot(next_, mw) : Eigen::MatrixXd();
  }

  /// Eigenvalues θ of T, the largest magnitude first, and what A x − θ x is relative to θ.
  void solve() {
    const detail::SymmetricEigen s = detail::symmetric_eigen(t_);
    std::vector<Eigen::Index> order(static_cast<std::size_t>(s.values.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](Eigen::Index a, Eigen::Index b) { return std::abs(s.values[a]) > std::abs(s.values[b]); });
    theta_.resize(s.values.size());
    ritz_.resize(s.vectors.rows(), s.vectors.cols());
    for (std::size_t i = 0; i < order.size(); ++i) {
      theta_[static_cast<Eigen::Index>(i)] = s.values[order[i]];
      ritz_.col(static_cast<Eigen::Index>(i)) = s.vectors.col(order[i]);
    }
  }
  double theta(int i) const { return theta_[i]; }
  double residual(int i) const {
    if (coupling_.size() == 0) return 0;
    return (coupling_ * ritz_.col(i).tail(last_)).norm() / std::abs(theta_[i]);
  }
  Vector vectors(int count) const {
    Vector x = blocks_.make(count);
    blocks_.backend().fill(x, 0.0);
    Eigen::Index at = 0;
    for (const Vector& block : basis_) {
      blocks_.add(block, ritz_.block(at, 0, block.columns(), count), x);
      at += block.columns();
    }
    return x;
  }
  /// Keeps the first Ritz vectors only; the next block stays.
  void restart(int keep) {
    Vector kept = vectors(keep);
    basis_.clear();
    basis_.push_back(std::move(kept));
    t_ = theta_.head(keep).asDiagonal();
  }

 private:
  std::vector<const Vector*> others() const {
    std::vector<const Vector*> all = search_.deflated;
    for (const Vector& block : basis_) all.push_back(&block);
    return all;
  }

  const SpectralSearch& search_;
  const EigenBlocks& blocks_;
  std::vector<Vector> basis_;
  Vector next_;  // Q
  Eigen::MatrixXd t_, coupling_, ritz_;
  Eigen::VectorXd theta_;
  Eigen::Index last_ = 0;  // columns of the last block
};

/// Ritz vectors after one more product with A, which takes off what is left of high modes.
detail::RitzPairs purified(const SpectralSearch& search, const Vector& x) {
  return rayleigh_ritz(search.blocks, search.blocks.orthonormal(search.inverse(x), search.deflated));
}

/// How large the space may get before it is restarted. A restart costs convergence, vectors cost memory and, beside
/// many others, orthogonalisation.
int most_vectors(const SpectralSearch& search, int block) {
  constexpr double memory = 2e9;  // bytes
  const double room = memory / (sizeof(double) * static_cast<double>(search.blocks.problem().free_equations()));
  const int least = 2 * search.want + 2 * block, roomy = search.want + 20 * block;
  return std::max(least, std::min(roomy, static_cast<int>(std::min(room, 1e6))));
}

/// How many Ritz values belong to the first `want`: those of equal eigenvalues are not cut, because a count of modes
/// would miss the rest of them.
int with_equal_ones(const KrylovSpace& space, double shift, int want) {
  constexpr double nearly_equal = 1e-3;  // of values that have not converged
  int count = want;
  const auto value = [&](int i) { return shift + 1 / space.theta(i); };
  while (count < space.size() && std::abs(value(count) - value(want - 1)) <= nearly_equal * std::abs(value(want - 1)))
    ++count;
  return count;
}

}  // namespace

SearchResult ShiftInvertLanczos::search(const SpectralSearch& search) const {
  const EigenRequest& request = search.request;
  const int block = request.block > 0 ? request.block : std::clamp((search.want + 7) / 8, 4, 12);
  const int most = most_vectors(search, block);
  const double tolerance = std::max(0.01 * request.tolerance, 1e-13);
  SearchResult result;
  KrylovSpace space(search);
  if (!space.start(block, search.seed)) {
    result.exhausted = result.converged = true;
    return result;
  }
  int converged = 0;
  while (true) {
    space.grow();
    ++result.iterations;
    const bool may_be_enough = space.size() > search.want || !space.can_grow();
    if (may_be_enough || result.iterations >= request.max_iterations) {
      space.solve();
      for (converged = 0; converged < space.size() && space.residual(converged) <= tolerance;) ++converged;
      search.tell(result.iterations, space.residual(std::min(search.want, space.size()) - 1));
    } else {
      search.tell(result.iterations, 1);
    }
    if (!space.can_grow() && space.size() < search.want) {
      // An invariant space that is too small: others are orthogonal to it.
      if (!space.start(block, search.seed + 7919 * static_cast<std::uint64_t>(result.iterations))) {
        result.exhausted = true;
        break;
      }
      continue;
    }
    if (!space.can_grow() || result.iterations >= request.max_iterations) break;
    if (converged >= search.want && converged >= with_equal_ones(space, search.factor->shift(), search.want)) break;
    if (space.size() + block > most) {
      const int keep = std::min(space.size() - block, search.want + std::max(block, (space.size() - search.want) / 3));
      space.restart(keep);
    }
  }
  result.converged = converged >= search.want || result.exhausted;
  // A few more than wanted may come with them; all that there are would cost a solution each.
  const int taken = std::min(converged, search.want + block);
  if (taken < space.size()) result.next = search.factor->shift() + 1 / space.theta(taken);
  if (taken > 0) result.pairs = purified(search, space.vectors(taken));
  return result;
}

}  // namespace voussoir
