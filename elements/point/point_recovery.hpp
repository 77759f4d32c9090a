#pragma once
#include <voussoir/elements/point/incompatible_modes.hpp>

// Results of a point element: values at its integration points, and their extrapolation to its nodes.

namespace voussoir::detail {

/// Writes the results of a point that do not depend on the kind of law: position, volume, and strain and stress or
/// gradient and flux. Returns the end of what it wrote.
template <class Kernel, class R>
VSR_FN R* write_point(const Point<R>& p, const R& volume, const Mat<R, kernel_rows<Kernel>(), 3>& grad,
                      const Mat<R, kernel_rows<Kernel>(), 3>& flux, R* out) {
  for (int k = 0; k < 3; ++k) *out++ = p.x[k];
  *out++ = volume;
  if constexpr (kernel_symmetric<Kernel>()) {
    Mat3<R> strain;
    if constexpr (requires { Kernel::strain(p, grad); })
      strain = Kernel::strain(p, grad);
    else
      strain = R(0.5) * (grad + transpose(grad));
    out = write_tensor(strain, out);
    out = write_tensor(flux, out);
  } else {
    constexpr int rows = kernel_rows<Kernel>();
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) *out++ = grad(i, k);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) *out++ = -flux(i, k);
  }
  return out;
}

/// Implements recover() and extrapolation() of PointElement.
template <class Kernel, class Shape, class Formulation>
struct PointRecovery {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Functions = PointFunctions<Kernel, Shape, Formulation>;
  using Modes = IncompatibleModes<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Gradient = typename Element::template Gradient<R>;
  template <class R>
  using Basis = typename Functions::template Basis<R>;
  template <class R>
  using Material = PointMaterial<Kernel, Shape, Formulation, R>;
  static constexpr int dim = Element::dim, nodes = Element::nodes, components = Element::components,
                       rows = Element::rows;
  static constexpr int points = Element::points, functions = Element::functions, dofs = Element::dofs;
  static constexpr int mode_dofs = Modes::mode_dofs;
  static constexpr bool incompatible = Element::incompatible;

  template <class R>
  VSR_FN static R recover(const Input<R>& e, R* out) {
    Basis<R> basis[points];
    const R health = Functions::make_basis(e, basis);
    R u[functions * components];
    for (int i = 0; i < dofs; ++i) u[i] = e.u[i];
    if constexpr (incompatible) {
      R stiffness[mode_dofs * (mode_dofs + 1) / 2];
      Modes::factorise_modes(e, basis, stiffness);
      Modes::template find_modes<false>(e, basis, stiffness, u);
    }
    Material<R> material;
    Point<R> p = material.begin(e);
    for (int q = 0; q < points; ++q) {
      material.move(e, Points::value_at(q), p);
      const Gradient<R> grad = Functions::gradient_of(basis[q], u);
      const Gradient<R> flux = Kernel::flux(p, grad);
      out = write_point<Kernel>(p, basis[q].volume, grad, flux, out);
      if constexpr (kernel_has_energy<Kernel>) *out++ = Kernel::energy(p, grad);
    }
    return health;
  }

  static constexpr void extrapolation(double* nodes_by_points) {
    for (int a = 0; a < nodes; ++a) {
      double* row = nodes_by_points + a * points;
      if constexpr (points == 1) {
        row[0] = 1.0;
      } else {
        double xi[dim]{};
        for (int k = 0; k < dim; ++k) xi[k] = Shape::node(a, k);
        Rule::interpolate(xi, row);
      }
    }
  }
};

}  // namespace voussoir::detail
