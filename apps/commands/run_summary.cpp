#include <voussoir/apps/commands/run_summary.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <voussoir/apps/commands/modal_text.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/safe_text.hpp>

namespace voussoir::app {
namespace {

std::string elements_by_type(const Domain& domain) {
  std::vector<std::pair<std::string, std::int64_t>> types;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const auto known =
        std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == block.type_name(); });
    if (known == types.end())
      types.emplace_back(block.type_name(), block.size());
    else
      known->second += block.size();
  }
  if (types.size() == 1) return types.front().first;
  std::string text;
  for (const auto& [type, count] : types)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", readable_count(count), type);
  return text;
}

/// A name that fits into a column.
std::string fitted(std::string text, std::size_t width) {
  if (text.size() > width) {
    text.resize(width - 1);
    // Not in the middle of a letter.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
    text += "~";
  }
  return text;
}

std::string fitted(const StepSummary& step, std::size_t width) {
  return fitted(fmt::format("{} {}", step.number, step.title.empty() ? step.name : step.title), width);
}

constexpr std::size_t name_width = 30;

std::string value_and_node(const Extreme* extreme, std::size_t width) {
  return extreme ? fmt::format("{:>{}.6g} {:>10}", extreme->value, width,
                               extreme->name.empty() ? std::to_string(extreme->node) : extreme->name)
                 : fmt::format("{:>{}} {:>10}", "-", width, "");
}

/// The estimate of the error with the worst element.
std::string error_text(const ErrorSummary& error) {
  if (error.quantity.empty()) return fmt::format("{:>10} {:>10}", "-", "");
  const std::string element = error.worst.empty() ? "" : error.worst.front().name;
  return fmt::format("{:>8.3g} % {:>10}", error.percent, element);
}

/// "Mises [MPa]"
std::string with_unit(const std::string& words, const std::string& unit) {
  return unit.empty() ? words : words + " [" + unit + "]";
}

std::size_t letters_of(const std::string& text) {
  std::size_t letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return letters;
}
/// Text at the right of a column, padded by letters rather than by bytes.
std::string padded(const std::string& text, std::size_t width) {
  const std::size_t letters = letters_of(text);
  return std::string(letters < width ? width - letters : 0, ' ') + text;
}
/// Columns of numbers have this width, or that of their head.
std::size_t width_of(const std::string& head) { return std::max<std::size_t>(14, letters_of(head)); }

/// What the extremes of a step are given of: temperature, displacement, or the first unknown of a user's elements.
std::string field_of(const StepSummary& step) {
  if (is_heat(step.procedure)) return "temperature";
  const bool moves = step.unknowns.empty() || step.range("displacement");
  return moves ? "displacement" : step.unknowns.front();
}

/// The extremes of the steps that have a field.
void add_extremes(const std::vector<StepSummary>& steps, const Units& units, const std::string& field,
                  std::string& text) {
  const bool heat = field == "temperature", moves = field == "displacement";
  const std::string first = heat    ? with_unit("coldest", units.temperature)
                            : moves ? with_unit("displacement", units.length)
                                    : "least " + field;
  const std::string second = heat    ? with_unit("hottest", units.temperature)
                             : moves ? with_unit("Mises stress", units.stress)
                                     : "greatest " + field;
  text += bold(fmt::format("  {:<{}} {} {:>10} {} {:>10} {:>10} {:>10}\n", "step", name_width, padded(first, 14),
                           "at node", padded(second, 14), "at node", "est. error", "worst elem"));
  for (const StepSummary& step : steps) {
    if (field_of(step) != field) continue;
    const Range* one = step.range(field);
    const Range* other = step.range(moves ? "mises" : field);
    const Extreme* left = !one ? nullptr : moves ? &one->greatest : &one->least;
    text +=
        fmt::format("  {:<{}} {} {} {}\n", fitted(step, name_width), name_width, value_and_node(left, width_of(first)),
                    value_and_node(other ? &other->greatest : nullptr, width_of(second)), error_text(step.error));
  }
  for (const StepSummary& step : steps)
    for (const std::string& hint : step.hints)
      if (field_of(step) == field) text += fmt::format("  step {}: {}\n", step.number, hint);
  text += "\n";
}

/// How a sum is called: the force that belongs to an unknown.
std::string force_name(const std::string& unknown, const Units& units) {
  if (unknown == "T") return with_unit("heat", units.power);
  if (unknown.size() == 2 && unknown[0] == 'u') return with_unit(std::string("force ") + unknown[1], units.force);
  if (unknown.size() == 2 && unknown[0] == 'r') return with_unit(std::string("moment ") + unknown[1], units.moment());
  return unknown;
}

void add_sums(const std::vector<StepSummary>& steps, const Units& units, std::string& text) {
  // What rounding leaves of a sum of zero is shown as zero, measured by the largest sum of its own kind.
  const auto clean = [](double value, double largest) { return std::abs(value) < 1e-9 * largest ? 0.0 : value; };
  const std::vector<std::string>* shown = nullptr;
  for (const StepSummary& step : steps) {
    const std::size_t count = step.unknowns.size();
    if (!shown || *shown != step.unknowns) {
      std::string line = fmt::format("  {:<{}} {:<9}", "sums", name_width, "");
      for (const auto& unknown : step.unknowns) line += " " + padded(force_name(unknown, units), 14);
      text += bold(line + "\n");
      shown = &step.unknowns;
    }
    for (const bool loads : {true, false}) {
      const auto& sums = loads ? step.load_sum : step.reaction_sum;
      text += fmt::format("  {:<{}} {:<9}", loads ? fitted(step, name_width) : "", name_width,
                          loads ? "loads" : "reactions");
      for (std::size_t i = 0; i < std::min(count, sums.size()); ++i) {
        double largest = 0;
        for (std::size_t k = 0; k < sums.size(); ++k)
          if ((step.unknowns[k][0] == 'r') == (step.unknowns[i][0] == 'r'))
            largest = std::max({largest, std::abs(step.load_sum[k]), std::abs(step.reaction_sum[k])});
        text += fmt::format(" {:>{}.6g}", clean(sums[i], largest), width_of(force_name(step.unknowns[i], units)));
      }
      text += "\n";
    }
  }
  text += "\n";
}

constexpr std::size_t most_supports = 20, most_rows = 50;

/// What rounding leaves of a sum of zero is shown as zero.
std::string clean_number(double value, double largest, std::size_t width) {
  return fmt::format(" {:>{}.6g}", std::abs(value) < 1e-9 * largest ? 0.0 : value, width);
}

/// The moments of a support that can be other than zero: about z alone where nothing moves along z.
std::vector<int> moments_of(const StepSummary& step) {
  if (step.supports.empty() || step.supports.front().moment.empty()) return {};
  const bool space = std::find(step.unknowns.begin(), step.unknowns.end(), "uz") != step.unknowns.end();
  return space ? std::vector<int>{0, 1, 2} : std::vector<int>{2};
}

void add_supports(const std::vector<StepSummary>& steps, const Units& units, std::string& text) {
  std::vector<std::string> shown;
  bool moments = false;
  for (const StepSummary& step : steps) {
    if (step.supports.empty()) continue;
    // Moments of single nodes are part of those about the centre.
    std::vector<std::size_t> forces;
    for (std::size_t k = 0; k < step.unknowns.size(); ++k)
      if (moments_of(step).empty() || step.unknowns[k][0] != 'r') forces.push_back(k);
    std::vector<std::string> columns;
    for (const std::size_t k : forces) columns.push_back(force_name(step.unknowns[k], units));
    for (const int k : moments_of(step))
      columns.push_back(with_unit(fmt::format("moment {}", "xyz"[k]), units.moment()));
    if (columns != shown) {
      std::string line = fmt::format("  {:<{}} {:<20}", "reactions by support", name_width, "");
      for (const std::string& column : columns) line += " " + padded(column, 14);
      if (!moments_of(step).empty()) line += "  moments about";
      text += bold(line + "\n");
      shown = columns;
    }
    double force = 0, moment = 0;
    for (const std::size_t k : forces)
      force = std::max({force, std::abs(step.load_sum[k]), std::abs(step.reaction_sum[k])});
    for (const SupportReaction& support : step.supports) {
      for (const std::size_t k : forces) force = std::max(force, std::abs(support.sum[k]));
      for (const int k : moments_of(step)) moment = std::max(moment, std::abs(support.moment[k]));
    }
    std::size_t rows = 0;
    for (const SupportReaction& support : step.supports) {
      if (rows == most_supports) {
        text += fmt::format("  {:<{}} {} more in results.json\n", "", name_width, step.supports.size() - rows);
        break;
      }
      text += fmt::format("  {:<{}} {:<20}", rows++ == 0 ? fitted(step, name_width) : "", name_width,
                          fitted(support.name, 20));
      std::size_t column = 0;
      for (const std::size_t k : forces) text += clean_number(support.sum[k], force, width_of(columns[column++]));
      for (const int k : moments_of(step)) text += clean_number(support.moment[k], moment, width_of(columns[column++]));
      if (!moments_of(step).empty()) {
        moments = true;
        text += fmt::format("  ({:.5g}, {:.5g}, {:.5g})", support.centre[0], support.centre[1], support.centre[2]);
      }
      text += "\n";
    }
  }
  if (moments)
    text += "  Moments are about the mean position of the restrained nodes; nodes of several sets count in each.\n";
  if (!shown.empty()) text += "\n";
}

void add_points(const std::vector<StepSummary>& steps, const Units& units, std::string& text) {
  const std::vector<std::string> wanted{"ux",         "uy",   "uz",           "T", "mises", "principal1",
                                        "principal3", "flux", "axial_stress", "N", "My",    "Mz"};
  std::vector<std::string> shown;
  std::size_t rows = 0;
  for (const StepSummary& step : steps)
    for (const PointResult& point : step.points) {
      std::vector<std::size_t> columns;
      std::vector<std::string> heads;
      for (std::size_t k = 0; k < point.names.size(); ++k) {
        const bool unknown = k < step.unknowns.size() && step.unknowns[k][0] != 'r';
        if (!unknown && std::find(wanted.begin(), wanted.end(), point.names[k]) == wanted.end()) continue;
        columns.push_back(k);
        heads.push_back(units.labelled(point.names[k]));
      }
      if (heads != shown) {
        std::string line = fmt::format("  {:<{}} {:<20} {:>10}", "at points", name_width, "", "element");
        for (const std::string& h : heads) line += " " + padded(h, 14);
        text += bold(line + "\n");
        shown = heads;
      }
      for (const ProbeValues& side : point.sides) {
        if (rows++ == most_rows) text += fmt::format("  {:<{}} more in the CSV files\n", "", name_width);
        if (rows > most_rows) continue;
        const std::string name = point.sides.size() > 1 ? point.name + ", " + side.material : point.name;
        text += fmt::format("  {:<{}} {:<20} {:>10}", fitted(step, name_width), name_width, fitted(name, 20),
                            point.elements[static_cast<std::size_t>(&side - point.sides.data())]);
        for (std::size_t c = 0; c < columns.size(); ++c) {
          const double value = side.values[columns[c]];
          const std::size_t width = width_of(heads[c]);
          text += std::isnan(value) ? fmt::format(" {:>{}}", "-", width) : fmt::format(" {:>{}.6g}", value, width);
        }
        text += "\n";
      }
    }
  if (!shown.empty()) text += "\n";
}

/// "beam_mode_001", "beam_time_0012", "beam_frequency_0003", "beam_p0004".
bool is_in_series(const std::string& stem) {
  const std::size_t end = stem.find_last_not_of("0123456789");
  if (end == std::string::npos || end + 1 == stem.size()) return false;
  const std::string name = stem.substr(0, end + 1);
  if (name.ends_with("_p") && stem.size() - name.size() >= 4) return true;  // a piece
  return name.ends_with("_mode_") || name.ends_with("_time_") || name.ends_with("_frequency_");
}

std::string text_of_peaks(const StepSummary& step) {
  std::string text =
      bold(fmt::format("  {:<24} {:>14} {:>14}  {}\n", "peak", "value",
                       step.procedure == Procedure::harmonic                                         ? "frequency"
                       : step.procedure == Procedure::modal_dynamic || is_integrated(step.procedure) ? "time"
                                                                                                     : "",
                       "at"));
  for (const ResponsePeak& peak : step.peaks)
    text += fmt::format("  {:<24} {:>14.6g} {:>14}  {}\n", peak.quantity, peak.value,
                        std::isnan(peak.at) ? "" : fmt::format("{:.6g}", peak.at), peak.place);
  return text;
}

/// Frequencies of modes, and peaks of what is superposed of them.
std::string text_of_modal_steps(const std::vector<StepSummary>& steps) {
  std::string text;
  for (const StepSummary& step : steps) {
    if (!has_states(step.procedure)) continue;
    const std::string name = step.title.empty() ? step.name : step.title;
    const bool numbered = name == "step " + std::to_string(step.number);
    text += fmt::format("  {}: {}\n",
                        bold(fmt::format("step {}{}", step.number, numbered ? "" : ", " + fitted(name, name_width))),
                        to_string(step.procedure));
    if (step.modes)
      text += mode_rows(*step.modes) + "\n  " + step.modes->report.statement + "\n\n";
    else
      text += text_of_peaks(step) + (step.statement.empty() ? "" : "\n  " + step.statement + "\n") + "\n";
  }
  return text;
}

}  // namespace

std::string text_of_sizes(const Job& job, double read_seconds) {
  std::string text = bold(job.source) + (job.title.empty() ? "" : ": " + job.title) + "\n";
  for (std::size_t d = 0; d < job.domains.size(); ++d) {
    const Domain& domain = *job.domains[d];
    text += fmt::format("  {}, {} ({})", counted(reported_nodes(job, domain), "node"),
                        counted(domain.element_count(), "element"), elements_by_type(domain));
    text += d == 0 ? fmt::format(", {}; read in {}\n", counted(static_cast<long long>(job.steps.size()), "step"),
                                 readable_seconds(read_seconds))
                   : "\n";
  }
  return text;
}

std::string text_of_steps(const std::vector<StepSummary>& all, const Units& units) {
  std::string text = "\n";
  std::vector<StepSummary> steps;
  for (const StepSummary& step : all)
    if (!has_states(step.procedure)) steps.push_back(step);
  if (steps.empty()) return text + text_of_modal_steps(all);
  std::vector<std::string> fields;
  for (const char* usual : {"displacement", "temperature", ""})
    for (const StepSummary& step : steps)
      if (const std::string field = field_of(step);
          (*usual ? field == usual : true) && std::find(fields.begin(), fields.end(), field) == fields.end())
        fields.push_back(field);
  for (const std::string& field : fields) add_extremes(steps, units, field, text);
  add_sums(steps, units, text);
  add_supports(steps, units, text);
  add_points(steps, units, text);
  return text + text_of_modal_steps(all);
}

std::string text_of_end(const JobResult& result, const ResultFiles& files, double read_seconds, double all_seconds) {
  std::string text = fmt::format("  backend  {}\n", result.backend);
  text += fmt::format("  system   {} unknowns, {} of them free; {}\n", readable_count(result.equations),
                      readable_count(result.free_equations), result.matrix);
  std::string last;
  for (const StepSummary& step : files.summaries()) {
    const SolveReport& report = step.report;
    if (report.solver.empty()) continue;
    const std::string line = fmt::format("{}: {}; residual {:.1e}", report.solver, report.reason, report.true_residual);
    if (line != last) text += fmt::format("  {:<8} {}\n", last.empty() ? "solver" : "", line);
    last = line;
  }
  std::string noted;
  for (const StepSummary& step : files.summaries())
    if (!step.report.note.empty() && step.report.note != noted) {
      noted = step.report.note;
      text += fmt::format("  {:<8} {}\n", "note", noted);
    }
  text += fmt::format("  times    read {}", readable_seconds(read_seconds));
  for (const StageTime& stage : result.stage_times)
    text += fmt::format(", {} {}", stage.stage, readable_seconds(stage.seconds));
  text += fmt::format(", write {}; {} in all\n", readable_seconds(files.seconds()), readable_seconds(all_seconds));
  // Of a series of files the list that opens them is named.
  std::size_t listed = 0, in_series = 0;
  for (const auto& path : files.written()) {
    if (is_in_series(path.stem().string()) && path.extension() == ".vtu") {
      ++in_series;
      continue;
    }
    text += fmt::format("  {:<8} {}\n", listed++ == 0 ? "wrote" : "", path.string());
  }
  if (in_series > 0)
    text += fmt::format("  {:<8} and {} that the .pvd files list\n", "",
                        counted(static_cast<long long>(in_series), "VTU file"));
  return text;
}

std::string text_of_details(const Job& job, const JobResult& result, const ResultFiles& files,
                            const std::string& backend) {
  std::string text;
  const auto open = Backend::open(backend);
  for (const auto& domain : job.domains)
    for (std::size_t b = 0; b < domain->block_count(); ++b) {
      const ElementBlock& block = domain->block(b);
      const std::string reason = open->route_reason(block.type().program());
      text += fmt::format("  block    '{}': {} of {}, route {}{}{}\n", block.name(), counted(block.size(), "element"),
                          block.type().name(), to_string(open->route(block.type().program())),
                          reason.empty() ? "" : " (" + reason + ")",
                          block.material() ? ", material '" + block.material()->name() + "'" : "");
    }
  for (const std::string& note : result.notes) text += fmt::format("  note     {}\n", note);
  for (const StepSummary& step : files.summaries()) {
    const SolveReport& report = step.report;
    if (!report.choice.empty()) text += fmt::format("  step {}   {}\n", step.number, report.choice);
    text += fmt::format("  step {}   set up in {}, solved in {}, {} in addition to the matrix\n", step.number,
                        readable_seconds(report.setup_seconds), readable_seconds(report.solve_seconds),
                        readable_bytes(static_cast<double>(report.memory_bytes)));
    if (!report.preconditioner.empty()) text += fmt::format("  step {}   {}\n", step.number, report.preconditioner);
    if (!report.advice.empty()) text += fmt::format("  step {}   {}\n", step.number, report.advice);
    // A dozen lines show how an iteration went as well as thousands.
    const std::size_t n = report.history.size(), every = std::max<std::size_t>(1, n / 12);
    for (std::size_t i = 0; i < n; i += every)
      text += fmt::format("           iteration {:>6}  residual {:.2e}\n", i, report.history[i]);
  }
  return text;
}

std::string failed_run_json(const std::string& file, const Error& error) {
  const nlohmann::ordered_json document{
      {"program", "voussoir"},
      {"version", version()},
      {"status", error.code() == ErrorCode::cancelled ? "cancelled" : "failed"},
      {"error", {{"exit_code", static_cast<int>(exit_code(error))}, {"where", error.where()}, {"text", error.text()}}},
      {"job", {{"source", file}}}};
  return printable_json(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

}  // namespace voussoir::app
