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

/// What else a check needs to know; every member has a sensible default.
struct TangentCheckOptions {
  /// One per node. Empty: the initial temperature, or the unknown T if there is one. It stays constant while
  /// differences are taken, since a tangent leaves the change of p.temperature out.
  std::span<const double> temperature;
  double reference_temperature = 0;  ///< the initial temperature
  /// Committed history of the element: program.history_count() numbers. Empty: all zero.
  std::span<const double> history;
  double time = 0, time_step = 0;  ///< as the element sees them
  /// Step of the differences, relative to the largest unknown or to a hundredth of the element's size, whichever is
  /// larger. Differences are of fourth order, so that a moderate step is the most accurate.
  double relative_step = 1e-3;
};

/// How well tangent, residual and action of an element agree.
struct TangentReport {
  double tangent_error = 0;  ///< largest difference between tangent and differences, relative to the largest entry
  double action_error = 0;   ///< largest difference between action(v) and tangent · v, relative to the largest entry
  int row = 0, column = 0;   ///< the tangent's worst entry
  double analytic = 0, by_differences = 0;  ///< its two values
  std::string text;                         ///< all of this in one sentence, with names of nodes and unknowns

  bool good(double tolerance = 1e-7) const { return tangent_error <= tolerance && action_error <= tolerance; }
};

/// Compares the tangent of one element with differences of its residual, and its action with its tangent.
///
/// `coordinates`: three per node. `parameters`: in the order of parameter_names(). `unknowns`: node by node, where the
/// check is made; empty for zero. A program without a tangent is checked for a residual that does not depend on the
/// unknowns. Wrong sizes, an inverted element or results that are not finite are an Error.
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
