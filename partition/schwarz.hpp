#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/partition/coarse_space.hpp>
#include <voussoir/partition/decomposition_options.hpp>
#include <voussoir/partition/host_operator.hpp>
#include <voussoir/partition/part_solver.hpp>
#include <voussoir/solvers/preconditioners/preconditioner.hpp>
#include <voussoir/solvers/preconditioners/unsymmetric.hpp>

namespace voussoir {

/// The variants of Schwarz's method.
enum class SchwarzKind {
  additive,  ///< z = Σ R_pᵀ A_p⁻¹ R_p r: symmetric if A is, for CG
  restricted,  ///< z = Σ R_pᵀ D_p A_p⁻¹ R_p r with one owner for each unknown: fewer iterations, unsymmetric, for GMRES
  multiplicative  ///< one part after the other, forwards and backwards: symmetric if A is, for CG
};

/// z = M r by solving on overlapping parts with zero values around them, and in a coarse space.
///
/// B. Smith, P. Bjørstad, W. Gropp: Domain Decomposition. Cambridge University Press (1996). X.-C. Cai, M. Sarkis: A
/// restricted additive Schwarz preconditioner for general sparse linear systems. SIAM J. Sci. Comput. 21 (1999).
/// Matrices that are not symmetric: X.-C. Cai, O. B. Widlund: Domain decomposition algorithms for indefinite elliptic
/// problems. SIAM J. Sci. Stat. Comput. 13 (1992).
class SchwarzOperator : public HostOperator {
 public:
  /// Settings of the method.
  struct Options {
    SchwarzKind kind = SchwarzKind::additive;  ///< variant
    int overlap = 1;                           ///< layers of elements by which parts are extended
    bool two_levels = false;                   ///< with a coarse space
    std::string part_solver = "direct";        ///< for make_part_solver(); inexact ones are allowed
    std::string coarse = "rigid";              ///< with two levels: "rigid" (motions of each part) or "geneo"
    double threshold = 0.1;                    ///< geneo: eigenvalues below it give coarse vectors
    /// geneo: makes the Neumann matrices of sets of unknowns, as overlapping_neumann() does.
    std::function<std::vector<SymmetricCsr>(std::span<const std::vector<std::int32_t>> sets)> neumann = {};
  };
  /// `matrix` is that of the model over the unknowns of the decomposition. A singular part is an Error (singular).
  SchwarzOperator(const Decomposition& decomposition, const SymmetricCsr& matrix, const Options& options);
  /// For a matrix that need not be symmetric, by LU of the matrices of parts and of the coarse space. The coarse space
  /// "geneo" and a part solver for symmetric matrices are an Error (bad_input).
  SchwarzOperator(const Decomposition& decomposition, const GeneralCsr& matrix, const Options& options);

  void multiply(std::span<const double> x, std::span<double> y) const override;
  std::size_t bytes() const override;
  std::string describe() const override;
  std::int32_t coarse_size() const { return coarse_.size(); }  ///< vectors of the coarse space; 0 without one
  double coarse_seconds() const { return coarse_.seconds(); }  ///< time in the coarse space so far
  std::size_t largest_part() const;                            ///< unknowns of the largest extended part
  bool is_flexible() const;  ///< whether a part solver is not linear, so that flexible CG is needed
  /// Upper bound of the condition number (geneo_bound()); NaN for other coarse spaces.
  double condition_bound() const { return condition_bound_; }

 private:
  /// Common part of both; `symmetric` is null if the matrix, whose rows are given, need not be symmetric.
  SchwarzOperator(const Decomposition& decomposition, FullRows rows, const SymmetricCsr* symmetric,
                  const Options& options);
  /// A_p⁻¹ R_p residual.
  std::vector<double> solve_part(std::size_t part, std::span<const double> residual) const;
  /// z += R_pᵀ A_p⁻¹ R_p residual; residual −= A times the change of z.
  void correct_part(std::size_t part, std::vector<double>& residual, std::span<double> z) const;
  /// residual −= A e_unknown change
  void subtract_column(std::int32_t unknown, double change, std::vector<double>& residual) const;
  /// Makes the solvers and maps of the parts.
  void set_up_parts(const Decomposition& decomposition, const SymmetricCsr* symmetric, std::span<const Overlap> sets);
  void multiply_in_turn(std::span<const double> r, std::span<double> z) const;
  void set_up_coarse(const Decomposition& decomposition, const SymmetricCsr* symmetric, std::span<const Overlap> sets);

  Options options_;
  int threads_;
  double condition_bound_;
  FullRows matrix_;   // during construction
  FullRows columns_;  // of the matrix as rows, for the multiplicative method
  std::vector<PartMap> maps_;
  std::vector<std::unique_ptr<PartSolver>> solvers_;
  CoarseSpace coarse_;
};

/// Schwarz's method as a preconditioner for any system whose matrix can be assembled: it divides the domain of the
/// model itself. Registered as asm, ras and msm with one level and as asm2, ras2 and msm2 with two. For a matrix that
/// is not symmetric it needs GMRES or BiCGSTAB, LU in the parts or another part solver that takes such matrices, and
/// the rigid coarse space.
class SchwarzPreconditioner : public Preconditioner {
 public:
  /// Divides by `decomposition`, whose overlap, part solver, coarse space and threshold replace those of `options`.
  SchwarzPreconditioner(std::string name, DecompositionOptions decomposition, SchwarzOperator::Options options);

  /// With the option that needs a symmetric matrix, if there is one: asm2:coarse=geneo, asm:solver=amg.
  std::string name() const override { return name_ + symmetric_option_; }
  void set_up(const LinearSOE& soe) override;
  bool needs_symmetry() const override { return !symmetric_option_.empty(); }
  const Operator* inverse() const override { return operator_.get(); }
  bool is_flexible() const override { return flexible_ || (operator_ && operator_->is_flexible()); }
  std::string summary() const override { return operator_ ? operator_->describe() : std::string(); }
  const SchwarzOperator& schwarz() const { return *operator_; }  ///< after set_up()

 private:
  std::string name_, symmetric_option_;
  bool flexible_ = false;  // what the part solver says before it is set up, since solvers ask then
  DecompositionOptions choice_;
  SchwarzOperator::Options options_;
  std::unique_ptr<Decomposition> decomposition_;
  std::unique_ptr<SchwarzOperator> operator_;
};

/// The restricted variant, which is not symmetric even if the matrix is, so that CG rejects it.
class RestrictedSchwarzPreconditioner : public SchwarzPreconditioner, public UnsymmetricPreconditioner {
 public:
  using SchwarzPreconditioner::SchwarzPreconditioner;
};

}  // namespace voussoir
