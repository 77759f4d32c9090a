#pragma once
#include <functional>

#include <voussoir/framework/grid/grid_source.hpp>
#include <voussoir/framework/grid/heat_analysis.hpp>
#include <voussoir/solvers/stencil/jacobi_iteration.hpp>

namespace voussoir {

/// The stationary heat equation of a grid, −Σ k_a ∂²u/∂x_a² = f, as a stencil problem.
StencilProblem stationary_problem(const Grid& grid, const HeatMaterial& material);

/// How the iteration of solve_stationary() goes on.
struct StationaryProgress {
  std::int64_t iterations = 0;  ///< done so far
  double residual = 1;          ///< 2-norm, relative to that of the initial field
};

/// What solve_stationary() has done.
struct StationaryReport {
  bool converged = false;       ///< whether the tolerance was reached
  bool stopped = false;         ///< whether the observer stopped it
  std::int64_t iterations = 0;  ///< Jacobi iterations
  double residual = 1;          ///< 2-norm, relative to that of the initial field
  JacobiReport last;            ///< of the last group of iterations: pyramids, spectrum
};

/// Solves the stationary heat equation by Jacobi iterations with temporal blocking, from the values of `temperature`,
/// which receives the result. Prescribed temperatures, heat flows of sides and sources are those at time 0. `options`
/// are those of JacobiIteration: iterations at most, tolerance, damping, placement. `observer`, if given, is called
/// after every thousand iterations or so and returns false to stop.
///
/// Throws Error (bad_input) for a grid without a side of prescribed temperature, whose steady state is not unique, and
/// for sides or sources that change with time.
StationaryReport solve_stationary(GridField& temperature, const HeatMaterial& material, GridSources& sources,
                                  const JacobiOptions& options,
                                  const std::function<bool(const StationaryProgress&)>& observer = {});

}  // namespace voussoir
