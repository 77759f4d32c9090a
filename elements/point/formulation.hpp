#pragma once
#include <voussoir/elements/kernel/kernel_traits.hpp>
#include <voussoir/elements/kernel/point_kernel.hpp>
#include <voussoir/elements/quadrature/shape_table.hpp>
#include <voussoir/elements/shapes/shapes.hpp>

// Formulations of point elements and their quadrature rules.

namespace voussoir {

/// Full integration: the shape functions without modification, with a rule for which only rigid-body motions have no
/// stiffness.
struct Full {};
/// Reduced integration. Quadratic shapes: one order less in each direction. Wedge6: two points on its axis. Quad4 and
/// Hex8: uniform strain with the hourglass stiffness of Flanagan and Belytschko (1981).
struct Reduced {};
/// B-bar, for Quad4 and Hex8: the volumetric strain is averaged over the element, so that nearly incompressible bodies
/// do not lock (Nagtegaal, Parks and Rice 1974; Hughes 1980).
struct BBar {};
/// Incompatible modes, for Quad4 and Hex8: internal quadratic modes represent bending (Wilson et al. 1973; Taylor,
/// Beresford and Wilson 1976, whose modified gradient passes the patch test).
struct Incompatible {};

/// The quadrature rules of a shape: `Stiffness`, `ReducedStiffness` if there is one, and `Mass`, which is exact for the
/// product of two shape functions on a straight-sided element (times the radius if axisymmetric).
template <class Shape, Geometry geometry>
struct ElementRules;

template <Geometry geometry>
struct ElementRules<Tri3, geometry> {
  // With one point a ring has a motion without strain there: hoop strain varies within the element.
  using Stiffness = TriangleRule<geometry == Geometry::axisymmetric ? 3 : 1>;
  using Mass = TriangleRule<geometry == Geometry::axisymmetric ? 6 : 3>;
};
template <Geometry geometry>
struct ElementRules<Tri6, geometry> {
  using Stiffness = TriangleRule<3>;
  using Mass = TriangleRule<geometry == Geometry::axisymmetric ? 7 : 6>;
};
template <Geometry geometry>
struct ElementRules<Quad4, geometry> {
  using Stiffness = GaussQuad<2>;
  using Mass = GaussQuad<geometry == Geometry::axisymmetric ? 3 : 2>;
};
template <Geometry geometry>
struct ElementRules<Quad8, geometry> {
  using Stiffness = GaussQuad<3>;
  using ReducedStiffness = GaussQuad<2>;
  using Mass = GaussQuad<3>;
};
template <Geometry geometry>
struct ElementRules<Tet4, geometry> {
  using Stiffness = TetrahedronRule<1>;
  using Mass = TetrahedronRule<4>;
};
template <Geometry geometry>
struct ElementRules<Tet10, geometry> {
  using Stiffness = TetrahedronRule<4>;
  using Mass = TetrahedronRule<14>;
};
template <Geometry geometry>
struct ElementRules<Wedge6, geometry> {
  using Stiffness = WedgeRule<3, 2>;
  using ReducedStiffness = WedgeRule<1, 2>;
  using Mass = WedgeRule<3, 2>;
};
template <Geometry geometry>
struct ElementRules<Wedge15, geometry> {
  using Stiffness = WedgeRule<3, 3>;
  using Mass = WedgeRule<6, 3>;
};
template <Geometry geometry>
struct ElementRules<Hex8, geometry> {
  using Stiffness = GaussHex<2>;
  using Mass = GaussHex<2>;
};
template <Geometry geometry>
struct ElementRules<Hex20, geometry> {
  using Stiffness = GaussHex<3>;
  using ReducedStiffness = GaussHex<2>;
  using Mass = GaussHex<3>;
};

namespace detail {

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};
template <class A, class B>
inline constexpr bool same = Same<A, B>::value;

/// Quad4 and Hex8, the only shapes with several formulations.
template <class Shape>
inline constexpr bool multilinear = same<Shape, Quad4> || same<Shape, Hex8>;

/// Stiffness and mass rule of a formulation. Reduced quadratic shapes use the reduced rule for both; the two points of
/// a reduced wedge would leave its mass singular.
template <class Shape, class Formulation, Geometry geometry>
struct FormulationRules {
  using Stiffness = typename ElementRules<Shape, geometry>::Stiffness;
  using Mass = typename ElementRules<Shape, geometry>::Mass;
};
template <class Shape, Geometry geometry>
requires(!multilinear<Shape>) struct FormulationRules<Shape, Reduced, geometry> {
  using Stiffness = typename ElementRules<Shape, geometry>::ReducedStiffness;
  using Mass = typename ElementRules<Shape, geometry>::ReducedStiffness;
};
template <Geometry geometry>
struct FormulationRules<Wedge6, Reduced, geometry> {
  using Stiffness = typename ElementRules<Wedge6, geometry>::ReducedStiffness;
  using Mass = typename ElementRules<Wedge6, geometry>::Mass;
};

/// Full where the formulation has its mass rule and takes temperatures as it does, else the formulation.
template <class Shape, class Formulation, Geometry geometry,
          bool full =
              !same<Formulation, Incompatible> && same<typename FormulationRules<Shape, Formulation, geometry>::Mass,
                                                       typename FormulationRules<Shape, Full, geometry>::Mass>>
struct VolumeFormulationOf {
  using type = Full;
};
template <class Shape, class Formulation, Geometry geometry>
struct VolumeFormulationOf<Shape, Formulation, geometry, false> {
  using type = Formulation;
};
template <class Shape, class Formulation, Geometry geometry>
using VolumeFormulation = typename VolumeFormulationOf<Shape, Formulation, geometry>::type;

template <class Kernel>
VSR_FN constexpr int kernel_parameters() {
  if constexpr (requires { Kernel::parameters[0]; })
    return int(sizeof(Kernel::parameters) / sizeof(Kernel::parameters[0]));
  else
    return 0;
}
template <class Kernel>
VSR_FN constexpr int kernel_rows() {
  if constexpr (requires { Kernel::gradient_rows; })
    return Kernel::gradient_rows;
  else
    return Kernel::components;
}
template <class Kernel>
VSR_FN constexpr int kernel_constants() {
  if constexpr (requires { Kernel::constants; })
    return Kernel::constants;
  else
    return 0;
}
template <class Kernel>
VSR_FN constexpr bool kernel_symmetric() {
  if constexpr (requires { Kernel::symmetric_gradient; })
    return Kernel::symmetric_gradient;
  else
    return false;
}
template <class Kernel>
VSR_FN constexpr bool kernel_scalar() {
  if constexpr (requires { Kernel::scalar; })
    return Kernel::scalar;
  else
    return false;
}
template <class Kernel>
inline constexpr bool kernel_has_pair_block = requires(const Point<double>& p, const Mat3<double>& outer) {
  Kernel::pair_block(p, outer);
};
template <class Kernel>
inline constexpr bool kernel_has_density = requires(const Point<double>& p) {
  Kernel::density(p);
};
template <class Kernel>
VSR_FN constexpr bool kernel_linear() {
  if constexpr (requires { Kernel::linear; })
    return Kernel::linear;
  else
    return kernel_has_pair_block<Kernel>;
}
template <class Kernel, class Shape>
VSR_FN constexpr Geometry kernel_geometry() {
  if constexpr (requires { Kernel::geometry; })
    return Kernel::geometry;
  else
    return Shape::dim == 3 ? Geometry::solid : Geometry::plane;
}
/// A law's energy, of the gradient alone or of value and gradient.
template <class Kernel>
inline constexpr bool kernel_has_energy = requires(const Point<double>& p,
                                                   const Mat<double, kernel_rows<Kernel>(), 3>& grad) {
  Kernel::energy(p, grad);
}
|| requires(const Point<double>& p, const Vec<double, Kernel::components>& value,
            const Mat<double, kernel_rows<Kernel>(), 3>& grad) {
  Kernel::energy(p, value, grad);
};

/// Parameter names of an element: its kernel's, and the thickness of a plane one.
template <class Kernel, bool plane, int count = kernel_parameters<Kernel>() + (plane ? 1 : 0)>
struct ParameterNames {
  struct List {
    const char* v[count];
    VSR_FN constexpr const char* operator[](int i) const { return v[i]; }
  };
  static constexpr List make() {
    List list{};
    if constexpr (kernel_parameters<Kernel>() > 0)
      for (int i = 0; i < kernel_parameters<Kernel>(); ++i) list.v[i] = Kernel::parameters[i];
    if (plane) list.v[count - 1] = "thickness";
    return list;
  }
  static constexpr List parameters = make();
};
template <class Kernel, bool plane>
struct ParameterNames<Kernel, plane, 0> {};

/// "g2x": kind, component, direction, for recovered gradients and fluxes of several components.
template <char kind, int component, char direction>
struct ComponentName {
  static constexpr char value[] = {kind, char('1' + component), direction, 0};
};

/// Names of the quantities recovered at a point.
template <class Kernel>
struct RecoveredNames {
  static constexpr int rows = kernel_rows<Kernel>();
  static constexpr bool tensors = kernel_symmetric<Kernel>();
  static constexpr int recovered_count =
      4 + (tensors ? 12 : 6 * rows) + (kernel_has_energy<Kernel> ? 1 : 0) + history_numbers_of<Kernel>();
  struct List {
    const char* v[recovered_count];
    VSR_FN constexpr const char* operator[](int i) const { return v[i]; }
  };

  static constexpr List make() {
    List list{};
    int n = 0;
    const char* const place[] = {"x", "y", "z", "volume"};
    for (const char* name : place) list.v[n++] = name;
    if constexpr (tensors) {
      const char* const names[] = {"exx", "eyy", "ezz", "exy", "eyz", "exz", "sxx", "syy", "szz", "sxy", "syz", "sxz"};
      for (const char* name : names) list.v[n++] = name;
    } else if constexpr (rows == 1) {
      const char* const vectors[] = {"gx", "gy", "gz", "qx", "qy", "qz"};
      for (const char* name : vectors) list.v[n++] = name;
    } else {
      add<'g', 0>(list.v, n);
      add<'q', 0>(list.v, n);
    }
    if constexpr (kernel_has_energy<Kernel>) list.v[n++] = "energy";
    if constexpr (history_numbers_of<Kernel>() > 0)
      for (int k = 0; k < history_numbers_of<Kernel>(); ++k) list.v[n++] = Kernel::history[k];
    return list;
  }
  template <char kind, int row>
  static constexpr void add(const char** names, int& n) {
    if constexpr (row < rows) {
      names[n++] = ComponentName<kind, row, 'x'>::value;
      names[n++] = ComponentName<kind, row, 'y'>::value;
      names[n++] = ComponentName<kind, row, 'z'>::value;
      add<kind, row + 1>(names, n);
    }
  }
  static constexpr List recovered = make();
};

}  // namespace detail

}  // namespace voussoir
