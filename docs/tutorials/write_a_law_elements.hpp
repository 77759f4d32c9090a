#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Four laws, each of which says something else: a source, an energy, an unsymmetric tangent, a history.

/// A pollutant that spreads and decays: −∇·(k ∇c) + r c = 0.
struct Decay {
  static constexpr const char* name = "decay";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"diffusivity", "rate"};
  static constexpr bool linear = true;

  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> flux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>& grad) {
    return p[0] * grad;
  }
  template <class R>
  VSR_FN static voussoir::Vec<R, 1> source(const voussoir::Point<R>& p, const voussoir::Vec<R, 1>& value,
                                           const voussoir::Mat<R, 1, 3>&) {
    return {{p[1] * value[0]}};
  }
};

/// The same pollutant in a stream with velocity v along x: v c′ makes the tangent unsymmetric.
struct Stream {
  static constexpr const char* name = "stream";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"diffusivity", "velocity"};
  static constexpr bool linear = true, symmetric = false;

  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> flux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>& grad) {
    return p[0] * grad;
  }
  template <class R>
  VSR_FN static voussoir::Vec<R, 1> source(const voussoir::Point<R>& p, const voussoir::Vec<R, 1>&,
                                           const voussoir::Mat<R, 1, 3>& grad) {
    return {{p[1] * grad(0, 0)}};
  }
};

/// Rubber, as compressible neo-Hooke: ψ = μ/2 (tr FᵀF − 3 − 2 ln J) + λ/2 (ln J)². Its energy says everything.
struct Rubber {
  static constexpr const char* name = "rubber";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu"};

  template <class R>
  VSR_FN static R energy(const voussoir::Point<R>& p, const voussoir::Mat3<R>& grad) {
    voussoir::Mat3<R> f = grad;
    R square = R(0.0);
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) square += f(i, k) * f(i, k);
    const R log_j = voussoir::log(voussoir::determinant(f));
    return R(0.5) * p[1] * (square - R(3.0) - R(2.0) * log_j) + R(0.5) * p[0] * log_j * log_j;
  }
};

/// A metal that yields: J2 plasticity at small strain with linear isotropic hardening, by radial return (Simo and
/// Hughes, Computational Inelasticity, 1998, box 3.1). It remembers its plastic strain and the sum of all that flowed.
struct Metal {
  static constexpr const char* name = "metal";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"bulk", "mu", "yield", "hardening"};
  static constexpr const char* history[] = {"pxx", "pyy", "pzz", "pxy", "pyz", "pxz", "peeq"};
  static constexpr bool symmetric_gradient = true;  // a law of strain: recovery reports strain and stress

  template <class R>
  struct State {
    voussoir::Mat3<R> stress;
    R memory[7];
  };
  /// Stress and memory at the end of a step that ends with this gradient.
  template <class R>
  VSR_FN static State<R> map_back(const voussoir::Point<R>& p, const voussoir::Mat3<R>& grad) {
    constexpr int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    const R volume = voussoir::trace(grad);
    voussoir::Mat3<R> trial;  // deviator of the stress, if nothing flowed
    R square = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const R strain = R(0.5) * (grad(i, k) + grad(k, i)) - (i == k ? R(1.0 / 3.0) * volume : R(0.0));
        trial(i, k) = R(2.0) * p[1] * (strain - p.history[place[i][k]]);
        square += trial(i, k) * trial(i, k);
      }
    const R size = voussoir::sqrt(square), root = R(0.816496580927726);  // √(2/3)
    const R beyond = voussoir::max(size - root * (p[2] + p[3] * p.history[6]), R(0.0));
    const R flow = beyond / (R(2.0) * p[1] + R(2.0 / 3.0) * p[3]);
    State<R> state;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const R plastic = flow * trial(i, k) / voussoir::max(size, R(1e-300));
        state.memory[place[i][k]] = p.history[place[i][k]] + plastic;
        state.stress(i, k) = trial(i, k) - R(2.0) * p[1] * plastic + (i == k ? p[0] * volume : R(0.0));
      }
    state.memory[6] = p.history[6] + root * flow;
    return state;
  }

  template <class R>
  VSR_FN static voussoir::Mat3<R> flux(const voussoir::Point<R>& p, const voussoir::Mat3<R>& grad) {
    return map_back(p, grad).stress;
  }
  template <class R>
  VSR_FN static void advance(const voussoir::Point<R>& p, const voussoir::Mat3<R>& grad, R* next) {
    const State<R> state = map_back(p, grad);
    for (int k = 0; k < 7; ++k) next[k] = state.memory[k];
  }
};

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(Decay, Hex8);
VSR_REGISTER_ELEMENT(Stream, Hex8);
VSR_REGISTER_ELEMENT(Rubber, Hex8, Tet10);
VSR_REGISTER_ELEMENT(Metal, Hex8);
// Nearly incompressible flow locks the plain Hex8; its volume change is averaged here.
static const voussoir::RegisterKernel<voussoir::PointElement<Metal, voussoir::Hex8, voussoir::BBar>> metal_bbar{
    "metal.hex8.bbar", "hex8", VSR_KERNEL_FILE_OR_NULL};
