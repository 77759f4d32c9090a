#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/soe/element_soe.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

// CG with algebraic multigrid: setting a hierarchy up, setting it up again for new values, and solving to 1e-8.

namespace voussoir::app {
namespace {

/// What is asked of a model: seconds on an H200 at full size, 0 where nothing is.
struct AmgTargets {
  double setup = 0, update = 0, solve = 0;
};

std::unique_ptr<Domain> loaded_box(std::array<int, 3> cells) {
  auto domain = make_box("solid.hex8.full", cells);
  domain->add_load_case("end").traction("xmax", {0, 0, -1e6});
  return domain;
}

/// A system with its right-hand side.
struct LoadedSystem {
  std::unique_ptr<LinearSOE> soe;
  AnalysisState state;
  StaticIntegrator integrator;

  LoadedSystem(const AnalysisModel& model, std::unique_ptr<LinearSOE> storage) : soe(std::move(storage)) {
    soe->set_model(model);
    state.case_factors.assign(model.domain().load_case_count(), 0.0);
    state.case_factors[0] = 1.0;
    integrator.begin_step(model, state);
    form(model);
    integrator.form_unbalance(model, state, soe->b());
  }
  void form(const AnalysisModel& model) { integrator.form_tangent(model, state, *soe); }
};

double median_of_three(const std::function<double()>& once) {
  std::array<double, 3> times{};
  for (double& t : times) t = once();
  std::sort(times.begin(), times.end());
  return times[1];
}

/// Bytes of the whole matrix in blocks, double precision.
double matrix_bytes(const AmgPreconditioner& amg, int components) {
  return static_cast<double>(amg.levels().front().entries) * (8 + 4.0 / (components * components));
}

void amg_rows(BenchRig& rig, const AnalysisModel& model, const std::string& name, std::unique_ptr<LinearSOE> storage,
              const AmgOptions& options, const AmgTargets& targets) {
  Backend& backend = model.backend();
  LoadedSystem system(model, std::move(storage));
  LinearSOE& soe = *system.soe;
  auto amg = std::make_shared<AmgPreconditioner>(options);
  CgSolver solver(amg, {1e-8, 1000});
  const int components = std::max(1, model.device_model().uniform_components());
  // The first time, kernels are loaded and pools are filled.
  SolveReport report = solver.solve(soe);
  backend.wait();
  const auto clocked = [&](const std::function<void()>& work) {
    return median_of_three([&] {
      backend.wait();
      const Stopwatch clock;
      work();
      backend.wait();
      return clock.seconds();
    });
  };
  const auto checked = [&](BenchRow& row) {
    row.difference = report.converged ? report.true_residual : 1;
    row.tolerance = 1.1e-8;
  };
  rig.row(name + ", set-up", [&](BenchRow& row) {
    row.seconds = clocked([&] {
      AmgPreconditioner fresh(options);
      fresh.set_up(soe);
    });
    // The matrix is read to be copied, for A T and for A P; what is kept is written.
    row.floor = rig.floor(3 * matrix_bytes(*amg, components) + static_cast<double>(amg->bytes()));
    row.target = targets.setup;
    row.note = amg->summary() + ", " + readable_bytes(static_cast<double>(amg->bytes()));
    row.figures = {{"bytes", static_cast<double>(amg->bytes())}, {"operator_complexity", amg->operator_complexity()}};
    checked(row);
  });
  rig.row(name + ", set-up for new values", [&](BenchRow& row) {
    row.seconds = clocked([&] { amg->set_up(soe); });
    row.floor = rig.floor(3 * matrix_bytes(*amg, components) + static_cast<double>(amg->bytes()));
    row.target = targets.update;
    checked(row);
  });
  rig.row(name + ", solve to 1e-8", [&](BenchRow& row) {
    row.seconds = clocked([&] {
      backend.fill(soe.x(), 0.0);
      report = solver.solve(soe);
    });
    const double vectors = 8.0 * static_cast<double>(model.equation_count());
    row.floor = report.iterations * rig.floor(static_cast<double>(amg->inverse()->bytes_moved()) +
                                              static_cast<double>(soe.matrix().bytes_moved()) + 9 * vectors);
    row.target = targets.solve;
    row.note = fmt::format("{} iterations, {}/iteration", report.iterations,
                           readable_time(row.seconds / std::max(1, report.iterations)));
    row.figures = {{"iterations", report.iterations}};
    checked(row);
  });
}

}  // namespace

void bench_amg(BenchRig& rig) {
  const int size = rig.setup().size;
  const double scale = size / 84.0;
  AmgOptions full;
  full.numbers = AmgOptions::Numbers::full;
  {
    BenchModel cube(rig.open(), loaded_box({size, size, size}));
    rig.table().begin("amg", cube.describe());
    amg_rows(rig, cube.analysis_model(), "cube", std::make_unique<BsrSOE>(), {},
             {rig.target(60e-3), rig.target(20e-3), rig.target(80e-3)});
    if (!rig.setup().quick) {
      amg_rows(rig, cube.analysis_model(), "cube, double precision", std::make_unique<BsrSOE>(), full, {});
      amg_rows(rig, cube.analysis_model(), "cube, finest level not stored", std::make_unique<MatrixFreeSOE>(), {}, {});
    }
  }
  {
    const int n = std::max(2, static_cast<int>(std::lround(32 * scale)));
    BenchModel beam(rig.open(), loaded_box({10 * n, n, n}));
    rig.table().begin("amg", beam.describe());
    amg_rows(rig, beam.analysis_model(), "cantilever 1:1:10", std::make_unique<BsrSOE>(), {},
             {rig.target(40e-3), 0, rig.target(60e-3)});
  }
  if (rig.setup().quick) return;
  auto domain = std::make_unique<Domain>();
  PumpModel pump;
  pump.type = "solid.hex8.full";
  pump.fineness = {0, static_cast<std::int64_t>(std::max(3e4, 1.84e6 * scale * scale * scale))};
  add_pump_model(*domain, pump);
  BenchModel model(rig.open(), std::move(domain));
  rig.table().begin("amg", fmt::format("pump on a frame, {:.0f} equations", model.equations()));
  amg_rows(rig, model.analysis_model(), "pump on a frame", std::make_unique<BsrSOE>(), {},
           {rig.target(180e-3), 0, rig.target(240e-3)});
}

}  // namespace voussoir::app
