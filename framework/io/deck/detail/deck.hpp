#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/checkpoint/restart_file.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/response/amplitude.hpp>

// A deck as its author wrote it, card by card, before it becomes a model. parse_deck() fills it and handles the
// grammar; build_job() converts it to a Job and handles the mechanics. All names are in upper case, as decks are
// case-insensitive.

namespace voussoir::deck {

/// A line of one of the files.
struct Place {
  std::int32_t file = 0;
  std::int32_t line = 0;  ///< from 1
};

struct NodeTable {
  std::vector<Id> ids;  ///< as written; a node that is defined twice occurs twice (the last one applies)
  std::vector<double> coordinates;
  std::vector<Place> cards;        ///< one per *NODE card
  std::vector<std::size_t> first;  ///< first node of each card
};

/// One *ELEMENT card.
struct ElementCard {
  Place place;
  std::string type;  ///< "C3D8R"
  int nodes_per_element = 0;
  std::vector<Id> ids;
  std::vector<Id> nodes;
  std::vector<std::int32_t> lines;  ///< of each element, in the card's file
};

template <class T>
using Named = std::map<std::string, T, std::less<>>;

/// A face of an element, or of all elements of a set.
struct SurfaceEntry {
  std::string set;  ///< empty: `element`
  Id element = 0;
  std::string label;  ///< "S1"; empty: the free faces of the set
  Place place;
};
struct SurfaceCard {
  bool of_nodes = false;  ///< TYPE=NODE: `nodes` instead of faces
  std::vector<SurfaceEntry> faces;
  std::vector<Id> nodes;
  Place place;
};

/// Rows of a property: the values, and the temperature at which they hold.
struct PropertyRow {
  double temperature = 0;
  std::vector<double> values;
};
struct Property {
  std::string type;  ///< "ISO", "ORTHO", "ENGINEERING CONSTANTS", "ANISO", …; empty: the card's default
  double zero = 0;   ///< *EXPANSION, ZERO=
  std::vector<PropertyRow> rows;
  Place place;
};
struct DampingCard {
  double alpha = 0, beta = 0;  ///< C = alpha M + beta K
  Place place;
};
struct MaterialCard {
  Place place;
  std::optional<Property> elastic, density, expansion, conductivity, specific_heat;
  std::optional<Property> plastic;  ///< rows of yield stress and plastic strain
  std::optional<DampingCard> damping;
};

struct OrientationCard {
  Place place;
  bool cylindrical = false;
  std::array<double, 3> a{}, b{};  ///< R: two directions; C: two points of the axis
  int turn_axis = 0;               ///< 1, 2, 3: turned about it afterwards by `turn` degrees; 0: not
  double turn = 0;
};
struct TransformCard {
  Place place;
  std::string set;
  bool cylindrical = false;
  std::array<double, 3> a{}, b{};
};

/// *SOLID SECTION, *BEAM SECTION, *BEAM GENERAL SECTION, *SPRING, *MASS.
struct SectionCard {
  enum class Kind { solid, beam, spring, mass } kind = Kind::solid;
  Place place;
  std::string set, material, orientation;
  std::string shape;                               ///< of a beam's section: "RECT", "CIRC", "PIPE", "BOX", "GENERAL"
  std::vector<double> values;                      ///< thickness or area; the section's dimensions; the mass
  std::optional<std::array<double, 3>> direction;  ///< of a beam's axis 1
  std::vector<std::pair<double, double>> spring;   ///< constant: one entry with the stiffness first; else a table
  std::vector<int> spring_dofs;                    ///< of SPRING1, SPRING2
  bool nonlinear = false;                          ///< *SPRING, NONLINEAR
};

/// The target of a load or a support: one node (element) or all of a set.
struct Target {
  std::string set;  ///< empty: `id`
  Id id = 0;
};

struct EquationCard {
  struct Term {
    Target node;
    int dof;
    double coefficient;
  };
  std::vector<Term> terms;
  double constant = 0;
  Place place;
};
struct RigidBodyCard {
  Place place;
  std::string node_set, element_set;
  std::optional<Target> reference, rotation;  ///< a node, or a set of one
};
/// *COUPLING with *KINEMATIC or *DISTRIBUTING; a line of *KINEMATIC COUPLING.
struct CouplingCard {
  Place place;
  Target reference;
  std::string surface;  ///< empty: `nodes`
  Target nodes;
  std::string orientation;
  std::optional<double> radius;  ///< INFLUENCE RADIUS
  bool kinematic = true;
  std::array<bool, 6> dofs{};  ///< that are coupled
  bool dofs_given = false;     ///< the deck names them
  /// *DISTRIBUTING COUPLING: the set of the DCOUP3D element whose node is the reference, and weights of nodes.
  std::string element_set;
  std::vector<std::pair<Target, double>> weighted;
};
struct TieCard {
  Place place;
  std::string name, slave, master;
  std::optional<double> tolerance;
  bool adjust = true;
};

// --- loads and supports: in the order of the deck, both before the first step and within steps -----------------------

struct BoundaryCard {
  struct Entry {
    Target node;
    int first, last;
    double value;
    Place place;
  };
  std::vector<Entry> entries;
  bool fixed = false;
};
/// *CLOAD and *CFLUX (dof 11 or 0).
struct NodalLoadCard {
  struct Entry {
    Target node;
    int dof;
    double value;
    Place place;
  };
  std::vector<Entry> entries;
  bool heat = false;
};
/// *DLOAD and *DFLUX: a label and its numbers.
struct ElementLoadCard {
  struct Entry {
    Target element;
    std::string label;           ///< "P1" … "P6", "P", "GRAV", "CENTRIF", "BX" …; "S1" …, "BF"
    std::vector<double> values;  ///< as written after the label
    Id network_node = 0;         ///< of P1NP …: the node whose pressure acts
    Place place;
  };
  std::vector<Entry> entries;
  bool heat = false;
};
/// *DSLOAD and *DSFLUX-like loads on surfaces.
struct SurfaceLoadCard {
  struct Entry {
    std::string surface;
    std::string label;  ///< "P"; "S" for heat
    std::vector<double> values;
    Place place;
  };
  std::vector<Entry> entries;
  bool heat = false;
};
/// *FILM and *RADIATE; `film` is then the emissivity.
struct FilmCard {
  bool radiation = false;
  struct Entry {
    Target element;       ///< unless `surface`
    std::string surface;  ///< *SFILM
    std::string label;    ///< "F1" …
    double sink, film;
    Place place;
  };
  std::vector<Entry> entries;
  std::string coefficient_amplitude;  ///< FILM AMPLITUDE=, RADIATION AMPLITUDE=; empty: none
};
struct TemperatureCard {
  struct Entry {
    Target node;
    double value;
    Place place;
  };
  std::vector<Entry> entries;
  bool from_file = false;  ///< FILE=: nodes that the deck does not have are left out
};

struct Action {
  std::variant<BoundaryCard, NodalLoadCard, ElementLoadCard, SurfaceLoadCard, FilmCard, TemperatureCard> card;
  bool op_new = false;     ///< OP=NEW: forget those of the same kind that came before
  bool imaginary = false;  ///< LOAD CASE=2: the imaginary part of a harmonic load
  std::string amplitude;   ///< empty: none
  Place place;
};

struct AmplitudeCard {
  Amplitude curve;          ///< over time; over frequency in steps of steady-state dynamics
  bool total_time = false;  ///< TIME=TOTAL TIME
  Place place;
};

/// *INITIAL CONDITIONS, TYPE=DISPLACEMENT or VELOCITY.
struct InitialMotionCard {
  struct Entry {
    Target node;
    int dof;
    double value;
    Place place;
  };
  bool velocity = false;
  std::vector<Entry> entries;
};

/// *TIME POINTS.
struct TimePointsCard {
  std::vector<double> times;  ///< ascending
  bool total_time = false;    ///< TIME=TOTAL TIME
  Place place;
};

/// *BASE MOTION.
struct BaseMotionCard {
  int dof = 1;            ///< 1 to 3
  std::string amplitude;  ///< required
  double scale = 1;
  bool displacement = false;  ///< TYPE=DISPLACEMENT
  bool imaginary = false;     ///< LOAD CASE=2
  Place place;
};

/// What steps of modes and of mode superposition say of their own.
struct ModalCard {
  FrequencyStep frequency;
  double increment = 1;  ///< of *MODAL DYNAMIC
  double lowest = 0, highest = 0, bias = 3;
  std::size_t points = 20;
  std::optional<StepDamping> damping;
  std::vector<BaseMotionCard> base;
};

struct PrintCard {
  PrintRequest request;     ///< with the set's name as written
  std::string time_points;  ///< empty: none
  Place place;
};
/// *NODE FILE, *EL FILE: when states are written.
struct FileCard {
  std::optional<int> every;  ///< FREQUENCY=
  std::string time_points;   ///< empty: none
  double interval = 0;       ///< *OUTPUT, FIELD, TIME INTERVAL=; 0: none
  int number = 0;            ///< *OUTPUT, FIELD, NUMBER INTERVAL=; 0: none
  Place place;
};

/// *NODE OUTPUT, *ELEMENT OUTPUT after *OUTPUT, HISTORY.
struct HistoryCard {
  HistoryRequest request;   ///< with the set's name as written
  double interval = 0;      ///< TIME INTERVAL=; 0: none
  int number = 0;           ///< NUMBER INTERVAL=; 0: none
  std::string time_points;  ///< empty: none
  Place place;
};

/// *DYNAMIC.
struct DynamicCard {
  DynamicTimes times;                                  ///< increments; the period is that of the step
  double alpha = -0.05;                                ///< of the method of Hilber, Hughes and Taylor
  std::optional<ExplicitMethod> explicit_method = {};  ///< EXPLICIT: central differences instead
  bool has_bulk_viscosity = false;                     ///< *BULK VISCOSITY gives its coefficients
};

struct StepCard {
  Place place;
  std::string title;  ///< NAME= and the line after *STEP, if any
  bool nlgeom = false, perturbation = false, no_analysis = false;
  bool ramp = false;            ///< AMPLITUDE=RAMP
  bool with_stress = false;     ///< *UNCOUPLED TEMPERATURE-DISPLACEMENT: the step of heat; that of stress follows
  bool stress_of_heat = false;  ///< of stress, made of the step before: the same time, loads and supports
  std::optional<Procedure> procedure;
  Place procedure_place;
  double period = 1;        ///< time of the step
  bool time_reset = false;  ///< total time does not advance: the step ends when it began
  std::vector<Action> actions;
  std::vector<PrintCard> prints;  ///< complete for this step, i.e. with those that last from steps before
  ModalCard modal;
  DynamicCard dynamic;
  std::vector<FileCard> files;
  std::vector<HistoryCard> histories;  ///< complete for this step, with those that last from steps before
  /// The *RESTART, WRITE that holds in a step.
  struct Restart {
    int every = 0;         ///< FREQUENCY=; 0: none
    bool overlay = false;  ///< OVERLAY
    Place place;           ///< of the card
  };
  Restart restart;
};

/// *RESTART, READ.
struct RestartCard {
  Place place;
  std::string file;     ///< path of the restart file
  std::string dialect;  ///< in which its deck was read
  std::string job;      ///< RestartStart::job
  RestartPoint point;   ///< the state that was read
};

struct Deck {
  std::vector<std::string> files;  ///< names for messages
  std::string title;               ///< *HEADING
  NodeTable nodes;
  std::vector<ElementCard> elements;
  Named<std::vector<Id>> node_sets, element_sets;  ///< members, sorted and unique
  Named<SurfaceCard> surfaces;
  Named<MaterialCard> materials;
  Named<OrientationCard> orientations;
  Named<AmplitudeCard> amplitudes;
  Named<TimePointsCard> time_points;
  std::vector<InitialMotionCard> initial_motions;
  std::vector<TransformCard> transforms;
  std::vector<SectionCard> sections;
  std::vector<EquationCard> equations;
  std::vector<RigidBodyCard> rigid_bodies;
  std::vector<CouplingCard> couplings;
  std::vector<TieCard> ties;
  std::vector<TemperatureCard> initial_temperatures;
  std::optional<double> absolute_zero, stefan_boltzmann;
  std::vector<Action> actions;  ///< before the first step
  std::vector<StepCard> steps;
  std::vector<JobNote> notes;
  InstanceNumbers instances;
  bool assembled = false;              ///< it has parts, which only Abaqus reads
  std::optional<RestartCard> restart;  ///< the job that this one continues
  std::vector<DeckFile> texts;         ///< of all files, where *RESTART, WRITE needs them
  int checkpoint_every = 0;            ///< *RESTART, WRITE, FREQUENCY=: increments; the last card counts

  /// "beam.inp:12"
  std::string where(Place place) const { return files[place.file] + ":" + std::to_string(place.line); }
};

/// Reads the cards. Errors are about grammar: unknown cards, parameters and names, missing or malformed numbers, sets
/// that are not there.
Deck parse_deck(const std::filesystem::path& path, const DeckOptions& options);
Deck parse_deck_text(std::string_view text, const std::string& name, const DeckOptions& options,
                     const std::filesystem::path& folder);

/// Makes a job of the cards. Errors are about mechanics: elements without section, nodes that are missing, loads on
/// faces that an element does not have.
Job build_job(Deck deck, const DeckOptions& options);

}  // namespace voussoir::deck
