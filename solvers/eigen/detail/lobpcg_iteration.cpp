#include <voussoir/solvers/eigen/detail/lobpcg_iteration.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/solvers/eigen/detail/symmetric_eigen.hpp>

namespace voussoir::detail {
namespace {

constexpr int columns_at_once = 4;
/// Directions of a block whose squared lengths are below this fraction are left out: they repeat others.
constexpr double repeated = 1e-12;
/// Products between M-orthonormal vectors that do not disturb the projected eigenproblem.
constexpr double still_orthogonal = 1e-13;

int rounded_up(int columns) { return (columns + columns_at_once - 1) / columns_at_once * columns_at_once; }

/// Factors U with Uᵀ G U = 1 for a Gram matrix, without the directions that add nothing; no columns where none is left.
Eigen::MatrixXd orthonormalising(const Eigen::MatrixXd& gram) {
  Eigen::VectorXd scale = gram.diagonal().cwiseMax(0).cwiseSqrt();
  const double longest = scale.size() > 0 ? scale.maxCoeff() : 0;
  if (!(longest > 0)) return Eigen::MatrixXd(gram.rows(), 0);
  for (Eigen::Index i = 0; i < scale.size(); ++i) scale[i] = scale[i] > 0 ? 1 / scale[i] : 0;
  const SymmetricEigen s = symmetric_eigen(scale.asDiagonal() * gram * scale.asDiagonal());
  Eigen::Index small = 0;
  while (small < s.values.size() && !(s.values[small] > repeated * s.values.tail(1)[0])) ++small;
  const Eigen::Index n = s.values.size() - small;
  return scale.asDiagonal() * s.vectors.rightCols(n) * s.values.tail(n).cwiseSqrt().cwiseInverse().asDiagonal();
}

}  // namespace

LobpcgIteration::LobpcgIteration(const SpectralSearch& search, Preconditioner preconditioner, int columns)
    : search_(search), blocks_(search.blocks), preconditioner_(std::move(preconditioner)) {
  for (const Vector* block : search.deflated)
    deflated_images_.push_back(block->layout() ? blocks_.mass(*block) : Vector());
  const int n = rounded_up(columns);
  timed("start", [&] { basis_.x = blocks_.mass(blocks_.random(n, search.seed)); });
  timed("preconditioner", [&] { basis_.x = preconditioner_(basis_.x); });
  applications_ = n;
  values_.resize(static_cast<std::size_t>(n));
  renew();
}

Vector LobpcgIteration::vectors(int number) const { return blocks_.columns(basis_.x, 0, number); }

void LobpcgIteration::renew() {
  timed("renewal", [&] {
    const int n = count(), p = basis_.count() - n;
    const Vector changes = p > 0 ? blocks_.columns(basis_.x, n, p) : Vector();
    Vector x = blocks_.orthonormal(blocks_.columns(basis_.x, 0, n), search_.deflated);
    values_.clear();
    basis_ = {};
    if (!x.layout()) return;
    const SymmetricEigen s = symmetric_eigen(blocks_.symmetric_dot(x, blocks_.stiffness(x)));
    x = blocks_.combined(x, s.vectors);
    values_.assign(s.values.data(), s.values.data() + s.values.size());
    if (changes.layout()) {
      std::vector<const Vector*> others = search_.deflated;
      others.push_back(&x);
      const Vector rest = blocks_.orthonormal(changes.clone(), others);
      const std::vector<const Vector*> both{&x, &rest};
      if (rest.layout()) x = blocks_.joined(both);
    }
    basis_.k = blocks_.stiffness(x);
    basis_.m = blocks_.mass(x);
    basis_.x = std::move(x);
  });
}

const std::vector<double>& LobpcgIteration::measure(double tolerance) {
  tolerance_ = tolerance;
  timed("residuals", [&] {
    rest_ = {};
    const RitzPairs pairs{blocks_.columns(basis_.x, 0, count()), values_};
    residuals_ = relative_residuals(blocks_, pairs, blocks_.columns(basis_.k, 0, count()),
                                    blocks_.columns(basis_.m, 0, count()), &rest_);
  });
  return residuals_;
}

std::vector<int> LobpcgIteration::chosen_columns() const {
  std::vector<int> order(residuals_.size());
  std::iota(order.begin(), order.end(), 0);
  // The worst first; NaN counts as bad. Equal ones keep their order.
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const double ra = residuals_[static_cast<std::size_t>(a)], rb = residuals_[static_cast<std::size_t>(b)];
    return std::isnan(ra) ? !std::isnan(rb) : ra > rb;
  });
  int bad = 0;
  while (bad < count() && !(residuals_[static_cast<std::size_t>(order[static_cast<std::size_t>(bad)])] <= tolerance_))
    ++bad;
  order.resize(static_cast<std::size_t>(std::min(rounded_up(bad), count())));
  std::sort(order.begin(), order.end());
  return order;
}

void LobpcgIteration::project_out(ImagedBlock& w, double negligible) const {
  const auto take_off = [&](const Vector& block, const Vector& image) {
    const Eigen::MatrixXd c = -blocks_.dot(block, w.m);
    if (c.cwiseAbs().maxCoeff() <= negligible) return;  // NaN is not
    blocks_.add(block, c, w.x);
    blocks_.add(image, c, w.m);
  };
  for (std::size_t i = 0; i < deflated_images_.size(); ++i)
    if (deflated_images_[i].layout()) take_off(*search_.deflated[i], deflated_images_[i]);
  take_off(basis_.x, basis_.m);
}

void LobpcgIteration::project_out_first(ImagedBlock& w) const {
  std::vector<double> before(static_cast<std::size_t>(w.count())), after(before.size());
  blocks_.backend().column_dots(w.x, w.m, before);
  project_out(w, 0);
  blocks_.backend().column_dots(w.x, w.m, after);
  // Where nearly all of a vector cancels, rounding errors of its image are larger than those of a product with M.
  constexpr double cancelled = 1e-4;
  for (std::size_t c = 0; c < before.size(); ++c)
    if (!(after[c] > cancelled * before[c])) {
      w.m = blocks_.mass(w.x);
      return;
    }
}

bool LobpcgIteration::normalise(ImagedBlock& w) const {
  const Eigen::MatrixXd factors = orthonormalising(blocks_.symmetric_dot(w.x, w.m));
  if (factors.cols() == 0) return false;
  w.x = blocks_.combined(w.x, factors);
  w.m = blocks_.combined(w.m, factors);
  // Where most directions are taken, the rest may be those without mass: rounding errors of the length 1.
  if (4 * static_cast<std::int64_t>(basis_.count() + w.count()) < blocks_.problem().free_equations()) return true;
  const std::vector<int> kept = blocks_.columns_with_mass(w.x);
  if (kept.empty()) return false;
  if (static_cast<int>(kept.size()) < w.count()) {
    w.x = blocks_.columns(w.x, kept);
    w.m = blocks_.columns(w.m, kept);
  }
  return true;
}

ImagedBlock LobpcgIteration::orthonormal(Vector x) {
  ImagedBlock w;
  w.x = std::move(x);
  timed("products", [&] { w.m = blocks_.mass(w.x); });
  bool any = true;
  timed("orthogonalisation", [&] {
    project_out_first(w);
    any = normalise(w);
    // What cancelled in the first pass shows now. It is seldom more than rounding errors, and a pass costs as much as
    // all else that is done with these vectors.
    if (!any) return;
    project_out(w, still_orthogonal);
    any = normalise(w);
  });
  if (!any) return {};
  timed("products", [&] { w.k = blocks_.stiffness(w.x); });
  return w;
}

Eigen::MatrixXd LobpcgIteration::projected_stiffness(const ImagedBlock& w) const {
  const Eigen::Index b = basis_.count(), m = w.count();
  Eigen::MatrixXd h(b + m, b + m);
  h.topLeftCorner(b, b) = blocks_.symmetric_dot(basis_.x, basis_.k);
  h.topRightCorner(b, m) = blocks_.dot(basis_.x, w.k);
  h.bottomLeftCorner(m, b) = h.topRightCorner(b, m).transpose();
  h.bottomRightCorner(m, m) = blocks_.symmetric_dot(w.x, w.k);
  return h;
}

Eigen::MatrixXd LobpcgIteration::coefficients(const Eigen::MatrixXd& ritz, const std::vector<int>& chosen) const {
  const Eigen::Index n = ritz.cols();
  Eigen::MatrixXd changes(ritz.rows(), static_cast<Eigen::Index>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) changes.col(static_cast<Eigen::Index>(i)) = ritz.col(chosen[i]);
  changes.topRows(n).setZero();
  for (int pass = 0; pass < 2; ++pass) {
    changes -= ritz * (ritz.transpose() * changes);
    changes *= orthonormalising(changes.transpose() * changes);
    if (changes.cols() == 0) break;
  }
  Eigen::MatrixXd all(ritz.rows(), n + changes.cols());
  all << ritz, changes;
  return all;
}

void LobpcgIteration::combine(const ImagedBlock& w, const Eigen::MatrixXd& c) {
  const Eigen::MatrixXd of_basis = c.topRows(basis_.count()), of_w = c.bottomRows(w.count());
  for (const auto& [from, added] : {std::pair{&basis_.x, &w.x}, {&basis_.k, &w.k}, {&basis_.m, &w.m}}) {
    Vector y = blocks_.combined(*from, of_basis);
    blocks_.add(*added, of_w, y);
    *from = std::move(y);
  }
}

void LobpcgIteration::improve() {
  const std::vector<int> chosen = chosen_columns();
  if (chosen.empty()) return;
  Vector r;
  timed("preconditioner", [&] {
    r = blocks_.columns(rest_, chosen);
    rest_ = {};  // a large part of the memory
    r = preconditioner_(r);
  });
  applications_ += static_cast<std::int64_t>(chosen.size());
  const ImagedBlock w = orthonormal(std::move(r));
  if (w.count() == 0) {
    exhausted_ = true;
    return;
  }
  Eigen::MatrixXd h, c;
  timed("projection", [&] { h = projected_stiffness(w); });
  timed("small matrices", [&] {
    const SymmetricEigen s = symmetric_eigen(h);
    const Eigen::Index n = count();
    values_.assign(s.values.data(), s.values.data() + n);
    c = coefficients(s.vectors.leftCols(n), chosen);
  });
  timed("combination", [&] { combine(w, c); });
}

}  // namespace voussoir::detail
