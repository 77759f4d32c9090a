#pragma once
#include <voussoir/elements/surface/face.hpp>

// Surface loads as elements on the nodes of the face that they act on. A residual is internal minus external force, so
// that of a load is its negative force. Only convection and radiation have a tangent. Parameters may differ from
// element to element, as for any element; the last parameter of loads on plane bodies is the thickness.

namespace voussoir {

/// The element kernel of a surface load. `Load` defines the unknowns per node, the parameters and the force at a point.
template <class Load, class Shape, Geometry geometry_>
struct FaceLoad {
  using Surface = Face<Shape, geometry_>;                                             ///< the face it acts on
  static constexpr int nodes = Shape::nodes;                                          ///< nodes per face
  static constexpr int components = Load::template components<geometry_>;             ///< unknowns per node
  static constexpr int own_parameters = Load::template own_parameters<geometry_>;     ///< parameters of the load
  static constexpr int parameter_count = own_parameters + Surface::extra_parameters;  ///< with the thickness
  static constexpr int dofs = nodes * components;                                     ///< degrees of freedom per face
  static constexpr const char* shape = Shape::name;                                   ///< name of the shape
  static constexpr bool has_tangent = Load::depends_on_unknowns;  ///< whether the load depends on the unknowns
  static constexpr bool linear = Load::linear,                    ///< whether the force is linear in the unknowns
      reads_temperature = false;                                  ///< temperature acts only through parameters

  /// Names of unknowns or parameters; unused ones are empty.
  struct Names {
    const char* text[3 + 1];                                           ///< the names
    constexpr const char* operator[](int i) const { return text[i]; }  ///< name i
  };
  /// Names of the unknowns.
  static constexpr Names unknowns = {
      {Load::unknowns[0], components > 1 ? Load::unknowns[1] : "", components > 2 ? Load::unknowns[2] : "", ""}};
  /// The names of the load's parameters, followed by "thickness" for plane bodies.
  static constexpr Names make_parameters() {
    Names names{{"", "", "", ""}};
    for (int i = 0; i < own_parameters; ++i) names.text[i] = Load::parameters[i];
    if (Surface::extra_parameters) names.text[own_parameters] = "thickness";
    return names;
  }
  static constexpr Names parameters = make_parameters();  ///< names of the parameters
  /// The data of an element.
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  /// The load's parameters, evaluated at the mean temperature of the face.
  template <class R>
  VSR_FN static void numbers(const Input<R>& e, R* p) {
    R mean = R(0.0);
    for (int a = 0; a < nodes; ++a) mean += e.temperature[a] * R(1.0 / nodes);
    e.parameters_at(mean, p);
  }

  /// Positive unless the body is plane and its thickness is not positive.
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

  /// Minus the nodal forces of the load. Returns the smallest FacePiece::stretch.
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

  /// The tangent of convection and radiation: the upper triangle, by rows. Returns the smallest FacePiece::stretch.
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

/// A pressure: force −p n dA with the outward normal n, so that a positive pressure pushes against the face.
struct PressureLoad : detail::MechanicalLoad {
  /// Number of parameters of the load.
  template <Geometry geometry>
  static constexpr int own_parameters = 1;
  static constexpr const char* parameters[] = {"pressure"};  ///< force per area
  /// The force of the load on a part of the face.
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R, Vec3<R>& f) {
    for (int i = 0; i < count; ++i) f[i] = -p[0] * piece.area_vector[i];
  }
};

/// A traction: force per area in global directions.
struct TractionLoad : detail::MechanicalLoad {
  /// Number of parameters of the load.
  template <Geometry geometry>
  static constexpr int own_parameters = geometry == Geometry::solid ? 3 : 2;
  static constexpr const char* parameters[] = {"tx", "ty", "tz"};  ///< components of the force per area
  /// The force of the load on a part of the face.
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R, Vec3<R>& f) {
    for (int i = 0; i < count; ++i) f[i] = p[i] * piece.area;
  }
};

/// A heat flux into the body, per area and time.
struct FluxLoad : detail::HeatLoad {
  /// Number of parameters of the load.
  template <Geometry geometry>
  static constexpr int own_parameters = 1;
  static constexpr bool depends_on_unknowns = false,     ///< independent of the temperature
      linear = true;                                     ///< linear in the temperature
  static constexpr const char* parameters[] = {"flux"};  ///< heat per area and time
  /// The heat flow into the body through a part of the face.
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R, Vec3<R>& f) {
    f[0] = p[0] * piece.area;
  }
};

/// Convection: the heat film · (T − sink) leaves the body per area and time.
struct ConvectionLoad : detail::HeatLoad {
  /// Number of parameters of the load.
  template <Geometry geometry>
  static constexpr int own_parameters = 2;
  static constexpr bool depends_on_unknowns = true,              ///< depends on the temperature
      linear = true;                                             ///< linear in the temperature
  static constexpr const char* parameters[] = {"film", "sink"};  ///< film coefficient and sink temperature
  /// The heat flow into the body through a part of the face.
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R temperature, Vec3<R>& f) {
    f[0] = p[0] * (p[1] - temperature) * piece.area;
  }
  /// Minus the derivative of force() with respect to the temperature.
  template <class R>
  VSR_FN static R slope(const R* p, const FacePiece<R>& piece, R) {
    return p[0] * piece.area;
  }
};

/// Radiation to the surroundings: the heat coefficient · (θ⁴ − θ_sink⁴) leaves the body per area and time, with θ the
/// temperature above absolute zero. Below zero, the power is continued as −|θ|⁴, so that iterates that overshoot
/// recover.
struct RadiationLoad : detail::HeatLoad {
  /// Number of parameters of the load.
  template <Geometry geometry>
  static constexpr int own_parameters = 3;
  static constexpr bool depends_on_unknowns = true,  ///< depends on the temperature
      linear = false;                                ///< not linear in the temperature
  /// Emissivity times the Stefan–Boltzmann constant, ambient temperature, and the temperature of absolute zero.
  static constexpr const char* parameters[] = {"coefficient", "sink", "absolute_zero"};
  /// The heat flow into the body through a part of the face.
  template <int count, class R>
  VSR_FN static void force(const R* p, const FacePiece<R>& piece, R temperature, Vec3<R>& f) {
    const R own = temperature - p[2], sink = p[1] - p[2];
    f[0] = p[0] * (sink * cube(sink) - own * cube(own)) * piece.area;
  }
  /// Minus the derivative of force() with respect to the temperature.
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
