#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/io/detail/deck/card.hpp>
#include <voussoir/framework/io/detail/deck/deck.hpp>
#include <voussoir/framework/io/detail/deck/fields.hpp>
#include <voussoir/framework/io/detail/deck/line_reader.hpp>
#include <voussoir/framework/io/detail/deck/set_store.hpp>

namespace voussoir::deck {

/// Fills a Deck, card by card. There is one member function for each kind of card; they stand in the files
/// parse_*.cpp by subject, and the table that calls them in parse_deck.cpp.
class Parser {
 public:
  explicit Parser(const DeckOptions& options) : lines_(deck_.files, options) {}
  LineReader& lines() { return lines_; }
  Deck parse();

  // Model (parse_mesh.cpp)
  void read_heading(Card& card);
  void read_node(Card& card);
  void read_element(Card& card);
  void read_node_set(Card& card);
  void read_element_set(Card& card);
  void read_surface(Card& card);
  // Abaqus's parts (parse_assembly.cpp)
  void read_part(Card& card);
  void read_end_part(Card& card);
  void read_assembly(Card& card);
  void read_instance(Card& card);
  void read_end(Card& card);
  // Materials (parse_material.cpp)
  void read_material(Card& card);
  void read_elastic(Card& card);
  void read_density(Card& card);
  void read_expansion(Card& card);
  void read_conductivity(Card& card);
  void read_specific_heat(Card& card);
  void read_physical_constants(Card& card);
  // Sections and axes (parse_section.cpp)
  void read_solid_section(Card& card);
  void read_beam_section(Card& card);
  void read_beam_general_section(Card& card);
  void read_spring(Card& card);
  void read_mass(Card& card);
  void read_orientation(Card& card);
  void read_transform(Card& card);
  // What ties nodes together (parse_constraint.cpp)
  void read_equation(Card& card);
  void read_rigid_body(Card& card);
  void read_tie(Card& card);
  // What acts (parse_load.cpp)
  void read_boundary(Card& card);
  void read_cload(Card& card);
  void read_cflux(Card& card);
  void read_dload(Card& card);
  void read_dflux(Card& card);
  void read_dsload(Card& card);
  void read_dsflux(Card& card);
  void read_film(Card& card);
  void read_sfilm(Card& card);
  void read_temperature(Card& card);
  void read_initial_conditions(Card& card);
  void read_amplitude(Card& card);
  // Steps and what they print (parse_step.cpp)
  void read_step(Card& card);
  void read_end_step(Card& card);
  void read_static(Card& card);
  void read_heat_transfer(Card& card);
  void read_node_print(Card& card);
  void read_element_print(Card& card);
  void read_file_request(Card& card);

 private:
  // --- words and numbers -----------------------------------------------------------------------------------------
  [[noreturn]] void fail(const std::string& text, Place place, ErrorCode code = ErrorCode::bad_input) const;
  [[noreturn]] void fail(const std::string& text) const { fail(text, lines_.place()); }
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

  // --- names -----------------------------------------------------------------------------------------------------
  enum class Kind { node_set, element_set, surface, amplitude, orientation, material };
  bool exists(Kind kind, std::string_view name) const;
  std::vector<std::string> names_of(Kind kind) const;
  /// A name of a set or a surface with the part that it belongs to (see parse_assembly.cpp).
  std::string scoped(std::string name) const;
  /// Says that a name is used here. It may be defined later, but must be there in the end.
  void refer(Kind kind, const std::string& name, Place place);
  [[noreturn]] void fail_unknown(Kind kind, const std::string& name, Place place) const;
  /// A node (element) by its number, or a set of them.
  Target target(std::string_view text, Kind kind);
  std::string element_set_parameter(Card& card, std::string_view example);
  void finish();

  // --- shared by cards of a kind -----------------------------------------------------------------------------------
  void dispatch(Card& card);
  void read_set(Card& card, Kind kind, SetStore& store, std::string_view parameter);
  /// Adds the nodes of the elements that a set holds by now.
  void add_nodes_of(SetStore::Pieces& nodes, const SetStore::Pieces& elements, const Card& card);
  Property read_rows(const Card& card, Property property, std::size_t values);
  MaterialCard& current_material(const Card& card);
  void set_property(Card& card, std::optional<Property> MaterialCard::*which, Property property);
  void read_simple_property(Card& card, std::optional<Property> MaterialCard::*which);
  void read_directed_property(Card& card, std::optional<Property> MaterialCard::*which, double zero);
  std::optional<std::array<double, 3>> read_direction(const Card& card);
  std::optional<int> spring_kind(const SetStore::Pieces& set) const;
  std::array<double, 6> six_numbers(const Card& card, std::string_view form);
  Action action(Card& card);
  void add(Action action);
  void read_nodal_load(Card& card, bool heat);
  void read_element_load(Card& card, bool heat);
  void read_surface_load(Card& card, bool heat);
  void read_films(Card& card, bool on_surfaces);
  void check_label(const Card& card, std::string_view label, Place place) const;
  std::string whole_model();
  void read_procedure(Card& card, Procedure procedure);
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
  std::size_t work_of_sets_ = 0;
  std::map<Id, int> spring_dofs_;  // how many degrees of freedom the line of a *SPRING names for this element
  struct Reference {
    Kind kind;
    std::string name;
    Place place;
  };
  std::vector<Reference> references_;
  Named<std::set<std::string>> surface_node_sets_;  // of surfaces of nodes
  std::set<std::string> noted_;
  std::string material_;  // that properties go to
  bool in_step_ = false;
  bool all_elements_ = false;                            // a load acts on the whole model
  std::size_t prints_ = 0;                               // requests that were taken over from step to step
  bool prints_nodes_ = false, prints_elements_ = false;  // in this step
  // Abaqus's parts
  enum class Scope { none, part, assembly, instance } scope_ = Scope::none;
  Place scope_place_;
  std::string part_, instance_;
};

/// Cards of other programs that cannot change the answer, and those that would.
struct OtherCard {
  std::string_view name;
  std::string_view why;  ///< of a harmless one: the note, may be empty; of another: why it is not supported
  bool harmless;
};
const OtherCard* find_other_card(std::string_view key);

}  // namespace voussoir::deck
