#include <voussoir/framework/domain/element_block.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/domain/large_displacements.hpp>

namespace voussoir {
namespace {

/// Parameters axis11 … axis33 of a program are the axes of its block's orientation; −1 for other names.
int axis_entry(std::string_view parameter) {
  if (parameter.size() != 6 || !parameter.starts_with("axis")) return -1;
  const int i = parameter[4] - '1', j = parameter[5] - '1';
  return i >= 0 && i < 3 && j >= 0 && j < 3 ? 3 * i + j : -1;
}

/// Parameters polar_x … polar_radial_z of a program tell it about the cylinder of its block's orientation: a point of
/// the axis, its direction, and the radial direction in the middle of an element. −1 for other names.
int polar_entry(std::string_view parameter) {
  if (!parameter.starts_with("polar_")) return -1;
  const int k = parameter.back() - 'x';
  if (k < 0 || k > 2) return -1;
  parameter.remove_suffix(1);
  return parameter == "polar_" ? k : parameter == "polar_axis_" ? 3 + k : parameter == "polar_radial_" ? 6 + k : -1;
}

/// The values of these nine for an element around a point.
std::array<double, 9> polar_values(const Orientation& orientation, const std::array<double, 3>& centre) {
  const auto& p = orientation.axis_point();
  const auto& a = orientation.axis_direction();
  std::array<double, 3> r{centre[0] - p[0], centre[1] - p[1], centre[2] - p[2]};
  const double along = r[0] * a[0] + r[1] * a[1] + r[2] * a[2];
  for (int i = 0; i < 3; ++i) r[i] -= along * a[i];
  const double length = std::hypot(r[0], r[1], r[2]);
  return {p[0], p[1], p[2], a[0], a[1], a[2], r[0] / length, r[1] / length, r[2] / length};
}

/// The parameter by which a program that serves types of large and of small strains knows which of them it is.
constexpr std::string_view large_strains = "large_strains";

/// Parameters that neither material nor section has to define, since many analyses do without them. The comment of
/// ElementBlock::set_section() lists them for users.
struct OptionalParameter {
  std::string_view name;
  bool is_beginning;  // expansion, expansion1, …
  double value;
};
constexpr std::array optional_parameters{
    OptionalParameter{"density", false, 0}, OptionalParameter{"expansion", true, 0},
    OptionalParameter{"specific_heat", false, 0}, OptionalParameter{"thickness", false, 1}};

const OptionalParameter* find_optional(std::string_view parameter) {
  const auto found = std::find_if(optional_parameters.begin(), optional_parameters.end(), [&](const auto& o) {
    return o.is_beginning ? parameter.starts_with(o.name) : parameter == o.name;
  });
  return found == optional_parameters.end() ? nullptr : &*found;
}

/// A name that a material sets but no element type has is misspelt. Names of other types are fine: one material may
/// serve a structure and its heat conduction.
void require_known_parameters(const Material& material, std::span<const std::string> own) {
  std::vector<std::string> unknown;
  for (std::string& name : material.parameter_names())
    if (std::find(own.begin(), own.end(), name) == own.end()) unknown.push_back(std::move(name));
  if (unknown.empty()) return;
  std::set<std::string> all;
  const auto is_known = [&](const std::string& name) { return all.contains(name); };
  const auto add = [&](const std::vector<const ElementType*>& types) {
    for (const ElementType* type : types) {
      const auto names = type->program().parameter_names();
      all.insert(names.begin(), names.end());
    }
  };
  // Types on demand are loaded only where the others do not have the name.
  add(ElementLibrary::instance().loaded());
  if (std::all_of(unknown.begin(), unknown.end(), is_known)) return;
  add(ElementLibrary::instance().all());
  for (const std::string& name : unknown) {
    if (is_known(name)) continue;
    std::string near = nearest_name(name, own);
    if (near.empty()) near = nearest_name(name, std::vector<std::string>(all.begin(), all.end()));
    std::string text = "no element type has a parameter '" + name + "'";
    text += near.empty() ? "; `voussoir info --elements` lists the parameters of all types"
                         : "; did you mean '" + near + "'?";
    throw Error(ErrorCode::bad_input, text, "material '" + material.name() + "'");
  }
}

/// Where the parameters of a block's elements come from.
struct ParameterSource {
  const ElementBlock& block;
  const std::map<std::string, double, std::less<>>& section;
  const std::map<std::string, std::vector<double>, std::less<>>& per_element;
  const Orientation& orientation;

  std::string where() const { return "block '" + block.name() + "'"; }
  void require_known(const std::string& name) const;
  void require_settable(const std::string& name) const;
  void check() const;
  bool varies(const std::string& parameter) const;
  double common_value(const std::string& parameter, double temperature) const;
};

void ParameterSource::require_known(const std::string& name) const {
  const auto names = block.type().program().parameter_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string text = "elements of type " + block.type().name() + " have no parameter '" + name + "'";
  if (const std::string near = nearest_name(name, names); !near.empty()) {
    text += "; did you mean '" + near + "'?";
  } else if (names.empty()) {
    text += "; they have none";
  } else {
    text += "; theirs are ";
    for (std::size_t k = 0; k < names.size(); ++k) text += (k ? ", " : "") + names[k];
  }
  throw Error(ErrorCode::bad_input, text, where());
}

/// As require_known(), and the element type must not set the parameter itself.
void ParameterSource::require_settable(const std::string& name) const {
  require_known(name);
  if (name == large_strains)
    throw Error(ErrorCode::bad_input,
                "'" + name + "' is determined by the element type: use finite_solid types for large strains", where());
}

/// Checks that every given name is a parameter of the element type and has a value for each element, and the names of
/// the material.
void ParameterSource::check() const {
  if (block.material()) require_known_parameters(*block.material(), block.type().program().parameter_names());
  for (const auto& [name, value] : section) require_settable(name);
  for (const auto& [name, values] : per_element) {
    if (static_cast<std::int32_t>(values.size()) != block.size())
      throw Error(
          ErrorCode::bad_input,
          std::to_string(values.size()) + " values of " + name + " for " + std::to_string(block.size()) + " elements",
          where());
    require_settable(name);
  }
}

/// Whether elements have values of their own.
bool ParameterSource::varies(const std::string& parameter) const {
  const bool turns = axis_entry(parameter) >= 0 || polar_entry(parameter) >= 0;
  return per_element.contains(parameter) || (turns && orientation.varies());
}

/// The value of all elements, at a temperature of the material's tables.
double ParameterSource::common_value(const std::string& parameter, double temperature) const {
  if (const int axis = axis_entry(parameter); axis >= 0) return orientation.at({0, 0, 0})[axis];
  if (parameter == large_strains) return has_large_displacements(block.type()) ? 1 : 0;
  if (const auto found = section.find(parameter); found != section.end()) return found->second;
  const auto& material = block.material();
  if (material && material->has(parameter)) return material->value(parameter, temperature);
  if (const OptionalParameter* const optional = find_optional(parameter)) return optional->value;
  throw Error(ErrorCode::bad_input,
              "'" + parameter + "' is required by elements of type " + block.type_name() + ", but " +
                  (material ? "neither material '" + material->name() + "' nor the section defines it"
                            : std::string("the block has no material and its section does not define it")),
              where());
}

}  // namespace

ElementBlock::ElementBlock(Domain& domain, std::int32_t index, std::string name, std::string type_name)
    : domain_(&domain), index_(index), name_(std::move(name)), type_name_(std::move(type_name)) {
  nodes_per_element_ = type().program().nodes();
}

const ElementType& ElementBlock::type() const {
  const std::string law = material_ ? material_->law() : std::string();
  const ElementLibrary& library = ElementLibrary::instance();
  // Axes that turn within an element have a law of their own, where the shape has several points to turn at.
  if (!law.empty() && orientation_.varies())
    if (const ElementType* polar = library.find_if("polar_" + law + "_" + type_name_)) return *polar;
  return library.find(law.empty() ? type_name_ : law + "_" + type_name_);
}

void ElementBlock::changed() {
  ++revision_;
  domain_->changed(&DomainRevisions::elements);
}

ElementBlock& ElementBlock::set_material(std::shared_ptr<const Material> material) {
  changed();
  material_ = std::move(material);
  return *this;
}

ElementBlock& ElementBlock::set_section(const std::string& parameter, double value) {
  changed();
  if (!std::isfinite(value))
    throw Error(ErrorCode::bad_input, parameter + " is not a finite number", "block '" + name_ + "'");
  section_[parameter] = value;
  return *this;
}

ElementBlock& ElementBlock::set_section(const CrossSection& profile) {
  return set_section("area", profile.area)
      .set_section("inertia_y", profile.inertia_y)
      .set_section("inertia_z", profile.inertia_z)
      .set_section("torsion", profile.torsion)
      .set_section("shear_area_y", profile.shear_area_y)
      .set_section("shear_area_z", profile.shear_area_z);
}

ElementBlock& ElementBlock::set_per_element(const std::string& parameter, std::vector<double> values) {
  changed();
  per_element_[parameter] = std::move(values);
  return *this;
}

ElementBlock& ElementBlock::set_orientation(const Orientation& orientation) {
  changed();
  orientation_ = orientation;
  return *this;
}

void ElementBlock::add(Id id, std::span<const Id> nodes) {
  changed();
  const auto where = [&] { return "element " + std::to_string(id) + " (block '" + name_ + "', " + type_name_ + ")"; };
  if (static_cast<int>(nodes.size()) != nodes_per_element_)
    throw Error(ErrorCode::bad_input,
                std::to_string(nodes.size()) + " nodes given, " + std::to_string(nodes_per_element_) + " wanted",
                where());
  const std::size_t old_size = connectivity_.size();
  for (Id node : nodes) {
    const std::int32_t index = domain_->find_node(node);
    if (index < 0) {
      connectivity_.resize(old_size);
      throw Error(ErrorCode::not_found, "its node " + std::to_string(node) + " does not exist", where());
    }
    if (std::find(connectivity_.begin() + static_cast<std::ptrdiff_t>(old_size), connectivity_.end(), index) !=
        connectivity_.end()) {
      connectivity_.resize(old_size);
      throw Error(
          ErrorCode::bad_input,
          "node " + std::to_string(node) + " appears twice; use the shape with fewer nodes instead of a collapsed one",
          where());
    }
    connectivity_.push_back(index);
  }
  try {
    domain_->register_element(id, {index_, size()});
  } catch (...) {
    connectivity_.resize(old_size);
    throw;
  }
  ids_.push_back(id);
}

namespace {

/// Adds the places of nodes to the connectivity, by all threads. False, and nothing is added, where a node does not
/// exist or an element has one twice. find(id) is the place of a node, or −1.
template <class Find>
bool add_places(std::span<const Id> nodes, std::size_t per, const Find& find, std::vector<std::int32_t>& connectivity) {
  const std::size_t begin = connectivity.size(), count = nodes.size() / per;
  connectivity.resize(begin + nodes.size());
  bool wrong = false;
#pragma omp parallel for schedule(static) reduction(|| : wrong) if (count > detail::worth_threads)
  for (std::size_t e = 0; e < count; ++e) {
    std::int32_t* const own = connectivity.data() + begin + e * per;
    for (std::size_t a = 0; a < per; ++a) {
      own[a] = find(nodes[e * per + a]);
      wrong = wrong || own[a] < 0 || std::find(own, own + a, own[a]) != own + a;
    }
  }
  if (wrong) connectivity.resize(begin);
  return !wrong;
}

}  // namespace

void ElementBlock::add_many(std::span<const Id> ids, std::span<const Id> nodes) {
  const std::size_t count = nodes.size() / nodes_per_element_;
  if (nodes.size() != count * nodes_per_element_ || (!ids.empty() && ids.size() != count))
    throw Error(ErrorCode::bad_input,
                "add_many got " + std::to_string(ids.size()) + " ids and " + std::to_string(nodes.size()) +
                    " node ids; expected are " + std::to_string(nodes_per_element_) + " per element",
                "block '" + name_ + "'");
  const std::size_t old_count = ids_.size();
  ids_.reserve(old_count + count);
  connectivity_.reserve(connectivity_.size() + nodes.size());
  const Domain::ElementMark mark = domain_->mark_elements();
  try {
    const auto find = [this](Id node) { return domain_->find_node(node); };
    if (add_places(nodes, static_cast<std::size_t>(nodes_per_element_), find, connectivity_)) {
      for (std::size_t i = 0; i < count; ++i) {
        const Id id = ids.empty() ? domain_->largest_element_id_ + 1 : ids[i];
        domain_->register_element(id, {index_, size()});
        ids_.push_back(id);
      }
      changed();
      return;
    }
    // One element after the other, so that the first one that is wrong is named.
    for (std::size_t i = 0; i < count; ++i)
      add(ids.empty() ? domain_->largest_element_id_ + 1 : ids[i],
          nodes.subspan(i * nodes_per_element_, nodes_per_element_));
  } catch (...) {
    domain_->forget_elements(mark, std::span<const Id>(ids_).subspan(old_count));
    ids_.resize(old_count);
    connectivity_.resize(old_count * nodes_per_element_);
    throw;
  }
}

ElementBlock::Parameters ElementBlock::parameters() const {
  const ParameterSource source{*this, section_, per_element_, orientation_};
  source.check();
  const auto names = type().program().parameter_names();
  const std::vector<double> knots = material_ ? material_->temperatures() : std::vector<double>{};
  Parameters p;
  p.rows = std::max<int>(1, static_cast<int>(knots.size()));
  const std::size_t stride = names.size() + 1;

  // One record, as if all elements were alike; what varies is filled in below.
  std::vector<double> common(p.rows * stride);
  bool any_varies = false;
  for (int row = 0; row < p.rows; ++row) {
    const double temperature = knots.empty() ? 0.0 : knots[row];
    common[row * stride] = temperature;
    for (std::size_t k = 0; k < names.size(); ++k) {
      any_varies = any_varies || source.varies(names[k]);
      common[row * stride + 1 + k] = source.varies(names[k]) ? 0.0 : source.common_value(names[k], temperature);
    }
  }
  if (!any_varies) {
    p.records = std::move(common);
    return p;
  }

  p.record.resize(size());
  p.records.reserve(static_cast<std::size_t>(size()) * common.size());
  const auto coordinates = domain_->coordinates();
  for (std::int32_t e = 0; e < size(); ++e) {
    p.record[e] = e;
    std::array<double, 3> centre{0, 0, 0};
    for (std::int32_t n : nodes(e))
      for (int i = 0; i < 3; ++i) centre[i] += coordinates[3 * static_cast<std::size_t>(n) + i] / nodes_per_element_;
    const auto axes = orientation_.at(centre);
    const auto polar = orientation_.varies() ? polar_values(orientation_, centre) : std::array<double, 9>{};
    for (int row = 0; row < p.rows; ++row)
      for (std::size_t k = 0; k < names.size(); ++k) {
        double& value = common[row * stride + 1 + k];
        if (const auto it = per_element_.find(names[k]); it != per_element_.end())
          value = it->second[e];
        else if (const int axis = axis_entry(names[k]); axis >= 0 && orientation_.varies())
          value = axes[axis];
        else if (const int entry = polar_entry(names[k]); entry >= 0 && orientation_.varies())
          value = polar[entry];
      }
    p.records.insert(p.records.end(), common.begin(), common.end());
  }
  return p;
}

}  // namespace voussoir
