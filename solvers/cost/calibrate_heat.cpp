#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/backends/sweep_services.hpp>
#include <voussoir/framework/grid/grid_field.hpp>
#include <voussoir/framework/grid/grid_library.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>

// Rates of heat on grids: second differences, and tridiagonal systems along the lines of a grid.

namespace voussoir::detail {
namespace {

/// Nodes per side of square grids.
std::vector<int> heat_grid_sizes(const Calibrator& c) {
  std::vector<int> sizes{24, 48, 96, 150, 220, 320, 480, 720, 1080, 1620, 2430};
  const double largest = c.largest_bytes() / 40;  // values, right-hand sides and three coefficients
  std::erase_if(sizes, [&](int n) { return static_cast<double>(n) * n > largest; });
  if (c.options().quick) sizes.resize(std::min<std::size_t>(sizes.size(), 3));
  return sizes;
}

/// Times a kernel on the nodes of square grids: second differences of a field or, with `source`, the evaluation of a
/// source and its addition to a field.
std::vector<CostSample> measure_nodes(const Calibrator& c, bool source) {
  std::vector<CostSample> samples;
  for (const int n : heat_grid_sizes(c)) {
    Grid grid({n, n}, {1, 1});
    const auto space = std::make_shared<const GridSpace>(grid, c.backend());
    GridField from(space), to(space);
    const auto values = rough_numbers(grid.node_count());
    from.from_host(values);
    const GridSides sides(grid.shape());
    const GridDiffusionParameters differences{{1, 1, 0}};
    const GridGaussianParameters bell{1e-9, {0.5, 0.5, 0}, 0.1};
    GridArguments arguments;
    arguments.fields[0] = &from.vector();
    arguments.from_field = source ? 0 : 1;
    arguments.keep = source ? 1 : 0;
    arguments.factor = 1e-9;
    arguments.parameters = source ? static_cast<const void*>(&bell) : &differences;
    const GridProgram& program = GridLibrary::instance().find(source ? "grid.gaussian" : "grid.diffusion");
    const auto nodes = static_cast<double>(grid.node_count());
    samples.push_back(c.measure(
        nodes, 16 * nodes, [&] { space->services().apply(program, space->layout(), sides, arguments, to.vector()); }));
  }
  return samples;
}

/// Systems along all lines of a square grid, with one matrix or with matrices of their own.
std::vector<CostSample> measure_sweeps(const Calibrator& c, bool across, bool own) {
  std::vector<CostSample> samples;
  SweepServices& sweeps = c.backend()->service<SweepServices>();
  const auto& memory = c.backend()->memory(0);
  const auto faults = sweeps.make_faults(0);
  for (const int n : heat_grid_sizes(c)) {
    const std::int64_t unknowns = std::int64_t{n} * n, numbers = own ? unknowns : n;
    const std::vector<double> beside(static_cast<std::size_t>(numbers), -1.0), middle(beside.size(), 3.0);
    const Array<double> side(memory, std::span<const double>(beside)),
        diagonal(memory, std::span<const double>(middle));
    const SweepCoefficients<double> matrix{side, diagonal, side};
    const std::vector<double> values = rough_numbers(unknowns);
    const Array<double> f(memory, std::span<const double>(values));
    Array<double> y(memory, values.size());
    const SweepShape shape = across ? SweepShape::y_lines(n, n) : SweepShape::x_lines(n, n);
    SweepOptions options;
    options.faults = faults.get();
    const auto plan = own ? nullptr : sweeps.prepare(matrix, n, options);
    const auto units = static_cast<double>(unknowns);
    samples.push_back(c.measure(units, (own ? 40 : 16) * units, [&] {
      if (own)
        sweeps.solve(shape, matrix, f, y, options);
      else
        sweeps.solve(*plan, shape, f, y, faults.get());
    }));
    faults->take().require();
  }
  return samples;
}

}  // namespace

void calibrate_heat(Calibrator& c) {
  c.group("grids: second differences and sources", [&] {
    c.add(std::string(operations::diffusion), [&] { return measure_nodes(c, false); });
    c.add(std::string(operations::source), [&] { return measure_nodes(c, true); });
  });
  c.group("grids: tridiagonal sweeps", [&] {
    c.add(std::string(operations::sweep), [&] { return measure_sweeps(c, false, false); });
    c.add(std::string(operations::sweep_across), [&] { return measure_sweeps(c, true, false); });
    c.add(std::string(operations::sweep_own), [&] { return measure_sweeps(c, false, true); });
    c.add(std::string(operations::sweep_own_across), [&] { return measure_sweeps(c, true, true); });
  });
}

}  // namespace voussoir::detail
