#include <voussoir/framework/io/detail/deck/parser.hpp>

// What ties nodes together: equations, rigid bodies and ties.

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
    if (terms < 1) fail("an equation has at least one term, not " + in_quotes(field(0)));
    if (fields_.size() > 1) fail("the first line of an equation has one number, that of its terms");
    // Terms of three fields, some in each line.
    while (static_cast<Id>(equation.terms.size()) < terms) {
      if (!next_fields())
        fail("the equation has " + std::to_string(equation.terms.size()) + " of its " + std::to_string(terms) +
                 " terms: node, degree of freedom, coefficient",
             equation.place);
      if (fields_.size() % 3 != 0)
        fail("a line of an equation has threes of fields (node, degree of freedom, coefficient), not " +
             std::to_string(fields_.size()) + " fields");
      if (static_cast<Id>(equation.terms.size() + fields_.size() / 3) > terms)
        fail("the equation (at " + deck_.where(equation.place) + ") has more than the " + std::to_string(terms) +
             " terms that it announces");
      for (std::size_t i = 0; i < fields_.size(); i += 3)
        equation.terms.push_back({target(fields_[i], Kind::node_set), degree_of_freedom(fields_[i + 1]),
                                  real(fields_[i + 2], "coefficient")});
    }
    deck_.equations.push_back(std::move(equation));
  }
}

void Parser::read_rigid_body(Card& card) {
  RigidBodyCard body;
  body.place = card.place();
  body.node_set = card.value("NSET");
  body.element_set = card.value("ELSET");
  const std::string reference = card.required("REF NODE", "*RIGID BODY, NSET=PLATE, REF NODE=100");
  const std::string rotation = card.value("ROT NODE");
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
  const auto node = [&](const std::string& text, const std::string& what) -> Id {
    Id id = 0;
    if (read_integer(text, id) != NumberFault::none || id > 0)
      if (const auto number = numbered(text, Kind::node_set, what)) return *number;
    // Abaqus/CAE names a set of one node.
    const SetStore::Pieces* const set = node_sets_.find(scoped(text));
    if (set && set->ranges.size() == 1 && set->ranges[0].first == set->ranges[0].last) return set->ranges[0].first;
    if (set)
      card.fail(ErrorCode::bad_input, "*RIGID BODY, " + what + ": the set " + in_quotes(text) + " is to have one node");
    double ignored = 0;
    if (read_real(text, ignored) != NumberFault::not_a_number || text.front() == '-')
      card.fail(ErrorCode::bad_input, "*RIGID BODY, " + what + "=" + in_quotes(text) + " is not the number of a node");
    fail_unknown(Kind::node_set, text, card.place());
  };
  body.reference = node(reference, "REF NODE");
  if (!rotation.empty()) body.rotation = node(rotation, "ROT NODE");
  deck_.rigid_bodies.push_back(std::move(body));
}

void Parser::read_tie(Card& card) {
  TieCard tie;
  tie.place = card.place();
  tie.name = card.required("NAME", "*TIE, NAME=JOINT");
  if (!card.value("POSITION TOLERANCE").empty()) tie.tolerance = card.number("POSITION TOLERANCE", 0);
  card.refuse("CYCLIC SYMMETRY", "model the whole body");
  card.refuse("MULTISTAGE", "model the whole body");
  card.refuse("FLUID CYCLIC", "fluids are not there");
  card.refuse("FLUID PERIODIC", "fluids are not there");
  card.refuse("CONSTRAINT RATIO", "tie nodes that coincide");
  card.ignore({"ADJUST", "TYPE", "NO ROTATION", "NO THICKNESS"});
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
