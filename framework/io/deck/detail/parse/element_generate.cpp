#include <limits>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Elements that are made of other elements: *ELGEN and *ELCOPY.

namespace voussoir::deck {
namespace {

constexpr Id most_id = std::numeric_limits<Id>::max() / 4;

}  // namespace

std::optional<Parser::ElementPlace> Parser::find_element(Id element) {
  for (; indexed_.card < deck_.elements.size(); ++indexed_.card, indexed_.element = 0) {
    const ElementCard& card = deck_.elements[indexed_.card];
    for (; indexed_.element < card.ids.size(); ++indexed_.element) element_at_[card.ids[indexed_.element]] = indexed_;
    if (indexed_.card + 1 == deck_.elements.size()) break;  // more may come to the last one
  }
  const auto found = element_at_.find(element);
  return found == element_at_.end() ? std::nullopt : std::optional(found->second);
}

void Parser::add_element(const ElementPlace& master, Id element, Id node_shift, SetStore::Pieces* set, Place place) {
  if (++generated_ > most_generated)
    fail("the deck generates more than " + std::to_string(most_generated) + " nodes and elements");
  const auto width = static_cast<std::size_t>(deck_.elements[master.card].nodes_per_element);
  const std::string& type = deck_.elements[master.card].type;
  // One card of the deck, in the file of this one, for all copies of a type that follow each other.
  if (deck_.elements.back().place.file != place.file || deck_.elements.back().place.line != place.line ||
      deck_.elements.back().type != type) {
    ElementCard next;
    next.place = place;
    next.type = type;
    next.nodes_per_element = static_cast<int>(width);
    deck_.elements.push_back(std::move(next));
  }
  ElementCard& copies = deck_.elements.back();
  const std::vector<Id>& nodes = deck_.elements[master.card].nodes;
  for (std::size_t i = 0; i < width; ++i) {
    const Id node = nodes[master.element * width + i] + node_shift;
    if (node < 1 || node > most_id)
      fail("element " + std::to_string(element) + ", generated here, would have node " + std::to_string(node));
    copies.nodes.push_back(node);
    count_as_used(Kind::node_set, node);
  }
  copies.ids.push_back(element);
  copies.lines.push_back(lines_.place().file == place.file ? lines_.place().line : place.line);
  count_as_used(Kind::element_set, element);
  if (const auto spring = spring_dofs_.find(deck_.elements[master.card].ids[master.element]);
      spring != spring_dofs_.end())
    spring_dofs_[element] = spring->second;
  if (set) set->add(element);
}

void Parser::read_elgen(Card& card) {
  const std::string set = card.value("ELSET");
  card.refuse("ALL NODES", "write the elements themselves");
  card.done();
  const Id by = shift_of_new(Kind::element_set, card);
  SetStore::Pieces* const members = set.empty() ? nullptr : &element_sets_.at(scoped(set), card.place());
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(10, card,
            "master element, elements in a row, increments of nodes and of elements; rows and their increments; layers "
            "and their increments");
    const Id master = number_of(field(0), "master element");
    check_number(master, by);
    const auto found = find_element(master + by);
    if (!found)
      fail("*ELGEN: element " + std::to_string(master) + " does not exist yet: define it before this line",
           lines_.place(), ErrorCode::not_found);
    Id count[3], node_step[3], element_step[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto number = [&](std::size_t i, Id otherwise, std::string_view what) {
        if (field(i).empty()) return otherwise;
        const Id value = integer(field(i), what);
        if (value > most_id / 1000 || value < -most_id / 1000) fail("*ELGEN: this number is too large");
        return value;
      };
      count[k] = number(1 + 3 * k, 1, "number of elements");
      node_step[k] = number(2 + 3 * k, 1, "increment of node numbers");
      // Rows and layers begin behind the elements that are there already.
      element_step[k] =
          number(3 + 3 * k, k == 0 ? 1 : count[k - 1] * element_step[k - 1], "increment of element numbers");
      if (count[k] < 1) fail("*ELGEN: the number of elements, rows or layers must be at least 1");
      if (count[k] > static_cast<Id>(most_generated)) fail("*ELGEN: the number of elements is too large");
    }
    if (static_cast<double>(count[0]) * static_cast<double>(count[1]) * static_cast<double>(count[2]) +
            static_cast<double>(generated_) >
        static_cast<double>(most_generated))
      fail("the deck generates more than " + std::to_string(most_generated) + " nodes and elements");
    const ElementPlace place = *found;
    if (members) members->add(master + by);
    for (Id layer = 0; layer < count[2]; ++layer)
      for (Id row = 0; row < count[1]; ++row)
        for (Id i = 0; i < count[0]; ++i) {
          if (layer == 0 && row == 0 && i == 0) continue;
          const Id element = master + by + layer * element_step[2] + row * element_step[1] + i * element_step[0];
          if (element < 1 || element > most_id)
            fail("*ELGEN: element number " + std::to_string(element) + " is not allowed");
          add_element(place, element, layer * node_step[2] + row * node_step[1] + i * node_step[0], members,
                      card.place());
        }
  }
}

void Parser::read_elcopy(Card& card) {
  const std::string_view example = "*ELCOPY, ELEMENT SHIFT=100, OLD SET=A, SHIFT NODES=100";
  const Id element_shift = integer(card.required("ELEMENT SHIFT", example), "ELEMENT SHIFT");
  const Id node_shift = integer(card.required("SHIFT NODES", example), "SHIFT NODES");
  const std::string old_set = card.required("OLD SET", example), new_set = card.value("NEW SET");
  card.refuse("REFLECT", "the nodes of mirrored elements change their order: write the elements themselves");
  card.done();
  if (element_shift == 0 || std::abs(element_shift) > most_id || std::abs(node_shift) > most_id)
    card.fail(ErrorCode::bad_input, "*ELCOPY: the offsets of the numbers are zero or too large");
  shift_of_new(Kind::element_set, card);
  const std::vector<Id> members = members_now(old_set, Kind::element_set, card);
  SetStore::Pieces* const copies = new_set.empty() ? nullptr : &element_sets_.at(scoped(new_set), card.place());
  for (const Id id : members) {
    if (id > most_id || id + element_shift < 1)
      fail("*ELCOPY: element number " + std::to_string(id) + " + " + std::to_string(element_shift) + " is not allowed");
    add_element(*find_element(id), id + element_shift, node_shift, copies, card.place());
  }
}

}  // namespace voussoir::deck
