#pragma once
#include <voussoir/elements/grid/register.hpp>
#include <voussoir/elements/kernel/math.hpp>

// Grid kernels as users write them: a stencil with first and second differences, one that reads diagonal neighbours and
// a second field, a source that depends on place, time and value, and a kernel that no GPU has compiled.

namespace voussoir::testing {

struct AdvectionDiffusion {
  static constexpr const char* name = "test.advection_diffusion";
  struct Parameters {
    double velocity[3], diffusivity;
  };
  template <class Node>
  VSR_FN static double apply(const Node& u, const Parameters& p) {
    const double advection = p.velocity[0] * (u(1) - u(-1)) / (2 * u.dx()) +
                             p.velocity[1] * (u(0, 1) - u(0, -1)) / (2 * u.dy()) +
                             p.velocity[2] * (u(0, 0, 1) - u(0, 0, -1)) / (2 * u.dz());
    return p.diffusivity * (u.dxx() + u.dyy() + u.dzz()) - advection;
  }
};

struct MixedDerivative {
  static constexpr const char* name = "test.mixed";
  struct Parameters {
    double factor;
  };
  template <class Node>
  VSR_FN static double apply(const Node& u, const Parameters& p) {
    return p.factor * (u(1, 1) - u(1, -1) - u(-1, 1) + u(-1, -1) + 0.5 * u(1, -1, 1) - 0.25 * u(-1, 1, -1)) +
           u.other(1) * u() + u.time() - u.step();
  }
};

struct GridIgnition {
  static constexpr const char* name = "test.ignition";
  struct Parameters {
    double rate, width;
  };
  template <class R>
  VSR_FN static R source(R x, R y, R z, R t, R u, const Parameters& p) {
    return p.rate * voussoir::exp(u) * voussoir::cos(t) / (1 + p.width * (x * x + y * y + z * z));
  }
};

struct OnTheHost {
  static constexpr const char* name = "test.on_the_host";
  struct Parameters {};
  template <class Node>
  VSR_FN static double apply(const Node& u, const Parameters&) {
    return u(-1) + 2 * u(0, 1) - 3 * u(0, 0, -1) + u.x() - u.y() * u.z();
  }
};

}  // namespace voussoir::testing

VSR_REGISTER_STENCIL(voussoir::testing::AdvectionDiffusion);
VSR_REGISTER_STENCIL(voussoir::testing::MixedDerivative);
VSR_REGISTER_STENCIL(voussoir::testing::GridIgnition);
VSR_REGISTER_STENCIL(voussoir::testing::OnTheHost);
