#include <algorithm>
#include <cmath>

#include <voussoir/framework/analysis/detail/lane_tensors.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir {

double von_mises(const std::array<double, 6>& stress) {
  // Squares of stresses beyond 1e150 would overflow, those of stresses below 1e-150 vanish: a power of two brings them
  // near 1, which is exact.
  double largest = 0;
  for (const double v : stress) largest = std::max(largest, std::abs(v));
  const bool plain = (largest > 1e-140 && largest < 1e140) || !std::isfinite(largest) || largest == 0;
  const int power = plain ? 0 : std::ilogb(largest);
  std::array<double, 6> s = stress;
  if (!plain)
    for (double& v : s) v = std::ldexp(v, -power);
  const double d1 = s[0] - s[1], d2 = s[1] - s[2], d3 = s[2] - s[0];
  const double mises = std::sqrt(0.5 * (d1 * d1 + d2 * d2 + d3 * d3) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
  return plain ? mises : std::ldexp(mises, power);
}

std::array<double, 3> principal_values(const std::array<double, 6>& tensor) {
  detail::LaneTensors tensors{};
  tensors.set(0, tensor.data());
  tensors.diagonalize();
  return tensors.diagonal(0);
}

namespace {

constexpr std::size_t lanes = detail::LaneTensors::lanes;

/// One of Jacobi's rotations: makes `pq` of the active lanes zero. `r` is the third axis.
void rotate(const bool* active, double* pp, double* qq, double* pq, double* rp, double* rq) {
  for (std::size_t l = 0; l < lanes; ++l) {
    const bool turned = active[l] && pq[l] != 0;
    // Where pq is so small that θ² overflows, the tangent is 0, and so is what the rotation would change.
    const double theta = (qq[l] - pp[l]) / (2 * pq[l]);
    const double tangent = (theta < 0 ? -1.0 : 1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1));
    const double c = 1 / std::sqrt(tangent * tangent + 1), s = tangent * c;
    const double p = rp[l], q = rq[l], change = tangent * pq[l];
    pp[l] = turned ? pp[l] - change : pp[l];
    qq[l] = turned ? qq[l] + change : qq[l];
    pq[l] = turned ? 0 : pq[l];
    rp[l] = turned ? c * p - s * q : p;
    rq[l] = turned ? s * p + c * q : q;
  }
}

/// Puts the larger of two values first.
void order(double* first, double* second) {
  for (std::size_t l = 0; l < lanes; ++l) {
    const double a = first[l], b = second[l];
    first[l] = a < b ? b : a;
    second[l] = a < b ? a : b;
  }
}

}  // namespace

void detail::LaneTensors::diagonalize() {
  auto& [xx, yy, zz, xy, yz, xz] = of;
  bool active[lanes];
  std::fill_n(active, lanes, true);
  for (int sweep = 0; sweep < 20; ++sweep) {
    bool any = false;
    for (std::size_t l = 0; l < lanes; ++l) {
      const double off = std::abs(xy[l]) + std::abs(xz[l]) + std::abs(yz[l]);
      const double on = std::abs(xx[l]) + std::abs(yy[l]) + std::abs(zz[l]);
      active[l] = active[l] && off > 0 && !(off <= 1e-18 * on);
      any = any || active[l];
    }
    if (!any) break;
    rotate(active, xx, yy, xy, xz, yz);
    rotate(active, xx, zz, xz, xy, yz);
    rotate(active, yy, zz, yz, xy, xz);
  }
  order(xx, yy);
  order(yy, zz);
  order(xx, yy);
}

}  // namespace voussoir
