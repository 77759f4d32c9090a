#include <voussoir/solvers/soe/envelope_soe.hpp>

#include <voussoir/solvers/direct/host_system.hpp>

namespace voussoir {

void BandSOE::form(const Vector* unknowns, const MatrixTerms& terms) {
  CsrSOE::form(unknowns, terms);
  band_ = BandMatrix(upper_triangle(matrix_->to_host(), {}));
}

void ProfileSOE::form(const Vector* unknowns, const MatrixTerms& terms) {
  CsrSOE::form(unknowns, terms);
  profile_ = ProfileMatrix(upper_triangle(matrix_->to_host(), {}));
}

}  // namespace voussoir
