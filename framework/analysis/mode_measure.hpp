#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <voussoir/framework/analysis/eigen_solver.hpp>

// What all eigen-solvers share, on one process or on several: the checks of a request, and the assessment of
// modes by means of the matrices.

namespace voussoir {

/// What the matrices say of the vector φ of a mode. D is the diagonal of K.
struct ModeMeasure {
  double energy = 0;  ///< φᵀKφ
  double weight = 0;  ///< φᵀMφ
  double bound = 0;   ///< φᵀDφ
  double force = 0;   ///< ‖Kφ‖
  double size = 0;    ///< ‖Dφ‖
  double rest = 0;    ///< ‖Kφ − λMφ‖, with λ = 0 for a motion without stiffness
};

/// What rounding leaves of the energy of a motion without stiffness, relative to that of the diagonal alone.
inline constexpr double energy_lost_in_rounding = 32 * std::numeric_limits<double>::epsilon();

/// The eigenvalue of a mode: its Rayleigh quotient, or 0 for a motion without stiffness.
inline double eigenvalue_of_measure(const ModeMeasure& measure, bool free) {
  return free ? 0.0 : measure.energy / measure.weight;
}

/// Fills in eigenvalues, frequencies, residuals and whether all of them are small enough. Which modes are free is in
/// the report already.
void judge_modes(std::span<const ModeMeasure> measures, double tolerance, EigenReport& report);

/// Throws Error (bad_input) for a request that makes no sense.
void check_eigen_request(const EigenRequest& request);

/// Adds a note once.
void note_once(EigenReport& report, const std::string& text);

/// The note on unknowns with stiffness and without mass.
std::string massless_note(std::int64_t count);

}  // namespace voussoir
