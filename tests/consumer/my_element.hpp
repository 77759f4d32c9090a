#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Ground water: Darcy's law, with a conductivity along the layers and another one across them. This is all that a user
// writes; every shape, every backend and every solver comes with it.

struct Seepage {
  static constexpr const char* name = "seepage";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"head"};
  static constexpr const char* parameters[] = {"along", "across"};

  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> flux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>& grad) {
    return {{{p[0] * grad(0, 0), p[0] * grad(0, 1), p[1] * grad(0, 2)}}};
  }
  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> dflux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>&,
                                             const voussoir::Mat<R, 1, 3>& dgrad) {
    return flux(p, dgrad);
  }
};

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(Seepage, Hex8, Tet4, Hex20);
