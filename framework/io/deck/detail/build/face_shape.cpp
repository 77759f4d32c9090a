#include <voussoir/framework/io/deck/detail/build/face_shape.hpp>

#include <cmath>

namespace voussoir::deck {
namespace {

constexpr double corner_xi[4] = {-1, 1, 1, -1}, corner_eta[4] = {-1, -1, 1, 1};

struct Area {
  double at[2], weight;
};

/// A rule of degree 5 on the line, the square or the triangle.
int rule(const FaceShape& shape, Area* points) {
  const double g[3] = {-std::sqrt(0.6), 0, std::sqrt(0.6)}, w[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
  if (shape.dim == 1) {
    for (int i = 0; i < 3; ++i) points[i] = {{g[i], 0}, w[i]};
    return 3;
  }
  if (!shape.triangle) {
    for (int i = 0; i < 9; ++i) points[i] = {{g[i % 3], g[i / 3]}, w[i % 3] * w[i / 3]};
    return 9;
  }
  const double root = std::sqrt(15.0);
  points[0] = {{1.0 / 3, 1.0 / 3}, 9.0 / 80};
  for (int k = 0; k < 2; ++k) {
    const double a = (k == 0 ? 6 - root : 6 + root) / 21, weight = (k == 0 ? 155 - root : 155 + root) / 2400;
    points[1 + 3 * k] = {{a, a}, weight};
    points[2 + 3 * k] = {{1 - 2 * a, a}, weight};
    points[3 + 3 * k] = {{a, 1 - 2 * a}, weight};
  }
  return 7;
}

}  // namespace

void FaceShape::values(const double* at, double* n) const {
  const double x = at[0], y = dim > 1 ? at[1] : 0;
  if (dim == 1) {
    if (nodes == 2) {
      n[0] = 0.5 * (1 - x), n[1] = 0.5 * (1 + x);
    } else {
      n[0] = 0.5 * x * (x - 1), n[1] = 0.5 * x * (x + 1), n[2] = 1 - x * x;
    }
    return;
  }
  if (triangle) {
    const double l[3] = {1 - x - y, x, y};
    for (int i = 0; i < 3; ++i) {
      n[i] = nodes == 3 ? l[i] : l[i] * (2 * l[i] - 1);
      if (nodes == 6) n[3 + i] = 4 * l[i] * l[(i + 1) % 3];
    }
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const double a = corner_xi[i] * x, b = corner_eta[i] * y;
    n[i] = 0.25 * (1 + a) * (1 + b) * (nodes == 4 ? 1 : a + b - 1);
  }
  if (nodes == 8) {
    n[4] = 0.5 * (1 - x * x) * (1 - y), n[6] = 0.5 * (1 - x * x) * (1 + y);
    n[5] = 0.5 * (1 + x) * (1 - y * y), n[7] = 0.5 * (1 - x) * (1 - y * y);
  }
}

void FaceShape::derivatives(const double* at, double (*d)[2]) const {
  const double x = at[0], y = dim > 1 ? at[1] : 0;
  for (int i = 0; i < nodes; ++i) d[i][0] = d[i][1] = 0;
  if (dim == 1) {
    if (nodes == 2) {
      d[0][0] = -0.5, d[1][0] = 0.5;
    } else {
      d[0][0] = x - 0.5, d[1][0] = x + 0.5, d[2][0] = -2 * x;
    }
    return;
  }
  if (triangle) {
    const double l[3] = {1 - x - y, x, y}, dl[3][2] = {{-1, -1}, {1, 0}, {0, 1}};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 2; ++k) {
        const int j = (i + 1) % 3;
        d[i][k] = nodes == 3 ? dl[i][k] : (4 * l[i] - 1) * dl[i][k];
        if (nodes == 6) d[3 + i][k] = 4 * (dl[i][k] * l[j] + l[i] * dl[j][k]);
      }
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const double p = corner_xi[i], q = corner_eta[i], a = p * x, b = q * y;
    d[i][0] = 0.25 * p * (1 + b) * (nodes == 4 ? 1 : 2 * a + b);
    d[i][1] = 0.25 * q * (1 + a) * (nodes == 4 ? 1 : a + 2 * b);
  }
  if (nodes == 8) {
    d[4][0] = -x * (1 - y), d[4][1] = -0.5 * (1 - x * x);
    d[6][0] = -x * (1 + y), d[6][1] = 0.5 * (1 - x * x);
    d[5][0] = 0.5 * (1 - y * y), d[5][1] = -y * (1 + x);
    d[7][0] = -0.5 * (1 - y * y), d[7][1] = -y * (1 - x);
  }
}

void FaceShape::add_areas(const double (*x)[3], double* area) const {
  Area points[9];
  const int count = rule(*this, points);
  for (int p = 0; p < count; ++p) {
    double n[most_nodes], d[most_nodes][2], t[2][3] = {};
    values(points[p].at, n);
    derivatives(points[p].at, d);
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < 3; ++k) t[0][k] += d[a][0] * x[a][k], t[1][k] += d[a][1] * x[a][k];
    const double stretch =
        dim == 1 ? std::hypot(t[0][0], t[0][1], t[0][2])
                 : std::hypot(t[0][1] * t[1][2] - t[0][2] * t[1][1], t[0][2] * t[1][0] - t[0][0] * t[1][2],
                              t[0][0] * t[1][1] - t[0][1] * t[1][0]);
    for (int a = 0; a < nodes; ++a) area[a] += points[p].weight * stretch * n[a];
  }
}

const FaceShape* find_face_shape(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    FaceShape shape;
  } shapes[] = {{"line2", {2, 1, false}}, {"line3", {3, 1, false}}, {"tri3", {3, 2, true}},
                {"tri6", {6, 2, true}},   {"quad4", {4, 2, false}}, {"quad8", {8, 2, false}}};
  for (const auto& s : shapes)
    if (s.name == name) return &s.shape;
  return nullptr;
}

}  // namespace voussoir::deck
