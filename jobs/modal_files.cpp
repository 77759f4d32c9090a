#include <voussoir/jobs/detail/modal_files.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/csv/response_tables.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/response_plots.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/detail/recorded_curves.hpp>
#include <voussoir/jobs/detail/results_json.hpp>
#include <voussoir/jobs/detail/state_view.hpp>
#include <voussoir/jobs/detail/step_histories.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>
#include <voussoir/jobs/mode_files.hpp>
#include <voussoir/jobs/mode_pictures.hpp>

namespace voussoir::detail {

namespace fs = std::filesystem;

const char* state_word(Procedure procedure) {
  switch (procedure) {
    case Procedure::frequency:
      return "mode";
    case Procedure::harmonic:
      return "frequency";
    case Procedure::spectrum:
      return "peaks";
    default:
      return "time";
  }
}

std::string state_list_name(const std::string& stem, Procedure procedure) {
  return stem + (procedure == Procedure::harmonic ? "_frequencies.pvd" : "_times.pvd");
}

std::string state_name(const std::string& stem, Procedure procedure, std::size_t number) {
  if (procedure == Procedure::spectrum) return stem + "_peaks";
  char text[32];
  std::snprintf(text, sizeof text, "_%04zu", number);
  return stem + "_" + state_word(procedure) + text;
}

namespace {

/// Energies of dynamics, the heat balance, or the increments of statics, over time.
std::string energies_file(const JobStep& step) {
  if (step.procedure == Procedure::nonlinear_statics) return "_increments";
  return step.procedure == Procedure::transient_heat ? "_heat" : "_energies";
}

}  // namespace

std::vector<std::string> ModalFiles::plan(const JobStep& step, const std::string& stem, const OutputOptions& options) {
  std::vector<std::string> files;
  const bool frequency = step.procedure == Procedure::frequency, spectrum = step.procedure == Procedure::spectrum;
  if (options.vtu && frequency)
    files = mode_shape_files(stem, 1);
  else if (options.vtu) {
    files.push_back(state_name(stem, step.procedure, 1) + ".vtu");
    if (!spectrum) files.push_back(state_list_name(stem, step.procedure));
  }
  if (frequency && options.pictures != Pictures::none)
    for (const char* ending : {".png", ".svg"}) files.push_back(stem + "_modes" + ending);
  if (frequency && options.json) files.push_back(stem + "_modes.json");
  if (!options.tables) return files;
  if (frequency)
    files.push_back(stem + "_modes.csv");
  else
    files.push_back(stem + "_peaks.csv");
  if (is_integrated(step.procedure) && step.procedure != Procedure::thermal_stress)
    for (const char* ending : {".csv", ".svg"}) {
      files.push_back(stem + energies_file(step) + ending);
      files.push_back(stem + "_sums" + ending);
      for (const std::string& name : history_file_names(step)) files.push_back(stem + name + ending);
    }
  if (!frequency && !spectrum)
    for (const char* ending : {".csv", ".svg"}) files.push_back(stem + "_history" + ending);
  return files;
}

void ModalFiles::write(const CsvTable& table, const std::string& file) {
  table.write(options_.folder / file, options_.overwrite);
  out_.done(options_.folder / file);
}

void ModalFiles::modes(std::size_t step, const std::string& stem, const ModeSet& modes) {
  if (options_.vtu)
    for (const fs::path& path :
         write_mode_shapes(*job_.domains[job_.steps[step].domain], modes, options_.folder, stem, options_.overwrite))
      out_.done(path);
  const Domain& domain = *job_.domains[job_.steps[step].domain];
  if (options_.pictures != Pictures::none) {
    const std::string title = job_.title.empty() ? job_.name : job_.title;
    for (const fs::path& path : write_mode_pictures(domain, modes, title, {options_.folder, stem, options_.overwrite}))
      out_.done(path);
  }
  if (options_.json) {
    OutputFile file(options_.folder / (stem + "_modes.json"), options_.overwrite);
    file.write(modes_json(modes, job_, job_.steps[step]));
    file.commit();
    out_.done(options_.folder / (stem + "_modes.json"));
  }
  if (!options_.tables) return;
  write(modal_table(modes), stem + "_modes.csv");
  out_.dat(calculix_modes_text(modes));
}

void ModalFiles::state(std::size_t step, const std::string& stem, StepState state) {
  if (options_.tables) {
    write_tables(step, state, false);
    if (state.imaginary) write_tables(step, state, true);
  }
  if (options_.vtu && state.for_viewers) write_view(step, stem, state);
}

void ModalFiles::write_tables(std::size_t step, const StepState& state, bool imaginary) {
  const JobStep& asked = job_.steps[step];
  if (std::none_of(state.prints.begin(), state.prints.end(), [](char wanted) { return wanted != 0; })) return;
  if (asked.procedure == Procedure::frequency) out_.dat(calculix_mode_heading(static_cast<int>(state.at)));
  std::vector<std::string> told;
  PrintSelection selection;
  selection.prints = &state.prints;
  const NodalField* const velocity =
      imaginary && state.imaginary_velocity ? &*state.imaginary_velocity : &state.velocity;
  if (velocity->width() > 0) selection.velocity = velocity;
  const auto tables = print_tables(job_, asked, imaginary ? *state.imaginary : state.result,
                                   temperatures_of(job_, asked, state), told, selection);
  for (const std::string& text : told) out_.note(text);
  add_tables(step, state, imaginary, tables);
}

void ModalFiles::add_tables(std::size_t step, const StepState& state, bool imaginary,
                            std::span<const PrintTable> tables) {
  const JobStep& asked = job_.steps[step];
  CsvState column;
  column.names = {state_word(asked.procedure)};
  column.values = {state.at};
  if (asked.procedure == Procedure::harmonic) {
    column.names.push_back("part");
    column.text = imaginary ? "imaginary" : "real";
  }
  for (const PrintTable& table : tables) {
    out_.dat(calculix_text(table, state.time));
    const TableKey key{table.request, table.item};
    if (table.wants_rows)
      add_rows(rows_.try_emplace(key, csv_head(table, job_.units, column)).first->second, table, column);
    if (table.wants_totals)
      add_totals(totals_.try_emplace(key, csv_head_of_totals(table, job_.units, column)).first->second, table, column);
  }
}

void ModalFiles::write_view(std::size_t step, const std::string& stem, StepState& state) {
  const JobStep& asked = job_.steps[step];
  if (!mesh_) mesh_ = std::make_unique<VtuMesh>();
  const std::string file = state_name(stem, asked.procedure, series_.size() + 1) + ".vtu";
  StateView(job_, asked, state, temperatures_of(job_, asked, state))
      .write(options_.folder / file, *mesh_, options_.overwrite);
  out_.done(options_.folder / file);
  series_.push_back({state.at, file});
  list_states(step, stem);
}

void ModalFiles::add_pieces(std::size_t step, const std::string& stem, double at) {
  series_.push_back({at, state_name(stem, job_.steps[step].procedure, series_.size() + 1) + ".pvtu"});
}

/// Viewers may look at a run while it goes on. Written after every state, a long list would take longer than the files.
void ModalFiles::list_states(std::size_t step, const std::string& stem) {
  const Procedure procedure = job_.steps[step].procedure;
  if (procedure != Procedure::spectrum && (series_.size() <= 100 || series_.size() >= listed_ + listed_ / 10))
    write_list(state_list_name(stem, procedure));
}

void ModalFiles::write_list(const std::string& file) {
  if (series_.size() != listed_) write_pvd(options_.folder / file, series_, options_.overwrite || listed_ > 0);
  listed_ = series_.size();
  out_.done(options_.folder / file);
}

void ModalFiles::take_added(ByteWriter& out) {
  const auto put = [&](const std::map<TableKey, CsvTable>& tables, std::map<TableKey, std::size_t>& taken) {
    out.put(static_cast<std::uint64_t>(tables.size()));
    for (const auto& [key, table] : tables) {
      std::size_t& before = taken[key];
      out.put(static_cast<std::uint64_t>(key.first)).put(static_cast<std::uint64_t>(key.second));
      out.put(static_cast<std::uint64_t>(table.columns())).put(std::string_view(table.lines()).substr(before));
      before = table.lines().size();
    }
  };
  put(rows_, taken_rows_);
  put(totals_, taken_totals_);
  out.put(static_cast<std::uint64_t>(series_.size() - taken_series_));
  for (; taken_series_ < series_.size(); ++taken_series_)
    out.put(series_[taken_series_].time).put(series_[taken_series_].file);
}

void ModalFiles::restore(std::size_t step, const std::string& stem, ByteReader& in) {
  const auto get = [&](std::map<TableKey, CsvTable>& tables, std::map<TableKey, std::size_t>& taken) {
    for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
      TableKey key;
      key.first = static_cast<std::size_t>(in.get<std::uint64_t>());
      key.second = static_cast<std::size_t>(in.get<std::uint64_t>());
      const auto columns = static_cast<std::size_t>(in.get<std::uint64_t>());
      const std::string lines = in.text();
      if (const auto known = tables.find(key); known != tables.end())
        known->second.append_lines(lines);
      else
        tables.emplace(key, CsvTable(columns, lines));
      taken[key] += lines.size();
    }
  };
  get(rows_, taken_rows_);
  get(totals_, taken_totals_);
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    PvdEntry entry;
    entry.time = in.get<double>();
    entry.file = in.text();
    out_.done(options_.folder / entry.file);
    out_.done(options_.folder / state_list_name(stem, job_.steps[step].procedure));
    series_.push_back(std::move(entry));
  }
  taken_series_ = series_.size();
}

/// Removes states after the last one, which a run that was killed may have left.
void ModalFiles::remove_later_files(std::size_t step, const std::string& stem) const {
  const Procedure procedure = job_.steps[step].procedure;
  if (!options_.overwrite || !options_.vtu || procedure == Procedure::spectrum || procedure == Procedure::frequency)
    return;
  std::error_code failed;
  for (std::size_t number = series_.size() + 1;; ++number)
    if (!fs::remove(options_.folder / (state_name(stem, procedure, number) + ".vtu"), failed) || failed) return;
}

void ModalFiles::write_curves(const JobStep& step, const std::string& stem, const StepResponse& response) {
  if (response.axis.empty()) return;
  const bool harmonic = step.procedure == Procedure::harmonic;
  if (harmonic ? response.sweeps.empty() : response.histories.empty()) return;
  write(harmonic ? csv_table(response.axis, response.sweeps) : csv_table(response.axis, response.histories),
        stem + "_history.csv");
  const std::string title = job_.name + (job_.steps.size() > 1 ? ", " + step.name : "");
  const bool heat = step.procedure == Procedure::transient_heat;
  const std::string& unit = heat ? job_.units.temperature : job_.units.length;
  const std::string label = (heat ? "temperature" : "displacement") + (unit.empty() ? "" : " [" + unit + "]");
  // Too many curves in one plot are unreadable; the table contains all of them.
  constexpr std::size_t most_curves = 6;
  const auto few = [&](const auto& curves) {
    return std::decay_t<decltype(curves)>(
        curves.begin(), curves.begin() + static_cast<std::ptrdiff_t>(std::min(curves.size(), most_curves)));
  };
  write_plot(harmonic ? sweep_plot(title, response.axis, few(response.sweeps), label)
                      : history_plot(title, response.axis, few(response.histories), label),
             stem + "_history.svg");
}

void ModalFiles::write_plot(const LinePlot& plot, const std::string& file) {
  OutputFile out(options_.folder / file, options_.overwrite);
  out.write(plot.svg());
  out.commit();
  out_.done(options_.folder / file);
}

void ModalFiles::write_records(const JobStep& step, const std::string& stem, const StepResponse& response) {
  const std::string title = job_.name + (job_.steps.size() > 1 ? ", " + step.name : "");
  if (!response.energies.empty()) {
    const std::string base = stem + energies_file(step);
    const std::string word = step.procedure == Procedure::transient_heat ? "heat" : "energy";
    const std::string unit = step.procedure == Procedure::transient_heat ? "" : job_.units.energy();
    write(csv_table(response.axis, response.energies), base + ".csv");
    NamedHistories drawn = response.energies;
    if (step.procedure == Procedure::nonlinear_statics) drawn.resize(2);  // iterations and forces are no energies
    write_plot(history_plot(title, response.axis, drawn, word + (unit.empty() ? "" : " [" + unit + "]")),
               base + ".svg");
  }
  if (!response.sums.empty()) {
    write(csv_table(response.axis, response.sums), stem + "_sums.csv");
    write_plot(plot_of_sums(title, response.axis, response.sums, job_.units), stem + "_sums.svg");
  }
  const std::vector<std::string> names = history_file_names(step);
  for (std::size_t i = 0; i < response.recorded.size() && i < names.size(); ++i) {
    const RecordedHistory& recorded = response.recorded[i];
    if (recorded.curves.empty()) continue;
    write(csv_of_history(recorded, job_.units), stem + names[i] + ".csv");
    write_plot(plot_of_history(recorded, title + ", " + recorded.name, job_.units), stem + names[i] + ".svg");
  }
}

void ModalFiles::end(std::size_t step, const std::string& stem, const StepResponse& response) {
  const JobStep& asked = job_.steps[step];
  for (const auto& [key, table] : rows_) write(table, out_.table_name(step, key.first, key.second) + ".csv");
  for (const auto& [key, table] : totals_) write(table, out_.table_name(step, key.first, key.second) + "_total.csv");
  if (!series_.empty() && asked.procedure != Procedure::spectrum) write_list(state_list_name(stem, asked.procedure));
  remove_later_files(step, stem);
  if (options_.tables && asked.procedure != Procedure::frequency) {
    CsvTable peaks({"quantity", "value",
                    state_word(asked.procedure == Procedure::spectrum ? Procedure::modal_dynamic : asked.procedure),
                    "place"});
    for (const ResponsePeak& peak : response.peaks)
      peaks.row().add(peak.quantity).add(peak.value).add(peak.at).add(peak.place);
    write(peaks, stem + "_peaks.csv");
    write_records(asked, stem, response);
    write_curves(asked, stem, response);
  }
  for (const std::string& text : response.notes) out_.note(text);
  rows_.clear();
  totals_.clear();
  series_.clear();
  mesh_.reset();
  listed_ = 0;
  taken_rows_.clear();
  taken_totals_.clear();
  taken_series_ = 0;
}

}  // namespace voussoir::detail
