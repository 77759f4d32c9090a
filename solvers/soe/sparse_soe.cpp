#include <voussoir/solvers/soe/sparse_soe.hpp>

namespace voussoir {

void SparseSOE::size_changed() {
  matrix_.reset();
  matrix_ = model().backend().make_matrix(model().device_model(), block_size());
}

bool SparseSOE::model_changed(const ModelUpdate& update) {
  if (update.pattern || !matrix_) {
    size_changed();
    return false;
  }
  return true;
}

void SparseSOE::form(const ElementState& state, const MatrixTerms& terms) {
  if (!matrix_) size_changed();
  model().backend().assemble(model().device_model(), state, terms, *matrix_);
  formed();
}

const Operator& SparseSOE::matrix() const {
  if (!matrix_)
    throw Error(ErrorCode::misuse, "the SOE '" + name() + "' has no matrix; call set_model() or form() first");
  return *matrix_;
}

int BsrSOE::block_size() const {
  const int components = model().device_model().uniform_components();
  if (components == 0)
    throw Error(ErrorCode::bad_input,
                "blocks need the same number of unknowns on every node, and this model mixes elements with different "
                "numbers; use the csr SOE");
  return components;
}

}  // namespace voussoir
