#include <algorithm>
#include <unordered_map>
#include <utility>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

namespace voussoir::deck {
namespace {

/// Where a card is allowed.
enum class Where { model, step, both, anywhere };

struct CardRule {
  std::string_view name;
  Where where;
  void (Parser::*read)(Card&);
};

/// The cards that are read. Cards that are known but not read are in unread_cards.cpp.
constexpr CardRule rules[] = {
    {"HEADING", Where::anywhere, &Parser::read_heading},
    {"NODE", Where::model, &Parser::read_node},
    {"ELEMENT", Where::model, &Parser::read_element},
    {"NSET", Where::anywhere, &Parser::read_node_set},
    {"ELSET", Where::anywhere, &Parser::read_element_set},
    {"SURFACE", Where::model, &Parser::read_surface},
    {"NGEN", Where::model, &Parser::read_ngen},
    {"NFILL", Where::model, &Parser::read_nfill},
    {"NCOPY", Where::model, &Parser::read_ncopy},
    {"NMAP", Where::model, &Parser::read_nmap},
    {"ELGEN", Where::model, &Parser::read_elgen},
    {"ELCOPY", Where::model, &Parser::read_elcopy},
    {"PARAMETER", Where::anywhere, &Parser::read_parameter},
    {"PART", Where::model, &Parser::read_part},
    {"END PART", Where::model, &Parser::read_end_part},
    {"ASSEMBLY", Where::model, &Parser::read_assembly},
    {"INSTANCE", Where::model, &Parser::read_instance},
    {"END INSTANCE", Where::model, &Parser::read_end},
    {"END ASSEMBLY", Where::model, &Parser::read_end},
    {"MATERIAL", Where::model, &Parser::read_material},
    {"ELASTIC", Where::model, &Parser::read_elastic},
    {"DENSITY", Where::model, &Parser::read_density},
    {"PLASTIC", Where::model, &Parser::read_plastic},
    {"EXPANSION", Where::model, &Parser::read_expansion},
    {"CONDUCTIVITY", Where::model, &Parser::read_conductivity},
    {"SPECIFIC HEAT", Where::model, &Parser::read_specific_heat},
    {"DAMPING", Where::anywhere, &Parser::read_damping},
    {"PHYSICAL CONSTANTS", Where::model, &Parser::read_physical_constants},
    {"SOLID SECTION", Where::model, &Parser::read_solid_section},
    {"BEAM SECTION", Where::model, &Parser::read_beam_section},
    {"BEAM GENERAL SECTION", Where::model, &Parser::read_beam_general_section},
    {"SPRING", Where::model, &Parser::read_spring},
    {"MASS", Where::model, &Parser::read_mass},
    {"ORIENTATION", Where::model, &Parser::read_orientation},
    {"TRANSFORM", Where::model, &Parser::read_transform},
    {"EQUATION", Where::model, &Parser::read_equation},
    {"RIGID BODY", Where::model, &Parser::read_rigid_body},
    {"COUPLING", Where::model, &Parser::read_coupling},
    {"KINEMATIC", Where::model, &Parser::read_kinematic},
    {"DISTRIBUTING", Where::model, &Parser::read_distributing},
    {"KINEMATIC COUPLING", Where::model, &Parser::read_kinematic_coupling},
    {"DISTRIBUTING COUPLING", Where::model, &Parser::read_distributing_coupling},
    {"TIE", Where::model, &Parser::read_tie},
    {"INITIAL CONDITIONS", Where::model, &Parser::read_initial_conditions},
    {"AMPLITUDE", Where::anywhere, &Parser::read_amplitude},
    {"BOUNDARY", Where::both, &Parser::read_boundary},
    {"CLOAD", Where::step, &Parser::read_cload},
    {"CFLUX", Where::step, &Parser::read_cflux},
    {"DLOAD", Where::step, &Parser::read_dload},
    {"DFLUX", Where::step, &Parser::read_dflux},
    {"DSLOAD", Where::step, &Parser::read_dsload},
    {"DSFLUX", Where::step, &Parser::read_dsflux},
    {"FILM", Where::step, &Parser::read_film},
    {"SFILM", Where::step, &Parser::read_sfilm},
    {"RADIATE", Where::step, &Parser::read_radiate},
    {"SRADIATE", Where::step, &Parser::read_sradiate},
    {"TEMPERATURE", Where::step, &Parser::read_temperature},
    {"STEP", Where::anywhere, &Parser::read_step},
    {"END STEP", Where::anywhere, &Parser::read_end_step},
    {"STATIC", Where::step, &Parser::read_static},
    {"HEAT TRANSFER", Where::step, &Parser::read_heat_transfer},
    {"UNCOUPLED TEMPERATURE-DISPLACEMENT", Where::step, &Parser::read_uncoupled},
    {"COUPLED TEMPERATURE-DISPLACEMENT", Where::step, &Parser::read_uncoupled},
    {"FREQUENCY", Where::step, &Parser::read_frequency},
    {"MODAL DYNAMIC", Where::step, &Parser::read_modal_dynamic},
    {"DYNAMIC", Where::step, &Parser::read_dynamic},
    {"BULK VISCOSITY", Where::step, &Parser::read_bulk_viscosity},
    {"FIXED MASS SCALING", Where::step, &Parser::read_fixed_mass_scaling},
    {"STEADY STATE DYNAMICS", Where::step, &Parser::read_steady_state_dynamics},
    {"MODAL DAMPING", Where::step, &Parser::read_modal_damping},
    {"BASE MOTION", Where::step, &Parser::read_base_motion},
    {"NO ANALYSIS", Where::step, &Parser::read_no_analysis},
    {"TIME POINTS", Where::anywhere, &Parser::read_time_points},
    {"NODE PRINT", Where::step, &Parser::read_node_print},
    {"EL PRINT", Where::step, &Parser::read_element_print},
    {"NODE FILE", Where::step, &Parser::read_file_request},
    {"NODE OUTPUT", Where::step, &Parser::read_node_output},
    {"EL FILE", Where::step, &Parser::read_file_request},
    {"ELEMENT OUTPUT", Where::step, &Parser::read_element_output},
    {"OUTPUT", Where::anywhere, &Parser::read_output},
    {"RESTART", Where::anywhere, &Parser::read_restart},
};

const CardRule* find_rule(std::string_view key) {
  static const std::unordered_map<std::string, const CardRule*> table = [] {
    std::unordered_map<std::string, const CardRule*> result;
    for (const CardRule& rule : rules) result.emplace(squeezed(rule.name), &rule);
    return result;
  }();
  const auto found = table.find(std::string(key));
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

void Parser::fail(const std::string& text, Place place, ErrorCode code) const {
  throw Error(code, text, deck_.where(place));
}

void Parser::fail_unsupported(const std::string& text, Place place, ErrorCode code) const {
  throw Unsupported(code, text, deck_.where(place));
}

void Parser::note(const std::string& text, Place place) {
  // Once is enough: a card that occurs a thousand times must not bury the other notes.
  if (noted_.insert(text).second) deck_.notes.push_back({deck_.where(place), text});
}

bool Parser::next_fields() {
  const auto line = lines_.data();
  if (!line) return false;
  split_fields(*line, fields_);
  return true;
}

void Parser::skip_data() {
  while (lines_.data()) {
  }
}

double Parser::real(std::string_view text, std::string_view what) const {
  double value = 0;
  switch (read_real(text, value)) {
    case NumberFault::none:
      return value;
    case NumberFault::not_finite:
      fail(std::string(what) + " " + in_quotes(text) + " is not finite");
    case NumberFault::too_large:
      fail(std::string(what) + " " + in_quotes(text) + " is too large for a floating-point number");
    case NumberFault::not_a_number:
      break;
  }
  if (text.empty()) fail(std::string(what) + " is missing");
  fail(std::string(what) + " " + in_quotes(text) + " is not a number");
}

double Parser::real_or(std::string_view text, double otherwise, std::string_view what) const {
  return text.empty() ? otherwise : real(text, what);
}

Id Parser::integer(std::string_view text, std::string_view what) const {
  Id value = 0;
  switch (read_integer(text, value)) {
    case NumberFault::none:
      return value;
    case NumberFault::too_large:
      fail(std::string(what) + " " + in_quotes(text) + " is too large: the largest number is 9223372036854775807");
    default:
      break;
  }
  if (text.empty()) fail(std::string(what) + " is missing");
  fail(std::string(what) + " " + in_quotes(text) + " is not an integer");
}

Id Parser::number_of(std::string_view text, std::string_view what) const {
  const Id value = integer(text, what);
  if (value < 1) fail(std::string(what) + " " + in_quotes(text) + " is not allowed: numbers start at 1");
  return value;
}

int Parser::degree_of_freedom(std::string_view text) const {
  const Id dof = integer(text, "degree of freedom");
  if (dof == 0) return 11;  // old decks of CalculiX
  if ((dof < 1 || dof > 6) && dof != 11)
    fail_unsupported("degree of freedom " + in_quotes(text) +
                     " is not supported: 1 to 3 are displacements, 4 to 6 rotations, 11 is the temperature");
  return static_cast<int>(dof);
}

void Parser::at_most(std::size_t fields, const Card& card, std::string_view form) const {
  if (fields_.size() > fields)
    fail(card.name() + ": this line has " + std::to_string(fields_.size()) +
         " fields, which is too many; expected: " + std::string(form));
}

std::string Parser::name_of(std::string_view text, std::string_view what) const {
  std::string name = canonical_name(text);
  if (name.empty()) fail(std::string(what) + " is missing");
  if (name.size() > 256)
    fail(std::string(what) + " " + in_quotes(name) + " is too long: names have at most 256 characters");
  return name;
}

void Parser::dispatch(Card& card) {
  const CardRule* const rule = find_rule(card.key());
  if (!rule) {
    if (const UnreadCard* const unread = find_unread_card(card.key())) {
      if (unread->fate == UnreadCard::Fate::refused)
        card.fail_unsupported(ErrorCode::bad_input,
                              "*" + std::string(unread->name) + " is not supported yet: " + std::string(unread->why));
      if (!unread->why.empty())
        note("*" + std::string(unread->name) + " is ignored: " + std::string(unread->why), card.place());
      return skip_data();
    }
    std::vector<std::string> names;
    for (const CardRule& known : rules) names.emplace_back(known.name);
    std::string meant = did_you_mean(card.name().substr(std::min<std::size_t>(1, card.name().size())), names, "*");
    if (meant.empty()) meant = "; docs/decks.md lists the supported cards";
    card.fail_unsupported(ErrorCode::not_found, "the card " + in_quotes(card.name()) + " is not known" + meant);
  }
  card.set_name(rule->name);
  if (rule->where == Where::step && !in_step_)
    card.fail(ErrorCode::bad_input, card.name() + " must be inside a step, between *STEP and *END STEP");
  if (rule->where == Where::model && in_step_)
    card.fail(ErrorCode::bad_input, card.name() + " describes the model and cannot be inside a step (begun at " +
                                        deck_.where(step().place) + "): move it before the first *STEP");
  if (rule->where == Where::model && !deck_.steps.empty())
    card.fail(ErrorCode::bad_input, card.name() + " describes the model: move it before the first *STEP (at " +
                                        deck_.where(deck_.steps.front().place) + ")");
  if (rule->where == Where::both && !in_step_ && !deck_.steps.empty())
    card.fail(ErrorCode::bad_input,
              card.name() + " is between two steps: move it before the first *STEP or into a step");
  if (rule->name != "HEADING" && rule->name != "RESTART") begun_ = true;
  // Data lines may stand in a file of their own.
  if (const std::string file = card.verbatim("INPUT"); !file.empty()) lines_.include(file, card.place());
  (this->*rule->read)(card);
  if (lines_.data())
    fail(card.name() + " (at " + deck_.where(card.place()) +
         ") takes no data line here: remove the line, or add the missing keyword before it (** for a comment)");
}

void Parser::note_unsupported(const Error& error) {
  const auto [entry, is_new] = unsupported_index_.try_emplace(error.text(), unsupported_.size());
  if (is_new) unsupported_.push_back({error.text(), {}});
  // A part is read for each of its instances.
  if (unsupported_places_.insert(error.where() + " " + error.text()).second)
    unsupported_[entry->second].places.push_back(error.where());
  if (!unsupported_code_) unsupported_code_ = error.code();
}

/// Reads one card. What is not supported is kept for the list of all of it; later errors may be consequences, so that
/// only the first one is kept.
void Parser::read_card(const std::string& text) {
  try {
    Card card(text, lines_.place(), deck_.files);
    dispatch(card);
    return;
  } catch (const Unsupported& error) {
    note_unsupported(error);
  } catch (const Error& error) {
    const bool about_deck = error.code() == ErrorCode::bad_input || error.code() == ErrorCode::not_found;
    if (!about_deck || unsupported_.empty()) throw;
    if (!consequence_) consequence_ = error;
  }
  skip_data();
}

Deck Parser::parse() {
  if (lines_.data())
    fail("a deck begins with a keyword line such as *HEADING or *NODE; this line does not start with *");
  if (lines_.at_end())
    throw Error(ErrorCode::bad_input, "the deck is empty: it has no keyword line", deck_.files.front());
  while (const auto text = lines_.keyword()) read_card(*text);
  check_kept_steps();
  check_plasticity();
  keep_states_of_statics();
  if (!unsupported_.empty())
    throw UnsupportedDeck(*unsupported_code_, std::move(unsupported_), consequence_ ? &*consequence_ : nullptr);
  finish();
  if (std::any_of(deck_.steps.begin(), deck_.steps.end(), [](const StepCard& s) { return s.restart.every > 0; }))
    deck_.texts = lines_.opened_files();
  return std::move(deck_);
}

Deck parse_deck(const std::filesystem::path& path, const DeckOptions& options) {
  Parser parser(options);
  parser.lines().open(path);
  return parser.parse();
}

Deck parse_deck_text(std::string_view text, const std::string& name, const DeckOptions& options,
                     const std::filesystem::path& folder) {
  Parser parser(options);
  parser.lines().open_text(text, name, folder);
  return parser.parse();
}

}  // namespace voussoir::deck
