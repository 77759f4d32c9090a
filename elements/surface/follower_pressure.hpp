#pragma once
#include <voussoir/elements/surface/face.hpp>

namespace voussoir {

/// A pressure that follows the deformed faces of a solid: force −p n da with the normal n and the area da of the
/// deformed face. The tangent is the symmetric part of the derivative. Where the edges of the surface are supported, or
/// the surface is closed, the rest of it vanishes; elsewhere, Newton's method takes some more iterations for the same
/// solution.
template <class Shape>
struct FollowerPressure {
  using Surface = Face<Shape, Geometry::solid>;                  ///< the face it acts on
  static constexpr int nodes = Shape::nodes,                     ///< nodes per face
      components = 3,                                            ///< unknowns per node
      parameter_count = 1,                                       ///< the pressure
      dofs = nodes * components;                                 ///< degrees of freedom per face
  static constexpr const char* shape = Shape::name;              ///< name of the shape
  static constexpr bool has_tangent = true,                      ///< it depends on the displacements,
      linear = false,                                            ///< and not linearly
      reads_temperature = false;                                 ///< temperature acts only through parameters
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};  ///< names of the unknowns
  static constexpr const char* parameters[] = {"pressure"};      ///< force per deformed area
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// Minus the nodal forces of the pressure. Returns the smallest FacePiece::stretch of the deformed face.
  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    const R pressure = pressure_of(e);
    Vec3<R> x[nodes];
    deform(e, x);
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    R smallest = R(1e300);
    for (int q = 0; q < Surface::points; ++q) {
      const FacePiece<R> piece = Surface::piece(x, q, R(1.0));
      smallest = min(smallest, piece.stretch);
      for (int a = 0; a < nodes; ++a)
        for (int c = 0; c < 3; ++c) r[a * 3 + c] += R(Surface::value(q, a)) * pressure * piece.area_vector[c];
    }
    return smallest;
  }

  /// The symmetric part of the derivative of the residual: the upper triangle, by rows. With the tangents t₁, t₂ of the
  /// deformed face and g_b = ∂₂N_b t₁ − ∂₁N_b t₂, the block of nodes a and b is ½ p w [(N_a g_b − N_b g_a) ×].
  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* upper) {
    const R pressure = pressure_of(e);
    Vec3<R> x[nodes];
    deform(e, x);
    for (int i = 0; i < dofs * (dofs + 1) / 2; ++i) upper[i] = R(0.0);
    const auto& table = shape_table<Shape, typename Surface::Rule>();
    R smallest = R(1e300);
    for (int q = 0; q < Surface::points; ++q) {
      smallest = min(smallest, Surface::piece(x, q, R(1.0)).stretch);
      Vec3<R> t[2];
      for (int k = 0; k < 2; ++k) {
        t[k] = zero_vector<R, 3>();
        for (int a = 0; a < nodes; ++a)
          for (int i = 0; i < 3; ++i) t[k][i] += R(table.gradient[q][a][k]) * x[a][i];
      }
      const R weight = R(0.5 * table.weight[q]) * pressure;
      int at = 0;
      for (int a = 0; a < nodes; ++a)
        for (int i = 0; i < 3; ++i)
          for (int b = a; b < nodes; ++b)
            for (int j = a == b ? i : 0; j < 3; ++j, ++at) {
              if (i == j || a == b) continue;
              const int k = 3 - i - j;  // the block is a cross product: its entry (i, j) is ∓ component k
              const R along =
                  R(table.value[q][a] * table.gradient[q][b][1] - table.value[q][b] * table.gradient[q][a][1]) *
                      t[0][k] -
                  R(table.value[q][a] * table.gradient[q][b][0] - table.value[q][b] * table.gradient[q][a][0]) *
                      t[1][k];
              const bool positive = (i + 1) % 3 != j;
              upper[at] += positive ? weight * along : -(weight * along);
            }
    }
    return smallest;
  }

 private:
  template <class R>
  VSR_FN static R pressure_of(const Input<R>& e) {
    R mean = R(0.0), p[1];
    for (int a = 0; a < nodes; ++a) mean += e.temperature[a] * R(1.0 / nodes);
    e.parameters_at(mean, p);
    return p[0];
  }
  template <class R>
  VSR_FN static void deform(const Input<R>& e, Vec3<R>* x) {
    for (int a = 0; a < nodes; ++a)
      for (int i = 0; i < 3; ++i) x[a][i] = e.x[a][i] + e.u[a * 3 + i];
  }
};

}  // namespace voussoir
