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
/// Squared lengths of what is left of directions, relative to what they were, above which rounding errors of
/// coefficients do not disturb the projected eigenproblem.
constexpr double independent = 1e-4;

int rounded_up(int columns) { return (columns + columns_at_once - 1) / columns_at_once * columns_at_once; }

/// Factors U with Uᵀ G U = 1 for a Gram matrix, without the directions that add nothing.
struct Orthonormalising {
  Eigen::MatrixXd factors;  ///< no columns where no direction is left
  double smallest = 0;      ///< squared length of the smallest direction of unit columns, relative to the largest
};

Orthonormalising orthonormalising(const Eigen::MatrixXd& gram) {
  Eigen::VectorXd scale = gram.diagonal().cwiseMax(0).cwiseSqrt();
  const double longest = scale.size() > 0 ? scale.maxCoeff() : 0;
  if (!(longest > 0)) return {Eigen::MatrixXd(gram.rows(), 0), 0};
  for (Eigen::Index i = 0; i < scale.size(); ++i) scale[i] = scale[i] > 0 ? 1 / scale[i] : 0;
  const SymmetricEigen s = symmetric_eigen(scale.asDiagonal() * gram * scale.asDiagonal());
  const double largest = s.values.tail(1)[0];
  Eigen::Index small = 0;
  while (small < s.values.size() && !(s.values[small] > repeated * largest)) ++small;
  const Eigen::Index n = s.values.size() - small;
  return {scale.asDiagonal() * s.vectors.rightCols(n) * s.values.tail(n).cwiseSqrt().cwiseInverse().asDiagonal(),
          s.values[0] / largest};
}

}  // namespace

Vector LobpcgIteration::start_vectors(const Start& start, int columns) const {
  Vector x = blocks_.random(columns, search_.seed);
  int deflated = 0;
  for (const Vector* block : search_.deflated) deflated += block->layout() ? block->columns() : 0;
  // Where many modes are deflated, those that coarser levels know are among them.
  const Vector soft = 2 * deflated < columns ? start(columns) : Vector();
  if (soft.layout()) {
    // Noise remains a part of each column: a mode that coarser levels do not know would never be found otherwise.
    constexpr double noise = 0.01;
    Backend& backend = blocks_.backend();
    std::vector<double> of_noise = backend.column_norms(x), of_soft = backend.column_norms(soft);
    for (std::size_t c = 0; c < of_noise.size(); ++c) {
      of_noise[c] = of_noise[c] > 0 ? noise / of_noise[c] : 0;
      of_soft[c] = of_soft[c] > 0 && std::isfinite(of_soft[c]) ? 1 / of_soft[c] : 0;
    }
    backend.column_axpby(of_soft, soft, of_noise, x);
  }
  return blocks_.mass(x);
}

LobpcgIteration::LobpcgIteration(const SpectralSearch& search, Preconditioner preconditioner, const Start& start,
                                 int columns)
    : search_(search), blocks_(search.blocks), preconditioner_(std::move(preconditioner)) {
  for (const Vector* block : search.deflated)
    deflated_images_.push_back(block->layout() ? blocks_.mass(*block) : Vector());
  const int n = rounded_up(columns);
  timed("start", [&] { basis_ = start_vectors(start, n); });
  timed("preconditioner", [&] { basis_ = preconditioner_(basis_); });
  applications_ = n;
  values_.resize(static_cast<std::size_t>(n));
  renew();
}

Vector LobpcgIteration::vectors(int number) const { return blocks_.columns(basis_, 0, number); }

void LobpcgIteration::renew() {
  timed("renewal", [&] {
    const int n = count(), p = basis_.columns() - n;
    const Vector changes = p > 0 ? blocks_.columns(basis_, n, p) : Vector();
    Vector x = blocks_.orthonormal(p > 0 ? blocks_.columns(basis_, 0, n) : std::move(basis_), search_.deflated);
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
    stiffness_ = blocks_.symmetric_dot(x, blocks_.stiffness(x));
    basis_ = std::move(x);
  });
}

const std::vector<double>& LobpcgIteration::measure(double tolerance) {
  tolerance_ = tolerance;
  timed("residuals", [&] {
    rest_ = {};
    residuals_ = relative_residuals(blocks_, {blocks_.columns(basis_, 0, count()), values_}, &rest_);
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

void LobpcgIteration::deflate(Vector& w) const {
  for (int pass = 0; pass < 2; ++pass)  // what cancels in the first one shows in the second
    for (std::size_t i = 0; i < deflated_images_.size(); ++i)
      if (deflated_images_[i].layout()) blocks_.add(*search_.deflated[i], -blocks_.dot(deflated_images_[i], w), w);
}

LobpcgIteration::Directions LobpcgIteration::formed_directions(const Vector& w, const Eigen::MatrixXd& gram) const {
  // Columns of one length first: those of residuals that have nearly converged are shorter by many digits.
  Eigen::VectorXd scale = gram.diagonal();
  for (double& s : scale) s = s > 0 ? 1 / std::sqrt(s) : 0;
  std::vector<const Vector*> others = search_.deflated;
  others.push_back(&basis_);
  Directions d;
  d.w = blocks_.orthonormal(blocks_.combined(w, scale.asDiagonal().toDenseMatrix()), others);
  if (!d.w.layout()) return d;
  d.factors = Eigen::MatrixXd::Identity(d.w.columns(), d.w.columns());
  d.overlap = Eigen::MatrixXd::Zero(basis_.columns(), d.w.columns());
  return d;
}

LobpcgIteration::Directions LobpcgIteration::directions(Vector w) {
  Directions d;
  Eigen::MatrixXd gram, left;
  bool apart = false;
  for (int pass = 0; pass < 2 && !apart; ++pass) {
    Vector mw;
    timed("products", [&] { mw = blocks_.mass(w); });
    timed("orthogonalisation", [&] {
      gram = blocks_.symmetric_dot(w, mw);
      d.overlap = blocks_.dot(basis_, mw);
      left = gram - d.overlap.transpose() * d.overlap;
      apart = true;
      for (Eigen::Index i = 0; i < gram.rows(); ++i) apart = apart && left(i, i) > independent * gram(i, i);
      if (!apart && pass == 0) blocks_.add(basis_, -d.overlap, w);
    });
  }
  timed("orthogonalisation", [&] {
    // Where most directions are taken, the rest may be those without mass.
    const std::int64_t taken = basis_.columns() + w.columns();
    apart = apart && 4 * taken < blocks_.problem().free_equations();
    if (apart) {
      Orthonormalising o = orthonormalising(left);
      d.factors = std::move(o.factors);
      apart = o.smallest > independent;
    }
    if (apart)
      d.w = std::move(w);
    else
      d = formed_directions(w, gram);
  });
  return d;
}

Eigen::MatrixXd LobpcgIteration::projected_stiffness(const Directions& d) {
  Vector kw;
  timed("products", [&] { kw = blocks_.stiffness(d.w); });
  const Eigen::Index b = stiffness_.rows(), m = d.count();
  Eigen::MatrixXd h(b + m, b + m);
  timed("projection", [&] {
    const Eigen::MatrixXd mixed = blocks_.dot(basis_, kw), own = blocks_.symmetric_dot(d.w, kw);
    const Eigen::MatrixXd cross = mixed - stiffness_ * d.overlap, shared = mixed.transpose() * d.overlap;
    const Eigen::MatrixXd rest =
        own - shared - shared.transpose() + d.overlap.transpose() * (stiffness_ * d.overlap).eval();
    h.topLeftCorner(b, b) = stiffness_;
    h.topRightCorner(b, m) = cross * d.factors;
    h.bottomLeftCorner(m, b) = h.topRightCorner(b, m).transpose();
    h.bottomRightCorner(m, m) = d.factors.transpose() * rest * d.factors;
  });
  return h;
}

Eigen::MatrixXd LobpcgIteration::coefficients(const Eigen::MatrixXd& ritz, const std::vector<int>& chosen) const {
  const Eigen::Index n = ritz.cols();
  Eigen::MatrixXd changes(ritz.rows(), static_cast<Eigen::Index>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) changes.col(static_cast<Eigen::Index>(i)) = ritz.col(chosen[i]);
  changes.topRows(n).setZero();
  for (int pass = 0; pass < 2; ++pass) {
    changes -= ritz * (ritz.transpose() * changes);
    changes *= orthonormalising(changes.transpose() * changes).factors;
    if (changes.cols() == 0) break;
  }
  Eigen::MatrixXd all(ritz.rows(), n + changes.cols());
  all << ritz, changes;
  return all;
}

void LobpcgIteration::combine(const Directions& d, const Eigen::MatrixXd& c) {
  const Eigen::MatrixXd of_w = d.factors * c.bottomRows(d.count());
  const Eigen::MatrixXd of_basis = c.topRows(basis_.columns()) - d.overlap * of_w;
  Vector y = blocks_.combined(basis_, of_basis);
  blocks_.add(d.w, of_w, y);
  basis_ = std::move(y);
}

void LobpcgIteration::improve() {
  const std::vector<int> chosen = chosen_columns();
  if (chosen.empty()) return;
  Vector w;
  timed("preconditioner", [&] {
    Vector r = blocks_.columns(rest_, chosen);
    rest_ = {};  // a large part of the memory
    w = preconditioner_(r);
  });
  applications_ += static_cast<std::int64_t>(chosen.size());
  timed("orthogonalisation", [&] { deflate(w); });
  const Directions d = directions(std::move(w));
  if (d.count() == 0) {
    exhausted_ = true;
    return;
  }
  const Eigen::MatrixXd h = projected_stiffness(d);
  Eigen::MatrixXd c;
  timed("small matrices", [&] {
    const SymmetricEigen s = symmetric_eigen(h);
    const Eigen::Index n = count();
    // Errors of these vectors are relative to the largest eigenvalue, which may exceed the lowest by nine digits where
    // a residual is noise. Once more in their span alone.
    Eigen::MatrixXd ritz = s.vectors.leftCols(n);
    const SymmetricEigen once_more = symmetric_eigen(ritz.transpose() * (h * ritz).eval());
    ritz *= once_more.vectors;
    values_.assign(once_more.values.data(), once_more.values.data() + n);
    c = coefficients(ritz, chosen);
    // Ritz vectors are orthogonal in K to all vectors that are M-orthogonal to them.
    const Eigen::Index p = c.cols() - n;
    stiffness_ = Eigen::MatrixXd::Zero(n + p, n + p);
    stiffness_.topLeftCorner(n, n) = once_more.values.asDiagonal();
    const Eigen::MatrixXd changes = c.rightCols(p).transpose() * (h * c.rightCols(p));
    stiffness_.bottomRightCorner(p, p) = 0.5 * (changes + changes.transpose());
  });
  timed("combination", [&] { combine(d, c); });
}

}  // namespace voussoir::detail
