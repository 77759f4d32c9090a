#include <voussoir/framework/mesh/mesh_quality.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {
namespace {

using Point = std::array<double, 3>;
constexpr std::size_t most_folded = 1000;

double determinant(const std::array<Point, 3>& t, int dim) {
  if (dim == 2) return t[0][0] * t[1][1] - t[0][1] * t[1][0];
  return t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) - t[0][1] * (t[1][0] * t[2][2] - t[1][2] * t[2][0]) +
         t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
}

double length(const Point& p, int dim) { return dim == 2 ? std::hypot(p[0], p[1]) : std::hypot(p[0], p[1], p[2]); }

/// An edge as a corner sees it.
struct Ray {
  int far;     // the corner at the other end
  int middle;  // −1: straight
};

/// What a shape looks like from its corners.
class Corners {
 public:
  explicit Corners(const ShapeTopology& shape) : shape_(shape) {
    for (int c = 0; c < shape.corners; ++c) {
      std::vector<Ray> rays;
      for (const auto& edge : shape.edges) {
        const int middle = edge.size() == 3 ? edge[2] : -1;
        if (edge[0] == c) rays.push_back({edge[1], middle});
        if (edge[1] == c) rays.push_back({edge[0], middle});
      }
      // Ordered so that the reference cell itself is not inside out.
      std::array<Point, 3> t{};
      for (int r = 0; r < shape.dim; ++r)
        for (int k = 0; k < 3; ++k) t[r][k] = shape.reference_nodes[rays[r].far][k] - shape.reference_nodes[c][k];
      if (determinant(t, shape.dim) < 0) std::swap(rays[0], rays[1]);
      for (int r = 0; r < shape.dim; ++r) rays_.push_back(rays[r]);
    }
    // The corner of a regular shape: equal edges at 60° in a triangle, and so on.
    const bool triangle = shape.name.starts_with("tri"), tetrahedron = shape.name.starts_with("tet");
    const bool wedge = shape.name.starts_with("wedge");
    regular_ = triangle || wedge ? std::sqrt(0.75) : tetrahedron ? std::sqrt(0.5) : 1;
  }

  ElementQuality measure(const double* coordinates, const std::int32_t* nodes) const {
    const int dim = shape_.dim;
    const auto at = [&](int local) { return coordinates + 3 * static_cast<std::ptrdiff_t>(nodes[local]); };
    ElementQuality q;
    q.scaled_jacobian = std::numeric_limits<double>::infinity();
    double longest = 0, shortest = std::numeric_limits<double>::infinity();
    for (int c = 0; c < shape_.corners; ++c) {
      std::array<Point, 3> t{};
      double lengths = 1;
      for (int r = 0; r < dim; ++r) {
        const Ray& ray = rays_[static_cast<std::size_t>(c) * dim + r];
        const double *a = at(c), *b = at(ray.far);
        Point chord{};
        for (int k = 0; k < dim; ++k) {
          chord[k] = b[k] - a[k];
          // The parabola through both ends and the middle node leaves the corner along 4 m − 3 a − b.
          t[r][k] = ray.middle < 0 ? chord[k] : 4 * at(ray.middle)[k] - 3 * a[k] - b[k];
        }
        const double l = length(chord, dim);
        longest = std::max(longest, l);
        shortest = std::min(shortest, l);
        lengths *= length(t[r], dim);
      }
      const double jacobian = lengths > 0 ? determinant(t, dim) / (lengths * regular_) : 0;
      // NaN coordinates are the worst of all.
      if (!(jacobian >= q.scaled_jacobian)) q.scaled_jacobian = std::isnan(jacobian) ? -1 : jacobian;
    }
    q.aspect_ratio = shortest > 0 ? longest / shortest : std::numeric_limits<double>::infinity();
    q.scaled_jacobian = std::min(q.scaled_jacobian, 1.0);
    return q;
  }

 private:
  const ShapeTopology& shape_;
  std::vector<Ray> rays_;  // `dim` of them per corner
  double regular_ = 1;
};

const ShapeTopology* measurable_shape(const ElementBlock& block) {
  // The type as it is named, since the material's law does not change the shape and may still be missing.
  const ElementType* type = ElementLibrary::instance().find_if(block.type_name());
  if (!type || type->shape().empty()) return nullptr;
  const ShapeTopology& shape = shape_topology(type->shape());
  return shape.dim >= 2 && shape.nodes == block.nodes_per_element() ? &shape : nullptr;
}

}  // namespace

ElementQuality element_quality(const Domain& domain, ElementRef element) {
  const ElementBlock& block = domain.block(static_cast<std::size_t>(element.block));
  const ShapeTopology* shape = measurable_shape(block);
  if (!shape) return {};
  return Corners(*shape).measure(domain.coordinates().data(), block.nodes(element.element).data());
}

MeshQuality measure_quality(const Domain& domain) {
  MeshQuality quality;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const ShapeTopology* shape = measurable_shape(block);
    if (!shape) continue;
    const Corners corners(*shape);
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const ElementQuality q = corners.measure(domain.coordinates().data(), block.nodes(e).data());
      const ElementRef ref{static_cast<std::int32_t>(b), e};
      if (quality.measured == 0 || q.aspect_ratio > quality.largest_aspect_ratio) {
        quality.largest_aspect_ratio = q.aspect_ratio;
        quality.longest = ref;
      }
      if (quality.measured == 0 || q.scaled_jacobian < quality.smallest_scaled_jacobian) {
        quality.smallest_scaled_jacobian = q.scaled_jacobian;
        quality.worst = ref;
      }
      ++quality.measured;
      const auto& limits = MeshQuality::aspect_limits;
      ++quality.aspect_histogram[std::lower_bound(limits.begin(), limits.end(), q.aspect_ratio) - limits.begin()];
      const double bin = std::ceil(10 * q.scaled_jacobian - 1e-12);
      ++quality.jacobian_histogram[static_cast<std::size_t>(std::clamp(bin, 0.0, 10.0))];
      if (!(q.scaled_jacobian > 0)) {
        ++quality.folded_count;
        if (quality.folded.size() < most_folded) quality.folded.push_back(ref);
      }
    }
  }
  return quality;
}

}  // namespace voussoir
