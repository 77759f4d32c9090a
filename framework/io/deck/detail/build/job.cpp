#include <algorithm>
#include <filesystem>

#include <voussoir/framework/io/deck/detail/build/build.hpp>
#include <voussoir/framework/io/deck/detail/parse/card.hpp>

namespace voussoir::deck {

std::string suggestion(std::string_view wrong, std::vector<std::string> names) {
  if (names.empty()) return "; there is none";
  if (std::string meant = did_you_mean(wrong, names); !meant.empty()) return meant;
  std::sort(names.begin(), names.end());
  std::string text = "; there are ";
  for (std::size_t i = 0; i < names.size() && i < 12; ++i) text += (i ? ", " : "") + names[i];
  return names.size() > 12 ? text + ", …" : text;
}

const std::string& unknown_name(Physics physics, int component) {
  static const std::string displacements[] = {"ux", "uy", "uz", "rx", "ry", "rz"};
  static const std::string temperature = "T";
  return physics == Physics::heat ? temperature : displacements[component];
}

void Build::note(const std::string& text, Place place) {
  if (!noted.insert(text).second) return;
  job.notes.push_back({deck.where(place), text});
}

Model* Build::model(Physics physics) {
  for (Model& m : models)
    if (m.physics == physics) return &m;
  return nullptr;
}

std::size_t Build::card_of(std::size_t element) const {
  return std::upper_bound(card_first.begin(), card_first.end(), element) - card_first.begin() - 1;
}

Place Build::element_place(std::size_t element) const {
  const std::size_t card = card_of(element);
  const ElementCard& c = deck.elements[card];
  const std::size_t at = element - card_first[card];
  return {c.place.file, at < c.lines.size() ? c.lines[at] : c.place.line};
}

std::string Build::element_label(std::size_t element) const {
  return "element " + deck.instances.element(element_id(element)) + " (" + deck.elements[card_of(element)].type + ", " +
         deck.where(element_place(element)) + ")";
}

std::span<const std::int32_t> Build::nodes_of_set(const std::string& set, Place place) {
  auto it = node_set_cache.find(set);
  if (it == node_set_cache.end()) {
    const auto found = deck.node_sets.find(set);
    if (found == deck.node_sets.end())
      fail(ErrorCode::not_found, "there is no node set '" + set + "'" + suggestion_from(set, deck.node_sets), place);
    std::vector<std::int32_t> members;
    members.reserve(found->second.size());
    for (Id id : found->second)
      if (const std::int64_t n = node_index.find(id); n >= 0) members.push_back(static_cast<std::int32_t>(n));
    it = node_set_cache.emplace(set, std::move(members)).first;
  }
  if (it->second.empty())
    fail("node set '" + set + "' is empty, so it would have no effect; fill it or leave the line out", place);
  return it->second;
}

std::vector<std::int32_t> Build::nodes_of(const Target& target, Place place) {
  if (!target.set.empty()) {
    const auto set = nodes_of_set(target.set, place);
    return {set.begin(), set.end()};
  }
  const std::int64_t n = node_index.find(target.id);
  if (n < 0) fail(ErrorCode::not_found, "there is no node " + deck.instances.node(target.id), place);
  return {static_cast<std::int32_t>(n)};
}

std::vector<std::size_t> Build::elements_of(const Target& target, Place place) {
  std::vector<std::size_t> members;
  if (target.set.empty()) {
    const std::int64_t e = element_index.find(target.id);
    if (e < 0) fail(ErrorCode::not_found, "there is no element " + deck.instances.element(target.id), place);
    members.push_back(static_cast<std::size_t>(e));
    return members;
  }
  const auto found = deck.element_sets.find(target.set);
  if (found == deck.element_sets.end())
    fail(ErrorCode::not_found,
         "there is no element set '" + target.set + "'" + suggestion_from(target.set, deck.element_sets), place);
  members.reserve(found->second.size());
  for (Id id : found->second)
    if (const std::int64_t e = element_index.find(id); e >= 0) members.push_back(static_cast<std::size_t>(e));
  if (members.empty())
    fail("element set '" + target.set + "' is empty, so it would have no effect; fill it or leave the line out", place);
  return members;
}

Orientation::Axes Build::axes(std::int32_t node) const {
  const Orientation& system = job.node_axes.systems[job.node_axes.system_of[node]];
  const double* x = &coordinates[3 * static_cast<std::size_t>(node)];
  return system.at({x[0], x[1], x[2]});
}

Unknown Build::unknown(const Model& m, std::int32_t node, int dof) const {
  if (m.physics == Physics::heat) return m.components[node] > 0 ? Unknown{node, 0} : Unknown{};
  if (const auto alias = aliases.find({node, dof}); alias != aliases.end()) return alias->second;
  if (dof < 1 || dof > m.components[node]) return {};
  if (planar && m.components[node] == 6 && dof >= 3 && dof <= 5) return {};  // out of the plane
  if (const auto named = m.named.find(node); named != m.named.end() && !(named->second >> (dof - 1) & 1u)) return {};
  return {node, dof - 1};
}

namespace {

/// Gives a deck of nodes and elements alone a section for all of them. Beams, springs and masses have no shape to look
/// at, and are left out.
void make_mesh_only(Build& b) {
  std::size_t left_out = 0;
  Place place;
  std::erase_if(b.deck.elements, [&](const ElementCard& card) {
    const ElementMeaning* meaning = find_meaning(card.type);
    if (!meaning || meaning->family == Family::solid || is_plane(meaning->family) || meaning->family == Family::truss)
      return false;
    if (left_out == 0) place = card.place;
    left_out += card.ids.size();
    return true;
  });
  if (left_out > 0)
    b.note("without sections, beams, springs and masses are not checked: " + std::to_string(left_out) +
               (left_out == 1 ? " element is" : " elements are") + " ignored",
           place);
  const std::string name = "NONE";
  Property ones;
  ones.rows = {{0, {1}}};
  Property elastic;
  elastic.rows = {{0, {1, 0}}};
  MaterialCard material;
  material.elastic = elastic;
  material.conductivity = ones;
  b.deck.materials = {};
  b.deck.materials[name] = material;
  SectionCard section;
  section.set = "MESH";
  section.material = name;
  section.values = {1};
  b.deck.sections = {section};
  b.job.mesh_only = true;
}

/// In CalculiX, *RESTART, WRITE, FREQUENCY= counts steps; in Abaqus increments, and every end of a step is written.
void set_restarts(Build& b) {
  if (const auto& card = b.deck.restart) {
    RestartStart start{card->file, b.deck.where(card->place), card->job, card->point.bytes, card->point.job_steps};
    b.job.restart = std::make_shared<const RestartStart>(std::move(start));
    if (b.deck.steps.size() == card->point.job_steps)
      b.fail("there is no new step after those that *RESTART, READ has read: add a *STEP", card->place);
  }
  Place last;
  int since = 0;
  for (std::size_t i = 0; i < b.deck.steps.size(); ++i) {
    const StepCard::Restart& asked = b.deck.steps[i].restart;
    const bool ends = i + 1 == b.deck.steps.size() || !b.deck.steps[i + 1].stress_of_heat;
    if (asked.every == 0 || !ends) continue;
    if (asked.place.file != last.file || asked.place.line != last.line) since = 0;
    last = asked.place;
    const int every = b.options.dialect == Dialect::abaqus ? 1 : asked.every;
    if (++since < every) continue;
    since = 0;
    if (std::any_of(b.job.steps.begin(), b.job.steps.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    [](const JobStep& step) { return uses_modes(step.procedure); })) {
      b.note("*RESTART, WRITE: states after steps of modes are not written, since *RESTART, READ cannot continue them",
             asked.place);
      continue;
    }
    b.job.steps[i].restart = asked.overlay ? RestartWrite::alone : RestartWrite::added;
  }
}

}  // namespace

Job build_job(Deck deck, const DeckOptions& options) {
  Build build;
  build.deck = std::move(deck);
  build.options = options;
  Job& job = build.job;
  job.title = build.deck.title;
  if (!build.deck.files.empty()) {
    job.source = build.deck.files.front();
    job.name = std::filesystem::path(job.source).stem().string();
  }
  job.notes = std::move(build.deck.notes);
  job.instances = build.deck.instances;
  job.checkpoints.every_increments = build.deck.checkpoint_every;
  const std::string_view dialect = options.dialect == Dialect::abaqus ? "abaqus" : "calculix";
  if (build.deck.restart && build.deck.restart->dialect != dialect)
    build.fail("the job that is continued was read with --dialect " + build.deck.restart->dialect +
                   ": read this deck with the same one",
               build.deck.restart->place);
  job.restart_deck = {std::move(build.deck.texts), std::string(dialect)};
  if (build.deck.assembled && options.dialect != Dialect::abaqus) {
    build.options.dialect = Dialect::abaqus;
    job.notes.push_back(
        {job.source, "the deck has parts, which CalculiX does not support: names have Abaqus's meaning"});
  }
  const bool complete = !build.deck.sections.empty() || !build.deck.steps.empty() || build.deck.elements.empty();
  if (options.allow_mesh_only && !complete) make_mesh_only(build);
  build_mesh(build);
  build_models(build);
  build_constraints(build);
  build_steps(build);
  set_restarts(build);
  return std::move(build.job);
}

}  // namespace voussoir::deck
