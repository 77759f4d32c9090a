#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/output_lock.hpp>
#include <voussoir/framework/io/picture/picture.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/voussoir.hpp>

namespace voussoir::app {
namespace {

struct DemoOptions {
  std::string backend = "auto";
  std::string solver = "auto";
  std::string output = "out";
  std::int64_t size = 200000;
};

struct Largest {
  double value = 0;
  Id node = 0;
};

Largest largest_displacement(const Domain& domain, const StepResult& result) {
  Largest peak;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (const double u = std::hypot(result.unknowns.at(n, 0), result.unknowns.at(n, 1), result.unknowns.at(n, 2));
        u > peak.value)
      peak = {u, domain.node_id(n)};
  return peak;
}

void print_step(const Domain& domain, const StepResult& result, const std::vector<MaterialField>& stress) {
  const Largest moved = largest_displacement(domain, result);
  Largest mises;
  for (const MaterialField& material : stress)
    if (const auto e = material.field.largest("mises"); e.value > mises.value)
      mises = {e.value, domain.node_id(e.node)};
  show("  {:<18} {:>10.4f} {:>8} {:>10.3f} {:>8} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}\n", result.step,
       moved.value * 1e3, moved.node, mises.value * 1e-6, mises.node, result.load_sum[1] * 1e-3,
       result.reaction_sum[1] * 1e-3, result.load_sum[2] * 1e-3, result.reaction_sum[2] * 1e-3);
}

void write_results(const Domain& domain, const StepResult& result, std::vector<MaterialField> stress,
                   const std::filesystem::path& folder) {
  VtuOptions vtu;
  vtu.overwrite = true;  // the demo may be run again and again
  VtuWriter(domain).add(result.unknowns).add(stress).write(folder / "pump.vtu", vtu);

  Picture picture(domain);
  picture.deform(result.unknowns).colour(std::move(stress), "mises", "von Mises stress, MPa", 1e-6);
  PictureOptions how;
  how.overwrite = true;
  how.title = "Pump on a frame";
  how.subtitle = fmt::format("gravity and 0.4 g lateral · {} unknowns, hex8 · displacements × {:g}",
                             readable_count(std::int64_t{3} * domain.node_count()), picture.deformation());
  picture.write(folder / "pump.png", how);
}

void run_demo(const DemoOptions& options) {
  const Stopwatch since_start;
  const std::filesystem::path folder = options.output;
  OutputLock lock;
  // A folder that is not there yet is made when there is something to put into it.
  const bool is_there = std::filesystem::is_directory(folder);
  if (is_there) lock.acquire(folder, "pump");
  Domain domain;
  PumpModel model;
  model.fineness = {0, options.size};
  const auto steps = add_pump_model(domain, model);
  const double meshing = since_start.seconds();

  StaticOptions how;
  how.backend = options.backend;
  how.solver = options.solver;
  auto analysis = make_static_analysis(domain, how);
  show("A pump on a welded frame: {} nodes, {} elements (solid.hex8, incompatible modes), {} unknowns\n",
       domain.node_count(), domain.element_count(), std::int64_t{3} * domain.node_count());
  show("Backend: {}\n", analysis->backend().describe());
  for (const SampleStep& step : steps) analysis->add_step({step.name, step.load_cases, 1});
  const std::vector<StepResult> results = analysis->run();
  const SolveReport& report = results.front().report;
  show("Solver:  {}\n", report.solver);
  for (const std::string& line : {report.choice, report.preconditioner})
    if (!line.empty()) show("         {}\n", line);
  show("         {}; true relative residual {:.1e}\n", report.reason, report.true_residual);
  if (!report.note.empty()) show("         {}\n", report.note);
  show("\n");

  show("  {:<18} {:>10} {:>8} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10}\n", "step", "max |u|", "node", "max Mises",
       "node", "load y", "reaction y", "load z", "reaction z");
  show("  {:<18} {:>10} {:>8} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10}\n", "", "mm", "", "MPa", "", "kN", "kN", "kN",
       "kN");
  std::vector<MaterialField> stress;
  for (const StepResult& result : results) {
    stress = nodal_stress(domain, result);
    print_step(domain, result, stress);
  }
  const Stopwatch since_solved;
  if (!is_there) {
    std::filesystem::create_directories(folder);
    lock.acquire(folder, "pump");
  }
  write_results(domain, results.back(), std::move(stress), folder);

  show("\n  {:<22} {:>9}\n  {:<22} {:>9.3f}\n", "stage", "seconds", "mesh", meshing);
  for (const auto& s : analysis->stage_times()) show("  {:<22} {:>9.3f}\n", s.stage, s.seconds);
  show("  {:<22} {:>9.3f}\n", "write files", since_solved.seconds());
  show("\nWrote {} (open it in ParaView) and {}. Whole run: {:.2f} s\n", (folder / "pump.vtu").string(),
       (folder / "pump.png").string(), since_start.seconds());
}

}  // namespace

void add_demo_command(CLI::App& program) {
  CLI::App* demo = program.add_subcommand(
      "demo",
      "Solve a pump on a frame under gravity and a lateral load; print a table, write a VTU file and a picture");
  auto options = std::make_shared<DemoOptions>();
  demo->add_option("--backend", options->backend, "Compute backend; openmp:N uses N threads")
      ->type_name("auto|openmp|openmp:N|debug|cuda|cuda:0,1")
      ->capture_default_str();
  add_load_option(*demo);
  add_solver_option(*demo, options->solver);
  demo->add_option("--output", options->output, "Folder for pump.vtu and pump.png, which are replaced if they exist")
      ->type_name("DIR")
      ->capture_default_str();
  demo->add_option("--size", options->size, "Approximate number of unknowns; at least about 6000")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number_between(1, 1000000000));
  demo->footer(
      "Examples: voussoir demo                               200 000 unknowns, some seconds\n"
      "          voussoir demo --size 20000 --solver cg+fsai   smaller, with conjugate gradients\n"
      "Each run replaces pump.vtu and pump.png of the previous one.\n"
      "`voussoir mesh pump pump.inp` writes the same model as a deck.");
  demo->callback([options] { run_demo(*options); });
}

}  // namespace voussoir::app
