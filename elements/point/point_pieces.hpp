#pragma once
#include <voussoir/elements/point/hourglass.hpp>
#include <voussoir/elements/point/mass_pieces.hpp>

// The matrices of a point element in parts, for backends with several threads per element or too few registers for its
// matrices.
//
// If the law has pair_block and is the same at all points of an element, the tangent of functions f and g follows
// down to one small matrix
//   M = Σ_q w_q G_f ⊗ G_g,   G = (∇f, and in a ring f/r)
// With t = C : e_3 ⊗ e_3, the stress of a unit hoop strain, a ring adds to the law's block
//   [j = 1] t_ik M_k3 + [i = 1] t_jl M_3l + [i = j = 1] t_33 M_33
// B-bar replaces the divergence by its mean over the element. With s = C : 1, D = M − V Ḡ_f ⊗ Ḡ_g (Ḡ the means),
// A the rows of the divergence and B those of s : ∇ in terms of G, that adds
//   −⅓ (A D Bᵀ + B D Aᵀ) + ⅑ tr s · A D Aᵀ

namespace voussoir::detail {

template <class Element>
struct PointPieces;

template <class Kernel, class Shape, class Formulation>
struct PointPieces<PointElement<Kernel, Shape, Formulation>>
    : MassPieces<PointElement<Kernel, Shape, Formulation>, kernel_has_density<Kernel>> {
  using Element = PointElement<Kernel, Shape, Formulation>;
  using Points = IntegrationPoints<Kernel, Shape, Formulation>;
  using Functions = PointFunctions<Kernel, Shape, Formulation>;
  using Rule = typename Element::Rule;
  template <class R>
  using Input = typename Element::template Input<R>;
  template <class R>
  using Basis = typename Functions::template Basis<R>;

  static constexpr int dim = Element::dim, nodes = Element::nodes, components = Element::components;
  static constexpr int points = Element::points, functions = Element::functions, dofs = Element::dofs;
  static constexpr int mode_dofs = Element::modes * components;
  static constexpr bool hooped = Element::hooped, bbar = Element::bbar, uniform = Element::uniform;
  static constexpr bool incompatible = Element::incompatible;
  static constexpr int rows = dim + (hooped ? 1 : 0);  ///< of G

  /// Whether the tangent is computed by pairs of functions, as described above.
  static constexpr bool pairs = kernel_has_pair_block<Kernel> && !uniform;
  /// Whether tangent_to() is there.
  static constexpr bool streams = kernel_has_pair_block<Kernel> && !incompatible && !(uniform && hooped);
  /// Whether the contribution of a point to the tangent is independent of the other points.
  static constexpr bool by_points = Element::point_integrable;
  /// Few enough numbers for the registers of a thread, once all loops over them are unrolled.
  static constexpr bool small = points * functions * rows <= 48;

  // ---- Material ----

  static constexpr int law_constants = kernel_constants<Kernel>();
  static constexpr int hoop_numbers = hooped ? 6 : 0, volume_numbers = bbar ? 6 : 0;
  /// Number of material constants that block() reads in addition to the parameters.
  static constexpr int numbers = law_constants + hoop_numbers + volume_numbers;
  static constexpr int room_for_numbers = numbers > 0 ? numbers : 1;

  /// A point as pair_block sees it.
  template <class R>
  VSR_FN static Point<R> point_of(const R* parameters, const R* own) {
    Point<R> p;
    for (int k = 0; k < 3; ++k) p.x[k] = R(0.6 + 0.2 * k);  // some point: see UniformLaw::prepare()
    p.parameters = parameters;
    p.constants = own;
    p.temperature = R(300.0);
    p.temperature_change = R(10.0);
    return p;
  }
  /// Prepares the numbers of a material.
  template <class R>
  VSR_LARGE_FN static void prepare(const R* parameters, R* own) {
    if constexpr (law_constants > 0) Kernel::prepare(parameters, own);
    if constexpr (hooped || bbar) {
      const Point<R> p = point_of(parameters, own);
      const Mat3<R> none = zero_matrix<R, 3, 3>();
      Mat3<R> unit = none;
      unit(2, 2) = R(1.0);
      if constexpr (hooped) write_tensor(Kernel::dflux(p, none, unit), own + law_constants);
      unit(0, 0) = unit(1, 1) = R(1.0);
      if constexpr (bbar) write_tensor(Kernel::dflux(p, none, unit), own + law_constants + hoop_numbers);
    }
  }

  // ---- Points and pairs ----

  /// G of every function at point q, times the root of the volume there: put(f, k, value). Returns the health.
  template <class R, class Put>
  VSR_FN static R gradients_at(const Input<R>& e, int q, R& root, const Put& put) {
    const auto& table = shape_table<Shape, Rule>();
    R inv[dim][dim];
    const R det = Points::invert(e, table, q, inv);
    R r = R(1.0), health = det;
    if constexpr (Element::ring) {
      r = Points::radius(e, table, q);
      health = min(det, r);
    }
    const R volume = R(table.weight[q]) * det * Points::depth(e, r);
    root = sqrt(volume);
    for (int k = 0; k < dim; ++k)
      for (int m = 0; m < dim; ++m) inv[k][m] *= root;
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < dim; ++k) {
        R g = R(table.gradient[q][a][0]) * inv[k][0];
        for (int m = 1; m < dim; ++m) g += R(table.gradient[q][a][m]) * inv[k][m];
        put(a, k, g);
      }
    if constexpr (hooped) {
      const R f = root / r;
      for (int a = 0; a < nodes; ++a) put(a, dim, R(table.value[q][a]) * f);
    }
    if constexpr (incompatible) put_modes(e, q, volume, root, put);
    return health;
  }

  /// The tangent of a pair of functions. `parameters` and `own` are those of the material (prepare()); `spread` is D,
  /// read with B-bar alone.
  template <class R>
  VSR_FN static Mat<R, components, components> block(const R* parameters, const R* own, const R (&m)[rows][rows],
                                                     const R (&spread)[rows][rows]) {
    Mat3<R> outer = zero_matrix<R, 3, 3>();
    for (int k = 0; k < dim; ++k)
      for (int l = 0; l < dim; ++l) outer(k, l) = m[k][l];
    Mat<R, components, components> result = Kernel::pair_block(point_of(parameters, own), outer);
    if constexpr (hooped) add_hoop(read_tensor(own + law_constants), m, result);
    if constexpr (bbar) add_mean_volume(read_tensor(own + law_constants + hoop_numbers), spread, result);
    return result;
  }

  // ---- Products, point by point ----

  /// Whether a product can be done in parts: the forces at a point from the gradient there, then their sum over the
  /// points. For elements with too many nodes for the registers of a thread.
  static constexpr bool point_products =
      kernel_has_pair_block<Kernel> && Element::stands_alone && dim == 3 && nodes >= 15;

  /// The constants that flow_at() needs.
  template <class R>
  VSR_FN static void prepare_law(const R* parameters, R* own) {
    if constexpr (requires { Kernel::prepare_for_products(parameters, own); })
      Kernel::prepare_for_products(parameters, own);
    else if constexpr (law_constants > 0)
      Kernel::prepare(parameters, own);
  }
  /// ∂N_a/∂ξ_m at point q.
  VSR_FN static double reference_slope(int q, int a, int m) { return shape_table<Shape, Rule>().gradient[q][a][m]; }

  /// The forces at point q in the directions of the cell, from the Jacobian and the change of the unknowns in these
  /// directions. Returns the health.
  template <class R>
  VSR_FN static R flow_at(const R* parameters, const R* own, int q, const R (&jacobian)[dim][dim],
                          const R (&change)[components][dim], R (&force)[components][dim]) requires point_products {
    R inv[dim][dim];
    const R det = invert_jacobian<dim>(jacobian, inv);
    const R volume = R(shape_table<Shape, Rule>().weight[q]) * det;
    typename Element::template Gradient<R> grad = zero_matrix<R, Element::rows, 3>();
    for (int i = 0; i < components; ++i)
      for (int k = 0; k < dim; ++k) {
        grad(i, k) = change[i][0] * inv[k][0];
        for (int m = 1; m < dim; ++m) grad(i, k) += change[i][m] * inv[k][m];
      }
    const typename Element::template Gradient<R> flux = Kernel::dflux(point_of(parameters, own), grad, grad);
    for (int i = 0; i < components; ++i)
      for (int m = 0; m < dim; ++m) {
        R sum = flux(i, 0) * inv[0][m];
        for (int k = 1; k < dim; ++k) sum += flux(i, k) * inv[k][m];
        force[i][m] = volume * sum;
      }
    return det;
  }

  // ---- Whole matrices, entry by entry ----

  /// The tangent of an element whose material does not vary: write(place in the upper triangle, value), each entry
  /// once.
  template <class R, class Write>
  VSR_FN static R tangent_to(const Input<R>& e, const Write& write) requires streams {
    R own[room_for_numbers];
    prepare(e.table + 1, own);
    if constexpr (uniform)
      return uniform_tangent(e, own, write);
    else
      return paired_tangent(e, own, write);
  }

  /// The contribution of point q to the tangent: visit(place, value) for every entry, in the same order at every point.
  /// `share` 0 makes all of it zero.
  template <class R, class Visit>
  VSR_FN static R point_tangent(const Input<R>& e, int q, R share, const Visit& visit) requires by_points {
    Basis<R> basis;
    const R health = basis_at(e, q, basis);
    const R weight = share * basis.volume;
    PointMaterial<Kernel, Shape, Formulation, R> material;
    Point<R> p = material.begin(e);
    material.move(e, Points::value_at(q), p);
    typename Element::template Gradient<R> grad = zero_matrix<R, Element::rows, 3>();
    if constexpr (!Element::linear) grad = Functions::gradient_of(basis, e.u);
    VSR_ROLLED
    for (int b = 0; b < nodes; ++b)
      for (int j = 0; j < components; ++j) {
        const auto flux = weight * Kernel::dflux(p, grad, Functions::unit_gradient(basis, b, j));
        VSR_ROLLED
        for (int a = 0; a <= b; ++a)
          for (int i = 0; i < components; ++i)
            if (i <= j || a != b)
              visit(upper_index<dofs>(a * components + i, b * components + j), Functions::work(basis, a, i, flux));
      }
    return health;
  }

 private:
  static constexpr int means = bbar ? 1 : 0;

  /// The contribution of hoop strain to the tangent of a pair.
  template <class R>
  VSR_FN static void add_hoop(const Mat3<R>& t, const R (&m)[rows][rows], Mat<R, components, components>& block) {
    for (int i = 0; i < dim; ++i)
      for (int k = 0; k < dim; ++k) {
        block(i, 0) += t(i, k) * m[k][rows - 1];
        block(0, i) += t(i, k) * m[rows - 1][k];
      }
    block(0, 0) += t(2, 2) * m[rows - 1][rows - 1];
  }

  /// What B-bar changes in the tangent of a pair.
  template <class R>
  VSR_FN static void add_mean_volume(const Mat3<R>& s, const R (&spread)[rows][rows],
                                     Mat<R, components, components>& block) {
    const R ninth = R(1.0 / 9.0) * trace(s);
    R a_d[dim][rows], d_a[rows][dim];  // A D and D Aᵀ
    for (int i = 0; i < dim; ++i)
      for (int k = 0; k < rows; ++k) {
        const bool radial = hooped && i == 0;
        a_d[i][k] = radial ? spread[i][k] + spread[rows - 1][k] : spread[i][k];
        d_a[k][i] = radial ? spread[k][i] + spread[k][rows - 1] : spread[k][i];
      }
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j) {
        R mixed = R(0.0), both = a_d[i][j];
        for (int k = 0; k < dim; ++k) mixed += a_d[i][k] * s(j, k) + s(i, k) * d_a[k][j];
        if (hooped && j == 0) {
          mixed += a_d[i][rows - 1] * s(2, 2);
          both += a_d[i][rows - 1];
        }
        if (hooped && i == 0) mixed += s(2, 2) * d_a[rows - 1][j];
        block(i, j) += ninth * both - R(1.0 / 3.0) * mixed;
      }
  }

  /// The modes of an element that bends, as PointFunctions::add_modes has them.
  template <class R, class Put>
  VSR_FN static void put_modes(const Input<R>& e, int q, R volume, R root, const Put& put) {
    const auto& centre = shape_table<Shape, typename Points::Centre>();
    const auto& rule = rule_points<Rule>();
    R inv[dim][dim];
    const R det = Points::invert(e, centre, 0, inv);
    R r = R(1.0);
    if constexpr (Element::ring) r = Points::radius(e, centre, 0);
    const R ratio = root * (det * Points::depth(e, r) * R(rule.weight[q]) / volume);
    for (int m = 0; m < dim; ++m) {
      const R f = R(-2.0 * rule.xi[q][m]) * ratio;
      for (int k = 0; k < dim; ++k) put(nodes + m, k, f * inv[k][m]);
      if constexpr (hooped) put(nodes + m, dim, R(0.0));
    }
  }

  /// The basis at one point from the table of the shape, for a point known only at run time.
  template <class R>
  VSR_FN static R basis_at(const Input<R>& e, int q, Basis<R>& b) {
    const auto& table = shape_table<Shape, Rule>();
    R inv[dim][dim];
    const R det = Points::invert(e, table, q, inv);
    R r = R(1.0);
    if constexpr (Element::ring) r = Points::radius(e, table, q);
    b.volume = R(table.weight[q]) * det * Points::depth(e, r);
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < dim; ++k) {
        R g = R(table.gradient[q][a][0]) * inv[k][0];
        for (int m = 1; m < dim; ++m) g += R(table.gradient[q][a][m]) * inv[k][m];
        b.gradient[a][k] = g;
        if constexpr (hooped)
          if (k == 0) b.hoop[a] = R(table.value[q][a]) / r;
      }
    if constexpr (Element::ring)
      return min(det, r);
    else
      return det;
  }

  template <class R, class Write>
  VSR_FN static void write_block(int a, int b, const Mat<R, components, components>& k, const Write& write) {
    for (int i = 0; i < components; ++i)
      for (int j = 0; j < components; ++j)
        if (j >= i || b != a) write(upper_index<dofs>(a * components + i, b * components + j), k(i, j));
  }

  template <class R, class Write>
  VSR_FN static R paired_tangent(const Input<R>& e, const R* own, const Write& write) {
    R g[points + means][functions][rows], root[points];
    R health = R(1e300);
    const auto visit = [&](int q) {
      health = min(health, gradients_at(e, q, root[q], [&](int f, int k, R value) { g[q][f][k] = value; }));
    };
    const auto pair = [&](int a, int b) {
      R m[rows][rows], spread[rows][rows];
      for (int k = 0; k < rows; ++k)
        for (int l = 0; l < rows; ++l) m[k][l] = g[0][a][k] * g[0][b][l];
      VSR_UNROLLED
      for (int q = 1; q < points; ++q)
        for (int k = 0; k < rows; ++k)
          for (int l = 0; l < rows; ++l) m[k][l] += g[q][a][k] * g[q][b][l];
      if constexpr (bbar)
        for (int k = 0; k < rows; ++k)
          for (int l = 0; l < rows; ++l) spread[k][l] = m[k][l] - g[points][a][k] * g[points][b][l];
      write_block(a, b, block(e.table + 1, own, m, spread), write);
    };
    if constexpr (small) {
      VSR_UNROLLED
      for (int q = 0; q < points; ++q) visit(q);
      if constexpr (bbar) make_means(g, root);
      VSR_UNROLLED
      for (int a = 0; a < nodes; ++a) {
        VSR_UNROLLED
        for (int b = a; b < nodes; ++b) pair(a, b);
      }
    } else {
      VSR_ROLLED
      for (int q = 0; q < points; ++q) visit(q);
      if constexpr (bbar) make_means(g, root);
      VSR_ROLLED
      for (int a = 0; a < nodes; ++a) {
        VSR_ROLLED
        for (int b = a; b < nodes; ++b) pair(a, b);
      }
    }
    return health;
  }

  /// The means of G, times the root of the element's volume, behind the points.
  template <class R>
  VSR_FN static void make_means(R (&g)[points + means][functions][rows], const R (&root)[points]) {
    R volume = R(0.0);
    for (int q = 0; q < points; ++q) volume += root[q] * root[q];
    const R scale = R(1.0) / sqrt(volume);
    for (int f = 0; f < functions; ++f)
      for (int k = 0; k < rows; ++k) {
        R sum = root[0] * g[0][f][k];
        for (int q = 1; q < points; ++q) sum += root[q] * g[q][f][k];
        g[points][f][k] = scale * sum;
      }
  }

  template <class R, class Write>
  VSR_FN static R uniform_tangent(const Input<R>& e, const R* own, const Write& write) {
    Basis<R> mean;
    R health = R(1e300);
    Functions::clear(mean);
    VSR_ROLLED
    for (int q = 0; q < Rule::points; ++q) {
      Basis<R> b;
      health = min(health, basis_at(e, q, b));
      mean.volume += b.volume;
      for (int a = 0; a < nodes; ++a)
        for (int k = 0; k < dim; ++k) mean.gradient[a][k] += b.volume * b.gradient[a][k];
    }
    const R f = R(1.0) / mean.volume;
    for (int a = 0; a < nodes; ++a)
      for (int k = 0; k < dim; ++k) mean.gradient[a][k] *= f;
    const Hourglass<Kernel, Shape, Formulation, R> hourglass(e, mean);
    VSR_UNROLLED
    for (int a = 0; a < nodes; ++a) {
      VSR_UNROLLED
      for (int b = a; b < nodes; ++b) {
        R m[rows][rows];
        for (int k = 0; k < rows; ++k)
          for (int l = 0; l < rows; ++l) m[k][l] = mean.volume * mean.gradient[a][k] * mean.gradient[b][l];
        Mat<R, components, components> k = block(e.table + 1, own, m, m);
        const R prescribed = hourglass.stiffness * hourglass.product(a, b);
        for (int i = 0; i < components; ++i) k(i, i) += prescribed;
        write_block(a, b, k, write);
      }
    }
    return health;
  }
};

}  // namespace voussoir::detail
