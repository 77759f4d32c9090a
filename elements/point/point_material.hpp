#pragma once
#include <voussoir/elements/kernel/thermal_expansion.hpp>
#include <voussoir/elements/point/formulation.hpp>

// The material at the points of an element: its properties, the temperature, and the constants derived from both.

namespace voussoir::detail {

/// Nodal temperatures as an elastic element interpolates them: to the order of its strains, so that free expansion does
/// not cause spurious stresses. Quad4 and Hex8 have one temperature, the mean; Quad8 and Hex20 the
/// multilinear field through the values at the 2 × 2 (× 2) Gauss points. Incompatible modes let a Quad4 or Hex8 bend
/// under a gradient, so these and all other shapes use the nodal values directly.
template <class Shape, class Formulation, class R>
VSR_LARGE_FN void strain_order_temperatures(const R* given, R* t) {
  constexpr int nodes = Shape::nodes;
  if constexpr (multilinear<Shape> && !same<Formulation, Incompatible>) {
    R sum = given[0];
    for (int a = 1; a < nodes; ++a) sum += given[a];
    for (int a = 0; a < nodes; ++a) t[a] = R(1.0 / nodes) * sum;
  } else if constexpr (same<Shape, Quad8> || same<Shape, Hex20>) {
    using Rule = typename ElementRules<Shape, Geometry::solid>::ReducedStiffness;
    const auto& table = shape_table<Shape, Rule>();
    const auto& q = rule_points<Rule>();
    R at_point[Rule::points];
    for (int g = 0; g < Rule::points; ++g) {
      at_point[g] = R(table.value[g][0]) * given[0];
      for (int a = 1; a < nodes; ++a) at_point[g] += R(table.value[g][a]) * given[a];
    }
    for (int a = 0; a < nodes; ++a) {
      t[a] = R(0.0);
      for (int g = 0; g < Rule::points; ++g) {
        double weight = 1;  // of the Gauss points' own multilinear interpolation, whose points lie at ±1/√3
        for (int k = 0; k < Shape::dim; ++k) weight *= 0.5 * (1 + 3 * q.xi[g][k] * Shape::node(a, k));
        t[a] += R(weight) * at_point[g];
      }
    }
  } else {
    for (int a = 0; a < nodes; ++a) t[a] = given[a];
  }
}

/// Positive unless a row of an element's table has invalid parameters: those that the law rejects, or a thickness that
/// is not positive.
template <class Kernel, Geometry geometry, int parameter_count, class R, class Input>
VSR_FN R least_valid(const Input& e) {
  R least = R(1.0);
  for (int row = 0; row < e.table_rows; ++row) {
    [[maybe_unused]] const R* parameters = e.table + row * (parameter_count + 1) + 1;
    if constexpr (requires { Kernel::valid(parameters); }) least = min(least, Kernel::valid(parameters));
    if constexpr (geometry == Geometry::plane) least = min(least, parameters[parameter_count - 1]);
  }
  return least;
}

/// The material at the points of one element. Values that do not vary within the element are prepared once. (The point
/// itself is a separate variable of the callers, so that the compiler can keep it in registers.)
template <class Kernel, class Shape, class Formulation, class R>
struct PointMaterial {
  static constexpr int nodes = Shape::nodes;
  static constexpr int count = kernel_parameters<Kernel>(), constants = kernel_constants<Kernel>();
  R own_parameters[count + 1];  // one more: a plane element's row ends with its thickness
  R own_constants[constants > 0 ? constants : 1];
  R temperature[nodes], initial[nodes];  // as the element takes them; meaningful where it has any
  bool varies;

  template <class Input>
  VSR_FN Point<R> begin(const Input& e) {
    varies = e.table_rows > 1;
    if (e.has_temperature) {
      if constexpr (kernel_symmetric<Kernel>()) {
        strain_order_temperatures<Shape, Formulation>(e.temperature, temperature);
        strain_order_temperatures<Shape, Formulation>(e.initial_temperature, initial);
      } else {
        for (int a = 0; a < nodes; ++a) {
          temperature[a] = e.temperature[a];
          initial[a] = e.initial_temperature[a];
        }
      }
    }
    Point<R> p;
    p.x = zero_vector<R, 3>();
    p.parameters = varies ? own_parameters : e.table + 1;
    p.constants = own_constants;
    p.temperature = e.initial_temperature[0];
    p.temperature_change = R(0.0);
    p.time = e.time;
    p.time_step = e.time_step;
    prepare(e.table + 1);
    return p;
  }

  /// Moves to the point at which the shape functions are `value`.
  template <class Input>
  VSR_FN void move(const Input& e, const double* value, Point<R>& p) {
    for (int k = 0; k < 3; ++k) {
      p.x[k] = R(value[0]) * e.x[0][k];
      for (int a = 1; a < nodes; ++a) p.x[k] += R(value[a]) * e.x[a][k];
    }
    if (e.has_temperature) {
      R t = R(value[0]) * temperature[0], start = R(value[0]) * initial[0];
      for (int a = 1; a < nodes; ++a) {
        t += R(value[a]) * temperature[a];
        start += R(value[a]) * initial[a];
      }
      p.temperature = t;
      p.temperature_change = t - start;
      if (varies) vary(e, start, t);
    } else if (varies) {
      vary(e, p.temperature, p.temperature);
    }
  }

 private:
  template <class Input>
  VSR_LARGE_FN void vary(const Input& e, R start, R t) {
    parameters_between<Kernel>(e, start, t, own_parameters);
    prepare(own_parameters);
  }
  VSR_FN void prepare(const R* parameters) {
    if constexpr (constants > 0) Kernel::prepare(parameters, own_constants);
  }
};

}  // namespace voussoir::detail
