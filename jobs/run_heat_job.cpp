#include <voussoir/jobs/run_heat_job.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <voussoir/backends/host_memory.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/output_lock.hpp>
#include <voussoir/framework/io/picture/grid_picture.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/vti_writer.hpp>
#include <voussoir/jobs/detail/heat_state.hpp>
#include <voussoir/jobs/earlier_files.hpp>
#include <voussoir/jobs/heat_plan.hpp>
#include <voussoir/solvers/stencil/stationary_heat.hpp>

namespace voussoir {
namespace {

/// One run from its beginning, or its state, to its files.
class HeatRun {
 public:
  HeatRun(const HeatJob& job, const HeatRunOptions& options) : job_(job), options_(options) {}

  HeatRunResult run() {
    claim_names();
    const auto backend = Backend::open(options_.backend.empty() ? job_.backend : options_.backend);
    result_.backend = backend->describe();
    require_memory(*backend);
    result_.prediction = predict_heat_run(job_, *backend);
    if (job_.stationary)
      solve(backend);
    else
      take_steps(backend);
    return std::move(result_);
  }

 private:
  std::filesystem::path path(const std::string& ending) const { return options_.folder / (job_.name + ending); }
  std::filesystem::path state_path() const { return path(".state"); }
  bool overwrite() const { return options_.overwrite || options_.resume; }

  /// Locks the names of the result files, and finds existing files before anything is computed.
  void claim_names() {
    if (options_.resume && job_.stationary)
      throw Error(ErrorCode::bad_input, "a stationary job has no state to resume from; run it without --resume");
    if (!options_.files) {
      if (options_.resume) throw Error(ErrorCode::bad_input, "a run without files cannot be resumed");
      return;
    }
    std::filesystem::create_directories(options_.folder);
    lock_.acquire(options_.folder, job_.name + "_heat");
    if (options_.overwrite && !options_.resume) earlier_.read(options_.folder, job_.name + ".results.json", job_.name);
    if (overwrite()) return;
    for (const char* ending : {".results.json", ".pvd", ".csv", ".png", ".state"})
      if (std::filesystem::exists(path(ending)))
        throw NameTaken(
            ErrorCode::io,
            std::string(".state") == ending
                ? "there is a saved state of an interrupted run; continue it with --resume, or start over with --force"
                : "this file exists already; --force replaces it",
            path(ending).string());
    if (!job_.vti) return;
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder))
      if (is_field_file(entry.path().filename().string()))
        throw NameTaken(ErrorCode::io, "this file exists already; --force replaces it", entry.path().string());
  }

  /// Whether a name is one of field_file().
  bool is_field_file(const std::string& file) const {
    const std::string start = job_.name + "_", end = ".vti";
    if (file.size() < start.size() + 6 + end.size() || !file.starts_with(start) || !file.ends_with(end)) return false;
    return std::all_of(file.begin() + static_cast<std::ptrdiff_t>(start.size()),
                       file.end() - static_cast<std::ptrdiff_t>(end.size()),
                       [](char c) { return c >= '0' && c <= '9'; });
  }

  /// A system that overcommits would kill the process without a word.
  void require_memory(const Backend& backend) const {
    if (!backend.memory(0)->shares_host_memory()) return;
    // At least: temperatures, right-hand sides, sources, values for files; of several materials two coefficients per
    // axis and capacities.
    const double fields = 4 + (job_.regions.empty() ? 0 : 3 * job_.grid.dimensions() + 3);
    const double needed = fields * sizeof(double) * static_cast<double>(job_.grid.node_count());
    const AvailableMemory room = available_host_memory();
    if (needed <= room.bytes) return;
    throw Error(ErrorCode::out_of_memory, "out of memory: " + std::to_string(job_.grid.node_count()) +
                                              " nodes need at least " + short_number(needed * 1e-9, 3) + " GB, and " +
                                              short_number(room.bytes * 1e-9, 3) +
                                              " GB are available; use fewer nodes or a larger machine");
  }

  /// Splitting schemes are stable for every step, but damp the roughest fields only slowly where steps are long.
  void note_long_steps() {
    if (job_.options.scheme != HeatScheme::douglas && job_.options.scheme != HeatScheme::peaceman_rachford) return;
    std::vector<HeatMaterial> all{job_.material};
    for (const HeatRegion& region : job_.regions) all.push_back(region.material);
    double ratio = 0;
    for (const HeatMaterial& material : all)
      for (int a = 0; a < job_.grid.dimensions(); ++a)
        ratio = std::max(
            ratio, job_.options.time_step * material.diffusivity(a) / (job_.grid.spacing(a) * job_.grid.spacing(a)));
    if (ratio <= 10 || ratio <= static_cast<double>(job_.steps)) return;
    result_.notes.push_back("the time step is " + short_number(ratio, 3) +
                            " times rho c h^2 / k, and there are fewer steps: jumps in the field and differences from "
                            "the steady state are hardly damped, and the result may be far off; use shorter steps, or "
                            "the scheme stationary for a steady state");
  }

  void take_steps(const std::shared_ptr<Backend>& backend) {
    const auto analysis = job_.regions.empty()
                              ? std::make_unique<GridHeatAnalysis>(job_.grid, job_.material, job_.options, backend)
                              : std::make_unique<GridHeatAnalysis>(job_.grid, job_.materials(), job_.options, backend);
    GridHeatAnalysis& heat = *analysis;
    for (const GridTerm& source : job_.sources) heat.sources().add(source);
    if (options_.resume) {
      progress_ = detail::load_heat_state(state_path(), job_.fingerprint);
      if (progress_.state.step > job_.steps)
        throw Error(ErrorCode::bad_input,
                    "the state was saved after step " + std::to_string(progress_.state.step) + ", and the job has " +
                        std::to_string(job_.steps) + " steps",
                    state_path().string());
      heat.restore(progress_.state);
      result_.resumed_from = progress_.state.step;
    } else {
      job_.initial.fill(heat.temperature());
      heat.balance();  // prescribed values are set
      record(heat);
    }
    result_.setup_seconds = since_start_.seconds();
    if (!options_.resume) write_field(heat, true);
    const Stopwatch stepping;
    Stopwatch since_saved;
    constexpr double seconds_between_states = 60;
    const double before = result_.write_seconds;
    bool go_on = true;
    while (heat.step_count() < job_.steps && go_on) {
      heat.step();
      record(heat);
      const bool last = heat.step_count() == job_.steps;
      const bool due = job_.every > 0 && heat.step_count() % job_.every == 0;
      if (!last && due) write_field(heat, true);
      if (!last && (due || since_saved.seconds() > seconds_between_states)) {
        heat.check();
        save(heat);
        since_saved = Stopwatch();
      }
      go_on = tell("stepping", heat, stepping.seconds()) || last;
    }
    heat.check();
    result_.complete = heat.step_count() == job_.steps;
    result_.steps = heat.step_count();
    result_.time = heat.time();
    result_.balance = heat.balance();
    result_.step_seconds = stepping.seconds() - (result_.write_seconds - before);
    if (!result_.complete) {
      save(heat);
      if (options_.files) result_.files.push_back(state_path());
      return;
    }
    note_long_steps();
    finish(heat.temperature());
    if (options_.files) std::filesystem::remove(state_path());
  }

  void solve(const std::shared_ptr<Backend>& backend) {
    const auto space = std::make_shared<const GridSpace>(job_.grid, backend);
    GridField temperature(space);
    GridSources sources(space);
    for (const GridTerm& source : job_.sources) sources.add(source);
    job_.initial.fill(temperature);
    JacobiOptions how;
    how.iterations = job_.stationary_options.max_iterations;
    how.tolerance = job_.stationary_options.tolerance;
    how.damping = job_.stationary_options.chebyshev ? JacobiDamping::chebyshev : JacobiDamping::plain;
    result_.setup_seconds = since_start_.seconds();
    const Stopwatch iterating;
    const StationaryReport report =
        solve_stationary(temperature, job_.material, sources, how, [&](const StationaryProgress& at) {
          if (!options_.observer) return true;
          HeatJobProgress progress;
          progress.stage = "iterating";
          progress.step = at.iterations;
          progress.residual = at.residual;
          if (at.residual > 0 && at.residual < 1)
            progress.seconds_left =
                std::max(0.0, iterating.seconds() * (std::log(how.tolerance) / std::log(at.residual) - 1));
          return options_.observer(progress);
        });
    result_.step_seconds = iterating.seconds();
    result_.steps = report.iterations;
    result_.residual = report.residual;
    result_.complete = !report.stopped || report.converged;
    if (!result_.complete) return;
    if (!report.converged)
      throw Error(ErrorCode::not_converged,
                  "after " + std::to_string(report.iterations) + " Jacobi iterations the residual is " +
                      short_number(report.residual, 3) + " times the initial one, above the tolerance " +
                      short_number(how.tolerance, 3) + "; raise /stationary/max_iterations, or use fewer nodes");
    finish(temperature);
  }

  /// A row of the history.
  void record(const GridHeatAnalysis& heat) {
    if (job_.points.empty()) return;
    progress_.history.push_back(static_cast<double>(heat.step_count()));
    progress_.history.push_back(heat.time());
    for (const double value : at_points(heat.temperature())) progress_.history.push_back(value);
  }

  std::vector<double> at_points(const GridField& field) const {
    std::vector<std::int64_t> nodes;
    for (const HeatPoint& point : job_.points) nodes.push_back(point.node);
    return field.at(nodes);
  }

  bool tell(const std::string& stage, const GridHeatAnalysis& heat, double seconds) const {
    if (!options_.observer) return true;
    const auto done = static_cast<double>(heat.step_count() - result_.resumed_from);
    HeatJobProgress progress;
    progress.stage = stage;
    progress.step = heat.step_count();
    progress.steps = job_.steps;
    progress.time = heat.time();
    progress.seconds_left = seconds / done * static_cast<double>(job_.steps - heat.step_count());
    return options_.observer(progress);
  }

  std::string field_file(std::int64_t step) const {
    const std::string digits = std::to_string(step);
    return job_.name + "_" + std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits + ".vti";
  }

  void write_field(GridHeatAnalysis& heat, bool check) {
    if (check) heat.check();
    if (!options_.files || !job_.vti) return;
    const Stopwatch writing;
    write_vti(heat.temperature().to_host(), heat.step_count());
    result_.write_seconds += writing.seconds();
  }

  void write_vti(const std::vector<double>& values, std::int64_t step) {
    VtuOptions how;
    how.overwrite = overwrite();
    VtiWriter(job_.grid).add("temperature", values).write(options_.folder / field_file(step), how);
    if (progress_.written.empty() || progress_.written.back() != step) progress_.written.push_back(step);
  }

  void save(GridHeatAnalysis& heat) {
    if (!options_.files) return;
    const Stopwatch writing;
    progress_.state = heat.state();
    detail::save_heat_state(state_path(), job_.fingerprint, progress_);
    result_.write_seconds += writing.seconds();
  }

  double time_of(std::int64_t step) const {
    return job_.stationary ? 0 : job_.options.start_time + static_cast<double>(step) * job_.options.time_step;
  }

  void finish(const GridField& temperature) {
    result_.summary = temperature.summary();
    double volume = 1;
    for (int a = 0; a < job_.grid.dimensions(); ++a) volume *= job_.grid.length(a);
    result_.mean = temperature.integral() / volume;
    result_.at_points = at_points(temperature);
    if (!options_.files) return;
    const Stopwatch writing;
    const std::vector<double> values = temperature.to_host();
    if (job_.vti) {
      write_vti(values, job_.stationary ? 0 : result_.steps);
      std::vector<PvdEntry> entries;
      for (const std::int64_t step : progress_.written) {
        entries.push_back({time_of(step), field_file(step)});
        result_.files.push_back(options_.folder / field_file(step));
      }
      write_pvd(path(".pvd"), entries, overwrite());
      result_.files.push_back(path(".pvd"));
    }
    if (!job_.points.empty() && !job_.stationary) write_history();
    if (job_.picture && job_.grid.dimensions() > 1) write_picture(values);
    result_.files.push_back(path(".results.json"));
    result_.write_seconds += writing.seconds();
    OutputFile document(path(".results.json"), overwrite());
    document.write(heat_results_json(job_, result_));
    document.commit();
    earlier_.remove_others(result_.files);
  }

  void write_history() {
    std::vector<std::string> columns{"step", "time"};
    for (const HeatPoint& point : job_.points) columns.push_back(point.name);
    CsvTable table(columns);
    for (std::size_t n = 0; n < progress_.history.size(); n += columns.size()) {
      table.row().add(static_cast<std::int64_t>(progress_.history[n]));
      for (std::size_t c = 1; c < columns.size(); ++c) table.add(progress_.history[n + c]);
    }
    table.write(path(".csv"), overwrite());
    result_.files.push_back(path(".csv"));
  }

  void write_picture(const std::vector<double>& values) {
    GridPictureOptions how;
    how.overwrite = overwrite();
    how.title = job_.title.empty() ? job_.name : job_.title;
    how.subtitle = job_.stationary ? "steady state" : "time " + short_number(result_.time, 6);
    if (job_.grid.dimensions() == 3)
      how.subtitle +=
          ", plane z = " + short_number(job_.grid.origin()[2] + job_.grid.nodes(2) / 2 * job_.grid.spacing(2), 4);
    write_grid_picture(job_.grid, values, path(".png"), how);
    result_.files.push_back(path(".png"));
  }

  const HeatJob& job_;
  const HeatRunOptions& options_;
  Stopwatch since_start_;
  OutputLock lock_;
  EarlierFiles earlier_;
  detail::HeatProgress progress_;
  HeatRunResult result_;
};

}  // namespace

HeatRunResult run_heat_job(const HeatJob& job, const HeatRunOptions& options) { return HeatRun(job, options).run(); }

std::string heat_results_json(const HeatJob& job, const HeatRunResult& result) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  const auto place = [&](std::int64_t node) {
    Json list = Json::array();
    const GridPosition x = job.grid.position(node);
    for (int a = 0; a < job.grid.dimensions(); ++a) list.push_back(number(x[static_cast<std::size_t>(a)]));
    return list;
  };
  Json document;
  document["program"] = "voussoir";
  document["version"] = version();
  document["job"] = printable_text(job.name);
  if (!job.title.empty()) document["title"] = printable_text(job.title);
  document["backend"] = result.backend;
  document["scheme"] = job.stationary ? "stationary" : to_string(job.options.scheme);
  Json grid;
  for (int a = 0; a < job.grid.dimensions(); ++a) {
    grid["nodes"].push_back(job.grid.nodes(a));
    grid["spacing"].push_back(number(job.grid.spacing(a)));
  }
  document["grid"] = grid;
  document["complete"] = result.complete;
  if (job.stationary) {
    document["iterations"] = result.steps;
    document["residual"] = number(result.residual);
  } else {
    document["steps"] = result.steps;
    document["time_step"] = number(job.options.time_step);
    document["time"] = number(result.time);
    if (result.resumed_from > 0) document["resumed_from_step"] = result.resumed_from;
  }
  document["temperature"] = {{"min", number(result.summary.least)},
                             {"min_at", place(std::max<std::int64_t>(0, result.summary.least_at))},
                             {"max", number(result.summary.greatest)},
                             {"max_at", place(std::max<std::int64_t>(0, result.summary.greatest_at))},
                             {"mean", number(result.mean)}};
  if (!job.stationary) {
    const HeatBalance& b = result.balance;
    // What is left of the balance went through sides of prescribed temperature, where there are some.
    const bool prescribed = job.grid.has_prescribed_sides();
    document["heat"] = {{"content", number(b.content)},
                        {"initial_content", number(b.initial_content)},
                        {"from_sources", number(b.from_sources)},
                        {"through_flux_sides", number(b.through_flux_sides)},
                        {"through_prescribed_sides", prescribed ? number(b.remainder()) : Json(0.0)},
                        {"defect", prescribed ? Json(nullptr) : number(b.remainder())}};
  }
  for (std::size_t p = 0; p < job.points.size() && p < result.at_points.size(); ++p)
    document["points"].push_back({{"name", printable_text(job.points[p].name)},
                                  {"node_at", place(job.points[p].node)},
                                  {"temperature", number(result.at_points[p])}});
  if (!result.notes.empty()) document["notes"] = result.notes;
  document["seconds"] = {{"setup", number(result.setup_seconds)},
                         {"steps", number(result.step_seconds)},
                         {"files", number(result.write_seconds)}};
  Json predicted{{"note", printable_text(result.prediction.note)}};
  for (const StagePrediction& stage : result.prediction.stages)
    predicted["seconds"][stage.stage] = stage.seconds ? number(*stage.seconds) : Json(nullptr);
  if (result.prediction.iterations) {
    predicted["iterations"] = result.prediction.iterations->iterations;
    predicted["assumption"] = result.prediction.iterations->text;
  }
  document["predicted"] = predicted;
  for (const auto& file : result.files) document["files"].push_back(printable_text(file.filename().string()));
  return document.dump(2) + "\n";
}

}  // namespace voussoir
