#pragma once
#include <voussoir/elements/point/point_integrals.hpp>

// The incompatible modes of a Quad4 or Hex8 and their static condensation: their amplitudes are those for which the
// forces on the modes vanish. The functions of the modes are in PointFunctions.

namespace voussoir::detail {

template <class Kernel, class Shape, class Formulation>
struct IncompatibleModes {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Functions = PointFunctions<Kernel, Shape, Formulation>;
  using Integrals = PointIntegrals<Kernel, Shape, Formulation>;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Basis = typename Functions::template Basis<R>;
  static constexpr int nodes = Element::nodes, modes = Element::modes, components = Element::components;
  static constexpr int functions = Element::functions, dofs = Element::dofs;
  static constexpr int mode_dofs = modes * components;

  /// The stiffness of the modes, factorised.
  template <class R>
  VSR_LARGE_FN static void factorise_modes(const Input<R>& e, const Basis<R>* basis, R* stiffness) {
    Integrals::template tangent<nodes, modes>(e, basis, stiffness);
    factorise<mode_dofs>(stiffness);
  }

  /// The amplitudes for which the forces on the modes vanish, given the nodal values in the first part of u. Since the
  /// law is linear, they follow from the forces that the nodal values exert on the modes.
  template <bool linearised, class R>
  VSR_LARGE_FN static void find_modes(const Input<R>& e, const Basis<R>* basis, const R* stiffness, R* u) {
    for (int i = dofs; i < functions * components; ++i) u[i] = R(0.0);
    R amplitude[mode_dofs];
    Integrals::template forces<linearised, nodes, modes>(e, basis, u, amplitude);
    solve<mode_dofs>(stiffness, amplitude);
    for (int i = 0; i < mode_dofs; ++i) u[dofs + i] = -amplitude[i];
  }

  /// K_uu − K_ua K_aa⁻¹ K_au of the extended tangent.
  template <class R>
  VSR_LARGE_FN static void condense(const R* extended, R* upper) {
    constexpr int all = functions * components;
    R inner[mode_dofs * (mode_dofs + 1) / 2];
    R coupling[mode_dofs][dofs];
    for (int i = 0; i < mode_dofs; ++i)
      for (int j = i; j < mode_dofs; ++j)
        inner[upper_index<mode_dofs>(i, j)] = extended[upper_index<all>(dofs + i, dofs + j)];
    // With K_aa = L D Lᵀ and W = L⁻¹ K_au the correction is Wᵀ D⁻¹ W.
    factorise<mode_dofs>(inner);
    for (int a = 0; a < nodes; ++a) {
      R w[mode_dofs][components];
      for (int m = 0; m < mode_dofs; ++m)
        for (int i = 0; i < components; ++i) w[m][i] = extended[upper_index<all>(a * components + i, dofs + m)];
      VSR_UNROLLED
      for (int m = 0; m < mode_dofs; ++m) {
        VSR_UNROLLED
        for (int k = m + 1; k < mode_dofs; ++k)
          for (int i = 0; i < components; ++i) w[k][i] -= inner[upper_index<mode_dofs>(m, k)] * w[m][i];
      }
      for (int m = 0; m < mode_dofs; ++m)
        for (int i = 0; i < components; ++i) coupling[m][a * components + i] = w[m][i];
    }
    for (int a = 0; a < nodes; ++a) {
      R scaled[mode_dofs][components];
      for (int m = 0; m < mode_dofs; ++m)
        for (int i = 0; i < components; ++i)
          scaled[m][i] = inner[upper_index<mode_dofs>(m, m)] * coupling[m][a * components + i];
      for (int b = a; b < nodes; ++b) {
        R block[components][components];
        for (int i = 0; i < components; ++i)
          for (int j = 0; j < components; ++j) block[i][j] = scaled[0][i] * coupling[0][b * components + j];
        VSR_ROLLED
        for (int m = 1; m < mode_dofs; ++m)
          for (int i = 0; i < components; ++i)
            for (int j = 0; j < components; ++j) block[i][j] += scaled[m][i] * coupling[m][b * components + j];
        for (int i = 0; i < components; ++i)
          for (int j = 0; j < components; ++j) {
            const int row = a * components + i, column = b * components + j;
            if (column >= row)
              upper[upper_index<dofs>(row, column)] = extended[upper_index<all>(row, column)] - block[i][j];
          }
      }
    }
  }
};

}  // namespace voussoir::detail
