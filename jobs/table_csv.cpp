#include <voussoir/jobs/detail/table_csv.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace voussoir::detail {
namespace {

/// The head of a column; tables of decks use some names for other things than the rest of the house.
std::string head(const std::string& quantity, const std::string& column, const Units& units) {
  std::string unit = units.of(column);
  if (quantity == "SF" && column == "T") unit = units.moment();
  if (quantity == "ENER" && column == "energy") unit = units.energy_density();
  return unit.empty() ? column : column + " [" + unit + "]";
}

std::vector<std::string> place_columns(const Units& units) {
  return {units.labelled("x"), units.labelled("y"), units.labelled("z")};
}

void begin_row(CsvTable& csv, const CsvState& state) {
  csv.row();
  for (const double value : state.values) csv.add(value);
  if (!state.text.empty()) csv.add(state.text);
}

void add_values(CsvTable& csv, const ProbeValues& values, const InstanceNumbers& names) {
  for (const double x : values.position) csv.add(x);
  csv.add(names.element(values.element)).add(values.material);
  for (const double v : values.values) csv.add(v);
}

void add_columns(std::vector<std::string>& columns, const std::vector<std::string>& names, const Units& units) {
  for (const std::string& place : place_columns(units)) columns.push_back(place);
  columns.insert(columns.end(), {"element", "material"});
  for (const std::string& name : names) columns.push_back(units.labelled(name));
}

}  // namespace

std::string as_file_name(const std::string& name) {
  std::string result = name;
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x80 && !std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.')
      c = '_';
  return result.substr(0, 100);
}

bool is_turned(const Job& job, const JobStep& step, const PrintRequest& request, const std::string& quantity) {
  const Domain& domain = *job.domains[step.domain];
  if (request.at == PrintRequest::At::nodes) {
    const auto& system_of = job.node_axes.system_of;
    const auto has_axes = [&](std::int32_t n) {
      return static_cast<std::size_t>(n) < system_of.size() && system_of[static_cast<std::size_t>(n)] >= 0;
    };
    if (quantity != "U" && quantity != "V" && quantity != "RF") return false;
    if (request.set.empty()) return std::any_of(system_of.begin(), system_of.end(), [](auto s) { return s >= 0; });
    const auto nodes = domain.node_set(request.set);
    return std::any_of(nodes.begin(), nodes.end(), has_axes);
  }
  if (quantity != "S" && quantity != "E" && quantity != "HFL") return false;
  const auto is_oriented = [&](std::size_t block) {
    const Orientation& orientation = domain.block(block).orientation();
    return orientation.varies() || orientation.at({0, 0, 0}) != Orientation().at({0, 0, 0});
  };
  std::vector<char> oriented(domain.block_count());
  for (std::size_t b = 0; b < oriented.size(); ++b) oriented[b] = is_oriented(b);
  if (request.set.empty()) return std::any_of(oriented.begin(), oriented.end(), [](char is) { return is != 0; });
  const auto elements = domain.element_set(request.set);
  return std::any_of(elements.begin(), elements.end(), [&](const ElementRef& e) { return oriented[e.block] != 0; });
}

CsvTable csv_head(const PrintTable& table, const Units& units, const CsvState& state) {
  std::vector<std::string> columns = state.names;
  columns.emplace_back(table.of_nodes ? "node" : "element");
  if (!table.names.empty()) columns.emplace_back("name");
  if (table.has_points) columns.emplace_back("point");
  if (!table.positions.empty() && table.quantity != "COORD")
    for (const std::string& place : place_columns(units)) columns.push_back(place);
  for (const std::string& column : table.columns) columns.push_back(head(table.quantity, column, units));
  return CsvTable(columns);
}

void add_rows(CsvTable& csv, const PrintTable& table, const CsvState& state) {
  const bool placed = !table.positions.empty() && table.quantity != "COORD";
  for (std::size_t row = 0; row < table.ids.size(); ++row) {
    begin_row(csv, state);
    csv.add(table.ids[row]);
    if (!table.names.empty()) csv.add(table.names[row]);
    if (table.has_points) csv.add(table.points[row]);
    for (std::size_t k = 0; placed && k < 3; ++k) csv.add(table.positions[3 * row + k]);
    for (std::size_t c = 0; c < table.width(); ++c) csv.add(table.at(row, c));
  }
}

CsvTable csv_of(const PrintTable& table, const Units& units) {
  CsvTable csv = csv_head(table, units, {});
  add_rows(csv, table, {});
  return csv;
}

CsvTable csv_head_of_totals(const PrintTable& table, const Units& units, const CsvState& state) {
  std::vector<std::string> columns = state.names;
  columns.emplace_back("set");
  for (const std::string& column : table.total_columns) columns.push_back(head(table.quantity, column, units));
  return CsvTable(columns);
}

void add_totals(CsvTable& csv, const PrintTable& table, const CsvState& state) {
  begin_row(csv, state);
  csv.add(table.set);
  for (std::size_t c = 0; c < table.width(); ++c) {
    double sum = 0;
    for (std::size_t row = 0; row < table.ids.size(); ++row)
      if (!std::isnan(table.at(row, c))) sum += table.at(row, c);
    csv.add(sum);
  }
}

CsvTable csv_of_totals(const PrintTable& table, const Units& units) {
  CsvTable csv = csv_head_of_totals(table, units, {});
  add_totals(csv, table, {});
  return csv;
}

CsvTable csv_head_of_points(const std::vector<std::string>& names, const Units& units, const CsvState& state) {
  std::vector<std::string> columns = state.names;
  columns.emplace_back("point");
  add_columns(columns, names, units);
  return CsvTable(columns);
}

void add_points(CsvTable& csv, const std::vector<PointResult>& points, const InstanceNumbers& instances,
                const CsvState& state) {
  for (const PointResult& point : points)
    for (const ProbeValues& side : point.sides) {
      begin_row(csv, state);
      csv.add(point.name);
      add_values(csv, side, instances);
    }
}

CsvTable csv_of_points(const std::vector<PointResult>& points, const Units& units, const InstanceNumbers& instances) {
  CsvTable csv = csv_head_of_points(points.empty() ? std::vector<std::string>() : points.front().names, units, {});
  add_points(csv, points, instances, {});
  return csv;
}

CsvTable csv_head_of_path(const std::vector<std::string>& names, const Units& units, const CsvState& state) {
  std::vector<std::string> columns = state.names;
  columns.push_back(units.labelled("distance"));
  add_columns(columns, names, units);
  return CsvTable(columns);
}

void add_path(CsvTable& csv, const std::vector<ProbeValues>& path, const InstanceNumbers& instances,
              const CsvState& state) {
  for (const ProbeValues& values : path) {
    begin_row(csv, state);
    csv.add(values.distance);
    add_values(csv, values, instances);
  }
}

CsvTable csv_of_path(const std::vector<ProbeValues>& path, const std::vector<std::string>& names, const Units& units,
                     const InstanceNumbers& instances) {
  CsvTable csv = csv_head_of_path(names, units, {});
  add_path(csv, path, instances, {});
  return csv;
}

}  // namespace voussoir::detail
