#include <algorithm>
#include <limits>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Names of sets, surfaces, materials …, which may be used before they are defined, and what is known of them when the
// whole deck has been read.

namespace voussoir::deck {

bool Parser::exists(Kind kind, std::string_view name) const {
  switch (kind) {
    case Kind::node_set:
      return node_sets_.find(name) != nullptr;
    case Kind::element_set:
      return element_sets_.find(name) != nullptr;
    case Kind::surface:
      return deck_.surfaces.contains(name);
    case Kind::amplitude:
      return deck_.amplitudes.contains(name);
    case Kind::orientation:
      return deck_.orientations.contains(name);
    case Kind::material:
      return deck_.materials.contains(name);
  }
  return false;
}

std::vector<std::string> Parser::names_of(Kind kind) const {
  if (kind == Kind::node_set) return node_sets_.names();
  if (kind == Kind::element_set) return element_sets_.names();
  std::vector<std::string> names;
  const auto collect = [&](const auto& map) {
    for (const auto& entry : map) names.push_back(entry.first);
  };
  if (kind == Kind::surface) collect(deck_.surfaces);
  if (kind == Kind::amplitude) collect(deck_.amplitudes);
  if (kind == Kind::orientation) collect(deck_.orientations);
  if (kind == Kind::material) collect(deck_.materials);
  return names;
}

void Parser::refer(Kind kind, const std::string& name, Place place, std::string face) {
  if (!exists(kind, name)) references_.push_back({kind, name, place, std::move(face)});
}

void Parser::fail_unknown(Kind kind, const std::string& name, Place place) const {
  static constexpr std::string_view words[] = {"node set (*NSET)", "element set (*ELSET)", "*SURFACE",
                                               "*AMPLITUDE",       "*ORIENTATION",         "*MATERIAL"};
  const std::vector<std::string> names = names_of(kind);
  std::string text = "there is no " + std::string(words[static_cast<std::size_t>(kind)]) + " " + in_quotes(name);
  const std::string meant = did_you_mean(name, names);
  text += meant;
  if (meant.empty() && names.empty()) text += "; the deck defines none";
  if (meant.empty() && !names.empty()) {
    text += "; there are ";
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i)
      text += (i ? ", " : "") + in_quotes(names[i]);
    if (names.size() > 8) text += " and " + std::to_string(names.size() - 8) + " more";
  }
  fail(text, place, ErrorCode::not_found);
}

Target Parser::target(std::string_view text, Kind kind, std::string face) {
  const std::string what = kind == Kind::node_set ? "node" : "element";
  Target result;
  if (const auto id = numbered(text, kind, what + " number")) {
    result.id = *id;
    return result;
  }
  // "1.5" can only be a slip, but "1ST-FLOOR" is a name.
  double ignored = 0;
  if (read_real(text, ignored) != NumberFault::not_a_number && text.find_first_of("0123456789") != text.npos)
    integer(text, what + " number");
  result.set = scoped(name_of(text, what + " or set"));
  refer(kind, result.set, lines_.place(), std::move(face));
  return result;
}

std::string Parser::element_set_parameter(Card& card, std::string_view example) {
  std::string set = scoped(card.required("ELSET", example));
  refer(Kind::element_set, set, card.place());
  return set;
}

void Parser::check_faces(const Reference& reference) const {
  for (const SurfaceEntry& entry : deck_.surfaces.find(reference.name)->second.faces)
    if (!reference.face.empty() && entry.label != reference.face)
      fail(in_quotes(reference.name) + " is a *SURFACE with faces other than " + reference.face +
               ", not an element set: load the surface with *DSLOAD, *DSFLUX or *SFILM",
           reference.place);
}

bool Parser::stand_in(const Reference& reference) {
  const auto found = deck_.surfaces.find(reference.name);
  if (found == deck_.surfaces.end()) return false;
  const SurfaceCard& surface = found->second;
  const bool of_nodes = reference.kind == Kind::node_set;
  if (surface.of_nodes != of_nodes) {
    if (of_nodes)
      fail(in_quotes(reference.name) + " is a *SURFACE of element faces, not a node set: define an *NSET of its nodes",
           reference.place, ErrorCode::not_found);
    fail(in_quotes(reference.name) + " is a *SURFACE of nodes, not an element set", reference.place,
         ErrorCode::not_found);
  }
  if (of_nodes) {
    SetStore::Pieces& set = node_sets_.at(reference.name, surface.place);
    for (const Id id : surface.nodes) set.add(id);
    if (const auto sets = surface_node_sets_.find(reference.name); sets != surface_node_sets_.end())
      for (const std::string& name : sets->second) set.later.emplace_back(name, reference.place);
  } else {
    check_faces(reference);
    SetStore::Pieces& set = element_sets_.at(reference.name, surface.place);
    for (const SurfaceEntry& entry : surface.faces) {
      if (entry.set.empty())
        set.add(entry.element);
      else
        set.later.emplace_back(entry.set, entry.place);
    }
  }
  note("the *SURFACE " + in_quotes(reference.name) + " is given instead of a set: its " +
           (of_nodes ? "nodes" : "elements") + " are taken",
       reference.place);
  return true;
}

/// Everything that sets hold, once all of them are known.
void Parser::finish_sets() {
  const auto settle = [&](SetStore& store, Kind kind) {
    std::optional<SetStore::Unsettled> wrong;
    try {
      wrong = store.settle();
    } catch (const Error& error) {
      throw Error(error.code(), error.text(), deck_.files.front());
    }
    if (!wrong) return;
    if (!store.find(wrong->member)) fail_unknown(kind, wrong->member, wrong->place);
    fail("the sets " + in_quotes(wrong->set) + " and " + in_quotes(wrong->member) + " contain each other",
         wrong->place);
  };
  settle(element_sets_, Kind::element_set);
  for (const NodesOf& pending : nodes_of_) {
    const SetStore::Pieces* const elements = element_sets_.find(pending.elements);
    if (!elements) fail_unknown(Kind::element_set, pending.elements, pending.place);
    add_nodes_of(node_sets_.at(pending.nodes, pending.place), *elements, pending.place);
  }
  settle(node_sets_, Kind::node_set);
}

void Parser::finish() {
  require_no_coupling();
  if (in_step_) fail("this step has no *END STEP before the end of the file: is the file complete?", step().place);
  if (scope_ != Scope::none)
    fail("this card is not ended (*END INSTANCE, *END ASSEMBLY) before the end of the file", scope_place_);
  if (!parts_.empty() && instances_.empty())
    fail("the deck has parts but no instances of them: add *ASSEMBLY and *INSTANCE", parts_.begin()->second.place);
  deck_.assembled = !parts_.empty();
  std::set<std::string> stood_in;
  for (const Reference& reference : references_) {
    const bool set = reference.kind == Kind::node_set || reference.kind == Kind::element_set;
    if (exists(reference.kind, reference.name)) {
      if (!reference.face.empty() && stood_in.contains(reference.name)) check_faces(reference);
    } else if (set && stand_in(reference)) {
      stood_in.insert(reference.name);
    } else {
      fail_unknown(reference.kind, reference.name, reference.place);
    }
  }
  finish_sets();
  finish_springs();

  const auto resolve = [&](SetStore& store, std::vector<Id> existing, std::string_view what) {
    if (!std::is_sorted(existing.begin(), existing.end())) std::sort(existing.begin(), existing.end());
    existing.erase(std::unique(existing.begin(), existing.end()), existing.end());
    SetStore::Resolved resolved;
    try {
      resolved = store.resolve(existing);
    } catch (const Error& error) {
      throw Error(error.code(), error.text(), deck_.files.front());
    }
    for (const auto& missing : resolved.missing)
      note("the set " + in_quotes(missing.set) + " names " + std::to_string(missing.count) + " " + std::string(what) +
               (missing.count == 1 ? " that does not exist" : "s that do not exist") + " (the first is " +
               std::to_string(missing.first) + "); ignored",
           missing.place);
    return std::move(resolved.sets);
  };
  deck_.node_sets = resolve(node_sets_, deck_.nodes.ids, "node");
  std::size_t surface_nodes = 0;
  for (const auto& [name, sets] : surface_node_sets_) {
    SurfaceCard& surface = deck_.surfaces.find(name)->second;
    for (const std::string& set : sets) {
      const std::vector<Id>& members = deck_.node_sets.find(set)->second;
      surface_nodes += members.size();
      if (surface_nodes > 5'000'000 + 200 * deck_.nodes.ids.size())
        fail("the surfaces of the deck contain far more nodes than the model; does each of them refer to a large set?",
             surface.place);
      surface.nodes.insert(surface.nodes.end(), members.begin(), members.end());
    }
  }
  std::vector<Id> elements;
  std::size_t count = 0;
  for (const ElementCard& card : deck_.elements) count += card.ids.size();
  elements.reserve(count);
  for (const ElementCard& card : deck_.elements) elements.insert(elements.end(), card.ids.begin(), card.ids.end());
  if (all_elements_) element_sets_.at(whole_model(), {}).add_range(1, std::numeric_limits<Id>::max(), 1);
  deck_.element_sets = resolve(element_sets_, std::move(elements), "element");
}

}  // namespace voussoir::deck
