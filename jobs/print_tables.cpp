#include <voussoir/jobs/detail/print_tables.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <voussoir/backends/error.hpp>
#include <voussoir/jobs/detail/nan.hpp>

namespace voussoir::detail {
namespace {

constexpr double slice_of_ring = 1.0 / 180.0;
using Names = std::vector<std::string>;

/// A quantity, what CalculiX calls it, and the names that our results have for it.
struct Quantity {
  const char* label;
  const char* heading;
  const char* total_heading;
  Names names;
};

const std::vector<Quantity>& node_quantities() {
  static const std::vector<Quantity> list = {
      {"U", "displacements (vx,vy,vz)", "", {"ux", "uy", "uz", "rx", "ry", "rz"}},
      {"V", "velocities (vx,vy,vz)", "", {"ux", "uy", "uz", "rx", "ry", "rz"}},
      {"A", "accelerations (vx,vy,vz)", "", {"ux", "uy", "uz", "rx", "ry", "rz"}},
      {"RF", "forces (fx,fy,fz)", "total force (fx,fy,fz)", {"ux", "uy", "uz", "rx", "ry", "rz"}},
      {"NT", "temperatures", "", {"T"}},
      {"RFL", "heat generation", "total heat generation", {"T"}}};
  return list;
}

const std::vector<Quantity>& point_quantities() {
  static const std::vector<Quantity> list = {
      {"S", "stresses (elem, integ.pnt.,sxx,syy,szz,sxy,sxz,syz)", "", {"sxx", "syy", "szz", "sxy", "sxz", "syz"}},
      {"E", "strains (elem, integ.pnt.,exx,eyy,ezz,exy,exz,eyz)", "", {"exx", "eyy", "ezz", "exy", "exz", "eyz"}},
      {"MISES", "von Mises stresses (elem, integ.pnt.,mises)", "", {"mises"}},
      {"PEEQ", "equivalent plastic strain (elem, integ.pnt.,pe)", "", {"peeq"}},
      {"HFL", "heat flux (elem, integ.pnt.,qx,qy,qz)", "", {"qx", "qy", "qz"}},
      {"ENER", "internal energy density (elem, integ.pnt.,energy)", "", {"energy"}},
      {"COORD", "global coordinates (elem, integ.pnt.,x,y,z)", "", {"x", "y", "z"}},
      {"SF", "section forces (elem, integ.pnt.,n,vy,vz,t,my,mz)", "", {"N", "Vy", "Vz", "T", "My", "Mz"}}};
  return list;
}

const std::vector<Quantity>& element_quantities() {
  static const std::vector<Quantity> list = {
      {"ELSE", "internal energy (element, energy)", "total internal energy", {"energy"}},
      {"EVOL", "volume (element, volume)", "total volume", {"volume"}}};
  return list;
}

const Quantity* find(const std::vector<Quantity>& list, const std::string& label) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const Quantity& q) { return label == q.label; });
  return it == list.end() ? nullptr : &*it;
}

std::string join_names(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// What one step has to say, and the tables that are made of it.
class Tables {
 public:
  Tables(const Job& job, const JobStep& step, const StepResult& result, const std::vector<double>& temperatures,
         std::vector<std::string>& notes, const PrintSelection& selection)
      : job_(job),
        step_(step),
        domain_(*job.domains[step.domain]),
        result_(result),
        temperatures_(temperatures),
        notes_(notes),
        selection_(selection) {
    field_of_.assign(domain_.block_count(), nullptr);
    for (const PointField& field : result.points) field_of_[field.block] = &field;
  }

  std::vector<PrintTable> make() {
    for (request_ = 0; request_ < step_.prints.size(); ++request_) {
      const PrintRequest& request = step_.prints[request_];
      if (selection_.prints && !(*selection_.prints)[request_]) continue;
      for (item_ = 0; item_ < request.quantities.size(); ++item_)
        if (request.at == PrintRequest::At::nodes)
          add_nodes(request, request.quantities[item_]);
        else
          add_elements(request, request.quantities[item_]);
    }
    return std::move(tables_);
  }

 private:
  void note(const PrintRequest& request, const std::string& text) {
    const std::string line = (request.where.empty() ? "" : request.where + ": ") + text;
    if (std::find(notes_.begin(), notes_.end(), line) == notes_.end()) notes_.push_back(line);
  }

  PrintTable begin(const PrintRequest& request, const Quantity& quantity, const char* all) const {
    PrintTable table;
    table.request = request_;
    table.item = item_;
    table.quantity = quantity.label;
    table.set = request.set.empty() ? all : request.set;
    table.heading = quantity.heading;
    table.total_heading = quantity.total_heading;
    if (!table.total_heading.empty()) {
      table.wants_rows = request.totals != PrintRequest::Totals::only;
      table.wants_totals = request.totals != PrintRequest::Totals::no;
    }
    return table;
  }

  // --- nodes -----------------------------------------------------------------------------------------------------

  void add_nodes(const PrintRequest& request, const std::string& label) {
    const Quantity* quantity = find(node_quantities(), label);
    const bool heat = is_heat(step_.procedure);
    if (!quantity)
      return note(request, label + " is not printed: it is not a nodal quantity; available are U, V, RF, NT, RFL");
    if ((label == "U" || label == "RF") && heat)
      return note(request, label + " is not printed in heat steps, which do not have it");
    if (label == "V" && !selection_.velocity)
      return note(request, "V is printed in *DYNAMIC, *MODAL DYNAMIC and *STEADY STATE DYNAMICS steps only");
    if (label == "A" && !selection_.acceleration) return note(request, "A is recorded in steps of dynamics only");
    if (label == "RFL" && !heat) return note(request, "RFL is printed in heat steps only");
    const auto& known = result_.unknowns.components;
    if ((label == "U" || label == "RF") && std::find(known.begin(), known.end(), "ux") == known.end())
      return note(request,
                  label + " is not printed: the model has no displacements, its unknowns are " + join_names(known));

    PrintTable table = begin(request, *quantity, "NALL");
    std::vector<std::int32_t> nodes;
    if (request.set.empty()) {
      const std::int32_t count = job_.own_nodes > 0 ? job_.own_nodes : domain_.node_count();
      for (std::int32_t n = 0; n < count; ++n) nodes.push_back(n);
    } else {
      const auto set = domain_.node_set(request.set);
      nodes.assign(set.begin(), set.end());
    }
    std::sort(nodes.begin(), nodes.end(), [&](auto a, auto b) { return domain_.node_id(a) < domain_.node_id(b); });

    const NodalField& field = label == "RF" || label == "RFL" ? result_.internal_forces
                              : label == "V"                  ? *selection_.velocity
                              : label == "A"                  ? *selection_.acceleration
                                                              : result_.unknowns;
    const bool vector = label == "U" || label == "V" || label == "A" || label == "RF";
    const bool acting = label == "NT" && !heat;
    std::vector<int> components;  // of the field, −1: not there
    for (std::size_t k = 0; k < quantity->names.size(); ++k) {
      const auto it = std::find(field.components.begin(), field.components.end(), quantity->names[k]);
      if (k >= 3 && it == field.components.end()) continue;  // rotations are shown where the model has them
      components.push_back(it == field.components.end() ? -1 : static_cast<int>(it - field.components.begin()));
      table.columns.push_back(column_name(label, quantity->names[k]));
    }
    table.calculix_columns = vector ? 3 : 1;
    table.total_columns = table.columns;
    const std::vector<char>& ring = rings();
    const bool has_ring = (label == "RF" || label == "RFL") && !ring.empty();
    for (const std::int32_t n : nodes) {
      table.ids.push_back(domain_.node_id(n));
      const double* x = domain_.coordinates().data() + 3 * static_cast<std::size_t>(n);
      table.positions.insert(table.positions.end(), x, x + 3);
      if (has_ring) table.slice.push_back(ring[n] ? slice_of_ring : 1.0);
      if (acting) {
        table.values.push_back(temperatures_.empty() ? domain_.initial_temperature(n) : temperatures_[n]);
        continue;
      }
      const std::size_t at = table.values.size();
      for (const int c : components) table.values.push_back(c < 0 ? 0.0 : field.at(n, c));
      if (vector && request.local) turn_node(n, table.values.data() + at, components.size());
    }
    tables_.push_back(std::move(table));
  }

  static std::string column_name(const std::string& label, const std::string& name) {
    if (label == "U") return name;
    if (label == "V") return "velocity_" + name;
    if (label == "A") return "acceleration_" + name;
    if (label == "RF") return (name[0] == 'u' ? "f" : "m") + name.substr(1);
    return label == "NT" ? "temperature" : "heat_flow";
  }

  /// Into the axes that the deck gave to the node.
  void turn_node(std::int32_t n, double* values, std::size_t count) const {
    const auto& axes = job_.node_axes;
    if (static_cast<std::size_t>(n) >= axes.system_of.size() || axes.system_of[n] < 0) return;
    const double* x = domain_.coordinates().data() + 3 * static_cast<std::size_t>(n);
    const Orientation::Axes a = axes.systems[axes.system_of[n]].at({x[0], x[1], x[2]});
    for (std::size_t first = 0; first + 3 <= count; first += 3) turn_vector(a, values + first);
  }

  static void turn_vector(const Orientation::Axes& a, double* v) {
    const std::array<double, 3> old{v[0], v[1], v[2]};
    for (int i = 0; i < 3; ++i) v[i] = a[3 * i] * old[0] + a[3 * i + 1] * old[1] + a[3 * i + 2] * old[2];
  }

  /// Nodes of rings, one mark for each node; empty where the model has none.
  const std::vector<char>& rings() {
    if (looked_for_rings_) return rings_;
    looked_for_rings_ = true;
    for (std::size_t b = 0; b < domain_.block_count(); ++b)
      if (domain_.block(b).type().program().axisymmetric()) {
        rings_.resize(domain_.node_count(), 0);
        for (const std::int32_t n : domain_.block(b).connectivity()) rings_[n] = 1;
      }
    return rings_;
  }

  // --- elements --------------------------------------------------------------------------------------------------

  void add_elements(const PrintRequest& request, const std::string& label) {
    const Quantity* at_points = find(point_quantities(), label);
    const Quantity* of_elements = find(element_quantities(), label);
    if (!at_points && !of_elements)
      return note(request, label +
                               " is not printed: it is not an element quantity; available are S, E, PEEQ, HFL, ENER, "
                               "ELSE, EVOL, COORD, SF");
    PrintTable table = begin(request, at_points ? *at_points : *of_elements, "EALL");
    table.of_nodes = false;
    table.has_points = at_points != nullptr;
    std::vector<ElementRef> elements;
    if (request.set.empty()) {
      for (std::size_t b = 0; b < domain_.block_count(); ++b)
        for (std::int32_t e = 0; e < domain_.block(b).size(); ++e)
          elements.push_back({static_cast<std::int32_t>(b), e});
    } else {
      const auto set = domain_.element_set(request.set);
      elements.assign(set.begin(), set.end());
    }
    const auto id = [&](const ElementRef& r) { return domain_.block(r.block).id(r.element); };
    std::sort(elements.begin(), elements.end(), [&](const auto& a, const auto& b) { return id(a) < id(b); });

    const Quantity& quantity = at_points ? *at_points : *of_elements;
    table.columns = quantity.names;
    table.total_columns = quantity.names;
    table.calculix_columns = static_cast<int>(quantity.names.size());
    std::vector<std::vector<int>> columns(domain_.block_count());
    std::vector<std::int64_t> without(domain_.block_count(), 0);
    for (std::size_t b = 0; b < domain_.block_count(); ++b) columns[b] = columns_of(b, quantity);
    const bool is_sum_over_ring = of_elements != nullptr;
    for (const ElementRef& element : elements) {
      if (columns[element.block].empty())
        ++without[element.block];
      else if (at_points)
        add_points(table, element, columns[element.block], label, request.local);
      else
        add_sum(table, element, columns[element.block]);
      if (is_sum_over_ring && !columns[element.block].empty())
        table.slice.push_back(domain_.block(element.block).type().program().axisymmetric() ? slice_of_ring : 1.0);
    }
    for (std::size_t b = 0; b < domain_.block_count(); ++b)
      if (without[b])
        note(request, label + " is not printed for " + std::to_string(without[b]) + " elements of block '" +
                          domain_.block(b).name() + "' (" + domain_.block(b).type_name() + "), which do not have it");
    if (!table.ids.empty()) tables_.push_back(std::move(table));
  }

  bool is_bar(const PointField& field) const { return field.has("stress") && field.has("strain") && field.has("N"); }

  /// Where the values of a quantity stand in the field of a block; empty where the block does not have it.
  std::vector<int> columns_of(std::size_t block, const Quantity& quantity) const {
    const PointField* field = field_of_[block];
    if (!field) return {};
    const std::string label = quantity.label;
    if (is_bar(*field) && label == "S") return {field->name_index("stress")};
    if (is_bar(*field) && label == "E") return {field->name_index("strain")};
    std::vector<int> columns;
    for (const std::string& name : quantity.names) {
      const bool has = field->has(name);
      if (!has && !(label == "SF" && !columns.empty())) return {};  // bars and springs have a normal force alone
      columns.push_back(has ? field->name_index(name) : -1);
    }
    if (label == "ELSE" || label == "ENER")
      if (!field->has("volume")) return {};
    return columns;
  }

  void add_points(PrintTable& table, const ElementRef& element, const std::vector<int>& columns,
                  const std::string& label, bool local) const {
    const PointField& field = *field_of_[element.block];
    const ElementBlock& block = domain_.block(element.block);
    const bool placed = field.has("x") && field.has("y") && field.has("z");
    const int x = placed ? field.name_index("x") : 0, y = placed ? field.name_index("y") : 0,
              z = placed ? field.name_index("z") : 0;
    for (int p = 0; p < field.points; ++p) {
      table.ids.push_back(block.id(element.element));
      table.points.push_back(p + 1);
      std::array<double, 3> position;
      if (placed)
        position = {field.at(element.element, p, x), field.at(element.element, p, y), field.at(element.element, p, z)};
      else
        position = place_on_line(block, element.element, field.points, p);
      table.positions.insert(table.positions.end(), position.begin(), position.end());
      std::array<double, 6> v{};
      if (columns.size() == 1 && table.width() == 6)  // a bar: its one stress along its axis
        v = along_axis(block, element.element, field.at(element.element, p, columns[0]));
      else
        for (std::size_t k = 0; k < columns.size(); ++k)
          v[k] = columns[k] < 0 ? nan : field.at(element.element, p, columns[k]);
      if (local && (label == "S" || label == "E")) turn_tensor(block.orientation().at(position), v);
      if (local && label == "HFL") turn_vector(block.orientation().at(position), v.data());
      table.values.insert(table.values.end(), v.begin(), v.begin() + static_cast<std::ptrdiff_t>(table.width()));
    }
  }

  /// Sum of volume, or of energy density times volume, over the points of an element.
  void add_sum(PrintTable& table, const ElementRef& element, const std::vector<int>& columns) const {
    const PointField& field = *field_of_[element.block];
    const int volume = field.name_index("volume");
    double sum = 0;
    for (int p = 0; p < field.points; ++p)
      sum += field.at(element.element, p, volume) *
             (columns[0] == volume ? 1.0 : field.at(element.element, p, columns[0]));
    table.ids.push_back(domain_.block(element.block).id(element.element));
    table.values.push_back(sum);
  }

  std::array<double, 3> node_position(std::int32_t n) const {
    const double* x = domain_.coordinates().data() + 3 * static_cast<std::size_t>(n);
    return {x[0], x[1], x[2]};
  }
  /// Points of lines that tell no place: the middle, or evenly from the first node to the last.
  std::array<double, 3> place_on_line(const ElementBlock& block, std::int32_t element, int points, int p) const {
    const auto nodes = block.nodes(element);
    const auto a = node_position(nodes.front()), b = node_position(nodes.back());
    const double t = points == 1 ? 0.5 : static_cast<double>(p) / (points - 1);
    return {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
  }
  /// xx yy zz xy xz yz of value · n ⊗ n with n along the line.
  std::array<double, 6> along_axis(const ElementBlock& block, std::int32_t element, double value) const {
    const auto nodes = block.nodes(element);
    const auto a = node_position(nodes.front()), b = node_position(nodes.back());
    std::array<double, 3> n{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double length = std::hypot(n[0], n[1], n[2]);
    for (double& c : n) c /= length;
    return {value * n[0] * n[0], value * n[1] * n[1], value * n[2] * n[2],
            value * n[0] * n[1], value * n[0] * n[2], value * n[1] * n[2]};
  }
  /// xx yy zz xy xz yz in the axes a (by rows): a T aᵀ.
  static void turn_tensor(const Orientation::Axes& a, std::array<double, 6>& v) {
    const double t[3][3] = {{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}};
    const auto entry = [&](int i, int j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) sum += a[3 * i + k] * t[k][l] * a[3 * j + l];
      return sum;
    };
    v = {entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)};
  }

  const Job& job_;
  const JobStep& step_;
  const Domain& domain_;
  const StepResult& result_;
  const std::vector<double>& temperatures_;
  std::vector<std::string>& notes_;
  const PrintSelection& selection_;
  std::size_t request_ = 0, item_ = 0;       // being made
  std::vector<const PointField*> field_of_;  // of each block, or null
  bool looked_for_rings_ = false;
  std::vector<char> rings_;
  std::vector<PrintTable> tables_;
};

}  // namespace

bool has_set(const Domain& domain, const PrintRequest& request) {
  if (request.set.empty()) return true;
  return request.at == PrintRequest::At::nodes ? domain.has_node_set(request.set) : domain.has_element_set(request.set);
}

std::vector<PrintTable> print_tables(const Job& job, const JobStep& step, const StepResult& result,
                                     const std::vector<double>& temperatures, std::vector<std::string>& notes,
                                     const PrintSelection& selection) {
  std::vector<PrintTable> tables = Tables(job, step, result, temperatures, notes, selection).make();
  if (!job.instances.empty())
    for (PrintTable& table : tables)
      for (const Id id : table.ids)
        table.names.push_back(table.of_nodes ? job.instances.node(id) : job.instances.element(id));
  return tables;
}

}  // namespace voussoir::detail
