#include <algorithm>
#include <array>

#include <voussoir/framework/io/deck/detail/parse/frd_temperatures.hpp>
#include <voussoir/framework/io/deck/detail/parse/parser.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>

// Supports, loads, temperatures and how they change with time.

namespace voussoir::deck {
namespace {

/// Abaqus's names for what is held at once.
struct NamedSupport {
  std::string_view name;
  std::array<int, 6> dofs;  // 0: no more
};
constexpr NamedSupport named_supports[] = {
    {"ENCASTRE", {1, 2, 3, 4, 5, 6}},
    {"PINNED", {1, 2, 3}},
    {"XSYMM", {1, 5, 6}},
    {"YSYMM", {2, 4, 6}},
    {"ZSYMM", {3, 4, 5}},
    {"XASYMM", {2, 3, 4}},
    {"YASYMM", {1, 3, 5}},
    {"ZASYMM", {1, 2, 6}},
};

/// "S2" for the face that "P2", "P2NP", "S2", "F2" or "R2" acts on; empty where a load acts on no face.
std::string face_of_label(std::string_view label) {
  const bool has_face = (label.size() == 2 || (label.size() == 4 && label.ends_with("NP"))) && label[1] >= '1' &&
                        label[1] <= '6' && std::string_view("PSFR").find(label[0]) != std::string_view::npos;
  return has_face ? "S" + std::string(label.substr(1, 1)) : std::string();
}

}  // namespace

/// What all cards that act have in common.
Action Parser::action(Card& card) {
  Action action;
  action.place = card.place();
  action.op_new = card.choice("OP", {"MOD", "NEW"}) == "NEW";
  action.amplitude = card.value("AMPLITUDE");
  if (!action.amplitude.empty()) refer(Kind::amplitude, action.amplitude, card.place());
  card.refuse("TIME DELAY", "shift the times of the *AMPLITUDE");
  card.refuse("USER", "give the values");
  card.refuse("SUBMODEL", "results of a global model cannot be read");
  if (card.key() != "TEMPERATURE") card.refuse("FILE", "results of another analysis cannot be read");
  card.refuse("SECTOR", "model the whole body");
  card.refuse("REGION TYPE", "only Lagrangian meshes are supported");
  const double part = card.number("LOAD CASE", 1);
  if (part != 1 && part != 2)
    card.fail(ErrorCode::bad_input, card.name() + ", LOAD CASE is 1 (real part) or 2 (imaginary part)");
  action.imaginary = part == 2;
  return action;
}

void Parser::add(Action action) { (in_step_ ? step().actions : deck_.actions).push_back(std::move(action)); }

void Parser::read_boundary(Card& card) {
  Action result = action(card);
  BoundaryCard boundary;
  boundary.fixed = card.flag("FIXED");
  card.choice("TYPE", {"DISPLACEMENT"}, 4);
  card.refuse("MASS FLOW", "fluids are not implemented");
  card.refuse("PRESSURE", "fluids are not implemented");
  card.refuse("TEMPERATURE", "give the degree of freedom 11");
  card.done();
  if (boundary.fixed && !in_step_) card.fail(ErrorCode::bad_input, "*BOUNDARY, FIXED must be inside a step");
  while (next_fields()) {
    if (fields_.empty()) continue;
    const Place place = lines_.place();
    const Target node = target(field(0), Kind::node_set);
    const std::string word = squeezed(field(1));
    if (!word.empty() && word[0] >= 'A' && word[0] <= 'Z') {
      const auto* const named = std::find_if(std::begin(named_supports), std::end(named_supports),
                                             [&](const NamedSupport& support) { return support.name == word; });
      if (named == std::end(named_supports)) {
        std::vector<std::string> names;
        for (const NamedSupport& support : named_supports) names.emplace_back(support.name);
        const std::string meant = did_you_mean(word, names);
        fail_unsupported("*BOUNDARY: " + in_quotes(field(1)) + " is not supported" +
                             (meant.empty() ? "; give degrees of freedom, or ENCASTRE, PINNED, XSYMM, …" : meant),
                         place, ErrorCode::not_found);
      }
      at_most(2, card, "node or set, ENCASTRE");
      for (const int dof : named->dofs)
        if (dof > 0) boundary.entries.push_back({node, dof, dof, 0, place});
      continue;
    }
    at_most(4, card, "node or set, first degree of freedom, last one, value");
    const int first = degree_of_freedom(field(1));
    const int last = field(2).empty() ? first : degree_of_freedom(field(2));
    if (last < first || (first <= 6) != (last <= 6))
      fail("degrees of freedom " + std::to_string(first) + " to " + std::to_string(last) + " are not a range");
    boundary.entries.push_back({node, first, last, real_or(field(3), 0, "value of a support"), place});
  }
  result.card = std::move(boundary);
  add(std::move(result));
}

void Parser::read_nodal_load(Card& card, bool heat) {
  Action result = action(card);
  card.refuse("OMEGA0", "loads cannot depend on frequency");
  card.refuse("FOLLOWER", "directions do not change in a linear step");
  card.done();
  NodalLoadCard load;
  load.heat = heat;
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(3, card, heat ? "node or set, 11, flux" : "node or set, degree of freedom, force");
    const Target node = target(field(0), Kind::node_set);
    int dof = 11;
    if (heat) {
      if (!field(1).empty() && degree_of_freedom(field(1)) != 11)
        fail("*CFLUX acts on degree of freedom 11, the temperature, not on " + in_quotes(field(1)));
    } else {
      dof = degree_of_freedom(field(1));
      if (dof == 11) fail("*CLOAD acts on degrees of freedom 1 to 6; use *CFLUX for a heat flow");
    }
    load.entries.push_back({node, dof, real(field(2), heat ? "flux" : "force"), lines_.place()});
  }
  result.card = std::move(load);
  add(std::move(result));
}

void Parser::read_cload(Card& card) { read_nodal_load(card, false); }
void Parser::read_cflux(Card& card) { read_nodal_load(card, true); }

/// A set of all elements. Names of decks have no blanks, so it cannot be one of theirs.
std::string Parser::whole_model() {
  all_elements_ = true;
  return "ALL ELEMENTS";
}

void Parser::check_label(const Card& card, std::string_view label, Place place) const {
  if (label.empty()) fail(card.name() + ": the load type is missing", place);
  // PxNUy: y tells several apart.
  if (label.size() > 3 && (label.substr(2, 2) == "NU" || label.substr(1, 2) == "NU" || label.ends_with("NU")))
    fail_unsupported(
        card.name() + ": the load " + in_quotes(label) + " is not supported yet: it needs a user subroutine", place);
  if (label == "NEWTON")
    fail_unsupported(card.name() + ": the load 'NEWTON' is not supported yet: gravitation between parts of the model " +
                         "is not implemented; GRAV is a weight in one direction",
                     place);
  if (label.size() > 2 && label.ends_with("FC"))
    fail_unsupported(card.name() + ": the load " + in_quotes(label) + " is not supported: fluid networks are not",
                     place);
}

/// Whether a line that may name elements names a surface: its label has no face, and its first field is no number and
/// no element set of before.
bool Parser::names_surface(std::string_view name, std::string_view label, std::string_view whole) const {
  Id id = 0;
  if (label != whole || name.empty() || read_integer(name, id) == NumberFault::none) return false;
  const std::string scoped_name = scoped(name_of(name, "surface"));
  return exists(Kind::surface, scoped_name) || !exists(Kind::element_set, scoped_name);
}

void Parser::read_element_load(Card& card, bool heat) {
  Action result = action(card);
  card.done();
  ElementLoadCard load;
  SurfaceLoadCard on_surfaces;
  load.heat = on_surfaces.heat = heat;
  while (next_fields()) {
    if (fields_.empty()) continue;
    ElementLoadCard::Entry entry;
    entry.place = lines_.place();
    entry.label = squeezed(field(1));
    check_label(card, entry.label, entry.place);
    if (names_surface(field(0), entry.label, heat ? "S" : "P")) {
      on_surfaces.entries.push_back(surface_load(card, heat));
      continue;
    }
    // Abaqus: weight without a target acts on everything.
    entry.element =
        field(0).empty() ? Target{whole_model(), 0} : target(field(0), Kind::element_set, face_of_label(entry.label));
    const std::size_t most = entry.label == "GRAV" ? 4 : entry.label == "CENTRIF" ? 7 : 1;
    at_most(2 + most, card,
            entry.label == "GRAV"      ? "element or set, GRAV, magnitude, direction x, y, z"
            : entry.label == "CENTRIF" ? "element or set, CENTRIF, square of the angular speed, point x, y, z of the "
                                         "axis, direction x, y, z of the axis"
                                       : "element or set, kind, value");
    if (fields_.size() < 3) fail(card.name() + ", " + entry.label + ": the value is missing");
    const bool network = !heat && entry.label.size() == 4 && entry.label.ends_with("NP");
    if (network) entry.network_node = numbered(field(2), Kind::node_set, "node of a network").value_or(0);
    if (network && entry.network_node == 0) fail("*DLOAD, " + entry.label + " needs the number of a node");
    for (std::size_t i = 2; i < 2 + most && !network; ++i)
      entry.values.push_back(real_or(field(i), 0, "value of a load"));
    load.entries.push_back(std::move(entry));
  }
  if (on_surfaces.entries.empty()) {
    result.card = std::move(load);
    return add(std::move(result));
  }
  if (!load.entries.empty()) {
    Action elements = result;
    elements.card = std::move(load);
    add(std::move(elements));
  }
  result.card = std::move(on_surfaces);
  add(std::move(result));
}

void Parser::read_dload(Card& card) { read_element_load(card, false); }
void Parser::read_dflux(Card& card) { read_element_load(card, true); }

/// A line "surface, P, pressure" or "surface, S, flux".
SurfaceLoadCard::Entry Parser::surface_load(const Card& card, bool heat) {
  SurfaceLoadCard::Entry entry;
  entry.place = lines_.place();
  entry.surface = scoped(name_of(field(0), "surface"));
  refer(Kind::surface, entry.surface, entry.place);
  entry.label = squeezed(field(1));
  check_label(card, entry.label, entry.place);
  if (entry.label != (heat ? "S" : "P"))
    fail_unsupported(card.name() + ": the load " + in_quotes(entry.label) + " is not supported yet: there is " +
                         (heat ? "S, a flux" : "P, a pressure"),
                     entry.place, ErrorCode::not_found);
  at_most(3, card, heat ? "surface, S, flux" : "surface, P, pressure");
  entry.values.push_back(real(field(2), heat ? "flux" : "pressure"));
  return entry;
}

void Parser::read_surface_load(Card& card, bool heat) {
  Action result = action(card);
  card.refuse("FOLLOWER", "directions do not change in a linear step");
  card.refuse("CONSTANT RESULTANT", "areas do not change in a linear step");
  card.done();
  SurfaceLoadCard load;
  load.heat = heat;
  while (next_fields())
    if (!fields_.empty()) load.entries.push_back(surface_load(card, heat));
  result.card = std::move(load);
  add(std::move(result));
}

void Parser::read_dsload(Card& card) { read_surface_load(card, false); }
void Parser::read_dsflux(Card& card) { read_surface_load(card, true); }

/// Films and radiation: what a face gives to its surroundings.
void Parser::read_films(Card& card, bool on_surfaces, bool radiation) {
  Action result = action(card);
  const std::string kind = radiation ? "RADIATION" : "FILM";
  FilmCard films;
  films.radiation = radiation;
  films.coefficient_amplitude = card.value(kind + " AMPLITUDE");
  if (!films.coefficient_amplitude.empty()) refer(Kind::amplitude, films.coefficient_amplitude, card.place());
  card.refuse(kind + " TIME DELAY", "shift the times of the *AMPLITUDE");
  if (radiation) {
    card.refuse("CAVITY", "radiation between faces is not implemented, only to ambient");
    card.refuse("ENVNODE", "give the ambient temperature");
  }
  card.done();
  const std::string letter = radiation ? "R" : "F", what = radiation ? "emissivity" : "coefficient";
  while (next_fields()) {
    if (fields_.empty()) continue;
    FilmCard::Entry entry;
    entry.place = lines_.place();
    entry.label = squeezed(field(1));
    check_label(card, entry.label, entry.place);
    if (radiation && entry.label.ends_with("CR"))
      fail("*RADIATE: " + in_quotes(entry.label) + " is radiation between faces, which is not implemented");
    if (entry.label[0] != letter[0] || entry.label.size() > 2)
      fail(card.name() + ": " + in_quotes(entry.label) + (radiation ? " is not a radiation load" : " is not a film") +
           ": use " + letter + (on_surfaces ? "" : "1 to " + letter + "6"));
    if (on_surfaces || names_surface(field(0), entry.label, letter)) {
      entry.surface = scoped(name_of(field(0), "surface"));
      refer(Kind::surface, entry.surface, entry.place);
    } else {
      entry.element = target(field(0), Kind::element_set, face_of_label(squeezed(field(1))));
    }
    at_most(4, card,
            (on_surfaces ? "surface, " + letter : "element or set, " + letter + "1") + ", sink temperature, " + what);
    entry.sink = real_or(field(2), 0, "sink temperature");
    entry.film = radiation && field(3).empty() ? 1 : real(field(3), radiation ? "emissivity" : "film coefficient");
    films.entries.push_back(std::move(entry));
  }
  result.card = std::move(films);
  add(std::move(result));
}

void Parser::read_film(Card& card) { read_films(card, false, false); }
void Parser::read_sfilm(Card& card) { read_films(card, true, false); }
void Parser::read_radiate(Card& card) { read_films(card, false, true); }
void Parser::read_sradiate(Card& card) { read_films(card, true, true); }

/// Temperatures of a result file of CalculiX, at the nodes that this deck has too.
void Parser::read_temperature_file(const Card& card, const std::string& name, std::optional<int> step,
                                   TemperatureCard& temperatures) {
  std::filesystem::path path{name};
  if (!path.has_extension()) path += ".frd";
  if (path.is_relative()) {
    if (lines_.folder().empty())
      card.fail(ErrorCode::bad_input,
                card.name() + ", FILE=" + in_quotes(name) + " has no folder to search: this deck is text in memory");
    path = lines_.folder() / path;
  }
  const std::string ending = squeezed(path.extension().string());
  if (ending != ".FRD")
    card.fail(ErrorCode::bad_input, card.name() + ", FILE=" + in_quotes(name) +
                                        ": only result files of CalculiX (.frd) can be read; give the temperatures in "
                                        "lines, or by a *HEAT TRANSFER step of this deck");
  std::error_code ignored;
  if (!lines_.in_kept() && !std::filesystem::is_regular_file(path, ignored))
    card.fail(ErrorCode::io, card.name() + ": there is no file '" + path.string() + "'");
  const DeckFile file = lines_.read_file(path);
  for (const auto& [node, value] : frd_temperatures(file.text, step, path.string()))
    temperatures.entries.push_back({Target{{}, node}, value, card.place()});
  temperatures.from_file = true;
}

void Parser::read_temperature(Card& card) {
  const std::string file = card.verbatim("FILE");
  const double step = card.number("BSTEP", 0);
  Action result = action(card);
  for (const std::string_view other : {"STEP", "BINC", "ESTEP", "EINC", "INTERPOLATE", "DRIVING ELSETS"})
    card.refuse(other, "temperatures of a file are those of the last increment of a step (FILE=, BSTEP=)");
  card.done();
  TemperatureCard temperatures;
  if (file.empty() && step != 0) card.fail(ErrorCode::bad_input, "*TEMPERATURE, BSTEP= needs FILE=");
  if (step != 0 && !(step >= 1 && step < 1e9 && step == static_cast<int>(step)))
    card.fail(ErrorCode::bad_input, "*TEMPERATURE, BSTEP is the number of a step");
  if (!file.empty())
    read_temperature_file(card, file, step == 0 ? std::nullopt : std::optional<int>(static_cast<int>(step)),
                          temperatures);
  while (next_fields()) {
    if (fields_.empty()) continue;
    const Target node = target(field(0), Kind::node_set);
    for (std::size_t i = 2; i < fields_.size(); ++i)
      if (real_or(fields_[i], 0, "temperature gradient") != 0)
        fail_unsupported(
            "*TEMPERATURE: gradients through a section are not supported yet: give one temperature for each node");
    temperatures.entries.push_back({node, real(field(1), "temperature"), lines_.place()});
  }
  result.card = std::move(temperatures);
  add(std::move(result));
}

void Parser::read_initial_conditions(Card& card) {
  const std::string type = squeezed(card.required("TYPE", "*INITIAL CONDITIONS, TYPE=TEMPERATURE"));
  card.refuse("USER", "give the values");
  card.refuse("FILE", "results of another analysis cannot be read");
  if (type == "VELOCITY" || type == "DISPLACEMENT") return read_initial_motion(card, type == "VELOCITY");
  if (type != "TEMPERATURE")
    card.fail_unsupported(ErrorCode::bad_input,
                          "*INITIAL CONDITIONS, TYPE=" + in_quotes(type) +
                              " is not supported yet; there are TEMPERATURE, DISPLACEMENT and VELOCITY");
  card.done();
  TemperatureCard temperatures;
  while (next_fields()) {
    if (fields_.empty()) continue;
    const Target node = target(field(0), Kind::node_set);
    for (std::size_t i = 2; i < fields_.size(); ++i)
      if (real_or(fields_[i], 0, "temperature gradient") != 0)
        fail_unsupported(
            "*INITIAL CONDITIONS: gradients through a section are not supported yet: give one temperature for each "
            "node");
    temperatures.entries.push_back({node, real(field(1), "temperature"), lines_.place()});
  }
  deck_.initial_temperatures.push_back(std::move(temperatures));
}

void Parser::read_initial_motion(Card& card, bool velocity) {
  card.done();
  InitialMotionCard motion;
  motion.velocity = velocity;
  while (next_fields()) {
    if (fields_.empty()) continue;
    at_most(3, card, "node or set, degree of freedom, value");
    const Target node = target(field(0), Kind::node_set);
    const int dof = degree_of_freedom(field(1));
    if (dof > 6) fail("*INITIAL CONDITIONS: a displacement or velocity has degrees of freedom 1 to 6");
    motion.entries.push_back({node, dof, real(field(2), velocity ? "velocity" : "displacement"), lines_.place()});
  }
  deck_.initial_motions.push_back(std::move(motion));
}

void Parser::read_amplitude(Card& card) {
  const std::string name = card.required("NAME", "*AMPLITUDE, NAME=RAMP");
  AmplitudeCard amplitude;
  std::vector<Amplitude::Point> points;
  amplitude.place = card.place();
  amplitude.total_time = card.choice("TIME", {"STEP TIME", "TOTAL TIME"}) == "TOTAL TIME";
  card.choice("DEFINITION", {"TABULAR"});
  if (card.choice("VALUE", {"RELATIVE", "ABSOLUTE"}) == "ABSOLUTE")
    card.fail_unsupported(ErrorCode::bad_input,
                          "*AMPLITUDE, VALUE=ABSOLUTE is not supported: values are factors of those of the load. Omit "
                          "VALUE, and write the value 1 on the data lines that refer to this amplitude");
  const double shift_time = card.number("SHIFTX", 0), shift_value = card.number("SHIFTY", 0);
  card.refuse("USER", "give a table");
  if (card.number("SMOOTH", 0) != 0)
    card.fail_unsupported(ErrorCode::bad_input, "*AMPLITUDE, SMOOTH is not supported yet: give more points");
  card.done();
  if (const auto old = deck_.amplitudes.find(name); old != deck_.amplitudes.end())
    card.fail(ErrorCode::bad_input, "the amplitude " + in_quotes(name) +
                                        " is defined twice; the first definition is at " +
                                        deck_.where(old->second.place));
  while (next_fields()) {
    for (std::size_t i = 0; i < fields_.size(); i += 2) {
      const double time = real(fields_[i], "time") + shift_time;
      if (i + 1 == fields_.size()) fail("*AMPLITUDE: the value at the time " + in_quotes(fields_[i]) + " is missing");
      if (!points.empty() && time < points.back().first)
        fail("*AMPLITUDE: times must increase; " + in_quotes(fields_[i]) + " is before the previous time");
      points.emplace_back(time, real(fields_[i + 1], "value of an amplitude") + shift_value);
    }
  }
  if (points.empty()) card.fail(ErrorCode::bad_input, "*AMPLITUDE needs a data line: time, value, time, value, …");
  try {
    amplitude.curve = Amplitude(std::move(points), "amplitude " + in_quotes(name));
  } catch (const Error& error) {
    card.fail(error.code(), error.what());
  }
  deck_.amplitudes.emplace(name, std::move(amplitude));
}

}  // namespace voussoir::deck
