#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <voussoir/framework/domain/detail/boundary_faces.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/deck/detail/build/large_displacements.hpp>

// The domains of a job: blocks of elements that have a type and a section in common, sets, surfaces.

namespace voussoir::deck {
namespace {

/// The element type that a card means in a model; empty: it has no part in it.
std::string type_in(const Build& b, Physics physics, const ElementMeaning& m) {
  if (physics == Physics::heat) return std::string(m.heat);
  if (b.planar && !m.planar.empty()) return std::string(m.planar);
  return std::string(b.options.dialect == Dialect::abaqus ? m.abaqus : m.calculix);
}

/// SPRING1 and SPRING2 that act on rotations are other types.
std::string with_rotation(const SectionCard& section, std::string type) {
  const bool rotary = section.kind == SectionCard::Kind::spring &&
                      std::any_of(section.spring_dofs.begin(), section.spring_dofs.end(), [](int d) { return d > 3; });
  return rotary && (type == "spring" || type == "spring_to_ground") ? type + "_rotary" : type;
}

struct Segment {
  std::size_t card, first, last;  // elements of the card
};
struct PlannedBlock {
  const ElementMeaning* meaning;
  std::int32_t section;
  std::vector<Segment> segments;
};

std::vector<PlannedBlock> plan_blocks(const Build& b, Physics physics) {
  std::vector<PlannedBlock> plan;
  std::map<std::pair<const ElementMeaning*, std::int32_t>, std::size_t> known;
  for (std::size_t c = 0; c < b.deck.elements.size(); ++c) {
    const ElementMeaning* meaning = b.meaning[c];
    if (type_in(b, physics, *meaning).empty()) continue;
    const std::size_t first = b.card_first[c], count = b.deck.elements[c].ids.size();
    for (std::size_t at = 0; at < count;) {
      const std::int32_t section = b.section_of[first + at];
      std::size_t end = at + 1;
      while (end < count && b.section_of[first + end] == section) ++end;
      const auto [it, added] = known.try_emplace({meaning, section}, plan.size());
      if (added) plan.push_back({meaning, section, {}});
      plan[it->second].segments.push_back({c, at, end});
      at = end;
    }
  }
  return plan;
}

std::string block_name(const Domain& domain, const std::string& set, std::string_view type) {
  if (!domain.has_block(set)) return set;
  const std::string base = set + " " + std::string(type);
  std::string name = base;
  for (int i = 2; domain.has_block(name); ++i) name = base + " " + std::to_string(i);
  return name;
}

/// Decks have the middle node of a beam second, shapes have it last.
void swap_middle(std::vector<Id>& nodes) {
  for (std::size_t i = 0; i + 2 < nodes.size(); i += 3) std::swap(nodes[i + 1], nodes[i + 2]);
}

void add_blocks(Build& b, Model& m) {
  const bool large = m.physics == Physics::structure && find_large_displacements(b);
  for (const PlannedBlock& planned : plan_blocks(b, m.physics)) {
    const SectionCard& section = b.deck.sections[planned.section];
    std::string type = with_rotation(section, type_in(b, m.physics, *planned.meaning));
    const Place place = b.deck.elements[planned.segments.front().card].place;
    if (large)
      type = large_type(b, *planned.meaning, type, section, place);
    else if (m.physics == Physics::structure)
      require_plastic_type(b, *planned.meaning, type, section, place);
    ElementBlock& block = m.domain->add_block(block_name(*m.domain, section.set, planned.meaning->name), type);
    const auto index = static_cast<std::int32_t>(m.domain->block_count()) - 1;
    std::int32_t element = 0;
    std::vector<Id> ids, nodes;  // gathered where a block is scattered over the deck
    const bool gather = planned.segments.size() > 16;
    const bool middle_last = planned.meaning->family == Family::beam && planned.meaning->nodes == 3;
    for (const Segment& s : planned.segments) {
      const ElementCard& card = b.deck.elements[s.card];
      const std::size_t per = card.nodes_per_element;
      const std::span<const Id> these_ids(card.ids.data() + s.first, s.last - s.first);
      const std::span<const Id> these_nodes(card.nodes.data() + s.first * per, (s.last - s.first) * per);
      if (gather) {
        ids.insert(ids.end(), these_ids.begin(), these_ids.end());
        nodes.insert(nodes.end(), these_nodes.begin(), these_nodes.end());
      } else if (middle_last) {
        std::vector<Id> turned(these_nodes.begin(), these_nodes.end());
        swap_middle(turned);
        block.add_many(these_ids, turned);
      } else {
        block.add_many(these_ids, these_nodes);
      }
      for (std::size_t e = s.first; e < s.last; ++e) m.ref[b.card_first[s.card] + e] = {index, element++};
    }
    if (gather && middle_last) swap_middle(nodes);
    if (gather) block.add_many(ids, nodes);
    apply_section(b, m, block, section, *planned.meaning);
    if (large && block.material() && !block.material()->law().empty() && block.material()->law() != "plastic")
      b.fail("material '" + block.material()->name() + "' is " + block.material()->law() +
                 ", which is not supported with NLGEOM: it takes isotropic *ELASTIC",
             section.place);
    const auto components = static_cast<std::uint8_t>(block.type().program().components());
    for (std::int32_t n : block.connectivity()) m.components[n] = std::max(m.components[n], components);
  }
}

/// Members that do not exist were noted when the deck was read.
void add_sets(Build& b, Model& m) {
  std::vector<Id> there;
  for (const auto& [name, members] : b.deck.node_sets) {
    there.clear();
    for (Id id : members)
      if (b.node_index.find(id) >= 0) there.push_back(id);
    if (!there.empty()) m.domain->add_node_set(name, there);
  }
  for (const auto& [name, members] : b.deck.element_sets) {
    there.clear();
    for (Id id : members)
      if (const std::int64_t e = b.element_index.find(id); e >= 0 && m.ref[e].block >= 0) there.push_back(id);
    if (!there.empty()) m.domain->add_element_set(name, there);
  }
}

/// Faces that *SURFACE cards mean in a model.
class SurfaceMaker {
 public:
  SurfaceMaker(Build& build, const Model& model) : b_(build), m_(model) {}

  std::vector<FaceRef> faces_of(const SurfaceCard& surface) {
    std::vector<FaceRef> faces;
    for (const SurfaceEntry& entry : surface.faces)
      for (const std::size_t e : b_.elements_of({entry.set, entry.element}, entry.place)) {
        const ElementRef ref = m_.ref[e];
        if (ref.block < 0) continue;
        if (entry.label.empty())
          add_free_faces(ref, faces);
        else
          faces.push_back({ref.block, ref.element, face_of(b_, m_, e, entry.label, entry.place)});
      }
    return faces;
  }

 private:
  /// Faces of an element that no other element shares. Those of the body are found once, for all surfaces.
  void add_free_faces(const ElementRef& ref, std::vector<FaceRef>& faces) {
    if (!boundary_) boundary_ = detail::boundary_faces(*m_.domain);
    const auto before = [](const FaceRef& face, const ElementRef& element) {
      return std::tie(face.block, face.element) < std::tie(element.block, element.element);
    };
    auto face = std::lower_bound(boundary_->begin(), boundary_->end(), ref, before);
    for (; face != boundary_->end() && face->block == ref.block && face->element == ref.element; ++face)
      faces.push_back(*face);
  }

  Build& b_;
  const Model& m_;
  std::optional<std::vector<FaceRef>> boundary_;
};

void add_surfaces(Build& b, Model& m) {
  SurfaceMaker maker(b, m);
  for (const auto& [name, surface] : b.deck.surfaces)
    if (const auto faces = maker.faces_of(surface); !faces.empty()) m.domain->add_surface(name, faces);
}

/// Which models the steps of a deck need, in the order in which they are first used.
std::vector<Physics> physics_of(const Build& b) {
  std::vector<Physics> needed;
  for (const StepCard& step : b.deck.steps) {
    if (!step.procedure)
      b.fail("the step has no procedure; add *STATIC or *HEAT TRANSFER, STEADY STATE, or *FREQUENCY", step.place);
    const Physics p = is_heat(*step.procedure) ? Physics::heat : Physics::structure;
    if (std::find(needed.begin(), needed.end(), p) == needed.end()) needed.push_back(p);
  }
  if (!needed.empty()) return needed;
  // Without steps, what the elements and materials can do decides.
  const bool structural = std::any_of(b.meaning.begin(), b.meaning.end(), [](auto* m) { return !m->calculix.empty(); });
  bool elastic = b.deck.materials.empty(), conducts = false;
  for (const auto& [name, material] : b.deck.materials) {
    elastic = elastic || material.elastic;
    conducts = conducts || material.conductivity;
  }
  return {structural && (elastic || !conducts) ? Physics::structure : Physics::heat};
}

void check_parts(Build& b, Physics physics) {
  bool any = false;
  for (std::size_t c = 0; c < b.meaning.size(); ++c) {
    const ElementCard& card = b.deck.elements[c];
    if (!type_in(b, physics, *b.meaning[c]).empty()) {
      any = any || !is_discrete(b.meaning[c]->family) || physics == Physics::structure;
      if (physics == Physics::heat && (card.type == "C3D8R" || card.type.ends_with("4R")))
        b.note(card.type +
                   " elements use full integration for heat conduction, since a single point does not capture all "
                   "gradients",
               card.place);
    } else if (physics == Physics::heat && !is_discrete(b.meaning[c]->family)) {
      b.fail("elements of type " + card.type + " do not conduct heat; use solid, plane or axisymmetric elements",
             card.place);
    } else if (physics == Physics::structure && b.meaning[c]->family != Family::coupling) {
      b.note("elements of type " + card.type + " only conduct heat and are ignored in *STATIC steps", card.place);
    }
  }
  if (any) return;
  b.fail(physics == Physics::structure
             ? "the deck has a *STATIC step, but no structural element: its elements only conduct heat"
             : "the deck has a *HEAT TRANSFER step, but no element that conducts heat",
         b.deck.steps.empty() ? b.deck.elements.front().place : b.deck.steps.front().place);
}

}  // namespace

int face_of(const Build& b, const Model& m, std::size_t element, std::string_view label, Place place) {
  const ElementRef ref = m.ref[element];
  const std::string& shape = m.domain->block(ref.block).type().shape();
  int faces = 0;
  if (!shape.empty())
    for (const ShapeFace& f : shape_topology(shape).faces) faces += f.shape.empty() ? 0 : 1;
  const std::string letter(label.substr(0, 1));
  if (label.size() == 2 && label[1] >= '1' && label[1] <= '0' + faces) return label[1] - '1';
  std::string text = b.element_label(element) + " has no face '" + std::string(label) + "'; ";
  text += faces == 0 ? "elements of its type have no faces, so only nodes can be loaded"
                     : "its faces are " + letter + "1 to " + letter + std::to_string(faces);
  b.fail(text, place);
}

void build_models(Build& b) {
  const auto needed = physics_of(b);
  for (Physics physics : needed) check_parts(b, physics);
  for (Physics physics : needed) {
    b.job.domains.push_back(std::make_unique<Domain>());
    Model m;
    m.physics = physics;
    m.index = b.models.size();
    m.domain = b.job.domains.back().get();
    m.domain->add_nodes(b.node_ids, b.coordinates);
    m.ref.assign(b.card_first.back(), {-1, -1});
    m.components.assign(b.node_ids.size(), 0);
    m.domain->set_initial_temperature(b.initial_temperature);
    for (std::size_t n = 0; n < b.initial_temperatures.size(); ++n)
      m.domain->set_initial_temperature_at(b.node_ids[n], b.initial_temperatures[n]);
    add_blocks(b, m);
    b.models.push_back(std::move(m));
    add_sets(b, b.models.back());
    add_surfaces(b, b.models.back());
  }
}

}  // namespace voussoir::deck
