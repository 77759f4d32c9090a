#include <voussoir/framework/io/picture/grid_picture.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/detail/image.hpp>
#include <voussoir/framework/io/picture/detail/legend.hpp>

namespace voussoir {
namespace {

using picture::Colour;
using picture::Image;

/// A plane of nodes, seen along z.
struct GridPlane {
  const Grid& grid;
  std::span<const double> values;  // of the plane
  std::int64_t first;              // node of its first value

  double at(int i, int j) const {
    i = grid.is_periodic(0) ? i % grid.nodes(0) : std::min(i, grid.nodes(0) - 1);
    j = grid.is_periodic(1) ? j % grid.nodes(1) : std::min(j, grid.nodes(1) - 1);
    return values[static_cast<std::size_t>(i) + static_cast<std::size_t>(grid.nodes(0)) * static_cast<std::size_t>(j)];
  }
  /// At parts 0 … 1 of the lengths.
  double between(double s, double t) const {
    const double x = s * grid.length(0) / grid.spacing(0), y = t * grid.length(1) / grid.spacing(1);
    const int i = static_cast<int>(x), j = static_cast<int>(y);
    const double fx = x - i, fy = y - j;
    return (1 - fy) * ((1 - fx) * at(i, j) + fx * at(i + 1, j)) +
           fy * ((1 - fx) * at(i, j + 1) + fx * at(i + 1, j + 1));
  }
};

ColourScale scale_of_plane(const GridPlane& plane) {
  ColourScale scale;
  const auto [least, greatest] = std::minmax_element(plane.values.begin(), plane.values.end());
  scale.least = *least;
  scale.greatest = *greatest;
  scale.greatest_at = plane.first + (greatest - plane.values.begin());
  scale.low = scale.least;
  scale.high = scale.greatest;
  if (!(scale.high - scale.low > 1e-12 * std::max(std::abs(scale.low), std::abs(scale.high)))) {
    const double half = scale.high == 0 ? 0.5 : 0.05 * std::abs(scale.high);  // all alike, but for rounding
    scale.low -= half;
    scale.high += half;
  }
  return scale;
}

void check_grid_values(const Grid& grid, std::span<const double> values) {
  if (grid.dimensions() < 2)
    throw Error(ErrorCode::bad_input, "a grid of one dimension is not drawn; plot its values as a line");
  if (static_cast<std::int64_t>(values.size()) != grid.node_count())
    throw Error(ErrorCode::bad_input,
                std::to_string(values.size()) + " values for " + std::to_string(grid.node_count()) + " nodes");
  for (std::size_t n = 0; n < values.size(); ++n)
    if (!std::isfinite(values[n]))
      throw Error(ErrorCode::bad_input, "the value at node " + std::to_string(n) + " is infinite or not a number");
}

}  // namespace

void write_grid_picture(const Grid& grid, std::span<const double> values, const std::filesystem::path& path,
                        const GridPictureOptions& options) {
  check_grid_values(grid, values);
  if (options.width < 200 || options.height < 150 || options.width > 20000 || options.height > 20000)
    throw Error(ErrorCode::bad_input, "a picture has 200 × 150 to 20000 × 20000 pixels");
  const std::int64_t plane_nodes = std::int64_t{grid.nodes(0)} * grid.nodes(1);
  const std::int64_t first = plane_nodes * (grid.nodes(2) / 2);
  const GridPlane plane{grid, values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(plane_nodes)),
                        first};
  const ColourScale scale = scale_of_plane(plane);
  Image image(options.width, options.height, Colour{1, 1, 1});
  const double size = options.height / 900.0;
  // The largest rectangle of the grid's shape in the room beside the colour bar and below the title.
  const double left = 70 * size, right = options.width - 260 * size, top = 110 * size,
               bottom = options.height - 70 * size;
  const double pixels = std::min((right - left) / grid.length(0), (bottom - top) / grid.length(1));
  const int width = std::max(1, static_cast<int>(pixels * grid.length(0))),
            height = std::max(1, static_cast<int>(pixels * grid.length(1)));
  const int x0 = static_cast<int>(0.5 * (left + right - width)), y0 = static_cast<int>(0.5 * (top + bottom - height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double value = plane.between((x + 0.5) / width, 1 - (y + 0.5) / height);
      image.at(x0 + x, y0 + y) = picture::scale_colour((value - scale.low) / (scale.high - scale.low));
    }
  const auto corner = [&](double x, double y, const std::string& text) {
    picture::draw_text(image, text, x, y, 11 * size, picture::soft_ink);
  };
  const auto& o = grid.origin();
  corner(x0, y0 + height + 24 * size, "(" + short_number(o[0], 4) + ", " + short_number(o[1], 4) + ")");
  const std::string far =
      "(" + short_number(o[0] + grid.length(0), 4) + ", " + short_number(o[1] + grid.length(1), 4) + ")";
  corner(x0 + width - picture::text_width(far, 11 * size), y0 - 10 * size, far);
  picture::draw_text(image, options.title, 30 * size, 44 * size, 18 * size, picture::ink);
  picture::draw_text(image, options.subtitle, 30 * size, 74 * size, 12 * size, picture::soft_ink);
  // Nodes of a grid have places, not numbers; of a box, only the plane that is drawn counts here.
  const GridPosition most = grid.position(scale.greatest_at);
  picture::draw_bar_with_place(image, scale, options.label + (grid.dimensions() == 3 ? ", plane" : ""),
                               "at (" + short_number(most[0], 4) + ", " + short_number(most[1], 4) +
                                   (grid.dimensions() == 3 ? ", " + short_number(most[2], 4) : "") + ")");
  OutputFile file(path, options.overwrite);
  file.write(image.png());
  file.commit();
}

}  // namespace voussoir
