#pragma once
#include <voussoir/elements/kernel/upper_triangle.hpp>
#include <voussoir/elements/point/law.hpp>
#include <voussoir/elements/point/point_functions.hpp>

// The tangent of an element by its points, for operators that store more than nothing and less than matrices:
//   K = Σ_q W_qᵀ T_q W_q
// W_q maps the unknowns of the nodes to the slots of point q: the derivatives of each unknown in the directions of the
// cell and, where the law takes them, the values of the unknowns. It is the same for all elements of a shape. The
// tensor T_q, slots by slots, is the tangent of the law there, transformed to the directions of the cell and multiplied
// by the volume of the point, so that a product needs neither positions nor the law.

namespace voussoir::detail {

template <class Element>
struct PointTensors;

template <class Kernel, class Shape, class Formulation>
struct PointTensors<PointElement<Kernel, Shape, Formulation>> {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  using Response = LawResponse<Kernel, Element::parameter_count>;
  template <class R>
  using Input = ElementInput<R, Shape::nodes, Kernel::components, Element::parameter_count>;
  static constexpr int dim = Shape::dim, nodes = Shape::nodes, components = Kernel::components,
                       rows = kernel_rows<Kernel>(), points = Element::points, law_history = Element::law_history;
  static constexpr bool symmetric = symmetric_tangent_of<Kernel>();
  static constexpr bool values = Response::takes_value;

  /// Whether an element has such tensors: B-bar, incompatible modes and hoop strains tie a point to more than its own
  /// slots.
  static constexpr bool exist = Element::stands_alone;

  static constexpr int derivatives = components * dim, slots = derivatives + (values ? components : 0);
  /// Numbers of a tensor: its upper triangle by rows where it is symmetric.
  static constexpr int numbers = tangent_entries(slots, symmetric);
  /// Numbers of an element, point after point.
  static constexpr int total = points * numbers;

  /// Where entry (s, t) of a tensor is stored; s ≤ t where it is symmetric.
  VSR_FN static constexpr int place(int s, int t) { return symmetric ? upper_index<slots>(s, t) : s * slots + t; }

  /// The tensors at the points first, first + step, …: put(q, place, value). Returns the element's health.
  template <class R, class Put>
  VSR_FN static R tensors(const Input<R>& e, int first, int step, const Put& put) {
    const auto& table = shape_table<Shape, Rule>();
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R history[law_history > 0 ? law_history : 1], health = R(1e300);
    p.history = history;
    VSR_ROLLED
    for (int q = first; q < points; q += step) {
      R inv[dim][dim];
      const R det = Points::invert(e, table, q, inv);
      material.move(e, table.value[q], p);
      for (int k = 0; k < law_history; ++k) history[k] = e.history_at(q * law_history + k);
      const R volume = R(table.weight[q]) * det * Points::depth(e, p.x[0]);
      Vec<R, components> value = zero_vector<R, components>();
      Mat<R, rows, 3> grad = zero_matrix<R, rows, 3>();
      if constexpr (!Element::linear) {
        R slot[slots];
        clear(slot);
        for (int a = 0; a < nodes; ++a)
          add_slots(
              q, a, [&](int i) { return e.u[a * components + i]; }, slot);
        read_slots(slot, inv, value, grad);
      }
      put_tensor(p, value, grad, inv, volume, [&](int at, const R& entry) { put(q, at, entry); });
      health = min(health, Element::ring ? min(det, p.x[0]) : det);
    }
    return health;
  }

  // ---- Products ----

  template <class R>
  VSR_FN static void clear(R (&slot)[slots]) {
    VSR_UNROLLED
    for (int s = 0; s < slots; ++s) slot[s] = R(0.0);
  }
  /// Adds the share of node a, whose unknowns are u(i), in the slots of point q.
  template <class R, class Unknown>
  VSR_FN static void add_slots(int q, int a, const Unknown& u, R (&slot)[slots]) {
    VSR_UNROLLED
    for (int i = 0; i < components; ++i) {
      const R own = u(i);
      VSR_UNROLLED
      for (int m = 0; m < dim; ++m) slot[i * dim + m] += R(reference_slope(q, a, m)) * own;
      if constexpr (values) slot[derivatives + i] += R(shape_value(q, a)) * own;
    }
  }
  /// flow = T · slot, with T by its entries: tensor(place).
  template <class R, class Tensor>
  VSR_FN static void multiply(const Tensor& tensor, const R (&slot)[slots], R (&flow)[slots]) {
    clear(flow);
    VSR_UNROLLED
    for (int s = 0; s < slots; ++s) {
      VSR_UNROLLED
      for (int t = symmetric ? s : 0; t < slots; ++t) {
        const R entry = tensor(place(s, t));
        flow[s] += entry * slot[t];
        if (symmetric && s != t) flow[t] += entry * slot[s];
      }
    }
  }
  /// Adds the force of a flow at point q on unknown i of node a.
  template <class R>
  VSR_FN static void add_force(int q, int a, int i, const R (&flow)[slots], R& force) {
    VSR_UNROLLED
    for (int m = 0; m < dim; ++m) force += R(reference_slope(q, a, m)) * flow[i * dim + m];
    if constexpr (values) force += R(shape_value(q, a)) * flow[derivatives + i];
  }
  /// r = K du, with the tensors by their entries: tensor(q, place).
  template <class R, class Tensor>
  VSR_LARGE_FN static void product(const Tensor& tensor, const R* du, R* r) {
    for (int i = 0; i < nodes * components; ++i) r[i] = R(0.0);
    VSR_ROLLED
    for (int q = 0; q < points; ++q) {
      R slot[slots], flow[slots];
      clear(slot);
      for (int a = 0; a < nodes; ++a)
        add_slots(
            q, a, [&](int i) { return du[a * components + i]; }, slot);
      multiply([&](int at) { return tensor(q, at); }, slot, flow);
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < components; ++i) add_force(q, a, i, flow, r[a * components + i]);
    }
  }

  /// ∂N_a/∂ξ_m and N_a at point q.
  VSR_FN static double reference_slope(int q, int a, int m) { return shape_table<Shape, Rule>().gradient[q][a][m]; }
  VSR_FN static double shape_value(int q, int a) { return shape_table<Shape, Rule>().value[q][a]; }

 private:
  /// Value and gradient of the unknowns by their slots.
  template <class R>
  VSR_FN static void read_slots(const R (&slot)[slots], const R (&inv)[dim][dim], Vec<R, components>& value,
                                Mat<R, rows, 3>& grad) {
    for (int i = 0; i < components; ++i) {
      for (int k = 0; k < dim; ++k) {
        R sum = slot[i * dim] * inv[k][0];
        for (int m = 1; m < dim; ++m) sum += slot[i * dim + m] * inv[k][m];
        grad(i, k) = sum;
      }
      if constexpr (values) value[i] = slot[derivatives + i];
    }
  }

  template <class R, class Put>
  VSR_FN static void put_tensor(const Point<R>& p, const Vec<R, components>& value, const Mat<R, rows, 3>& grad,
                                const R (&inv)[dim][dim], R volume, const Put& put) {
    VSR_ROLLED
    for (int t = 0; t < slots; ++t) {
      // One evaluation of the law per slot: a unit change there. Compared instead of indexed, so that it stays in
      // registers.
      Mat<R, rows, 3> change = zero_matrix<R, rows, 3>();
      Vec<R, components> value_change = zero_vector<R, components>();
      VSR_UNROLLED
      for (int i = 0; i < components; ++i) {
        VSR_UNROLLED
        for (int m = 0; m < dim; ++m)
          for (int k = 0; k < dim; ++k) change(i, k) += R(t == i * dim + m ? 1.0 : 0.0) * inv[k][m];
        if constexpr (values) value_change[i] = R(t == derivatives + i ? 1.0 : 0.0);
      }
      const typename Response::template Answer<R> answer = Response::change(p, value, grad, value_change, change);
      VSR_UNROLLED
      for (int i = 0; i < components; ++i) {
        VSR_UNROLLED
        for (int m = 0; m < dim; ++m) {
          const int s = i * dim + m;
          R sum = answer.flux(i, 0) * inv[0][m];
          for (int k = 1; k < dim; ++k) sum += answer.flux(i, k) * inv[k][m];
          if (!symmetric || s <= t) put(place(s, t), volume * sum);
        }
        if constexpr (values) {
          const int s = derivatives + i;
          if (!symmetric || s <= t) put(place(s, t), volume * answer.source[i]);
        }
      }
    }
  }
};

/// Whether kernel K has tensors at its points. A kernel that derives from another does not have that one's.
template <class K>
VSR_FN constexpr bool has_point_tensors() {
  if constexpr (requires { requires K::Tensors::exist; })
    return same<typename K::Tensors::Element, K>;
  else
    return false;
}

}  // namespace voussoir::detail
