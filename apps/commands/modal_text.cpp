#include <voussoir/apps/commands/modal_text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/mode_files.hpp>

namespace voussoir::app {
namespace {

constexpr int translations = 3;

}  // namespace

std::string mode_rows(const ModeSet& modes) {
  std::string text = fmt::format("  {:>5} {:>13} {:>9}   {:^26}   {:^26}\n", "mode", "frequency", "residual",
                                 "effective mass [%]", "accumulated [%]") +
                     fmt::format("  {:>5} {:>13} {:>9}   {:>8} {:>8} {:>8}   {:>8} {:>8} {:>8}\n", "", "Hz", "", "x",
                                 "y", "z", "x", "y", "z");
  for (int m = 0; m < modes.count(); ++m) {
    text += fmt::format("  {:>5} {:>13.7g} {:>9.1e}  ", m + 1, modes.frequency(m),
                        modes.report.modes[static_cast<std::size_t>(m)].residual);
    for (int d = 0; d < translations; ++d) {
      const double total = modes.total_mass[static_cast<std::size_t>(d)];
      text += fmt::format(" {:>8.3f}", total > 0 ? 100 * modes.effective_mass(m, d) / total : 0.0);
    }
    text += "  ";
    for (int d = 0; d < translations; ++d) text += fmt::format(" {:>8.3f}", 100 * modes.accumulated(m, d));
    text += "\n";
  }
  return text;
}

namespace {

std::string finished(const nlohmann::ordered_json& document) {
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

}  // namespace

std::string modal_text(const ModeSet& modes, const ModalRecord& record, const std::vector<std::string>& files,
                       bool verbose) {
  const EigenReport& report = modes.report;
  std::string text =
      fmt::format("{}: {}, {} mass\n\n", bold(record.file), counted(record.unknowns, "free unknown"), record.mass);
  text += modes.count() > 0 ? mode_rows(modes) : std::string();
  text += fmt::format("\n  {}\n",
                      report.completeness == Completeness::incomplete ? red(report.statement) : bold(report.statement));
  double mass = 0;
  for (int d = 0; d < translations; ++d) mass = std::max(mass, modes.total_mass[static_cast<std::size_t>(d)]);
  text += fmt::format("  total mass {:.6g}; modes are M-orthonormal to {:.1e}\n", mass, report.orthogonality);
  for (const std::string& note : report.notes) text += "  note: " + note + "\n";
  for (const std::string& note : record.notes) text += "  note: " + note + "\n";
  if (verbose) {
    text += fmt::format("\n  backend  {}\n  solver   {}\n", record.backend, report.solver);
    if (!report.choice.empty()) text += "           " + report.choice + "\n";
    text += fmt::format("           {} iterations, {} solutions, {} factorisations\n", report.iterations, report.solves,
                        report.factorisations);
    text += fmt::format("\n  {:<22} {:>9}\n  {:<22} {:>9.3f}\n", "stage", "seconds", "reading", record.read_seconds);
    for (const StageTime& t : record.times) text += fmt::format("  {:<22} {:>9.3f}\n", t.stage, t.seconds);
    for (const StageTime& t : report.times) text += fmt::format("    {:<20} {:>9.3f}\n", t.stage, t.seconds);
  }
  text += "\n";
  for (const std::string& file : files) text += "Wrote " + file + "\n";
  return text + fmt::format("{}, whole run {}\n", report.solver, readable_seconds(record.seconds));
}

std::string modal_document(const ModeSet& modes, const ModalRecord& record) {
  const EigenReport& report = modes.report;
  nlohmann::ordered_json total, times;
  for (int d = 0; d < ModeSet::directions; ++d)
    total[ModeSet::direction_names()[static_cast<std::size_t>(d)]] = modes.total_mass[static_cast<std::size_t>(d)];
  std::vector<std::string> joined_notes = report.notes;
  joined_notes.insert(joined_notes.end(), record.notes.begin(), record.notes.end());
  for (const StageTime& t : record.times) times[t.stage] = t.seconds;
  for (const StageTime& t : report.times) times["solve: " + t.stage] = t.seconds;
  return finished({{"program", "voussoir"},
                   {"version", version()},
                   {"status", !report.converged                                 ? "not converged"
                              : report.completeness == Completeness::incomplete ? "incomplete"
                                                                                : "ok"},
                   {"file", record.file},
                   {"backend", record.backend},
                   {"mass_matrix", record.mass},
                   {"free_unknowns", record.unknowns},
                   {"solver", report.solver},
                   {"choice", report.choice},
                   {"iterations", report.iterations},
                   {"completeness", name_of(report.completeness)},
                   {"statement", report.statement},
                   {"notes", joined_notes},
                   {"total_mass", total},
                   {"seconds", times},
                   {"modes", nlohmann::ordered_json::parse(modes_as_json(modes))},
                   {"files", record.files}});
}

std::string modal_failure_document(const std::string& file, const Error& error) {
  return finished(
      {{"program", "voussoir"},
       {"version", version()},
       {"status", error.code() == ErrorCode::cancelled ? "cancelled" : "failed"},
       {"error", {{"exit_code", static_cast<int>(exit_code(error))}, {"where", error.where()}, {"text", error.text()}}},
       {"file", file}});
}

}  // namespace voussoir::app
