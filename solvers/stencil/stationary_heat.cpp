#include <voussoir/solvers/stencil/stationary_heat.hpp>

#include <algorithm>

namespace voussoir {

StencilProblem stationary_problem(const Grid& grid, const HeatMaterial& material) {
  StencilProblem problem;
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    problem.nodes[i] = grid.nodes(a);
    problem.coefficients[i] =
        a < grid.dimensions() ? material.conductivity[i] / (grid.spacing(a) * grid.spacing(a)) : 0;
    for (const int end : {0, 1}) {
      const SideKind kind = a < grid.dimensions() ? grid.side(2 * a + end).kind : SideKind::flux;
      problem.sides[i][static_cast<std::size_t>(end)] = kind == SideKind::periodic     ? GridSide::periodic
                                                        : kind == SideKind::prescribed ? GridSide::dirichlet
                                                                                       : GridSide::neumann;
    }
  }
  return problem;
}

namespace {

/// Iterations between two calls of an observer: a multiple of Chebyshev's cycles.
constexpr std::int64_t iterations_per_call = 1024;

void check_stationary(const Grid& grid, const GridSources& sources) {
  if (!grid.has_prescribed_sides())
    throw Error(ErrorCode::bad_input,
                "without a side of prescribed temperature the steady state is not unique; prescribe one");
  for (int s = 0; s < 2 * grid.dimensions(); ++s)
    if (!grid.side(s).value.steady())
      throw Error(ErrorCode::bad_input,
                  std::string("side ") + side_name(s) + " changes with time, so that there is no steady state");
  if (!sources.steady())
    throw Error(ErrorCode::bad_input,
                "a source changes with time or temperature; a stationary problem needs steady ones");
}

/// Visits the nodes of a side: visit(node, position).
template <class Visit>
void for_nodes_of_side(const Grid& grid, int side, Visit&& visit) {
  const int axis = side / 2, at = side % 2 ? grid.nodes(axis) - 1 : 0;
  const std::int64_t nx = grid.nodes(0), ny = grid.nodes(1), nz = grid.nodes(2);
  for (std::int64_t k = axis == 2 ? at : 0; k < (axis == 2 ? at + 1 : nz); ++k)
    for (std::int64_t j = axis == 1 ? at : 0; j < (axis == 1 ? at + 1 : ny); ++j)
      for (std::int64_t i = axis == 0 ? at : 0; i < (axis == 0 ? at + 1 : nx); ++i) {
        const std::int64_t node = i + nx * (j + ny * k);
        visit(static_cast<std::size_t>(node), grid.position(node));
      }
}

}  // namespace

StationaryReport solve_stationary(GridField& temperature, const HeatMaterial& material, GridSources& sources,
                                  const JacobiOptions& options,
                                  const std::function<bool(const StationaryProgress&)>& observer) {
  const Grid& grid = temperature.grid();
  check_stationary(grid, sources);
  std::vector<double> u = temperature.to_host(), f;
  if (!sources.empty()) f = sources.evaluate(GridSides(grid.shape()), 0, temperature.vector()).to_host();
  for (int s = 0; s < 2 * grid.dimensions(); ++s) {
    const SideCondition& side = grid.side(s);
    if (side.kind == SideKind::periodic) continue;
    if (side.kind == SideKind::prescribed) {
      for_nodes_of_side(grid, s, [&](std::size_t node, const GridPosition& x) { u[node] = side.value.at(x, 0); });
      continue;
    }
    if (f.empty()) f.assign(u.size(), 0);
    for_nodes_of_side(grid, s, [&](std::size_t node, const GridPosition& x) {
      f[node] += 2 * side.value.at(x, 0) / grid.spacing(s / 2);
    });
  }
  StationaryReport report;
  double first = 0;
  while (!report.converged && !report.stopped && report.iterations < options.iterations) {
    JacobiOptions part = options;
    part.iterations = options.iterations - report.iterations;
    if (observer) part.iterations = std::min(part.iterations, iterations_per_call);
    if (first > 0 && options.tolerance > 0) part.tolerance = std::min(1.0, options.tolerance / report.residual);
    const JacobiIteration iteration(temperature.space()->shared_backend(), stationary_problem(grid, material), part);
    report.last = iteration.solve(u, f);
    if (first == 0) first = report.last.residuals.front().norms.l2;
    report.iterations += report.last.pyramids.iterations;
    report.residual = first > 0 ? report.last.residuals.back().norms.l2 / first : 0;
    report.converged = options.tolerance > 0 ? report.residual <= options.tolerance : report.last.converged;
    if (observer) report.stopped = !observer({report.iterations, report.residual});
    if (first == 0 || report.last.pyramids.iterations == 0) break;
    if (options.tolerance == 0) report.converged = report.iterations >= options.iterations;
  }
  temperature.from_host(u);
  return report;
}

}  // namespace voussoir
