#pragma once
#include <voussoir/elements/kernel/tensor.hpp>

// An ElementKernel computes a whole element: trusses, beams, springs, and, through PointElement, every combination of a
// PointKernel with a shape. It is a struct of static functions:
//
//   struct Truss {
//     static constexpr const char* name = "truss";                  // the element type's name
//     static constexpr int nodes = 2, components = 3;
//     static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
//     static constexpr const char* parameters[] = {"young", "area"};
//     template <class R> using Input = ElementInput<R, nodes, components, parameter_count>;
//
//     template <class R>   // upper triangle by rows, all written
//     VSR_FN static R tangent(const Input<R>& e, R* upper);
//   };
//
// Every function returns a number per element that is positive unless the element is inverted or has no volume.
// Optional members, with the behaviour without them:
//   residual(e, r)             internal minus external force; default: tangent · unknowns
//   action(e, du, r)           tangent · du without storing the tangent; default: by tangent()
//   mass(e, upper)             consistent mass; default: the element has no mass
//   lumped_mass(e, upper)      diagonal mass; default: HRZ lumping of mass()
//   body_load(e, load, f)      external force of a body load; `load` is a template argument with the members of
//                              BodyLoad; default: takes no body load
//   points, recovered[], recover(e, out)   results at points; default: none
//   static void extrapolation(double* nodes_by_points), host only, with static constexpr bool extrapolates = true
//   valid(e)                   a number per element, positive unless its parameters are invalid (a negative area,
//                              an orientation along the axis); then the element is reported instead of computed wrong
//   static constexpr const char* shape     the shape that its nodes form, "line2"; default: none
//   static constexpr bool linear = true    tangent and action do not read e.u, which then need not be fetched for them
//   static constexpr bool scalar = true    R is always double
//   static constexpr bool symmetric = false     tangent() writes the whole matrix, by rows, since it is not symmetric
//   static constexpr const char* history[], advance(e, next)
//                              numbers that the element remembers from step to step: e.history_at(k) is number k of
//                              the last committed step, and advance() writes what follows from it and from e.u
//   static constexpr bool has_tangent = false   a load or a mass: no tangent at all (then residual is required)
//   static constexpr bool reads_temperature = false   the functions do not read e.temperature but for parameters_at(),
//                              parameters_between() and thermal strain. Without it, an element whose unknown is T is
//                              solved by iteration, since its temperature is the unknown

namespace voussoir {

/// The data of one element for a kernel (of `pack_width` elements if R is a Pack).
template <class R, int nodes, int components, int parameter_count>
struct ElementInput {
  Vec3<R> x[nodes];              ///< coordinates of the nodes
  R u[nodes * components];       ///< unknowns, node by node
  R temperature[nodes];          ///< nodal temperatures; the initial ones if the model has no others
  R initial_temperature[nodes];  ///< nodal temperatures at which thermal strain is zero
  double expansion_reference;    ///< reference temperature of tabulated expansion; see parameters_between()
  bool has_temperature;          ///< false if all temperatures of the model are one number
  const R* table;                ///< rows of (temperature, parameters…), ascending in temperature
  int table_rows;                ///< rows of `table`; 1 if no parameter depends on temperature
  const R* history;              ///< committed history; null if all is zero. Read it by history_at()
  int history_stride;            ///< distance between history variables of one element
  double time;                   ///< at the end of the step that is being solved
  double time_step;              ///< 0 where the analysis has no time

  /// History variable k of the last committed step.
  VSR_FN R history_at(int k) const { return history ? history[k * history_stride] : R(0.0); }

  /// The element's parameters at temperature t, interpolated linearly between the rows of its table and constant beyond
  /// its ends. For thermal strain, use parameters_between() of thermal_expansion.hpp.
  VSR_FN void parameters_at(R t, R* out) const {
    constexpr int stride = parameter_count + 1;
    for (int k = 0; k < parameter_count; ++k) out[k] = table[1 + k];
    for (int row = 1; row < table_rows; ++row) {
      const R* low = table + (row - 1) * stride;
      const R* high = table + row * stride;
      R s = (t - low[0]) / (high[0] - low[0]);
      s = max(R(0.0), min(R(1.0), s));
      for (int k = 0; k < parameter_count; ++k)
        out[k] = select_less(low[0], t, low[1 + k] + s * (high[1 + k] - low[1 + k]), out[k]);
    }
  }
  /// Parameter k at temperature t.
  VSR_FN R parameter_at(R t, int k) const {
    constexpr int stride = parameter_count + 1;
    R out = table[1 + k];
    for (int row = 1; row < table_rows; ++row) {
      const R* low = table + (row - 1) * stride;
      const R* high = table + row * stride;
      R s = (t - low[0]) / (high[0] - low[0]);
      s = max(R(0.0), min(R(1.0), s));
      out = select_less(low[0], t, low[1 + k] + s * (high[1 + k] - low[1 + k]), out);
    }
    return out;
  }
};

}  // namespace voussoir
