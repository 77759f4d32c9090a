#pragma once
#include <voussoir/elements/kernel/element_kernel.hpp>
#include <voussoir/elements/point/compact_action.hpp>
#include <voussoir/elements/point/compact_tet.hpp>
#include <voussoir/elements/point/formulation.hpp>
#include <voussoir/elements/point/general_element.hpp>
#include <voussoir/elements/point/hourglass.hpp>
#include <voussoir/elements/point/incompatible_modes.hpp>
#include <voussoir/elements/point/mass_and_body_load.hpp>
#include <voussoir/elements/point/point_action.hpp>
#include <voussoir/elements/point/point_pieces.hpp>
#include <voussoir/elements/point/point_recovery.hpp>
#include <voussoir/elements/point/point_tensors.hpp>
#include <voussoir/elements/point/uniform_law.hpp>

// Elements composed of a PointKernel, a shape and a formulation. The formulas are in docs/elements.md, the
// implementation in:
//   integration_points.hpp   Jacobians, volumes, loops over the points
//   point_functions.hpp      the functions of every formulation at the points; gradients and work
//   point_integrals.hpp      tangent of functions and forces on them, summed over the points
//   incompatible_modes.hpp   amplitudes of the incompatible modes; the tangent after their condensation
//   hourglass.hpp            stiffness of the hourglass modes of a uniform-strain element
//   point_action.hpp         residuals, and products with the tangent
//   compact_action.hpp       these products with few registers, of a Hex8
//   compact_tet.hpp          the same of a Tet10
//   mass_and_body_load.hpp   masses and body loads
//   point_recovery.hpp       results at the points, and their extrapolation to the nodes
//   point_pieces.hpp         the matrices in parts, for several threads per element
//   point_tensors.hpp        the tangent by points, for operators that store it there
//   law.hpp                  functions that a law does not define, by automatic differentiation
//   general_element.hpp      elements of laws with values, sources, history or unsymmetric tangents

namespace voussoir {

/// An element kernel (kernel/element_kernel.hpp) composed of a point kernel, a shape and a formulation. Every routine
/// returns the smallest Jacobian determinant over the points that it visits, which is not positive for an element that
/// is inverted or whose nodes are numbered clockwise.
template <class Kernel, class Shape, class Formulation>
struct PointElement : detail::ParameterNames<Kernel, detail::kernel_geometry<Kernel, Shape>() == Geometry::plane>,
                      detail::RecoveredNames<Kernel> {
  static constexpr const char* name = Kernel::name;                               ///< name of the point kernel
  static constexpr const char* shape = Shape::name;                               ///< name of the shape
  static constexpr Geometry geometry = detail::kernel_geometry<Kernel, Shape>();  ///< how the shape defines a volume
  static constexpr int dim = Shape::dim,                                          ///< dimension of the shape
      nodes = Shape::nodes,                                                       ///< nodes per element
      components = Kernel::components;                                            ///< unknowns per node
  static constexpr int rows = detail::kernel_rows<Kernel>();                      ///< rows of gradient and flux
  /// Parameters per element: those of the kernel, and the thickness of a plane element.
  static constexpr int parameter_count = detail::kernel_parameters<Kernel>() + (geometry == Geometry::plane ? 1 : 0);
  static constexpr auto& unknowns = Kernel::unknowns;              ///< names of the unknowns
  static constexpr bool linear = detail::kernel_linear<Kernel>();  ///< whether the flux is linear in the gradient
  static constexpr bool scalar = detail::kernel_scalar<Kernel>();  ///< whether the number type is always double
  /// Whether the kernel itself depends on temperature.
  static constexpr bool reads_temperature = detail::reads_temperature_of<Kernel>();
  using Law = Kernel;  ///< the point kernel

  /// Whether the strain is uniform, with hourglass control.
  static constexpr bool uniform = detail::same<Formulation, Reduced> && detail::multilinear<Shape>;
  static constexpr bool bbar = detail::same<Formulation, BBar>;                  ///< whether the formulation is B-bar
  static constexpr bool incompatible = detail::same<Formulation, Incompatible>;  ///< whether there are internal modes
  static constexpr bool ring = geometry == Geometry::axisymmetric;               ///< whether the body is axisymmetric
  static constexpr bool hooped = ring && rows == 3 && components == 2;           ///< whether there is a hoop strain

  static_assert(dim == 2 || dim == 3, "point elements fill an area or a volume; lines are whole-element kernels");
  static_assert(dim == 3 || geometry != Geometry::solid, "a solid kernel needs a three-dimensional shape");
  static_assert(dim == 2 || geometry == Geometry::solid, "a plane or axisymmetric kernel needs a plane shape");
  static_assert(!(uniform || bbar || incompatible) || (components == dim && linear),
                "these formulations are for displacements and laws linear in the gradient");
  static_assert(!(bbar || incompatible) || detail::multilinear<Shape>, "this formulation is for Quad4 and Hex8");
  static_assert(!bbar || rows == 3, "B-bar needs all three normal strains");

  /// The quadrature rule of tangent and residual.
  using Rule = typename detail::FormulationRules<Shape, Formulation, geometry>::Stiffness;
  /// The quadrature rule of masses and body loads.
  using MassRule = typename detail::FormulationRules<Shape, Formulation, geometry>::Mass;
  static constexpr int points = uniform ? 1 : Rule::points;  ///< integration points of tangent and residual
  /// Whether trilinear fields at 2 × 2 × 2 points can be evaluated direction by direction.
  static constexpr bool trilinear = detail::same<Shape, Hex8> && detail::same<Rule, GaussHex<2>>;
  static constexpr int modes = incompatible ? dim : 0,  ///< number of incompatible modes
      functions = nodes + modes;                        ///< shape functions and modes
  static constexpr int dofs = nodes * components,       ///< degrees of freedom per element
      entries = dofs * (dofs + 1) / 2;                  ///< entries of the upper triangle of a tangent

  /// Parts of the matrices, for backends with several threads per element (point_pieces.hpp).
  using Pieces = detail::PointPieces<PointElement>;
  /// The tangent by points, for operators that store it there (point_tensors.hpp).
  using Tensors = detail::PointTensors<PointElement>;
  /// Whether the tangent of nodes a and b is exactly pair_block(Σ w ∇N_a ⊗ ∇N_b).
  static constexpr bool pair_integrable =
      detail::kernel_has_pair_block<Kernel> && !hooped && !bbar && !incompatible && !uniform;
  /// Whether the tangent is a sum of independent contributions of the integration points.
  static constexpr bool point_integrable = !bbar && !incompatible && !uniform;

  /// Whether the functions at a point depend on that point alone.
  static constexpr bool stands_alone = !bbar && !incompatible && !uniform && !hooped;
  static constexpr int law_history = 0;  ///< history variables per point

  /// Whether an action needs the functions at all points at once, and not point by point.
  static constexpr bool keeps_basis = !detail::same<Formulation, Full> || !linear || hooped;

  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;
  /// The gradient of the unknowns at a point.
  template <class R>
  using Gradient = Mat<R, rows, 3>;

  // ---- Routines of an element kernel ----

  /// The tangent ∫ ∇N_a · dflux(∇N_b) dV: the upper triangle, by rows.
  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* upper) {
    typename Functions::template Basis<R> basis[points];
    const R health = Functions::make_basis(e, basis);
    if constexpr (incompatible) {
      constexpr int all = functions * components;
      R extended[all * (all + 1) / 2];
      Integrals::template tangent<0, functions>(e, basis, extended);
      Modes::condense(extended, upper);
    } else {
      Integrals::template tangent<0, nodes>(e, basis, upper);
    }
    if constexpr (uniform) {
      const detail::Hourglass<Kernel, Shape, Formulation, R> hourglass(e, basis[0]);
      hourglass.add_tangent(upper);
    }
    return health;
  }

  /// The internal forces ∫ flux · ∇N_a dV, thermal strain included.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    if constexpr (stands_alone)
      return detail::GeneralAction<Kernel, Shape, Formulation>::template forces<false>(
          e, [](int, int) { return R(0.0); }, r);
    else
      return Action::template forces<false, 1>(e, 1, Action::along(e.u), r);
  }

  /// The tangent times `du`, without forming the tangent.
  template <class R>
  VSR_LARGE_FN static R action(const Input<R>& e, const R* du, R* r) {
    return actions<1>(e, 1, Action::along(du), r);
  }

  /// action() for `columns` directions, at most `most`, with geometry and material evaluated once. du(w, a, i) is
  /// component i at node a of direction w, whose result starts at r[w · dofs].
  template <int most, class R, class Direction>
  VSR_FN static R actions(const Input<R>& e, int columns, const Direction& du, R* r) {
    if constexpr (keeps_basis)
      return Action::template forces<true, most>(e, columns, du, r);
    else if constexpr (trilinear)
      return Action::template trilinear_actions<most>(e, columns, du, r);
    else
      return Action::template direct_actions<most>(e, columns, du, r);
  }

  /// Whether there is compact_actions(): actions() for processors with few registers, in which few values are live at a
  /// time. It requires parameters that do not vary within the element.
  static constexpr bool has_compact_action =
      (trilinear && (!keeps_basis || (incompatible && detail::kernel_has_pair_block<Kernel>))) ||
      (detail::same<Shape, Tet10> && !keeps_basis);
  /// The result of compact_actions() for one direction; its forces(put) distributes it to the nodes.
  template <class R>
  using CompactFlow = typename detail::CompactFlowOf<R, components, trilinear>::type;
  /// The actions along `columns` directions, with `du` as for actions(). scratch(n) with n < room is temporary storage.
  template <int room, int columns, class R, class Direction, class Scratch>
  VSR_FN static R compact_actions(const Input<R>& e, const Direction& du, const Scratch& scratch,
                                  CompactFlow<R> (&flow)[columns]) {
    if constexpr (trilinear)
      return detail::CompactAction<Kernel, Shape, Formulation>::template actions<room>(e, du, scratch, flow);
    else
      return detail::CompactTetAction<Kernel, Formulation>::template actions<room>(e, du, scratch, flow);
  }

  /// The consistent mass ∫ ρ N_a N_b dV: the upper triangle, by rows.
  template <class R>
  VSR_FN static R mass(const Input<R>& e, R* upper) requires detail::kernel_has_density<Kernel> {
    return Volume::mass(e, upper);
  }

  /// The lumped mass of each node. Linear shapes: row sums of the consistent mass. Quadratic shapes, whose row sums may
  /// be negative: the diagonal, scaled to the mass of the element (Hinton, Rock and Zienkiewicz 1976).
  template <class R>
  VSR_FN static R node_masses(const Input<R>& e, R (&m)[nodes]) requires detail::kernel_has_density<Kernel> {
    return Volume::node_masses(e, m);
  }
  /// The lumped mass of node_masses() as the upper triangle of a diagonal matrix.
  template <class R>
  VSR_FN static R lumped_mass(const Input<R>& e, R* upper) requires detail::kernel_has_density<Kernel> {
    return Volume::lumped_mass(e, upper);
  }

  /// The external force of a body load: ρ (g + ω² r) on displacements; the source on a single unknown.
  template <class R, class Load>
  VSR_FN static R body_load(const Input<R>& e, const Load& load,
                            R* f) requires(components == 1 ||
                                           (components == dim && detail::kernel_has_density<Kernel>)) {
    return Volume::body_load(e, load, f);
  }

  /// The results at each point: position, volume, strain and stress (tensor components xx yy zz xy yz xz, so that shear
  /// strain is not doubled) or gradient and flux (down the gradient), and stored energy per volume if the kernel
  /// defines it.
  template <class R>
  VSR_LARGE_FN static R recover(const Input<R>& e, R* out) {
    return Recovery::recover(e, out);
  }

  static constexpr bool extrapolates = true;  ///< extrapolation() is defined
  /// The matrix that evaluates the polynomial through the values at the points at the nodes.
  static constexpr void extrapolation(double* nodes_by_points) { Recovery::extrapolation(nodes_by_points); }

  /// Positive if the parameters, the thickness included, are valid at all tabulated temperatures.
  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    return detail::least_valid<Kernel, geometry, parameter_count, R>(e);
  }

 private:
  using Functions = detail::PointFunctions<Kernel, Shape, Formulation>;
  using Integrals = detail::PointIntegrals<Kernel, Shape, Formulation>;
  using Modes = detail::IncompatibleModes<Kernel, Shape, Formulation>;
  using Action = detail::PointAction<Kernel, Shape, Formulation>;
  using Volume = detail::MassAndBodyLoad<Kernel, Shape, detail::VolumeFormulation<Shape, Formulation, geometry>>;
  using Recovery = detail::PointRecovery<Kernel, Shape, Formulation>;
};

/// Elements of laws with values, sources, history, unsymmetric tangents or derivatives by automatic differentiation.
template <class Kernel, class Shape, class Formulation>
requires detail::general_law<Kernel>
struct PointElement<Kernel, Shape, Formulation> : detail::GeneralElement<Kernel, Shape, Formulation> {
};

}  // namespace voussoir
