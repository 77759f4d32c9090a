#include <algorithm>
#include <cctype>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/deck/detail/element_types.hpp>
#include <voussoir/framework/io/deck/detail/write/deck_writer.hpp>

namespace voussoir::deck {

const std::string& NameList::add(const std::string& name) {
  const auto known = spelling_.find(name);
  if (known != spelling_.end()) return known->second;
  std::string spelt;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    spelt += std::isalnum(letter) || c == '-' || c == '.' ? static_cast<char>(std::toupper(letter)) : '_';
  }
  // What begins with a digit would be taken for the number of a node or an element.
  if (spelt.empty() || !std::isalpha(static_cast<unsigned char>(spelt[0]))) spelt = "N_" + spelt;
  if (spelt.size() > 80)
    throw Error(ErrorCode::bad_input, "names in a deck have at most 80 characters; use a shorter one",
                "deck, " + kind_ + " '" + name + "'");
  const auto [owner, is_new] = owner_.try_emplace(spelt, name);
  if (!is_new)
    throw Error(ErrorCode::bad_input,
                "'" + name + "' and '" + owner->second + "' would both be called " + spelt +
                    " in a deck, which is case-insensitive; rename one of them",
                "deck, " + kind_);
  return spelling_[name] = spelt;
}

std::string NameList::make(std::string wish) {
  const std::string base = wish;
  for (int i = 1; owner_.contains(wish); ++i) wish = base + "_" + std::to_string(i);
  owner_[wish] = wish;
  return wish;
}

std::string Writer::number(double value) {
  // CalculiX looks at 20 characters of a number and would cut off an exponent beyond them.
  char digits[40];
  auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  for (int precision = 16; end - digits > 20; --precision)
    end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, precision).ptr;
  return {digits, end};
}

std::string Writer::block_label(std::size_t block) const {
  return "deck, block '" + domain_.block(block).name() + "' (" + domain_.block(block).type_name() + ")";
}

namespace {

/// The row of the table of element names that means this type of element.
const ElementMeaning* find_name(const ElementBlock& block, Dialect dialect, bool heat) {
  const ElementLibrary& library = ElementLibrary::instance();
  const ElementType& type = library.find(block.type_name());
  const auto means = [&](std::string_view name) {
    const ElementType* other = name.empty() ? nullptr : library.find_if(name);
    // A type may have two names: solid.hex8 is solid.hex8.incompatible.
    return other != nullptr && other->kernel() == type.kernel();
  };
  const ElementMeaning* found = nullptr;
  for (const ElementMeaning& row : element_meanings()) {
    const std::string_view structural = dialect == Dialect::abaqus ? row.abaqus : row.calculix;
    if (!heat && means(structural)) return &row;
    if (heat && means(row.heat) && (found == nullptr || structural.empty())) found = &row;  // DC3D8 rather than C3D8
  }
  return found;
}

}  // namespace

void Writer::find_names() {
  bool structure = false, plane = false;
  for (std::size_t b = 0; b < domain_.block_count(); ++b) {
    const ElementBlock& block = domain_.block(b);
    const bool conducts = block.type_name().find("heat.") != std::string::npos;
    (conducts ? heat_ : structure) = true;
    const ElementMeaning* name = find_name(block, options_.dialect, conducts);
    if (name == nullptr || name->family == Family::beam ||
        (name->family == Family::spring && name->name != "SPRINGA")) {
      std::string hint;
      for (const char* form : {".reduced", ".full", ".incompatible"}) {
        const ElementType* other = ElementLibrary::instance().find_if(block.type_name() + form);
        if (name == nullptr && hint.empty() && other != nullptr)
          for (const ElementMeaning& row : element_meanings())
            if (row.calculix == other->name()) hint = "; " + other->name() + " is called " + std::string(row.name);
      }
      throw Error(ErrorCode::bad_input, "decks have no element type for these elements" + hint, block_label(b));
    }
    plane = plane || is_plane(name->family);
    element_name_.emplace_back(name->name);
    block_set_.push_back(element_sets_.add(block.name()));
  }
  if (heat_ && structure)
    throw Error(ErrorCode::bad_input, "it has both heat and structural elements; write two decks", "deck");
  dimension_ = plane ? 2 : 3;
  for (const std::string& name : domain_.node_set_names()) node_sets_.add(name);
  for (const std::string& name : domain_.element_set_names()) {
    bool is_block = false;
    for (std::size_t b = 0; b < domain_.block_count() && !is_block; ++b) is_block = domain_.block(b).name() == name;
    if (!is_block)
      element_sets_.add(name);
    else if (const auto set = domain_.element_set(name);
             static_cast<std::int32_t>(set.size()) != domain_.block(name).size() ||
             &domain_.block(static_cast<std::size_t>(set.front().block)) != &domain_.block(name))
      throw Error(ErrorCode::bad_input, "a block with other elements has this name; rename one of them",
                  "deck, element set '" + name + "'");
  }
  for (const std::string& name : domain_.surface_names()) surfaces_.add(name);
}

void Writer::write_nodes() {
  out_ << "*NODE\n";
  const auto x = domain_.coordinates();
  for (std::int32_t n = 0; n < domain_.node_count(); ++n) {
    out_ << domain_.node_id(n);
    for (int k = 0; k < 3; ++k) out_ << ", " << number(x[3 * static_cast<std::size_t>(n) + k]);
    out_ << "\n";
  }
}

void Writer::write_elements() {
  for (std::size_t b = 0; b < domain_.block_count(); ++b) {
    const ElementBlock& block = domain_.block(b);
    if (block.size() == 0) continue;
    out_ << "*ELEMENT, TYPE=" << element_name_[b] << ", ELSET=" << block_set_[b] << "\n";
    std::vector<Id> line(1 + block.nodes_per_element());
    for (std::int32_t e = 0; e < block.size(); ++e) {
      line[0] = block.id(e);
      const auto nodes = block.nodes(e);
      for (std::size_t i = 0; i < nodes.size(); ++i) line[i + 1] = domain_.node_id(nodes[i]);
      write_list(std::span<const Id>(line));
    }
  }
}

void Writer::write_sets() {
  std::vector<Id> ids;
  for (const std::string& name : domain_.node_set_names()) {
    ids.clear();
    for (const std::int32_t n : domain_.node_set(name)) ids.push_back(domain_.node_id(n));
    out_ << "*NSET, NSET=" << node_sets_.spelling(name) << "\n";
    write_list(std::span<const Id>(ids));
  }
  for (const std::string& name : domain_.element_set_names()) {
    const std::string& spelt = element_sets_.spelling(name);
    if (std::find(block_set_.begin(), block_set_.end(), spelt) != block_set_.end()) continue;
    ids.clear();
    for (const ElementRef& ref : domain_.element_set(name))
      ids.push_back(domain_.block(static_cast<std::size_t>(ref.block)).id(ref.element));
    out_ << "*ELSET, ELSET=" << spelt << "\n";
    write_list(std::span<const Id>(ids));
  }
}

std::string Writer::all_elements() {
  if (all_elements_.empty()) {
    all_elements_ = element_sets_.make("EALL");
    out_ << "*ELSET, ELSET=" << all_elements_ << "\n";
    for (std::size_t b = 0; b < domain_.block_count(); ++b)
      if (domain_.block(b).size() > 0) out_ << block_set_[b] << "\n";
  }
  return all_elements_;
}

void Writer::write_surfaces() {
  for (const std::string& name : domain_.surface_names()) {
    const std::string& spelt = surfaces_.spelling(name);
    std::map<int, std::vector<Id>> by_face;
    for (const FaceRef& f : domain_.surface(name))
      by_face[f.face + 1].push_back(domain_.block(static_cast<std::size_t>(f.block)).id(f.element));
    for (const auto& [face, ids] : by_face) {
      const std::string set = element_sets_.make(spelt + "_S" + std::to_string(face));
      face_sets_[name][face] = set;
      out_ << "*ELSET, ELSET=" << set << "\n";
      write_list(std::span<const Id>(ids));
    }
    out_ << "*SURFACE, NAME=" << spelt << ", TYPE=ELEMENT\n";
    for (const auto& [face, set] : face_sets_[name]) out_ << set << ", S" << face << "\n";
  }
}

void Writer::write_property(const Material& material, const std::string& card,
                            const std::vector<std::string>& parameters) {
  for (const std::string& p : parameters)
    if (!material.has(p)) return;
  written_[&material].insert(parameters.begin(), parameters.end());
  std::vector<double> temperatures = material.temperatures();
  const bool varies = !temperatures.empty();
  if (!varies) temperatures.push_back(0);
  out_ << card << "\n";
  for (const double t : temperatures) {
    std::vector<std::string> fields;
    for (const std::string& p : parameters) fields.push_back(number(material.value(p, t)));
    if (varies) fields.push_back(number(t));
    for (std::size_t i = 0; i < fields.size(); ++i)  // eight numbers on a line, by the rules of both programs
      out_ << fields[i] << (i + 1 == fields.size() ? "\n" : i % 8 == 7 ? ",\n" : ", ");
  }
}

void Writer::write_material(const Material& material) {
  written_[&material];
  out_ << "*MATERIAL, NAME=" << materials_.add(material.name()) << "\n";
  const double reference = material.expansion_reference().value_or(domain_.reference_temperature());
  const std::string zero = reference != 0 ? ", ZERO=" + number(reference) : std::string();
  if (material.law() == "orthotropic") {
    write_property(material, "*ELASTIC, TYPE=ENGINEERING CONSTANTS",
                   {"E1", "E2", "E3", "nu12", "nu13", "nu23", "G12", "G13", "G23"});
    write_property(material, "*EXPANSION, TYPE=ORTHO" + zero, {"expansion1", "expansion2", "expansion3"});
    write_property(material, "*CONDUCTIVITY, TYPE=ORTHO", {"k1", "k2", "k3"});
  } else {
    write_property(material, "*ELASTIC", {"young", "poisson"});
    if (material.has("expansion") && material.temperatures().empty() && material.value("expansion", 0) == 0)
      written_[&material].insert("expansion");  // as if it were absent
    else
      write_property(material, "*EXPANSION" + zero, {"expansion"});
    write_property(material, "*CONDUCTIVITY", {"conductivity"});
  }
  write_property(material, "*DENSITY", {"density"});
  write_property(material, "*SPECIFIC HEAT", {"specific_heat"});
  if (const RayleighDamping damping = material.damping(); damping != RayleighDamping{})
    out_ << "*DAMPING, ALPHA=" << number(damping.mass) << ", BETA=" << number(damping.stiffness) << "\n";
}

void Writer::write_materials() {
  std::vector<const Material*> written;
  for (std::size_t b = 0; b < domain_.block_count(); ++b) {
    const Material* material = domain_.block(b).material().get();
    if (material == nullptr || std::find(written.begin(), written.end(), material) != written.end()) continue;
    if (!material->law().empty() && material->law() != "orthotropic")
      throw Error(ErrorCode::bad_input,
                  "decks support isotropic and orthotropic materials, not '" + material->law() + "'",
                  "deck, material '" + material->name() + "'");
    if (materials_.has(material->name()))
      throw Error(ErrorCode::bad_input, "two materials have this name; rename one of them",
                  "deck, material '" + material->name() + "'");
    write_material(*material);
    written.push_back(material);
  }
}

std::string Writer::write_orientation(std::size_t block) {
  const Orientation& orientation = domain_.block(block).orientation();
  const auto write = [&](const char* system, const std::array<double, 3>& a, const std::array<double, 3>& b) {
    const std::string name = orientations_.make("AXES_" + block_set_[block]);
    out_ << "*ORIENTATION, NAME=" << name << ", SYSTEM=" << system << "\n";
    for (int k = 0; k < 3; ++k) out_ << number(a[k]) << ", ";
    for (int k = 0; k < 3; ++k) out_ << number(b[k]) << (k < 2 ? ", " : "\n");
    return ", ORIENTATION=" + name;
  };
  if (!orientation.varies()) {
    const auto axes = orientation.at({0, 0, 0});
    return write("RECTANGULAR", {axes[0], axes[1], axes[2]}, {axes[3], axes[4], axes[5]});
  }
  const auto& p = orientation.axis_point();
  std::array<double, 3> q = orientation.axis_direction(), probe{p[0] + 1, p[1] + 2, p[2] + 4};
  for (int k = 0; k < 3; ++k) q[k] += p[k];
  if (orientation.at(probe) != Orientation::cylindrical(p, q).at(probe))
    throw Error(ErrorCode::bad_input, "rotated cylindrical axes cannot be written; transform the material properties",
                block_label(block));
  return write("CYLINDRICAL", p, q);
}

/// Whether every parameter that the elements of a block take from their material is on one of its cards. A parameter
/// that is new in the library must not be lost here.
void Writer::require_written(std::size_t b, const std::string& of_section) const {
  const ElementBlock& block = domain_.block(b);
  const Material& material = *block.material();
  for (const std::string& name : block.type().program().parameter_names())
    if (name != of_section && material.has(name) && !written_.at(&material).contains(name))
      throw Error(ErrorCode::bad_input,
                  "a deck cannot express '" + name +
                      "' here: there is no card for it, or its card has further properties; set those too",
                  "deck, material '" + material.name() + "'");
}

void Writer::write_section(std::size_t b) {
  const ElementBlock& block = domain_.block(b);
  const Family family = find_meaning(element_name_[b])->family;
  const bool solid = family != Family::spring && family != Family::mass;
  // The one number that such a section has, if it has any.
  const std::string parameter = family == Family::truss                              ? "area"
                                : family == Family::spring                           ? "stiffness"
                                : family == Family::mass                             ? "mass"
                                : is_plane(family) && family != Family::axisymmetric ? "thickness"
                                                                                     : "";
  for (const auto& [name, value] : block.section())
    if (name != parameter)
      throw Error(ErrorCode::bad_input, "a deck cannot assign '" + name + "' to a section; assign it to the material",
                  block_label(b));
  if (!block.per_element().empty())
    throw Error(ErrorCode::bad_input,
                "a deck cannot assign '" + block.per_element().begin()->first +
                    "' to each element; make a block for each value",
                block_label(b));
  std::string orientation;
  if (solid) {
    if (!block.material())
      throw Error(ErrorCode::bad_input, "it has no material, which a section of a deck needs; call set_material()",
                  block_label(b));
    require_written(b, parameter);
    if (!block.material()->law().empty()) orientation = write_orientation(b);
    out_ << "*SOLID SECTION, ELSET=" << block_set_[b] << ", MATERIAL=" << materials_.spelling(block.material()->name())
         << orientation << "\n";
  } else {
    out_ << (family == Family::spring ? "*SPRING" : "*MASS") << ", ELSET=" << block_set_[b] << "\n";
    if (family == Family::spring) out_ << "\n";  // where other springs have their directions
  }
  if (parameter.empty()) return;
  double value = 1;
  if (const auto given = block.section().find(parameter); given != block.section().end())
    value = given->second;
  else if (block.material() && block.material()->has(parameter))
    value = block.material()->value(parameter, 0);
  else if (parameter != "thickness")
    throw Error(ErrorCode::bad_input, "its section has no '" + parameter + "'; call set_section()", block_label(b));
  out_ << number(value) << "\n";
}

void Writer::write_sections() {
  for (std::size_t b = 0; b < domain_.block_count(); ++b)
    if (domain_.block(b).size() > 0) write_section(b);
}

void Writer::write_equations() {
  const auto write = [&](const std::vector<ConstraintEquation::Term>& terms) {
    out_ << "*EQUATION\n" << terms.size() << "\n";
    for (std::size_t i = 0; i < terms.size(); ++i)  // four terms on a line
      out_ << domain_.node_id(terms[i].node) << ", " << dof(terms[i].unknown) << ", " << number(terms[i].coefficient)
           << (i + 1 == terms.size() ? "\n"
               : i % 4 == 3          ? ",\n"
                                     : ", ");
  };
  for (const ConstraintEquation& equation : domain_.equations()) {
    if (equation.constant != 0)
      throw Error(ErrorCode::bad_input, "equations of a deck have no constant; use an additional node for it",
                  "deck, equation '" + equation.label + "'");
    write(equation.terms);
  }
  for (const ObliqueSupport& support : domain_.oblique_supports()) {
    if (support.value != 0)
      throw Error(ErrorCode::bad_input, "a deck cannot prescribe a value other than 0 along an inclined direction",
                  "deck, " + domain_.node_label(support.node));
    std::vector<ConstraintEquation::Term> terms;
    const char* unknowns[] = {"ux", "uy", "uz"};
    for (int k = 0; k < 3; ++k)
      if (support.direction[k] != 0) terms.push_back({support.node, unknowns[k], support.direction[k]});
    // The first term is eliminated: the largest is best.
    std::stable_sort(terms.begin(), terms.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.coefficient) > std::abs(b.coefficient); });
    write(terms);
  }
}

void Writer::write_initial_temperature(bool needed) {
  const std::vector<double> initial = domain_.initial_temperatures();
  if (!needed && std::all_of(initial.begin(), initial.end(), [](double t) { return t == 0; })) return;
  std::vector<std::int32_t> all(domain_.node_count());
  for (std::int32_t n = 0; n < domain_.node_count(); ++n) all[n] = n;
  // One line for all nodes, and one for each that differs from the first.
  const double first = initial.empty() ? 0 : initial[0];
  const std::string set = set_of(all, "NALL");
  out_ << "*INITIAL CONDITIONS, TYPE=TEMPERATURE\n" << set << ", " << number(first) << "\n";
  for (const std::int32_t n : all)
    if (initial[n] != first) out_ << domain_.node_id(n) << ", " << number(initial[n]) << "\n";
}

void Writer::write(const std::vector<Step>& steps) {
  if (domain_.element_count() == 0)
    throw Error(ErrorCode::bad_input, "the domain has no elements, so there is nothing to write", "deck");
  find_names();
  out_ << "*HEADING\n" << (options_.title.empty() ? "A model written by Voussoir" : options_.title) << "\n";
  write_nodes();
  write_elements();
  write_sets();
  write_surfaces();
  write_materials();
  write_sections();
  write_equations();
  bool temperatures = heat_;
  for (std::size_t i = 0; i < domain_.load_case_count(); ++i)
    temperatures = temperatures || !domain_.load_case(i).temperatures().empty();
  write_initial_temperature(temperatures);
  find_supports();
  write_supports(1, true);
  for (const Step& step : steps)
    for (const auto& [name, factor] : step.load_cases)
      for (const auto& body : domain_.load_case(name).body_loads())
        if (body.element_set.empty()) all_elements();
  for (std::size_t s = 0; s < steps.size(); ++s) write_step(steps[s], s == 0);
  out_.flush();
}

}  // namespace voussoir::deck
