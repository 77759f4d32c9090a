#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/load_option.hpp>
#include <voussoir/apps/commands/modal_text.hpp>
#include <voussoir/apps/commands/number_checks.hpp>
#include <voussoir/apps/commands/solver_options.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/csv/response_tables.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/output_lock.hpp>
#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/io/picture/picture.hpp>
#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/framework/response/artificial_earthquake.hpp>
#include <voussoir/jobs/mode_pictures.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>

namespace voussoir::app {
namespace {

constexpr double gravity = 9.81, damping = 0.05;
constexpr double time_step = 0.0025;  // seconds: 16 steps in a period of the first mode
constexpr int mode_count = 12;

struct DemoOptions {
  std::string backend = "auto";
  std::string solver = "auto";
  std::string output = "out";
  std::int64_t size = 60000;
};

/// Results go into one folder and replace those of an earlier run.
class DemoFiles {
 public:
  explicit DemoFiles(std::filesystem::path folder) : folder_(std::move(folder)) {
    // A folder that is not there yet is made when there is something to put into it.
    if (std::filesystem::is_directory(folder_)) open();
  }
  const std::filesystem::path& open() {
    if (!is_open_) {
      std::filesystem::create_directories(folder_);
      lock_.acquire(folder_, "pump");
      is_open_ = true;
    }
    return folder_;
  }
  void write(const std::string& name, const std::string& contents) {
    OutputFile file(open() / name, true);
    file.write(contents);
    file.commit();
  }

 private:
  std::filesystem::path folder_;
  OutputLock lock_;
  bool is_open_ = false;
};

/// The highest node of the pressure nozzle.
Id top_of_pump(const Domain& domain) {
  std::int32_t top = -1;
  const auto height = [&](std::int32_t n) { return domain.coordinates()[3 * static_cast<std::size_t>(n) + 2]; };
  for (const std::int32_t n : domain.node_set("nozzle"))
    if (top < 0 || height(n) > height(top)) top = n;
  return domain.node_id(top);
}

/// The time, by its index, at which a point of an element has the largest Mises stress. Stresses at all points and
/// times are most of the work; they are followed for two seconds, around the largest displacement.
std::size_t worst_time(const ModeSuperposition& pump, const SuperposedHistory& history, double furthest) {
  const auto times = history.times();
  const auto first = std::lower_bound(times.begin(), times.end(), furthest - 1);
  const auto last = std::upper_bound(first, times.end(), furthest + 1);
  const SuperposedHistory strongest = pump.time_history({first, last});
  Peak worst;
  for (const PointExtremes& block : strongest.point_extremes())
    if (const Peak peak = block.largest("mises").peak; peak.value > worst.value) worst = peak;
  return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), worst.time) - times.begin());
}

void draw_stress(const Domain& domain, const StepResult& worst, double time, DemoFiles& files) {
  Picture picture(domain);
  picture.deform(worst.unknowns).colour(nodal_stress(domain, worst), "mises", "von Mises stress, MPa", 1e-6);
  PictureOptions how;
  how.overwrite = true;
  how.title = "Pump on a frame, artificial earthquake";
  how.subtitle = fmt::format("base acceleration along y, after {:.3f} s · {} unknowns, hex8 · displacements × {:g}",
                             time, readable_count(std::int64_t{3} * domain.node_count()), picture.deformation());
  picture.write(files.open() / "pump.png", how);
}

/// Some instants around the worst one, as a series for ParaView.
void write_series(const Domain& domain, const SuperposedHistory& history, std::size_t worst, DemoFiles& files) {
  constexpr std::size_t around = 5;
  VtuMesh mesh;
  VtuOptions vtu;
  vtu.overwrite = true;
  std::vector<PvdEntry> series;
  for (std::size_t t = worst - std::min(worst, around); t < std::min(worst + around + 1, history.count()); ++t) {
    const StepResult state = history.state(t);
    const std::string name = fmt::format("pump_{:02}.vtu", series.size() + 1);
    VtuWriter(domain).add(state.unknowns).add(nodal_stress(domain, state)).reuse(mesh).write(files.open() / name, vtu);
    series.push_back({history.times()[t], name});
  }
  write_pvd(files.open() / "pump.pvd", series, true);
}

/// Histories of the ground, of the top of the pump and of the reaction of the feet.
void write_histories(const SuperposedHistory& history, const Accelerogram& ground, Id top,
                     const std::vector<double>& shear, DemoFiles& files) {
  const auto moved = history.history(top, "uy");
  const auto felt = history.history(top, "uy", ModalQuantity::acceleration, MotionFrame::absolute);
  std::vector<double> shaken;
  for (const double time : history.times()) shaken.push_back(ground.at(time));
  const auto curve = [&](const std::vector<double>& values, double unit) {
    LinePlot::Points points;
    for (std::size_t t = 0; t < history.count(); ++t) points.emplace_back(history.times()[t], unit * values[t]);
    return points;
  };
  LinePlot plot("A pump in an artificial earthquake", "time [s]");
  plot.panel("acceleration [g]")
      .curve("top of the pump", curve(felt, 1 / gravity))
      .curve("ground", curve(shaken, 1 / gravity));
  plot.panel("displacement [mm]").curve("top of the pump", curve(moved, 1e3));
  plot.panel("base shear [kN]").curve("feet", curve(shear, 1e-3));
  files.write("pump_history.svg", plot.svg());
  files.write("pump_history.csv",
              csv_table(history.times(), {{"uy_top", moved}, {"ay_top", felt}, {"base_shear", shear}}).text());
}

/// The response spectrum of the record, and where the modes are.
void write_spectrum(const Accelerogram& ground, const ModeSet& modes, DemoFiles& files) {
  LinePlot plot("Response spectrum of the earthquake, 5 % damping", "frequency [Hz]; dashed: modes of the pump");
  LinePlot::Points points, target;
  const auto periods = logarithmic_periods(0.01, 2, 200);
  for (const OscillatorPeaks& peak : oscillator_peaks(ground, periods, damping))
    points.insert(points.begin(), {1 / peak.period, peak.pseudo_acceleration / gravity});
  const ResponseSpectrum code = eurocode8_spectrum();
  for (const auto& [frequency, value] : points) target.emplace_back(frequency, code.at_frequency(frequency));
  plot.panel("pseudo-acceleration [g]")
      .curve("artificial earthquake", std::move(points))
      .curve("Eurocode 8, type 1, ground B", std::move(target));
  for (int m = 0; m < modes.count(); ++m)
    if (modes.frequency(m) < 100) plot.mark(modes.frequency(m), std::to_string(m + 1));
  files.write("pump_spectrum.svg", plot.svg());
}

/// The response of the pump to the earthquake, by superposition of its modes.
void shake(const Domain& domain, ModalAnalysis& analysis, const ModeSet& modes, DemoFiles& files) {
  const Accelerogram ground = artificial_earthquake().scaled(gravity);
  ModeSuperposition pump = make_mode_superposition(analysis);
  pump.set_damping(ModalDamping::ratio(damping));
  pump.add_base_acceleration("y", ground);
  const SuperposedHistory history = pump.time_history(even_times(0, ground.times().back(), time_step));

  const FieldExtremes moved = history.extremes();
  const auto furthest = moved.magnitude.largest("uy");
  const double when = moved.at(furthest.node, "uy").peak().time;
  const std::size_t worst = worst_time(pump, history, when);
  const StepResult state = history.state(worst);
  NodalField::Extreme mises;
  for (const MaterialField& material : nodal_stress(domain, state))
    if (const auto e = material.field.largest("mises"); e.value > mises.value) mises = e;
  const std::vector<double> shear = history.reaction_sums()[1];
  const auto largest =
      std::max_element(shear.begin(), shear.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });

  show(
      "\nAn artificial earthquake along y that has the spectrum of Eurocode 8 (type 1, ground B):\n"
      "  {:.0f} s, peak {:.3f} g; damping {:.0f} %, {} instants\n",
      ground.duration(), std::abs(ground.peak().value) / gravity, 100 * damping, history.count());
  for (const LoadCoverage& cover : pump.truncation().loads)
    show(
        "  the modes have {:.1f} % of the mass along y and {:.4f} % of the strain energy; a static correction adds the "
        "rest\n\n",
        100 * cover.mass, 100 * cover.static_energy);
  show("  {:<28} {:>10}      {:>9} {:>8}\n", "peak", "value", "time, s", "node");
  const auto row = [](const char* what, double value, const char* unit, double time, const std::string& where) {
    show("  {:<28} {:>10.4g} {:<4} {:>9.3f} {:>8}\n", what, value, unit, time, where);
  };
  row("displacement along y", moved.magnitude.at(furthest.node, "uy") * 1e3, "mm", when,
      std::to_string(domain.node_id(furthest.node)));
  row("von Mises stress around then", mises.value * 1e-6, "MPa", history.times()[worst],
      std::to_string(domain.node_id(mises.node)));
  row("base shear along y", *largest * 1e-3, "kN", history.times()[static_cast<std::size_t>(largest - shear.begin())],
      "feet");

  draw_stress(domain, state, history.times()[worst], files);
  write_series(domain, history, worst, files);
  write_histories(history, ground, top_of_pump(domain), shear, files);
  write_spectrum(ground, modes, files);
}

void run_demo(const DemoOptions& options) {
  const Stopwatch since_start;
  DemoFiles files(options.output);
  Domain domain;
  PumpModel model;
  model.fineness = {0, options.size};
  add_pump_model(domain, model);

  ModalOptions how;
  how.backend = options.backend;
  how.solver = options.solver;
  const auto analysis = make_modal_analysis(domain, how);
  show("A pump on a welded frame: {} nodes, {} elements (solid.hex8, incompatible modes), {} unknowns\n",
       domain.node_count(), domain.element_count(), std::int64_t{3} * domain.node_count());
  show("Backend: {}\n", analysis->backend().describe());
  EigenRequest request;
  request.modes = mode_count;
  const ModeSet modes = analysis->solve(request);
  show("Solver:  {}\n         {}\n\n", modes.report.solver, modes.report.choice);
  print(mode_rows(modes));
  show("\n  {}\n", modes.report.statement);
  write_mode_pictures(domain, modes, "Pump on a frame", {files.open(), "pump", true});
  const double for_modes = since_start.seconds();

  shake(domain, *analysis, modes, files);
  show(
      "\nWrote to {}: pump_modes.png, pump_modes.svg, pump.png, pump_history.svg, pump_history.csv, pump_spectrum.svg\n"
      "and pump.pvd, eleven instants around the largest stress (open it in ParaView).\n"
      "Modes {:.1f} s, earthquake {:.1f} s\n",
      files.open().string(), for_modes, since_start.seconds() - for_modes);
}

}  // namespace

void add_demo_command(CLI::App& program) {
  CLI::App* demo = program.add_subcommand("demo",
                                          "Find the modes of a pump on a frame and shake it with an earthquake; print "
                                          "tables, write pictures and VTU files");
  auto options = std::make_shared<DemoOptions>();
  demo->add_option("--backend", options->backend, "Compute backend; openmp:N uses N threads")
      ->type_name("auto|openmp|openmp:N|debug|cuda|cuda:0,1")
      ->capture_default_str();
  add_load_option(*demo);
  add_eigen_solver_option(*demo, options->solver);
  demo->add_option("--output", options->output, "Folder for pump.png and the other files, which are replaced")
      ->type_name("DIR")
      ->capture_default_str();
  demo->add_option("--size", options->size, "Approximate number of unknowns; at least about 6000")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number_between(1, 1000000000));
  demo->footer(
      "Examples: voussoir demo                                60 000 unknowns, some 30 s of processor time\n"
      "          voussoir demo --size 20000 --solver lobpcg   smaller, with another eigen-solver\n"
      "The ground accelerates along y in an artificial earthquake that has the elastic spectrum of Eurocode 8 (type "
      "1,\n"
      "ground B, a_g = 0.25 g). Each run replaces the files of the previous one.\n"
      "`voussoir mesh pump pump.inp` writes the same model as a deck.");
  demo->callback([options] { run_demo(*options); });
}

}  // namespace voussoir::app
