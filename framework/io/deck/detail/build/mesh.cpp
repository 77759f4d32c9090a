#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/io/deck/detail/build/build.hpp>

// Nodes and elements of a deck as tables, who has which section, which axes, and at which temperature it starts.

namespace voussoir::deck {
namespace {

/// One note for all: a mesh that is included twice must not bury the other notes.
void note_moved_nodes(Build& b, std::size_t count, std::size_t first) {
  const NodeTable& table = b.deck.nodes;
  const auto card = std::upper_bound(table.first.begin(), table.first.end(), first);
  const Place place =
      table.cards.empty() ? Place{} : table.cards[std::max<std::ptrdiff_t>(0, card - table.first.begin() - 1)];
  b.note("node " + b.deck.instances.node(table.ids[first]) + " is defined more than once with different coordinates" +
             (count > 1 ? ", and so are others (" + std::to_string(count) + " times in all)" : "") +
             "; the last definition is used",
         place);
}

/// Nodes sorted by id, each once.
void sort_nodes(Build& b) {
  NodeTable& table = b.deck.nodes;
  const std::size_t count = table.ids.size();
  if (count == 0) throw Error(ErrorCode::bad_input, "the deck has no nodes; add *NODE", b.job.source);
  if (count > INT32_MAX) throw Error(ErrorCode::bad_input, "the deck has more than 2^31 − 1 nodes", b.job.source);
  const auto ascending = std::adjacent_find(table.ids.begin(), table.ids.end(), std::greater_equal<Id>());
  if (ascending == table.ids.end()) {
    b.node_ids = std::move(table.ids);
    b.coordinates = std::move(table.coordinates);
  } else {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return table.ids[i] < table.ids[j]; });
    b.node_ids.reserve(count);
    b.coordinates.reserve(3 * count);
    std::size_t moved = 0, first_moved = 0;  // nodes given again elsewhere, and the place of the first
    for (std::size_t k = 0; k < count; ++k) {
      const double* x = &table.coordinates[3 * order[k]];
      if (k + 1 < count && table.ids[order[k + 1]] == table.ids[order[k]]) {
        const double* next = &table.coordinates[3 * order[k + 1]];
        if (!std::equal(x, x + 3, next) && moved++ == 0) first_moved = order[k + 1];
        continue;
      }
      b.node_ids.push_back(table.ids[order[k]]);
      b.coordinates.insert(b.coordinates.end(), x, x + 3);
    }
    if (moved > 0) note_moved_nodes(b, moved, first_moved);
  }
  table = {};
  b.node_index = IdIndex(b.node_ids);
}

/// Calls is_wrong(i) for i from 0 to count − 1, by all threads, and returns whether one of them is.
template <class IsWrong>
bool any_wrong(std::size_t count, const IsWrong& is_wrong) {
  bool any = false;
#pragma omp parallel for schedule(static) reduction(|| : any) if (count > detail::worth_threads)
  for (std::size_t i = 0; i < count; ++i) any = any || is_wrong(i);
  return any;
}

/// Fails at the first element of a card that has a node which does not exist, or one twice.
void check_nodes_of(Build& b, std::size_t c) {
  const ElementCard& card = b.deck.elements[c];
  const std::size_t per = card.nodes_per_element;
  const auto missing = [&](std::size_t i) { return b.node_index.find(card.nodes[i]) < 0; };
  const auto twice = [&](std::size_t e) -> const Id* {
    for (std::size_t i = e * per; i < (e + 1) * per; ++i)
      for (std::size_t j = i + 1; j < (e + 1) * per; ++j)
        if (card.nodes[i] == card.nodes[j]) return &card.nodes[i];
    return nullptr;
  };
  if (any_wrong(card.nodes.size(), missing)) {
    std::size_t i = 0;
    while (!missing(i)) ++i;
    b.fail(ErrorCode::not_found,
           "node " + b.deck.instances.node(card.nodes[i]) + " of element " +
               b.deck.instances.element(card.ids[i / per]) + " (" + card.type + ") does not exist",
           b.element_place(b.card_first[c] + i / per));
  }
  if (any_wrong(card.ids.size(), [&](std::size_t e) { return twice(e) != nullptr; })) {
    std::size_t e = 0;
    while (!twice(e)) ++e;
    b.fail("element " + b.deck.instances.element(card.ids[e]) + " (" + card.type + ") has node " +
               b.deck.instances.node(*twice(e)) +
               " twice; use the type with fewer nodes instead of a collapsed element",
           b.element_place(b.card_first[c] + e));
  }
}

/// What each element is, and that nodes and ids are as they should be.
void check_elements(Build& b) {
  std::vector<Id> ids;
  b.card_first.push_back(0);
  for (const ElementCard& card : b.deck.elements) {
    const ElementMeaning* meaning = find_meaning(card.type);
    if (!meaning) {
      std::vector<std::string> names;
      for (const ElementMeaning& m : element_meanings()) names.emplace_back(m.name);
      b.fail(ErrorCode::not_found, "element type " + card.type + " is not known" + suggestion(card.type, names),
             card.place);
    }
    b.meaning.push_back(meaning);
    b.card_first.push_back(b.card_first.back() + card.ids.size());
  }
  const std::size_t count = b.card_first.back();
  if (count > INT32_MAX) throw Error(ErrorCode::bad_input, "the deck has more than 2^31 − 1 elements", b.job.source);
  ids.reserve(count);
  for (const ElementCard& card : b.deck.elements) ids.insert(ids.end(), card.ids.begin(), card.ids.end());
  b.element_index = IdIndex(ids);
  const auto is_taken = [&](std::size_t e) { return b.element_index.find(ids[e]) != static_cast<std::int64_t>(e); };
  if (any_wrong(count, is_taken)) {
    std::size_t e = 0;
    while (!is_taken(e)) ++e;
    b.fail("element " + b.deck.instances.element(ids[e]) + " is already defined, at " +
               b.deck.where(b.element_place(e)) + "; give each element a unique number",
           b.element_place(static_cast<std::size_t>(b.element_index.find(ids[e]))));
  }
  for (std::size_t c = 0; c < b.deck.elements.size(); ++c) check_nodes_of(b, c);
}

bool fits(SectionCard::Kind kind, Family family) {
  switch (kind) {
    case SectionCard::Kind::solid:
      return family == Family::solid || is_plane(family) || family == Family::truss;
    case SectionCard::Kind::beam:
      return family == Family::beam;
    case SectionCard::Kind::spring:
      return family == Family::spring;
    case SectionCard::Kind::mass:
      return family == Family::mass;
  }
  return false;
}

const char* card_name(SectionCard::Kind kind) {
  switch (kind) {
    case SectionCard::Kind::solid:
      return "*SOLID SECTION";
    case SectionCard::Kind::beam:
      return "*BEAM SECTION";
    case SectionCard::Kind::spring:
      return "*SPRING";
    case SectionCard::Kind::mass:
      return "*MASS";
  }
  return "";
}

SectionCard::Kind section_for(Family family) {
  switch (family) {
    case Family::beam:
      return SectionCard::Kind::beam;
    case Family::spring:
      return SectionCard::Kind::spring;
    case Family::mass:
      return SectionCard::Kind::mass;
    default:
      return SectionCard::Kind::solid;
  }
}

/// Which section each element has: the last that names it and suits it.
void assign_sections(Build& b) {
  if (b.job.mesh_only) {
    b.section_of.assign(b.card_first.back(), 0);
    return;
  }
  b.section_of.assign(b.card_first.back(), -1);
  std::vector<std::pair<std::size_t, std::size_t>> unsuited;  // element, section
  for (std::size_t s = 0; s < b.deck.sections.size(); ++s) {
    const SectionCard& section = b.deck.sections[s];
    const auto members = b.elements_of({section.set, 0}, section.place);
    bool any = false;
    std::size_t card = 0;
    for (std::size_t e : members) {
      if (e < b.card_first[card] || e >= b.card_first[card + 1]) card = b.card_of(e);
      if (b.meaning[card]->family == Family::coupling) {
        any = true;  // CalculiX's decks give couplings a section, which says nothing
      } else if (fits(section.kind, b.meaning[card]->family)) {
        b.section_of[e] = static_cast<std::int32_t>(s);
        any = true;
      } else if (unsuited.empty()) {
        unsuited.emplace_back(e, s);
      }
    }
    if (!any)
      b.fail(std::string(card_name(section.kind)) + " cannot be the section of " + b.element_label(members.front()) +
                 ", " + describe(b.meaning[b.card_of(members.front())]->family) + "; use " +
                 card_name(section_for(b.meaning[b.card_of(members.front())]->family)),
             section.place);
  }
  std::size_t missing = 0, first = 0;
  for (std::size_t c = 0; c < b.deck.elements.size(); ++c)
    for (std::size_t e = b.card_first[c]; e < b.card_first[c + 1]; ++e)
      if (b.section_of[e] < 0 && b.meaning[c]->family != Family::coupling && missing++ == 0) first = e;
  if (missing == 0) return;
  const Family family = b.meaning[b.card_of(first)]->family;
  std::string text = "element " + b.deck.instances.element(b.element_id(first)) + " (" +
                     b.deck.elements[b.card_of(first)].type + ") has no section";
  if (missing > 1) text += ", and " + std::to_string(missing - 1) + " more have none";
  text +=
      "; add " + std::string(card_name(section_for(family))) + " for a set that has " + (missing > 1 ? "them" : "it");
  if (!unsuited.empty() && unsuited.front().first == first) {
    const SectionCard& s = b.deck.sections[unsuited.front().second];
    text += " (" + std::string(card_name(s.kind)) + " at " + b.deck.where(s.place) + " is not for " +
            describe(family).substr(describe(family).find(' ') + 1) + "s)";
  }
  b.fail(text, b.element_place(first));
}

/// Axisymmetric elements are combined with nothing that has another idea of its coordinates; plane stress and plane
/// strain share displacements in the plane, and may be combined.
void check_families(Build& b) {
  const auto first = [&](auto fits) -> const ElementCard* {
    for (std::size_t c = 0; c < b.meaning.size(); ++c)
      if (fits(b.meaning[c]->family)) return &b.deck.elements[c];
    return nullptr;
  };
  const ElementCard* const ring = first([](Family f) { return f == Family::axisymmetric; });
  const ElementCard* const other =
      first([](Family f) { return f == Family::solid || (is_plane(f) && f != Family::axisymmetric); });
  if (ring && other)
    b.fail(
        "axisymmetric elements (" + ring->type + ", at " + b.deck.where(ring->place) + ") and " + other->type +
            " elements are in one deck: their coordinates and forces have different meanings; put them into decks of "
            "their own",
        other->place);
  const ElementCard* const stress = first([](Family f) { return f == Family::plane_stress; });
  const ElementCard* const strain = first([](Family f) { return f == Family::plane_strain; });
  if (stress && strain)
    b.note("the deck has elements of plane stress (" + stress->type + ", at " + b.deck.where(stress->place) +
               ") and of plane strain (" + strain->type +
               "): they share displacements in the plane, and each keeps its own state across it",
           strain->place);
}

/// Whether everything lies in a plane, and that what should does.
void find_space(Build& b) {
  check_families(b);
  bool plane = false, space = false;
  for (const ElementMeaning* m : b.meaning) {
    if (is_plane(m->family) || is_plane_line(*m))
      plane = true;
    else if (!is_discrete(m->family))
      space = true;
  }
  b.planar = plane && !space;
  for (std::size_t c = 0; space && c < b.meaning.size(); ++c)
    if (b.meaning[c]->family == Family::beam && is_plane_line(*b.meaning[c]))
      b.fail(b.deck.elements[c].type +
                 " elements lie in the xy plane and can be combined only with plane elements, but the deck "
                 "has others; use B31 or B32",
             b.deck.elements[c].place);
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) low[k] = high[k] = b.coordinates[k];
  for (std::size_t i = 0; i < b.coordinates.size(); ++i) {
    low[i % 3] = std::min(low[i % 3], b.coordinates[i]);
    high[i % 3] = std::max(high[i % 3], b.coordinates[i]);
  }
  const double size = std::max(high[0] - low[0], high[1] - low[1]);
  for (std::size_t c = 0; plane && c < b.deck.elements.size(); ++c) {
    if (!is_plane(b.meaning[c]->family) && !is_plane_line(*b.meaning[c])) continue;
    const ElementCard& card = b.deck.elements[c];
    const double level = card.nodes.empty() ? 0 : b.coordinates[3 * b.node_index.find(card.nodes[0]) + 2];
    for (std::size_t i = 0; i < card.nodes.size(); ++i) {
      const double z = b.coordinates[3 * b.node_index.find(card.nodes[i]) + 2];
      if (std::abs(z - level) > 1e-6 * size)
        b.fail(card.type + " elements lie in a plane z = constant, but node " + b.deck.instances.node(card.nodes[i]) +
                   " of element " + b.deck.instances.element(card.ids[i / card.nodes_per_element]) +
                   " has z = " + std::to_string(z) + "; rotate the model into the xy plane",
               b.element_place(b.card_first[c] + i / card.nodes_per_element));
    }
  }
}

void add_transforms(Build& b) {
  NodeAxes& axes = b.job.node_axes;
  for (const TransformCard& card : b.deck.transforms) {
    const auto nodes = b.nodes_of_set(card.set, card.place);
    try {
      axes.systems.push_back(card.cylindrical ? Orientation::cylindrical(card.a, card.b)
                                              : Orientation::rectangular(card.a, card.b));
    } catch (const Error& error) {
      b.fail("*TRANSFORM: " + error.text(), card.place);
    }
    axes.system_of.resize(b.node_ids.size(), -1);
    for (std::int32_t n : nodes) {
      axes.system_of[n] = static_cast<std::int32_t>(axes.systems.size()) - 1;
      try {
        b.axes(n);
      } catch (const Error&) {
        b.fail("node " + b.node_name(n) +
                   " is on the axis of the cylindrical *TRANSFORM, where the radial direction is undefined; remove it "
                   "from set '" +
                   card.set + "'",
               card.place);
      }
    }
  }
}

/// The initial temperature: one for all nodes, or one for each.
void read_temperatures(Build& b) {
  std::vector<double> start;
  for (const TemperatureCard& card : b.deck.initial_temperatures)
    for (const auto& entry : card.entries) {
      start.resize(b.node_ids.size(), 0.0);
      for (std::int32_t n : b.nodes_of(entry.node, entry.place)) start[n] = entry.value;
    }
  if (start.empty()) return;
  std::vector<std::uint8_t> used(b.node_ids.size(), 0);
  for (const ElementCard& card : b.deck.elements)
    for (Id id : card.nodes) used[b.node_index.find(id)] = 1;
  bool same = true;
  const auto first = std::find(used.begin(), used.end(), 1) - used.begin();
  if (first < static_cast<std::ptrdiff_t>(used.size())) b.initial_temperature = start[first];
  for (std::size_t n = 0; n < used.size(); ++n)
    if (used[n]) same = same && start[n] == b.initial_temperature;
  if (!same) b.initial_temperatures = std::move(start);
}

}  // namespace

void build_mesh(Build& b) {
  sort_nodes(b);
  check_elements(b);
  if (b.card_first.back() == 0)
    throw Error(ErrorCode::bad_input, "the deck has no elements; add *ELEMENT", b.job.source);
  assign_sections(b);
  find_space(b);
  add_transforms(b);
  read_temperatures(b);
}

}  // namespace voussoir::deck
