#include <algorithm>
#include <array>

#include <voussoir/framework/io/deck/detail/element_types.hpp>
#include <voussoir/framework/io/deck/detail/parse/parser.hpp>
#include <voussoir/framework/io/deck/detail/parse/plain_rows.hpp>

// Nodes, elements, sets and surfaces.

namespace voussoir::deck {
namespace {

/// Large blocks of plain lines go to several threads; the lines between them are the parser's.
class PlainText {
 public:
  explicit PlainText(LineReader& lines) : lines_(lines) {}

  /// Lets `read` take plain lines from here on, where there are many.
  template <class Read>
  void take(const Read& read) {
    while (worth_trying_) {
      const std::string_view text = lines_.text_ahead();
      if (text.size() < worth_threads) worth_trying_ = false;
      if (!worth_trying_) return;
      const PlainRows taken = read(text);
      lines_.skip(taken.bytes, taken.lines);
      // Where plain lines are few, looking for them takes longer than it saves.
      if (taken.bytes < worth_threads) worth_trying_ = false;
      if (taken.bytes < text.size()) return;
    }
  }

 private:
  LineReader& lines_;
  bool worth_trying_ = true;
};

}  // namespace

void Parser::read_heading(Card& card) {
  card.done();
  while (const auto line = lines_.data())
    if (deck_.title.empty()) deck_.title = *line;
}

void Parser::read_node(Card& card) {
  const std::string set = card.value("NSET");
  const std::string system = coordinate_system(card);
  card.done();
  const Id by = shift_of_new(Kind::node_set, card);
  Id largest = 0;
  SetStore::Pieces* const members = set.empty() ? nullptr : &node_sets_.at(scoped(set), card.place());
  NodeTable& nodes = deck_.nodes;
  nodes.cards.push_back(card.place());
  nodes.first.push_back(nodes.ids.size());
  // One allocation of the right size, where the card is a large one, instead of many that are copied.
  if (const std::size_t ahead = lines_.lines_ahead(); nodes.ids.size() + ahead > 2 * nodes.ids.capacity()) {
    nodes.ids.reserve(nodes.ids.size() + ahead);
    nodes.coordinates.reserve(3 * (nodes.ids.size() + ahead));
  }
  PlainText plain_text(lines_);
  while (true) {
    const std::size_t known = nodes.ids.size();
    if (system == "RECTANGULAR") plain_text.take([&](std::string_view text) { return read_plain_nodes(text, nodes); });
    for (std::size_t n = known; n < nodes.ids.size(); ++n) {
      largest = std::max(largest, nodes.ids[n]);
      nodes.ids[n] += by;
      if (members) members->add(nodes.ids[n]);
    }
    const auto line = lines_.data();
    if (!line) break;
    const char* at = line->data();
    const char* const end = at + line->size();
    Id id = 0;
    std::array<double, 3> x{};
    bool plain = take_integer(at, end, id) && id > 0;
    for (int k = 0; plain && k < 3 && at != end; ++k) plain = take_real(at, end, x[k]);
    if (!plain || at != end) {
      split_fields(*line, fields_);
      id = number_of(field(0), "node number");
      // Zeros behind the coordinates mean nothing, but Abaqus has the normal of a beam or a shell there.
      for (std::size_t k = 4; k < fields_.size(); ++k)
        if (real_or(fields_[k], 0, "coordinate") != 0)
          fail("*NODE: node " + std::to_string(id) +
               " has more than three coordinates; normals of beams and shells are "
               "not supported: remove them");
      for (int k = 0; k < 3; ++k) x[k] = real_or(field(k + 1), 0, "coordinate");
    }
    if (system != "RECTANGULAR") x = from_system(x, system);
    if (id > largest) {
      largest = id;
      check_number(id, by);
    }
    id += by;
    nodes.ids.push_back(id);
    nodes.coordinates.insert(nodes.coordinates.end(), x.begin(), x.end());
    if (members) members->add(id);
  }
  count_as_used(Kind::node_set, largest + by);
}

void Parser::read_element(Card& card) {
  const std::string type = card.required("TYPE", "*ELEMENT, TYPE=C3D8");
  const std::string set = card.value("ELSET");
  card.refuse("OFFSET", "write the node numbers themselves");
  card.done();
  const ElementMeaning* const meaning = find_meaning(type);
  if (!meaning) {
    const std::string_view why = why_not_element(type);
    if (!why.empty())
      card.fail_unsupported(ErrorCode::bad_input,
                            "elements of type " + in_quotes(type) + " are not supported yet: " + std::string(why));
    std::vector<std::string> names;
    for (const ElementMeaning& known : element_meanings()) names.emplace_back(known.name);
    const std::string meant = did_you_mean(type, names);
    card.fail(ErrorCode::not_found, "there is no element type " + in_quotes(type) +
                                        (meant.empty() ? "; docs/decks.md lists the supported ones" : meant));
  }
  SetStore::Pieces* const members = set.empty() ? nullptr : &element_sets_.at(scoped(set), card.place());
  const auto width = static_cast<std::size_t>(meaning->nodes);
  ElementCard& elements = deck_.elements.emplace_back();
  elements.place = card.place();
  elements.type = type;
  elements.nodes_per_element = meaning->nodes;
  if (const std::size_t ahead = lines_.lines_ahead(); ahead > 64) {
    const std::size_t expected = width > 15 ? ahead / 2 + 1 : ahead;  // sixteen numbers fill a line
    elements.ids.reserve(expected);
    elements.nodes.reserve(expected * width);
    elements.lines.reserve(expected);
  }
  ElementReading reading;
  reading.shift = shift_of_new(Kind::element_set, card);
  // Elements of the assembly join nodes of instances, which they name; its own nodes may not be there yet.
  reading.by_name = scope_ == Scope::assembly;
  reading.node_shift = reading.by_name ? 0 : shift(Kind::node_set);
  // CalculiX's own C3D8I once had three nodes more, which only held the incompatible modes.
  reading.spare = type == "C3D8I" ? 3 : 0;
  PlainText plain_text(lines_);
  for (std::size_t known = 0; read_one_element(elements, reading);) {
    const std::size_t first_plain = elements.ids.size();
    if (!reading.by_name && reading.lines > 0)
      plain_text.take([&](std::string_view text) {
        return read_plain_elements(text, static_cast<std::size_t>(reading.lines), lines_.place().line, reading.shift,
                                   reading.node_shift, elements);
      });
    if (reading.elsewhere) std::fill(elements.lines.begin() + first_plain, elements.lines.end(), card.place().line);
    for (std::size_t i = first_plain * width; i < elements.nodes.size(); ++i)
      reading.largest[0] = std::max(reading.largest[0], elements.nodes[i]);
    for (; known < elements.ids.size(); ++known) {
      reading.largest[1] = std::max(reading.largest[1], elements.ids[known]);
      if (members) members->add(elements.ids[known]);
    }
  }
  count_as_used(Kind::node_set, reading.largest[0]);
  count_as_used(Kind::element_set, reading.largest[1]);
  if (type == "SPRINGA" || type == "SPRING1" || type == "SPRING2")
    for (const Id id : elements.ids) spring_dofs_[id] = type == "SPRING1" ? 1 : type == "SPRING2" ? 2 : 0;
}

/// Reads the nodes of one line of an element.
void Parser::read_element_nodes(std::string_view line, Id id, std::size_t first, ElementCard& elements,
                                ElementReading& reading) {
  const auto width = static_cast<std::size_t>(elements.nodes_per_element);
  const char* at = line.data();
  const char* const end = at + line.size();
  for (Id node = 0; at != end;) {
    const std::size_t have = elements.nodes.size() - first;
    const char* const before = at;
    if (reading.by_name || !take_integer(at, end, node) || node < 1) {
      at = before;
      const std::string_view rest(at, static_cast<std::size_t>(end - at));
      const std::string_view text = trimmed(rest.substr(0, rest.find(',')));
      if (text.empty() && have >= width) {  // commas at the end
        at += rest.find(',') == rest.npos ? rest.size() : rest.find(',') + 1;
        continue;
      }
      const std::string what = "element " + std::to_string(id) + ": node number";
      const auto named = reading.by_name ? numbered(text, Kind::node_set, what) : std::nullopt;
      node = named ? *named : number_of(text, what);
      at += rest.find(',') == rest.npos ? rest.size() : rest.find(',') + 1;
    }
    check_number(node, reading.node_shift);
    reading.largest[0] = std::max(reading.largest[0], node + reading.node_shift);
    if (have < width)
      elements.nodes.push_back(node + reading.node_shift);
    else if (++reading.dropped > reading.spare)
      fail("element " + std::to_string(id) + " has more nodes than the " + std::to_string(width) + " of its type " +
           elements.type + "; is the type right?");
  }
}

bool Parser::read_one_element(ElementCard& elements, ElementReading& reading) {
  auto line = lines_.data();
  if (!line) return false;
  const Place place = lines_.place();
  const auto width = static_cast<std::size_t>(elements.nodes_per_element);
  const char* at = line->data();
  Id id = 0;
  if (!take_integer(at, line->data() + line->size(), id) || id < 1) {
    split_fields(*line, fields_);
    id = number_of(field(0), "element number");
    at = line->data() + (line->find(',') == line->npos ? line->size() : line->find(',') + 1);
  }
  check_number(id, reading.shift);
  const std::size_t first = elements.nodes.size();
  reading.dropped = 0;
  for (std::string_view rest = line->substr(static_cast<std::size_t>(at - line->data()));;) {
    read_element_nodes(rest, id, first, elements, reading);
    // Numbers of a long element go on in the next line; of a short one only behind a comma, so that a forgotten node
    // does not swallow the next element.
    if (elements.nodes.size() - first >= width || !(line->back() == ',' || width >= 10)) break;
    line = lines_.data();
    if (!line) break;
    rest = *line;
  }
  const std::size_t have = elements.nodes.size() - first;
  if (have < width)
    fail("element " + std::to_string(id) + " has " + std::to_string(have) + (have == 1 ? " node" : " nodes") +
             ", but its type " + elements.type + " has " + std::to_string(width),
         place);
  if (reading.dropped > 0)
    note(
        "C3D8I with more than 8 nodes: the additional nodes are ignored, since the incompatible modes are internal to "
        "the element",
        place);
  elements.ids.push_back(id + reading.shift);
  // A line in another file than the card's: that of the card must do.
  reading.elsewhere = place.file != elements.place.file;
  elements.lines.push_back(reading.elsewhere ? elements.place.line : place.line);
  reading.lines = lines_.place().file == place.file ? lines_.place().line - place.line + 1 : 0;
  return true;
}

void Parser::read_node_set(Card& card) { read_set(card, Kind::node_set, node_sets_, "NSET"); }
void Parser::read_element_set(Card& card) { read_set(card, Kind::element_set, element_sets_, "ELSET"); }

/// A card of a set while its lines are read.
struct Parser::SetReading {
  Card& card;
  Kind kind;
  SetStore& store;
  SetStore::Pieces& members;
  std::string instance;  // whose numbers are meant, not whose set it is; empty: those of the scope
  // In flat decks, and within an instance, the shift of numbers is known at once.
  bool plain = false;
  Id shift = 0;
  const char* what() const { return kind == Kind::node_set ? "node number" : "element number"; }
};

void Parser::require_instance(Card& card, const std::string& instance) {
  if (instance.empty() || instances_.contains(instance)) return;
  std::vector<std::string> names;
  for (const auto& [known, ignored] : instances_) names.push_back(known);
  const std::string meant = did_you_mean(instance, names);
  card.fail(ErrorCode::not_found, card.name() + ": there is no instance " + in_quotes(instance) +
                                      (names.empty()    ? "; the deck has no *INSTANCE"
                                       : !meant.empty() ? meant
                                                        : "; there is '" + names.front() + "'"));
}

void Parser::read_set(Card& card, Kind kind, SetStore& store, std::string_view parameter) {
  const std::string example = card.name() + ", " + std::string(parameter) + "=TOP";
  const std::string name = card.required(parameter, example);
  const bool generate = card.flag("GENERATE");
  const std::string instance = card.value("INSTANCE");
  card.ignore({"INTERNAL"});
  const bool unsorted = card.flag("UNSORTED");
  const std::string of_elements = kind == Kind::node_set ? card.value("ELSET") : std::string();
  card.done();
  require_instance(card, instance);
  const std::string full_name = scoped(name);
  require_new(card, kind, full_name);
  SetReading reading{card, kind, store, store.at(full_name, card.place()), instance};
  reading.members.unsorted = unsorted;
  reading.plain = instance.empty() && (instances_.empty() || scope_ == Scope::instance);
  if (reading.plain) reading.shift = shift(kind);
  if (!of_elements.empty()) add_nodes_of_set(reading, full_name, of_elements);
  while (const auto line = lines_.data())
    if (generate)
      read_range(reading, *line);
    else
      read_members(reading, *line);
}

/// A set that a card names, of the instance or of the assembly.
std::string Parser::full_set_name(const SetReading& reading, const std::string& name, const SetStore& store) const {
  if (!reading.instance.empty() && store.find(reading.instance + "." + name)) return reading.instance + "." + name;
  return scoped(name);
}

void Parser::add_nodes_of_set(SetReading& reading, const std::string& full_name, const std::string& elements) {
  const std::string full_elements = full_set_name(reading, elements, element_sets_);
  const SetStore::Pieces* const found = element_sets_.find(full_elements);
  if (found && found->is_whole()) {
    add_nodes_of(reading.members, *found, reading.card.place());
  } else {
    reading.members.open = true;
    nodes_of_.push_back({full_name, full_elements, reading.card.place()});
  }
}

void Parser::add_set(SetReading& reading, const std::string& name) {
  const std::string full_name = full_set_name(reading, name, reading.store);
  const SetStore::Pieces* const found = reading.store.find(full_name);
  if (!found || !found->is_whole()) {  // it is added when the whole deck is known
    if (found != &reading.members) reading.members.later.emplace_back(full_name, lines_.place());
    return;
  }
  try {
    reading.store.add_all(reading.members, *found);
  } catch (const Error& error) {
    fail(error.text());
  }
}

/// A line of a card with GENERATE.
void Parser::read_range(SetReading& reading, std::string_view line) {
  const Kind kind = reading.kind;
  const std::string card = reading.card.name();
  split_fields(line, fields_);
  at_most(3, reading.card, "first, last, step");
  const Id first = number_of(field(0), reading.what());
  const Id last = field(1).empty() ? first : number_of(field(1), reading.what());
  const Id step = field(2).empty() ? 1 : integer(field(2), "step");
  if (last < first)
    fail(card + ", GENERATE: the last number " + std::to_string(last) + " is smaller than the first, " +
         std::to_string(first));
  if (step < 1) fail(card + ", GENERATE: the step " + std::to_string(step) + " must be at least 1");
  if (reading.instance.empty()) {
    // A range means the members that exist; within an instance its end is brought back to them.
    const Id from = in_model(kind, first), shifted = from - first;
    check_number(last, shifted);
    if (scope_ != Scope::instance) count_as_used(kind, last + shifted);
    reading.members.add_range(from, last + shifted, step);
  } else {
    const Instance& of = instances_.find(reading.instance)->second;
    const Id from = in_instance(kind, reading.instance, first);
    reading.members.add_range(from, std::max(first, std::min(last, of.last[which(kind)])) + (from - first), step);
  }
}

/// A line of numbers and of names of other sets.
void Parser::read_members(SetReading& reading, std::string_view line) {
  const Kind kind = reading.kind;
  const char* at = line.data();
  const char* const end = at + line.size();
  Id id = 0;
  if (reading.plain) {
    while (at != end && take_integer(at, end, id) && id > 0) {
      check_number(id, reading.shift);
      count_as_used(kind, id + reading.shift);
      reading.members.add(id + reading.shift);
    }
    if (at == end && id > 0) return;
  }
  // Names, signs, or something wrong. Members that have been added already do no harm when they come again.
  split_fields(line, fields_);
  for (const std::string_view text : fields_) {
    if (text.empty()) continue;
    double real = 0;
    const bool numeric =
        read_integer(text, id) != NumberFault::not_a_number ||
        (read_real(text, real) != NumberFault::not_a_number && text.find_first_of("0123456789") != text.npos);
    if (numeric) {
      const Id number = number_of(text, reading.what());
      reading.members.add(reading.instance.empty() ? in_model(kind, number)
                                                   : in_instance(kind, reading.instance, number));
    } else if (const auto named = assembly_.empty() ? std::nullopt : numbered(text, kind, reading.what())) {
      reading.members.add(*named);
    } else {
      add_set(reading, name_of(text, "name of a set"));
    }
  }
}

/// The elements of a set that exist by now. All elements are sorted for it once; where more came since then, a small
/// set is looked up member by member.
std::vector<Parser::ElementPlace> Parser::elements_now(const SetStore::Pieces& set, Place place) {
  // All cards but the last are complete.
  for (; counted_cards_ + 1 < deck_.elements.size(); ++counted_cards_)
    counted_elements_ += deck_.elements[counted_cards_].ids.size();
  const std::size_t count = counted_elements_ + (deck_.elements.empty() ? 0 : deck_.elements.back().ids.size());
  std::vector<ElementPlace> found;
  if (!placed_.empty() && placed_.size() != count) {
    Id members = 0;
    for (const SetStore::Range& range : set.ranges)
      members = std::min<Id>(members, INT32_MAX) + std::min<Id>((range.last - range.first) / range.step + 1, INT32_MAX);
    if (members <= static_cast<Id>(count / 8)) {
      std::set<Id> once;
      for (const SetStore::Range& range : set.ranges)
        for (Id id = range.first;; id += range.step) {
          if (const auto element = find_element(id); element && once.insert(id).second) found.push_back(*element);
          if (range.last - id < range.step) break;
        }
      return found;
    }
  }
  if (placed_.size() != count) {
    placed_.clear();
    placed_.reserve(count);
    for (std::size_t c = 0; c < deck_.elements.size(); ++c)
      for (std::size_t i = 0; i < deck_.elements[c].ids.size(); ++i)
        placed_.push_back({deck_.elements[c].ids[i], c, i});
    std::sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) { return a.id < b.id; });
    placed_ids_.clear();
    for (const Placed& p : placed_)
      if (placed_ids_.empty() || placed_ids_.back() != p.id) placed_ids_.push_back(p.id);
    work_of_sets_ += count;
  }
  SetStore store;
  store.add_all(store.at("E", place), set);
  const SetStore::Resolved resolved = store.resolve(placed_ids_);
  for (const Id id : resolved.sets.at("E")) {
    const auto p = std::lower_bound(placed_.begin(), placed_.end(), id, [](const Placed& a, Id b) { return a.id < b; });
    found.push_back({p->card, p->element});
  }
  return found;
}

void Parser::add_nodes_of(SetStore::Pieces& nodes, const SetStore::Pieces& elements, Place place) {
  std::vector<Id> found;
  try {
    for (const ElementPlace& element : elements_now(elements, place)) {
      const ElementCard& of = deck_.elements[element.card];
      const auto width = static_cast<std::size_t>(of.nodes_per_element);
      const auto first = of.nodes.begin() + static_cast<std::ptrdiff_t>(element.element * width);
      found.insert(found.end(), first, first + static_cast<std::ptrdiff_t>(width));
      // Each of very many such cards may name all elements, which a short deck could ask for without end.
      if ((work_of_sets_ += width) > 20'000'000 + 1000 * (counted_elements_ + of.ids.size()))
        throw Error(ErrorCode::bad_input,
                    "*NSET, ELSET= is used too often on large sets, which lists the same nodes repeatedly; use "
                    "node sets instead");
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    SetStore::Pieces pieces;
    for (const Id id : found) pieces.add(id);
    node_sets_.add_all(nodes, pieces);
  } catch (const Error& error) {
    fail(error.text(), place, error.code());
  }
}

void Parser::read_surface(Card& card) {
  const std::string name = scoped(card.required("NAME", "*SURFACE, NAME=TOP"));
  const bool of_nodes = card.choice("TYPE", {"ELEMENT", "NODE"}, 4) == "NODE";
  card.ignore({"INTERNAL"});
  card.refuse("COMBINE", "name the faces of both surfaces");
  card.refuse("CROP", "name the faces themselves");
  card.done();
  const auto [entry, is_new] = deck_.surfaces.try_emplace(name);
  if (!is_new)
    card.fail(ErrorCode::bad_input, "the surface " + in_quotes(name) +
                                        " is defined twice; the first definition is at " +
                                        deck_.where(entry->second.place));
  SurfaceCard& surface = entry->second;
  surface.place = card.place();
  surface.of_nodes = of_nodes;
  while (next_fields()) {
    if (fields_.empty()) continue;
    const Place place = lines_.place();
    if (of_nodes) {
      at_most(2, card, "node or set");  // Abaqus: and an area, which serves contact alone
      const Target node = target(field(0), Kind::node_set);
      if (node.set.empty())
        surface.nodes.push_back(node.id);
      else
        surface_node_sets_[name].insert(node.set);
      continue;
    }
    at_most(2, card, "element or set, S1");
    const Target element = target(field(0), Kind::element_set);
    std::string label = squeezed(field(1));
    if (!label.empty() && !(label.size() == 2 && label[0] == 'S' && label[1] >= '1' && label[1] <= '6'))
      fail_unsupported("face " + in_quotes(field(1)) + " is not supported: faces of elements are called S1 to S6",
                       place, ErrorCode::not_found);
    surface.faces.push_back({element.set, element.id, std::move(label), place});
  }
}

}  // namespace voussoir::deck
