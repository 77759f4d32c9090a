#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// What ties nodes together: equations, rigid bodies, couplings and ties.

namespace voussoir::deck {

void Parser::read_equation(Card& card) {
  card.refuse("REMOVE", "leave the equation out of the deck");
  card.refuse("REMOVE ALL", "leave the equations out of the deck");
  card.done();
  while (next_fields()) {
    if (fields_.empty()) continue;
    EquationCard equation;
    equation.place = lines_.place();
    const Id terms = integer(field(0), "number of terms");
    if (terms < 1) fail("an equation needs at least one term, not " + in_quotes(field(0)));
    if (fields_.size() > 1) fail("the first line of an equation contains the number of its terms");
    // Terms of three fields, some in each line.
    while (static_cast<Id>(equation.terms.size()) < terms) {
      if (!next_fields())
        fail("the equation has " + std::to_string(equation.terms.size()) + " of its " + std::to_string(terms) +
                 " terms: node, degree of freedom, coefficient",
             equation.place);
      if (fields_.size() % 3 != 0)
        fail("a line of an equation has groups of three fields (node, degree of freedom, coefficient), not " +
             std::to_string(fields_.size()) + " fields");
      if (static_cast<Id>(equation.terms.size() + fields_.size() / 3) > terms)
        fail("the equation (at " + deck_.where(equation.place) + ") has more than the " + std::to_string(terms) +
             " terms given on its first line");
      for (std::size_t i = 0; i < fields_.size(); i += 3)
        equation.terms.push_back({target(fields_[i], Kind::node_set), degree_of_freedom(fields_[i + 1]),
                                  real(fields_[i + 2], "coefficient")});
    }
    deck_.equations.push_back(std::move(equation));
  }
}

/// The node that a parameter names by its number, or as the only member of a set, which is what Abaqus/CAE writes. The
/// set may be defined later.
Target Parser::one_node(const Card& card, const std::string& text, const std::string& what) {
  Id id = 0;
  if (read_integer(text, id) != NumberFault::none || id > 0)
    if (const auto number = numbered(text, Kind::node_set, what)) return {{}, *number};
  double ignored = 0;
  if (!node_sets_.find(scoped(text)) && (read_real(text, ignored) != NumberFault::not_a_number || text.front() == '-'))
    card.fail(ErrorCode::bad_input, card.name() + ", " + what + "=" + in_quotes(text) + " is not the number of a node");
  Target result;
  result.set = scoped(text);
  refer(Kind::node_set, result.set, card.place());
  return result;
}

void Parser::read_rigid_body(Card& card) {
  RigidBodyCard body;
  body.place = card.place();
  body.node_set = card.value("NSET");
  body.element_set = card.value("ELSET");
  const std::string reference = card.value("REF NODE"), rotation = card.value("ROT NODE");
  card.refuse("PIN NSET", "give the nodes with NSET=");
  card.refuse("TIE NSET", "give the nodes with NSET=");
  card.refuse("ANALYTICAL SURFACE", "give the nodes with NSET=");
  card.choice("POSITION", {"INPUT"}, 5);
  card.ignore({"ISOTHERMAL"});
  card.done();
  if (body.node_set.empty() == body.element_set.empty())
    card.fail(ErrorCode::bad_input, "*RIGID BODY needs either NSET= or ELSET=");
  if (!body.node_set.empty()) refer(Kind::node_set, body.node_set = scoped(body.node_set), card.place());
  if (!body.element_set.empty()) refer(Kind::element_set, body.element_set = scoped(body.element_set), card.place());
  if (!reference.empty()) body.reference = one_node(card, reference, "REF NODE");
  if (!rotation.empty()) body.rotation = one_node(card, rotation, "ROT NODE");
  deck_.rigid_bodies.push_back(std::move(body));
}

/// *COUPLING says what is coupled; the card after it says how.
void Parser::read_coupling(Card& card) {
  require_no_coupling();
  CouplingCard coupling;
  coupling.place = card.place();
  const std::string example = "*COUPLING, CONSTRAINT NAME=C1, REF NODE=100, SURFACE=TOP";
  const std::string reference = card.required("REF NODE", example);
  coupling.surface = scoped(card.required("SURFACE", example));
  coupling.orientation = card.value("ORIENTATION");
  if (const std::string radius = squeezed(card.value("INFLUENCE RADIUS"));
      !radius.empty() && radius != "WHOLESURFACE") {
    coupling.radius = card.number("INFLUENCE RADIUS", 0);
    if (!(*coupling.radius > 0)) card.fail(ErrorCode::bad_input, "*COUPLING, INFLUENCE RADIUS must be positive");
  }
  card.ignore({"CONSTRAINT NAME", "ADJUST", "ALPHA"});
  card.done();
  coupling.reference = target(reference, Kind::node_set);
  refer(Kind::surface, coupling.surface, card.place());
  if (!coupling.orientation.empty()) refer(Kind::orientation, coupling.orientation, card.place());
  coupling_ = std::move(coupling);
}

void Parser::require_no_coupling() const {
  if (coupling_) fail("*COUPLING needs a *KINEMATIC or a *DISTRIBUTING after it", coupling_->place);
}

void Parser::read_coupling_kind(Card& card, bool kinematic) {
  if (!coupling_) card.fail(ErrorCode::bad_input, card.name() + " needs a *COUPLING before it");
  coupling_->kinematic = kinematic;
  card.done();
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(2, card, "first degree of freedom, last one");
    take_dofs(*coupling_, 0);
  }
  if (!coupling_->dofs_given) coupling_->dofs.fill(true);
  deck_.couplings.push_back(std::move(*coupling_));
  coupling_.reset();
}

/// Degrees of freedom from field `at` on: first, last.
void Parser::take_dofs(CouplingCard& coupling, std::size_t at) {
  const int first = degree_of_freedom(field(at));
  const int last = field(at + 1).empty() ? first : degree_of_freedom(field(at + 1));
  if (first < 1 || last < first || last > 6)
    fail("degrees of freedom " + std::to_string(first) + " to " + std::to_string(last) +
         " are not a range within 1 to 6 that can be coupled");
  for (int dof = first; dof <= last; ++dof) coupling.dofs[dof - 1] = true;
  coupling.dofs_given = true;
}

void Parser::read_kinematic(Card& card) { read_coupling_kind(card, true); }

void Parser::read_distributing(Card& card) {
  card.refuse("CYCLIC SYMMETRY", "model the whole body");
  card.choice("WEIGHTING METHOD", {"UNIFORM"}, 4);
  card.ignore({"COUPLING"});
  read_coupling_kind(card, false);
}

/// The older card: a reference node, and lines of nodes with the degrees of freedom that follow it.
void Parser::read_kinematic_coupling(Card& card) {
  const std::string reference = card.required("REF NODE", "*KINEMATIC COUPLING, REF NODE=100");
  const std::string orientation = card.value("ORIENTATION");
  card.done();
  if (!orientation.empty()) refer(Kind::orientation, orientation, card.place());
  CouplingCard coupling;
  coupling.reference = target(reference, Kind::node_set);
  coupling.orientation = orientation;
  bool any = false;
  while (next_fields()) {
    if (fields_.empty()) continue;
    any = true;
    at_most(3, card, "node or set, first degree of freedom, last one");
    CouplingCard line = coupling;
    line.place = lines_.place();
    line.nodes = target(field(0), Kind::node_set);
    if (field(1).empty())
      line.dofs.fill(true);
    else
      take_dofs(line, 1);
    deck_.couplings.push_back(std::move(line));
  }
  if (!any) card.fail(ErrorCode::bad_input, "*KINEMATIC COUPLING needs a data line: node or set, degrees of freedom");
}

/// CalculiX's and Abaqus's older card: the reference node is that of a DCOUP3D element, nodes have weights.
void Parser::read_distributing_coupling(Card& card) {
  CouplingCard coupling;
  coupling.place = card.place();
  coupling.kinematic = false;
  coupling.element_set = element_set_parameter(card, "*DISTRIBUTING COUPLING, ELSET=E1");
  card.done();
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(2, card, "node or set, weight");
    const double weight = real_or(field(1), 1, "weight of a node");
    if (!(weight > 0)) fail("the weight " + in_quotes(field(1)) + " of a node must be positive");
    coupling.weighted.emplace_back(target(field(0), Kind::node_set), weight);
  }
  if (coupling.weighted.empty())
    card.fail(ErrorCode::bad_input, "*DISTRIBUTING COUPLING needs a data line: node or set, weight");
  coupling.dofs.fill(true);
  deck_.couplings.push_back(std::move(coupling));
}

void Parser::read_tie(Card& card) {
  TieCard tie;
  tie.place = card.place();
  tie.name = card.required("NAME", "*TIE, NAME=JOINT");
  if (!card.value("POSITION TOLERANCE").empty()) tie.tolerance = card.number("POSITION TOLERANCE", 0);
  card.refuse("CYCLIC SYMMETRY", "model the whole body");
  card.refuse("MULTISTAGE", "model the whole body");
  card.refuse("FLUID CYCLIC", "fluids are not implemented");
  card.refuse("FLUID PERIODIC", "fluids are not implemented");
  card.refuse("CONSTRAINT RATIO", "move the surfaces together");
  tie.adjust = card.choice("ADJUST", {"YES", "NO"}, 1) == "YES";
  card.ignore({"TYPE", "NO ROTATION", "NO THICKNESS"});
  card.done();
  if (tie.tolerance && *tie.tolerance < 0) card.fail(ErrorCode::bad_input, "*TIE, POSITION TOLERANCE is negative");
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first) fail("*TIE has one data line: slave surface, master surface");
    first = false;
    at_most(2, card, "slave surface, master surface");
    tie.slave = scoped(name_of(field(0), "slave surface"));
    tie.master = scoped(name_of(field(1), "master surface"));
    refer(Kind::surface, tie.slave, lines_.place());
    refer(Kind::surface, tie.master, lines_.place());
  }
  if (first) card.fail(ErrorCode::bad_input, "*TIE needs a data line: slave surface, master surface");
  deck_.ties.push_back(std::move(tie));
}

}  // namespace voussoir::deck
