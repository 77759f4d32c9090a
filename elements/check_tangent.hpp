#pragma once
#include <voussoir/backends/element_program.hpp>
#include <voussoir/elements/native_program.hpp>

#include <span>
#include <string>

// For authors of elements: checks that the tangent is the derivative of the residual.
//
//   const auto report = check_tangent<MyKernel>(coordinates, parameters, unknowns);
//   if (!report.good()) std::cerr << report.text << '\n';

namespace voussoir {

/// The options of check_tangent().
struct TangentCheckOptions {
  /// Temperature of each node, constant while differences are taken; empty for the initial temperature, or for the
  /// unknown T if there is one. Differences are then taken with and without the change of p.temperature, since a
  /// tangent includes it (FullTangentElement) or does not (PointElement), and the report is about the one that fits
  /// better.
  std::span<const double> temperature;
  double reference_temperature = 0;  ///< the initial temperature
  /// Committed history of the element: program.history_count() numbers; empty if all are zero.
  std::span<const double> history;
  double time = 0,    ///< time at the end of the step
      time_step = 0;  ///< length of the step
  /// Step of the finite differences, relative to the largest unknown or to a hundredth of the element's size, whichever
  /// is larger. The differences are of fourth order, so that a moderate step is the most accurate.
  double relative_step = 1e-3;
};

/// How well tangent, residual and action of an element agree.
struct TangentReport {
  double tangent_error = 0;  ///< largest deviation of the tangent from differences, relative to the largest entry
  double action_error = 0;   ///< largest deviation of action(v) from tangent · v, relative to the largest entry
  int row = 0,               ///< row of the tangent's worst entry
      column = 0;            ///< column of the tangent's worst entry
  double analytic = 0,       ///< the worst entry as the element computes it
      by_differences = 0;    ///< the worst entry by finite differences
  /// Whether the tangent was compared with differences that include the change of p.temperature with the unknown T.
  bool contains_temperature_change = false;
  std::string text;  ///< the result in one sentence, with node and unknown names

  /// Whether both errors are at most `tolerance`.
  bool good(double tolerance = 1e-7) const { return tangent_error <= tolerance && action_error <= tolerance; }
};

/// Compares the tangent of one element with finite differences of its residual, and its action with its tangent.
///
/// `coordinates` has three numbers per node, `parameters` are in the order of parameter_names(), and `unknowns` are
/// those at which the check is made, node by node; empty for zero. For a program without a tangent, the check is that
/// the residual does not depend on the unknowns. Wrong sizes, an inverted element and results that are not finite are
/// an Error.
TangentReport check_tangent(const ElementProgram& program, std::span<const double> coordinates,
                            std::span<const double> parameters, std::span<const double> unknowns = {},
                            const TangentCheckOptions& options = {});

/// As above, for a kernel that need not be registered.
template <ElementKernel Kernel>
TangentReport check_tangent(std::span<const double> coordinates, std::span<const double> parameters,
                            std::span<const double> unknowns = {}, const TangentCheckOptions& options = {}) {
  return check_tangent(NativeProgram<Kernel>("kernel"), coordinates, parameters, unknowns, options);
}

}  // namespace voussoir
