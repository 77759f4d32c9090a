#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/partition/decomposition_options.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/partition/schur_complement.hpp>

// Schur complements of the parts of a cube: dense interiors on the devices, beside sparse elimination by threads of the
// host and calls of the vendor's libraries. Results are checked with those of the host.

namespace voussoir::app {
namespace {

/// A cube of elements in equal cubes as parts.
struct DividedCube {
  DividedCube(const BenchRig& rig, int parts_across, int elements_across)
      : model(rig.open(), make_box("solid.hex8.full", {parts_across * elements_across, parts_across * elements_across,
                                                       parts_across * elements_across})),
        decomposition(model.analysis_model(), divide(parts_across * parts_across * parts_across)),
        matrices(PartMatrices::at_rest(decomposition)),
        threads(part_threads(model.backend())),
        systems(part_systems(matrices, threads)) {
    for (const PartSystem& system : systems) {
      interior.push_back(system.interior);
      boundary.push_back(system.boundary);
    }
  }
  Partition divide(int parts) const {
    DecompositionOptions options;
    options.parts = parts;
    options.cut = "rcb";
    return make_partition(model.analysis_model(), options);
  }
  CondensationServices& service() const { return model.backend().service<CondensationServices>(); }
  std::unique_ptr<CondensedParts> condense() const { return service().condense(model.backend(), systems); }
  std::string describe() const {
    const auto [li, mi] = std::minmax_element(interior.begin(), interior.end());
    const auto [lb, mb] = std::minmax_element(boundary.begin(), boundary.end());
    return fmt::format("{} parts of {} to {} interior and {} to {} boundary unknowns", systems.size(), *li, *mi, *lb,
                       *mb);
  }

  BenchModel model;
  Decomposition decomposition;
  PartMatrices matrices;
  int threads;
  std::vector<PartSystem> systems;
  std::vector<std::int32_t> interior, boundary;
};

/// Tensor cores of these GPUs compute in double precision at twice the rate that datasheets give for the others.
double dense_rate(const BenchRig& rig) {
  for (const char* const name : {"H200", "H100", "A100"})
    if (rig.device().find(name) != std::string::npos) return 2 * rig.flop_rate();
  return rig.flop_rate();
}

/// The shortest of some runs.
template <class Work>
double shortest(int runs, Work work) {
  double best = HUGE_VAL;
  for (int run = 0; run < runs; ++run) {
    const Stopwatch watch;
    work();
    best = std::min(best, watch.seconds());
  }
  return best;
}

double largest_difference(const CondensedParts& condensed, const std::vector<std::vector<double>>& expected) {
  double worst = condensed.doubtful().empty() ? 0 : HUGE_VAL;
  for (int p = 0; p < condensed.parts(); ++p)
    worst = std::max(worst, relative_difference(condensed.schur_complement(p), expected[static_cast<std::size_t>(p)]));
  return worst;
}

/// Of parts that are only measured to see where dense interiors are worth it, a few runs are enough (`brief`).
void elimination_rows(BenchRig& rig, const DividedCube& cube, bool brief) {
  std::vector<std::vector<double>> expected;
  const double host_seconds =
      shortest(brief ? 1 : 3, [&] { expected = dense_schur_complements(cube.matrices, cube.threads); });
  const std::string host_name = fmt::format("sparse, {} host threads", cube.threads);
  rig.row("complements from matrices of the host", [&](BenchRow& row) {
    row.seconds = shortest(brief ? 2 : 3, [&] { (void)cube.condense(); });
    row.peers.emplace_back(host_name, host_seconds);
    const auto condensed = cube.condense();
    row.difference = largest_difference(*condensed, expected);
    row.tolerance = 1e-11;
    row.note = fmt::format("{:.1f} GB", static_cast<double>(condensed->bytes()) * 1e-9);
  });
  rig.row("elimination alone", [&](BenchRow& row) {
    double flops = 0;
    row.seconds = HUGE_VAL;
    for (int run = 0; run < (brief ? 2 : 4); ++run) {
      const auto condensed = cube.condense();
      row.seconds = std::min(row.seconds, condensed->seconds());
      flops = condensed->flops();
    }
    row.floor = dense_rate(rig) > 0 ? flops / dense_rate(rig) : 0;
    row.note = fmt::format("{:.0f} GFLOP at {:.1f} TFLOP/s, floor at {:.0f}", flops * 1e-9, flops / row.seconds * 1e-12,
                           dense_rate(rig) * 1e-12);
    row.figures.emplace_back("flops", flops);
    if (rig.setup().quick || brief) return;
    for (const VendorCondensation& vendor : cube.service().vendor_condensations(cube.model.backend(), cube.systems)) {
      vendor.run();
      double worst = 0;
      for (const int p : {0, static_cast<int>(cube.systems.size()) / 2})
        worst = std::max(worst, relative_difference(vendor.schur_complement(p), expected[static_cast<std::size_t>(p)]));
      if (worst > 1e-10)
        row.note += fmt::format("; {} is wrong by {:.1e}", vendor.name, worst);
      else
        row.peers.emplace_back(vendor.name, rig.measure(cube.model.backend(), vendor.run));
    }
  });
}

std::vector<double> waves(std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(0.37 * static_cast<double>(i * i % 10007));
  return values;
}

void vector_rows(BenchRig& rig, const DividedCube& cube) {
  const auto condensed = cube.condense();
  const SchurComplement host(cube.model.backend(), cube.matrices);
  const SchurComplement dense(cube.model.backend(), cube.matrices, "direct", Interiors::dense);
  const auto inner = static_cast<std::size_t>(cube.decomposition.size());
  double factors = 0, complements = 0;
  for (std::size_t p = 0; p < cube.systems.size(); ++p) {
    const double i = cube.interior[p], b = cube.boundary[p];
    factors += 8 * (0.5 * i * i + i * b);
    complements += 8 * b * b;
  }
  rig.row("loads condensed, interiors recovered", [&](BenchRow& row) {
    const std::vector<double> f = waves(inner), x = waves(host.unknowns());
    row.seconds = shortest(3, [&] { (void)dense.expand(dense.condense(f), f); });
    row.peers.emplace_back("host threads", shortest(3, [&] { (void)host.expand(host.condense(f), f); }));
    row.difference = relative_difference(dense.expand(x, f), host.expand(x, f));
    row.tolerance = 1e-11;
    row.floor = rig.floor(2.5 * factors);
    row.note = "copies of vectors included";
  });
  for (const int columns : {1, 8})
    rig.row(fmt::format("the same on the devices, {} column{}", columns, columns > 1 ? "s" : ""), [&](BenchRow& row) {
      std::size_t ni = 0, nb = 0;
      for (std::size_t p = 0; p < cube.systems.size(); ++p) {
        ni += static_cast<std::size_t>(cube.interior[p]);
        nb += static_cast<std::size_t>(cube.boundary[p]);
      }
      std::vector<double> interior = waves(ni * static_cast<std::size_t>(columns)),
                          boundary = waves(nb * static_cast<std::size_t>(columns));
      row.seconds = rig.measure(cube.model.backend(), [&] {
        condensed->condense(interior, boundary, columns);
        condensed->recover(interior, boundary, columns);
      });
      row.floor = rig.floor(2.5 * factors);
      row.note = "copies of vectors included";
    });
  rig.row("product with the complements", [&](BenchRow& row) {
    Vector x(dense.blocks()->layout()), y(dense.blocks()->layout());
    const std::vector<double> values = waves(host.unknowns());
    std::vector<double> expected(values.size());
    x.from_host(values);
    row.seconds = rig.measure(cube.model.backend(), [&] { dense.blocks()->apply(x, y); });
    row.floor = rig.floor(complements);
    row.peers.emplace_back("implicit, host threads", shortest(3, [&] { host.multiply(values, expected); }));
    row.difference = relative_difference(y.to_host(), expected);
    row.tolerance = 1e-11;
  });
}

}  // namespace

void bench_condensation(BenchRig& rig) {
  const bool host = rig.open()->memory(0)->shares_host_memory(), quick = rig.setup().quick;
  {
    const DividedCube cube(rig, quick ? 2 : 4, quick ? 4 : host ? 5 : 9);
    rig.table().begin("schur", cube.describe());
    elimination_rows(rig, cube, false);
    vector_rows(rig, cube);
  }
  if (quick || host) return;
  // Where dense elimination stops to be worth it: few and large parts, and many small ones.
  for (const auto& [across, elements] : {std::pair{4, 3}, {4, 5}, {3, 12}, {2, 14}, {2, 17}}) {
    const DividedCube cube(rig, across, elements);
    rig.table().begin("schur", cube.describe());
    elimination_rows(rig, cube, true);
  }
}

}  // namespace voussoir::app
