#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/partition/interface_preconditioner.hpp>
#include <voussoir/partition/schur_complement.hpp>

namespace voussoir {

/// FETI-DP, the dual method: parts are joined in the primal unknowns of BDDC, and Lagrange multipliers λ enforce that
/// all other interface values of neighbouring parts are equal. F λ = d with F = B Ã⁻¹ Bᵀ is solved by CG, Ã the
/// partially assembled matrix and B the jumps between parts, one for each pair of parts that share an unknown.
///
/// C. Farhat, M. Lesoinne, P. LeTallec, K. Pierson, D. Rixen: FETI-DP: a dual-primal unified FETI method. Int. J.
/// Numer. Meth. Engng. 50 (2001).
class FetiDpOperator : public HostOperator {
 public:
  /// `partially_assembled` must have been made of `matrices`; both must outlive the operator.
  FetiDpOperator(Backend& backend, const PartMatrices& matrices, const BddcOperator& partially_assembled);

  void multiply(std::span<const double> x, std::span<double> y) const override;  ///< y = F x
  std::size_t bytes() const override { return jumps_.size() * sizeof(Jump); }
  std::string describe() const override;

  /// d = B Ã⁻¹ f for loads of the whole. `size` becomes the norm of the values that the jumps are differences of: jumps
  /// much smaller than that are rounding errors.
  std::vector<double> right_hand_side(std::span<const double> f, double& size) const;
  /// u = Ã⁻¹ (f − Bᵀ λ): the solution of the whole, on the interface the weighted mean of the parts.
  std::vector<double> solution(std::span<const double> f, std::span<const double> multipliers) const;

  /// A multiplier: the jump of an interface unknown between two parts.
  struct Jump {
    std::int32_t part[2];   ///< the first has the sign +, the second −
    std::int32_t local[2];  ///< local numbers of the unknown in both parts
    double scale[2];        ///< weights of B_D: each part has the weight of the other
  };
  const std::vector<Jump>& jumps() const { return jumps_; }  ///< all multipliers, in the order of F
  /// Removes the directions in which F is zero because the averages of edges and faces are primal: jumps of averages
  /// vanish by themselves. Rounding would otherwise accumulate there and spoil the iteration.
  void project(std::span<double> x) const;

 private:
  /// Loads of the whole, divided between parts by their weights.
  std::vector<std::vector<double>> divided(std::span<const double> f) const;

  const PartMatrices& matrices_;
  const BddcOperator& partially_assembled_;
  std::vector<Jump> jumps_;
  std::vector<std::vector<std::pair<std::size_t, double>>> averages_;  // orthonormal vectors over the multipliers
};

/// The Dirichlet preconditioner of FETI-DP, M = B_D S B_Dᵀ with the Schur complements of the parts.
class DirichletPreconditioner : public HostOperator {
 public:
  /// Both must outlive the operator.
  DirichletPreconditioner(const FetiDpOperator& feti, const SchurComplement& schur);
  void multiply(std::span<const double> x, std::span<double> y) const override;
  std::size_t bytes() const override { return 0; }  ///< in addition to the Schur complement
  std::string describe() const override { return "Dirichlet preconditioner of FETI-DP"; }

 private:
  const FetiDpOperator& feti_;
  const SchurComplement& schur_;
};

}  // namespace voussoir
