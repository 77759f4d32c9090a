#include <voussoir/apps/run_summary.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include <voussoir/apps/terminal.hpp>
#include <voussoir/backends/backend.hpp>

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
std::string fitted(const StepSummary& step, std::size_t width) {
  std::string text = fmt::format("{} {}", step.number, step.title.empty() ? step.name : step.title);
  if (text.size() > width) {
    text.resize(width - 1);
    // Not in the middle of a letter.
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
    text += "~";
  }
  return text;
}

constexpr std::size_t name_width = 30;

std::string value_and_node(const Extreme* extreme) {
  return extreme ? fmt::format("{:>14.6g} {:>10}", extreme->value,
                               extreme->name.empty() ? std::to_string(extreme->node) : extreme->name)
                 : fmt::format("{:>14} {:>10}", "-", "");
}

void add_structure(const std::vector<StepSummary>& steps, std::string& text) {
  if (std::none_of(steps.begin(), steps.end(), [](const auto& s) { return s.procedure == Procedure::statics; })) return;
  text += bold(fmt::format("  {:<{}} {:>14} {:>10} {:>14} {:>10}\n", "step", name_width, "displacement", "at node",
                           "Mises stress", "at node"));
  for (const StepSummary& step : steps) {
    if (step.procedure != Procedure::statics) continue;
    const Range *moved = step.range("displacement"), *mises = step.range("mises");
    text += fmt::format("  {:<{}} {} {}\n", fitted(step, name_width), name_width,
                        value_and_node(moved ? &moved->greatest : nullptr),
                        value_and_node(mises ? &mises->greatest : nullptr));
  }
  text += "\n";
}

void add_heat(const std::vector<StepSummary>& steps, std::string& text) {
  if (std::none_of(steps.begin(), steps.end(), [](const auto& s) { return s.procedure == Procedure::steady_heat; }))
    return;
  text += bold(fmt::format("  {:<{}} {:>14} {:>10} {:>14} {:>10}\n", "step", name_width, "coldest", "at node",
                           "hottest", "at node"));
  for (const StepSummary& step : steps) {
    if (step.procedure != Procedure::steady_heat) continue;
    const Range* range = step.range("temperature");
    text += fmt::format("  {:<{}} {} {}\n", fitted(step, name_width), name_width,
                        value_and_node(range ? &range->least : nullptr),
                        value_and_node(range ? &range->greatest : nullptr));
  }
  text += "\n";
}

/// How a sum is called: the force that belongs to an unknown.
std::string force_name(const std::string& unknown) {
  if (unknown == "T") return "heat";
  if (unknown.size() == 2 && unknown[0] == 'u') return std::string("force ") + unknown[1];
  if (unknown.size() == 2 && unknown[0] == 'r') return std::string("moment ") + unknown[1];
  return unknown;
}

void add_sums(const std::vector<StepSummary>& steps, std::string& text) {
  // What rounding leaves of a sum of zero is shown as zero, measured by the largest sum of its own kind.
  const auto clean = [](double value, double largest) { return std::abs(value) < 1e-9 * largest ? 0.0 : value; };
  const std::vector<std::string>* shown = nullptr;
  for (const StepSummary& step : steps) {
    const std::size_t count = step.unknowns.size();
    if (!shown || *shown != step.unknowns) {
      std::string line = fmt::format("  {:<{}} {:<9}", "sums", name_width, "");
      for (const auto& unknown : step.unknowns) line += fmt::format(" {:>14}", force_name(unknown));
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
        text += fmt::format(" {:>14.6g}", clean(sums[i], largest));
      }
      text += "\n";
    }
  }
  text += "\n";
}

}  // namespace

std::string text_of_sizes(const Job& job, double read_seconds) {
  std::string text = bold(job.source) + (job.title.empty() ? "" : ": " + job.title) + "\n";
  for (std::size_t d = 0; d < job.domains.size(); ++d) {
    const Domain& domain = *job.domains[d];
    text += fmt::format("  {}, {} ({})", counted(domain.node_count(), "node"),
                        counted(domain.element_count(), "element"), elements_by_type(domain));
    text += d == 0 ? fmt::format(", {}; read in {}\n", counted(static_cast<long long>(job.steps.size()), "step"),
                                 readable_seconds(read_seconds))
                   : "\n";
  }
  return text;
}

std::string text_of_steps(const std::vector<StepSummary>& steps) {
  std::string text = "\n";
  add_structure(steps, text);
  add_heat(steps, text);
  add_sums(steps, text);
  return text;
}

std::string text_of_end(const JobResult& result, const ResultFiles& files, double read_seconds, double all_seconds) {
  std::string text = fmt::format("  backend  {}\n", result.backend);
  text += fmt::format("  system   {} unknowns, {} of them free; {}\n", readable_count(result.equations),
                      readable_count(result.free_equations), result.matrix);
  std::string last;
  for (const StepSummary& step : files.summaries()) {
    const SolveReport& report = step.report;
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
  const auto& written = files.written();
  for (std::size_t i = 0; i < written.size(); ++i)
    text += fmt::format("  {:<8} {}\n", i == 0 ? "wrote" : "", written[i].string());
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
    text += fmt::format("  step {}   set up in {}, solved in {}, {} held besides the matrix\n", step.number,
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

}  // namespace voussoir::app
