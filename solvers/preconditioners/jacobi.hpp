#pragma once
#include <memory>
#include <string>

#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

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

}  // namespace voussoir
