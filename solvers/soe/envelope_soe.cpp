#include <voussoir/solvers/soe/envelope_soe.hpp>

#include <voussoir/solvers/direct/host_system.hpp>

namespace voussoir {
namespace {

void require_symmetric(const LinearSOE& soe) {
  if (!soe.model().device_model().symmetric())
    throw Error(ErrorCode::bad_input,
                "storage '" + soe.name() +
                    "' keeps half a matrix, and the matrix of this model is not symmetric; use csr "
                    "or bsr");
}

}  // namespace

void BandSOE::form(const ElementState& state, const MatrixTerms& terms) {
  require_symmetric(*this);
  CsrSOE::form(state, terms);
  band_ = BandMatrix(upper_triangle(matrix_->to_host(), {}));
}

void ProfileSOE::form(const ElementState& state, const MatrixTerms& terms) {
  require_symmetric(*this);
  CsrSOE::form(state, terms);
  profile_ = ProfileMatrix(upper_triangle(matrix_->to_host(), {}));
}

}  // namespace voussoir
