#include <voussoir/framework/io/picture/picture.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/detail/nan.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/detail/camera.hpp>
#include <voussoir/framework/io/picture/detail/legend.hpp>

namespace voussoir {
namespace {

using namespace picture;

using detail::nan;

/// What is shown where: a value at every corner of the surface's polygons and at both ends of its bars.
struct Painting {
  std::vector<double> polygons;  // four each
  std::vector<double> bars;      // two each
};

/// The nodal field that a block is coloured by, or null.
std::vector<const NodalField*> fields_of_blocks(const Domain& domain, const std::vector<MaterialField>& fields,
                                                bool any_material) {
  std::vector<const NodalField*> field_of(domain.block_count(), nullptr);
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (const MaterialField& f : fields)
      if (any_material || f.material == (domain.block(b).material() ? domain.block(b).material()->name() : ""))
        field_of[b] = &f.field;
  return field_of;
}

Painting paint(const Domain& domain, const Surface& surface, const std::vector<MaterialField>& fields,
               bool any_material, const std::string& component, const std::vector<double>& elements, double unit) {
  Painting result{std::vector<double>(4 * surface.polygons.size(), nan),
                  std::vector<double>(2 * surface.bars.size(), nan)};
  std::vector<std::size_t> first(domain.block_count() + 1, 0);
  for (std::size_t b = 0; b < domain.block_count(); ++b) first[b + 1] = first[b] + domain.block(b).size();
  const auto field_of = fields_of_blocks(domain, fields, any_material);
  std::vector<int> column(field_of.size(), 0);
  for (std::size_t b = 0; b < column.size(); ++b)
    if (field_of[b]) column[b] = field_of[b]->component_index(component);
  const auto value = [&](std::int32_t block, std::int32_t element, std::int32_t node) {
    if (!elements.empty()) return unit * elements[first[block] + element];
    return field_of[block] ? unit * field_of[block]->at(node, column[block]) : nan;
  };
  for (std::size_t p = 0; p < surface.polygons.size(); ++p) {
    const auto& polygon = surface.polygons[p];
    for (int i = 0; i < polygon.corners; ++i)
      result.polygons[4 * p + i] = value(polygon.block, polygon.element, polygon.nodes[i]);
  }
  for (std::size_t p = 0; p < surface.bars.size(); ++p) {
    const auto& bar = surface.bars[p];
    result.bars[2 * p] = value(bar.block, bar.element, bar.a);
    result.bars[2 * p + 1] = value(bar.block, bar.element, bar.b);
  }
  return result;
}

/// Everything that is seen or not: tables look at all nodes, so the extremes of a picture do too.
void find_extremes(const Domain& domain, const std::vector<MaterialField>& fields, const std::string& component,
                   const std::vector<double>& elements, double unit, ColourScale& scale) {
  bool first = true;
  const auto widen = [&](double value, Id id) {
    if (!std::isfinite(value)) return;
    if (first || value < scale.least) scale.least = value;
    if (first || value > scale.greatest) {
      scale.greatest = value;
      scale.greatest_at = id;
    }
    first = false;
  };
  for (const MaterialField& f : fields) {
    const int c = f.field.component_index(component);
    for (std::int32_t n = 0; n < domain.node_count(); ++n) widen(unit * f.field.at(n, c), domain.node_id(n));
  }
  std::size_t i = 0;
  for (std::size_t b = 0; b < domain.block_count() && !elements.empty(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e) widen(unit * elements[i++], domain.block(b).id(e));
  if (first) scale.least = scale.greatest = nan;
}

ColourScale scale_of(const Domain& domain, const Painting& painting, const std::vector<MaterialField>& fields,
                     const std::string& component, const std::vector<double>& elements, double unit) {
  ColourScale scale;
  find_extremes(domain, fields, component, elements, unit, scale);
  std::vector<double> seen;
  for (const auto* values : {&painting.polygons, &painting.bars})
    for (const double value : *values)
      if (std::isfinite(value)) seen.push_back(value);
  choose_ends(std::move(seen), scale);
  return scale;
}

/// The nodes of a model where they are and where they are shown, what is seen of them, and how large the picture is.
struct Scene {
  const Surface& surface;
  const Painting& painting;
  const ColourScale& scale;
  const Camera& camera;
  std::span<const double> at_rest;
  const std::vector<double>& position;
  double size;  // of text and lines

  double shade(double value) const { return (value - scale.low) / (scale.high - scale.low); }
  Corner corner(std::int32_t n) const { return camera.see(&position[3 * static_cast<std::size_t>(n)]); }
  Corner corner_at_rest(std::int32_t n) const { return camera.see(&at_rest[3 * static_cast<std::size_t>(n)]); }
};

/// Coordinates with `factor` times the displacements added.
std::vector<double> moved(std::span<const double> x, const NodalField& displacements, double factor) {
  std::vector<double> position(x.begin(), x.end());
  const char* names[] = {"ux", "uy", "uz"};
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < displacements.width(); ++c)
      if (displacements.components[c] == names[k])
        for (std::size_t n = 0; 3 * n < position.size(); ++n)
          if (const double u = displacements.at(static_cast<std::int32_t>(n), c); !std::isnan(u))
            position[3 * n + k] += factor * u;
  return position;
}

std::vector<char> seen_nodes(const Surface& surface, std::int32_t node_count) {
  std::vector<char> seen(node_count, 0);
  for (const auto& edge : surface.edges) seen[edge.a] = seen[edge.b] = 1;
  for (const auto& polygon : surface.polygons)
    for (int i = 0; i < polygon.corners; ++i) seen[polygon.nodes[i]] = 1;
  return seen;
}

/// The shadow on the ground, which is as low as the lowest node at rest.
void draw_shadow(const Scene& scene, const std::vector<char>& seen, const PictureOptions& options, Image& image) {
  double ground = std::numeric_limits<double>::infinity();
  const Direction up = unit(options.up);
  for (std::size_t n = 0; n < seen.size(); ++n) {
    const double* p = &scene.at_rest[3 * n];
    if (seen[n]) ground = std::min(ground, dot(up, {p[0], p[1], p[2]}));
  }
  Shadow shadow(options.width, options.height);
  const auto fallen = [&](std::int32_t n) {
    const double* p = &scene.position[3 * static_cast<std::size_t>(n)];
    Direction q{p[0], p[1], p[2]};
    const double height = dot(up, q) - ground;
    for (int k = 0; k < 3; ++k) q[k] += height * (0.35 * scene.camera.right()[k] - up[k]);
    return scene.camera.see(q.data());
  };
  for (const auto& polygon : scene.surface.polygons)
    for (int i = 2; i < polygon.corners; ++i)
      shadow.triangle(fallen(polygon.nodes[0]), fallen(polygon.nodes[i - 1]), fallen(polygon.nodes[i]));
  shadow.develop(image, static_cast<int>(std::max(2.0, 7 * scene.size)), 0.30F);
}

void draw_polygons(const Scene& scene, Raster& raster) {
  for (std::size_t p = 0; p < scene.surface.polygons.size(); ++p) {
    const auto& polygon = scene.surface.polygons[p];
    Corner corners[4];
    for (int i = 0; i < polygon.corners; ++i)
      corners[i] = scene.camera.see(&scene.position[3 * static_cast<std::size_t>(polygon.nodes[i])],
                                    scene.shade(scene.painting.polygons[4 * p + i]), scene.surface.normals[4 * p + i]);
    for (int i = 2; i < polygon.corners; ++i) raster.triangle(corners[0], corners[i - 1], corners[i]);
  }
}

/// Edges of elements fade where they would be nothing but grey. `outline`: the sharp ones at rest as well.
void draw_edges(const Scene& scene, bool mesh, bool outline, Raster& raster) {
  double length = 0;
  std::size_t smooth = 0;
  for (const auto& edge : scene.surface.edges)
    if (!edge.sharp) {
      const Corner a = scene.corner(edge.a), b = scene.corner(edge.b);
      length += std::hypot(a.x - b.x, a.y - b.y);
      ++smooth;
    }
  const double mean = smooth > 0 ? length / static_cast<double>(smooth) / scene.size : 0;
  const auto mesh_cover = static_cast<float>(0.45 * std::clamp((mean - 2) / 6, 0.0, 1.0));
  if (mesh && mesh_cover > 0)
    for (const auto& edge : scene.surface.edges)
      if (!edge.sharp)
        raster.line(scene.corner(edge.a), scene.corner(edge.b), 1, {0.05F, 0.07F, 0.12F}, mesh_cover, 1.5);
  for (const auto& edge : scene.surface.edges)
    if (edge.sharp) raster.line(scene.corner(edge.a), scene.corner(edge.b), 2, {0.06F, 0.08F, 0.13F}, 0.62F, 2.0);
  if (outline)
    for (const auto& edge : scene.surface.edges)
      if (edge.sharp)
        raster.line(scene.corner_at_rest(edge.a), scene.corner_at_rest(edge.b), 2, {0.42F, 0.45F, 0.50F}, 0.55F, -1.0);
}

/// Lines that have a value are as thick as can be seen well, and change their colour along their way.
void draw_bars(const Scene& scene, Raster& raster) {
  for (std::size_t p = 0; p < scene.surface.bars.size(); ++p) {
    const double from = scene.shade(scene.painting.bars[2 * p]), to = scene.shade(scene.painting.bars[2 * p + 1]);
    if (!std::isfinite(from) || !std::isfinite(to)) continue;
    const Corner a = scene.corner(scene.surface.bars[p].a), b = scene.corner(scene.surface.bars[p].b);
    const int pieces = from == to ? 1 : 24,
              thick = std::max(3, static_cast<int>(std::lround(5 * scene.size * Raster::samples)));
    const auto between = [&](double t) {
      return Corner{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.depth + t * (b.depth - a.depth), 0, a.normal};
    };
    for (int i = 0; i < pieces; ++i)
      raster.line(between(static_cast<double>(i) / pieces), between((i + 1.0) / pieces), thick,
                  scale_colour(from + (i + 0.5) / pieces * (to - from)), 1, 3.0);
  }
}

}  // namespace

Picture& Picture::deform(const NodalField& displacements, double factor) {
  const std::size_t width = displacements.components.size();
  if (width == 0 || displacements.values.size() != static_cast<std::size_t>(domain_->node_count()) * width)
    throw Error(ErrorCode::bad_input, "the displacements do not fit the nodes of this domain", "picture");
  displacements_ = &displacements;
  factor_ = factor;
  if (factor != 0) return *this;
  Direction low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  double largest = 0;
  for (std::size_t i = 0; i < domain_->coordinates().size(); ++i) {
    low[i % 3] = std::min(low[i % 3], domain_->coordinates()[i]);
    high[i % 3] = std::max(high[i % 3], domain_->coordinates()[i]);
  }
  for (const char* component : {"ux", "uy", "uz"})
    for (std::size_t k = 0; k < width; ++k)
      if (displacements.components[k] == component)
        largest = std::max(largest, std::abs(displacements.largest(component).value));
  const double size = std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  factor_ = largest > 0 ? round_down(0.05 * size / largest) : 1;
  return *this;
}

Picture& Picture::colour(std::vector<MaterialField> fields, const std::string& component, const std::string& label,
                         double unit) {
  for (const MaterialField& f : fields) f.field.component_index(component);  // throws where there is none
  fields_ = std::move(fields);
  any_material_ = false;
  elements_.clear();
  component_ = component;
  label_ = label;
  unit_ = unit;
  return *this;
}

Picture& Picture::colour(NodalField field, const std::string& component, const std::string& label, double unit) {
  std::vector<MaterialField> one;
  one.push_back({"", std::move(field)});
  colour(std::move(one), component, label, unit);
  any_material_ = true;
  return *this;
}

Picture& Picture::colour_elements(std::vector<double> values, const std::string& label, double unit) {
  if (static_cast<std::int64_t>(values.size()) != domain_->element_count())
    throw Error(ErrorCode::bad_input,
                std::to_string(values.size()) + " values for " + std::to_string(domain_->element_count()) + " elements",
                "picture");
  fields_.clear();
  any_material_ = false;
  elements_ = std::move(values);
  component_.clear();
  label_ = label;
  unit_ = unit;
  return *this;
}

ColourScale Picture::scale() const {
  const auto x = domain_->coordinates();
  const Surface surface = find_surface(*domain_, {x.begin(), x.end()});
  const Painting painting = paint(*domain_, surface, fields_, any_material_, component_, elements_, unit_);
  return scale_of(*domain_, painting, fields_, component_, elements_, unit_);
}

void Picture::write(const std::filesystem::path& path, const PictureOptions& options) const {
  const std::string where = "picture '" + path.string() + "'";
  if (options.width < 64 || options.height < 64 || options.width > 16384 || options.height > 16384)
    throw Error(ErrorCode::bad_input, "a picture is 64 to 16384 pixels wide and high", where);
  const Domain& domain = *domain_;
  const auto x = domain.coordinates();
  const std::vector<double> position =
      displacements_ != nullptr ? moved(x, *displacements_, factor_) : std::vector<double>(x.begin(), x.end());
  const Surface surface = find_surface(domain, position);
  if (surface.polygons.empty() && surface.edges.empty())
    throw Error(ErrorCode::bad_input, "the domain has no visible elements", where);
  OutputFile file(path, options.overwrite);

  const Painting painting = paint(domain, surface, fields_, any_material_, component_, elements_, unit_);
  const ColourScale scale = scale_of(domain, painting, fields_, component_, elements_, unit_);
  Camera camera(options.view, options.up, where);
  const std::vector<char> seen = seen_nodes(surface, domain.node_count());
  for (std::size_t n = 0; n < seen.size(); ++n)
    if (seen[n]) {
      camera.include(&position[3 * n]);
      camera.include(&x[3 * n]);
    }
  const double size = options.height / 900.0;
  const bool bar = std::isfinite(scale.greatest), words = !options.title.empty() || !options.subtitle.empty();
  camera.fit(40 * size, (words ? 105 : 40) * size, options.width - (bar ? 215 : 40) * size, options.height - 45 * size);

  const Scene scene{surface, painting, scale, camera, x, position, size};
  Image image(options.width, options.height, {1, 1, 1});
  if (options.shadow) draw_shadow(scene, seen, options, image);
  Raster raster(options.width, options.height);
  draw_polygons(scene, raster);
  draw_edges(scene, options.mesh, options.outline && displacements_ != nullptr && factor_ != 0, raster);
  draw_bars(scene, raster);
  raster.develop(image);

  if (bar) draw_bar(image, scale, label_, elements_.empty() ? "node" : "element");
  draw_text(image, options.title, 40 * size, 56 * size, 23 * size, ink, 0.14);
  draw_text(image, options.subtitle, 40 * size, 88 * size, 12.5 * size, soft_ink, 0.12);
  file.write(image.png());
  file.commit();
}

}  // namespace voussoir
