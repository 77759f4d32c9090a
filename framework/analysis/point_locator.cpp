#include <voussoir/framework/analysis/point_locator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/domain/detail/boundary_faces.hpp>

namespace voussoir {
namespace {

using Point = std::array<double, 3>;

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Point& a) { return std::hypot(a[0], a[1], a[2]); }

double distance_to_segment(const Point& p, const Point& a, const Point& b) {
  const Point ab = b - a, ap = p - a;
  const double square = dot(ab, ab), t = square > 0 ? std::clamp(dot(ap, ab) / square, 0.0, 1.0) : 0;
  return length({ap[0] - t * ab[0], ap[1] - t * ab[1], ap[2] - t * ab[2]});
}

double distance_to_triangle(const Point& p, const Point& a, const Point& b, const Point& c) {
  const Point ab = b - a, ac = c - a, ap = p - a;
  const double d00 = dot(ab, ab), d01 = dot(ab, ac), d11 = dot(ac, ac), d20 = dot(ap, ab), d21 = dot(ap, ac);
  const double area = d00 * d11 - d01 * d01;
  if (area > 0) {
    const double v = (d11 * d20 - d01 * d21) / area, w = (d00 * d21 - d01 * d20) / area;
    if (v >= 0 && w >= 0 && v + w <= 1)
      return length({ap[0] - v * ab[0] - w * ac[0], ap[1] - v * ab[1] - w * ac[1], ap[2] - v * ab[2] - w * ac[2]});
  }
  return std::min({distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
}

/// Solves the linear system of Newton's step in the least squares sense: a step in ξ that moves x by `gap`.
Point step_in_cell(const double (&j)[3][3], const Point& gap, int dim) {
  double a[3][4] = {};
  for (int r = 0; r < dim; ++r) {
    for (int c = 0; c < dim; ++c) a[r][c] = j[r][0] * j[c][0] + j[r][1] * j[c][1] + j[r][2] * j[c][2];
    a[r][3] = j[r][0] * gap[0] + j[r][1] * gap[1] + j[r][2] * gap[2];
  }
  Point step{0, 0, 0};
  for (int c = 0; c < dim; ++c) {
    int pivot = c;
    for (int r = c + 1; r < dim; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    if (!(std::abs(a[pivot][c]) > 0)) return {0, 0, 0};
    for (int k = 0; k < 4; ++k) std::swap(a[c][k], a[pivot][k]);
    for (int r = c + 1; r < dim; ++r) {
      const double f = a[r][c] / a[c][c];
      for (int k = c; k < 4; ++k) a[r][k] -= f * a[c][k];
    }
  }
  for (int r = dim - 1; r >= 0; --r) {
    step[r] = a[r][3];
    for (int k = r + 1; k < dim; ++k) step[r] -= a[r][k] * step[k];
    step[r] /= a[r][r];
  }
  return step;
}

bool has_shape(const ElementBlock& block) {
  const std::string& shape = block.type().shape();
  return !shape.empty() && shape_topology(shape).nodes == block.nodes_per_element();
}

}  // namespace

PointLocator::PointLocator(const Domain& domain) : domain_(&domain) {
  constexpr double far = std::numeric_limits<double>::infinity();
  low_ = {far, far, far};
  high_ = {-far, -far, -far};
  std::int64_t elements = 0;
  const auto x = domain.coordinates();
  struct Box {
    Point low{far, far, far}, high{-far, -far, -far};
  };
  const auto box_of = [&](const ElementBlock& block, std::int32_t e) {
    Box box;
    for (const std::int32_t n : block.nodes(e))
      for (int k = 0; k < 3; ++k) {
        box.low[k] = std::min(box.low[k], x[3 * static_cast<std::size_t>(n) + k]);
        box.high[k] = std::max(box.high[k], x[3 * static_cast<std::size_t>(n) + k]);
      }
    return box;
  };
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    if (!has_shape(block)) continue;
    functions_.try_emplace(block.type().shape(), shape_topology(block.type().shape()));
    elements += block.size();
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const Box box = box_of(block, e);
      for (int k = 0; k < 3; ++k) {
        low_[k] = std::min(low_[k], box.low[k]);
        high_[k] = std::max(high_[k], box.high[k]);
      }
    }
  }
  if (elements == 0) return;
  tolerance_ = 1e-6 * length(high_ - low_);

  // As many cells as elements, as square as can be.
  double volume = 1;
  int wide = 0;
  for (int k = 0; k < 3; ++k)
    if (high_[k] - low_[k] > 1e-3 * length(high_ - low_)) {
      volume *= high_[k] - low_[k];
      ++wide;
    }
  const double side = wide > 0 ? std::pow(volume / static_cast<double>(elements), 1.0 / wide) : 1;
  for (int k = 0; k < 3; ++k)
    cells_[k] = std::clamp<std::int64_t>(static_cast<std::int64_t>((high_[k] - low_[k]) / side), 1, 1024);
  const auto visit = [&](auto take) {
    for (std::size_t b = 0; b < domain.block_count(); ++b) {
      const ElementBlock& block = domain.block(b);
      if (!has_shape(block)) continue;
      for (std::int32_t e = 0; e < block.size(); ++e) {
        Box box = box_of(block, e);
        // Curved sides bulge out of the box of their nodes.
        const double margin =
            tolerance_ + (shape_topology(block.type().shape()).order > 1 ? 0.15 : 0.0) * length(box.high - box.low);
        for (int k = 0; k < 3; ++k) {
          box.low[k] -= margin;
          box.high[k] += margin;
        }
        const auto from = cell_index(box.low), to = cell_index(box.high);
        for (auto i = from[0]; i <= to[0]; ++i)
          for (auto j = from[1]; j <= to[1]; ++j)
            for (auto l = from[2]; l <= to[2]; ++l)
              take(static_cast<std::size_t>((i * cells_[1] + j) * cells_[2] + l),
                   ElementRef{static_cast<std::int32_t>(b), e});
      }
    }
  };
  first_.assign(static_cast<std::size_t>(cells_[0] * cells_[1] * cells_[2]) + 1, 0);
  visit([&](std::size_t cell, ElementRef) { ++first_[cell + 1]; });
  for (std::size_t c = 0; c + 1 < first_.size(); ++c) first_[c + 1] += first_[c];
  candidates_.resize(static_cast<std::size_t>(first_.back()));
  std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
  visit([&](std::size_t cell, ElementRef e) { candidates_[static_cast<std::size_t>(next[cell]++)] = e; });
}

std::array<std::int64_t, 3> PointLocator::cell_index(const std::array<double, 3>& point) const {
  std::array<std::int64_t, 3> index{};
  for (int k = 0; k < 3; ++k) {
    const double size = high_[k] - low_[k];
    const double part = size > 0 ? (point[k] - low_[k]) / size * static_cast<double>(cells_[k]) : 0;
    index[k] = static_cast<std::int64_t>(std::clamp(part, 0.0, static_cast<double>(cells_[k] - 1)));
  }
  return index;
}

std::size_t PointLocator::cell_of(const std::array<double, 3>& point) const {
  const auto i = cell_index(point);
  return static_cast<std::size_t>((i[0] * cells_[1] + i[1]) * cells_[2] + i[2]);
}

bool PointLocator::contains(ElementRef element, const std::array<double, 3>& point, ElementPoint& found) const {
  const ElementBlock& block = domain_->block(element.block);
  const ShapeFunctions& functions = functions_.at(block.type().shape());
  const auto nodes = block.nodes(element.element);
  const auto x = domain_->coordinates();
  double n[27], g[81];
  const auto gap_at = [&](const Point& xi) {
    functions.values(xi, n);
    Point gap = point;
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (int k = 0; k < 3; ++k) gap[k] -= n[a] * x[3 * static_cast<std::size_t>(nodes[a]) + k];
    return gap;
  };
  // Newton's method from the middle of the cell; never far out of it, where curved elements fold.
  Point xi = functions.middle();
  for (int iteration = 0; iteration < 30; ++iteration) {
    const Point gap = gap_at(xi);
    functions.gradients(xi, g);
    double j[3][3] = {};
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) j[r][k] += g[3 * a + r] * x[3 * static_cast<std::size_t>(nodes[a]) + k];
    const Point step = step_in_cell(j, gap, functions.shape().dim);
    for (int k = 0; k < 3; ++k) xi[k] = std::clamp(xi[k] + step[k], -1.5, 1.5);
    if (std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]) < 1e-13) break;
  }
  xi = functions.clamped(xi);
  if (!(length(gap_at(xi)) <= tolerance_)) return false;
  found = {element, xi};
  return true;
}

std::vector<ElementPoint> PointLocator::find(const std::array<double, 3>& point) const {
  std::map<std::string, ElementPoint> inside, on_line;  // by material
  if (candidates_.empty()) return {};
  for (int k = 0; k < 3; ++k)
    if (!(point[k] >= low_[k] - 0.2 * length(high_ - low_) && point[k] <= high_[k] + 0.2 * length(high_ - low_)))
      return {};
  const std::size_t cell = cell_of(point);
  for (auto i = first_[cell]; i < first_[cell + 1]; ++i) {
    const ElementRef e = candidates_[static_cast<std::size_t>(i)];
    const ElementBlock& block = domain_->block(e.block);
    const std::string material = block.material() ? block.material()->name() : "";
    auto& found = functions_.at(block.type().shape()).shape().dim > 1 ? inside : on_line;
    ElementPoint place{};
    if (!found.contains(material) && contains(e, point, place)) found.emplace(material, place);
  }
  std::vector<ElementPoint> result;
  for (const auto& [material, place] : inside.empty() ? on_line : inside) result.push_back(place);
  return result;
}

double PointLocator::distance(const std::array<double, 3>& point) const {
  if (!find(point).empty()) return 0;
  double nearest = std::numeric_limits<double>::infinity();
  const auto at = [&](std::int32_t n) {
    const double* p = &domain_->coordinates()[3 * static_cast<std::size_t>(n)];
    return Point{p[0], p[1], p[2]};
  };
  const auto polygon = [&](const std::vector<std::int32_t>& corners) {
    for (std::size_t i = 2; i < corners.size(); ++i)
      nearest = std::min(nearest, distance_to_triangle(point, at(corners[0]), at(corners[i - 1]), at(corners[i])));
  };
  std::vector<std::int32_t> corners;
  for (std::size_t b = 0; b < domain_->block_count(); ++b) {
    const ElementBlock& block = domain_->block(b);
    if (!has_shape(block)) continue;
    const ShapeTopology& shape = shape_topology(block.type().shape());
    for (std::int32_t e = 0; e < block.size() && shape.dim < 3; ++e) {
      const auto nodes = block.nodes(e);
      if (shape.dim == 1) {
        nearest = std::min(nearest, distance_to_segment(point, at(nodes[0]), at(nodes[1])));
      } else {
        corners.assign(nodes.begin(), nodes.begin() + shape.corners);
        polygon(corners);
      }
    }
  }
  for (const FaceRef& f : detail::boundary_faces(*domain_)) {
    const ElementBlock& block = domain_->block(f.block);
    const ShapeTopology& shape = shape_topology(block.type().shape());
    if (shape.dim != 3) continue;
    const ShapeFace& face = shape.faces[f.face];
    corners.clear();
    for (int i = 0; i < shape_topology(face.shape).corners; ++i)
      corners.push_back(block.nodes(f.element)[face.nodes[i]]);
    polygon(corners);
  }
  return nearest;
}

}  // namespace voussoir
