#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/framework/io/picture/detail/image.hpp>
#include <voussoir/framework/io/picture/detail/surface.hpp>

namespace voussoir::picture {

/// A corner of a triangle on its way to the screen.
struct Corner {
  double x, y;       // in pixels, y downwards
  double depth;      // larger is nearer to the viewer, in pixels too
  double value;      // for the scale of colours; NaN: no value
  Direction normal;  // in the axes of the screen: right, up, to the viewer
};

/// Where surfaces hide each other: several samples per pixel, each with the nearest thing there.
class Raster {
 public:
  static constexpr int samples = 3;  // per pixel and direction

  Raster(int width, int height);
  void triangle(const Corner& a, const Corner& b, const Corner& c);
  /// A line of `width` samples, which hides what is below it by `cover`, wherever it is not behind the surface by more
  /// than `bias` pixels.
  void line(const Corner& a, const Corner& b, int width, const Colour& colour, float cover, double bias);
  /// Puts everything over an image: samples become pixels, and places in corners get darker, as little light finds
  /// them.
  void develop(Image& image) const;
  /// Whether the middle of a pixel is covered.
  bool covers(int x, int y) const { return depth_[middle(x, y)] > nothing; }

 private:
  static constexpr float nothing = -1e30F;
  std::size_t middle(int x, int y) const {
    return (static_cast<std::size_t>(y) * samples + samples / 2) * columns_ + static_cast<std::size_t>(x) * samples +
           samples / 2;
  }
  std::vector<float> open_sky() const;

  int width_, height_;
  std::size_t columns_, rows_;
  std::vector<float> depth_;
  std::vector<std::array<std::uint8_t, 4>> colour_;  // the fourth: how much of it was drawn over nothing
};

/// A soft shadow: triangles on the ground, blurred.
class Shadow {
 public:
  Shadow(int width, int height) : width_(width), height_(height), mask_(static_cast<std::size_t>(width) * height, 0) {}
  void triangle(const Corner& a, const Corner& b, const Corner& c);
  void develop(Image& image, int blur, float darkness);

 private:
  int width_, height_;
  std::vector<float> mask_;
};

}  // namespace voussoir::picture
