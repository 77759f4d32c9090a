#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/response/harmonic_sweep.hpp>
#include <voussoir/framework/response/modal_time_history.hpp>
#include <voussoir/framework/response/response_spectrum.hpp>
#include <voussoir/framework/response/superposition.hpp>

// Results of a ModeSuperposition: over time, under a response spectrum, and over frequency. They refer to the
// AnalysisModel, which must outlive them, and are not changed by what is done to the ModeSuperposition later.

namespace voussoir {

namespace detail {
class ResponseColumns;
}  // namespace detail

/// How motion on a base that moves is seen. Without base motion both are the same.
enum class MotionFrame {
  relative,  ///< relative to the base: what strains the structure
  absolute   ///< with the motion of the base
};

/// The response in modal coordinates at one time; or its real or imaginary part at one frequency.
struct ModalPoint {
  double time = 0;                          ///< or the frequency
  std::vector<double> displacement;         ///< q of each selected mode
  std::vector<double> velocity;             ///< q′
  std::vector<double> acceleration;         ///< q″, relative to the base
  std::vector<double> loads;                ///< what each load pattern is multiplied by; base accelerations included
  std::vector<double> ground_velocity;      ///< of each pattern that is a base acceleration; 0 for load cases
  std::vector<double> ground_displacement;  ///< likewise; the base is at rest in its place at the start
  std::vector<int> modes = {};              ///< the modes of these coordinates, counted from 0; empty: not known
  std::uint64_t fingerprint = 0;            ///< of the shapes and frequencies of all modes; 0: not known
};

/// The extremes of a nodal field, component by component. NaN where a node has no such value.
struct FieldExtremes {
  NodalField maximum;       ///< the largest values
  NodalField maximum_time;  ///< the first times at which they occur
  NodalField minimum;       ///< the smallest values
  NodalField minimum_time;  ///< the first times at which they occur
  NodalField magnitude;     ///< the larger of |maximum| and |minimum|

  /// The extremes of one entry. Throws Error (not_found) for a component that the fields do not have.
  Extremes at(std::int32_t node, std::string_view component) const;
};

/// The extremes of reactions, and of their sums per unknown, which are not the sums of the extremes.
struct ReactionExtremes {
  FieldExtremes reactions;            ///< at supports; NaN elsewhere
  std::vector<std::string> unknowns;  ///< of the sums
  std::vector<Extremes> sums;         ///< of the sum of all reactions, for each of `unknowns`: base shear
};

/// The extremes of values at the points of a block's elements.
struct PointExtremes {
  std::int32_t block = 0;              ///< index of the domain's block
  int points = 0;                      ///< per element
  std::vector<std::int32_t> elements;  ///< indices within the block, ascending
  /// "sxx" … "sxz" and "mises" where elements have stresses, the latter from the stresses of each time; else all that
  /// they recover but positions, volume and energy.
  std::vector<std::string> names;
  std::vector<Extremes> values;  ///< elements × points × names

  /// By the place of the element in `elements`. Throws Error (not_found) for a name that is not there.
  const Extremes& at(std::size_t place, int point, std::string_view name) const;
  /// The greatest magnitude of a quantity and where it is. Throws Error (not_found).
  struct Largest {
    std::int32_t element = -1;  ///< index within the block
    int point = 0;              ///< of the element
    Peak peak;                  ///< value and time
  };
  /// The largest value of a result, given by its name, and where and when it occurs.
  Largest largest(std::string_view name) const;
};

/// What stresses over time may cost.
struct PointRequest {
  std::string element_set;    ///< "": all elements
  double memory_bytes = 2e9;  ///< for the values of all modes at once; more are computed in several passes
  int most_passes = 32;       ///< beyond, an Error (out_of_memory) that says how much memory would be needed
};

/// The response over time.
class SuperposedHistory {
 public:
  std::span<const double> times() const { return times_; }  ///< as requested
  std::size_t count() const { return times_.size(); }       ///< number of times
  const std::vector<int>& modes() const;                    ///< the modes that were superposed, counted from 0
  /// The modal coordinates at a time, given by its index.
  ModalPoint point(std::size_t time) const;
  ModalPoint end() const { return point(count() - 1); }  ///< to go on from: ModeSuperposition::set_initial_state()
  /// One coordinate of each mode at all times.
  CoordinateHistory coordinates(ModalQuantity quantity) const;

  /// The whole result at a time, as an analysis of one step would have it: displacements relative to the base,
  /// stresses from these, and reactions K u + M a + damping − loads on the supports, with the absolute acceleration a.
  /// Without `recover`, no values at points.
  StepResult state(std::size_t time, bool recover = true) const;
  /// Displacements, velocities or accelerations of all nodes at a time. The static correction moves displacements
  /// alone.
  NodalField field(std::size_t time, ModalQuantity quantity, MotionFrame frame = MotionFrame::relative) const;
  /// The history of one unknown of a node, by its id. Throws Error (not_found) where the node does not have it.
  std::vector<double> history(Id node, const std::string& unknown, ModalQuantity quantity = ModalQuantity::displacement,
                              MotionFrame frame = MotionFrame::relative) const;
  /// The sum of all reactions over time, for each unknown of the model: result[unknown][time].
  std::vector<std::vector<double>> reaction_sums() const;

  /// Extremes over the times of every unknown of every node.
  FieldExtremes extremes(ModalQuantity quantity = ModalQuantity::displacement,
                         MotionFrame frame = MotionFrame::relative) const;
  /// Extremes over the times of every reaction, and of the sums of reactions.
  ReactionExtremes reaction_extremes() const;
  /// Extremes over the times of stresses (Mises stresses included) and section forces: one entry per block.
  std::vector<PointExtremes> point_extremes(const PointRequest& request = {}) const;
  /// The floor spectra at a node: peaks of oscillators on its absolute acceleration.
  std::vector<OscillatorPeaks> floor_spectrum(Id node, const std::string& unknown, std::span<const double> periods,
                                              double damping_ratio) const;

 private:
  friend class ModeSuperposition;
  std::shared_ptr<const detail::ResponseColumns> columns_;
  std::vector<double> times_;
  std::vector<double> q_, v_, a_;                    // times × modes
  std::vector<double> loads_, ground_v_, ground_u_;  // times × patterns
};

/// The peaks of a response-spectrum analysis: none has a sign, and they do not occur at the same time.
struct SpectrumPeaks {
  NodalField displacement;           ///< of every unknown, relative to the base
  NodalField reactions;              ///< at supports; NaN elsewhere
  std::vector<double> reaction_sum;  ///< of the sum of reactions per unknown, combined from the sums of each mode
  std::vector<PointField> points;    ///< stresses or section forces, component by component; no invariants
  std::vector<std::string> notes;    ///< which modes left out were accounted for, and which were not
};

/// The steady response to harmonic loads.
class SuperposedSweep {
 public:
  std::span<const double> frequencies() const { return frequencies_; }  ///< in cycles per time
  std::size_t count() const { return frequencies_.size(); }             ///< number of frequencies
  const std::vector<int>& modes() const;                                ///< that were superposed, counted from 0
  /// Real and imaginary parts of the modal coordinates at a frequency, given by its index.
  std::pair<ModalPoint, ModalPoint> point(std::size_t frequency) const;

  /// The complex amplitude of one unknown of a node at all frequencies. Use std::abs and phase_degrees().
  std::vector<std::complex<double>> history(Id node, const std::string& unknown,
                                            ModalQuantity quantity = ModalQuantity::displacement,
                                            MotionFrame frame = MotionFrame::relative) const;
  /// A field with its real and imaginary part: the response is real · cos Ωt − imaginary · sin Ωt.
  struct Field {
    NodalField real;       ///< in phase with a load of factor 1
    NodalField imaginary;  ///< a quarter of a period ahead
  };
  Field field(std::size_t frequency, ModalQuantity quantity = ModalQuantity::displacement,
              MotionFrame frame = MotionFrame::relative) const;  ///< of all nodes at a frequency
  /// Real and imaginary part of the whole result at a frequency: displacements, stresses, reactions. Energies are those
  /// of the parts; invariants such as Mises stresses of the parts are not amplitudes.
  struct State {
    StepResult real;       ///< in phase with a load of factor 1
    StepResult imaginary;  ///< a quarter of a period ahead
  };
  State state(std::size_t frequency, bool recover = true) const;  ///< without `recover`, no values at points
  /// The largest amplitude of every unknown of every node over the frequencies, with its phase and frequency, by node
  /// and unknown as in a NodalField; NaN where a node has no such unknown.
  std::vector<HarmonicPeak> peaks(ModalQuantity quantity = ModalQuantity::displacement) const;

 private:
  friend class ModeSuperposition;
  std::shared_ptr<const detail::ResponseColumns> columns_;
  std::vector<double> frequencies_;
  std::vector<std::complex<double>> q_;      // frequencies × modes
  std::vector<std::complex<double>> loads_;  // frequencies × patterns
};

}  // namespace voussoir
