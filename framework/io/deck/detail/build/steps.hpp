#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <voussoir/framework/io/deck/detail/build/build.hpp>
#include <voussoir/framework/io/deck/detail/build/ledger.hpp>
#include <voussoir/framework/io/deck/detail/build/load_record.hpp>

// What acts at the end of each step. steps.cpp takes the cards into ledgers; supports.cpp and loads.cpp
// make supports and load cases of them.

namespace voussoir::deck {

/// Time at the end of a step. A step that follows amplitudes has a load case for each of them: those loads alone act in
/// it, with their whole value.
struct StepTime {
  double period = 1, total = 1;
  /// What a load case is made of, where there are several.
  struct Share {
    const AmplitudeCard* amplitude = nullptr;  ///< null: what follows none
    bool imaginary = false;                    ///< LOAD CASE=2
    auto operator<=>(const Share&) const = default;
  };
  std::optional<Share> share;
};

/// *DLOAD with GRAV or CENTRIF.
struct BodyActing {
  Target element;
  std::string label;
  std::vector<double> direction;  ///< all numbers after the magnitude
  double value = 0;
  std::int32_t step = 0;
  const AmplitudeCard* amplitude = nullptr;
  Place place;
  bool imaginary = false;  ///< LOAD CASE=2
};

/// Everything that acts, as it stands while the steps go by.
struct ActingState {
  Ledger supports{Ledger::Repeated::replaces};                 ///< structural: node · 16 + dof
  Ledger temperatures_prescribed{Ledger::Repeated::replaces};  ///< heat: node · 16
  Ledger forces, flows;                                        ///< *CLOAD, *CFLUX: node · 16 + dof
  Ledger pressures, surface_pressures;                         ///< faces
  Ledger fluxes;                                               ///< faces
  Ledger films{Ledger::Repeated::replaces};                    ///< faces: value is the sink, extra the coefficient
  Ledger radiations{Ledger::Repeated::replaces};               ///< faces: value is the sink, extra the emissivity
  Ledger network_pressures{Ledger::Repeated::replaces};        ///< faces: extra is the node whose dof 2 is the pressure
  Ledger sources;                                              ///< elements
  Ledger temperatures{Ledger::Repeated::replaces};             ///< nodes
  std::vector<BodyActing> bodies;

  /// What follows an amplitude over the time of a step stays, in later steps, where this one leaves it; an amplitude
  /// over the total time goes on.
  void end_step(const StepTime& time);
  /// Whether an amplitude is among what acts, so that values depend on the time.
  bool follows_amplitudes() const;
  /// The shares that the loads of a step of mode superposition have, and a place of each.
  std::map<StepTime::Share, Place> load_shares() const;
  /// Forgets all loads on the structure.
  void clear_loads();
  /// Whether loads or prescribed values other than zero act on the structure.
  bool is_loaded() const;
};

/// The value of an amplitude at the end of a step, 1 where there is none. Of a load case that has a share of what acts,
/// 1 for what belongs to it and 0 for all else.
double factor_of(const AmplitudeCard* amplitude, const StepTime& time, bool imaginary = false);
inline double factor_of(const Acting& a, const StepTime& time) { return factor_of(a.amplitude, time, a.imaginary); }

/// Keys of what acts on a node and on a face. Imaginary parts have keys of their own.
std::uint64_t node_key(std::int32_t node, int dof, bool imaginary = false);
std::int32_t node_of_key(std::uint64_t key);
int dof_of_key(std::uint64_t key);
std::uint64_t face_key(const FaceRef& face, bool imaginary = false);
FaceRef face_of_key(std::uint64_t key);

Supports make_supports(Build& build, const Model& model, ActingState& state, const StepTime& time);

/// Makes load cases, and the surfaces and sets that they need; surfaces with the same faces are made once.
class LoadMaker {
 public:
  explicit LoadMaker(Build& build) : build_(build) {}
  /// Adds a load case of that name if anything acts, and returns its name; that of the model's previous one where the
  /// same acts, and "" where nothing does. `heated` says that temperatures of a heat step act too, at nodes that the
  /// state does not speak of.
  std::string make(Model& model, const std::string& name, ActingState& state, const StepTime& time, bool heated);
  /// Notes materials that temperatures act on and that do not feel them.
  void note_unmoved(const Model& model, const std::vector<Acting>& acting);

 private:
  using Faces = std::vector<FaceRef>;
  void nodal(Model& model, const std::vector<Acting>& acting, const StepTime& time);
  void pressures(Model& model, const std::vector<Acting>& acting, const StepTime& time);
  void network_pressures(Model& model, ActingState& state, const StepTime& time);
  void heat(Model& model, ActingState& state, const StepTime& time);
  void bodies(Model& model, const ActingState& state, const StepTime& time);
  void temperatures(Model& model, ActingState& state, const StepTime& time, bool heated);
  void check_masses(const Model& model, const BodyActing& load, std::span<const std::size_t> elements,
                    const std::array<double, 3>& direction);
  std::string surface_of(Model& model, const std::string& kind, Faces faces);

  Build& build_;
  LoadRecord record_;                                       // of the step that is being made
  std::array<std::pair<std::string, LoadRecord>, 2> last_;  // of each model: the load case that was made last
  std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, std::string> surfaces_;  // (model, count, hash) → name
};

}  // namespace voussoir::deck
