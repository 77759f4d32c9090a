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

/// The pass that is measured: h = 1, and slabs that return a part of the layers.
struct StreamedPass {
  CostSample sample;  ///< units: bytes of one field
  double slabs = 1;
};

StreamedPass streamed_pass(Calibrator& c, StencilServices& stencils, std::int64_t n, std::int64_t slabs, bool source) {
  const StencilProblem problem = cube_of(n);
  auto u = field_of(problem.size());
  const auto f = source ? field_of(problem.size()) : std::vector<double>();
  StencilOptions options;
  options.height = 1;
  options.slab = std::max<std::int64_t>(n / slabs, 1) + 2;
  options.device_bytes = stencils.slab_bytes(problem, options.slab, 1, source, 8);
  const auto iteration = stencils.stream_jacobi(problem, u, f, options);
  const std::vector<double> weights(4, 1.0);
  const auto bytes = 8 * static_cast<double>(problem.size());
  StreamedPass pass;
  pass.sample = c.measure(bytes, static_cast<double>(options.device_bytes), [&] { iteration->iterate(weights); });
  pass.sample.seconds /= static_cast<double>(weights.size());
  pass.slabs = std::ceil(static_cast<double>(n) / static_cast<double>(options.slab - 2));
  return pass;
}

/// Where nothing overlaps, a pass with a source takes 2 in + out and one without in + out, and updates beside.
void separate_copies(double both, double half, double& in, double& out) {
  // Of noisy times, so much is kept that neither direction is more than twice as fast as the other.
  in = std::clamp(both - half, 0.25 * both, 0.4 * both);
  out = both - 2 * in;
}

/// Where copies overlap, both directions run at once, and that is how they are measured: a pass takes
/// max(in, out) + (the others) / slabs, with 2 in and out of a source, and in and out alike without one.
void separate_lanes(double with, double without, double update, double slabs, double& in, double& out) {
  in = std::max(with - update / slabs, 0.5 * with) / (2 + 1 / slabs);
  out = std::max(without - update / slabs, 0.5 * without) / (1 + 1 / slabs);
}

/// Copies of slabs, by the bytes of one slab.
void calibrate_streams(Calibrator& c, StencilServices& stencils) {
  const bool overlaps = c.profile().overlaps_copies;
  std::vector<std::int64_t> sizes =
      c.options().quick ? std::vector<std::int64_t>{24, 48} : std::vector<std::int64_t>{48, 96, 160};
  if (!c.options().quick && !c.on_host()) sizes = {64, 128, 256, 400};
  std::vector<CostSample> in, out;
  for (const std::int64_t n : sizes) {
    const std::int64_t slabs = overlaps && n >= 64 ? 16 : 4;
    const StreamedPass with = streamed_pass(c, stencils, n, slabs, true),
                       without = streamed_pass(c, stencils, n, slabs, false);
    const CostSample& sample = with.sample;
    double update = 0;
    if (const OperationCost* cost = c.profile().find(operations::slab_tile(1)))
      update = cost->seconds(sample.units / 8, sample.working_set) * (1 + 2 * with.slabs / static_cast<double>(n));
    double each_in = 0, each_out = 0;
    if (overlaps)
      separate_lanes(sample.seconds, without.sample.seconds, update, with.slabs, each_in, each_out);
    else
      separate_copies(std::max(sample.seconds - update, 0.1 * sample.seconds),
                      std::max(without.sample.seconds - update, 0.1 * without.sample.seconds), each_in, each_out);
    const double bytes = sample.units / with.slabs;
    in.push_back({bytes, sample.working_set, each_in / with.slabs, sample.noise});
    out.push_back({bytes, sample.working_set, each_out / with.slabs, without.sample.noise});
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
