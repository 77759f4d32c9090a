#include <voussoir/solvers/soe/element_soe.hpp>

namespace voussoir {

void ElementSOE::size_changed() {
  operator_.reset();
  state_.forget();
  terms_ = MatrixTerms();
  batch_factors_.clear();
  mass_factors_.clear();
  is_formed_ = false;
  operator_ = model().backend().make_element_operator(model().device_model(), product_);
}

void ElementSOE::form(const ElementState& state, const MatrixTerms& terms) {
  Backend& backend = model().backend();
  backend.assemble(model().device_model(), state, terms, *operator_);
  batch_factors_.assign(terms.batch_factors.begin(), terms.batch_factors.end());
  mass_factors_.assign(terms.mass_factors.begin(), terms.mass_factors.end());
  terms_ = terms;
  terms_.batch_factors = batch_factors_;
  terms_.mass_factors = mass_factors_;
  state_.keep(state, [&](const Vector& from, Vector& to) { backend.copy(from, to); });
  is_formed_ = true;
  formed();
}

std::unique_ptr<SparseMatrix> ElementSOE::assembled() const {
  if (!is_formed_) throw Error(ErrorCode::misuse, "the SOE '" + name() + "' has no values yet; call form() first");
  Backend& backend = model().backend();
  const DeviceModel& device_model = model().device_model();
  const int components = device_model.uniform_components();
  auto matrix = backend.make_matrix(device_model, components > 0 && components <= 6 ? components : 1);
  backend.assemble(device_model, state_.state(), terms_, *matrix);
  return matrix;
}

const Operator& ElementSOE::matrix() const {
  if (!operator_) throw Error(ErrorCode::misuse, "the SOE '" + name() + "' has no model yet; call set_model() first");
  return *operator_;
}

}  // namespace voussoir
