#pragma once
#include <memory>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// A stored as sparse rows of blocks on the backend; the base of CsrSOE and BsrSOE.
class SparseSOE : public LinearSOE {
 public:
  void form(const ElementState& state, const MatrixTerms& terms) override;
  const Operator& matrix() const override;
  const SparseMatrix* sparse_matrix() const override { return matrix_.get(); }

 protected:
  virtual int block_size() const = 0;  ///< rows of a block, for the model at hand
  void size_changed() override;
  std::unique_ptr<SparseMatrix> matrix_;  ///< null before size_changed()
};

/// Sparse rows of single entries: fits every model.
class CsrSOE : public SparseSOE {
 public:
  std::string name() const override { return "csr"; }

 protected:
  int block_size() const override { return 1; }
};

/// Sparse rows of blocks, one block per pair of nodes: less index traffic, so faster products. Needs a model whose
/// nodes all have the same number of unknowns (1 to 6).
class BsrSOE : public SparseSOE {
 public:
  std::string name() const override { return "bsr"; }

 protected:
  int block_size() const override;
};

}  // namespace voussoir
