#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numbers>
#include <string>

#include <voussoir/apps/command.hpp>
#include <voussoir/framework/domain/structured_mesh.hpp>
#include <voussoir/framework/io/vtu_writer.hpp>
#include <voussoir/voussoir.hpp>

namespace voussoir::app {
namespace {

struct DemoOptions {
  std::string backend = "auto";
  std::string solver = "auto";
  std::string output = "out";
  int size = 8;
};

/// A semicircular stone arch of 10 m span: its weight, and a load on one side of it.
void build_arch(Domain& domain, int n) {
  BoxMesh box;
  box.type = "solid.hex8";
  box.cells = {16 * n, n, 2 * n};
  box.upper = {std::numbers::pi, 1.0, 2.0};  // angle, thickness of the ring, width
  box.map = [](double angle, double depth, double width) {
    const double r = 5.0 + depth;
    return std::array{-r * std::cos(angle), r * std::sin(angle), width};
  };
  box.block = "arch";
  ElementBlock& arch = add_box_mesh(domain, box);
  arch.set_material(std::make_shared<IsotropicMaterial>("limestone", 40e9, 0.25, 2400));
  domain.prescribe("xmin", "all");
  domain.prescribe("xmax", "all");
  domain.add_load_case("weight").gravity("", {0, -9.81, 0});
  // The haunch on the left: faces on the outer side whose nodes all lie between 30° and 60°.
  domain.add_surface_where("haunch", [](double x, double y, double) {
    const double r = std::hypot(x, y), angle = std::atan2(y, -x);
    return r > 6 - 1e-6 && angle > std::numbers::pi / 6 - 1e-6 && angle < std::numbers::pi / 3 + 1e-6;
  });
  domain.add_load_case("fill").pressure("haunch", 50e3);
}

void print_step(const Domain& domain, const StepResult& r) {
  const auto down = r.unknowns.largest("uy");
  const auto stress = nodal_stress(domain, r).front().field;
  const auto mises = stress.largest("mises");
  double tension = -1e300;
  std::int32_t at = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (stress.at(n, "principal1") > tension) {
      tension = stress.at(n, "principal1");
      at = n;
    }
  fmt::print("  {:<14} {:>12.4f} {:>9} {:>12.4f} {:>9} {:>12.4f} {:>9} {:>13.3f} {:>13.3f}\n", r.step, down.value * 1e3,
             domain.node_id(down.node), mises.value * 1e-6, domain.node_id(mises.node), tension * 1e-6,
             domain.node_id(at), r.load_sum[1] * 1e-3, r.reaction_sum[1] * 1e-3);
}

void run_demo(const DemoOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Domain domain;
  build_arch(domain, options.size);
  StaticOptions how;
  how.backend = options.backend;
  how.solver = options.solver;
  auto analysis = make_static_analysis(domain, how);
  fmt::print("A stone arch of 10 m span, {} nodes, {} elements (solid.hex8, incompatible modes)\n", domain.node_count(),
             domain.element_count());
  fmt::print("Backend: {}\n", analysis->backend().describe());
  analysis->add_step({"weight", {{"weight", 1}}});
  analysis->add_step({"weight + fill", {{"weight", 1}, {"fill", 1}}});
  const auto results = analysis->run();
  const SolveReport& report = results.front().report;
  fmt::print("Solver:  {}\n         {}\n         {}; true relative residual {:.1e}\n\n", report.solver, report.choice,
             report.reason, report.true_residual);
  fmt::print("  {:<14} {:>12} {:>9} {:>12} {:>9} {:>12} {:>9} {:>13} {:>13}\n", "step", "max |uy|", "node", "max Mises",
             "node", "max tension", "node", "load y", "reaction y");
  fmt::print("  {:<14} {:>12} {:>9} {:>12} {:>9} {:>12} {:>9} {:>13} {:>13}\n", "", "mm", "", "MPa", "", "MPa", "",
             "kN", "kN");
  for (const auto& r : results) print_step(domain, r);
  fmt::print("\n  {:<22} {:>9}\n", "stage", "seconds");
  for (const auto& s : analysis->stage_times()) fmt::print("  {:<22} {:>9.3f}\n", s.stage, s.seconds);

  std::filesystem::create_directories(options.output);
  const std::string file = (std::filesystem::path(options.output) / "arch.vtu").string();
  VtuOptions overwrite;
  overwrite.overwrite = true;  // the demo may be run again and again
  VtuWriter(domain).add(results.back().unknowns).add(nodal_stress(domain, results.back())).write(file, overwrite);
  fmt::print("\nWrote {} (open it in ParaView). Whole run: {:.2f} s\n", file,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace

void add_demo_command(CLI::App& program) {
  CLI::App* demo =
      program.add_subcommand("demo", "Solve a stone arch under its weight and a load, print a table, write a VTU");
  auto options = std::make_shared<DemoOptions>();
  demo->add_option("--backend", options->backend, "auto, openmp, openmp:N, debug, …")->capture_default_str();
  demo->add_option("--solver", options->solver, "auto, direct, cg+jacobi, cg+block-jacobi, cg+chebyshev, cg+fsai")
      ->capture_default_str();
  demo->add_option("--output", options->output, "Folder for the result file")->capture_default_str();
  demo->add_option("--size", options->size, "Elements through the ring; the whole has 32 times its cube")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  demo->callback([options] { run_demo(*options); });
}

}  // namespace voussoir::app
