#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <thread>

#include <voussoir/apps/bench/cpu.hpp>
#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/backends/sweep_services.hpp>
#include <voussoir/framework/grid/heat_analysis.hpp>

// Tridiagonal batches: 16 384 systems of 4096 unknowns on a GPU, fewer on a CPU. Every result is checked by its
// residual, relative to the magnitudes of its terms. Beside them whole time steps that are made of sweeps, checked by
// the closed form of their decay.

namespace voussoir::app {
namespace {

constexpr double sweep_tolerance = 1e-12;

/// Diagonally dominant systems with coefficients that look random, as many as a backend keeps busy with.
struct SweepBatchData {
  SweepBatchData(Backend& b, bool quick) : backend(b) {
    const bool host = backend.memory(0)->shares_host_memory();
    length = quick ? 512 : 4096;
    systems = quick ? 256 : host ? 2048 : 16384;
    const auto n = static_cast<std::size_t>(length * systems);
    lower = backend.make_array<double>(0, n);
    diagonal = backend.make_array<double>(0, n);
    upper = backend.make_array<double>(0, n);
    f = backend.make_array<double>(0, n);
    y = backend.make_array<double>(0, n);
    restore();
  }

  /// Writes all coefficients and right-hand sides afresh.
  void restore() {
    std::uint64_t state = 1;
    const auto next = [&] {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<double>(state >> 11) * 0x1p-52 - 1;
    };
    const auto l = lower.write_host(), d = diagonal.write_host(), u = upper.write_host(), right = f.write_host();
    for (std::size_t i = 0; i < l.size(); ++i) {
      l[i] = next();
      u[i] = next();
      d[i] = (1.1 + std::abs(next())) * (std::abs(l[i]) + std::abs(u[i]));
      right[i] = next();
    }
  }

  /// The same where all numbers belong to one periodic system.
  double long_residual() const {
    const auto l = lower.read_host(), d = diagonal.read_host(), u = upper.read_host(), right = f.read_host(),
               x = y.read_host();
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = l[i] * x[i > 0 ? i - 1 : x.size() - 1], b = d[i] * x[i],
                   c = u[i] * x[i + 1 < x.size() ? i + 1 : 0];
      const double value =
          std::abs(a + b + c - right[i]) / (std::abs(a) + std::abs(b) + std::abs(c) + std::abs(right[i]));
      worst = std::isfinite(value) ? std::max(worst, value) : HUGE_VAL;
    }
    return worst;
  }

  SweepShape shape(bool contiguous) const {
    return contiguous ? SweepShape::contiguous(length, systems) : SweepShape::interleaved(length, systems);
  }
  double unknowns() const { return static_cast<double>(length * systems); }

  /// Largest |A y − f| / (|A| |y| + |f|) over some systems; with `shared`, all have the matrix of the first `length`
  /// coefficients.
  double residual(const SweepShape& s, bool periodic, bool shared) const {
    const auto l = lower.read_host(), d = diagonal.read_host(), u = upper.read_host(), right = f.read_host(),
               x = y.read_host();
    double worst = 0;
    const std::int64_t every = std::max<std::int64_t>(1, systems / 64);
    for (std::int64_t k = 0; k < systems; k += every)
      for (std::int64_t i = 0; i < length; ++i) {
        const auto at = [&](std::int64_t row) {
          return static_cast<std::size_t>(k * s.inner_stride + (row + length) % length * s.stride);
        };
        const std::size_t m = shared ? static_cast<std::size_t>(i) : at(i);
        const double a = !periodic && i == 0 ? 0 : l[m] * x[at(i - 1)], b = d[m] * x[at(i)],
                     c = !periodic && i == length - 1 ? 0 : u[m] * x[at(i + 1)], right_side = right[at(i)];
        const double size = std::abs(a) + std::abs(b) + std::abs(c) + std::abs(right_side);
        const double value = std::abs(a + b + c - right_side) / size;
        worst = std::isfinite(value) ? std::max(worst, value) : HUGE_VAL;
      }
    return worst;
  }

  /// How a row compares with the speed of memory: of a triad where the backend computes on the host, of a copy
  /// elsewhere and in quick runs. Each number counts once.
  void note_rate(const BenchRig& rig, double bytes, BenchRow& row) {
    const bool host = backend.memory(0)->shares_host_memory() && !rig.setup().quick;
    if (host && triad == 0) triad = triad_bandwidth(std::max(1, backend.threads()));
    const double fraction = bytes / row.seconds / (host ? triad : rig.bandwidth());
    row.note = fmt::format("{:.2f} G unknowns/s, {:.2f} of the {}", unknowns() / row.seconds * 1e-9, fraction,
                           host ? "triad" : "copy");
    row.figures.emplace_back("unknowns_per_second", unknowns() / row.seconds);
    row.figures.emplace_back(host ? "fraction_of_triad" : "fraction_of_copy", fraction);
  }

  Backend& backend;
  std::int64_t length = 0, systems = 0;
  Array<double> lower, diagonal, upper, f, y;
  double triad = 0;  ///< bytes per second; 0: not yet measured
};

/// Seconds that LAPACK's dgtsv takes for all systems, which are not periodic, with a copy of each in a thread's own
/// memory because it overwrites them; 0 where the library that this program runs with has no dgtsv.
double time_lapack(const BenchRig& rig, const SweepBatchData& data, int threads) {
  using Gtsv = void (*)(const int*, const int*, double*, double*, double*, double*, const int*, int*);
  const auto gtsv = reinterpret_cast<Gtsv>(dlsym(RTLD_DEFAULT, "dgtsv_"));
  if (!gtsv) return 0;
  const double *l = data.lower.read_host().data(), *d = data.diagonal.read_host().data(),
               *u = data.upper.read_host().data(), *f = data.f.read_host().data();
  std::vector<double> result(static_cast<std::size_t>(data.length * data.systems));
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    const auto n = static_cast<std::size_t>(data.length);
    std::vector<double> own_l(n), own_d(n), own_u(n);
    const int order = static_cast<int>(data.length), one = 1;
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t at = s * data.length;
      std::copy_n(l + at + 1, n - 1, own_l.begin());
      std::copy_n(d + at, n, own_d.begin());
      std::copy_n(u + at, n - 1, own_u.begin());
      std::copy_n(f + at, n, result.data() + at);
      int info = 0;
      gtsv(&order, &one, own_l.data(), own_d.data(), own_u.data(), result.data() + at, &order, &info);
    }
  };
  return rig.measure(data.backend, [&] {
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t)
      team.emplace_back(work, data.systems * t / threads, data.systems * (t + 1) / threads);
    for (std::thread& one : team) one.join();
  });
}

void own_matrix_rows(BenchRig& rig, SweepBatchData& data) {
  Backend& backend = data.backend;
  auto& sweeps = backend.service<SweepServices>();
  const auto faults = sweeps.make_faults(0);
  for (const bool contiguous : {true, false})
    for (const bool periodic : {true, false})
      rig.row(fmt::format("{}, {}", periodic ? "periodic" : "plain", contiguous ? "contiguous" : "interleaved"),
              [&](BenchRow& row) {
                const SweepShape shape = data.shape(contiguous);
                row.seconds = rig.measure(backend, [&] {
                  sweeps.solve(shape, {data.lower, data.diagonal, data.upper}, data.f, data.y,
                               {.periodic = periodic, .faults = faults.get()});
                });
                faults->take().require();
                row.difference = data.residual(shape, periodic, false);
                row.tolerance = sweep_tolerance;
                row.floor = rig.floor(40 * data.unknowns());
                if (periodic) row.target = rig.target(contiguous ? 0.90e-3 : 1.2e-3);
                data.note_rate(rig, 40 * data.unknowns(), row);
                if (!periodic && contiguous && backend.memory(0)->shares_host_memory() && !rig.setup().quick)
                  if (const double seconds = time_lapack(rig, data, std::max(1, backend.threads())); seconds > 0)
                    row.peers.emplace_back("LAPACK dgtsv", seconds);
              });
}

void shared_matrix_rows(BenchRig& rig, SweepBatchData& data) {
  Backend& backend = data.backend;
  auto& sweeps = backend.service<SweepServices>();
  const auto faults = sweeps.make_faults(0);
  const auto first = [&](const Array<double>& all) {
    return Array<double>(backend.memory(0), all.read_host().first(static_cast<std::size_t>(data.length)));
  };
  const Array<double> l = first(data.lower), d = first(data.diagonal), u = first(data.upper);
  const auto plan = sweeps.prepare({l, d, u}, data.length, {.periodic = true});
  for (const bool contiguous : {true, false})
    rig.row(fmt::format("periodic, one shared matrix, {}", contiguous ? "contiguous" : "interleaved"),
            [&](BenchRow& row) {
              const SweepShape shape = data.shape(contiguous);
              row.seconds = rig.measure(backend, [&] { sweeps.solve(*plan, shape, data.f, data.y, faults.get()); });
              faults->take().require();
              row.difference = data.residual(shape, true, true);
              row.tolerance = sweep_tolerance;
              row.floor = rig.floor(16 * data.unknowns());
              if (contiguous) row.target = rig.target(0.38e-3);
              data.note_rate(rig, 16 * data.unknowns(), row);
            });
}

/// The classical form with a thread per system, and single precision.
void other_rows(BenchRig& rig, SweepBatchData& data) {
  Backend& backend = data.backend;
  auto& sweeps = backend.service<SweepServices>();
  const auto faults = sweeps.make_faults(0);
  rig.row("periodic, interleaved, a thread per system (the paper's form)", [&](BenchRow& row) {
    const SweepShape shape = data.shape(false);
    row.seconds = rig.measure(backend, [&] {
      sweeps.solve(shape, {data.lower, data.diagonal, data.upper}, data.f, data.y,
                   {.periodic = true, .method = SweepMethod::sequential, .faults = faults.get()});
    });
    faults->take().require();
    row.difference = data.residual(shape, true, false);
    row.tolerance = sweep_tolerance;
    row.floor = rig.floor(40 * data.unknowns());
    data.note_rate(rig, 40 * data.unknowns(), row);
  });
}

/// One long system, whose rows are shared by all threads.
void long_rows(BenchRig& rig, SweepBatchData& data) {
  auto& sweeps = data.backend.service<SweepServices>();
  const auto faults = sweeps.make_faults(0);
  const SweepShape shape = SweepShape::contiguous(data.length * data.systems, 1);
  for (const SweepMethod method : {SweepMethod::automatic, SweepMethod::sequential}) {
    if (method == SweepMethod::sequential && !data.backend.memory(0)->shares_host_memory()) continue;
    rig.row(fmt::format("one periodic system of {} unknowns, {}", shape.length, to_string(method)), [&](BenchRow& row) {
      row.seconds = rig.measure(data.backend, [&] {
        sweeps.solve(shape, {data.lower, data.diagonal, data.upper}, data.f, data.y,
                     {.periodic = true, .method = method, .faults = faults.get()});
      });
      faults->take().require();
      row.difference = data.long_residual();
      row.tolerance = sweep_tolerance;
      row.floor = rig.floor(40 * data.unknowns());
      data.note_rate(rig, 40 * data.unknowns(), row);
    });
  }
}

/// Time steps of heat conduction by sweeps along the axes: a periodic plate (Peaceman and Rachford) and a periodic box
/// (Douglas). A product of waves is an eigenvector of the differences and decays by a known factor in each step.
void adi_rows(BenchRig& rig) {
  const bool quick = rig.setup().quick;
  for (const int dimensions : {2, 3}) {
    const int nodes = dimensions == 2 ? (quick ? 64 : 4096) : (quick ? 16 : 512);
    rig.row(fmt::format("ADI step, {} nodes{}", nodes, dimensions == 2 ? "², Peaceman–Rachford" : "³, Douglas"),
            [&](BenchRow& row) {
              const auto backend = rig.open();
              Grid grid(dimensions, {nodes, nodes, dimensions == 2 ? 1 : nodes}, {1, 1, 1});
              for (const char axis : {'x', 'y', 'z'})
                if (axis != 'z' || dimensions == 3) grid.periodic(axis);
              const double h = grid.spacing(0), wave = 2 * std::sin(std::numbers::pi * h) / h, step = 1e-4;
              GridHeatAnalysis heat(
                  grid, {}, {dimensions == 2 ? HeatScheme::peaceman_rachford : HeatScheme::douglas, step}, backend);
              heat.temperature().fill([&](const GridPosition& x) {
                double value = 1;
                for (int a = 0; a < dimensions; ++a)
                  value *= std::cos(2 * std::numbers::pi * x[static_cast<std::size_t>(a)]);
                return value;
              });
              const double half = step * wave * wave / 2;
              const double factor = 1 - 2 * dimensions * half / std::pow(1 + half, dimensions);
              row.seconds = rig.measure(*backend, [&] { heat.step(); });
              heat.check();
              const double expected = std::pow(factor, static_cast<double>(heat.step_count()));
              row.difference = std::abs(heat.temperature().at(std::int64_t{0}) - expected) / expected;
              row.tolerance = 1e-10;
              const double unknowns = std::pow(nodes, dimensions);
              // A stencil pass and a sweep for each half step of a plate; a stencil pass, three sweeps and a sum.
              row.floor = rig.floor(unknowns * (dimensions == 2 ? 64 : 88));
              row.note = fmt::format("{:.2f} G nodes/s", unknowns / row.seconds * 1e-9);
              row.figures.emplace_back("nodes_per_second", unknowns / row.seconds);
            });
  }
}

/// The device's own library, last: solutions replace right-hand sides, and it may overwrite coefficients. The first
/// solve is checked; the runs that are timed solve whatever it left behind, which takes the same time.
void vendor_rows(BenchRig& rig, SweepBatchData& data) {
  auto& sweeps = data.backend.service<SweepServices>();
  for (const bool contiguous : {true, false}) {
    const SweepShape shape = data.shape(contiguous);
    data.restore();
    Array<double> l = data.lower.clone(), d = data.diagonal.clone(), u = data.upper.clone();
    {
      const auto lower = l.update_host(), upper = u.update_host();
      for (std::int64_t s = 0; s < data.systems; ++s) {  // outside of a system there must be zeros
        const std::int64_t first = s * shape.inner_stride;
        lower[static_cast<std::size_t>(first)] = 0;
        upper[static_cast<std::size_t>(first + (data.length - 1) * shape.stride)] = 0;
      }
    }
    data.y = data.f.clone();
    for (const VendorSweep& vendor : sweeps.vendor_sweeps(shape, l, d, u, data.y, 0))
      rig.row(vendor.name + ", plain, for comparison", [&](BenchRow& row) {
        vendor.solve();
        row.difference = data.residual(shape, false, false);
        row.tolerance = sweep_tolerance;
        row.seconds = rig.measure(data.backend, vendor.solve);
        row.floor = rig.floor(40 * data.unknowns());
      });
  }
}

}  // namespace

void bench_sweeps(BenchRig& rig) {
  const auto backend = rig.open();
  SweepBatchData data(*backend, rig.setup().quick);
  rig.table().begin("sweeps", fmt::format("{} tridiagonal systems of {} unknowns", data.systems, data.length));
  own_matrix_rows(rig, data);
  shared_matrix_rows(rig, data);
  other_rows(rig, data);
  long_rows(rig, data);
  if (!rig.setup().quick) vendor_rows(rig, data);
  adi_rows(rig);
}

}  // namespace voussoir::app
