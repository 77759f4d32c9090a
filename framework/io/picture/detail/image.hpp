#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace voussoir::picture {

/// Red, green, blue, each 0 … 1.
using Colour = std::array<float, 3>;

/// A colour of the scale for results, 0 … 1: blue over green to yellow, evenly lighter (made in Oklab, where equal
/// steps look equal), so that it can be read in grey and by the colour-blind.
Colour scale_colour(double value);

/// Pixels, row by row from above.
class Image {
 public:
  Image(int width, int height, Colour background)
      : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * height, background) {}
  int width() const { return width_; }
  int height() const { return height_; }
  Colour& at(int x, int y) { return pixels_[static_cast<std::size_t>(y) * width_ + x]; }
  const Colour& at(int x, int y) const { return pixels_[static_cast<std::size_t>(y) * width_ + x]; }
  /// Puts a colour over a pixel; `cover` is how much of the pixel it hides.
  void blend(int x, int y, const Colour& colour, float cover);
  void rectangle(int x0, int y0, int x1, int y1, const Colour& colour);

  /// The file: at most 256 colours, packed by zlib.
  std::string png() const;

 private:
  int width_, height_;
  std::vector<Colour> pixels_;
};

/// Width of a line of text whose capitals are `size` pixels high.
double text_width(std::string_view text, double size);
/// Writes text (UTF-8; letters, digits and the signs of formulas) with its baseline at y.
void draw_text(Image& image, std::string_view text, double x, double y, double size, const Colour& colour,
               double weight = 0.13);
/// A straight stroke.
void draw_line(Image& image, double x0, double y0, double x1, double y1, double width, const Colour& colour);

}  // namespace voussoir::picture
