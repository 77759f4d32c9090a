#include <cmath>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Sections of elements, springs and masses, and the axes of materials and nodes.

namespace voussoir::deck {

void Parser::read_solid_section(Card& card) {
  SectionCard section;
  section.kind = SectionCard::Kind::solid;
  section.place = card.place();
  section.set = element_set_parameter(card, "*SOLID SECTION, ELSET=BODY, MATERIAL=STEEL");
  section.material = card.required("MATERIAL", "*SOLID SECTION, ELSET=BODY, MATERIAL=STEEL");
  section.orientation = scoped_orientation(card.value("ORIENTATION"));
  if (card.number("OFFSET", 0) != 0)
    card.fail_unsupported(ErrorCode::bad_input, "*SOLID SECTION, OFFSET is not supported yet: move the nodes instead");
  card.refuse("COMPOSITE", "give each layer its own elements and section");
  card.refuse("NODAL THICKNESS", "give the thickness in the section");
  if (!card.value("CONTROLS").empty())
    note("*SOLID SECTION, CONTROLS is ignored: docs/decks.md describes the elements", card.place());
  card.done();
  refer(Kind::material, section.material, card.place());
  if (!section.orientation.empty()) refer(Kind::orientation, section.orientation, card.place());
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!section.values.empty()) fail("*SOLID SECTION has one data line: a thickness or an area");
    at_most(1, card, "a thickness or an area");
    section.values.push_back(real(field(0), "thickness or area"));
    if (section.values[0] <= 0) fail("thickness or area " + in_quotes(field(0)) + " must be positive");
  }
  deck_.sections.push_back(std::move(section));
}

/// The direction of a beam's axis 1, where a line gives one.
std::optional<std::array<double, 3>> Parser::read_direction(const Card& card) {
  if (!next_fields() || fields_.empty()) return std::nullopt;
  at_most(3, card, "the direction of the axis 1: x, y, z");
  std::array<double, 3> direction{};
  for (int k = 0; k < 3; ++k) direction[k] = real_or(field(k), 0, "direction");
  if (std::hypot(direction[0], direction[1], direction[2]) == 0) fail("the direction of a beam's axis 1 is zero");
  return direction;
}

void Parser::read_beam_section(Card& card) {
  SectionCard section;
  section.kind = SectionCard::Kind::beam;
  section.place = card.place();
  const std::string_view example = "*BEAM SECTION, ELSET=FRAME, MATERIAL=STEEL, SECTION=RECT";
  section.set = element_set_parameter(card, example);
  section.material = card.required("MATERIAL", example);
  section.orientation = scoped_orientation(card.value("ORIENTATION"));
  card.required("SECTION", example);
  const std::string shape = card.choice("SECTION", {"RECTANGULAR", "CIRCULAR", "PIPE", "BOX"});
  section.shape = shape == "RECTANGULAR" ? "RECT" : shape == "CIRCULAR" ? "CIRC" : shape;
  for (const std::string_view offset : {"OFFSET1", "OFFSET2"})
    if (card.number(offset, 0) != 0)
      card.fail_unsupported(ErrorCode::bad_input,
                            card.name() + ", " + std::string(offset) +
                                " is not supported yet: move the nodes to the centroid of the section");
  card.refuse("NODAL THICKNESS", "give the dimensions in the section");
  card.ignore({"TEMPERATURE", "POISSON"});
  card.done();
  refer(Kind::material, section.material, card.place());
  if (!section.orientation.empty()) refer(Kind::orientation, section.orientation, card.place());
  const std::size_t least = shape == "RECTANGULAR" ? 2 : shape == "CIRCULAR" ? 1 : shape == "PIPE" ? 2 : 6;
  if (!next_fields() || fields_.empty())
    card.fail(ErrorCode::bad_input, card.name() + " needs a line with the dimensions of the section");
  // CalculiX takes a circle of two diameters for an ellipse.
  if (fields_.size() < least || fields_.size() > (shape == "CIRCULAR" ? 2 : least))
    fail(card.name() + ", SECTION=" + section.shape + " needs " + std::to_string(least) +
         (least == 1 ? " dimension" : " dimensions") + ", not " + std::to_string(fields_.size()));
  for (const std::string_view text : fields_) {
    section.values.push_back(real(text, "dimension of a section"));
    if (section.values.back() <= 0) fail("dimension " + in_quotes(text) + " of a section must be positive");
  }
  section.direction = read_direction(card);
  deck_.sections.push_back(std::move(section));
}

void Parser::read_beam_general_section(Card& card) {
  const std::string shape = squeezed(card.value("SECTION"));
  // With a shape this is a *BEAM SECTION under another name, as CalculiX has it.
  if (!shape.empty() && shape != "GENERAL") return read_beam_section(card);
  SectionCard section;
  section.kind = SectionCard::Kind::beam;
  section.shape = "GENERAL";
  section.place = card.place();
  section.set = element_set_parameter(card, "*BEAM GENERAL SECTION, ELSET=FRAME, MATERIAL=STEEL, SECTION=GENERAL");
  section.material = card.value("MATERIAL");
  section.orientation = scoped_orientation(card.value("ORIENTATION"));
  const double density = card.number("DENSITY", 0);
  for (const std::string_view offset : {"OFFSET1", "OFFSET2"})
    if (card.number(offset, 0) != 0)
      card.fail_unsupported(ErrorCode::bad_input,
                            card.name() + ", " + std::string(offset) +
                                " is not supported yet: move the nodes to the centroid of the section");
  card.ignore({"POISSON"});
  card.done();
  if (!section.orientation.empty()) refer(Kind::orientation, section.orientation, card.place());
  const std::string form = "area, I11, I12, I22, torsion constant";
  if (!next_fields()) card.fail(ErrorCode::bad_input, card.name() + " needs a data line: " + form);
  if (fields_.size() < 4) fail(card.name() + ": expected: " + form);
  at_most(7, card, form);
  for (const std::string_view text : fields_) section.values.push_back(real_or(text, 0, "property of a section"));
  section.direction = read_direction(card);
  if (!section.material.empty()) {
    refer(Kind::material, section.material, card.place());
  } else {
    // Abaqus gives the moduli here, in place of a material.
    if (!next_fields() || fields_.size() < 2)
      card.fail(ErrorCode::bad_input,
                card.name() + " needs MATERIAL=, or a third line with Young's modulus and the shear modulus");
    const double young = real(field(0), "Young's modulus"), shear = real(field(1), "shear modulus");
    if (young <= 0 || shear <= 0) fail("Young's modulus and the shear modulus must be positive");
    section.material = "BEAM GENERAL SECTION AT " + deck_.where(card.place());
    MaterialCard& material = deck_.materials[section.material];
    material.place = card.place();
    material.elastic = Property{"ISO", 0, {{0, {young, young / (2 * shear) - 1}}}, lines_.place()};
    if (!field(2).empty())
      material.expansion = Property{"ISO", 0, {{0, {real(field(2), "expansion")}}}, lines_.place()};
    if (density != 0) material.density = Property{"", 0, {{0, {density}}}, card.place()};
  }
  deck_.sections.push_back(std::move(section));
}

/// How many degrees of freedom the springs of a set name; nothing where it has no springs.
std::optional<int> Parser::spring_kind(const SetStore::Pieces& set) const {
  for (const SetStore::Range& range : set.ranges)
    if (const auto found = spring_dofs_.find(range.first); found != spring_dofs_.end()) return found->second;
  if (set.ranges.empty()) return std::nullopt;
  // A range of GENERATE may begin before the first spring.
  const SetStore::Range& range = set.ranges.front();
  for (const auto& [id, dofs] : spring_dofs_)
    if (id >= range.first && id <= range.last && (id - range.first) % range.step == 0) return dofs;
  return std::nullopt;
}

void Parser::read_spring(Card& card) {
  SectionCard section;
  section.kind = SectionCard::Kind::spring;
  section.place = card.place();
  section.set = scoped(card.required("ELSET", "*SPRING, ELSET=SPRINGS"));
  section.nonlinear = card.flag("NONLINEAR");
  section.orientation = scoped_orientation(card.value("ORIENTATION"));
  card.refuse("COMPLEX STIFFNESS", "springs have a real stiffness");
  card.refuse("DEPENDENCIES", "give one stiffness");
  card.done();
  if (!section.orientation.empty()) refer(Kind::orientation, section.orientation, card.place());
  refer(Kind::element_set, section.set, card.place());
  // What the lines mean depends on the elements, which may come later.
  PendingSpring pending;
  pending.section = deck_.sections.size();
  while (const auto line = lines_.data()) pending.lines.emplace_back(lines_.place(), *line);
  deck_.sections.push_back(std::move(section));
  springs_.push_back(std::move(pending));
}

void Parser::finish_springs() {
  for (const PendingSpring& spring : springs_) finish_spring(spring);
}

/// Whether a line with degrees of freedom comes first depends on the elements; CalculiX wants an empty one for SPRINGA,
/// which nobody can tell from no line.
void Parser::finish_spring(const PendingSpring& spring) {
  SectionCard& section = deck_.sections[spring.section];
  const std::optional<int> kind = spring_kind(*element_sets_.find(section.set));
  if (!kind)
    fail("*SPRING: the set " + in_quotes(section.set) +
             " has no springs: give it elements of type SPRINGA, SPRING1 or SPRING2",
         section.place);
  int dofs = *kind;
  if (dofs > 0 && spring.lines.empty()) fail("*SPRING needs a line with degrees of freedom", section.place);
  for (const auto& [place, line] : spring.lines) {
    lines_.set_place(place);
    split_fields(line, fields_);
    const auto no_more_than = [&](std::size_t most, std::string_view form) {
      if (fields_.size() > most)
        fail("*SPRING: this line has " + std::to_string(fields_.size()) +
             " fields, which is too many; expected: " + std::string(form));
    };
    if (dofs > 0) {
      no_more_than(static_cast<std::size_t>(dofs), dofs == 1 ? "one degree of freedom" : "two degrees of freedom");
      for (int k = 0; k < dofs; ++k) section.spring_dofs.push_back(degree_of_freedom(field(k)));
      dofs = 0;
      continue;
    }
    if (fields_.empty()) continue;
    no_more_than(3, section.nonlinear ? "force, elongation" : "stiffness");
    const double first = real(field(0), section.nonlinear ? "force of a spring" : "stiffness of a spring");
    const double second = real_or(field(1), 0, "elongation of a spring");
    if (!section.nonlinear && !section.spring.empty())
      fail_unsupported("*SPRING: a stiffness that depends on the temperature is not supported yet: give one line");
    section.spring.emplace_back(first, section.nonlinear ? second : 0);
  }
  if (section.spring.empty()) fail("*SPRING needs a line with the stiffness", section.place);
}

void Parser::read_mass(Card& card) {
  SectionCard section;
  section.kind = SectionCard::Kind::mass;
  section.place = card.place();
  section.set = element_set_parameter(card, "*MASS, ELSET=MASSES");
  card.ignore({"ALPHA"});
  card.refuse("ORIENTATION", "a mass is the same in all directions");
  card.done();
  if (!next_fields()) card.fail(ErrorCode::bad_input, "*MASS needs a line with the mass");
  at_most(1, card, "the mass");
  section.values.push_back(real(field(0), "mass"));
  if (section.values[0] < 0) fail("mass " + in_quotes(field(0)) + " is negative");
  deck_.sections.push_back(std::move(section));
}

std::array<double, 6> Parser::six_numbers(const Card& card, std::string_view form) {
  if (!next_fields()) card.fail(ErrorCode::bad_input, card.name() + " needs a data line: " + std::string(form));
  std::array<double, 6> numbers{};
  for (int k = 0; k < 6; ++k) numbers[k] = real_or(field(k), 0, "coordinate");
  return numbers;
}

void Parser::read_orientation(Card& card) {
  std::string name = card.required("NAME", "*ORIENTATION, NAME=AXES");
  if (scope_ == Scope::instance) name = scoped(name);
  OrientationCard orientation;
  orientation.place = card.place();
  orientation.cylindrical = card.choice("SYSTEM", {"RECTANGULAR", "CYLINDRICAL"}, 1) == "CYLINDRICAL";
  card.choice("DEFINITION", {"COORDINATES"}, 4);
  card.ignore({"LOCAL DIRECTIONS"});
  card.done();
  if (deck_.orientations.contains(name))
    card.fail(ErrorCode::bad_input, "the orientation " + in_quotes(name) +
                                        " is defined twice; the first definition is at " +
                                        deck_.where(deck_.orientations.find(name)->second.place));
  const std::string_view form = "six coordinates of two points";
  const std::array<double, 6> points = six_numbers(card, form);
  at_most(9, card, "coordinates of two points, and of the origin");
  // A third point is the origin of rectangular axes. Cylinders have none.
  std::array<double, 3> origin{};
  for (int k = 0; k < 3; ++k) origin[k] = orientation.cylindrical ? 0 : real_or(field(6 + k), 0, "coordinate");
  for (int k = 0; k < 3; ++k) {
    orientation.a[k] = points[k] - origin[k];
    orientation.b[k] = points[3 + k] - origin[k];
  }
  if (next_fields() && !fields_.empty()) {
    at_most(2, card, "axis (1, 2 or 3), angle in degrees");
    const Id axis = integer(field(0), "axis of the rotation");
    if (axis < 1 || axis > 3) fail("axis " + in_quotes(field(0)) + " of the rotation must be 1, 2 or 3");
    orientation.turn = real_or(field(1), 0, "angle of the rotation");
    orientation.turn_axis = orientation.turn == 0 ? 0 : static_cast<int>(axis);
  }
  deck_.orientations.emplace(name, orientation);
  if (scope_ == Scope::instance) moved_orientations_.push_back(name);
}

void Parser::read_transform(Card& card) {
  TransformCard transform;
  transform.place = card.place();
  transform.set = scoped(card.required("NSET", "*TRANSFORM, NSET=RIM, TYPE=C"));
  transform.cylindrical = card.choice("TYPE", {"RECTANGULAR", "CYLINDRICAL"}, 1) == "CYLINDRICAL";
  card.done();
  refer(Kind::node_set, transform.set, card.place());
  const std::string_view form = "six coordinates of two points";
  const std::array<double, 6> points = six_numbers(card, form);
  at_most(6, card, form);
  for (int k = 0; k < 3; ++k) {
    transform.a[k] = points[k];
    transform.b[k] = points[3 + k];
  }
  deck_.transforms.push_back(std::move(transform));
}

}  // namespace voussoir::deck
