#pragma once
#include <voussoir/elements/grid/register.hpp>
#include <voussoir/elements/kernel/math.hpp>

// The kernels of heat_on_a_plate.md: a source and a stencil of our own, written once for every backend.

/// A torch that moves along a circle: power per volume.
struct Torch {
  static constexpr const char* name = "torch";
  struct Parameters {
    double power, radius, width, turns;
  };
  template <class R>
  VSR_FN static R source(R x, R y, R /*z*/, R t, R /*u*/, const Parameters& p) {
    const R angle = 6.283185307179586 * p.turns * t;
    const R dx = x - 0.5 - p.radius * voussoir::cos(angle), dy = y - 0.5 - p.radius * voussoir::sin(angle);
    return p.power * voussoir::exp(-(dx * dx + dy * dy) / (2 * p.width * p.width));
  }
};
VSR_REGISTER_STENCIL(Torch);

/// Heat that is carried along x while it spreads: upwind differences for the flow, second differences for conduction.
struct Drift {
  static constexpr const char* name = "drift";
  struct Parameters {
    double velocity, diffusivity;
  };
  template <class Node>
  VSR_FN static double apply(const Node& u, const Parameters& p) {
    return p.diffusivity * (u.dxx() + u.dyy()) - p.velocity * (u() - u(-1)) / u.dx();
  }
};
VSR_REGISTER_STENCIL(Drift);
