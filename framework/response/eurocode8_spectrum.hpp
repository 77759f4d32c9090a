#pragma once
#include <voussoir/framework/response/response_spectrum.hpp>

namespace voussoir {

/// The numbers of the horizontal elastic response spectrum of Eurocode 8 (EN 1998-1:2004, 3.2.2.2). The defaults are
/// the recommended ones for the spectrum of type 1 on ground of type B (table 3.2), with a ground acceleration in parts
/// of g. A National Annex may have others.
struct Eurocode8Spectrum {
  double ground_acceleration = 0.25;  ///< a_g on ground of type A; its unit is that of the spectrum
  double soil_factor = 1.2;           ///< S
  double plateau_begin = 0.15;        ///< T_B, in seconds
  double plateau_end = 0.5;           ///< T_C
  double displacement_begin = 2.0;    ///< T_D: the spectral displacement is constant from here on
  double damping_ratio = 0.05;        ///< ξ, as a ratio, not in per cent
};

/// The elastic spectrum S_e(T) of Eurocode 8, equations 3.2 to 3.6, from 0 to 4 s: a_g S at the period 0, a plateau of
/// 2.5 η a_g S between T_B and T_C, then falling as 1/T and, from T_D on, as 1/T². The damping factor is
/// η = √(0.10/(0.05 + ξ)) ≥ 0.55. The table is so dense that linear interpolation in it is accurate to 1e-4. Throws
/// Error (bad_input) unless a_g and S are positive, 0 < T_B ≤ T_C ≤ T_D < 4 s, and the damping ratio is at least 0 and
/// below 1.
ResponseSpectrum eurocode8_spectrum(const Eurocode8Spectrum& numbers);
/// That of the default numbers.
ResponseSpectrum eurocode8_spectrum();

}  // namespace voussoir
