#pragma once
#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/picture/detail/raster.hpp>

namespace voussoir::picture {

/// Looks at the model along a direction; scale and middle are chosen so that it fits.
class Camera {
 public:
  Camera(const Direction& view, const Direction& up, const std::string& where) {
    to_viewer_ = unit(view);
    right_ = cross(up, to_viewer_);
    if (!(dot(view, view) > 0) || !(dot(right_, right_) > 1e-12))
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
  /// Height of what was included, relative to its width.
  double aspect() const { return (high_[1] - low_[1]) / std::max(high_[0] - low_[0], 1e-300); }
  void fit(double x0, double y0, double x1, double y1) {
    const double width = std::max(high_[0] - low_[0], 1e-300), height = std::max(high_[1] - low_[1], 1e-300);
    scale_ = std::min((x1 - x0) / width, (y1 - y0) / height);
    shift_ = {(x0 + x1) / 2 - scale_ * (low_[0] + high_[0]) / 2, (y0 + y1) / 2 + scale_ * (low_[1] + high_[1]) / 2};
  }
  Corner see(const double* p, double value = std::numeric_limits<double>::quiet_NaN(),
             const Direction& normal = {0, 0, 1}) const {
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

}  // namespace voussoir::picture
