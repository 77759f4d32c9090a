#include <algorithm>
#include <cmath>

#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/backends/multigrid.hpp>
#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>
#include <voussoir/solvers/cost/detail/sample_box.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>
#include <voussoir/solvers/static_problem.hpp>

// Rates of CG, multigrid and direct factorisation, and of the stages of an analysis around them.

namespace voussoir::detail {
namespace {

constexpr const char* sample_type = "solid.hex8.full";

/// A cube of n³ bricks as a system of equations with its right-hand side.
struct SampleSystem {
  std::unique_ptr<Domain> domain;
  AnalysisModel model;
  BsrSOE soe;
  AnalysisState state;
  ModelShape shape;

  SampleSystem(const std::shared_ptr<Backend>& backend, int n)
      : domain(make_sample_box(sample_type, n)), model(*domain, backend, TransformationHandler(), PlainNumberer()) {
    soe.set_model(model);
    state.case_factors = {1.0};
    StaticIntegrator integrator;
    integrator.begin_step(model, state);
    integrator.form_tangent(model, state, soe);
    integrator.form_unbalance(model, state, soe.b());
    // Of n nodes along an edge, an inner one has two neighbours: 3n − 2 with themselves. The cube has the product.
    const double edge = n + 1, ordered = std::pow(3 * edge - 2, 3);
    shape.nodes = edge * edge * edge;
    shape.equations = 3 * shape.nodes;
    shape.components = 3;
    shape.node_pairs = (ordered - shape.nodes) / 2;
    shape.layer = edge * edge;
  }
};

void calibrate_cg(Calibrator& c, const std::vector<int>& sizes) {
  c.add(std::string(operations::cg), [&] {
    std::vector<CostSample> samples;
    for (const int n : sizes) {
      SampleSystem system(c.backend(), n);
      BlockJacobiPreconditioner preconditioner;
      preconditioner.set_up(system.soe);
      constexpr int iterations = 20;
      CgRequest request;
      request.relative_tolerance = 0;
      request.max_iterations = iterations;
      request.keep_history = false;
      Backend& backend = *c.backend();
      const double bytes = 8.0 * 8 * system.shape.equations;
      CostSample all = c.measure(system.shape.equations, bytes, [&] {
        backend.fill(system.soe.x(), 0.0);
        backend.cg(system.soe.matrix(), preconditioner.inverse(), system.soe.b(), system.soe.x(), request);
      });
      Vector y = system.model.make_vector();
      const CostSample product = c.measure(1, bytes, [&] { system.soe.matrix().apply(system.soe.x(), y); });
      // What remains beside the product; a fused iteration may take hardly more.
      all.seconds = std::max(all.seconds / iterations - product.seconds, 0.02 * all.seconds / iterations);
      samples.push_back(all);
    }
    return samples;
  });
}

void calibrate_multigrid(Calibrator& c, const std::vector<int>& sizes) {
  if (!c.backend()->find<MultigridServices>())
    throw Error(ErrorCode::unavailable, "this backend has no multigrid", "backend " + c.backend()->name());
  std::vector<CostSample> set_up, cycle;
  const auto measure = [&] {
    set_up.clear();
    cycle.clear();
    for (const int n : sizes) {
      SampleSystem system(c.backend(), n);
      const double numbers = system.shape.matrix_numbers();
      std::unique_ptr<AmgPreconditioner> amg;
      set_up.push_back(c.measure_reported(numbers, 8 * numbers, 3, [&] {
        amg = std::make_unique<AmgPreconditioner>();
        c.backend()->wait();
        const Stopwatch watch;
        amg->set_up(system.soe);
        c.backend()->wait();
        return watch.seconds();
      }));
      Vector z = system.model.make_vector();
      cycle.push_back(c.measure(numbers, 8 * numbers, [&] { amg->inverse()->apply(system.soe.b(), z); }));
    }
  };
  measure();
  int uses = 0;
  const auto again = [&] {
    if (uses++ > 0) measure();
  };
  c.add(std::string(operations::amg_set_up), [&] { return again(), set_up; });
  uses = 0;
  c.add(std::string(operations::amg_cycle), [&] { return again(), cycle; });
}

/// t = a · numbers + b · work with a, b ≥ 0 from several sizes: a line in work / numbers.
void calibrate_direct(Calibrator& c, const std::vector<int>& sizes) {
  std::vector<CostSample> samples;
  for (const int n : sizes) {
    SampleSystem system(c.backend(), n);
    const double numbers = factor_numbers(system.shape);
    const CostSample time = c.measure_reported(numbers, 8 * numbers, 2, [&] {
      const auto solver = make_solver("direct");
      const SolveReport report = solver->solve(system.soe);
      return report.setup_seconds + report.solve_seconds;
    });
    samples.push_back({factor_work(system.shape) / numbers, time.working_set, time.seconds / numbers, time.noise});
  }
  const LineFit line = fit_line(samples);
  const auto cost = [](double seconds_per_unit) {
    OperationCost each;
    each.levels = {{1, seconds_per_unit}};
    return each;
  };
  c.profile().costs[std::string(operations::factor_linear)] = cost(line.intercept);
  c.profile().costs[std::string(operations::factor)] = cost(line.slope);
}

void calibrate_stages(Calibrator& c, const std::vector<int>& sizes) {
  std::map<std::string, std::vector<CostSample>> stages;
  for (const int n : sizes) {
    const auto domain = make_sample_box(sample_type, n);
    const double nodes = std::pow(n + 1.0, 3);
    std::map<std::string, double> least;
    for (int run = 0; run < 2; ++run) {
      StaticOptions options;
      options.solver = "cg+block-jacobi";
      options.storage = "bsr";
      options.relative_tolerance = 0.1;  // the stages around the solver are what is measured
      const auto analysis = make_static_analysis(*domain, c.backend(), options);
      analysis->run();
      std::map<std::string, double> times;
      for (const StageTime& t : analysis->stage_times()) times[t.stage] += t.seconds;
      for (const auto& [stage, seconds] : times)
        least[stage] = least.contains(stage) ? std::min(least[stage], seconds) : seconds;
    }
    for (const auto& [stage, seconds] : least)
      if (stage != "assemble and solve" && stage != "pattern" && seconds > 0)
        stages[stage].push_back({nodes, 24 * nodes, seconds, 0});
  }
  for (const auto& [stage, samples] : stages) c.add(operations::stage(stage), [&] { return samples; });
}

}  // namespace

void calibrate_solvers(Calibrator& c) {
  const bool quick = c.options().quick;
  std::vector<int> sizes = quick ? std::vector<int>{4, 10} : std::vector<int>{6, 14, 26, 36};
  if (!quick && !c.on_host()) sizes.push_back(64);
  c.group("conjugate gradients", [&] { calibrate_cg(c, sizes); });
  std::vector<int> levels(sizes);
  if (!quick && c.on_host()) levels.back() = 32;
  c.group("multigrid", [&] { calibrate_multigrid(c, levels); });
  c.group("direct factorisation", [&] {
    // The largest decides: small factors say little about dense blocks, which take most of the time of large ones.
    calibrate_direct(c, quick ? std::vector<int>{4, 7} : std::vector<int>{8, 14, 20, 24});
  });
  c.group("stages of an analysis", [&] {
    calibrate_stages(c, quick ? std::vector<int>{4, 8} : std::vector<int>{8, 24});
  });
}

}  // namespace voussoir::detail
