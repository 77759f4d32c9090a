#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <voussoir/framework/io/job/dynamic_step.hpp>
#include <voussoir/framework/response/amplitude.hpp>
#include <voussoir/framework/response/modal_damping.hpp>
#include <voussoir/framework/response/response_spectrum.hpp>
#include <voussoir/framework/response/spectral_combination.hpp>

// What steps of natural modes and of mode superposition ask for. A JobStep owns one of these structs.

namespace voussoir {

/// Natural frequencies and modes (*FREQUENCY).
struct FrequencyStep {
  int modes = 0;                                           ///< how many; 0: all between `from` and `below`
  double from = 0;                                         ///< lowest frequency, in cycles per unit of time
  double below = std::numeric_limits<double>::infinity();  ///< highest frequency, likewise
};

/// Damping of the modes of a step: ratios of modes, and Rayleigh's factors.
struct StepDamping {
  /// The damping ratio of some modes.
  struct Ratio {
    int first = 1,           ///< number of the first mode, from 1
        last = 1;            ///< number of the last mode
    double ratio = 0;        ///< to critical damping
    std::string where = {};  ///< file and line: "beam.inp:40"; may be empty
  };
  std::vector<Ratio> ratios;  ///< later ones replace earlier ones; modes that none names have `all`
  double all = 0;             ///< ratio of all other modes
  double alpha = 0;           ///< C = α M + β K, in addition: factor of the mass matrix
  double beta = 0;            ///< factor of the stiffness matrix
  /// The damping of so many modes.
  ModalDamping of(int modes) const;
};

/// A load case of the step's domain with its own course.
struct StepLoad {
  std::string load_case;  ///< name in the domain
  Amplitude amplitude;    ///< over the time of the step from 0 on, or over the frequency
  double real = 1;        ///< real part of the factor, for harmonic steps
  double imaginary = 0;   ///< its imaginary part
  /// Replaces the amplitude if the variation is not piecewise linear: radiation to surroundings whose temperature has
  /// an amplitude.
  std::function<double(double time)> course = {};
};

/// A motion of all supports together, given as an acceleration.
struct BaseMotion {
  int direction = 0;       ///< 0, 1, 2: x, y, z
  Amplitude acceleration;  ///< over the time of the step from 0 on; over the frequency in harmonic steps
  double real = 1;         ///< real part of the factor, for harmonic steps
  double imaginary = 0;    ///< its imaginary part
};

/// The states of a step of which files for viewers are written.
struct StateOutput {
  int every = 0;              ///< every so many states; 0: all, or as many as are reasonable
  std::vector<double> times;  ///< at these times of the step instead, ascending; empty: by `every`
  // Of direct integration, instead:
  double interval = 0;  ///< the first state at or after each multiple of this time; 0: not by time
  /// A state that differs from the one written last by more than this share of the largest value so far; 0: not by
  /// change.
  double change = 0;
};

/// The response of modes over time (*MODAL DYNAMIC).
struct ModalDynamicStep {
  std::size_t modes_of = 0;  ///< index of the frequency step whose modes are used
  std::optional<std::size_t>
      continues;                 ///< index of the step whose end is the initial state; none: `displacement`, `velocity`
  double increment = 1;          ///< time between two states
  double period = 1;             ///< of the step
  double start = 0;              ///< total time at its beginning
  StepDamping damping;           ///< of its modes
  std::vector<StepLoad> loads;   ///< that act
  std::vector<BaseMotion> base;  ///< of its supports
  StateOutput states;            ///< that are written to files
  bool static_correction = false;     ///< whether modes that are left out follow the loads statically
  using Initial = InitialMotion;      ///< a displacement or velocity of a node at the beginning
  std::vector<Initial> displacement;  ///< at the beginning of the first step of its modes
  std::vector<Initial> velocity;      ///< at the same time
};

/// The response over time by direct integration (*DYNAMIC), or temperatures over time (transient *HEAT TRANSFER).
struct DynamicStep {
  DynamicTimes times;  ///< period and increments
  std::optional<std::size_t>
      continues;                 ///< index of the step whose end is the initial state; none: `displacement`, `velocity`
  std::string method = "hht";    ///< of integration: a name for make_time_integrator()
  double alpha = 0;              ///< damping of the whole model, C = α M + β K: factor of the mass matrix
  double beta = 0;               ///< factor of the stiffness matrix; materials add their own
  std::vector<StepLoad> loads;   ///< that act
  std::vector<BaseMotion> base;  ///< accelerations of all supports together
  std::vector<MovedSupports> moved;                    ///< supports that move; others rest with what is prescribed
  StateOutput states;                                  ///< that are written to files
  std::vector<InitialMotion> displacement = {};        ///< at the beginning; temperatures of transient heat
  std::vector<InitialMotion> velocity = {};            ///< at the beginning
  std::optional<ExplicitMethod> explicit_method = {};  ///< central differences in place of `method`
};

/// Static states under the temperatures of a step of transient heat, which is JobStep::heated_by (transient *UNCOUPLED
/// TEMPERATURE-DISPLACEMENT).
struct ThermalStressStep {
  double start = 0;                  ///< total time at its beginning
  std::vector<StepLoad> loads;       ///< that act
  std::vector<MovedSupports> moved;  ///< supports that move; others rest with what is prescribed
  StateOutput states;                ///< increments of the heat step that are written to files
};

/// The response of modes to harmonic loads (*STEADY STATE DYNAMICS).
struct HarmonicStep {
  std::size_t modes_of = 0;        ///< index of the frequency step whose modes are used
  double lowest = 0;               ///< first frequency, in cycles per unit of time
  double highest = 0;              ///< last frequency
  std::size_t points = 20;         ///< between two natural frequencies, both included
  double bias = 3;                 ///< above 1, points are closer to natural frequencies
  StepDamping damping;             ///< of its modes
  std::vector<StepLoad> loads;     ///< that act; amplitudes are over frequency
  std::vector<BaseMotion> base;    ///< of its supports
  bool static_correction = false;  ///< whether modes that are left out follow the loads statically
};

/// Peaks under a response spectrum.
struct SpectrumStep {
  std::size_t modes_of = 0;  ///< index of the frequency step whose modes are used
  /// One direction of the excitation.
  struct Direction {
    int direction = 0;          ///< 0, 1, 2: x, y, z
    ResponseSpectrum spectrum;  ///< of the pseudo-acceleration
    double factor = 1;          ///< multiplies the spectrum
    /// The acceleration of a rigid structure, SpectrumInput::rigid_acceleration; none: that of the spectrum at period 0
    std::optional<double> rigid_acceleration = {};
  };
  std::vector<Direction> directions;  ///< one to three
  bool static_correction = false;     ///< whether modes that are left out respond like a rigid structure (missing mass)
  StepDamping damping;                ///< for CQC
  ModalCombination combination = ModalCombination::cqc;               ///< of modes
  DirectionalCombination directional = DirectionalCombination::srss;  ///< of directions
};

/// What a step with several states asks for: modes, mode superposition, direct integration; nothing for statics and
/// heat.
using ModalRequest = std::variant<std::monostate, FrequencyStep, ModalDynamicStep, HarmonicStep, SpectrumStep,
                                  DynamicStep, ThermalStressStep>;

}  // namespace voussoir
