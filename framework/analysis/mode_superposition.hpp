#pragma once
#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/analysis/superposed_response.hpp>
#include <voussoir/framework/response/modal_damping.hpp>
#include <voussoir/framework/response/spectral_combination.hpp>

namespace voussoir {

namespace detail {
class SuperpositionBasis;
}  // namespace detail

/// What the selected modes show of one load, and what they leave out.
struct LoadCoverage {
  std::string load;            ///< "base acceleration along x", "load case 'wind'"
  double frequency_limit = 0;  ///< of the highest mode that was selected, in cycles per time
  /// For base accelerations: the share of the mass (of the moment of inertia) that the modes move. Mass at supports
  /// counts in the total. NaN for load cases.
  double mass = 0;
  /// The share of the strain energy of the static response that the modes have; NaN where it is not known.
  double static_energy = 0;
  /// The largest error of a displacement of the static response by the modes alone, relative to the largest static
  /// displacement; NaN where it is not known.
  double static_error = 0;
  bool corrected = false;  ///< the static correction adds what is missing
};

/// What the selected modes leave out.
struct Truncation {
  std::vector<LoadCoverage> loads;  ///< one for each load pattern that acts
  /// The share of the initial displacement that the modes represent, as uᵀMu; NaN where none was given.
  double initial_displacement = 0;
  double initial_velocity = 0;     ///< likewise
  std::vector<std::string> notes;  ///< what else the user should know

  /// All of it in sentences: "modes 1 to 12 (up to 48.2 Hz) cover 87.2 % of the mass along x; …".
  std::string text() const;
  std::string modes;  ///< "modes 1 to 12 (up to 48.2 Hz)"
};

/// One direction of a response-spectrum analysis.
struct SpectrumInput {
  std::string direction;      ///< "x", "y", "z", "rx", "ry" or "rz"
  ResponseSpectrum spectrum;  ///< pseudo-accelerations for the damping of the modes
  double factor = 1;          ///< of the spectrum
  /// The acceleration of a rigid structure, with which the modes left out respond (missing mass); not multiplied by
  /// `factor`. Without: that of the spectrum at period 0, where its table begins there.
  std::optional<double> rigid_acceleration = {};
};

/// The response of a linear model by superposition of its modes: to base accelerations and load cases over time, to
/// response spectra, and to harmonic loads. Computes modal loads, static corrections, stresses and reactions from the
/// model.
///
///   auto analysis = make_modal_analysis(domain);
///   EigenRequest request;
///   request.modes = 20;
///   analysis->solve(request);
///   ModeSuperposition building = make_mode_superposition(*analysis);  //
///   <solvers/eigen/mode_superposition_problem.hpp> building.set_damping(ModalDamping::ratio(0.05));
///   building.add_base_acceleration("x", quake, 9.81);
///   const SuperposedHistory history = building.time_history(even_times(0, 30, 0.005));
///   history.extremes().magnitude.largest("ux");
///   building.truncation().text();  // "modes 1 to 20 (up to 31.7 Hz) cover 92.4 % of the mass along x; …"
///
/// Displacements are relative to the base, unless asked for otherwise. Damping by ratios is taken as dampers inside the
/// structure: their forces on the supports are in the reactions, and balance within the structure, so that reactions
/// and loads sum to mass times absolute acceleration. Mass-proportional damping (Rayleigh's α) acts on the motion
/// relative to the base, at the supports too.
///
/// Not covered, and refused: prescribed values other than zero, temperatures of load cases, elements that are not
/// linear or remember, damping of materials, constraints by penalty, and base accelerations that multi-point
/// equations do not allow the structure to follow.
class ModeSuperposition {
 public:
  /// The model must outlive the object and its results; of the modes, what is needed is copied to the model's backend.
  /// `mass` is the form of M that the modes belong to. Throws Error (bad_input) for modes of another model or another
  /// form of M, and for models that are not covered.
  ModeSuperposition(const AnalysisModel& model, const ModeSet& modes, MassKind mass = MassKind::consistent);
  ~ModeSuperposition();
  ModeSuperposition(ModeSuperposition&&) noexcept;             ///< what is moved from must not be used
  ModeSuperposition& operator=(ModeSuperposition&&) noexcept;  ///< likewise

  // --- the modes ------------------------------------------------------------------------------------------------
  /// Damping of the selected modes; none unless set.
  void set_damping(const ModalDamping& damping) { damping_ = damping; }
  /// Superposes the modes from `first` to `last`, counted from 1, both included; all modes unless called. Throws Error
  /// (bad_input) where there are no such modes.
  void select_modes(int first, int last);
  /// Superposes the modes whose frequencies are in this range, in cycles per time, ends included.
  void select_frequencies(double lowest, double highest);
  const std::vector<int>& selected_modes() const { return selected_; }  ///< counted from 0, ascending
  ModalSystem system() const;                                           ///< the selected modes with their damping

  // --- static correction ----------------------------------------------------------------------------------------
  /// What solves K u = f for the static correction. make_mode_superposition() sets it.
  void set_solver(std::shared_ptr<LinearSOE> soe, std::shared_ptr<Solver> solver);
  /// Whether modes that are left out follow the loads statically. Without this call they do if there is a solver and
  /// the model cannot move freely. Where they shall and cannot, results are an Error.
  void set_static_correction(bool on) { correction_ = on; }
  bool static_correction() const;  ///< whether results will be corrected

  // --- loads over time ------------------------------------------------------------------------------------------
  /// Adds an acceleration of the base: along "x", "y", "z", or about an axis through the origin, "rx", "ry", "rz".
  /// Throws Error (bad_input) where the supports and equations do not allow such a motion.
  void add_base_acceleration(const std::string& direction, const Accelerogram& acceleration, double factor = 1);
  /// The same with a function of time that need not end at zero.
  void add_base_acceleration(const std::string& direction, const Amplitude& acceleration, double factor = 1);
  /// Adds a load case of the domain: nodal, surface and body loads, times an amplitude, times a factor. Throws Error
  /// (not_found) for a name that does not exist, Error (bad_input) for temperatures.
  void add_load_case(const std::string& name, const Amplitude& amplitude = {}, double factor = 1);
  /// Removes all loads over time and all harmonic loads; initial values stay.
  void clear_loads();

  /// The time at which histories begin; 0 unless set.
  void set_start(double time) { start_ = time; }
  /// Displacements at the start, relative to the base: a field of the model's unknowns, such as
  /// StepResult::unknowns. The modes represent what truncation() says of it. Throws Error (bad_input) where supports
  /// are displaced or the field is of another model.
  void set_initial_displacement(const NodalField& displacement);
  /// Velocities at the start, likewise.
  void set_initial_velocity(const NodalField& velocity);
  /// Starts from what another history has reached: SuperposedHistory::end(). The modes, and which of them are selected,
  /// must be the same, else Error (bad_input); loads and the start are those that are set here.
  void set_initial_state(const ModalPoint& state);

  /// The response at these times, which must increase and not be before the start. The modal equations are solved
  /// exactly, whatever the steps.
  SuperposedHistory time_history(std::span<const double> times) const;

  // --- response spectra -----------------------------------------------------------------------------------------
  /// The peaks under spectra in one, two or three directions, combined. With static correction the modes left out
  /// respond with the acceleration of a rigid structure.
  SpectrumPeaks response_spectrum(std::span<const SpectrumInput> directions,
                                  ModalCombination combination = ModalCombination::cqc,
                                  DirectionalCombination directional = DirectionalCombination::srss,
                                  const PointRequest& points = {}) const;

  // --- harmonic loads -------------------------------------------------------------------------------------------
  /// Adds a harmonic load case: a complex factor for magnitude and phase, times an amplitude over the frequency.
  void add_harmonic_load_case(const std::string& name, std::complex<double> factor = 1,
                              const Amplitude& over_frequency = {});
  /// Adds a harmonic acceleration of the base, with directions as in add_base_acceleration().
  void add_harmonic_base_acceleration(const std::string& direction, std::complex<double> factor = 1,
                                      const Amplitude& over_frequency = {});
  /// The steady response at these frequencies, in cycles per time, which must increase. sweep_frequencies(system(), …)
  /// places them well. Throws Error (bad_input) at the resonance of an undamped mode.
  SuperposedSweep harmonic_sweep(std::span<const double> frequencies) const;

  /// What the selected modes leave out of the loads that were added (over time and harmonic) and of the initial values.
  Truncation truncation() const;
  /// The same of base accelerations in these directions, whether they were added or not.
  Truncation truncation(std::span<const std::string> directions) const;

 private:
  struct Load {
    int pattern;
    double factor;
    Amplitude amplitude;
    std::optional<double> begins;  // an accelerogram must not begin before the history
  };
  struct HarmonicLoad {
    int pattern;
    std::complex<double> factor;
    Amplitude over_frequency;
  };
  std::shared_ptr<const detail::ResponseColumns> columns(const std::vector<int>& patterns) const;
  LoadCoverage coverage(int pattern) const;
  Truncation truncation_of(const std::vector<int>& patterns) const;
  std::vector<double> initial(const std::vector<double>& of_all) const;

  std::shared_ptr<detail::SuperpositionBasis> basis_;
  ModalDamping damping_;
  std::vector<int> selected_;
  std::optional<bool> correction_;
  std::vector<Load> loads_;
  std::vector<HarmonicLoad> harmonic_;
  double start_ = 0;
  std::vector<double> displacement_, velocity_;                // of all modes at the start; empty: at rest
  std::optional<double> displacement_whole_, velocity_whole_;  // uᵀMu of the fields that were given
};

}  // namespace voussoir
