#pragma once
#include <voussoir/elements/kernel/upper_triangle.hpp>
#include <voussoir/elements/point/law.hpp>
#include <voussoir/elements/point/mass_pieces.hpp>
#include <voussoir/elements/point/point_functions.hpp>

// The tangent of a general law in parts, for backends with several threads per element. At a point, the unknowns of the
// nodes are seen through a few slots: the entries of the gradient, in a ring the hoop gradient u_r/r, and the values
// where the law takes them. The tangent of nodes a and b is
//   K_ab = Σ_q W_a C W_bᵀ
// with the tensor C of slots by slots, the change of what each slot is paired with, and the weights W_a of the slots:
// derivatives of the shape function, N/r, and N.

namespace voussoir::detail {

template <class Element>
struct GeneralPieces;

template <class Kernel, class Shape, class Formulation>
struct GeneralPieces<PointElement<Kernel, Shape, Formulation>>
    : MassPieces<PointElement<Kernel, Shape, Formulation>,
                 kernel_has_density<Kernel> && !law_has_vector_density<Kernel>> {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  using Response = LawResponse<Kernel, Element::parameter_count>;
  template <class R>
  using Input = ElementInput<R, Shape::nodes, Kernel::components, Element::parameter_count>;
  template <class R>
  using Answer = typename Response::template Answer<R>;
  static constexpr int dim = Shape::dim, nodes = Shape::nodes, components = Kernel::components,
                       rows = kernel_rows<Kernel>();
  static constexpr bool symmetric = symmetric_tangent_of<Kernel>();
  static constexpr int law_history = history_numbers_of<Kernel>();

  // Neither pairs of nodes nor entries can be integrated alone: the law differs from point to point.
  static constexpr bool pairs = false, streams = false, by_points = false, small = false;
  /// Whether the tangent is a sum over the points of W C Wᵀ. B-bar needs the functions at all points at once.
  static constexpr bool tensors = !Element::bbar;

  static constexpr bool hooped = Element::hooped, values = Response::takes_value;
  /// Slots that an unknown of a node is seen through: derivatives, N/r (of the first component only), N.
  static constexpr int kinds = dim + (hooped ? 1 : 0) + (values ? 1 : 0);
  /// Of these, how many stand in gradients_at(): all but N, which is the same for all elements.
  static constexpr int stored_kinds = dim + (hooped ? 1 : 0);
  static constexpr int gradient_slots = components * dim;
  static constexpr int slots = gradient_slots + (hooped ? 1 : 0) + (values ? components : 0);
  /// Numbers of C that are kept.
  static constexpr int tensor_numbers = tangent_entries(slots, symmetric);

  /// The slot of an unknown; −1 where it is not seen through slots of this kind.
  VSR_FN static constexpr int slot(int component, int kind) {
    if (kind < dim) return component * dim + kind;
    if (hooped && kind == dim) return component == 0 ? gradient_slots : -1;
    return gradient_slots + (hooped ? 1 : 0) + component;
  }
  VSR_FN static constexpr int place(int s, int t) {
    return !symmetric ? s * slots + t : s <= t ? upper_index<slots>(s, t) : upper_index<slots>(t, s);
  }
  /// N_a at point q.
  VSR_FN static double shape_at(int q, int a) { return shape_table<Shape, Rule>().value[q][a]; }

  /// Weights and tensor, times the volume, at point q: put_weight(a, kind, value), put_tensor(place, value). x(a, k) is
  /// coordinate k of node a, u(a, i) its unknown i, for devices with too few registers for all of them at a time; `e.u`
  /// is not read. Returns the health.
  template <class R, class X, class U, class PutWeight, class PutTensor>
  VSR_FN static R tensor_at(const Input<R>& e, int q, const X& x, const U& u, const PutWeight& put_weight,
                            const PutTensor& put_tensor) {
    const auto& table = shape_table<Shape, Rule>();
    R jacobian[dim][dim], inv[dim][dim], r = R(1.0);
    for (int m = 0; m < dim; ++m)
      for (int k = 0; k < dim; ++k) jacobian[m][k] = R(table.gradient[q][0][m]) * x(0, k);
    if constexpr (Element::ring) r = R(table.value[q][0]) * x(0, 0);
    for (int a = 1; a < nodes; ++a) {
      for (int m = 0; m < dim; ++m)
        for (int k = 0; k < dim; ++k) jacobian[m][k] += R(table.gradient[q][a][m]) * x(a, k);
      if constexpr (Element::ring) r += R(table.value[q][a]) * x(a, 0);
    }
    const R det = invert_jacobian<dim>(jacobian, inv);
    const R health = Element::ring ? min(det, r) : det;
    const R volume = R(table.weight[q]) * det * Points::depth(e, r);
    [[maybe_unused]] const R around = hooped ? R(1.0) / r : R(0.0);
    Mat<R, rows, 3> grad = zero_matrix<R, rows, 3>();
    Vec<R, components> value = zero_vector<R, components>();
    for (int a = 0; a < nodes; ++a) {
      R weight[stored_kinds];
      for (int k = 0; k < dim; ++k) {
        weight[k] = R(table.gradient[q][a][0]) * inv[k][0];
        for (int m = 1; m < dim; ++m) weight[k] += R(table.gradient[q][a][m]) * inv[k][m];
      }
      if constexpr (hooped) weight[dim] = R(table.value[q][a]) * around;
      for (int k = 0; k < stored_kinds; ++k) put_weight(a, k, weight[k]);
      for (int i = 0; i < components; ++i) {
        const R own = u(a, i);
        for (int k = 0; k < dim; ++k) grad(i, k) += weight[k] * own;
        if constexpr (values) value[i] += R(table.value[q][a]) * own;
        if constexpr (hooped)
          if (i == 0) grad(2, 2) += weight[dim] * own;
      }
    }
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R history[law_history > 0 ? law_history : 1];
    p.history = history;
    material.move(e, table.value[q], p);
    for (int k = 0; k < law_history; ++k) history[k] = e.history_at(q * law_history + k);
    // Copied, so that what a law computes of its parameters need not be computed again after each store.
    constexpr int parameter_count = Element::parameter_count;
    R parameters[parameter_count > 0 ? parameter_count : 1];
    for (int k = 0; k < parameter_count; ++k) parameters[k] = p.parameters[k];
    p.parameters = parameters;
    VSR_ROLLED
    for (int t = 0; t < slots; ++t) {
      // One run of the law per slot: a unit change there. Compared instead of indexed, so that it stays in registers.
      Mat<R, rows, 3> change = zero_matrix<R, rows, 3>();
      Vec<R, components> value_change = zero_vector<R, components>();
      VSR_UNROLLED
      for (int i = 0; i < components; ++i) {
        VSR_UNROLLED
        for (int k = 0; k < dim; ++k) change(i, k) = R(t == slot(i, k) ? 1.0 : 0.0);
        if constexpr (values) value_change[i] = R(t == slot(i, kinds - 1) ? 1.0 : 0.0);
      }
      if constexpr (hooped) change(2, 2) = R(t == gradient_slots ? 1.0 : 0.0);
      const Answer<R> answer = Response::change(p, value, grad, value_change, change);
      VSR_UNROLLED
      for (int i = 0; i < components; ++i) {
        VSR_UNROLLED
        for (int k = 0; k < dim; ++k)
          if (!symmetric || slot(i, k) <= t) put_tensor(place(slot(i, k), t), volume * answer.flux(i, k));
        if constexpr (values) {
          const int s = slot(i, kinds - 1);
          if (!symmetric || s <= t) put_tensor(place(s, t), volume * answer.source[i]);
        }
      }
      if constexpr (hooped)
        if (!symmetric || gradient_slots <= t) put_tensor(place(gradient_slots, t), volume * answer.flux(2, 2));
    }
    return health;
  }
};

}  // namespace voussoir::detail
