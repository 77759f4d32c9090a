#pragma once
#include <utility>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir::detail {

/// The direct method of a matrix that is stored within an envelope: BandMatrix and BandLdlt, or ProfileMatrix and
/// ProfileLdlt.
template <class Matrix, class Ldlt>
class EnvelopeFactorization final : public Factorization {
 public:
  explicit EnvelopeFactorization(const DirectOptions& options) : Factorization(options) {}

 protected:
  void do_analyse(const SymmetricCsr&, std::span<const std::int32_t>) override { statistics_.ordering = "as given"; }
  Pivots do_factorise(const SymmetricCsr& matrix, double small) override {
    Matrix envelope(matrix);
    n_ = envelope.size();
    statistics_.factor_entries = envelope.entries();
    statistics_.memory_mb = static_cast<double>(statistics_.factor_entries) * sizeof(double) / 1e6;
    statistics_.flops = envelope.elimination_flops();
    ldlt_.factorise(std::move(envelope), small, options_.threads);
    return {ldlt_.inertia().negative, ldlt_.null_pivots(), true};
  }
  void do_solve(double* vectors, int columns) override {
    ldlt_.solve({vectors, static_cast<std::size_t>(n_ * columns)}, columns);
  }

 private:
  std::int64_t n_ = 0;
  Ldlt ldlt_;
};

}  // namespace voussoir::detail
