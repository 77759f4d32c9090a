#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Abaqus/CAE writes every model as parts that are placed in an assembly. A *PART is passed over where it stands and
// read where an *INSTANCE places it, once for each: as if its cards stood there, with names and numbers of their own.
// Sets, surfaces and orientations are called INSTANCE.NAME. Numbers of the first instance stay as they are; those of
// the next begin behind a round number, so that node 57 becomes 10057 and is still known again.

namespace voussoir::deck {
namespace {

constexpr Id most_number = 4'000'000'000'000'000'000;
constexpr std::size_t instances_named = 8;  // in the note

/// The smallest power of ten above a number.
Id power_above(Id number) {
  Id unit = 10;
  while (unit <= number) unit *= 10;
  return unit;
}

}  // namespace

std::string Parser::scoped(std::string name) const {
  if (scope_ == Scope::instance) return instance_ + "." + name;
  if (!assembly_.empty() && name.size() > assembly_.size() && name.starts_with(assembly_) &&
      name[assembly_.size()] == '.')
    return name.substr(assembly_.size() + 1);
  return name;
}

std::string Parser::scoped_orientation(const std::string& name) const {
  if (name.empty() || scope_ != Scope::instance) return name;
  const std::string own = scoped(name);
  return deck_.orientations.contains(own) || parts_.find(part_)->second.orientations.contains(name) ? own : name;
}

Id Parser::shift(Kind kind) const {
  const std::size_t k = which(kind);
  if (scope_ == Scope::instance) return instances_.find(instance_)->second.shift[k];
  if (assembly_shift_[k]) return *assembly_shift_[k];
  if (instances_.size() == 1) return instances_.begin()->second.shift[k];
  if (!instances_.empty())
    fail(std::string(k == 0 ? "a node" : "an element") +
         " is given without an instance, but the assembly has several: write INSTANCE.NUMBER, as in " +
         instances_.begin()->first + ".1, or name a set");
  return 0;
}

Id Parser::next_shift(Kind kind) const {
  const std::size_t k = which(kind);
  if (largest_[k] == 0) return 0;
  if (largest_[k] > most_number / 10 || largest_local_[k] > most_number / 10)
    fail(std::string(k == 0 ? "node" : "element") + " numbers are too large to tell the instances apart");
  const Id unit = power_above(largest_local_[k]);
  return (largest_[k] + unit - 1) / unit * unit;
}

Id Parser::shift_of_new(Kind kind, const Card& card) {
  const std::size_t k = which(kind);
  if (scope_ == Scope::none && !parts_.empty())
    card.fail(ErrorCode::bad_input, card.name() +
                                        " is outside the parts and the assembly: a deck has either parts or "
                                        "plain nodes and elements");
  if (scope_ != Scope::assembly) return shift(kind);
  if (!assembly_shift_[k]) {
    assembly_shift_[k] = next_shift(kind);
    (k == 0 ? deck_.instances.nodes : deck_.instances.elements).push_back({*assembly_shift_[k], assembly_});
  } else if ((k == 0 ? deck_.instances.nodes : deck_.instances.elements).back().shift != *assembly_shift_[k]) {
    card.fail(ErrorCode::bad_input, card.name() +
                                        " of the assembly occurs both before and after an *INSTANCE: put all of them "
                                        "after the last one");
  }
  return *assembly_shift_[k];
}

Id Parser::in_model(Kind kind, Id number) {
  const Id by = shift(kind);
  check_number(number, by);
  count_as_used(kind, number + by);
  return number + by;
}

Id Parser::in_instance(Kind kind, const std::string& instance, Id number) const {
  const std::size_t k = which(kind);
  const Instance& of = instances_.find(instance)->second;
  if (number > of.last[k])
    fail("instance " + in_quotes(instance) + " has no " + (k == 0 ? "node " : "element ") + std::to_string(number) +
             "; its numbers end at " + std::to_string(of.last[k]),
         lines_.place(), ErrorCode::not_found);
  return number + of.shift[k];
}

std::optional<Id> Parser::numbered(std::string_view text, Kind kind, std::string_view what) {
  Id id = 0;
  const auto read = [&](std::string_view digits) {
    const NumberFault fault = read_integer(digits, id);
    return fault == NumberFault::none || fault == NumberFault::too_large;
  };
  if (read(text)) return in_model(kind, number_of(text, what));
  if (assembly_.empty()) return std::nullopt;
  const std::string name = scope_ == Scope::instance ? canonical_name(text) : scoped(canonical_name(text));
  if (read(name)) return in_model(kind, number_of(name, what));
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return std::nullopt;
  const std::string instance = name.substr(0, dot);
  const std::string_view digits = std::string_view(name).substr(dot + 1);
  if (!instances_.contains(instance) || !read(digits)) return std::nullopt;
  return in_instance(kind, instance, number_of(digits, what));
}

void Parser::read_part(Card& card) {
  const std::string name = card.required("NAME", "*PART, NAME=BODY");
  card.done();
  if (scope_ != Scope::none)
    card.fail(ErrorCode::bad_input, "*PART within the card at " + deck_.where(scope_place_) + ": end that first");
  if (!deck_.nodes.ids.empty() && parts_.empty())
    card.fail(ErrorCode::bad_input, "*PART follows nodes of the model: a deck has either parts or plain nodes");
  if (const auto old = parts_.find(name); old != parts_.end())
    card.fail(ErrorCode::bad_input, "the part " + in_quotes(name) + " is defined twice; the first definition is at " +
                                        deck_.where(old->second.place));
  Part part;
  part.place = card.place();
  if (lines_.data()) fail("*PART takes no data line: remove the line, or add the missing keyword before it");
  part.text = lines_.begin_passage();
  for (;;) {
    const auto text = lines_.keyword();
    if (!text) fail("this card is not ended (*END PART) before the end of the file", card.place());
    Card inner(*text, lines_.place(), deck_.files);
    if (inner.key() == "ENDPART") {
      lines_.end_passage(part.text, inner.place());
      inner.set_name("END PART");
      inner.done();
      break;
    }
    if (inner.key() == "PART" || inner.key() == "ASSEMBLY" || inner.key() == "STEP")
      inner.fail(ErrorCode::bad_input,
                 inner.name() + " within the card at " + deck_.where(card.place()) + ": end that first (*END PART)");
    if (inner.key() == "ORIENTATION") part.orientations.insert(inner.value("NAME"));
    const std::size_t k = inner.key() == "ELEMENT" ? 1 : 0;
    if (inner.key() != "NODE" && inner.key() != "ELEMENT") {
      skip_data();
      continue;
    }
    while (const auto line = lines_.data()) {
      const char* at = line->data();
      Id number = 0;
      if (take_integer(at, at + line->size(), number)) largest_local_[k] = std::max(largest_local_[k], number);
    }
  }
  parts_.emplace(name, std::move(part));
}

void Parser::read_end_part(Card& card) { card.fail(ErrorCode::bad_input, "*END PART without *PART before it"); }

void Parser::read_assembly(Card& card) {
  assembly_ = card.value("NAME");
  card.done();
  if (scope_ != Scope::none)
    card.fail(ErrorCode::bad_input, "*ASSEMBLY within the card at " + deck_.where(scope_place_) + ": end that first");
  if (parts_.empty()) card.fail(ErrorCode::bad_input, "*ASSEMBLY needs a *PART before it");
  if (assembly_place_.line > 0)
    card.fail(ErrorCode::bad_input,
              "a second *ASSEMBLY: a model has one; the first definition is at " + deck_.where(assembly_place_));
  if (assembly_.empty()) assembly_ = "ASSEMBLY";
  assembly_place_ = card.place();
  scope_ = Scope::assembly;
  scope_place_ = card.place();
}

void Parser::read_instance(Card& card) {
  const std::string_view example = "*INSTANCE, NAME=BODY-1, PART=BODY";
  card.refuse("LIBRARY", "results of another analysis cannot be read");
  card.refuse("INSTANCE", "results of another analysis cannot be read");
  const std::string name = card.required("NAME", example), part = card.required("PART", example);
  card.done();
  if (scope_ != Scope::assembly) card.fail(ErrorCode::bad_input, "*INSTANCE belongs within *ASSEMBLY");
  const auto found = parts_.find(part);
  if (found == parts_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, ignored] : parts_) names.push_back(known);
    card.fail(ErrorCode::not_found, "there is no *PART " + in_quotes(part) + did_you_mean(part, names));
  }
  if (instances_.contains(name))
    card.fail(ErrorCode::bad_input, "there is an instance " + in_quotes(name) + " already: give each a unique name");
  motion_ = {};
  bool moved = false, turned = false;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (turned || (moved && fields_.size() <= 3))
      fail("*INSTANCE has at most two data lines: a translation x, y, z, and two points and an angle of a rotation");
    std::array<double, 7> v{};
    at_most(7, card, "x, y, z of a translation, or two points of an axis and an angle in degrees");
    for (std::size_t i = 0; i < fields_.size(); ++i) v[i] = real_or(field(i), 0, "translation or rotation");
    if (fields_.size() <= 3) {
      motion_.translate({v[0], v[1], v[2]});
      moved = true;
      continue;
    }
    turned = true;
    if (v[6] == 0) continue;
    if (v[0] == v[3] && v[1] == v[4] && v[2] == v[5])
      fail("*INSTANCE: the two points of the axis of rotation are the same");
    motion_.turn({v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6]);
  }
  Instance& instance = instances_[name];
  instance.shift = {next_shift(Kind::node_set), next_shift(Kind::element_set)};
  deck_.instances.nodes.push_back({instance.shift[0], name});
  deck_.instances.elements.push_back({instance.shift[1], name});
  found->second.placed = true;
  part_ = part;
  instance_ = name;
  scope_ = Scope::instance;
  scope_place_ = card.place();
  first_node_ = deck_.nodes.ids.size();
  first_transform_ = deck_.transforms.size();
  first_section_ = deck_.sections.size();
  moved_orientations_.clear();
  lines_.replay(found->second.text, card.place());
}

/// What was read in the axes of the part comes to its place.
void Parser::end_instance() {
  Instance& instance = instances_.find(instance_)->second;
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    instance.last[k] = std::max<Id>(0, largest_[k] - instance.shift[k]);
    largest_local_[k] = std::max(largest_local_[k], instance.last[k]);
  }
  // A range may be written far wider than the part is; it must not reach into the next instance.
  node_sets_.clip(instance_ + ".", std::max(largest_[0], instance.shift[0]));
  element_sets_.clip(instance_ + ".", std::max(largest_[1], instance.shift[1]));
  std::vector<double>& x = deck_.nodes.coordinates;
  for (std::size_t n = first_node_; n < deck_.nodes.ids.size(); ++n) {
    const auto moved = motion_.point({x[3 * n], x[3 * n + 1], x[3 * n + 2]});
    std::copy(moved.begin(), moved.end(), x.begin() + static_cast<std::ptrdiff_t>(3 * n));
  }
  const auto move_axes = [&](auto& axes) {
    axes.a = axes.cylindrical ? motion_.point(axes.a) : motion_.direction(axes.a);
    axes.b = axes.cylindrical ? motion_.point(axes.b) : motion_.direction(axes.b);
  };
  for (const std::string& name : moved_orientations_) move_axes(deck_.orientations.find(name)->second);
  for (std::size_t i = first_transform_; i < deck_.transforms.size(); ++i) move_axes(deck_.transforms[i]);
  for (std::size_t i = first_section_; motion_.turns() && i < deck_.sections.size(); ++i)
    if (SectionCard& section = deck_.sections[i]; section.kind == SectionCard::Kind::beam)
      section.direction = motion_.direction(section.direction.value_or(std::array<double, 3>{0, 0, -1}));
  scope_ = Scope::assembly;
  scope_place_ = assembly_place_;
}

void Parser::read_end(Card& card) {
  card.done();
  if (card.key() == "ENDINSTANCE") {
    if (scope_ != Scope::instance) card.fail(ErrorCode::bad_input, "*END INSTANCE without *INSTANCE before it");
    return end_instance();
  }
  if (scope_ != Scope::assembly) card.fail(ErrorCode::bad_input, "*END ASSEMBLY without *ASSEMBLY before it");
  scope_ = Scope::none;
  for (const auto& [name, part] : parts_)
    if (!part.placed) note("no *INSTANCE uses the part " + in_quotes(name) + ", which is ignored", part.place);
  auto& names = deck_.instances;
  const auto shifted = [](const InstanceNumbers::Range& range) { return range.shift > 0; };
  if (std::none_of(names.nodes.begin(), names.nodes.end(), shifted) &&
      std::none_of(names.elements.begin(), names.elements.end(), shifted)) {
    names = {};
    note("the one instance of the assembly is read as a flat deck; its sets are called '" + instance_ + ".NAME'",
         assembly_place_);
    return;
  }
  std::string text = "instances of the assembly reuse numbers, so the numbers are offset, nodes by";
  for (std::size_t i = 0; i < std::min(names.nodes.size(), instances_named); ++i)
    text += (i ? ", " : " ") + std::to_string(names.nodes[i].shift) + " (" + names.nodes[i].instance + ")";
  if (names.nodes.size() > instances_named) text += ", …";
  text += " and elements by";
  for (std::size_t i = 0; i < std::min(names.elements.size(), instances_named); ++i)
    text += (i ? ", " : " ") + std::to_string(names.elements[i].shift) + " (" + names.elements[i].instance + ")";
  if (names.elements.size() > instances_named) text += ", …";
  note(text + "; their sets are called INSTANCE.NAME", assembly_place_);
}

}  // namespace voussoir::deck
