#pragma once
#include <memory>
#include <string>
#include <utility>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// A system whose matrix is given, not formed from elements.
class GivenSOE final : public LinearSOE {
 public:
  /// Takes the matrix; its layout is that of the model that the size is set from.
  explicit GivenSOE(std::unique_ptr<SparseMatrix> matrix) : matrix_(std::move(matrix)) {}
  std::string name() const override { return "csr"; }
  void form(const ElementState&, const MatrixTerms&) override {
    throw Error(ErrorCode::misuse, "the matrix of this system is given; it cannot be formed");
  }
  const Operator& matrix() const override { return *matrix_; }
  const SparseMatrix* sparse_matrix() const override { return matrix_.get(); }
  /// Declares the matrix formed. Call it once the system has its size.
  void take() { formed(); }

 protected:
  void size_changed() override {}

 private:
  std::unique_ptr<SparseMatrix> matrix_;
};

}  // namespace voussoir
