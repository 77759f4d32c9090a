#include <voussoir/framework/io/detail/deck/parser.hpp>

// Abaqus/CAE writes every model as parts that are placed in an assembly. One part that is placed once and stays where
// it is means the same as a flat deck, and is read as one. Its sets and surfaces are called PART.NAME, as those of the
// assembly may have the same names; INSTANCE.NAME in loads means them.

namespace voussoir::deck {

std::string Parser::scoped(std::string name) const {
  if (scope_ == Scope::part || scope_ == Scope::instance) return part_ + "." + name;
  if (!instance_.empty() && name.size() > instance_.size() && name.starts_with(instance_) &&
      name[instance_.size()] == '.')
    return part_ + name.substr(instance_.size());
  return name;
}

void Parser::read_part(Card& card) {
  const std::string name = card.required("NAME", "*PART, NAME=BODY");
  card.done();
  if (!part_.empty())
    card.fail(ErrorCode::bad_input,
              "a second *PART is not supported yet: only decks of one part can be read; write the "
              "deck without parts and assemblies (in Abaqus/CAE: Model > Edit Attributes)");
  if (!deck_.nodes.ids.empty())
    card.fail(ErrorCode::bad_input, "*PART stands behind nodes of the model: a deck has either parts or plain nodes");
  part_ = name;
  scope_ = Scope::part;
  scope_place_ = card.place();
}

void Parser::read_end_part(Card& card) {
  card.done();
  if (scope_ != Scope::part) card.fail(ErrorCode::bad_input, "*END PART without *PART before it");
  scope_ = Scope::none;
}

void Parser::read_assembly(Card& card) {
  card.ignore({"NAME"});
  card.done();
  if (scope_ != Scope::none)
    card.fail(ErrorCode::bad_input, "*ASSEMBLY within the card at " + deck_.where(scope_place_) + ": end that first");
  if (part_.empty()) card.fail(ErrorCode::bad_input, "*ASSEMBLY needs a *PART before it");
  scope_ = Scope::assembly;
  scope_place_ = card.place();
}

void Parser::read_instance(Card& card) {
  const std::string name = card.required("NAME", "*INSTANCE, NAME=BODY-1, PART=BODY");
  card.refuse("LIBRARY", "results of another analysis cannot be read");
  const std::string part = card.required("PART", "*INSTANCE, NAME=BODY-1, PART=BODY");
  card.done();
  if (scope_ != Scope::assembly) card.fail(ErrorCode::bad_input, "*INSTANCE belongs within *ASSEMBLY");
  if (!instance_.empty())
    card.fail(ErrorCode::bad_input,
              "a second *INSTANCE is not supported yet: only a part that is placed once can be read; "
              "write the deck without parts and assemblies");
  if (part != part_)
    card.fail(ErrorCode::not_found, "there is no *PART " + in_quotes(part) + did_you_mean(part, {part_}));
  instance_ = name;
  scope_ = Scope::instance;
  while (next_fields())
    for (const std::string_view text : fields_)
      if (real_or(text, 0, "translation or rotation") != 0)
        fail("*INSTANCE moves its part, which is not supported yet: write the deck without parts and assemblies");
  note("the one part of the assembly is read as a flat deck; its sets are called '" + part_ + ".NAME'", card.place());
}

void Parser::read_end(Card& card) {
  card.done();
  const bool of_instance = card.key() == "ENDINSTANCE";
  if (scope_ != (of_instance ? Scope::instance : Scope::assembly))
    card.fail(ErrorCode::bad_input,
              card.name() + (of_instance ? " without *INSTANCE before it" : " without *ASSEMBLY before it"));
  scope_ = of_instance ? Scope::assembly : Scope::none;
}

}  // namespace voussoir::deck
