#include <algorithm>
#include <cmath>

#include <voussoir/backends/stencil_services.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>

// Rates of difference schemes: the 7-point stencil in memory and in slabs, copies of slabs.

namespace voussoir::detail {
namespace {

StencilProblem cube_of(std::int64_t n) {
  StencilProblem problem;
  problem.nodes = {n, n, n};
  return problem;
}

std::vector<double> field_of(std::int64_t size) {
  std::vector<double> values(static_cast<std::size_t>(size));
  std::uint64_t state = 7;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 11) / 9007199254740992.0;
  }
  return values;
}

std::vector<std::int64_t> cube_sizes(const Calibrator& c) {
  std::vector<std::int64_t> sizes{16, 24, 32, 48, 64, 96, 128, 192, 256, 320};
  const double largest = c.largest_bytes() / 24;
  std::erase_if(sizes, [&](std::int64_t n) { return std::pow(static_cast<double>(n), 3) > largest; });
  if (c.options().quick) sizes.resize(std::min<std::size_t>(sizes.size(), 3));
  return sizes;
}

/// An iteration in memory with a time tile, by the size of the grid. Slabs of pyramids are computed at the same rate.
void calibrate_tiles(Calibrator& c, StencilServices& stencils) {
  const int largest = std::max(1, stencils.default_tile(cube_of(128), true, 8));
  for (int tile = 1; tile <= largest; ++tile) {
    const auto samples = [&] {
      std::vector<CostSample> all;
      for (const std::int64_t n : cube_sizes(c)) {
        const StencilProblem problem = cube_of(n);
        const auto u = field_of(problem.size());
        StencilOptions options;
        options.tile = tile;
        options.height = tile;
        const auto iteration = stencils.make_jacobi(problem, u, u, options);
        const int sweeps = tile * std::max(1, 4 / tile);
        const std::vector<double> weights(static_cast<std::size_t>(sweeps), 1.0);
        const auto cells = static_cast<double>(problem.size());
        CostSample sample = c.measure(cells, 24 * cells, [&] { iteration->iterate(weights); });
        sample.seconds /= sweeps;
        all.push_back(sample);
      }
      return all;
    };
    c.add(operations::slab_tile(tile), samples);
  }
  if (const OperationCost* best = c.profile().find(operations::slab_tile(largest)))
    c.profile().costs[std::string(operations::stencil)] = *best;
}

/// Seconds of a pass with h = 1 and slabs of about a quarter of the grid.
CostSample streamed_pass(Calibrator& c, StencilServices& stencils, std::int64_t n, bool source) {
  const StencilProblem problem = cube_of(n);
  auto u = field_of(problem.size());
  const auto f = source ? field_of(problem.size()) : std::vector<double>();
  StencilOptions options;
  options.height = 1;
  options.slab = n / 4 + 2;
  options.device_bytes = stencils.slab_bytes(problem, options.slab, 1, source, 8);
  const auto iteration = stencils.stream_jacobi(problem, u, f, options);
  const std::vector<double> weights(4, 1.0);
  const auto bytes = 8 * static_cast<double>(problem.size());
  CostSample sample = c.measure(bytes, static_cast<double>(options.device_bytes), [&] { iteration->iterate(weights); });
  sample.seconds /= static_cast<double>(weights.size());
  return sample;
}

/// With a source, twice as much goes in as comes out; without one, as much. The two passes tell both rates apart.
void calibrate_streams(Calibrator& c, StencilServices& stencils) {
  std::vector<std::int64_t> sizes =
      c.options().quick ? std::vector<std::int64_t>{24, 48} : std::vector<std::int64_t>{48, 96, 160};
  if (!c.options().quick && !c.on_host()) sizes.push_back(320);
  std::vector<CostSample> in, out;
  for (const std::int64_t n : sizes) {
    const CostSample with = streamed_pass(c, stencils, n, true), without = streamed_pass(c, stencils, n, false);
    double extra = 0;  // updates, where they are not hidden behind copies
    if (!c.profile().overlaps_copies)
      if (const OperationCost* update = c.profile().find(operations::slab_tile(1)))
        extra = update->seconds(with.units / 8, with.working_set) * (1 + 8.0 / static_cast<double>(n));
    const double both = std::max(with.seconds - extra, 0.1 * with.seconds);
    const double half = std::max(without.seconds - extra, 0.1 * without.seconds);
    // both = 2 in + out and half = in + out. Of noisy times, so much is kept that neither direction is more than twice
    // as fast as the other.
    const double each = std::clamp(both - half, 0.25 * both, 0.4 * both);
    in.push_back({with.units, with.working_set, each, with.noise});
    out.push_back({with.units, with.working_set, both - 2 * each, with.noise});
  }
  c.add(std::string(operations::slab_in), [&] { return in; });
  c.add(std::string(operations::slab_out), [&] { return out; });
}

}  // namespace

void calibrate_grids(Calibrator& c) {
  c.group("grids", [&] {
    StencilServices& stencils = c.backend()->service<StencilServices>();
    c.begin("grids: stencils in memory");
    calibrate_tiles(c, stencils);
    c.begin("grids: slabs of a larger grid");
    calibrate_streams(c, stencils);
  });
}

}  // namespace voussoir::detail
