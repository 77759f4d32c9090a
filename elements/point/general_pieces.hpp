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
// derivatives of the shape function, N/r, and N. If C is the same at all points of an element, the weights are summed
// alone:
//   K_ab = C : Σ_q W_a ⊗ W_b
// B-bar has one slot more, the change of all three normal strains, which an unknown is seen through by the difference
// of its divergence to the mean over the element.

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
  /// Whether the tangent is a sum over the points of W C Wᵀ.
  static constexpr bool tensors = true;

  /// Whether C depends on the parameters alone.
  static constexpr bool constant = is_constant_law<Kernel> && !Element::bbar;

  static constexpr bool hooped = Element::hooped, bbar = Element::bbar, values = Response::takes_value;
  /// Slots that an unknown of a node is seen through: derivatives, N/r (of the first component only), the volume (of
  /// B-bar), N.
  static constexpr int kinds = dim + (hooped ? 1 : 0) + (bbar ? 1 : 0) + (values ? 1 : 0);
  /// Weights of a node: of derivatives and N/r, which are the same for all its unknowns; of the volume, which are not;
  /// and N.
  static constexpr int plain_weights = dim + (hooped ? 1 : 0), volume_kind = plain_weights,
                       weights = plain_weights + (bbar ? components : 0) + (values ? 1 : 0);
  /// Of these, how many differ from element to element: all but N.
  static constexpr int stored_weights = weights - (values ? 1 : 0);
  static constexpr int gradient_slots = components * dim, volume_slot = gradient_slots + (hooped ? 1 : 0);
  static constexpr int slots = volume_slot + (bbar ? 1 : 0) + (values ? components : 0);
  /// Numbers of C that are kept.
  static constexpr int tensor_numbers = tangent_entries(slots, symmetric);

  /// The slot of an unknown; −1 where it is not seen through slots of this kind.
  VSR_FN static constexpr int slot(int component, int kind) {
    if (kind < dim) return component * dim + kind;
    if (hooped && kind == dim) return component == 0 ? gradient_slots : -1;
    if (bbar && kind == volume_kind) return volume_slot;
    return volume_slot + (bbar ? 1 : 0) + component;
  }
  /// The place among the weights of a node of the one through which an unknown is seen.
  VSR_FN static constexpr int weight_of(int component, int kind) {
    return kind < plain_weights ? kind : bbar && kind == volume_kind ? plain_weights + component : weights - 1;
  }
  VSR_FN static constexpr int place(int s, int t) {
    return !symmetric ? s * slots + t : s <= t ? upper_index<slots>(s, t) : upper_index<slots>(t, s);
  }
  /// N_a at point q.
  VSR_FN static double shape_at(int q, int a) { return shape_table<Shape, Rule>().value[q][a]; }

  /// Weights and tensor, times the volume, at point q: put_weight(a, place, value), put_tensor(place, value). x(a, k)
  /// is coordinate k of node a, u(a, i) its unknown i, for devices with too few registers for all of them at a time;
  /// `e.u` is not read. Returns the health. Not for B-bar.
  template <class R, class X, class U, class PutWeight, class PutTensor>
  VSR_FN static R tensor_at(const Input<R>& e, int q, const X& x, const U& u, const PutWeight& put_weight,
                            const PutTensor& put_tensor) {
    const auto& table = shape_table<Shape, Rule>();
    R inv[dim][dim], r, volume;
    const R health = frame_at(e, q, x, inv, r, volume);
    [[maybe_unused]] const R around = hooped ? R(1.0) / r : R(0.0);
    Mat<R, rows, 3> grad = zero_matrix<R, rows, 3>();
    Vec<R, components> value = zero_vector<R, components>();
    for (int a = 0; a < nodes; ++a) {
      R weight[plain_weights];
      for (int k = 0; k < dim; ++k) weight[k] = slope(table.gradient[q][a], inv[k]);
      if constexpr (hooped) weight[dim] = R(table.value[q][a]) * around;
      for (int k = 0; k < plain_weights; ++k) put_weight(a, k, weight[k]);
      for (int i = 0; i < components; ++i) {
        const R own = u(a, i);
        for (int k = 0; k < dim; ++k) grad(i, k) += weight[k] * own;
        if constexpr (values) value[i] += R(table.value[q][a]) * own;
        if constexpr (hooped)
          if (i == 0) grad(2, 2) += weight[dim] * own;
      }
    }
    tensor_of(e, q, value, grad, volume, put_tensor);
    return health;
  }

  // ---- B-bar: weights at all points, then the means of divergences, then tensors ----

  /// All weights at point q but those of the volume and N, and the volume. Returns the health.
  template <class R, class X, class PutWeight>
  VSR_FN static R plain_weights_at(const Input<R>& e, int q, const X& x, const PutWeight& put_weight, R& volume) {
    const auto& table = shape_table<Shape, Rule>();
    R inv[dim][dim], r;
    const R health = frame_at(e, q, x, inv, r, volume);
    [[maybe_unused]] const R around = hooped ? R(1.0) / r : R(0.0);
    for (int a = 0; a < nodes; ++a) {
      for (int k = 0; k < dim; ++k) put_weight(a, k, slope(table.gradient[q][a], inv[k]));
      if constexpr (hooped) put_weight(a, dim, R(table.value[q][a]) * around);
    }
    return health;
  }
  /// The divergence of unknown i of node a, by the weights: weight(a, place).
  template <class Weight>
  VSR_FN static auto divergence(const Weight& weight, int a, int i) {
    auto sum = weight(a, i);
    if constexpr (hooped)
      if (i == 0) sum += weight(a, dim);
    return sum;
  }
  /// The weights of the volume, put_weight(a, place, value), and the tensor at point q, where mean(a, i) is the mean
  /// divergence of an unknown.
  template <class R, class U, class Weight, class Mean, class PutWeight, class PutTensor>
  VSR_FN static void mean_tensor_at(const Input<R>& e, int q, R volume, const U& u, const Weight& weight,
                                    const Mean& mean, const PutWeight& put_weight, const PutTensor& put_tensor) {
    const auto& table = shape_table<Shape, Rule>();
    Mat<R, rows, 3> grad = zero_matrix<R, rows, 3>();
    Vec<R, components> value = zero_vector<R, components>();
    R swelling = R(0.0);
    for (int a = 0; a < nodes; ++a)
      for (int i = 0; i < components; ++i) {
        const R own = u(a, i), correction = R(1.0 / 3.0) * (mean(a, i) - divergence(weight, a, i));
        put_weight(a, plain_weights + i, correction);
        swelling += correction * own;
        for (int k = 0; k < dim; ++k) grad(i, k) += weight(a, k) * own;
        if constexpr (values) value[i] += R(table.value[q][a]) * own;
        if constexpr (hooped)
          if (i == 0) grad(2, 2) += weight(a, dim) * own;
      }
    for (int i = 0; i < 3; ++i) grad(i, i) += swelling;
    tensor_of(e, q, value, grad, volume, put_tensor);
  }

  /// All weights at point q, N included, times the root of the volume: put(a, kind, value). Returns the health.
  template <class R, class X, class Put>
  VSR_FN static R scaled_weights_at(const Input<R>& e, int q, const X& x, const Put& put) {
    const auto& table = shape_table<Shape, Rule>();
    R inv[dim][dim], r, volume;
    const R health = frame_at(e, q, x, inv, r, volume);
    const R root = sqrt(volume);
    for (int k = 0; k < dim; ++k)
      for (int m = 0; m < dim; ++m) inv[k][m] *= root;
    [[maybe_unused]] const R around = hooped ? root / r : R(0.0);
    for (int a = 0; a < nodes; ++a) {
      for (int k = 0; k < dim; ++k) put(a, k, slope(table.gradient[q][a], inv[k]));
      if constexpr (hooped) put(a, dim, R(table.value[q][a]) * around);
      if constexpr (values) put(a, kinds - 1, R(table.value[q][a]) * root);
    }
    return health;
  }

  /// C where it depends on the parameters alone: put(place, value).
  template <class R, class Put>
  VSR_FN static void constant_tensor(const R* parameters, const Put& put) {
    R constants[kernel_constants<Kernel>() > 0 ? kernel_constants<Kernel>() : 1];
    if constexpr (kernel_constants<Kernel>() > 0) Kernel::prepare(parameters, constants);
    Point<R> p;
    // Some point: that the tangent does not depend on it does not mean that the law can be evaluated at zero.
    for (int k = 0; k < 3; ++k) p.x[k] = R(0.6 + 0.2 * k);
    p.parameters = parameters;
    p.constants = constants;
    p.temperature = R(300.0);
    p.temperature_change = R(10.0);
    put_changes(p, zero_vector<R, components>(), zero_matrix<R, rows, 3>(), R(1.0), put);
  }

 private:
  /// The tensor at point q, times the volume.
  template <class R, class PutTensor>
  VSR_FN static void tensor_of(const Input<R>& e, int q, const Vec<R, components>& value, const Mat<R, rows, 3>& grad,
                               R volume, const PutTensor& put_tensor) {
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    R history[law_history > 0 ? law_history : 1];
    p.history = history;
    material.move(e, shape_table<Shape, Rule>().value[q], p);
    for (int k = 0; k < law_history; ++k) history[k] = e.history_at(q * law_history + k);
    // Copied, so that what a law computes of its parameters need not be computed again after each store.
    constexpr int parameter_count = Element::parameter_count;
    R parameters[parameter_count > 0 ? parameter_count : 1];
    for (int k = 0; k < parameter_count; ++k) parameters[k] = p.parameters[k];
    p.parameters = parameters;
    put_changes(p, value, grad, volume, put_tensor);
  }

  template <class R>
  VSR_FN static R slope(const double (&reference)[dim], const R (&inv)[dim]) {
    R sum = R(reference[0]) * inv[0];
    for (int m = 1; m < dim; ++m) sum += R(reference[m]) * inv[m];
    return sum;
  }

  /// The inverse Jacobian, the radius of a ring and the volume at point q. Returns the health.
  template <class R, class X>
  VSR_FN static R frame_at(const Input<R>& e, int q, const X& x, R (&inv)[dim][dim], R& r, R& volume) {
    const auto& table = shape_table<Shape, Rule>();
    R jacobian[dim][dim];
    r = R(1.0);
    for (int m = 0; m < dim; ++m)
      for (int k = 0; k < dim; ++k) jacobian[m][k] = R(table.gradient[q][0][m]) * x(0, k);
    if constexpr (Element::ring) r = R(table.value[q][0]) * x(0, 0);
    for (int a = 1; a < nodes; ++a) {
      for (int m = 0; m < dim; ++m)
        for (int k = 0; k < dim; ++k) jacobian[m][k] += R(table.gradient[q][a][m]) * x(a, k);
      if constexpr (Element::ring) r += R(table.value[q][a]) * x(a, 0);
    }
    const R det = invert_jacobian<dim>(jacobian, inv);
    volume = R(table.weight[q]) * det * Points::depth(e, r);
    return Element::ring ? min(det, r) : det;
  }

  /// C, times the volume.
  template <class R, class PutTensor>
  VSR_FN static void put_changes(const Point<R>& p, const Vec<R, components>& value, const Mat<R, rows, 3>& grad,
                                 R volume, const PutTensor& put_tensor) {
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
      if constexpr (bbar)
        for (int i = 0; i < 3; ++i) change(i, i) += R(t == volume_slot ? 1.0 : 0.0);
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
      if constexpr (bbar)
        if (!symmetric || volume_slot <= t) put_tensor(place(volume_slot, t), volume * trace(answer.flux));
    }
  }
};

}  // namespace voussoir::detail
