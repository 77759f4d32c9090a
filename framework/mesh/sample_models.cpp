#include <voussoir/framework/mesh/sample_models.hpp>

#include <cmath>
#include <memory>
#include <numbers>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/block_mesh.hpp>
#include <voussoir/framework/mesh/detail/sample_parts.hpp>

namespace voussoir {

namespace detail {

namespace {

const ElementType& checked_type(const std::string& type, const char* model) {
  const ElementType& element = ElementLibrary::instance().find(type);
  const std::string family = type.substr(0, type.find('.'));
  if (family != "solid" && family != "plane_stress" && family != "plane_strain")
    throw Error(ErrorCode::bad_input,
                "it cannot be meshed with elements of type '" + type + "'; use solid.… or, for plates, plane_stress.…",
                model);
  return element;
}

}  // namespace

int sample_dimension(const std::string& type, const char* model) {
  return shape_topology(checked_type(type, model).shape()).dim;
}

void require_positive(double value, const char* what, const char* model) {
  if (!(value > 0) || !std::isfinite(value))
    throw Error(ErrorCode::bad_input, std::string(what) + " must be positive, not " + std::to_string(value), model);
}

void refine(BlockMesh& mesh, const std::string& type, const Fineness& fineness, const char* model) {
  if ((fineness.size > 0) == (fineness.dofs > 0))
    throw Error(ErrorCode::bad_input,
                "give either the size of elements or the number of unknowns, as a positive number", model);
  const ElementType& element = checked_type(type, model);
  if (fineness.size > 0)
    mesh.refine_to_size(fineness.size);
  else
    mesh.refine_to_nodes(std::max<std::int64_t>(1, fineness.dofs / shape_topology(element.shape()).dim),
                         element.shape());
}

std::shared_ptr<const Material> elastic(const char* name, const ElasticNumbers& numbers) {
  return std::make_shared<IsotropicMaterial>(name, numbers.young, numbers.poisson, numbers.density);
}

Disc::Disc(Point centre, int axis, std::vector<double> radii)
    : centre_(centre), axis_(axis), radii_(std::move(radii)) {}

BlockMesh::Point Disc::at(int ring, int eighth, double along) const {
  // The axis and the two directions across it, by the right hand.
  const int u = (axis_ + 1) % 3, v = (axis_ + 2) % 3;
  const double angle = eighth * std::numbers::pi / 4;
  // Corners of the core lie a little farther out on the diagonals: between a square and a circle, where the angles of
  // the cells on both sides of its edge are best.
  const double r = ring == 0 ? radii_[0] * (eighth % 2 ? 1.2 : 1.0) : radii_[ring];
  Point x = centre_;
  x[axis_] += along;
  x[u] += eighth % 4 == 2 ? 0 : r * std::cos(angle);
  x[v] += eighth % 4 == 0 ? 0 : r * std::sin(angle);
  return x;
}

void Disc::add_core(BlockMesh& mesh, double from, double to, const std::string& part) const {
  Point low = centre_, high = centre_;
  low[axis_] += from, high[axis_] += to;
  for (int q = 0; q < 8; q += 2)
    mesh.add_block({low, at(0, q, from), at(0, q + 1, from), at(0, q + 2, from), high, at(0, q, to), at(0, q + 1, to),
                    at(0, q + 2, to)},
                   part);
}

void Disc::add_ring(BlockMesh& mesh, int ring, double from, double to, const std::string& part) const {
  Point axis{0, 0, 0};
  axis[axis_] = 1;
  for (int q = 0; q < 8; ++q) {
    mesh.add_block({at(ring - 1, q, from), at(ring, q, from), at(ring, q + 1, from), at(ring - 1, q + 1, from),
                    at(ring - 1, q, to), at(ring, q, to), at(ring, q + 1, to), at(ring - 1, q + 1, to)},
                   part);
    for (int r = ring == 1 && !hollow() ? 1 : ring - 1; r <= ring; ++r)
      for (double z : {from, to}) mesh.add_arc(at(r, q, z), at(r, q + 1, z), centre_, axis);
  }
}

}  // namespace detail

using detail::require_positive;

std::vector<SampleStep> add_box_model(Domain& domain, const BoxModel& model) {
  const char* where = "box";
  if (detail::sample_dimension(model.type, where) != 3)
    throw Error(ErrorCode::bad_input, "it is solid; use solid.hex8, solid.tet10, …", where);
  for (double extent : model.extent) require_positive(extent, "the extent", where);
  BlockMesh mesh(3, 1e-7 * std::max({model.extent[0], model.extent[1], model.extent[2]}));
  mesh.add_box({0, 0, 0}, model.extent, "box");
  for (int a = 0; a < 3; ++a)
    for (int end = 0; end < 2; ++end)
      mesh.name_sides_where(std::string(1, static_cast<char>('x' + a)) + (end ? "max" : "min"),
                            [&](double x, double y, double z) {
                              return std::array{x, y, z}[a] == (end ? model.extent[a] : 0);
                            });
  detail::refine(mesh, model.type, model.fineness, where);
  mesh.fill(domain, model.type);
  domain.block("box").set_material(detail::elastic("steel", model.material));
  domain.prescribe("xmin", "all");
  domain.add_load_case("press").pressure("zmax", model.pressure);
  return {{"press", {{"press", 1}}}};
}

std::vector<SampleStep> add_cylinder_model(Domain& domain, const CylinderModel& model) {
  const char* where = "cylinder";
  if (detail::sample_dimension(model.type, where) != 3)
    throw Error(ErrorCode::bad_input, "it is solid; use solid.hex8, solid.tet10, …", where);
  require_positive(model.radius, "the radius", where);
  require_positive(model.length, "the length", where);
  if (!(model.inner_radius >= 0 && model.inner_radius < model.radius))
    throw Error(ErrorCode::bad_input, "the inner radius must lie between 0 and the radius", where);
  const bool tube = model.inner_radius > 0;
  const double tolerance = 1e-7 * std::max(model.radius, model.length);
  BlockMesh mesh(3, tolerance);
  const detail::Disc disc(
      {0, 0, 0}, 2,
      tube ? std::vector{-1.0, model.inner_radius, model.radius} : std::vector{0.5 * model.radius, model.radius});
  if (!tube) disc.add_core(mesh, 0, model.length, "cylinder");
  disc.add_ring(mesh, tube ? 2 : 1, 0, model.length, "cylinder");
  mesh.name_sides_where("bottom", [](double, double, double z) { return z == 0; });
  mesh.name_sides_where("top", [&](double, double, double z) { return z == model.length; });
  const auto at_radius = [&](double r) {
    return [=](double x, double y, double) { return std::abs(std::hypot(x, y) - r) < tolerance; };
  };
  mesh.name_sides_where("outer", at_radius(model.radius));
  if (tube) mesh.name_sides_where("inner", at_radius(model.inner_radius));
  detail::refine(mesh, model.type, model.fineness, where);
  mesh.fill(domain, model.type);
  domain.block("cylinder").set_material(detail::elastic("steel", model.material));
  domain.add_node_set_where("x0", [&](double x, double, double) { return std::abs(x) < tolerance; });
  domain.add_node_set_where("y0", [&](double, double y, double) { return std::abs(y) < tolerance; });
  domain.prescribe("bottom", "uz");
  domain.prescribe("x0", "ux");
  domain.prescribe("y0", "uy");
  if (tube) {
    domain.add_load_case("pressure").pressure("inner", model.pressure);
    return {{"pressure", {{"pressure", 1}}}};
  }
  domain.add_load_case("pull").pressure("top", -model.pressure);
  return {{"pull", {{"pull", 1}}}};
}

std::vector<SampleStep> add_plate_model(Domain& domain, const PlateModel& model) {
  const char* where = "plate with a hole";
  const int dim = detail::sample_dimension(model.type, where);
  require_positive(model.width, "the width", where);
  require_positive(model.height, "the height", where);
  require_positive(model.radius, "the radius of the hole", where);
  require_positive(model.thickness, "the thickness", where);
  const double w = model.width / 2, h = model.height / 2, r = model.radius, s = std::min(w, h);
  if (!(r < 0.95 * s))
    throw Error(ErrorCode::bad_input, "the hole does not fit; its radius must be less than half the smaller side",
                where);
  const double tolerance = 1e-7 * std::max(w, h);

  using Point = BlockMesh::Point;
  BlockMesh mesh(dim, tolerance);
  const double c = r * std::sqrt(0.5);
  /// One quarter, mirrored by the signs; corners run the other way round where a mirror turns them over.
  const auto add = [&](std::array<Point, 4> base, double sx, double sy) {
    std::vector<Point> corners;
    for (int layer = 0; layer < (dim == 3 ? 2 : 1); ++layer)
      for (int i = 0; i < 4; ++i) {
        const Point& p = base[sx * sy > 0 ? i : (4 - i) % 4];
        corners.push_back({sx * p[0], sy * p[1], layer * model.thickness});
      }
    mesh.add_block(corners, "plate");
  };
  for (double sx : {1.0, -1.0})
    for (double sy : {1.0, -1.0}) {
      if (model.quarter && (sx < 0 || sy < 0)) continue;
      add({Point{r, 0, 0}, {s, 0, 0}, {s, s, 0}, {c, c, 0}}, sx, sy);
      add({Point{c, c, 0}, {s, s, 0}, {0, s, 0}, {0, r, 0}}, sx, sy);
      if (w > s) add({Point{s, 0, 0}, {w, 0, 0}, {w, s, 0}, {s, s, 0}}, sx, sy);
      if (h > s) add({Point{0, s, 0}, {s, s, 0}, {s, h, 0}, {0, h, 0}}, sx, sy);
      for (int layer = 0; layer < (dim == 3 ? 2 : 1); ++layer) {
        const double z = layer * model.thickness;
        mesh.add_arc({sx * r, 0, z}, {sx * c, sy * c, z}, {0, 0, 0}, {0, 0, 1});
        mesh.add_arc({sx * c, sy * c, z}, {0, sy * r, z}, {0, 0, 0}, {0, 0, 1});
      }
    }
  mesh.name_sides_where("xmin", [&](double x, double, double) { return x == (model.quarter ? 0 : -w); });
  mesh.name_sides_where("xmax", [&](double x, double, double) { return x == w; });
  mesh.name_sides_where("ymin", [&](double, double y, double) { return y == (model.quarter ? 0 : -h); });
  mesh.name_sides_where("ymax", [&](double, double y, double) { return y == h; });
  mesh.name_sides_where("hole", [&](double x, double y, double) { return std::abs(std::hypot(x, y) - r) < tolerance; });
  if (dim == 3) {
    mesh.name_sides_where("zmin", [](double, double, double z) { return z == 0; });
    mesh.name_sides_where("zmax", [&](double, double, double z) { return z == model.thickness; });
  }
  detail::refine(mesh, model.type, model.fineness, where);
  mesh.fill(domain, model.type);
  ElementBlock& block = domain.block("plate");
  block.set_material(detail::elastic("steel", model.material));
  if (dim == 2) block.set_section("thickness", model.thickness);
  domain.add_node_set_where("x0", [&](double x, double, double) { return std::abs(x) < tolerance; });
  domain.add_node_set_where("y0", [&](double, double y, double) { return std::abs(y) < tolerance; });
  domain.prescribe("x0", "ux");
  domain.prescribe("y0", "uy");
  if (dim == 3) domain.prescribe("zmin", "uz");
  LoadCase& pull = domain.add_load_case("pull");
  pull.pressure("xmax", -model.tension);
  if (!model.quarter) pull.pressure("xmin", -model.tension);
  return {{"pull", {{"pull", 1}}}};
}

}  // namespace voussoir
