#include <voussoir/framework/io/picture/picture.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/detail/nan.hpp>
#include <voussoir/framework/io/detail/shape_size.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/detail/camera.hpp>
#include <voussoir/framework/io/picture/detail/legend.hpp>
#include <voussoir/framework/io/picture/detail/scene.hpp>

namespace voussoir {
namespace {

using namespace picture;

using detail::nan;

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

}  // namespace

Picture& Picture::deform(const NodalField& displacements, double factor) {
  const std::size_t width = displacements.components.size();
  if (width == 0 || displacements.values.size() != static_cast<std::size_t>(domain_->node_count()) * width)
    throw Error(ErrorCode::bad_input, "the displacements do not fit the nodes of this domain", "picture");
  displacements_ = &displacements;
  factor_ = factor;
  if (factor != 0) return *this;
  double largest = 0;
  for (const char* component : {"ux", "uy", "uz"})
    for (std::size_t k = 0; k < width; ++k)
      if (displacements.components[k] == component)
        largest = std::max(largest, std::abs(displacements.largest(component).value));
  factor_ = largest > 0 ? round_down(0.05 * detail::diagonal_of(*domain_) / largest) : 1;
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
  const bool outline = options.outline && displacements_ != nullptr && factor_ != 0;
  draw_scene(scene, {options.mesh, outline, options.shadow, options.up}, image);

  if (bar) draw_bar(image, scale, label_, elements_.empty() ? "node" : "element");
  draw_text(image, options.title, 40 * size, 56 * size, 23 * size, ink, 0.14);
  draw_text(image, options.subtitle, 40 * size, 88 * size, 12.5 * size, soft_ink, 0.12);
  file.write(image.png());
  file.commit();
}

bool lies_in_a_plane(const Domain& domain) {
  double low = std::numeric_limits<double>::infinity(), high = -low, size = 0;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (const std::int32_t n : domain.block(b).connectivity()) {
      const double* p = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
      low = std::min(low, p[2]);
      high = std::max(high, p[2]);
      size = std::max({size, std::abs(p[0]), std::abs(p[1])});
    }
  return high - low <= 1e-9 * size;
}

}  // namespace voussoir
