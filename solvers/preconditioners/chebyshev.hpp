#pragma once
#include <memory>
#include <string>

#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

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

}  // namespace voussoir
