#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/partition/decomposition_study.hpp>

namespace voussoir {
namespace {

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, value >= 1e4 || (value > 0 && value < 0.1) ? "%.1e" : "%.4g", value);
  return text;
}

/// What distinguishes a curve of a plot.
std::string curve_name(const StudyRow& row, bool cuts, bool contrasts, bool overlaps) {
  std::string name = row.method;
  if (cuts && !row.cut.empty()) name += ", " + row.cut;
  if (overlaps && row.overlap > 0) name += ", overlap " + std::to_string(row.overlap);
  if (contrasts) name += ", contrast " + short_number(row.contrast);
  return name;
}

}  // namespace

std::string study_text(const std::vector<StudyRow>& rows) {
  char line[256];
  std::size_t width = 10;  // of the cuts
  for (const StudyRow& row : rows) width = std::max(width, row.cut.size());
  const auto padded = [&](std::string cut) {
    cut.resize(width, ' ');
    return cut;
  };
  std::snprintf(line, sizeof line, "%6s %7s %8s %9s %7s %8s %6s %9s %8s %8s %8s %8s %8s %8s\n", "parts", "overlap",
                "contrast", "interface", "coarse", "balance", "iter", "condition", "bound", "set-up", "solve", "coarse",
                "MB", "error");
  std::string text = "method " + padded("cut") + " " + line;
  std::string failures;
  for (const StudyRow& row : rows) {
    std::string method = row.method;
    method.resize(std::max<std::size_t>(6, method.size()), ' ');
    text += method + " " + padded(row.cut.empty() ? "undivided" : row.cut) + " ";
    std::snprintf(line, sizeof line, "%6d %7d %8s %9lld %7lld %8.3f ", row.parts, row.overlap,
                  short_number(row.contrast).c_str(), static_cast<long long>(row.interface_unknowns),
                  static_cast<long long>(row.coarse_unknowns), row.balance);
    text += line;
    if (!row.failure.empty()) {
      text += "  rejected\n";
      failures += row.method + ", " + std::to_string(row.parts) + " parts: " + row.failure + "\n";
      continue;
    }
    std::snprintf(line, sizeof line, "%5d%s %9s %8s %7.3fs %7.3fs %7.3fs %8.1f %8s\n", row.iterations,
                  row.converged ? " " : "*", short_number(row.condition).c_str(), short_number(row.bound).c_str(),
                  row.setup_seconds, row.solve_seconds, row.coarse_seconds, static_cast<double>(row.bytes) / 1e6,
                  short_number(row.error).c_str());
    text += line;
  }
  if (std::any_of(rows.begin(), rows.end(), [](const StudyRow& row) { return !row.converged && row.failure.empty(); }))
    text += "* did not converge\n";
  return text + failures;
}

CsvTable study_table(const std::vector<StudyRow>& rows) {
  CsvTable table({"method", "cut", "parts", "overlap", "contrast", "unknowns", "interface_unknowns", "coarse_unknowns",
                  "balance", "converged", "iterations", "condition", "bound", "setup_seconds", "solve_seconds",
                  "coarse_seconds", "bytes", "error", "failure"});
  for (const StudyRow& row : rows)
    table.row()
        .add(row.method)
        .add(row.cut)
        .add(row.parts)
        .add(row.overlap)
        .add(row.contrast)
        .add(row.unknowns)
        .add(row.interface_unknowns)
        .add(row.coarse_unknowns)
        .add(row.balance)
        .add(row.converged ? 1 : 0)
        .add(row.iterations)
        .add(row.condition)
        .add(row.bound)
        .add(row.setup_seconds)
        .add(row.solve_seconds)
        .add(row.coarse_seconds)
        .add(row.bytes)
        .add(row.error)
        .add(row.failure);
  return table;
}

std::string study_plot(const std::vector<StudyRow>& rows, const std::string& title) {
  const auto differ = [&](auto member) {
    return std::any_of(rows.begin(), rows.end(), [&](const StudyRow& row) {
      return !row.cut.empty() && row.*member != rows.front().*member && !rows.front().cut.empty();
    });
  };
  const bool cuts = differ(&StudyRow::cut), contrasts = differ(&StudyRow::contrast),
             overlaps = differ(&StudyRow::overlap);
  std::vector<std::string> order;
  std::map<std::string, LinePlot::Points> iterations, conditions;
  double first = 1e300, last = 0;
  for (const StudyRow& row : rows)
    if (!row.cut.empty()) first = std::min<double>(first, row.parts), last = std::max<double>(last, row.parts);
  for (const StudyRow& row : rows) {
    if (!row.failure.empty()) continue;
    const std::string name = curve_name(row, cuts, contrasts, overlaps) + (row.cut.empty() ? ", undivided" : "");
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    const auto point = [&](auto& points, double value) {
      if (std::isnan(value) || !row.converged) return;
      if (!row.cut.empty()) return static_cast<void>(points[name].emplace_back(row.parts, value));
      points[name] = {{first, value}, {last, value}};  // the same for any number of parts
    };
    point(iterations, row.iterations);
    point(conditions, std::log10(row.condition));
  }
  LinePlot plot(title, "parts");
  auto& upper = plot.panel("iterations");
  for (const std::string& name : order)
    if (iterations.count(name)) upper.curve(name, iterations[name]);
  auto& lower = plot.panel("log10 of the condition number");
  for (const std::string& name : order)
    if (conditions.count(name)) lower.curve(name, conditions[name]);
  return plot.svg();
}

}  // namespace voussoir
