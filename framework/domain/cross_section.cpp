#include <voussoir/framework/domain/cross_section.hpp>

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

using std::numbers::pi;

void require_positive(const char* shape, std::initializer_list<double> sizes) {
  for (const double size : sizes)
    if (!(size > 0) || !std::isfinite(size))
      throw Error(ErrorCode::bad_input, std::string("the sizes of a ") + shape + " must be positive numbers",
                  "cross-section");
}
void require_walls(bool fit, const char* shape) {
  if (!fit)
    throw Error(ErrorCode::bad_input, std::string("the walls of a ") + shape + " are thicker than the section itself",
                "cross-section");
}

/// Torsion constant of a rectangle, by Saint-Venant's series (Timoshenko and Goodier, Theory of Elasticity, 109):
/// b³a/3 [1 − (192/π⁵)(b/a) Σ tanh(nπa/2b)/n⁵], n odd, b ≤ a.
double torsion_of_rectangle(double a, double b) {
  if (a < b) std::swap(a, b);
  double sum = 0;
  for (int n = 1; n < 40; n += 2) sum += std::tanh(n * pi * a / (2 * b)) / std::pow(n, 5);
  return a * b * b * b / 3 * (1 - 192 / std::pow(pi, 5) * b / a * sum);
}

}  // namespace

CrossSection CrossSection::rectangle(double a, double b, double nu) {
  require_positive("rectangle", {a, b});
  const double kappa = 10 * (1 + nu) / (12 + 11 * nu);
  return {a * b, a * b * b * b / 12, a * a * a * b / 12, torsion_of_rectangle(a, b), kappa * a * b, kappa * a * b};
}

CrossSection CrossSection::ellipse(double diameter_y, double diameter_z, double nu) {
  require_positive("ellipse", {diameter_y, diameter_z});
  const double a = diameter_y / 2, b = diameter_z / 2, area = pi * a * b, kappa = 6 * (1 + nu) / (7 + 6 * nu);
  return {area,         area * b * b / 4, area * a * a / 4, pi * a * a * a * b * b * b / (a * a + b * b),
          kappa * area, kappa * area};
}

CrossSection CrossSection::tube(double outer_radius, double thickness, double nu) {
  require_positive("tube", {outer_radius, thickness});
  require_walls(thickness <= outer_radius, "tube");
  const double inner = outer_radius - thickness, m = inner / outer_radius, m2 = (1 + m * m) * (1 + m * m);
  const double area = pi * (outer_radius * outer_radius - inner * inner),
               inertia = pi * (std::pow(outer_radius, 4) - std::pow(inner, 4)) / 4;
  const double kappa = 6 * (1 + nu) * m2 / ((7 + 6 * nu) * m2 + (20 + 12 * nu) * m * m);
  return {area, inertia, inertia, 2 * inertia, kappa * area, kappa * area};
}

CrossSection CrossSection::box(double a, double b, double t_y, double t_z) {
  require_positive("box", {a, b, t_y, t_z});
  require_walls(2 * t_y <= a && 2 * t_z <= b, "box");
  const double ai = a - 2 * t_y, bi = b - 2 * t_z, am = a - t_y, bm = b - t_z;
  return {a * b - ai * bi,
          (a * b * b * b - ai * bi * bi * bi) / 12,
          (a * a * a * b - ai * ai * ai * bi) / 12,
          2 * am * am * bm * bm / (am / t_z + bm / t_y),
          2 * t_z * am,
          2 * t_y * bm};
}

}  // namespace voussoir
