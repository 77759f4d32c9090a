#include <voussoir/jobs/detail/recorded_curves.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <voussoir/framework/io/csv/response_tables.hpp>

namespace voussoir::detail {
namespace {

/// More curves in one panel are unreadable.
constexpr std::size_t most_panel_curves = 6;

struct PanelKind {
  std::string label, unit;
};

/// The panel that a column of a history belongs to.
PanelKind panel_of(const std::string& column, const Units& units) {
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return column == name; });
  };
  if (column.starts_with("velocity_")) return {"velocity", ""};
  if (column.starts_with("acceleration_")) return {"acceleration", ""};
  if (is({"ux", "uy", "uz"})) return {"displacement", units.length};
  if (is({"rx", "ry", "rz"})) return {"rotation", ""};
  if (is({"fx", "fy", "fz", "N", "Vy", "Vz"})) return {"force", units.force};
  if (is({"mx", "my", "mz", "T", "My", "Mz"})) return {"moment", units.moment()};
  if (is({"sxx", "syy", "szz", "sxy", "sxz", "syz", "mises"})) return {"stress", units.stress};
  if (is({"exx", "eyy", "ezz", "exy", "exz", "eyz"})) return {"strain", ""};
  if (column == "peeq") return {"equivalent plastic strain", ""};
  if (is({"qx", "qy", "qz"})) return {"heat flux", units.flux()};
  if (column == "heat_flow") return {"heat flow", units.power};
  if (column == "energy_density") return {"energy density", units.energy_density()};
  return {column, units.of(column)};
}

std::string in_brackets(const std::string& unit) { return unit.empty() ? "" : " [" + unit + "]"; }

/// Curves in panels, in the order in which their kinds first appear.
class Panels {
 public:
  void add(const PanelKind& kind, const std::string& name, std::span<const double> times,
           const std::vector<double>& values) {
    auto panel = std::find_if(panels_.begin(), panels_.end(), [&](const Panel& p) { return p.label == kind.label; });
    if (panel == panels_.end()) panel = panels_.insert(panels_.end(), {kind.label, kind.unit, {}});
    if (panel->curves.size() == most_panel_curves) return;
    LinePlot::Points points;
    for (std::size_t i = 0; i < values.size(); ++i) points.emplace_back(times[i], values[i]);
    panel->curves.emplace_back(name, std::move(points));
  }
  LinePlot plot(const std::string& title) && {
    LinePlot plot(title, "time");
    for (Panel& panel : panels_) {
      LinePlot::Panel& drawn = plot.panel(panel.label + in_brackets(panel.unit));
      for (auto& [name, points] : panel.curves) drawn.curve(name, std::move(points));
    }
    return plot;
  }

 private:
  struct Panel {
    std::string label, unit;
    std::vector<std::pair<std::string, LinePlot::Points>> curves;
  };
  std::vector<Panel> panels_;
};

}  // namespace

CsvTable csv_of_history(const RecordedHistory& history, const Units& units) {
  NamedHistories named = history.curves;
  for (std::size_t i = 0; i < named.size(); ++i)
    named[i].first += in_brackets(panel_of(history.columns[i], units).unit);
  return csv_table(history.times, named);
}

LinePlot plot_of_history(const RecordedHistory& history, const std::string& title, const Units& units) {
  Panels panels;
  for (std::size_t i = 0; i < history.curves.size(); ++i)
    panels.add(panel_of(history.columns[i], units), history.curves[i].first, history.times, history.curves[i].second);
  return std::move(panels).plot(title);
}

LinePlot plot_of_sums(const std::string& title, std::span<const double> times, const NamedHistories& sums,
                      const Units& units) {
  Panels panels;
  for (const auto& [name, values] : sums) {
    PanelKind kind{"force", units.force};
    if (name.starts_with("heat flow"))
      kind = {"heat flow", units.power};
    else if (const std::size_t blank = name.find(' '); blank != std::string::npos && name.size() - blank > 2)
      kind = {"moment", units.moment()};  // "reaction rx"
    panels.add(kind, name, times, values);
  }
  return std::move(panels).plot(title);
}

}  // namespace voussoir::detail
