#include <voussoir/framework/io/deck/detail/build/face_search.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace voussoir::deck {
namespace {

using Vector = std::array<double, 3>;

double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector point_of(const FaceShape& shape, const double (*x)[3], const double* at) {
  double n[FaceShape::most_nodes];
  shape.values(at, n);
  Vector p{};
  for (int a = 0; a < shape.nodes; ++a)
    for (int k = 0; k < 3; ++k) p[k] += n[a] * x[a][k];
  return p;
}

void tangents_of(const FaceShape& shape, const double (*x)[3], const double* at, double (*t)[3]) {
  double d[FaceShape::most_nodes][2];
  shape.derivatives(at, d);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k) t[i][k] = 0;
  for (int a = 0; a < shape.nodes; ++a)
    for (int i = 0; i < shape.dim; ++i)
      for (int k = 0; k < 3; ++k) t[i][k] += d[a][i] * x[a][k];
}

double squared_distance(const FaceShape& shape, const double (*x)[3], const double* at, const double* p) {
  const Vector q = point_of(shape, x, at);
  const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  return dot(d, d);
}

/// The contravariant basis: tangents divided by the metric. False for a face without length or area.
bool reciprocal(int dim, const double (*t)[3], double (*r)[3]) {
  const double a = dot(t[0], t[0]);
  if (dim == 1) {
    if (!(a > 0)) return false;
    for (int k = 0; k < 3; ++k) r[0][k] = t[0][k] / a, r[1][k] = 0;
    return true;
  }
  const double b = dot(t[0], t[1]), c = dot(t[1], t[1]), det = a * c - b * b;
  if (!(det > 1e-24 * a * c)) return false;
  for (int k = 0; k < 3; ++k) {
    r[0][k] = (c * t[0][k] - b * t[1][k]) / det;
    r[1][k] = (a * t[1][k] - b * t[0][k]) / det;
  }
  return true;
}

bool inside(const FaceShape& shape, const double* at) {
  constexpr double rounding = 1e-9;
  if (shape.triangle) return at[0] >= -rounding && at[1] >= -rounding && at[0] + at[1] <= 1 + rounding;
  return std::abs(at[0]) <= 1 + rounding && (shape.dim == 1 || std::abs(at[1]) <= 1 + rounding);
}

/// Gauss–Newton from the nearest of a few points; whether it ended inside the cell.
bool foot_inside(const FaceShape& shape, const double (*x)[3], const double* p, double* at) {
  const bool curved = shape.nodes > (shape.dim == 1 ? 2 : shape.triangle ? 3 : 4);
  const int steps = curved ? 4 : shape.dim == 2 && !shape.triangle ? 2 : 1;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; j <= (shape.dim == 1 ? 0 : shape.triangle ? steps - i : steps); ++j) {
      const double s = static_cast<double>(i) / steps, t = static_cast<double>(j) / steps;
      const double start[2] = {shape.triangle ? s : 2 * s - 1, shape.dim == 1 ? 0.0 : shape.triangle ? t : 2 * t - 1};
      if (const double d = squared_distance(shape, x, start, p); d < best) {
        best = d;
        at[0] = start[0], at[1] = start[1];
      }
    }
  for (int iteration = 0; iteration < 60; ++iteration) {
    double t[2][3], r[2][3];
    tangents_of(shape, x, at, t);
    if (!reciprocal(shape.dim, t, r)) return false;
    const Vector q = point_of(shape, x, at);
    const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    double change = 0;
    for (int i = 0; i < shape.dim; ++i) {
      const double step = std::clamp(dot(r[i], d), -0.5, 0.5);
      at[i] += step;
      change = std::max(change, std::abs(step));
    }
    if (change < 1e-13) break;
    if (std::abs(at[0]) > 3 || std::abs(at[1]) > 3) return false;
  }
  return inside(shape, at);
}

/// The nearest point of an edge, −1 ≤ s ≤ 1.
double foot_on_edge(const FaceShape& edge, const double (*x)[3], const double* p, double& distance) {
  double at[2] = {0, 0}, best = 0;
  distance = std::numeric_limits<double>::infinity();
  const auto take = [&](double s) {
    const double here[2] = {s, 0};
    if (const double d = squared_distance(edge, x, here, p); d < distance) distance = d, best = s;
  };
  take(-1);
  take(1);
  if (foot_inside(edge, x, p, at)) take(std::clamp(at[0], -1.0, 1.0));
  return best;
}

/// The nearest point of a face: within it, or else on one of its edges.
void foot_of(const FaceShape& shape, const double (*x)[3], const double* p, double* at) {
  if (shape.dim == 1) {
    double distance;
    at[0] = foot_on_edge(shape, x, p, distance);
    at[1] = 0;
    return;
  }
  if (foot_inside(shape, x, p, at)) return;
  const int corners = shape.triangle ? 3 : 4;
  const bool quadratic = shape.nodes > corners;
  const FaceShape& edge = *find_face_shape(quadratic ? "line3" : "line2");
  static constexpr double triangle_corner[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  static constexpr double square_corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  const double(*corner)[2] = shape.triangle ? triangle_corner : square_corner;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < corners; ++i) {
    const int j = (i + 1) % corners;
    double ends[3][3];
    for (int k = 0; k < 3; ++k) {
      ends[0][k] = x[i][k], ends[1][k] = x[j][k];
      ends[2][k] = quadratic ? x[corners + i][k] : 0;
    }
    double distance;
    const double s = foot_on_edge(edge, ends, p, distance);
    if (distance >= least) continue;
    least = distance;
    for (int k = 0; k < 2; ++k) at[k] = 0.5 * (1 - s) * corner[i][k] + 0.5 * (1 + s) * corner[j][k];
  }
}

double squared_distance(const double* low, const double* high, const double* p) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const double d = std::max({low[k] - p[k], 0.0, p[k] - high[k]});
    sum += d * d;
  }
  return sum;
}

}  // namespace

FaceSearch::FaceSearch(std::span<const double> coordinates, std::vector<SearchFace> faces)
    : coordinates_(coordinates), faces_(std::move(faces)), order_(faces_.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  if (!faces_.empty()) build(0, static_cast<std::int32_t>(faces_.size()));
}

void FaceSearch::corners(std::int32_t face, double (*x)[3]) const {
  for (int a = 0; a < faces_[face].count; ++a)
    for (int k = 0; k < 3; ++k) x[a][k] = coordinates_[3 * static_cast<std::size_t>(faces_[face].nodes[a]) + k];
}

std::int32_t FaceSearch::build(std::int32_t first, std::int32_t last) {
  Box box;
  box.first = first;
  box.last = last;
  std::fill(box.low, box.low + 3, std::numeric_limits<double>::infinity());
  std::fill(box.high, box.high + 3, -std::numeric_limits<double>::infinity());
  double low[3], high[3];  // of the faces' middles
  std::copy(box.low, box.low + 3, low);
  std::copy(box.high, box.high + 3, high);
  const auto middle = [this](std::int32_t face, int k) {
    double sum = 0;
    for (int a = 0; a < faces_[face].count; ++a)
      sum += coordinates_[3 * static_cast<std::size_t>(faces_[face].nodes[a]) + k];
    return sum / faces_[face].count;
  };
  for (std::int32_t i = first; i < last; ++i) {
    double x[FaceShape::most_nodes][3];
    corners(order_[i], x);
    const int count = faces_[order_[i]].count;
    for (int k = 0; k < 3; ++k) {
      double least = x[0][k], most = x[0][k];
      for (int a = 1; a < count; ++a) least = std::min(least, x[a][k]), most = std::max(most, x[a][k]);
      // A curved face reaches a little beyond its nodes: by an eighth at most while its middle nodes are in the middle
      // half of their edges.
      const double margin = 0.125 * (most - least);
      box.low[k] = std::min(box.low[k], least - margin), box.high[k] = std::max(box.high[k], most + margin);
      const double m = middle(order_[i], k);
      low[k] = std::min(low[k], m), high[k] = std::max(high[k], m);
    }
  }
  const auto index = static_cast<std::int32_t>(boxes_.size());
  boxes_.push_back(box);
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
  if (last - first <= 4 || !(high[axis] > low[axis])) return index;
  const std::int32_t half = first + (last - first) / 2;
  std::nth_element(order_.begin() + first, order_.begin() + half, order_.begin() + last,
                   [&](std::int32_t i, std::int32_t j) {
                     const double a = middle(i, axis), b = middle(j, axis);
                     return a < b || (a == b && i < j);
                   });
  const std::int32_t left = build(first, half), right = build(half, last);
  boxes_[index].left = left;
  boxes_[index].right = right;
  return index;
}

Meeting FaceSearch::meet(std::int32_t face, const double* p) const {
  const SearchFace& f = faces_[face];
  double x[FaceShape::most_nodes][3];
  corners(face, x);
  Meeting m;
  m.face = face;
  if (!f.shape) {
    m.foot = {x[0][0], x[0][1], x[0][2]};
    m.distance = m.gap = std::hypot(p[0] - x[0][0], p[1] - x[0][1], p[2] - x[0][2]);
    m.weight[0] = 1;
    return m;
  }
  foot_of(*f.shape, x, p, m.at);
  m.foot = point_of(*f.shape, x, m.at);
  m.distance = std::hypot(p[0] - m.foot[0], p[1] - m.foot[1], p[2] - m.foot[2]);
  return m;
}

Meeting FaceSearch::nearest(const double* p) const {
  Meeting best;
  best.distance = std::numeric_limits<double>::infinity();
  std::vector<std::int32_t> open{0};
  while (!open.empty()) {
    const Box& box = boxes_[open.back()];
    open.pop_back();
    // Among faces at the same distance, as beside an edge, the lowest number wins whatever the order of the search.
    const double reach = best.distance * (1 + 1e-9);
    if (squared_distance(box.low, box.high, p) > reach * reach) continue;
    if (box.left >= 0) {
      const Box &a = boxes_[box.left], &b = boxes_[box.right];
      const bool a_first = squared_distance(a.low, a.high, p) <= squared_distance(b.low, b.high, p);
      open.push_back(a_first ? box.right : box.left);
      open.push_back(a_first ? box.left : box.right);
      continue;
    }
    for (std::int32_t i = box.first; i < box.last; ++i) {
      Meeting m = meet(order_[i], p);
      const bool same = std::abs(m.distance - best.distance) <= 1e-9 * best.distance;
      if (best.face < 0 || (same ? m.face < best.face : m.distance < best.distance)) best = m;
    }
  }
  if (best.face < 0 || !faces_[best.face].shape) return best;
  const FaceShape& shape = *faces_[best.face].shape;
  double x[FaceShape::most_nodes][3], t[2][3], r[2][3], d[FaceShape::most_nodes][2];
  corners(best.face, x);
  shape.values(best.at, best.weight);
  tangents_of(shape, x, best.at, t);
  if (!reciprocal(shape.dim, t, r)) return best;
  if (shape.dim == 1)
    best.normal = {t[0][1], -t[0][0], 0};
  else
    best.normal = {t[0][1] * t[1][2] - t[0][2] * t[1][1], t[0][2] * t[1][0] - t[0][0] * t[1][2],
                   t[0][0] * t[1][1] - t[0][1] * t[1][0]};
  const double length = std::hypot(best.normal[0], best.normal[1], best.normal[2]);
  for (double& n : best.normal) n /= length;
  const double arm[3] = {p[0] - best.foot[0], p[1] - best.foot[1], p[2] - best.foot[2]};
  best.gap = dot(arm, best.normal.data());
  double beside[3];
  for (int k = 0; k < 3; ++k) beside[k] = arm[k] - best.gap * best.normal[k];
  best.overhang = std::hypot(beside[0], beside[1], beside[2]);
  shape.derivatives(best.at, d);
  for (int a = 0; a < shape.nodes; ++a) {
    for (int k = 0; k < 3; ++k) best.slope[a][k] = d[a][0] * r[0][k] + d[a][1] * r[1][k];
    best.weight[a] += dot(best.slope[a], beside);
  }
  return best;
}

}  // namespace voussoir::deck
