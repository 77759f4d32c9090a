#include <voussoir/framework/io/picture/detail/scene.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace voussoir::picture {
namespace {

/// The shadow on the ground, which is as low as the lowest node at rest.
void draw_shadow(const Scene& scene, const Direction& upwards, Image& image) {
  double ground = std::numeric_limits<double>::infinity();
  const Direction up = unit(upwards);
  const std::vector<char> seen = seen_nodes(scene.surface, static_cast<std::int32_t>(scene.at_rest.size() / 3));
  for (std::size_t n = 0; n < seen.size(); ++n) {
    const double* p = &scene.at_rest[3 * n];
    if (seen[n]) ground = std::min(ground, dot(up, {p[0], p[1], p[2]}));
  }
  Shadow shadow(image.width(), image.height());
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

void draw_scene(const Scene& scene, const SceneStyle& style, Image& image) {
  if (style.shadow) draw_shadow(scene, style.up, image);
  Raster raster(image.width(), image.height());
  draw_polygons(scene, raster);
  draw_edges(scene, style.mesh, style.outline, raster);
  draw_bars(scene, raster);
  raster.develop(image);
}

}  // namespace voussoir::picture
