#pragma once
#include <span>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/picture/detail/camera.hpp>
#include <voussoir/framework/io/picture/detail/image.hpp>
#include <voussoir/framework/io/picture/detail/surface.hpp>
#include <voussoir/framework/io/picture/picture.hpp>

namespace voussoir::picture {

/// What is shown where: a value at every corner of the surface's polygons and at both ends of its bars.
struct Painting {
  std::vector<double> polygons;  // four each
  std::vector<double> bars;      // two each
};

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

/// What is drawn of a scene besides the surface.
struct SceneStyle {
  bool mesh;     // edges of elements
  bool outline;  // edges of the body at rest
  bool shadow;   // on the ground
  Direction up;  // away from the ground
};

/// Coordinates with `factor` times the displacements ux, uy, uz added.
std::vector<double> moved(std::span<const double> x, const NodalField& displacements, double factor);

/// 1 for each node that the surface shows.
std::vector<char> seen_nodes(const Surface& surface, std::int32_t node_count);

/// Draws a scene over all of an image.
void draw_scene(const Scene& scene, const SceneStyle& style, Image& image);

}  // namespace voussoir::picture
