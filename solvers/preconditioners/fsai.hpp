#pragma once
#include <memory>
#include <string>

#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

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
