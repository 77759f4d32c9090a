#include <fmt/core.h>

#include <algorithm>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/backends/stencil_services.hpp>

// Jacobi iterations on a cube, several per pass through memory, and streamed from host memory; the explicit scheme on
// long vectors. What is timed is checked against one iteration after another on the CPU, bit by bit.

namespace voussoir::app {
namespace {

/// Iterations after which results are compared.
constexpr std::size_t checked_iterations = 10;
/// Bytes per second between pinned host memory and a GPU, as measured on the machine of the targets: in one direction,
/// and in each of both at once.
constexpr double bus_rate = 55.2e9, both_ways_rate = 50.7e9;
/// Values per second that are wanted in memory.
constexpr double in_memory_target = 400e9;

std::vector<double> rough_grid(std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::uint64_t state = 7;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
  }
  return values;
}

/// A cube of n³ nodes with a start, a source, and what the CPU makes of them.
class StencilCube {
 public:
  explicit StencilCube(std::int64_t n) {
    problem.nodes = {n, n, n};
    start = rough_grid(problem.size());
    source.assign(start.rbegin(), start.rend());
    expected = reference({});
    expected_with_source = reference(source);
  }
  std::vector<double> reference(std::span<const double> f) const {
    const auto backend = Backend::open("openmp");
    StencilOptions options;
    options.tile = 1;
    const auto iteration =
        backend->service<StencilServices>().make_jacobi(problem, std::span<const double>(start), f, options);
    iteration->iterate(weights(checked_iterations));
    std::vector<double> result(start.size());
    iteration->read(result);
    return result;
  }
  void compare(StencilIteration<double>& iteration, bool with_source, BenchRow& row) const {
    iteration.write(start);
    iteration.iterate(weights(checked_iterations));
    std::vector<double> found(start.size());
    iteration.read(found);
    row.difference = relative_difference(found, with_source ? expected_with_source : expected);
    row.tolerance = 0;
  }
  static std::vector<double> weights(std::size_t count) { return std::vector<double>(count, 1.0); }
  double size() const { return static_cast<double>(problem.size()); }

  StencilProblem problem;
  std::vector<double> start, source, expected, expected_with_source;
};

void note_rate(const StencilCube& cube, BenchRow& row, const std::string& more = {}) {
  row.note = fmt::format("{:.1f} Gcell/s{}", cube.size() / row.seconds * 1e-9, more);
  row.figures.emplace_back("cells_per_second", cube.size() / row.seconds);
}

void memory_rows(BenchRig& rig, const StencilCube& cube) {
  for (const bool with_source : {false, true})
    for (const int tile : {1, 2, 3, 4}) {
      const auto what =
          fmt::format("in memory{}, {} iteration{} per pass", with_source ? ", source" : "", tile, tile > 1 ? "s" : "");
      rig.row(what, [&](BenchRow& row) {
        const auto backend = rig.open();
        StencilOptions options;
        options.tile = tile;
        const std::span<const double> f =
            with_source ? std::span<const double>(cube.source) : std::span<const double>();
        const auto iteration = backend->service<StencilServices>().make_jacobi(
            cube.problem, std::span<const double>(cube.start), f, options);
        constexpr int together = 12;
        const std::vector<double> weights = StencilCube::weights(together);
        row.seconds = rig.measure(*backend, [&] { iteration->iterate(weights); }) / together;
        row.floor = rig.floor(cube.size() * (with_source ? 24 : 16) / tile, 12 * cube.size());
        if (!with_source && tile == 4) row.target = rig.target(cube.size() / in_memory_target);
        note_rate(cube, row);
        cube.compare(*iteration, with_source, row);
      });
    }
}

void streamed_rows(BenchRig& rig, StencilCube& cube) {
  for (const int height : {1, 2, 4, 8, 12, 16, 24, 32})
    rig.row(fmt::format("streamed through an eighth of it, height {}", height), [&](BenchRow& row) {
      const auto backend = rig.open();
      StencilOptions options;
      options.height = height;
      options.device_bytes = static_cast<std::size_t>(cube.size());
      auto& service = backend->service<StencilServices>();
      if (height > cube.problem.nodes[2] ||
          service.slab_bytes(cube.problem, 2 * height + 1, height, false, 8) > options.device_bytes) {
        row.problem = "an eighth of the grid is too little memory for slabs of this height";
        return;
      }
      std::vector<double> u = cube.start;
      const auto iteration = service.stream_jacobi(cube.problem, std::span<double>(u), {}, options);
      const std::vector<double> weights = StencilCube::weights(static_cast<std::size_t>(height));
      row.seconds = rig.measure(*backend, [&] { iteration->iterate(weights); }) / height;
      const StencilReport report = iteration->report();
      const bool shared = backend->memory(0)->shares_host_memory();
      // Over the bus in and out at once, each layer once; where memory is the host's, a copy in and a copy out.
      row.floor = std::max(rig.floor(cube.size() * 16.0 / report.tile, 12 * cube.size()),
                           (shared ? rig.floor(cube.size() * 32) : cube.size() * 8 / both_ways_rate) / height);
      if (!shared)
        row.target = rig.target(std::max(cube.size() * 8 / bus_rate / height, cube.size() / in_memory_target) / 0.9);
      note_rate(cube, row, fmt::format(", slabs of {} layers{}", report.slab, report.pinned ? "" : ", not pinned"));
      row.figures.emplace_back("height", height);
      row.figures.emplace_back("slab", static_cast<double>(report.slab));
      row.figures.emplace_back("repeated_work", static_cast<double>(report.updates) /
                                                    (static_cast<double>(report.iterations) * cube.size()));
      cube.compare(*iteration, false, row);
    });
}

void long_vector_row(BenchRig& rig, std::int64_t n) {
  rig.row(fmt::format("explicit step on long vectors, {}²", n), [&](BenchRow& row) {
    const auto backend = rig.open();
    const std::vector<double> start = rough_grid((n + 2) * (n + 2));
    const auto after = [&](Backend& on) {
      const auto heat = on.service<StencilServices>().make_long_vectors(n, 0.2, start);
      heat->steps(checked_iterations);
      std::vector<double> result(start.size());
      heat->read(result);
      return result;
    };
    const auto heat = backend->service<StencilServices>().make_long_vectors(n, 0.2, start);
    row.seconds = rig.measure(*backend, [&] { heat->steps(10); }) / 10;
    row.floor = rig.floor(72.0 * static_cast<double>(n) * static_cast<double>(n));
    row.note = fmt::format("{:.1f} Gcell/s", static_cast<double>(n) * static_cast<double>(n) / row.seconds * 1e-9);
    const auto cpu = Backend::open("openmp");
    row.difference = relative_difference(after(*backend), after(*cpu));
    row.tolerance = 0;
  });
}

}  // namespace

void bench_stencils(BenchRig& rig) {
  // A cube that fills a GPU, or takes seconds on a CPU; other sizes as asked for.
  const bool large =
      rig.open()->memory(0)->shares_host_memory() == false && rig.device().find("debug") == std::string::npos;
  const std::int64_t n = rig.setup().size != BenchSetup().size ? rig.setup().size
                         : large                               ? (rig.setup().quick ? 512 : 1024)
                                                               : 256;
  rig.table().begin(
      "stencils",
      fmt::format("{0} × {0} × {0} nodes, Dirichlet sides, double precision; times are those of one iteration", n));
  StencilCube cube(n);
  memory_rows(rig, cube);
  streamed_rows(rig, cube);
  long_vector_row(rig, std::min<std::int64_t>(4 * n, 4096));
}

}  // namespace voussoir::app
