#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/partition/part_map.hpp>
#include <voussoir/solvers/direct/lu.hpp>

namespace voussoir {

/// Rigid-body motions of a model at some of its equations: one vector over these equations for each motion.
///
/// Three translations and three rotations in space, two and one in the plane, the translation along the axis for bodies
/// of revolution; rotational unknowns and the rotation nodes of rigid bodies are included. Unknowns that are not
/// displacements or rotations (T, and those of other fields) have one constant vector each. Rotations are divided by
/// half the extent of the equations' nodes, so that all vectors have entries of about 1. They are not orthogonal, and
/// may be linearly dependent where there are few equations.
std::vector<std::vector<double>> rigid_motions(const AnalysisModel& model, std::span<const std::int32_t> equations);

/// An orthonormal basis of the span of some vectors of equal length (modified Gram–Schmidt, twice). Vectors whose
/// remainder is below `tolerance` of their norm are left out.
std::vector<std::vector<double>> orthonormal_basis(std::vector<std::vector<double>> vectors, double tolerance = 1e-8);

/// The second level of a method: a few vectors Z, and the exact solution in their span, Q = Z (ZᵀAZ)⁻¹ Zᵀ. Vectors are
/// sparse: each lives on one part.
class CoarseSpace {
 public:
  CoarseSpace();  ///< without vectors
  ~CoarseSpace();
  CoarseSpace(CoarseSpace&&) noexcept;             ///< leaves the other one empty
  CoarseSpace& operator=(CoarseSpace&&) noexcept;  ///< leaves the other one empty

  /// Adds a vector by its unknowns and their values.
  void add(std::span<const std::int32_t> unknowns, std::span<const double> values);
  std::int32_t size() const { return static_cast<std::int32_t>(first_.size()) - 1; }  ///< number of vectors

  /// Forms and factorises ZᵀAZ. Vectors that depend on others are no error; they are left out.
  void set_up(const FullRows& matrix);
  /// The same by LU, for a matrix that need not be symmetric. A singular ZᵀAZ, which an indefinite matrix may have even
  /// if it is regular itself, is an Error (singular).
  void set_up_unsymmetric(const FullRows& matrix);
  /// z += Q r
  void correct(std::span<const double> r, std::span<double> z) const;
  std::size_t bytes() const;                   ///< memory of vectors and factor
  double seconds() const { return seconds_; }  ///< time of all calls of correct() so far

 private:
  GeneralCsr product(const FullRows& matrix) const;       // ZᵀAZ
  void leave_out(std::span<const std::int32_t> vectors);  // ascending

  std::vector<std::size_t> first_{0};
  std::vector<std::int32_t> unknown_;
  std::vector<double> value_;
  std::unique_ptr<Factorization> factor_;
  std::unique_ptr<LuFactorization> lu_;  // instead of factor_, if the matrix is not symmetric
  mutable double seconds_ = 0;
};

/// The rigid motions of each part, weighted: column (p, m) is R_pᵀ D_p r_m. `weights` has one list per set of
/// `sets`; together they should be a partition of unity, so that the space contains the motions of the whole model.
CoarseSpace rigid_coarse_space(const Decomposition& decomposition, std::span<const Overlap> sets,
                               const std::vector<std::vector<double>>& weights);

}  // namespace voussoir
