#include <voussoir/solvers/soe/element_soe.hpp>

namespace voussoir {

void ElementSOE::size_changed() {
  operator_.reset();
  operator_ = model().backend().make_element_operator(model().device_model(), product_);
}

void ElementSOE::form(const Vector* unknowns, const MatrixTerms& terms) {
  model().backend().assemble(model().device_model(), unknowns, terms, *operator_);
  formed();
}

const Operator& ElementSOE::matrix() const {
  if (!operator_) throw Error(ErrorCode::misuse, "the SOE '" + name() + "' has no model yet; call set_model() first");
  return *operator_;
}

}  // namespace voussoir
