#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/central_differences.hpp>
#include <voussoir/framework/analysis/transient_analysis.hpp>

namespace voussoir {

namespace detail {
class LengthChanges;
class StableStep;
}  // namespace detail

/// How an ExplicitAnalysis divides time.
struct ExplicitSteps {
  double start = 0;  ///< time at which it begins
  double end = 1;    ///< time at which it ends
  /// The largest size of a step, which is shortened to meet `end` and `times`; 0: `factor` times the stability limit.
  double step = 0;
  double factor = 0.9;  ///< of the estimated limit, where `step` is 0; up to 1
  /// If `step` is 0: the longest step, even if the limit would allow a longer one.
  double longest = std::numeric_limits<double>::infinity();
  /// If `step` is 0: a limit that requires shorter steps than this is an Error, so that a run does not become very slow
  /// without notice.
  double shortest = 0;
  /// The most steps from one estimate of the limit to the next where the model is not linear. An estimate is also made
  /// where the distance between two nodes of an element has changed by about 5 % since the last one. The limit of a
  /// linear model is estimated once. Where `step` is 0, no distance changes by much more than 5 % in a step.
  int estimate_every = 500;
  /// Whether the limit is estimated and steps beyond it are refused. Without, `step` must be given, and the balance of
  /// energy alone shows an instability.
  bool limited = true;
  /// Steps from one report to the next: energies, balance, recorders, watch(). 0: by `report_interval` alone.
  int report_every = 100;
  /// Additional reports at the first step that ends at or after each multiple of this time; 0: none.
  double report_interval = 0;
  std::vector<double> times = {};  ///< that steps must end at, besides `end`; ascending. They are reported too.
  /// The largest share of the energy that was supplied so far (supplied_energy()) that may be missing in the balance,
  /// or too much. What central differences leave is ⅛ h² aᵀMa, which is less than the strain energy as long as the step
  /// is stable: the default separates steps that are stable from those that are not. A smaller one asks for accuracy in
  /// time.
  double balance_tolerance = 0.95;
};

/// The energy that a structure was given, to compare EnergyBalance::numerical() with: the initial energy, the amount of
/// the external work, and what the forces of elements gave off, as those of heated elements do. Energies that an
/// unstable integration creates are not part of it.
double supplied_energy(const EnergyBalance& energies);

/// Mass that is added to small or stiff elements, so that longer steps are stable.
struct MassScaling {
  /// The required step; 0: no mass is added. With `ExplicitSteps::factor`, the stability limit of every element becomes
  /// at least step / factor: the mass of an element whose limit h is shorter is multiplied by (step / (factor · h))².
  double step = 0;
  /// The largest fraction of the mass of the model that may be added. More is an Error that states the fraction.
  double most_added = 0.05;
};

/// What an explicit analysis did.
struct ExplicitReport {
  std::int64_t steps = 0;             ///< taken
  double smallest_step = 0;           ///< of these
  double largest_step = 0;            ///< of these
  double limit = 0;                   ///< of stability, estimated last, bulk viscosity included; 0 where it was not
  double smallest_limit = 0;          ///< of all estimates
  int estimates = 0;                  ///< of the limit
  int products = 0;                   ///< with the tangent, for all estimates together
  double worst_balance = 0;           ///< largest error of the energy balance, relative to the supplied energy
  double added_mass = 0;              ///< by mass scaling, as a fraction of the mass of the model
  std::int64_t scaled_elements = 0;   ///< to which mass was added
  std::string critical_element = {};  ///< with the shortest stable step, where mass scaling looked for it
};

/// Explicit dynamics: integrates M a + D v + f(u) = p(t) by central differences with lumped masses, on any backend. A
/// step evaluates the forces of the elements once and solves nothing. Any law may be used, with large displacements
/// (total Lagrangian) and with history. Steps must be shorter than 2 / ω of the highest frequency of the mesh, which is
/// estimated at the start and, for models that are not linear, during the run.
///
///   ExplicitAnalysis analysis(domain, {.backend = Backend::open("auto")});
///   analysis.loads().add_load_case("impact", Amplitude({{0, 1}, {1e-4, 0}}));
///   analysis.set_steps({.end = 2e-3});
///   auto results = analysis.run();
///
/// Recorders, energies and the check of their balance see a state every ExplicitSteps::report_every steps, at the times
/// asked for, and at the end; a step in between copies nothing to the host. Multi-point equations, supports along other
/// directions than the unknowns', unknowns without mass and damping by the stiffness are refused.
class ExplicitAnalysis : public Analysis {
 public:
  /// The domain must outlive the analysis. Throws Error (misuse) without a backend, or with an integrator that is not
  /// CentralDifferences. SOE and solver are not used.
  ExplicitAnalysis(const Domain& domain, Collaborators collaborators);
  ExplicitAnalysis(const Domain&& domain, Collaborators collaborators) = delete;
  ExplicitAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators);  ///< shares the domain
  ~ExplicitAnalysis() override;

  /// What acts over time. Changes take effect when the analysis starts.
  TimeLoads& loads() { return loads_; }
  /// Damping of the whole model: by the mass alone. Materials add their own.
  void set_damping(const RayleighDamping& damping) { integrator().set_damping(damping); }
  /// Steps of time. Throws Error (bad_input) for sizes that are not possible.
  void set_steps(ExplicitSteps steps);
  const ExplicitSteps& steps() const { return steps_; }  ///< as set
  /// Mass scaling. It changes only inertial forces and kinetic energy: weight, other body loads and damping are those
  /// of the given mass. Base accelerations are refused with it. Throws Error (bad_input) for invalid numbers.
  void set_mass_scaling(const MassScaling& scaling);
  const MassScaling& mass_scaling() const { return scaling_; }  ///< as set
  /// Bulk viscosity (default: none). Throws Error (bad_input) for coefficients that are negative or not finite; start()
  /// throws Error (bad_input) for a model with solid elements that have none. Its forces are computed on the host, and
  /// steps are taken one at a time.
  void set_bulk_viscosity(const BulkViscosity& viscosity) { integrator().set_bulk_viscosity(viscosity); }
  /// Displacements at the start: a field of the model's unknowns. NaN counts as 0; supports have what is prescribed.
  void set_initial_displacement(NodalField displacement) { displacement_ = std::move(displacement); }
  /// Velocities at the start, likewise.
  void set_initial_velocity(NodalField velocity) { velocity_ = std::move(velocity); }
  /// What elements remember at the start, of a state of this model; null: nothing. The strain energy of a body that has
  /// yielded does not follow from its displacements: energies are those since the start.
  void set_initial_history(std::shared_ptr<const ElementHistory> history) { history_ = std::move(history); }
  /// Recover stresses and section forces for the results of run() (default: yes).
  void set_recovery(bool on) { recover_ = on; }
  /// Takes the result of a state as soon as it is there; run() then returns none.
  std::function<void(double time, StepResult result)> finished;
  /// Called at each report; returning false stops the analysis with Error (cancelled).
  std::function<bool(const TransientProgress&)> watch;

  /// Integrates from the start to the end. Results: at ExplicitSteps::times and at the end. Throws Error
  /// (not_converged) with the time and the amount where the energies are out of balance, Error (bad_input) where a step
  /// exceeds the stability limit, which it names, or the model is one that is refused.
  std::vector<StepResult> run() override;
  /// Integrates from the current state to the end, after start() or restore().
  std::vector<StepResult> finish();

  /// Prepares the initial state and the size of the first step. run() does it.
  void start();
  /// Takes so many steps, as run() would, and fewer where the end is reached: for loops of one's own, after start().
  /// The state is measured, committed and recorded afterwards.
  void advance(std::int64_t steps);
  const AnalysisState& state() const;  ///< committed last; Error (misuse) before start()
  bool at_end() const;                 ///< whether the state is that of the end
  const EnergyBalance& energies() const { return integrator().energies(); }  ///< of that state
  const ExplicitReport& report() const { return report_; }                   ///< so far
  CentralDifferences& integrator() const;                                    ///< of the collaborators
  StepResult result(bool recover = true);                                    ///< of the committed state

  /// Writes the complete state: unknowns, rates, velocities between steps, history, forces, work, and the settings of
  /// the steps. Throws Error (io) if the stream fails.
  void save(std::ostream& to);
  /// Continues from what save() wrote, of an analysis of the same domain with the same loads, damping and steps. On the
  /// same backend with the same number of threads and devices, finish() gives the same bits. Throws Error
  /// (bad_input) for bytes that are damaged or belong to another model.
  void restore(std::istream& from);

 private:
  void set_up();
  AnalysisState initial_state() const;
  void scale_mass();
  void prepare_estimates();
  double allowed_step();
  void estimate_limit();
  double largest_viscous_ratio() const;
  bool viscosity_outgrew() const;
  bool limit_due();
  void start_lengths();
  void check_lengths();
  bool loads_change(double until) const;
  double share_of_limit() const;
  void plan_segment();
  /// Steps that were taken, and whether the last of them ends at a time that must be met.
  struct Taken {
    std::int64_t steps;
    bool met;
  };
  bool step();
  Taken take_steps(std::int64_t most);
  std::int64_t steps_to_report() const;
  double end_of(std::int64_t step) const;
  void count_steps(std::int64_t count, double size);
  bool report_due() const;
  void report_state();
  void check_balance();
  void report_progress();

  TimeLoads loads_;
  ExplicitSteps steps_;
  MassScaling scaling_;
  NodalField displacement_, velocity_;
  std::shared_ptr<const ElementHistory> history_;
  bool recover_ = true;
  AnalysisState state_;
  bool started_ = false;
  std::unique_ptr<detail::StableStep> stable_;
  int products_before_ = 0;                                // of the run that was resumed
  double segment_start_ = 0, segment_end_ = 0, size_ = 0;  // steps of one size, up to a time that they must meet
  std::int64_t segment_steps_ = 0, taken_ = 0;             // of the segment
  std::int64_t next_estimate_ = 0;
  std::unique_ptr<detail::LengthChanges> lengths_;          // null: the limit does not change
  std::int64_t next_check_ = 0, steps_between_checks_ = 1;  // of lengths
  double length_rate_ = 0;                                  // the largest at the last check
  double next_report_ = 0;                                  // time, where reports are made by time
  double largest_supply_ = 0;
  double undamped_limit_ = 0;  // without bulk viscosity
  double unit_rate_ = 0;       // of bulk viscosity with the coefficient 1: CentralDifferences::viscous_rate()
  double planned_ratio_ = 0;   // of bulk viscosity: CentralDifferences::viscous_ratio() that steps are planned for
  ExplicitReport report_;
  std::optional<Stopwatch> watch_since_;
  double watched_from_ = 0;
};

}  // namespace voussoir
