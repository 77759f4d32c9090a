#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <voussoir/apps/bench/paper_table.hpp>
#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/analysis/transient_analysis.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/soe/element_soe.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

// The tables of FEStudio's paper on meshes of their sizes: their seconds (a GTX 680 and one core of its day) beside
// ours on the backend and on one core of this machine.

namespace voussoir::app {
namespace {

/// One run after one that warms up: for what takes long, and where digits do not matter.
double brief(Backend& backend, const std::function<void()>& work) {
  work();
  return backend.time(work);
}

// --- Table 2: integration ----------------------------------------------------------------------------------------

/// Seconds to copy a mesh to the device and its element matrices back, through pinned memory.
double transfer_seconds(const BenchModel& model) {
  Backend& backend = model.backend();
  if (backend.memory(0)->shares_host_memory()) return 0;
  double seconds = 0;
  const auto copies = [&](double bytes, bool back) {
    DeviceMemory& memory = *backend.memory(0);
    const auto size = static_cast<std::size_t>(bytes);
    void* device = memory.allocate(size);
    void* host = memory.allocate_host(size);
    memory.copy_to_device(device, host, size);
    seconds += backend.time(
        [&] { back ? memory.copy_to_host(host, device, size) : memory.copy_to_device(device, host, size); });
    memory.release_host(host, size);
    memory.release(device, size);
  };
  copies(model.geometry_bytes(), false);
  copies(model.matrix_bytes(), true);
  return seconds;
}

struct Theirs {
  std::string mesh, type;
  std::array<int, 3> cells;
  double core;                  // seconds on one core
  std::array<double, 3> speed;  // of levels I, II, IIa, transfers included
};

std::vector<double> product_with_elements(const BenchModel& model, const std::vector<double>& x) {
  auto matrix = model.backend().make_element_operator(model.device(), ElementProduct::gather);
  model.backend().assemble(model.device(), nullptr, {}, *matrix);
  const Vector from = model.vector(x);
  Vector to = model.analysis_model().make_vector();
  matrix->apply(from, to);
  return to.to_host();
}

/// Whether the element type has the way of integration that was chosen.
bool has_way(const std::function<void()>& integrate) {
  try {
    integrate();
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return false;
  }
}

void integration_line(BenchRig& rig, const Theirs& t, PaperTable& table) {
  const bool plane = t.type.starts_with("plane_");
  const auto cells = Scale(rig)(t.cells, plane);
  double core = 0;
  std::vector<double> x, expected;
  {
    BenchModel model(Backend::open("openmp:1"), make_box(t.type, cells));
    auto matrix = model.backend().make_element_operator(model.device(), ElementProduct::gather);
    core = brief(model.backend(), [&] { model.backend().assemble(model.device(), nullptr, {}, *matrix); });
    x = model.rough(5);
    const Vector from = model.vector(x);
    Vector to = model.analysis_model().make_vector();
    matrix->apply(from, to);
    expected = to.to_host();
  }
  BenchModel model(rig.open(), make_box(t.type, cells));
  const double transfers = transfer_seconds(model);
  std::array<double, 4> ours{};
  double best = 0;
  const std::array<Integration, 4> ways{Integration::thread, Integration::block, Integration::blocks,
                                        Integration::pairs};
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!rig.knows(ways[i])) continue;
    WorkChoices choices = rig.setup().choices;
    choices.integration = ways[i];
    model.backend().choose(choices);
    const auto integrate = [&] { model.backend().integrate(model.device(), 0, {}); };
    if (!has_way(integrate)) continue;
    const double seconds = rig.measure(model.backend(), integrate);
    require_alike(relative_difference(product_with_elements(model, x), expected), 1e-12, "integration of " + t.mesh);
    best = best > 0 ? std::min(best, seconds) : seconds;
    ours[i] = seconds + transfers;
  }
  const double fastest = best + transfers;
  table.add({t.mesh, t.core, t.core / t.speed[0], t.core / t.speed[1], t.core / t.speed[2], core, ours[0], ours[1],
             ours[2], ours[3], best,
             best > 0 ? fmt::format("{:.1f}×, {:.0f}× alone", core / fastest, core / best) : "–"});
}

void table_two(BenchRig& rig) {
  PaperTable table("integration", "Table 2: integration of element matrices",
                   {"mesh", "theirs, core", "theirs, I", "theirs, II", "theirs, IIa", "ours, core", "ours, I",
                    "ours, II", "ours, IIa", "ours, pairs", "best, no transfers", "speed-up"});
  const std::string quad = "plane_strain.quad4.full", hex = "solid.hex8.full";
  for (const Theirs& t : std::vector<Theirs>{{"quads, 10⁴", quad, {100, 100, 1}, 0.01, {1.48, 1.10, 2.09}},
                                             {"quads, 10⁵", quad, {316, 316, 1}, 0.10, {2.25, 1.35, 3.54}},
                                             {"quads, 10⁶", quad, {1000, 1000, 1}, 0.99, {2.35, 1.49, 3.83}},
                                             {"quads, 10⁷", quad, {3162, 3162, 1}, 10.03, {2.44, 1.51, 4.28}},
                                             {"hexahedra, 10⁴", hex, {22, 22, 21}, 0.14, {0.74, 0.67, 1.01}},
                                             {"hexahedra, 10⁵", hex, {46, 46, 47}, 1.35, {1.64, 1.38, 3.14}},
                                             {"hexahedra, 5·10⁵", hex, {79, 79, 80}, 6.77, {1.83, 1.50, 3.85}}})
    integration_line(rig, t, table);
  table.put(rig,
            "Times of the levels include copying the mesh to the device and the matrices back, as theirs do; "
            "the second-last column excludes these copies.");
}

// --- Tables 1, 3 and 4: Newmark's matrix -------------------------------------------------------------------------

/// A twentieth of the time that a wave takes four times through the body.
double newmark_step_size() {
  const double wave_speed = std::sqrt(210e9 / 7850);
  return 4.0 / wave_speed / 20;
}

/// K + a0 M of a Newmark step (α = 1/4).
MatrixTerms newmark_terms() {
  const double step = newmark_step_size();
  MatrixTerms terms;
  terms.mass = 4 / (step * step);
  return terms;
}

std::unique_ptr<Domain> loaded_box(const std::string& type, const std::array<int, 3>& cells) {
  auto domain = make_box(type, cells);
  domain->add_load_case("end").traction("xmax", {0, -1e6, 0});
  return domain;
}

/// The right-hand side of a step from rest.
void form_load(const AnalysisModel& model, LinearSOE& soe) {
  AnalysisState state;
  state.case_factors = {1.0};
  StaticIntegrator integrator;
  integrator.begin_step(model, state);
  integrator.form_unbalance(model, state, soe.b());
}

struct Solve {
  double seconds = 0;  // set-up of the preconditioner and iterations
  int iterations = 0;
};

std::unique_ptr<LinearSOE> soe_named(const std::string& storage) {
  if (storage == "CSR") return std::make_unique<CsrSOE>();
  if (storage == "element-wise") return std::make_unique<ElementSOE>(ElementProduct::gather);
  return std::make_unique<MatrixFreeSOE>();
}

/// CG with Jacobi to 1e-8, or so many iterations.
Solve solve(const AnalysisModel& model, const std::string& storage, int at_most) {
  Backend& backend = model.backend();
  const auto soe = soe_named(storage);
  soe->set_model(model);
  const auto factors = model.batch_factors(std::vector{1.0});
  MatrixTerms terms = newmark_terms();
  terms.batch_factors = factors;
  soe->form(nullptr, terms);
  form_load(model, *soe);
  Solve result;
  CgRequest request;
  request.relative_tolerance = at_most > 0 ? 0 : 1e-8;
  request.max_iterations = at_most > 0 ? at_most : 20000;
  request.keep_history = false;
  CgOutcome outcome;
  const auto run = [&] {
    JacobiPreconditioner jacobi;
    jacobi.set_up(*soe);
    backend.fill(soe->x(), 0.0);
    outcome = backend.cg(soe->matrix(), jacobi.inverse(), soe->b(), soe->x(), request);
  };
  if (at_most == 0) run();
  result.seconds = backend.time(run);
  result.iterations = outcome.iterations;
  if (at_most == 0) require_alike(true_residual(*soe), 1.1e-8, "CG, " + storage);
  return result;
}

struct TheirSolve {
  std::string mesh, type;
  std::array<int, 3> cells;
  std::array<double, 2> csr, element;  // CPU, GPU
};

void tables_three_and_four(BenchRig& rig) {
  PaperTable table("cg", "Tables 3 and 4: CG for one Newmark step",
                   {"mesh", "storage", "theirs, CPU", "theirs, GPU", "ours, core", "ours", "iterations",
                    "ours, iteration", "speed-up"});
  for (const TheirSolve& t : std::vector<TheirSolve>{
           {"2D quads, N = 1 200 990", "plane_strain.quad4.full", {2450, 244, 1}, {1876, 13.8}, {1675, 39.1}},
           {"2D triangles, N = 1 200 990", "plane_strain.tri3", {2450, 244, 1}, {2758, 11.6}, {2423, 60.7}},
           {"3D tetrahedra, N = 357 021", "solid.tet4", {44, 48, 53}, {126, 1.3}, {471, 12.1}},
           {"3D hexahedra, N = 350 727", "solid.hex8.full", {45, 47, 52}, {83, 1.4}, {175, 1.4}}}) {
    const auto domain = loaded_box(t.type, Scale(rig)(t.cells, t.type.starts_with("plane_")));
    const AnalysisModel model(*domain, rig.open(), TransformationHandler(), PlainNumberer());
    const AnalysisModel core_model(*domain, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
    const std::string mesh = fmt::format("{} (ours {})", t.mesh, model.equation_count());
    for (const std::string storage : {"CSR", "element-wise", "matrix-free"}) {
      const Solve ours = solve(model, storage, 0);
      constexpr int sample = 10;
      const Solve part = solve(core_model, storage, sample);
      const double core = part.seconds / std::max(part.iterations, 1) * ours.iterations;
      const bool known = storage != "matrix-free";
      const auto& theirs = storage == "CSR" ? t.csr : t.element;
      table.add({mesh, storage, known ? theirs[0] : 0.0, known ? theirs[1] : 0.0, core, ours.seconds, ours.iterations,
                 ours.seconds / std::max(ours.iterations, 1), fmt::format("{:.0f}×", core / ours.seconds)});
    }
  }
  table.put(
      rig,
      "CG with Jacobi to 1e-8 (true residual checked). Their time step and hence their iterations are not known: "
      "our time step is a twentieth of four passages of a wave. One core is timed for ten iterations and scaled to "
      "all of them.");
}

/// Seconds that the stages of steps take.
struct StageSeconds {
  double forming = 0, loading = 0, solving = 0;
};

/// Newmark's method that measures its stages, and forms its matrix anew in every step as FEStudio does.
class TimedNewmark : public NewmarkIntegrator {
 public:
  explicit TimedNewmark(StageSeconds& seconds) : seconds_(seconds) {}
  void begin_step(const AnalysisModel& model, AnalysisState& state) override {
    timed(model, seconds_.loading, [&] { NewmarkIntegrator::begin_step(model, state); });
  }
  void form_tangent(const AnalysisModel& model, const AnalysisState& state, LinearSOE& soe) override {
    timed(model, seconds_.forming, [&] { NewmarkIntegrator::form_tangent(model, state, soe); });
  }
  void form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b) override {
    timed(model, seconds_.loading, [&] { NewmarkIntegrator::form_unbalance(model, state, b); });
  }

 private:
  template <class Work>
  static void timed(const AnalysisModel& model, double& seconds, const Work& work) {
    model.backend().wait();
    const Stopwatch watch;
    work();
    model.backend().wait();
    seconds += watch.seconds();
  }
  StageSeconds& seconds_;
};

/// A solver that measures itself.
class TimedSolver : public Solver {
 public:
  TimedSolver(std::shared_ptr<Solver> solver, Backend& backend, StageSeconds& seconds)
      : solver_(std::move(solver)), backend_(backend), seconds_(seconds) {}
  std::string name() const override { return solver_->name(); }
  SolveReport solve(LinearSOE& soe) override {
    backend_.wait();
    const Stopwatch watch;
    SolveReport report = solver_->solve(soe);
    backend_.wait();
    seconds_.solving += watch.seconds();
    worst_ = std::max(worst_, report.converged ? report.true_residual : 1.0);
    return report;
  }
  bool finds_mechanisms() const override { return solver_->finds_mechanisms(); }
  double worst_residual() const { return worst_; }

 private:
  std::shared_ptr<Solver> solver_;
  Backend& backend_;
  StageSeconds& seconds_;
  double worst_ = 0;
};

/// A step of a TransientAnalysis of a plate whose end is loaded: seconds of its stages and of all of it.
struct NewmarkStep {
  StageSeconds stages;
  double whole = 0;
  std::int64_t equations = 0;
  double iterations = 0;
};

NewmarkStep newmark_step(const Domain& domain, std::shared_ptr<Backend> backend, int warm, int count) {
  NewmarkStep found;
  StageSeconds seconds;
  Analysis::Collaborators parts;
  parts.backend = backend;
  parts.integrator = std::make_shared<TimedNewmark>(seconds);
  parts.soe = std::make_shared<CsrSOE>();
  const auto solver = std::make_shared<TimedSolver>(
      std::make_shared<CgSolver>(std::make_shared<JacobiPreconditioner>()), *backend, seconds);
  parts.solver = solver;
  TransientAnalysis analysis(domain, std::move(parts));
  analysis.set_matrix_kept(false);
  const double step = newmark_step_size();
  analysis.loads().add_load_case("end", Amplitude({{0, 0}, {5 * step, 1}}));
  analysis.set_steps({.end = 1e3 * step, .step = step});
  analysis.start();
  for (int k = 0; k < warm; ++k) analysis.advance(step);
  seconds = {};
  const std::int64_t before = analysis.report().iterations;
  backend->wait();
  const Stopwatch watch;
  for (int k = 0; k < count; ++k) analysis.advance(step);
  backend->wait();
  found.whole = watch.seconds() / count;
  found.stages = {seconds.forming / count, seconds.loading / count, seconds.solving / count};
  found.equations = analysis.model().equation_count();
  found.iterations = static_cast<double>(analysis.report().iterations - before) / count;
  require_alike(solver->worst_residual(), 1.1e-8, "a Newmark step");
  const EnergyBalance& energies = analysis.energies();
  require_alike(std::abs(energies.numerical()) / energies.scale(), 1e-5, "the energy balance of Newmark steps");
  return found;
}

void table_one(BenchRig& rig) {
  PaperTable table("newmark", "Table 1: stages of a Newmark step",
                   {"stage", "theirs, CPU", "theirs, OpenMP and CUDA", "ours, core", "ours", "speed-up"});
  const auto domain = loaded_box("solid.tet4", Scale(rig)({106, 53, 2}, false));
  const bool quick = rig.setup().quick;
  const NewmarkStep ours = newmark_step(*domain, rig.open(), 2, quick ? 2 : 10);
  const NewmarkStep core = newmark_step(*domain, Backend::open("openmp:1"), 1, quick ? 1 : 2);
  const auto rest = [](const NewmarkStep& s) {
    return s.whole - s.stages.forming - s.stages.loading - s.stages.solving;
  };
  const auto add = [&](const char* stage, double cpu, double gpu, double on_core, double here) {
    table.add({stage, cpu, gpu, on_core, here, fmt::format("{:.0f}×", on_core / here)});
  };
  add("forming K + a0 M", 7.75, 1.45, core.stages.forming, ours.stages.forming);
  add("effective load", 4.13, 2.11, core.stages.loading, ours.stages.loading);
  add("solving by CG", 2.23, 0.11, core.stages.solving, ours.stages.solving);
  add("the rest: motion, energies", 0, 0, rest(core), rest(ours));
  add("the step", 7.75 + 4.13 + 2.23, 1.45 + 2.11 + 0.11, core.whole, ours.whole);
  table.put(rig,
            fmt::format("Steps of TransientAnalysis with Newmark's method, a CSR matrix that is formed anew in every "
                        "step, and CG with Jacobi to 1e-8 from an extrapolation ({:.0f} iterations a step). Residuals "
                        "and the balance of energy are checked. Theirs: 67 244 tetrahedra, N = 59 670; the rest of "
                        "their step is not known. Ours: {} in a plate of two layers, N = {}.",
                        ours.iterations, domain->element_count(), ours.equations));
}

}  // namespace

void bench_paper_tables(BenchRig& rig) {
  const auto part = [&](const char* what, void (*work)(BenchRig&)) {
    try {
      work(rig);
    } catch (const Error& error) {
      rig.row(what, [&](BenchRow&) { throw error; });
    }
  };
  rig.table().begin("paper-tables", "theirs: Xeon E5-2609 or E5420, GeForce GTX 680; ours: " + rig.device());
  part("Table 1", table_one);
  part("Table 2", table_two);
  part("Tables 3 and 4", tables_three_and_four);
  part("Table 5", paper_table_five);
}

}  // namespace voussoir::app
