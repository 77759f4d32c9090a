#include <voussoir/jobs/detail/step_probes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/jobs/detail/modal_files.hpp>

namespace voussoir::detail {

StepProbes::StepProbes(const Job& job) : job_(job) {
  if (job.points.empty() && job.paths.empty()) return;
  std::vector<const PointLocator*> all;
  for (const auto& domain : job.domains) {
    locators_.push_back(std::make_unique<PointLocator>(*domain));
    all.push_back(locators_.back().get());
  }
  for (const ProbePoint& point : job.points) check_probe(all, point);
  for (const ProbePath& path : job.paths) check_probe(all, path);
}

std::vector<std::string> StepProbes::file_names() const {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const ProbePath& path : job_.paths) {
    const std::string base = "_path_" + as_file_name(path.name);
    std::string unique = base;
    for (int k = 2; !taken.insert(unique).second; ++k) unique = base + "_" + std::to_string(k);
    names.push_back(unique);
  }
  return names;
}

StepProbes::Found StepProbes::find(const JobStep& step, const StepResult& result) const {
  Found found;
  if (empty()) return found;
  const PointLocator& locator = *locators_[step.domain];
  const Probe probe(locator, result);
  for (const ProbePoint& point : job_.points)
    if (!locator.find(point.position).empty()) {
      PointResult& at = found.points.emplace_back(PointResult{point.name, probe.names(), probe.at(point.position), {}});
      for (const ProbeValues& side : at.sides) at.elements.push_back(job_.instances.element(side.element));
    }
  for (std::size_t i = 0; i < job_.paths.size(); ++i) {
    const ProbePath& path = job_.paths[i];
    PathResult along{i, probe.names(), {}, 0};
    bool any = false;
    for (int k = 0; k < path.points; ++k) {
      const bool inside = !locator.find(path.position(k)).empty();
      any = any || inside;
      along.outside += !inside;
    }
    if (!any) continue;  // it lies in another model of the job
    along.values = probe.along(path);
    found.paths.push_back(std::move(along));
  }
  return found;
}

std::string note_of_path(const Job& job, const PathResult& path) {
  if (path.outside == 0) return "";
  const ProbePath& asked = job.paths[path.path];
  return std::to_string(path.outside) + " of the " + std::to_string(asked.points) + " points of path '" + asked.name +
         "' are outside the body and omitted";
}

bool has_probed_states(Procedure procedure) { return has_states(procedure) && procedure != Procedure::spectrum; }

void StateProbes::add(std::size_t step, const StepResult& result, const CsvState& state) {
  const StepProbes::Found found = probes_.find(job_.steps[step], result);
  if (!found.points.empty()) {
    auto at = tables_.find(0);
    if (at == tables_.end())
      at = tables_
               .try_emplace(0, Table{"_points", csv_head_of_points(found.points.front().names, job_.units, state), ""})
               .first;
    add_points(at->second.csv, found.points, job_.instances, state);
  }
  for (const PathResult& along : found.paths) {
    auto at = tables_.find(along.path + 1);
    if (at == tables_.end())
      at = tables_
               .try_emplace(along.path + 1,
                            Table{probes_.file_names()[along.path], csv_head_of_path(along.names, job_.units, state),
                                  note_of_path(job_, along)})
               .first;
    add_path(at->second.csv, along.values, job_.instances, state);
  }
}

void StateProbes::add(std::size_t step, const ModeSet& modes) {
  for (std::size_t m = 0; m < modes.shapes.size() && !probes_.empty(); ++m) {
    StepResult shape;
    shape.unknowns = modes.shapes[m];
    add(step, shape, {{"mode"}, {static_cast<double>(m + 1)}, ""});
  }
}

void StateProbes::add(std::size_t step, const StepState& state) {
  const Procedure procedure = job_.steps[step].procedure;
  if (probes_.empty() || !state.for_viewers || procedure == Procedure::frequency || !has_probed_states(procedure))
    return;
  CsvState columns{{state_word(procedure)}, {state.at}, ""};
  if (!state.imaginary) return add(step, state.result, columns);
  // Invariants of the parts of a harmonic stress are no amplitudes.
  columns.names.emplace_back("part");
  for (const bool imaginary : {false, true}) {
    StepResult part;
    part.unknowns = imaginary ? state.imaginary->unknowns : state.result.unknowns;
    columns.text = imaginary ? "imaginary" : "real";
    add(step, part, columns);
  }
}

std::vector<StateProbes::Table> StateProbes::take() {
  std::vector<Table> list;
  for (auto& [index, table] : tables_) list.push_back(std::move(table));
  tables_.clear();
  taken_.clear();
  return list;
}

void StateProbes::take_added(ByteWriter& out) {
  out.put(static_cast<std::uint64_t>(tables_.size()));
  for (const auto& [index, table] : tables_) {
    std::size_t& before = taken_[index];
    out.put(static_cast<std::uint64_t>(index)).put(table.suffix).put(table.note);
    out.put(static_cast<std::uint64_t>(table.csv.columns()));
    out.put(std::string_view(table.csv.lines()).substr(before));
    before = table.csv.lines().size();
  }
}

void StateProbes::restore(ByteReader& in) {
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    const auto index = static_cast<std::size_t>(in.get<std::uint64_t>());
    std::string suffix = in.text(), note = in.text();
    const auto columns = static_cast<std::size_t>(in.get<std::uint64_t>());
    const std::string lines = in.text();
    if (const auto known = tables_.find(index); known != tables_.end())
      known->second.csv.append_lines(lines);
    else
      tables_.emplace(index, Table{std::move(suffix), CsvTable(columns, lines), std::move(note)});
    taken_[index] += lines.size();
  }
}

namespace {

/// What stands together in a panel, by the names of values; the label without its unit, and the value that has the
/// unit.
struct Group {
  const char* label;
  const char* unit_of;
  std::vector<std::string> names;
};
const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"stress", "mises", {"mises", "principal1", "principal2", "principal3"}},
      {"axial stress", "axial_stress", {"axial_stress"}},
      {"section force", "N", {"N", "Vy", "Vz"}},
      {"section moment", "Mz", {"torque", "My", "Mz"}},
      {"displacement", "ux", {"ux", "uy", "uz"}},
      {"temperature", "T", {"T"}},
      {"heat flux", "flux", {"flux", "qx", "qy", "qz"}},
  };
  return all;
}

}  // namespace

std::string plot_of_path(const PathResult& path, const std::string& title, const Units& units) {
  LinePlot plot(title, units.labelled("distance"));
  // Pieces of one material without a gap: the step between two points is the smallest there is.
  std::map<std::string, std::vector<const ProbeValues*>> by_material;
  double step = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < path.values.size(); ++i) {
    by_material[path.values[i].material].push_back(&path.values[i]);
    if (i > 0)
      if (const double d = path.values[i].distance - path.values[i - 1].distance; d > 0) step = std::min(step, d);
  }
  std::vector<std::vector<const ProbeValues*>> pieces;
  for (const auto& [material, values] : by_material)
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == 0 || values[i]->distance - values[i - 1]->distance > 1.5 * step) pieces.emplace_back();
      pieces.back().push_back(values[i]);
    }
  const auto add = [&](const std::string& label, const std::vector<std::string>& names) {
    LinePlot::Panel* panel = nullptr;
    for (const std::string& name : names) {
      const auto column = std::find(path.names.begin(), path.names.end(), name);
      if (column == path.names.end()) continue;
      const std::size_t k = static_cast<std::size_t>(column - path.names.begin());
      for (const auto& piece : pieces) {
        LinePlot::Points points;
        for (const ProbeValues* values : piece) points.emplace_back(values->distance, values->values[k]);
        if (std::none_of(points.begin(), points.end(), [](const auto& p) { return std::isfinite(p.second); })) continue;
        if (!panel) panel = &plot.panel(label);
        panel->curve(name == "T" ? "temperature" : name, std::move(points));
      }
    }
  };
  std::vector<std::string> shown;
  for (const Group& group : groups()) {
    const std::string unit = units.of(group.unit_of);
    add(group.label + (unit.empty() ? "" : " [" + unit + "]"), group.names);
    shown.insert(shown.end(), group.names.begin(), group.names.end());
  }
  // Unknowns that a user's elements have.
  for (const std::string& name : path.names) {
    const bool rotation = name.size() == 2 && name[0] == 'r';
    const bool stress = name.size() == 3 && name[0] == 's';
    if (!rotation && !stress && std::find(shown.begin(), shown.end(), name) == shown.end()) add(name, {name});
  }
  if (by_material.size() > 1)
    for (const auto& piece : pieces) plot.mark(piece.front()->distance, piece.front()->material);
  return plot.svg();
}

}  // namespace voussoir::detail
