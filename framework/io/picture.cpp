#include <voussoir/framework/io/picture.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/detail/picture/raster.hpp>
#include <voussoir/framework/io/output_file.hpp>

namespace voussoir {
namespace {

using namespace picture;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const Colour ink{0.13F, 0.15F, 0.19F}, soft_ink{0.40F, 0.43F, 0.48F};

/// 1, 2 or 5 times a power of ten, at most `value`.
double round_down(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  return power * (value >= 5 * power ? 5 : value >= 2 * power ? 2 : 1);
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// Looks at the model along a direction; scale and middle are chosen so that it fits.
class Camera {
 public:
  Camera(const PictureOptions& options, const char* where) {
    to_viewer_ = unit(options.view);
    right_ = cross(options.up, to_viewer_);
    if (!(dot(options.view, options.view) > 0) || !(dot(right_, right_) > 1e-12))
      throw Error(ErrorCode::bad_input, "the direction of view must differ from 'up', and neither may be zero", where);
    right_ = unit(right_);
    up_ = cross(to_viewer_, right_);
  }
  /// The box of the model as seen, which then fills the frame.
  void include(const double* p) {
    const double x = along(right_, p), y = along(up_, p);
    low_ = {std::min(low_[0], x), std::min(low_[1], y)};
    high_ = {std::max(high_[0], x), std::max(high_[1], y)};
  }
  void fit(double x0, double y0, double x1, double y1) {
    const double width = std::max(high_[0] - low_[0], 1e-300), height = std::max(high_[1] - low_[1], 1e-300);
    scale_ = std::min((x1 - x0) / width, (y1 - y0) / height);
    shift_ = {(x0 + x1) / 2 - scale_ * (low_[0] + high_[0]) / 2, (y0 + y1) / 2 + scale_ * (low_[1] + high_[1]) / 2};
  }
  Corner see(const double* p, double value = nan, const Direction& normal = {0, 0, 1}) const {
    return {shift_[0] + scale_ * along(right_, p),
            shift_[1] - scale_ * along(up_, p),
            scale_ * along(to_viewer_, p),
            value,
            {dot(normal, right_), dot(normal, up_), dot(normal, to_viewer_)}};
  }
  const Direction& right() const { return right_; }

 private:
  static double along(const Direction& direction, const double* p) {
    return direction[0] * p[0] + direction[1] * p[1] + direction[2] * p[2];
  }
  Direction right_, up_, to_viewer_;
  std::array<double, 2> low_{1e300, 1e300}, high_{-1e300, -1e300}, shift_{};
  double scale_ = 1;
};

/// The ends of the scale, and the largest value, which may lie beyond.
struct Scale {
  double low = 0, high = 1, highest = 1;
};

void draw_bar(Image& image, const Scale& scale, const std::string& label) {
  const int width = image.width(), height = image.height();
  const double size = height / 900.0;
  const int x0 = static_cast<int>(width - 150 * size), x1 = static_cast<int>(x0 + 26 * size);
  const int y0 = static_cast<int>(0.26 * height), y1 = static_cast<int>(0.80 * height);
  for (int y = y0; y < y1; ++y) image.rectangle(x0, y, x1, y + 1, scale_colour(1 - (y - y0 + 0.5) / (y1 - y0)));
  // Ticks at round numbers.
  const double step = round_down((scale.high - scale.low) / 3.9);
  for (double v = std::ceil(scale.low / step - 1e-9) * step; v <= scale.high + 1e-9 * step; v += step) {
    const double y = y1 - (v - scale.low) / (scale.high - scale.low) * (y1 - y0);
    draw_line(image, x1 + 3 * size, y, x1 + 9 * size, y, 1.5 * size, soft_ink);
    draw_text(image, short_number(std::abs(v) < 1e-9 * step ? 0 : v), x1 + 16 * size, y + 6 * size, 12 * size, ink);
  }
  const double letters = 13 * size, right = width - 24 * size;
  draw_text(image, label, right - text_width(label, letters), y0 - 44 * size, letters, ink);
  const std::string peak = "max " + short_number(scale.highest);
  draw_text(image, peak, right - text_width(peak, 11 * size), y0 - 21 * size, 11 * size, soft_ink);
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
  component_ = component;
  label_ = label;
  unit_ = unit;
  return *this;
}

void Picture::write(const std::filesystem::path& path, const PictureOptions& options) const {
  const std::string where = "picture '" + path.string() + "'";
  if (options.width < 64 || options.height < 64 || options.width > 16384 || options.height > 16384)
    throw Error(ErrorCode::bad_input, "a picture is 64 to 16384 pixels wide and high", where);
  const Domain& domain = *domain_;
  const auto x = domain.coordinates();
  std::vector<double> position(x.begin(), x.end());
  if (displacements_ != nullptr) {
    const char* names[] = {"ux", "uy", "uz"};
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < displacements_->width(); ++c)
        if (displacements_->components[c] == names[k])
          for (std::int32_t n = 0; n < domain.node_count(); ++n)
            if (const double u = displacements_->at(n, c); !std::isnan(u))
              position[3 * static_cast<std::size_t>(n) + k] += factor_ * u;
  }
  const Surface surface = find_surface(domain, position);
  if (surface.polygons.empty() && surface.edges.empty())
    throw Error(ErrorCode::bad_input, "the domain has no elements that could be seen", where);
  OutputFile file(path, options.overwrite);

  // What stands at the corners, in the unit of the label.
  std::vector<double> values(4 * surface.polygons.size(), nan);
  std::vector<double> sorted;
  std::vector<const NodalField*> field_of(domain.block_count(), nullptr);
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (const MaterialField& f : fields_)
      if (f.material == (domain.block(b).material() ? domain.block(b).material()->name() : "")) field_of[b] = &f.field;
  for (std::size_t p = 0; p < surface.polygons.size(); ++p)
    if (const NodalField* field = field_of[surface.polygons[p].block])
      for (int i = 0, c = field->component_index(component_); i < surface.polygons[p].corners; ++i) {
        const double value = unit_ * field->at(surface.polygons[p].nodes[i], c);
        values[4 * p + i] = value;
        if (std::isfinite(value)) sorted.push_back(value);
      }
  Scale scale;
  if (!sorted.empty()) {
    std::sort(sorted.begin(), sorted.end());
    scale.highest = sorted.back();
    const double top = sorted[static_cast<std::size_t>(0.998 * static_cast<double>(sorted.size() - 1))];
    scale.low = sorted.front() >= 0 && sorted.front() < 0.2 * top ? 0 : sorted.front();
    scale.high = top > scale.low ? top : scale.low + 1;
  }

  Camera camera(options, where.c_str());
  std::vector<char> seen(domain.node_count(), 0);
  for (const auto& edge : surface.edges) seen[edge.a] = seen[edge.b] = 1;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (seen[n]) {
      camera.include(&position[3 * static_cast<std::size_t>(n)]);
      camera.include(&x[3 * static_cast<std::size_t>(n)]);
    }
  const double size = options.height / 900.0;
  const bool bar = !sorted.empty(), words = !options.title.empty() || !options.subtitle.empty();
  camera.fit(40 * size, (words ? 105 : 40) * size, options.width - (bar ? 215 : 40) * size, options.height - 45 * size);

  Image image(options.width, options.height, {1, 1, 1});
  if (options.shadow) {
    double ground = std::numeric_limits<double>::infinity();
    const Direction up = unit(options.up);
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const double* p = &x[3 * static_cast<std::size_t>(n)];
      if (seen[n]) ground = std::min(ground, dot(up, {p[0], p[1], p[2]}));
    }
    Shadow shadow(options.width, options.height);
    const auto fallen = [&](std::int32_t n) {
      const double* p = &position[3 * static_cast<std::size_t>(n)];
      Direction q{p[0], p[1], p[2]};
      const double height = dot(up, q) - ground;
      for (int k = 0; k < 3; ++k) q[k] += height * (0.35 * camera.right()[k] - up[k]);
      return camera.see(q.data());
    };
    for (const auto& polygon : surface.polygons)
      for (int i = 2; i < polygon.corners; ++i)
        shadow.triangle(fallen(polygon.nodes[0]), fallen(polygon.nodes[i - 1]), fallen(polygon.nodes[i]));
    shadow.develop(image, static_cast<int>(std::max(2.0, 7 * size)), 0.30F);
  }

  Raster raster(options.width, options.height);
  for (std::size_t p = 0; p < surface.polygons.size(); ++p) {
    const auto& polygon = surface.polygons[p];
    Corner corners[4];
    for (int i = 0; i < polygon.corners; ++i)
      corners[i] = camera.see(&position[3 * static_cast<std::size_t>(polygon.nodes[i])],
                              (values[4 * p + i] - scale.low) / (scale.high - scale.low), surface.normals[4 * p + i]);
    for (int i = 2; i < polygon.corners; ++i) raster.triangle(corners[0], corners[i - 1], corners[i]);
  }
  // Edges of elements fade where they would be nothing but grey.
  double length = 0;
  std::size_t smooth = 0;
  const auto corner = [&](std::int32_t n) { return camera.see(&position[3 * static_cast<std::size_t>(n)]); };
  for (const auto& edge : surface.edges)
    if (!edge.sharp) {
      const Corner a = corner(edge.a), b = corner(edge.b);
      length += std::hypot(a.x - b.x, a.y - b.y);
      ++smooth;
    }
  const double mean = smooth > 0 ? length / static_cast<double>(smooth) / size : 0;
  const auto mesh_cover = static_cast<float>(0.45 * std::clamp((mean - 2) / 6, 0.0, 1.0));
  if (options.mesh && mesh_cover > 0)
    for (const auto& edge : surface.edges)
      if (!edge.sharp) raster.line(corner(edge.a), corner(edge.b), 1, {0.05F, 0.07F, 0.12F}, mesh_cover, 1.5);
  for (const auto& edge : surface.edges)
    if (edge.sharp) raster.line(corner(edge.a), corner(edge.b), 2, {0.06F, 0.08F, 0.13F}, 0.62F, 2.0);
  if (options.outline && displacements_ != nullptr && factor_ != 0)
    for (const auto& edge : surface.edges)
      if (edge.sharp)
        raster.line(camera.see(&x[3 * static_cast<std::size_t>(edge.a)]),
                    camera.see(&x[3 * static_cast<std::size_t>(edge.b)]), 2, {0.42F, 0.45F, 0.50F}, 0.55F, -1.0);
  raster.develop(image);

  if (bar) draw_bar(image, scale, label_);
  draw_text(image, options.title, 40 * size, 56 * size, 23 * size, ink, 0.14);
  draw_text(image, options.subtitle, 40 * size, 88 * size, 12.5 * size, soft_ink, 0.12);
  file.write(image.png());
  file.commit();
}

}  // namespace voussoir
