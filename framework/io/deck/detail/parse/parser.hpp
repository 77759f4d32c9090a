#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <voussoir/framework/io/deck/detail/deck.hpp>
#include <voussoir/framework/io/deck/detail/parse/card.hpp>
#include <voussoir/framework/io/deck/detail/parse/expression.hpp>
#include <voussoir/framework/io/deck/detail/parse/fields.hpp>
#include <voussoir/framework/io/deck/detail/parse/line_reader.hpp>
#include <voussoir/framework/io/deck/detail/parse/rigid_motion.hpp>
#include <voussoir/framework/io/deck/detail/parse/set_store.hpp>

namespace voussoir::deck {

/// Fills a Deck, card by card. Each card has a function read_…(): it queries the card's parameters (Card), calls
/// card.done(), and reads the data lines. The functions are in the files of this folder, by subject; the table `rules`
/// in deck.cpp says which card calls which. Cards of nodes, elements and sets take full effect here: they add to
/// deck_.nodes, deck_.elements and the sets, and `build` sees only the result.
class Parser {
 public:
  explicit Parser(const DeckOptions& options) : lines_(deck_.files, options) {}
  LineReader& lines() { return lines_; }
  Deck parse();

  // Model (mesh.cpp)
  void read_heading(Card& card);
  void read_node(Card& card);
  void read_element(Card& card);
  void read_node_set(Card& card);
  void read_element_set(Card& card);
  void read_surface(Card& card);
  // Nodes and elements generated from others (generate.cpp, element_generate.cpp)
  void read_ngen(Card& card);
  void read_nfill(Card& card);
  void read_ncopy(Card& card);
  void read_nmap(Card& card);
  void read_elgen(Card& card);
  void read_elcopy(Card& card);
  // Named numbers (parameter.cpp)
  void read_parameter(Card& card);
  // Abaqus's parts (assembly.cpp)
  void read_part(Card& card);
  void read_end_part(Card& card);
  void read_assembly(Card& card);
  void read_instance(Card& card);
  void read_end(Card& card);
  // Materials (material.cpp)
  void read_material(Card& card);
  void read_elastic(Card& card);
  void read_density(Card& card);
  void read_plastic(Card& card);
  void read_damping(Card& card);
  void read_expansion(Card& card);
  void read_conductivity(Card& card);
  void read_specific_heat(Card& card);
  void read_physical_constants(Card& card);
  // Sections and axes (section.cpp)
  void read_solid_section(Card& card);
  void read_beam_section(Card& card);
  void read_beam_general_section(Card& card);
  void read_spring(Card& card);
  void read_mass(Card& card);
  void read_orientation(Card& card);
  void read_transform(Card& card);
  // Constraints between nodes (constraint.cpp)
  void read_equation(Card& card);
  void read_rigid_body(Card& card);
  void read_coupling(Card& card);
  void read_kinematic(Card& card);
  void read_distributing(Card& card);
  void read_kinematic_coupling(Card& card);
  void read_distributing_coupling(Card& card);
  void read_tie(Card& card);
  // Loads and supports (load.cpp)
  void read_boundary(Card& card);
  void read_cload(Card& card);
  void read_cflux(Card& card);
  void read_dload(Card& card);
  void read_dflux(Card& card);
  void read_dsload(Card& card);
  void read_dsflux(Card& card);
  void read_film(Card& card);
  void read_sfilm(Card& card);
  void read_radiate(Card& card);
  void read_sradiate(Card& card);
  void read_temperature(Card& card);
  void read_initial_conditions(Card& card);
  void read_amplitude(Card& card);
  // Steps and their output (step.cpp)
  void read_step(Card& card);
  void read_end_step(Card& card);
  void read_static(Card& card);
  void read_heat_transfer(Card& card);
  void read_no_analysis(Card& card);
  void read_time_points(Card& card);
  // Modes and their superposition (modal_step.cpp)
  void read_frequency(Card& card);
  void read_modal_dynamic(Card& card);
  void read_dynamic(Card& card);
  void read_explicit(Card& card);
  void read_fixed_mass_scaling(Card& card);
  void read_bulk_viscosity(Card& card);
  /// The data line of a step over time: increment, period, shortest and longest increment.
  void read_increments(Card& card, bool fixed, bool needed);
  void read_transient_heat(Card& card);
  void read_uncoupled(Card& card);
  /// Makes the step of stress that follows the step of heat of *UNCOUPLED TEMPERATURE-DISPLACEMENT.
  void add_stress_step();
  void read_steady_state_dynamics(Card& card);
  void read_modal_damping(Card& card);
  void read_base_motion(Card& card);
  void read_node_print(Card& card);
  void read_element_print(Card& card);
  void read_file_request(Card& card);
  void read_output(Card& card);
  void read_node_output(Card& card);
  void read_element_output(Card& card);
  // Jobs that continue others (restart.cpp)
  void read_restart(Card& card);

 private:
  // --- words and numbers -----------------------------------------------------------------------------------------
  [[noreturn]] void fail(const std::string& text, Place place, ErrorCode code = ErrorCode::bad_input) const;
  [[noreturn]] void fail(const std::string& text) const { fail(text, lines_.place()); }
  /// The same for what is not supported: Unsupported.
  [[noreturn]] void fail_unsupported(const std::string& text, Place place, ErrorCode code = ErrorCode::bad_input) const;
  [[noreturn]] void fail_unsupported(const std::string& text) const { fail_unsupported(text, lines_.place()); }
  void note(const std::string& text, Place place);
  /// The next data line of the card, cut at its commas into fields_; false where there is none.
  bool next_fields();
  /// Field i, or an empty one where the line is shorter.
  std::string_view field(std::size_t i) const { return i < fields_.size() ? fields_[i] : std::string_view{}; }
  double real(std::string_view text, std::string_view what) const;
  double real_or(std::string_view text, double otherwise, std::string_view what) const;
  Id integer(std::string_view text, std::string_view what) const;
  /// A whole number from 1 on.
  Id number_of(std::string_view text, std::string_view what) const;
  int degree_of_freedom(std::string_view text) const;
  void at_most(std::size_t fields, const Card& card, std::string_view form) const;
  std::string name_of(std::string_view text, std::string_view what) const;
  void skip_data();

  // --- names (names.cpp) -------------------------------------------------------------------------------------
  enum class Kind { node_set, element_set, surface, amplitude, orientation, material };
  bool exists(Kind kind, std::string_view name) const;
  std::vector<std::string> names_of(Kind kind) const;
  /// A name of a set or a surface with the instance that it belongs to (see assembly.cpp).
  std::string scoped(std::string name) const;
  /// The same for an *ORIENTATION that is used here: one of the part, or one of the model.
  std::string scoped_orientation(const std::string& name) const;
  /// Records that a name is used here. It may be defined later in the deck. A surface may be given instead of the set
  /// of its elements; if `face` ("S2") is given, only if all its faces are that one.
  void refer(Kind kind, const std::string& name, Place place, std::string face = {});
  [[noreturn]] void fail_unknown(Kind kind, const std::string& name, Place place) const;
  /// A node (element) by its number, or a set of them. `face` as in refer().
  Target target(std::string_view text, Kind kind, std::string face = {});
  std::string element_set_parameter(Card& card, std::string_view example);
  struct Reference;
  /// Makes a set of the elements of a surface that is named in its place; false where there is no such surface.
  bool stand_in(const Reference& reference);
  void check_faces(const Reference& reference) const;
  void finish();
  void finish_sets();
  void finish_springs();

  // --- numbers of nodes and elements, which repeat among instances (assembly.cpp) ----------------------------
  using Numbers = std::array<Id, 2>;  ///< of nodes, of elements
  static std::size_t which(Kind kind) { return kind == Kind::element_set ? 1 : 0; }
  /// What is added to the numbers that are written here.
  Id shift(Kind kind) const;
  /// The same where nodes (elements) are defined.
  Id shift_of_new(Kind kind, const Card& card);
  /// The number in the model of one that is written here, or in an instance.
  Id in_model(Kind kind, Id number);
  Id in_instance(Kind kind, const std::string& instance, Id number) const;
  /// The number in the model of what "5" or "BOLT-1.5" names; nothing where the text names neither.
  std::optional<Id> numbered(std::string_view text, Kind kind, std::string_view what);
  /// An Error where a number is so large that it cannot be shifted.
  void check_number(Id number, Id by) const {
    if (by > 0 && number > 4'000'000'000'000'000'000)
      fail("number " + std::to_string(number) + " is too large in a deck with several instances");
  }
  void count_as_used(Kind kind, Id id) { largest_[which(kind)] = std::max(largest_[which(kind)], id); }
  Id next_shift(Kind kind) const;
  void end_instance();

  // --- elements (mesh.cpp) -----------------------------------------------------------------------------------------
  /// What the lines of an *ELEMENT card have in common, and what was seen of them so far.
  struct ElementReading {
    Id shift = 0, node_shift = 0;
    bool by_name = false;     ///< nodes may be called BOLT-1.5
    std::size_t spare = 0;    ///< surplus nodes that an element may have
    std::size_t dropped = 0;  ///< surplus nodes of the last one
    bool elsewhere = false;   ///< the last one stands in another file than the card
    std::int32_t lines = 0;   ///< of the last one; 0 where it spans two files
    Numbers largest{};        ///< of nodes and elements
  };
  /// The next element of a card; false where there is none.
  bool read_one_element(ElementCard& elements, ElementReading& reading);
  void read_element_nodes(std::string_view line, Id id, std::size_t first, ElementCard& elements,
                          ElementReading& reading);

  // --- what generators need (generate.cpp) ---------------------------------------------------------------------
  std::array<double, 3> position_of(Id node, std::string_view what);
  std::optional<std::size_t> find_node(Id node);
  void add_node(Id node, const std::array<double, 3>& x, SetStore::Pieces* set);
  /// The set that takes the nodes of a generator; null where it names none.
  SetStore::Pieces* begin_generated(const std::string& set, const Card& card);
  /// Members of a set that has to be there by now, in the order in which generators take them.
  std::vector<Id> members_now(const std::string& set, Kind kind, const Card& card);
  struct ElementPlace {
    std::size_t card, element;
  };
  std::optional<ElementPlace> find_element(Id element);
  std::vector<ElementPlace> elements_now(const SetStore::Pieces& set, Place place);
  void add_element(const ElementPlace& master, Id element, Id node_shift, SetStore::Pieces* set, Place place);
  /// RECTANGULAR, CYLINDRICAL or SPHERICAL, and a point of them in global axes.
  static std::string coordinate_system(Card& card);
  static std::array<double, 3> from_system(const std::array<double, 3>& x, std::string_view system);

  // --- shared by cards of a kind -----------------------------------------------------------------------------------
  void dispatch(Card& card);
  void read_card(const std::string& text);
  void note_unsupported(const Error& error);
  /// Whether a section that was read has a material with *PLASTIC.
  bool has_plastic_section() const;
  void check_plasticity();
  /// A *DYNAMIC step begins with the state of the *STATIC step before it, which is therefore kept.
  void keep_states_of_statics();
  void read_restart_file(Card& card);
  /// Goes on with this deck once the steps that *RESTART, READ asks for have been read.
  void leave_kept_steps();
  void check_kept_steps() const;
  /// An Error where a deck that continues another one defines something that is there already.
  void require_new(const Card& card, Kind kind, const std::string& name) const;
  struct SetReading;
  void require_instance(Card& card, const std::string& instance);
  void read_set(Card& card, Kind kind, SetStore& store, std::string_view parameter);
  std::string full_set_name(const SetReading& reading, const std::string& name, const SetStore& store) const;
  void add_nodes_of_set(SetReading& reading, const std::string& full_name, const std::string& elements);
  void add_set(SetReading& reading, const std::string& name);
  void read_range(SetReading& reading, std::string_view line);
  void read_members(SetReading& reading, std::string_view line);
  /// Adds the nodes of the elements that a set holds by now.
  void add_nodes_of(SetStore::Pieces& nodes, const SetStore::Pieces& elements, Place place);
  Property read_rows(const Card& card, Property property, std::size_t values);
  MaterialCard& current_material(const Card& card);
  void set_property(Card& card, std::optional<Property> MaterialCard::*which, Property property);
  void read_simple_property(Card& card, std::optional<Property> MaterialCard::*which);
  void read_directed_property(Card& card, std::optional<Property> MaterialCard::*which, double zero);
  std::optional<std::array<double, 3>> read_direction(const Card& card);
  std::optional<int> spring_kind(const SetStore::Pieces& set) const;
  struct PendingSpring;
  void finish_spring(const PendingSpring& spring);
  std::array<double, 6> six_numbers(const Card& card, std::string_view form);
  Target one_node(const Card& card, const std::string& text, const std::string& what);
  void read_coupling_kind(Card& card, bool kinematic);
  void take_dofs(CouplingCard& coupling, std::size_t at);
  void require_no_coupling() const;
  Action action(Card& card);
  void add(Action action);
  void read_nodal_load(Card& card, bool heat);
  void read_element_load(Card& card, bool heat);
  void read_surface_load(Card& card, bool heat);
  SurfaceLoadCard::Entry surface_load(const Card& card, bool heat);
  bool names_surface(std::string_view name, std::string_view label, std::string_view whole) const;
  void read_films(Card& card, bool on_surfaces, bool radiation);
  void check_label(const Card& card, std::string_view label, Place place) const;
  std::string whole_model();
  void read_temperature_file(const Card& card, const std::string& name, std::optional<int> step,
                             TemperatureCard& temperatures);
  void read_procedure(Card& card, Procedure procedure);
  void begin_procedure(const Card& card, Procedure procedure);
  void note_solver(Card& card);
  int states_between(const Card& card, double every) const;
  void read_initial_motion(Card& card, bool velocity);
  /// Curves of nodes or elements that *OUTPUT, HISTORY asks for (history_output.cpp).
  void read_history(Card& card, PrintRequest::At at);
  void read_print(Card& card, PrintRequest::At at);
  StepCard& step() { return deck_.steps.back(); }

  Deck deck_;
  LineReader lines_;
  std::vector<std::string_view> fields_;
  SetStore node_sets_, element_sets_;
  struct Placed {
    Id id;
    std::size_t card, element;
  };
  std::vector<Placed> placed_;  // elements by number, as far as *NSET, ELSET= has needed them
  std::vector<Id> placed_ids_;
  std::size_t work_of_sets_ = 0, counted_cards_ = 0, counted_elements_ = 0;
  std::map<Id, int> spring_dofs_;  // how many degrees of freedom the line of a *SPRING names for this element
  struct Reference {
    Kind kind;
    std::string name;
    Place place;
    std::string face;
  };
  std::vector<Reference> references_;
  struct NodesOf {  // *NSET, ELSET= of elements that come later
    std::string nodes, elements;
    Place place;
  };
  std::vector<NodesOf> nodes_of_;
  struct PendingSpring {  // lines whose meaning depends on the kind of the springs
    std::size_t section;
    std::vector<std::pair<Place, std::string>> lines;
  };
  std::vector<PendingSpring> springs_;
  Named<std::set<std::string>> surface_node_sets_;  // of surfaces of nodes
  std::set<std::string> noted_;
  std::string material_;                  // that properties go to
  std::optional<CouplingCard> coupling_;  // awaiting its *KINEMATIC or *DISTRIBUTING
  bool in_step_ = false;
  bool all_elements_ = false;                            // a load acts on the whole model
  std::size_t prints_ = 0;                               // requests that were taken over from step to step
  bool prints_nodes_ = false, prints_elements_ = false;  // in this step
  std::optional<FileCard> history_;                      // the *OUTPUT, HISTORY that output cards belong to
  bool histories_begun_ = false;                         // in this step
  // What is not supported, and the first error that may follow from it
  std::vector<UnsupportedDeck::Item> unsupported_;
  std::map<std::string, std::size_t> unsupported_index_;
  std::set<std::string> unsupported_places_;
  std::optional<ErrorCode> unsupported_code_;
  std::optional<Error> consequence_;
  // Abaqus's parts
  enum class Scope { none, assembly, instance } scope_ = Scope::none;
  Place scope_place_;
  struct Part {
    LineReader::Passage text;
    Place place;
    std::set<std::string> orientations;
    bool placed = false;
  };
  struct Instance {
    Numbers shift{}, last{};  // `last` is in the instance's own numbers
  };
  expression::Names parameters_;
  Named<Part> parts_;
  Named<Instance> instances_;
  std::string part_, instance_, assembly_;  // those that are open now; the assembly's name stays
  Place assembly_place_;
  Numbers largest_{}, largest_local_{};  // of the model, and in any part
  std::array<std::optional<Id>, 2> assembly_shift_;
  RigidMotion motion_;  // of the open instance, from its own axes to those of the assembly
  std::size_t first_node_ = 0, first_transform_ = 0, first_section_ = 0;
  std::vector<std::string> moved_orientations_;
  // Generators
  std::unordered_map<Id, std::size_t> node_at_;
  std::size_t nodes_indexed_ = 0;
  std::unordered_map<Id, ElementPlace> element_at_;
  ElementPlace indexed_{0, 0};
  // Restarts
  StepCard::Restart restart_write_;  // as the last *RESTART, WRITE says
  struct KeptSteps {
    int steps;          // of the deck that is being read
    std::size_t depth;  // of the file that goes on after them
    Place place;
  };
  std::vector<KeptSteps> kept_steps_;           // decks that are being read by *RESTART, READ, the innermost last
  std::array<std::set<std::string>, 2> taken_;  // node and element sets of the job that is continued
  bool begun_ = false;                          // a card other than *HEADING and *RESTART was read
  static constexpr std::size_t most_generated = 5'000'000;  // nodes and elements in all
  std::size_t generated_ = 0;
};

/// A card of Abaqus or CalculiX that is known but not read (unread_cards.cpp).
struct UnreadCard {
  enum class Fate {
    ignored,  ///< it cannot change the results
    refused   ///< it would change them
  };
  std::string_view name;
  std::string_view why;  ///< ignored: the text of a note, or empty for none; refused: why it is not supported
  Fate fate;
};
/// The unread card with this Card::key(); null if there is none.
const UnreadCard* find_unread_card(std::string_view key);

}  // namespace voussoir::deck
