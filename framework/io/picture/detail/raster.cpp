#include <voussoir/framework/io/picture/detail/raster.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace voussoir::picture {
namespace {

/// Visits the samples inside a triangle: visit(column, row, weights of the corners). Samples lie in the middle of their
/// squares; corners are given in units of samples.
template <class Visit>
void for_each_sample(const std::array<double, 2>& a, const std::array<double, 2>& b, const std::array<double, 2>& c,
                     int columns, int rows, Visit visit) {
  const double area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  if (!(std::abs(area) > 1e-12)) return;
  const auto low = [](double x, double y, double z) { return std::ceil(std::min({x, y, z}) - 0.5); };
  const auto high = [](double x, double y, double z) { return std::floor(std::max({x, y, z}) - 0.5); };
  const int x0 = static_cast<int>(std::max(0.0, low(a[0], b[0], c[0])));
  const int x1 = static_cast<int>(std::min(columns - 1.0, high(a[0], b[0], c[0])));
  const int y0 = static_cast<int>(std::max(0.0, low(a[1], b[1], c[1])));
  const int y1 = static_cast<int>(std::min(rows - 1.0, high(a[1], b[1], c[1])));
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      const double px = x + 0.5, py = y + 0.5;
      const double v = ((px - a[0]) * (c[1] - a[1]) - (py - a[1]) * (c[0] - a[0])) / area;
      const double w = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) / area;
      const double u = 1 - v - w;
      if (u >= 0 && v >= 0 && w >= 0) visit(x, y, u, v, w);
    }
}

std::uint8_t byte(double value) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))); }

/// Light from the upper left in front, some from everywhere, and a gloss.
Colour lit(const Colour& colour, const Direction& normal) {
  static const Direction light = unit({-0.45, 0.75, 0.65}), half = unit({-0.45, 0.75, 1.65});
  const Direction n = unit(normal);
  const double diffuse = std::max(0.0, dot(n, light)), front = std::max(0.0, n[2]);
  const double gloss = 0.10 * std::pow(std::max(0.0, dot(n, half)), 30);
  Colour result;
  for (int k = 0; k < 3; ++k)
    result[k] = static_cast<float>(colour[k] * (0.68 + 0.36 * diffuse + 0.12 * front) + gloss);
  return result;
}

}  // namespace

Raster::Raster(int width, int height)
    : width_(width),
      height_(height),
      columns_(static_cast<std::size_t>(width) * samples),
      rows_(static_cast<std::size_t>(height) * samples),
      depth_(columns_ * rows_, nothing),
      colour_(columns_ * rows_, {0, 0, 0, 0}) {}

void Raster::triangle(const Corner& a, const Corner& b, const Corner& c) {
  for_each_sample(
      {a.x * samples, a.y * samples}, {b.x * samples, b.y * samples}, {c.x * samples, c.y * samples},
      static_cast<int>(columns_), static_cast<int>(rows_), [&](int x, int y, double u, double v, double w) {
        const std::size_t place = static_cast<std::size_t>(y) * columns_ + x;
        const auto depth = static_cast<float>(u * a.depth + v * b.depth + w * c.depth);
        if (depth <= depth_[place]) return;
        depth_[place] = depth;
        const double value = u * a.value + v * b.value + w * c.value;
        Direction normal;
        for (int k = 0; k < 3; ++k) normal[k] = u * a.normal[k] + v * b.normal[k] + w * c.normal[k];
        if (normal[2] < 0) normal = {-normal[0], -normal[1], -normal[2]};
        const Colour colour = lit(std::isnan(value) ? Colour{0.72F, 0.75F, 0.78F} : scale_colour(value), normal);
        colour_[place] = {byte(colour[0]), byte(colour[1]), byte(colour[2]), 255};
      });
}

void Raster::line(const Corner& a, const Corner& b, int width, const Colour& colour, float cover, double bias) {
  const double dx = (b.x - a.x) * samples, dy = (b.y - a.y) * samples;
  const bool flat = std::abs(dx) >= std::abs(dy);
  const int steps = std::max(1, static_cast<int>(std::ceil(std::max(std::abs(dx), std::abs(dy)))));
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    const double x = a.x * samples + t * dx, y = a.y * samples + t * dy;
    const auto depth = static_cast<float>(a.depth + t * (b.depth - a.depth) + bias);
    for (int k = 0; k < width; ++k) {
      const int offset = k - (width - 1) / 2;
      const auto column = static_cast<std::int64_t>(std::floor(x)) + (flat ? 0 : offset);
      const auto row = static_cast<std::int64_t>(std::floor(y)) + (flat ? offset : 0);
      if (column < 0 || row < 0 || column >= static_cast<std::int64_t>(columns_) ||
          row >= static_cast<std::int64_t>(rows_))
        continue;
      const std::size_t place = static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column);
      if (depth < depth_[place]) continue;
      auto& pixel = colour_[place];
      if (depth_[place] <= nothing) {
        if (pixel[3] < byte(cover)) pixel = {byte(colour[0]), byte(colour[1]), byte(colour[2]), byte(cover)};
        continue;
      }
      for (int c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + cover * (255 * colour[c] - pixel[c])));
    }
  }
}

/// How much of the sky a pixel sees: neighbours that stand out towards the viewer take it away.
std::vector<float> Raster::open_sky() const {
  constexpr int directions = 16;
  constexpr int radii[] = {3, 8, 18, 36};
  std::vector<float> open(static_cast<std::size_t>(width_) * height_, 1);
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x) {
      const float here = depth_[middle(x, y)];
      if (here <= nothing) continue;
      double hidden = 0;
      for (int d = 0; d < directions; ++d) {
        const double angle = 2 * std::numbers::pi * d / directions;
        for (const int r : radii) {
          const int u = x + static_cast<int>(std::lround(r * std::cos(angle)));
          const int v = y + static_cast<int>(std::lround(r * std::sin(angle)));
          if (u < 0 || v < 0 || u >= width_ || v >= height_) continue;
          const float there = depth_[middle(u, v)];
          if (there <= here) continue;
          const double rise = (there - here) / r;  // of far things in front, little
          hidden += std::min(rise, 1.0) / (1 + 0.02 * (there - here));
        }
      }
      open[static_cast<std::size_t>(y) * width_ + x] =
          static_cast<float>(1 - 0.6 * std::min(1.0, hidden / (directions * 2.2)));
    }
  return open;
}

void Raster::develop(Image& image) const {
  const std::vector<float> open = open_sky();
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x) {
      double sum[3] = {0, 0, 0}, cover = 0;
      for (int j = 0; j < samples; ++j)
        for (int i = 0; i < samples; ++i) {
          const auto& c = colour_[(static_cast<std::size_t>(y) * samples + j) * columns_ +
                                  static_cast<std::size_t>(x) * samples + i];
          for (int k = 0; k < 3; ++k) sum[k] += c[k] / 255.0 * c[3];
          cover += c[3];
        }
      if (cover == 0) continue;
      const float light = open[static_cast<std::size_t>(y) * width_ + x];
      Colour mean;
      for (int k = 0; k < 3; ++k) mean[k] = static_cast<float>(sum[k] / cover) * light;
      image.blend(x, y, mean, static_cast<float>(cover / (255.0 * samples * samples)));
    }
}

void Shadow::triangle(const Corner& a, const Corner& b, const Corner& c) {
  for_each_sample({a.x, a.y}, {b.x, b.y}, {c.x, c.y}, width_, height_,
                  [&](int x, int y, double, double, double) { mask_[static_cast<std::size_t>(y) * width_ + x] = 1; });
}

void Shadow::develop(Image& image, int blur, float darkness) {
  // Three running means in each direction are nearly a Gaussian.
  std::vector<float> line;
  const auto run = [&](std::size_t first, std::size_t step, int count) {
    line.assign(count, 0);
    double sum = 0;
    for (int i = -blur; i < count + blur; ++i) {
      if (i + blur < count) sum += mask_[first + step * static_cast<std::size_t>(i + blur)];
      if (i - blur - 1 >= 0) sum -= mask_[first + step * static_cast<std::size_t>(i - blur - 1)];
      if (i >= 0 && i < count) line[i] = static_cast<float>(sum / (2 * blur + 1));
    }
    for (int i = 0; i < count; ++i) mask_[first + step * static_cast<std::size_t>(i)] = line[i];
  };
  for (int pass = 0; pass < 3; ++pass) {
    for (int y = 0; y < height_; ++y) run(static_cast<std::size_t>(y) * width_, 1, width_);
    for (int x = 0; x < width_; ++x) run(x, width_, height_);
  }
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x)
      image.blend(x, y, {0.25F, 0.28F, 0.35F}, darkness * mask_[static_cast<std::size_t>(y) * width_ + x]);
}

}  // namespace voussoir::picture
