#pragma once
#include <cmath>

#include <voussoir/elements/kernel/point_kernel.hpp>

// A kernel that the CPU takes and a GPU cannot: it includes the standard library. What is said then must name this file
// and the line of that #include.

struct CpuOnly {
  static constexpr const char* name = "cpu_only";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"head"};
  static constexpr const char* parameters[] = {"along", "across"};

  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> flux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>& grad) {
    const R k = R(std::sqrt(1.0)) * p[1];
    return {{{k * grad(0, 0), k * grad(0, 1), k * grad(0, 2)}}};
  }
  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> dflux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>&,
                                             const voussoir::Mat<R, 1, 3>& dgrad) {
    return flux(p, dgrad);
  }
};

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(CpuOnly, Hex8);
