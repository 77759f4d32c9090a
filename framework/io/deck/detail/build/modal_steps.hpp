#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/deck/detail/build/steps.hpp>

namespace voussoir::deck {

/// Makes what steps of modes and of mode superposition ask for. Remembers what later steps of a deck take over from
/// earlier ones: the modes, the damping, the motion.
class ModalStepMaker {
 public:
  ModalStepMaker(Build& build, LoadMaker& loads) : b_(build), loads_(loads) {}

  /// Notes initial displacements and velocities of decks that have no step to begin with them.
  void note_initial_motions() const;
  /// Notes that damping of materials does not act in some steps, and *TIME POINTS that nothing refers to.
  void note_unused_cards() const;
  /// Fills JobStep::modal, and the times of tables. The supports of the step are there already; `start` is the total
  /// time at its beginning. Steps of statics and heat end what a later step could continue.
  void make(JobStep& step, std::size_t index, const StepCard& card, Model& model, ActingState& state, double start);

 private:
  FrequencyStep frequency(const JobStep& step, std::size_t index, const StepCard& card, const ActingState& state);
  ModalDynamicStep dynamic(JobStep& step, std::size_t index, const StepCard& card, Model& model, ActingState& state,
                           double start);
  HarmonicStep harmonic(const JobStep& step, std::size_t index, const StepCard& card, Model& model, ActingState& state);
  /// Direct integration: dynamic_step.cpp.
  DynamicStep direct(JobStep& step, std::size_t index, const StepCard& card, Model& model, ActingState& state,
                     double start);
  void check_direct(const JobStep& step, const StepCard& card, const Model& model, ActingState& state) const;
  /// Errors for a step of explicit dynamics that cannot continue the one before.
  void check_explicit_sequence(const StepCard& card) const;
  void take_bulk_viscosity(const StepCard& card, ExplicitMethod& method) const;
  /// Temperatures of a step of direct integration, as load cases: values times their amplitudes.
  void add_temperatures(const JobStep& step, Model& model, ActingState& state, double start,
                        std::vector<StepLoad>& loads);
  /// Motions of supports over a step of `period`, which begin where supports are.
  std::vector<MovedSupports> moved_supports(const Model& model, ActingState& state, double start, double period);
  /// Statics in increments: static_step.cpp.
  DynamicStep increments(JobStep& step, std::size_t index, const StepCard& card, Model& model, ActingState& state,
                         double start);
  void check_increments(const JobStep& step, const StepCard& card, const ActingState& state) const;
  void ramp_loads(const StepCard& card, ActingState& state, const std::vector<bool>& plain,
                  std::vector<StepLoad>& loads);
  void refuse_replaced_loads(ActingState& state);
  std::vector<MovedSupports> ramped_supports(JobStep& step, const StepCard& card, const Model& model,
                                             ActingState& state, double start);
  /// Transient heat: heat_step.cpp.
  DynamicStep heat(JobStep& step, const StepCard& card, Model& model, ActingState& state, double start);
  std::vector<StepLoad> heat_loads(const JobStep& step, Model& model, ActingState& state, double start);
  void add_sent_flux(Model& model, const std::string& name, const std::vector<Acting>& fluxes,
                     const AmplitudeCard& sink, const AmplitudeCard* coefficient, double start,
                     const std::function<double(double)>& of_sink, std::vector<StepLoad>& loads);
  void add_coefficient_loads(const JobStep& step, Model& model, ActingState& plain, double start,
                             std::vector<StepLoad>& loads);
  std::string name_of_amplitude(const AmplitudeCard* amplitude) const;  ///< "" where there is none
  void add_film_loads(const JobStep& step, Model& model, ActingState& state, double start,
                      std::vector<StepLoad>& loads);
  void add_radiation_loads(const JobStep& step, Model& model, ActingState& state, double start,
                           std::vector<StepLoad>& loads);
  std::vector<MovedSupports> moved_temperatures(const Model& model, ActingState& state, double start) const;
  /// Thermal stress at the times of the step of heat before.
  ThermalStressStep stress(JobStep& step, const StepCard& card, Model& model, ActingState& state, double start);
  std::vector<MovedSupports> moved_in_stress(const Model& model, ActingState& state, double start) const;
  /// Errors for what a step of transient heat does not take.
  void check_heat(const StepCard& card, const Model& model) const;
  /// What files and tables of a step over time are written at.
  void set_outputs(JobStep& step, const StepCard& card, double start, StateOutput& states) const;
  /// The step whose modes are superposed. Errors for what a superposition does not take.
  std::size_t modes_for(const JobStep& step, const StepCard& card, ActingState& state) const;
  StepDamping damping_for(const StepCard& card);
  /// `plain`, where it is given, takes whether each of the loads follows no amplitude.
  std::vector<StepLoad> loads_for(const JobStep& step, Model& model, ActingState& state, double start, bool harmonic,
                                  std::vector<bool>* plain = nullptr);
  const AmplitudeCard& amplitude_of(const BaseMotionCard& motion) const;
  std::vector<double> times_of(const std::string& name, double start, double period, Place place) const;
  void set_initial_motion(std::vector<InitialMotion>& displacement, std::vector<InitialMotion>& velocity,
                          const Model& model) const;
  void refuse_old_loads(const ActingState& state, bool harmonic, bool superposed) const;
  void refuse_changing_materials(const JobStep& step, const StepCard& card) const;
  /// Errors for temperatures of a heat step, and for damping of materials.
  void refuse_heated(const JobStep& step, const StepCard& card) const;
  void refuse_damped_materials() const;
  std::string name_of_share(const StepTime::Share& share, const JobStep& step) const;

  Build& b_;
  LoadMaker& loads_;
  std::optional<std::size_t> frequency_;                // the last step of modes
  std::shared_ptr<const Supports> frequency_supports_;  // of that step
  std::optional<std::size_t> dynamic_;                  // the last step of modal dynamics with these modes
  std::optional<std::size_t> harmonic_;                 // the last harmonic step
  std::optional<std::size_t> direct_;           // the last step of direct integration, where one can continue it
  std::optional<std::size_t> last_heat_;        // the last step of heat, whose temperatures the next one begins with
  bool any_direct_ = false;                     // there was one before
  std::map<std::uint64_t, double> support_at_;  // where supports are at the end of that step, by key; else 0
  std::vector<StepLoad> ended_loads_;           // of the last step of statics in increments: load cases and factors
  std::set<std::pair<int, std::uint64_t>> ended_keys_;  // what those loads act on, by ledger
  std::set<std::uint64_t> ended_supports_;              // what was supported in that step
  bool any_dynamic_ = false;                            // there was a step of modal dynamics
  bool loaded_statics_ = false;                         // the last static step had loads
  bool deformed_ = false;                               // there was such a step since the last modes
  bool ever_deformed_ = false;                          // there was such a step at all
  Place step_place_;                                    // of the step that is being made
  StepDamping damping_;                                 // lasts until it is given anew
};

}  // namespace voussoir::deck
