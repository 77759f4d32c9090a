#pragma once
#include <cstdint>

#include <voussoir/framework/response/accelerogram.hpp>
#include <voussoir/framework/response/eurocode8_spectrum.hpp>
#include <voussoir/framework/response/response_spectrum.hpp>

namespace voussoir {

/// What an artificial earthquake is like; see artificial_earthquake(). Times are in seconds, or in the unit of the
/// periods of the target.
struct ArtificialEarthquake {
  ResponseSpectrum target = eurocode8_spectrum();  ///< pseudo-acceleration; the record has its unit
  double damping_ratio = 0.05;                     ///< of the target; from 0.03 to 0.2
  double shortest_period = 0.03;                   ///< where the match with the target begins; at least three steps
  double longest_period = 2.5;                     ///< where it ends; at most a fifth of the duration
  double duration = 20;                            ///< of the record; a whole number of steps
  double step = 0.01;                              ///< between two points of the record
  double strong_begin = 2;                         ///< the envelope rises as the square of the time until then,
  double strong_end = 12;                          ///< is constant until then,
  double decay = 0.4;                              ///< and falls to zero like e^(−decay · time) from then on
  std::uint64_t seed = 4;                          ///< of the phases: another seed, another record
  double tolerance = 0.1;                          ///< the largest relative deviation from the target
};

/// An accelerogram that is compatible with a response spectrum: the largest pseudo-accelerations of oscillators between
/// the shortest and the longest period deviate from the target by no more than the tolerance. It is made by the method
/// of Gasparini and Vanmarcke (SIMQKE, Massachusetts Institute of Technology 1976): a sum of sines with random phases,
/// under an envelope, whose amplitudes are multiplied by the ratio of the target to the computed spectrum. That ends at
/// deviations of some 15 %; least changes of all amplitudes, which the peaks depend on linearly, reduce them. A smooth
/// correction of the baseline brings the ground to rest where it began: velocity and displacement are zero at the end.
/// The same options give the same record: the phases come from a generator of its own (SplitMix64), so that machines
/// differ by the rounding of their sine functions alone.
///
///   const Accelerogram quake = artificial_earthquake();   // Eurocode 8, type 1, ground B: 20 s, about 0.3 g
///
/// Throws Error (bad_input) for options outside the ranges above, for targets that are not positive or do not cover
/// these periods, and (not_converged) if the record does not come within the tolerance, as with targets so
/// narrow or uneven that no earthquake of this duration has them.
Accelerogram artificial_earthquake(const ArtificialEarthquake& options = {});

}  // namespace voussoir
