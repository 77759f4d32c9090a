#pragma once
#include <array>
#include <cmath>
#include <numbers>

namespace voussoir::deck {

/// A translation and then a turn about an axis, as *INSTANCE and *NCOPY, SHIFT have them.
class RigidMotion {
 public:
  void translate(const std::array<double, 3>& by) { translation_ = by; }
  /// About the line from a to b, by the right hand. The points have to differ.
  void turn(const std::array<double, 3>& a, const std::array<double, 3>& b, double degrees) {
    origin_ = a;
    double n[3], length = 0;
    for (int k = 0; k < 3; ++k) n[k] = b[k] - a[k], length = std::hypot(length, n[k]);
    for (double& component : n) component /= length;
    // Quarter turns are exact, so that faces that should meet do.
    double c = std::cos(degrees * std::numbers::pi / 180), s = std::sin(degrees * std::numbers::pi / 180);
    if (const double quarters = degrees / 90; quarters == std::round(quarters)) c = std::round(c), s = std::round(s);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) matrix_[i][j] = (i == j ? c : 0) + (1 - c) * n[i] * n[j];
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      matrix_[j][i] += s * n[k];
      matrix_[k][i] -= s * n[j];
    }
    turns_ = true;
  }
  bool turns() const { return turns_; }

  std::array<double, 3> direction(const std::array<double, 3>& v) const {
    if (!turns_) return v;
    std::array<double, 3> result{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) result[i] += matrix_[i][j] * v[j];
    return result;
  }
  std::array<double, 3> point(const std::array<double, 3>& x) const {
    std::array<double, 3> y;
    for (int k = 0; k < 3; ++k) y[k] = x[k] + translation_[k];
    if (!turns_) return y;
    for (int k = 0; k < 3; ++k) y[k] -= origin_[k];
    y = direction(y);
    for (int k = 0; k < 3; ++k) y[k] += origin_[k];
    return y;
  }

 private:
  std::array<double, 3> translation_{}, origin_{};
  std::array<std::array<double, 3>, 3> matrix_{};
  bool turns_ = false;
};

}  // namespace voussoir::deck
