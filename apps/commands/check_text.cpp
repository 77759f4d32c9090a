#include <voussoir/apps/commands/check_text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/backend.hpp>

namespace voussoir::app {
namespace {

using Severity = Finding::Severity;

/// "2 500 solid.hex8.full, 12 truss"
std::string list(const std::vector<Count>& counts) {
  std::string text;
  for (const Count& c : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", readable_count(c.count), c.name);
  return text;
}

void add_sets(const std::string& what, const std::vector<Count>& sets, bool all, std::string& text) {
  if (sets.empty()) return;
  constexpr std::size_t shown = 6;
  std::string names;
  for (std::size_t i = 0; i < sets.size() && (all || i < shown); ++i)
    names += fmt::format("{}{} ({})", i ? ", " : "", sets[i].name, readable_count(sets[i].count));
  if (!all && sets.size() > shown) names += fmt::format(", … ({} in total; --verbose lists them)", sets.size());
  text += fmt::format("  {:<13} {}\n", what, names);
}

void add_histogram_row(std::string& text, const std::string& label, std::int64_t count, std::int64_t all) {
  if (count == 0) return;
  // As long as its share, and never nothing.
  const auto length = static_cast<std::size_t>(std::ceil(40.0 * static_cast<double>(count) / static_cast<double>(all)));
  text += fmt::format("    {:<12} {:>12}  {}\n", label, readable_count(count), std::string(length, '#'));
}

void add_quality(const DomainCheck& d, std::string& text) {
  const MeshQuality& q = d.quality;
  if (q.measured == 0) return;
  text += fmt::format("  quality       worst scaled Jacobian {:.3g} (element {}); 1 is best, 0 is degenerate\n",
                      q.smallest_scaled_jacobian, d.worst_element);
  for (std::size_t i = 0; i < q.jacobian_histogram.size(); ++i)
    add_histogram_row(
        text,
        i == 0 ? "0 or less"
               : fmt::format("{:.1f} to {:.1f}", (static_cast<double>(i) - 1) / 10, static_cast<double>(i) / 10),
        q.jacobian_histogram[i], q.measured);
  text += fmt::format("                worst aspect ratio {:.3g} (element {}), longest over shortest edge\n",
                      q.largest_aspect_ratio, d.longest_element);
  const auto& limits = MeshQuality::aspect_limits;
  for (std::size_t i = 0; i < q.aspect_histogram.size(); ++i) {
    const double from = i == 0 ? 1 : limits[i - 1];
    add_histogram_row(text,
                      i < limits.size() ? fmt::format("{:g} to {:g}", from, limits[i]) : fmt::format("over {:g}", from),
                      q.aspect_histogram[i], q.measured);
  }
}

void add_memory(const DomainCheck& d, std::string& text) {
  if (d.memory.empty()) return;
  const MainMemory machine = main_memory();
  text += fmt::format("  memory        for {} unknowns, estimated; this machine has {}, {} of it free\n",
                      readable_count(d.size.equations), readable_bytes(machine.all), readable_bytes(machine.available));
  // Backends of the host keep the same arrays; debug only keeps them apart.
  std::string hosts, others;
  for (const BackendInfo& backend : Backend::available()) {
    if (backend.name == "openmp" || backend.name == "debug")
      hosts += (hosts.empty() ? "" : ", ") + backend.name;
    else if (backend.usable)
      others += fmt::format("    {}: the columns matrix and work, and a third of the model, are in device memory\n",
                            backend.name);
    else
      others += fmt::format("    {}: not available: {}\n", backend.name, backend.reason);
  }
  text += fmt::format("    {:<16} {:<12} {:>9} {:>9} {:>9} {:>14}\n", "solver", "storage", "model", "matrix", "work",
                      hosts);
  for (const MemoryEstimate& m : d.memory) {
    const bool fits = machine.available <= 0 || m.total() < machine.available;
    text += fmt::format("    {:<16} {:<12} {:>9} {:>9} {:>9} {:>14}{}\n", m.solver, m.storage, readable_bytes(m.model),
                        readable_bytes(m.matrix), readable_bytes(m.work), readable_bytes(m.total()),
                        fits ? "" : "  " + yellow("does not fit"));
  }
  text += others;
  if (!d.chosen_solver.empty()) text += fmt::format("    --solver auto chooses {}\n", d.chosen_solver);
}

void add_domain(const CheckReport& report, std::size_t index, bool all, std::string& text) {
  const DomainCheck& d = report.domains[index];
  if (report.domains.size() > 1) {
    std::string used;
    for (const StepCheck& step : report.steps)
      if (step.domain == index) used = to_string(step.procedure);
    text += fmt::format("\n  model {}       {}\n", index + 1, used);
  }
  text += fmt::format("  nodes         {}{}\n", readable_count(d.nodes),
                      d.unused_nodes > 0 ? fmt::format(", {} of them unused", readable_count(d.unused_nodes)) : "");
  text += fmt::format("  elements      {}: {}\n", readable_count(d.elements), list(d.element_types));
  text += fmt::format("  box           x {:g} to {:g}, y {:g} to {:g}, z {:g} to {:g}\n", d.lower[0], d.upper[0],
                      d.lower[1], d.upper[1], d.lower[2], d.upper[2]);
  if (!d.materials.empty()) text += fmt::format("  materials     {}\n", list(d.materials));
  add_sets("node sets", d.node_sets, all, text);
  add_sets("element sets", d.element_sets, all, text);
  add_sets("surfaces", d.surfaces, all, text);
  if (d.equations > 0) text += fmt::format("  equations     {} between nodes\n", readable_count(d.equations));
  if (d.parts > 0)
    text += fmt::format("  parts         {}{}\n", readable_count(d.parts),
                        d.parts > 1 ? " that are not connected" : ", all connected");
  add_quality(d, text);
  add_memory(d, text);
}

}  // namespace

std::string text_of(const CheckReport& report, double read_seconds, bool all) {
  std::string text = bold(report.source) + (report.title.empty() ? "" : ": " + report.title) + "\n";
  text += fmt::format("  read in       {}\n", readable_seconds(read_seconds));
  for (std::size_t d = 0; d < report.domains.size(); ++d) add_domain(report, d, all, text);
  for (std::size_t s = 0; s < report.steps.size(); ++s) {
    const StepCheck& step = report.steps[s];
    text += fmt::format("  step {:<8} {}, {}: {}; {}\n", s + 1, step.name, to_string(step.procedure),
                        step.loads.empty() ? "no loads" : step.loads,
                        step.unknowns > 0 ? fmt::format("{} unknowns free, {} prescribed",
                                                        readable_count(step.unknowns), readable_count(step.prescribed))
                                          : "could not be numbered");
  }
  for (const JobNote& note : report.notes) text += fmt::format("  note          {}: {}\n", note.where, note.text);
  text += "\n";
  for (const Finding& f : report.findings) {
    const std::string word = f.severity == Severity::error     ? red("error:")
                             : f.severity == Severity::warning ? yellow("warning:")
                                                               : "hint:";
    text += fmt::format("  {} {}{}\n", word, f.where.empty() ? "" : f.where + ": ", f.text);
  }
  const auto count = [&](Severity severity) {
    return std::count_if(report.findings.begin(), report.findings.end(),
                         [&](const Finding& f) { return f.severity == severity; });
  };
  text += report.findings.empty()
              ? std::string("  no problems found\n")
              : fmt::format("  {}, {}, {}\n", counted(count(Severity::error), "error"),
                            counted(count(Severity::warning), "warning"), counted(count(Severity::hint), "hint"));
  if (report.can_run() && !report.steps.empty()) text += fmt::format("  next: voussoir run {}\n", report.source);
  return text;
}

}  // namespace voussoir::app
