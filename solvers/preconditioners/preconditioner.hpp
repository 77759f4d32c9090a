#pragma once
#include <limits>
#include <memory>
#include <string>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// An approximate inverse of a matrix. For CG it is symmetric and positive definite.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  virtual std::string name() const = 0;  ///< "amg", "block-jacobi", …
  /// Sets up the preconditioner for the current values of the SOE's matrix.
  virtual void set_up(const LinearSOE& soe) = 0;
  /// z = M r, valid until the next set_up(). Null: the identity.
  virtual const Operator* inverse() const = 0;
  virtual std::size_t bytes() const { return inverse() ? inverse()->bytes() : 0; }  ///< memory of the preconditioner

  /// True where it is only made for symmetric matrices: solvers for others refuse it on those.
  virtual bool needs_symmetry() const { return true; }
  /// True where inverse() is not a fixed linear operator, so that CG must be flexible.
  virtual bool is_flexible() const { return false; }
  /// Expected early progress of CG: the residual is reduced to this fraction after this many iterations, else
  /// CG should call strengthen(). 0 iterations disable the check.
  struct Checkpoint {
    int iterations = 0;    ///< after which CG looks
    double reduction = 1;  ///< fraction of the first residual
  };
  virtual Checkpoint checkpoint() const { return {}; }  ///< by default, no check
  /// Iterations after which CG should call strengthen().
  virtual int patience() const { return std::numeric_limits<int>::max(); }
  /// Switches to a stronger, more expensive variant for the same matrix where CG stalls or breaks down; false where
  /// there is none.
  virtual bool strengthen(const LinearSOE&) { return false; }
  /// A description of the preconditioner as text; may be empty.
  virtual std::string summary() const { return {}; }
  /// Diagnosis and suggestions after this many iterations for one right-hand side; empty if they are no more than
  /// they should be.
  virtual std::string advice(int /*iterations*/, bool /*converged*/) const { return {}; }
};

/// The precision of a preconditioner. The iteration is in double precision either way: an
/// approximate inverse may be rounded, and half the bytes are read.
enum class Precision { full, single };

/// z = r / diagonal.
class JacobiPreconditioner : public Preconditioner {
 public:
  /// Numbers in double or single precision.
  explicit JacobiPreconditioner(Precision precision = Precision::full) : precision_(precision) {}
  std::string name() const override { return "jacobi" + suffix(); }
  bool needs_symmetry() const override { return false; }
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override { return inverse_.get(); }

 protected:
  /// ":single", or nothing.
  std::string suffix() const { return precision_ == Precision::single ? ":single" : ""; }

  Precision precision_;                ///< of the numbers
  std::unique_ptr<Operator> inverse_;  ///< null before set_up()
};

/// z = D⁻¹ r with D the diagonal blocks, one per node. On models with different numbers of unknowns, the same as
/// Jacobi.
class BlockJacobiPreconditioner : public JacobiPreconditioner {
 public:
  using JacobiPreconditioner::JacobiPreconditioner;
  std::string name() const override { return "block-jacobi" + suffix(); }
  void set_up(const LinearSOE& soe) override;
};

/// A Chebyshev polynomial of D⁻¹A of the given degree, on [λ/ratio, 1.1 λ], with λ the largest eigenvalue as estimated
/// by a few steps of CG. Needs matrix products but no extra storage, and no dot products, so it scales well over
/// devices.
class ChebyshevPreconditioner : public Preconditioner {
 public:
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
/// triangle: G minimises ‖I − G L‖ for the Cholesky factor L without knowing it (Kolotilina and Yeremin 1993). Its
/// application is two products, which is what makes an approximate inverse the preconditioner of choice on GPUs
/// (FEStudio, Algorithm 4). Needs a stored matrix.
class FsaiPreconditioner : public Preconditioner {
 public:
  /// Entries with a_ij² < drop² · a_ii a_jj are left out of the pattern.
  explicit FsaiPreconditioner(double drop = 0.0) : drop_(drop) {}
  std::string name() const override { return "fsai"; }
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override { return inverse_.get(); }

 private:
  double drop_;
  std::unique_ptr<Operator> inverse_;
};

}  // namespace voussoir
