#pragma once
#include <span>
#include <vector>

#include <voussoir/partition/coarse_space.hpp>

namespace voussoir {

/// Eigenpairs A v = λ B v of a symmetric positive semi-definite A and a symmetric positive definite B.
struct LowEigenpairs {
  std::vector<double> values;                ///< ascending
  std::vector<std::vector<double>> vectors;  ///< of norm 1 in B
};
/// All eigenpairs of A v = λ B v with λ below a positive threshold. Their number is counted by the inertia of
/// A − threshold · B, so that none is missed. Small matrices are solved densely, larger ones by block Lanczos iteration
/// on the factorised A + threshold · B. Matrices of different sizes are an Error (misuse); if B is not positive
/// definite or the iteration does not find all pairs, an Error (singular or not_converged).
LowEigenpairs low_eigenpairs(const SymmetricCsr& a, const SymmetricCsr& b, double threshold);

/// Coarse space of generalised eigenproblems in the overlaps (GenEO), which makes two-level Schwarz methods robust for
/// any jumps of the material, within parts and across interfaces.
///
/// With A_p the Neumann matrix of an overlapping set (overlapping_neumann()), D_p its weights of the partition of unity
/// and R_p A R_pᵀ its block of the matrix, each set has the coarse vectors R_pᵀ D_p v for
///
///   A_p v = λ D_p (R_p A R_pᵀ) D_p v,   λ < threshold
///
/// Up to `threads` threads solve eigenproblems at the same time. The condition number of the two-level additive method
/// is then at most geneo_bound(), whatever the material is.
/// Motions without strain energy have λ = 0, so that the rigid-body motions of floating parts are included.
///
/// N. Spillane, V. Dolean, P. Hauret, F. Nataf, C. Pechstein, R. Scheichl: Abstract robust coarse spaces for systems of
/// PDEs via generalized eigenproblems in the overlaps. Numer. Math. 126 (2014).
CoarseSpace geneo_coarse_space(const SymmetricCsr& matrix, std::span<const Overlap> sets,
                               const std::vector<std::vector<double>>& weights,
                               const std::vector<SymmetricCsr>& neumann, double threshold, int threads = 1);

/// (1 + c) (2 + (2 c + 1) m / threshold): an upper bound of the condition number of additive Schwarz with GenEO. c is
/// the largest number of sets that one set is coupled with, itself included, and m the largest number of sets that
/// share one unknown.
double geneo_bound(const FullRows& matrix, std::span<const Overlap> sets, double threshold);

}  // namespace voussoir
