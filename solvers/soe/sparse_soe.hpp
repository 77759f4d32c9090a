#pragma once
#include <memory>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// A system whose matrix is stored in sparse block rows on the backend; the base of CsrSOE and BsrSOE.
class SparseSOE : public LinearSOE {
 public:
  void form(const ElementState& state, const MatrixTerms& terms) override;
  const Operator& matrix() const override;
  const SparseMatrix* sparse_matrix() const override { return matrix_.get(); }
  /// Releases the memory of the matrix, for owners that have copied it. version() stays; the next form() builds the
  /// pattern again.
  void release_matrix() { matrix_.reset(); }

 protected:
  virtual int block_size() const = 0;  ///< rows of a block for the current model
  void size_changed() override;
  /// The pattern stays unless elements were added, and the backend finds out what else has changed.
  bool model_changed(const ModelUpdate& update) override;
  std::unique_ptr<SparseMatrix> matrix_;  ///< null before size_changed()
};

/// CSR: sparse rows of single entries, for any model.
class CsrSOE : public SparseSOE {
 public:
  std::string name() const override { return "csr"; }

 protected:
  int block_size() const override { return 1; }
};

/// BSR: sparse rows of blocks, one block per pair of nodes. Fewer indices make products faster than with CSR. Needs a
/// model whose nodes all have the same number of unknowns (1 to 6).
class BsrSOE : public SparseSOE {
 public:
  std::string name() const override { return "bsr"; }

 protected:
  int block_size() const override;
};

}  // namespace voussoir
