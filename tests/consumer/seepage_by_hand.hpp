#pragma once
#include <voussoir/framework/domain/host_element.hpp>

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

/// The ground water of my_element.hpp written the classical way, as an old code would have it: one element at a time, a
/// full matrix, virtual functions. Hexahedra with eight points.
class SeepageByHand : public voussoir::HostElement {
 public:
  int nodes() const override { return 8; }
  std::vector<std::string> unknown_names() const override { return {"head"}; }
  std::vector<std::string> parameter_names() const override { return {"along", "across"}; }
  bool linear() const override { return true; }

  void tangent(const voussoir::HostElementData& e, std::span<double> k) const override {
    const double conductivity[3] = {e.parameters[0], e.parameters[0], e.parameters[1]};
    for (int q = 0; q < 8; ++q) {
      const Point p = at(e, q);
      for (int a = 0; a < 8; ++a)
        for (int b = 0; b < 8; ++b)
          for (int i = 0; i < 3; ++i)
            k[static_cast<std::size_t>(8 * a + b)] += p.volume * conductivity[i] * p.gradient[a][i] * p.gradient[b][i];
    }
  }
  double health(const voussoir::HostElementData& e) const override {
    double least = at(e, 0).volume;
    for (int q = 1; q < 8; ++q) least = std::fmin(least, at(e, q).volume);
    return least;
  }

 private:
  struct Point {
    double gradient[8][3];
    double volume;  // the determinant: all weights are 1
  };

  /// Which corner of the cube [−1, 1]³ a node is.
  static double corner(int a, int k) {
    static constexpr int sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                       {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    return sign[a][k];
  }

  static Point at(const voussoir::HostElementData& e, int q) {
    double slope[8][3], j[3][3] = {};
    for (int a = 0; a < 8; ++a) {
      double factor[3];
      for (int k = 0; k < 3; ++k) factor[k] = 0.5 * (1 + corner(a, k) * corner(q, k) / std::sqrt(3.0));
      for (int k = 0; k < 3; ++k) slope[a][k] = 0.5 * corner(a, k) * factor[(k + 1) % 3] * factor[(k + 2) % 3];
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
          j[i][k] += e.x[static_cast<std::size_t>(a)][static_cast<std::size_t>(i)] * slope[a][k];
    }
    // Rows of the cofactors over the determinant are the inverse's columns.
    double cofactor[3][3];
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        cofactor[i][k] = j[(i + 1) % 3][(k + 1) % 3] * j[(i + 2) % 3][(k + 2) % 3] -
                         j[(i + 1) % 3][(k + 2) % 3] * j[(i + 2) % 3][(k + 1) % 3];
    Point p;
    p.volume = j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2];
    for (int a = 0; a < 8; ++a)
      for (int i = 0; i < 3; ++i) {
        p.gradient[a][i] = 0;
        for (int k = 0; k < 3; ++k) p.gradient[a][i] += cofactor[i][k] / p.volume * slope[a][k];
      }
    return p;
  }
};
