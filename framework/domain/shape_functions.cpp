#include <voussoir/framework/domain/shape_functions.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

using Point = std::array<double, 3>;

double power(double x, int n) { return n == 0 ? 1 : n == 1 ? x : x * x; }
double slope(double x, int n) { return n == 0 ? 0 : n == 1 ? 1 : 2 * x; }

/// Two and three points of Gauss and Legendre on [−1, 1], exact to degree 3 and 5.
struct Gauss {
  std::vector<double> x, w;
};
Gauss gauss(int points) {
  if (points == 2) return {{-std::sqrt(1.0 / 3), std::sqrt(1.0 / 3)}, {1, 1}};
  if (points == 3) return {{-std::sqrt(0.6), 0, std::sqrt(0.6)}, {5.0 / 9, 8.0 / 9, 5.0 / 9}};
  const double a = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2)), b = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2));
  const double wa = (18 + std::sqrt(30)) / 36, wb = (18 - std::sqrt(30)) / 36;
  return {{-b, -a, a, b}, {wb, wa, wa, wb}};
}

bool is_simplex(const ShapeTopology& shape) { return shape.corners == shape.dim + 1 && shape.dim > 1; }
bool is_wedge(const ShapeTopology& shape) { return shape.dim == 3 && shape.corners == 6; }

}  // namespace

ShapeFunctions::ShapeFunctions(const ShapeTopology& shape) : shape_(&shape) {
  choose_monomials();
  make_rule();
}

void ShapeFunctions::choose_monomials() {
  const auto& nodes = shape_->reference_nodes;
  const auto count = static_cast<std::size_t>(shape_->nodes);
  std::vector<Exponents> candidates;
  for (int i = 0; i <= 2; ++i)
    for (int j = 0; j <= 2; ++j)
      for (int k = 0; k <= 2; ++k) {
        const Exponents e{i, j, k};
        bool fits = true;
        for (int d = shape_->dim; d < 3; ++d) fits = fits && e[d] == 0;
        if (fits) candidates.push_back(e);
      }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Exponents& a, const Exponents& b) { return a[0] + a[1] + a[2] < b[0] + b[1] + b[2]; });
  const auto at = [&](const Exponents& e, const Point& p) {
    return power(p[0], e[0]) * power(p[1], e[1]) * power(p[2], e[2]);
  };
  // Gram and Schmidt on the values at the nodes; what depends on those before is left out.
  std::vector<std::vector<double>> basis;
  for (const Exponents& e : candidates) {
    if (basis.size() == count) break;
    std::vector<double> v(count);
    double given = 0;
    for (std::size_t a = 0; a < count; ++a) given += (v[a] = at(e, nodes[a])) * v[a];
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& q : basis) {
        double along = 0;
        for (std::size_t a = 0; a < count; ++a) along += q[a] * v[a];
        for (std::size_t a = 0; a < count; ++a) v[a] -= along * q[a];
      }
    double left = 0;
    for (const double x : v) left += x * x;
    if (!(left > 1e-16 * given)) continue;
    for (double& x : v) x /= std::sqrt(left);
    basis.push_back(std::move(v));
    monomials_.push_back(e);
  }
  if (monomials_.size() != count)
    throw Error(ErrorCode::internal, "the nodes of shape '" + shape_->name + "' do not define its shape functions");

  // Σ_j c_aj m_j(node b) = δ_ab: the inverse of the matrix m_j(node b), by Gauss and Jordan.
  std::vector<double> m(count * count), inverse(count * count, 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t b = 0; b < count; ++b) m[j * count + b] = at(monomials_[j], nodes[b]);
    inverse[j * count + j] = 1;
  }
  for (std::size_t c = 0; c < count; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < count; ++r)
      if (std::abs(m[r * count + c]) > std::abs(m[pivot * count + c])) pivot = r;
    for (std::size_t k = 0; k < count; ++k) {
      std::swap(m[c * count + k], m[pivot * count + k]);
      std::swap(inverse[c * count + k], inverse[pivot * count + k]);
    }
    const double scale = 1 / m[c * count + c];
    for (std::size_t k = 0; k < count; ++k) {
      m[c * count + k] *= scale;
      inverse[c * count + k] *= scale;
    }
    for (std::size_t r = 0; r < count; ++r) {
      if (r == c) continue;
      const double f = m[r * count + c];
      if (f == 0) continue;
      for (std::size_t k = 0; k < count; ++k) {
        m[r * count + k] -= f * m[c * count + k];
        inverse[r * count + k] -= f * inverse[c * count + k];
      }
    }
  }
  coefficients_ = std::move(inverse);
}

void ShapeFunctions::values(const std::array<double, 3>& xi, double* n) const {
  const std::size_t count = monomials_.size();
  double m[27];
  for (std::size_t j = 0; j < count; ++j)
    m[j] = power(xi[0], monomials_[j][0]) * power(xi[1], monomials_[j][1]) * power(xi[2], monomials_[j][2]);
  for (std::size_t a = 0; a < count; ++a) {
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) sum += coefficients_[a * count + j] * m[j];
    n[a] = sum;
  }
}

void ShapeFunctions::gradients(const std::array<double, 3>& xi, double* g) const {
  const std::size_t count = monomials_.size();
  double m[27][3];
  for (std::size_t j = 0; j < count; ++j)
    for (int k = 0; k < 3; ++k) {
      m[j][k] = 1;
      for (int d = 0; d < 3; ++d) m[j][k] *= d == k ? slope(xi[d], monomials_[j][d]) : power(xi[d], monomials_[j][d]);
    }
  for (std::size_t a = 0; a < count; ++a)
    for (int k = 0; k < 3; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < count; ++j) sum += coefficients_[a * count + j] * m[j][k];
      g[3 * a + k] = sum;
    }
}

std::array<double, 3> ShapeFunctions::clamped(std::array<double, 3> xi) const {
  const bool wedge = is_wedge(*shape_);
  const int simplex = wedge ? 2 : is_simplex(*shape_) ? shape_->dim : 0;  // its leading coordinates
  for (int k = simplex; k < shape_->dim; ++k) xi[k] = std::clamp(xi[k], -1.0, 1.0);
  if (simplex > 0) {
    // Back onto the slanting side along its normal, and then onto the others.
    for (int round = 0; round < 3; ++round) {
      double sum = 0;
      for (int k = 0; k < simplex; ++k) sum += (xi[k] = std::max(xi[k], 0.0));
      if (sum <= 1) break;
      int positive = 0;
      for (int k = 0; k < simplex; ++k) positive += xi[k] > 0;
      for (int k = 0; k < simplex; ++k)
        if (xi[k] > 0) xi[k] -= (sum - 1) / positive;
    }
    double sum = 0;
    for (int k = 0; k < simplex; ++k) sum += (xi[k] = std::max(xi[k], 0.0));
    if (sum > 1)
      for (int k = 0; k < simplex; ++k) xi[k] /= sum;
  }
  for (int k = shape_->dim; k < 3; ++k) xi[k] = 0;
  return xi;
}

std::array<double, 3> ShapeFunctions::middle() const {
  std::array<double, 3> xi{0, 0, 0};
  for (int c = 0; c < shape_->corners; ++c)
    for (int k = 0; k < 3; ++k) xi[k] += shape_->reference_nodes[c][k] / shape_->corners;
  return xi;
}

void ShapeFunctions::make_rule() {
  const int dim = shape_->dim;
  const int simplex = is_wedge(*shape_) ? 2 : is_simplex(*shape_) ? dim : 0;
  // A triangle or tetrahedron is a square or cube, collapsed at a corner (Stroud's conical products).
  const Gauss line = gauss(shape_->order + (simplex > 0 ? 2 : 1));
  const int n = static_cast<int>(line.x.size());
  int all = 1;
  for (int k = 0; k < dim; ++k) all *= n;
  for (int i = 0; i < all; ++i) {
    int rest = i;
    QuadraturePoint point{{0, 0, 0}, 1};
    double left = 1;  // of the simplex, beyond the coordinates so far
    for (int k = 0; k < dim; ++k, rest /= n) {
      const double x = line.x[rest % n], w = line.w[rest % n];
      if (k >= simplex) {
        point.xi[k] = x;
        point.weight *= w;
        continue;
      }
      const double t = 0.5 * (x + 1);
      // ξ_k takes a part t of what is left; the coordinates after it live in the part beyond.
      point.xi[k] = t * left;
      point.weight *= 0.5 * w * left;
      left *= 1 - t;
    }
    rule_.push_back(point);
  }
}

}  // namespace voussoir
