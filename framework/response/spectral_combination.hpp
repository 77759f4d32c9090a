#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <voussoir/framework/response/modal_system.hpp>
#include <voussoir/framework/response/modal_values.hpp>
#include <voussoir/framework/response/response_spectrum.hpp>

namespace voussoir {

/// How the peaks of the modes are combined, since they do not occur at the same time.
enum class ModalCombination {
  srss,         ///< square root of the sum of squares: for frequencies that are well apart
  cqc,          ///< complete quadratic combination (Der Kiureghian 1981): close frequencies too
  absolute_sum  ///< sum of magnitudes: an upper bound
};

/// How the results of the directions of an earthquake are combined.
enum class DirectionalCombination {
  srss,            ///< square root of the sum of squares
  hundred_thirty,  ///< 100 % of one direction and 30 % of the others, whichever is largest
  hundred_forty    ///< 100 % of one direction and 40 % of the others, whichever is largest
};

/// The correlation of the responses of two modes to white noise, as CQC has it (Der Kiureghian, Earthquake Eng. Struct.
/// Dyn. 9, 1981): with r = ω_j/ω_i, 8 √(ζ_i ζ_j) (ζ_i + r ζ_j) r^{3/2} / ((1 − r²)² + 4 ζ_i ζ_j r (1 + r²) + 4 (ζ_i² +
/// ζ_j²) r²). Without damping, 1 for equal frequencies and 0 otherwise. Throws Error (bad_input) for frequencies that
/// are not positive and ratios that are negative.
double cqc_correlation(double omega_i, double ratio_i, double omega_j, double ratio_j);

/// The peaks of the modal coordinates under a spectrum in one direction, Γ_i S_a(ω_i)/ω_i², with the sign of the
/// participation factor. Throws Error (bad_input) for rigid modes that participate, and for modes outside the table.
std::vector<double> spectral_coordinates(const ModalSystem& modes, std::span<const double> participation,
                                         const ResponseSpectrum& spectrum);

/// The combined peaks of a result, one for each entry, never negative. `coordinates` are those of
/// spectral_coordinates(). If there are more columns and coordinates than modes, the further ones are residuals of
/// modes left out (see residual_values()), with the acceleration of the rigid structure as coordinate. They are
/// independent of the modes in SRSS and CQC, and of one another. Throws Error (misuse) where sizes differ, Error
/// (bad_input) for CQC with rigid modes that respond. Uses all threads.
std::vector<double> combine_modes(const ModalSystem& modes, const ModalValues& values,
                                  std::span<const double> coordinates, ModalCombination combination);

/// Combines the results of two or three directions, entry by entry; with one direction, its magnitudes. Throws Error
/// (misuse) for other numbers of directions and where sizes differ.
std::vector<double> combine_directions(std::span<const std::vector<double>> directions,
                                       DirectionalCombination combination);

}  // namespace voussoir
