#pragma once
#include <limits>
#include <memory>
#include <string>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// Base class of preconditioners: approximate inverses M of a matrix. For CG, M must be symmetric and positive
/// definite.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  virtual std::string name() const = 0;  ///< name for reports: "amg", "block-jacobi", …
  /// Sets up the preconditioner for the current values of the SOE's matrix.
  virtual void set_up(const LinearSOE& soe) = 0;
  /// The operator z = M r, valid until the next set_up(); null for the identity.
  virtual const Operator* inverse() const = 0;
  virtual std::size_t bytes() const { return inverse() ? inverse()->bytes() : 0; }  ///< memory of the preconditioner

  /// Whether it requires a symmetric matrix. Solvers reject it for unsymmetric ones.
  virtual bool needs_symmetry() const { return true; }
  /// Whether inverse() varies from one application to the next, so that flexible CG is needed.
  virtual bool is_flexible() const { return false; }
  /// The early progress expected of CG. If the residual is not reduced to `reduction` after `iterations` iterations, CG
  /// calls strengthen().
  struct Checkpoint {
    int iterations = 0;    ///< iterations before the check; 0 disables it
    double reduction = 1;  ///< largest acceptable fraction of the initial residual
  };
  virtual Checkpoint checkpoint() const { return {}; }  ///< the early check of CG; none by default
  /// Number of iterations after which CG calls strengthen().
  virtual int patience() const { return std::numeric_limits<int>::max(); }
  /// Switches to a stronger, more expensive variant for the same matrix. Called if CG is slow or breaks down. Returns
  /// false if there is none.
  virtual bool strengthen(const LinearSOE&) { return false; }
  /// A description after set_up() for reports, such as the levels of a hierarchy; may be empty.
  virtual std::string summary() const { return {}; }
  /// A diagnosis with suggestions, given the iterations for one right-hand side; empty if their number is as expected.
  virtual std::string advice(int /*iterations*/, bool /*converged*/) const { return {}; }
};

/// The precision in which a preconditioner is stored. The iteration is always in double precision; an approximate
/// inverse may be rounded to halve the memory traffic.
enum class Precision { full, single };

/// Jacobi: z = D⁻¹ r with the diagonal D.
class JacobiPreconditioner : public Preconditioner {
 public:
  /// `precision` is that of the stored inverse.
  explicit JacobiPreconditioner(Precision precision = Precision::full) : precision_(precision) {}
  std::string name() const override { return "jacobi" + suffix(); }
  bool needs_symmetry() const override { return false; }
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override { return inverse_.get(); }

 protected:
  /// The option in the name: ":single", or "".
  std::string suffix() const { return precision_ == Precision::single ? ":single" : ""; }

  Precision precision_;                ///< precision of the stored inverse
  std::unique_ptr<Operator> inverse_;  ///< null before set_up()
};

/// Block Jacobi: z = D⁻¹ r with the diagonal blocks D of the nodes. The same as Jacobi if nodes have different numbers
/// of unknowns.
class BlockJacobiPreconditioner : public JacobiPreconditioner {
 public:
  using JacobiPreconditioner::JacobiPreconditioner;
  std::string name() const override { return "block-jacobi" + suffix(); }
  void set_up(const LinearSOE& soe) override;
};

/// A Chebyshev polynomial of D⁻¹A on [λ/ratio, 1.1 λ], with the largest eigenvalue λ estimated by a few steps of CG. It
/// needs matrix products, but no extra storage and no dot products, so that it scales well over devices.
class ChebyshevPreconditioner : public Preconditioner {
 public:
  /// `degree` matrix products per application; `ratio` of the largest to the smallest eigenvalue that is damped.
  explicit ChebyshevPreconditioner(int degree = 4, double ratio = 30) : degree_(degree), ratio_(ratio) {}
  std::string name() const override { return "chebyshev(" + std::to_string(degree_) + ")"; }
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override { return inverse_.get(); }

 private:
  int degree_;
  double ratio_;
  std::unique_ptr<Operator> inverse_;
};

/// Factorised sparse approximate inverse, M = GᵀG with G lower triangular on the pattern of the matrix's lower
/// triangle: G minimises ‖I − G L‖ for the Cholesky factor L, which need not be computed (Kolotilina and Yeremin 1993).
/// Its application consists of two matrix products, without the sequential triangular solves of incomplete
/// factorisations, which suits GPUs. Needs a stored matrix.
class FsaiPreconditioner : public Preconditioner {
 public:
  /// Entries with a_ij² < drop² · a_ii a_jj are omitted from the pattern.
  explicit FsaiPreconditioner(double drop = 0.0) : drop_(drop) {}
  std::string name() const override { return "fsai"; }
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override { return inverse_.get(); }

 private:
  double drop_;
  std::unique_ptr<Operator> inverse_;
};

}  // namespace voussoir
