#pragma once
#include <cstdint>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/amg/amg_options.hpp>

// What hierarchies on one device and hierarchies that are divided have in common.

namespace voussoir::detail {

/// A level with more than this fraction of the rows of the preceding one is not worth its cost. Below this threshold
/// all neighbours are strong.
inline constexpr double most_kept = 0.4;
inline constexpr double least_threshold = 1e-3;
/// On the second level of solids the largest eigenvalue of D⁻¹A is 1.65 to 1.92, whatever the elements, as it is
/// estimated here; where walls are so thin that groups lie side by side in sheets, it is 2.02 to 2.4.
inline constexpr double walls_eigenvalue = 1.97;
/// Neighbours of a row in a sparse inverse. More of them would make it better, but not faster.
inline constexpr int most_neighbours = 20;

/// Steps of smoothing the prolongator of the finest level. Bending wants a smoother basis than one step makes.
int finest_basis_steps(const AmgOptions& options);
/// The factor of step k, from 1: those of the polynomial that makes the smoothed basis least energetic, with so many
/// steps, have roots at λ (1 − cos(2 k π / (2 steps + 1))) / 2; that is 3/4 λ for one step (Vaněk, Mandel and Brezina,
/// section 5).
double basis_factor(double largest_eigenvalue, int k, int steps);
/// The threshold to try next, after one that makes aggregates too small.
double lower_threshold(double threshold);

/// Throws the Error (singular) for an equation whose diagonal block is not positive definite.
[[noreturn]] void refuse_equation(const LinearSOE& soe, std::int32_t equation);
/// The same for a coarser level.
[[noreturn]] void refuse_coarser_level(const AmgOptions& options);
/// Throws the Error (misuse) for a system without a matrix.
[[noreturn]] void refuse_missing_matrix(const LinearSOE& soe);
/// Throws an Error (unavailable) for nodes with more unknowns than the services support.
void require_small_nodes(int height);

}  // namespace voussoir::detail
