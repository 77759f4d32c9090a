#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/library_part.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/transient_problem.hpp>

// Steps of explicit dynamics, and of Newmark's method with multigrid, by the analyses that users run.

namespace voussoir::app {
namespace {

/// A law whose steps are measured.
struct ExplicitLaw {
  std::string what, type;
  double flops = 0;   ///< of an element, an estimate
  double target = 0;  ///< seconds of a step of Model H on an H200
};

constexpr double young = 210e9, poisson = 0.3, density = 7850;

std::shared_ptr<const Material> heavy_steel() {
  auto material = std::make_shared<Material>("steel");
  for (const auto& [name, value] : {std::pair{"young", young},
                                    {"poisson", poisson},
                                    {"density", density},
                                    {"expansion", 0.0},
                                    {"yield", 300e6},
                                    {"hardening", 1e9}})
    material->set(name, value);
  return material;
}

/// A cube of Model H's kind, clamped at one face, in which waves run: every unknown has a velocity.
class WaveModel {
 public:
  WaveModel(std::shared_ptr<Backend> backend, const std::string& type, int size)
      : backend_(backend), domain_(make_box(type, {size, size, size}, 0.1)) {
    domain_->block(std::size_t{0}).set_material(heavy_steel());
    Analysis::Collaborators parts;
    parts.backend = std::move(backend);
    analysis_ = std::make_unique<ExplicitAnalysis>(*domain_, std::move(parts));
    const double speed = std::sqrt(young * (1 - poisson) / ((1 + poisson) * (1 - 2 * poisson) * density));
    const double step = 0.3 / size / speed;  // of a cell that is not distorted: well below the limit of all
    ExplicitSteps steps;
    steps.end = 1e8 * step;
    steps.step = step;
    steps.limited = false;
    analysis_->set_steps(steps);
    analysis_->set_initial_velocity(velocities());
    analysis_->start();
  }
  ExplicitAnalysis& analysis() { return *analysis_; }
  Backend& backend() const { return *backend_; }
  double elements() const { return static_cast<double>(domain_->element_count()); }

 private:
  /// Waves of 10 m/s: strains of 0.2 %, so that some points of the J2 law yield.
  NodalField velocities() const {
    NodalField field;
    field.components = {"ux", "uy", "uz"};
    const auto x = domain_->coordinates();
    for (std::size_t n = 0; n < x.size() / 3; ++n)
      for (std::size_t i = 0; i < 3; ++i)
        field.values.push_back(10 * std::sin(9 * x[3 * n + i] + 7 * x[3 * n + (i + 1) % 3]));
    return field;
  }

  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<ExplicitAnalysis> analysis_;
};

/// Displacements after some steps.
std::vector<double> moved(ExplicitAnalysis& analysis, int steps) {
  analysis.advance(steps);
  return analysis.state().unknowns.to_host();
}

/// Seconds of a call that takes some steps.
double seconds_of(WaveModel& model, int steps) {
  model.backend().wait();
  const Stopwatch watch;
  model.analysis().advance(steps);
  model.backend().wait();
  return watch.seconds();
}

/// Steps of one call: enough for half a second, without what is done once per call.
int steps_per_call(WaveModel& model) {
  const double few = seconds_of(model, 5), more = seconds_of(model, 15);
  return static_cast<int>(std::clamp(0.5 / (std::max(more - few, 1e-9) / 10), 5.0, 1000.0));
}

/// Bytes that a step must move: nodes of elements, positions, u and w read and written, masses read, history both.
double step_bytes(const BenchModel& model) {
  return model.geometry_bytes() + 5 * model.vector_bytes() + 16.0 * model.program().history_count() * model.elements();
}

void explicit_row(BenchRig& rig, const ExplicitLaw& law, int size) {
  rig.row(fmt::format("{}, {}³", law.what, size), [&](BenchRow& row) {
    constexpr int compared_steps = 12;
    std::vector<double> expected;
    {
      WaveModel reference(Backend::open("openmp"), law.type, size);
      expected = moved(reference.analysis(), compared_steps);
    }
    {
      auto domain = make_box(law.type, {size, size, size});
      domain->block(std::size_t{0}).set_material(heavy_steel());
      const BenchModel counted_model(Backend::open("openmp"), std::move(domain));
      row.floor = rig.floor(step_bytes(counted_model), law.flops * counted_model.elements());
    }
    WaveModel model(rig.open(), law.type, size);
    row.difference = relative_difference(moved(model.analysis(), compared_steps), expected);
    row.tolerance = 1e-10;
    const int steps = steps_per_call(model);
    // A call ends with a report: velocities, energies and their parts. The difference of two calls is steps alone, and
    // many of them, since some reports take as long as a hundred steps, and not always the same time.
    constexpr int times = 4;
    const double once = rig.measure(model.backend(), [&] { model.analysis().advance(steps); });
    const double often = rig.measure(model.backend(), [&] { model.analysis().advance(times * steps); });
    row.seconds = std::max(often - once, 0.0) / ((times - 1) * steps);
    const double report = std::max(once - steps * row.seconds, 0.0);
    row.target = size == 84 ? rig.target(law.target) : 0;
    const double rate = model.elements() / row.seconds;
    const std::string how = model.analysis().integrator().describe_steps();
    row.note = fmt::format("{:.3g} G element updates/s, {} steps; a report {:.2g} ms more; {}", rate * 1e-9, steps,
                           1e3 * report, how.empty() ? "step by step" : how);
    row.figures.emplace_back("element_updates_per_second", rate);
    row.figures.emplace_back("steps", steps);
    row.figures.emplace_back("seconds_of_a_report", report);
  });
}

/// A linear step of Newmark's method: the matrix and its hierarchy are formed once, CG starts from an extrapolation.
void newmark_row(BenchRig& rig, int size) {
  rig.row(fmt::format("Newmark, linear, multigrid, {}³", size), [&](BenchRow& row) {
    auto domain = make_box("solid.hex8.full", {size, size, size});
    domain->add_load_case("end").traction("xmax", {0, 0, -1e6});
    TransientOptions options;
    options.solver = "cg+amg";
    options.relative_tolerance = 1e-8;
    const auto backend = rig.open();
    const auto analysis = make_transient_analysis(*domain, backend, options);
    analysis->loads().add_load_case("end", Amplitude({{0, 0}, {5e-4, 1}, {1, 1}}));
    const double step = 2e-5;
    analysis->set_steps({.end = 1, .step = step});
    analysis->start();
    constexpr int warm = 5, count = 10;
    for (int k = 0; k < warm; ++k) analysis->advance(step);
    const std::int64_t before = analysis->report().iterations;
    std::vector<double> seconds;
    for (int k = 0; k < (rig.setup().quick ? 3 : count); ++k) {
      backend->wait();
      const Stopwatch watch;
      analysis->advance(step);
      backend->wait();
      seconds.push_back(watch.seconds());
    }
    std::sort(seconds.begin(), seconds.end());
    row.seconds = seconds[seconds.size() / 2];
    row.target = size == 84 ? rig.target(60e-3) : 0;
    const double per_step =
        static_cast<double>(analysis->report().iterations - before) / static_cast<double>(seconds.size());
    const EnergyBalance& energies = analysis->energies();
    row.difference = std::abs(energies.numerical()) / energies.scale();
    row.tolerance = 1e-5;
    row.note = fmt::format("{:.1f} iterations a step to 1e-8; the balance of energy is compared", per_step);
    row.figures.emplace_back("iterations_per_step", per_step);
  });
}

}  // namespace

void bench_explicit(BenchRig& rig) {
  load_part("libvoussoir-bench-elements.so", "the workload explicit");
  const int n = rig.setup().size, small = std::min(15, n);
  rig.table().begin("explicit",
                    "steps of explicit dynamics by ExplicitAnalysis, without reports; displacements are compared "
                    "with the CPU's");
  const std::vector<ExplicitLaw> laws{{"St Venant–Kirchhoff, 8 points", "heavy_svk_solid.hex8", 3200, 0.20e-3},
                                      {"neo-Hooke, 8 points", "heavy_neo_hooke_solid.hex8", 3900, 0},
                                      {"linear, 8 points", "solid.hex8.full", 2600, 0},
                                      {"linear, 1 point with hourglass control", "solid.hex8.reduced", 900, 0.09e-3},
                                      {"J2 with history, 8 points", "heavy_j2_solid.hex8", 3600, 0.395e-3}};
  for (const ExplicitLaw& law : laws) explicit_row(rig, law, n);
  if (small < n) explicit_row(rig, laws.front(), small);
  newmark_row(rig, n);
}

}  // namespace voussoir::app
