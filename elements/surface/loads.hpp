#pragma once
#include <voussoir/elements/surface/face.hpp>

// Surface loads, as elements: they share the nodes of the face that they act on. A residual is internal minus external
// force, so that of a load is minus its force. None but convection and radiation have a tangent. Parameters may differ
// from element to element, like those of any element; loads on plane bodies take the body's thickness as their last
// parameter.

namespace voussoir {

/// Common base of all surface loads. `Load` defines the number of unknowns per node and the force
/// is at a point.
template <class Load, class Shape, Geometry geometry_>
struct FaceLoad {
  using Surface = Face<Shape, geometry_>;
  static constexpr int nodes = Shape::nodes;
  static constexpr int components = Load::template components<geometry_>;
  static constexpr int own_parameters = Load::template own_parameters<geometry_>;
  static constexpr int parameter_count = own_parameters + Surface::extra_parameters;
  static constexpr int dofs = nodes * components;
  static constexpr const char* shape = Shape::name;
  static constexpr bool has_tangent = Load::depends_on_unknowns;
  static constexpr bool linear = Load::linear, reads_temperature = false;

  /// Names of unknowns or parameters, with a constant size.
  struct Names {
    const char* text[3 + 1];
    constexpr const char* operator[](int i) const { return text[i]; }
  };
  static constexpr Names unknowns = {
      {Load::unknowns[0], components > 1 ? Load::unknowns[1] : "", components > 2 ? Load::unknowns[2] : "", ""}};
  static constexpr Names make_parameters() {
    Names names{{"", "", "", ""}};
    for (int i = 0; i < own_parameters; ++i) names.text[i] = Load::parameters[i];
    if (Surface::extra_parameters) names.text[own_parameters] = "thickness";
    return names;
  }
  static constexpr Names parameters = make_parameters();
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// The load's parameters, evaluated at the mean temperature of the face.
  template <class R>
  VSR_FN static void numbers(const Input<R>& e, R* p) {
    R mean = R(0.0);
    for (int a = 0; a < nodes; ++a) mean += e.temperature[a] * R(1.0 / nodes);
    e.parameters_at(mean, p);
  }

  template <class R>
  VSR_FN static R valid(const Input<R>& e) {
    if constexpr (Surface::extra_parameters > 0) {
      R p[parameter_count];
      numbers(e, p);
      return p[own_parameters];
    } else {
      return R(1.0);
    }
  }

  template <class R>
  VSR_LARGE_FN static R residual(const Input<R>& e, R* r) {
    R p[parameter_count];
    numbers(e, p);
    for (int i = 0; i < dofs; ++i) r[i] = R(0.0);
    R smallest = R(1e300);
    for (int q = 0; q < Surface::points; ++q) {
      const FacePiece<R> piece = Surface::piece(e.x, q, p[parameter_count - 1]);
      smallest = min(smallest, piece.stretch);
      R unknown = R(0.0);
      if constexpr (Load::depends_on_unknowns)
        for (int a = 0; a < nodes; ++a) unknown += R(Surface::value(q, a)) * e.u[a];
      Vec3<R> force;
      Load::template force<components>(p, piece, unknown, force);
      for (int a = 0; a < nodes; ++a)
        for (int c = 0; c < components; ++c) r[a * components + c] -= R(Surface::value(q, a)) * force[c];
    }
    return smallest;
  }

  /// Used only by convection and radiation.
  template <class R>
  VSR_LARGE_FN static R tangent(const Input<R>& e, R* upper) {
    R p[parameter_count];
    numbers(e, p);
    for (int i = 0; i < dofs * (dofs + 1) / 2; ++i) upper[i] = R(0.0);
    R smallest = R(1e300);
    if constexpr (Load::depends_on_unknowns)
      for (int q = 0; q < Surface::points; ++q) {
        const FacePiece<R> piece = Surface::piece(e.x, q, p[parameter_count - 1]);
        smallest = min(smallest, piece.stretch);
        R unknown = R(0.0);
        if constexpr (!linear)
          for (int a = 0; a < nodes; ++a) unknown += R(Surface::value(q, a)) * e.u[a];
        const R slope = Load::slope(p, piece, unknown);
        int at = 0;
        for (int a = 0; a < nodes; ++a)
          for (int b = a; b < nodes; ++b) upper[at++] += slope * R(Surface::value(q, a) * Surface::value(q, b));
      }
    return smallest;
  }
};

namespace detail {

struct MechanicalLoad {
  template <Geometry geometry>
  static constexpr int components = geometry == Geometry::solid ? 3 : 2;
  static constexpr bool depends_on_unknowns = false, linear = true;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
};

struct HeatLoad {
  template <Geometry geometry>
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"T"};
};

}  // namespace detail

/// A pressure that pushes into the face: force −p n dA, n the outward normal.
struct PressureLoad : detail::MechanicalLoad {
  template <Geometry geometry>
  static constexpr int own_parameters = 1;
  static constexpr const char* parameters[] = {"pressure"};
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R, Vec3<R>& f) {
    for (int i = 0; i < count; ++i) f[i] = -p[0] * piece.area_vector[i];
  }
};

/// A force per area in global directions.
struct TractionLoad : detail::MechanicalLoad {
  template <Geometry geometry>
  static constexpr int own_parameters = geometry == Geometry::solid ? 3 : 2;
  static constexpr const char* parameters[] = {"tx", "ty", "tz"};
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R, Vec3<R>& f) {
    for (int i = 0; i < count; ++i) f[i] = p[i] * piece.area;
  }
};

/// Heat that flows into the body, per area and time.
struct FluxLoad : detail::HeatLoad {
  template <Geometry geometry>
  static constexpr int own_parameters = 1;
  static constexpr bool depends_on_unknowns = false, linear = true;
  static constexpr const char* parameters[] = {"flux"};
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R, Vec3<R>& f) {
    f[0] = p[0] * piece.area;
  }
};

/// Exchange of heat with a medium: film · (T − sink) leaves the body, per area and time.
struct ConvectionLoad : detail::HeatLoad {
  template <Geometry geometry>
  static constexpr int own_parameters = 2;
  static constexpr bool depends_on_unknowns = true, linear = true;
  static constexpr const char* parameters[] = {"film", "sink"};
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R temperature, Vec3<R>& f) {
    f[0] = p[0] * (p[1] - temperature) * piece.area;
  }
  template <class R>
  VSR_FN static R slope(const R* p, const FacePiece<R>& piece, R) {
    return p[0] * piece.area;
  }
};

/// Radiation to surroundings: coefficient · (θ⁴ − θ_sink⁴) leaves the body, per area and time, with θ the temperature
/// above absolute zero. The power is continued below zero as −|θ|⁴, so that iterates that overshoot recover.
struct RadiationLoad : detail::HeatLoad {
  template <Geometry geometry>
  static constexpr int own_parameters = 3;
  static constexpr bool depends_on_unknowns = true, linear = false;
  static constexpr const char* parameters[] = {"coefficient", "sink", "absolute_zero"};
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R temperature, Vec3<R>& f) {
    const R own = temperature - p[2], sink = p[1] - p[2];
    f[0] = p[0] * (sink * cube(sink) - own * cube(own)) * piece.area;
  }
  template <class R>
  VSR_FN static R slope(const R* p, const FacePiece<R>& piece, R temperature) {
    return R(4.0) * p[0] * cube(temperature - p[2]) * piece.area;
  }

 private:
  template <class R>
  VSR_FN static R cube(R x) {
    return abs(x) * x * x;
  }
};

}  // namespace voussoir
