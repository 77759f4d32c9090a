#pragma once
#include <voussoir/solvers/direct/band.hpp>
#include <voussoir/solvers/direct/profile.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

namespace voussoir {

/// A system whose matrix is stored within a band around its diagonal, on the host: the classical storage for small and
/// slender models. Number the equations by reverse Cuthill–McKee. The backend assembles a CSR matrix, from which the
/// band is filled.
class BandSOE : public CsrSOE {
 public:
  std::string name() const override { return "band"; }
  void form(const ElementState& state, const MatrixTerms& terms) override;
  const BandMatrix& band() const { return band_; }  ///< the matrix of the last form()

 private:
  BandMatrix band_;
};

/// A system whose matrix is stored under a skyline, on the host: as a BandSOE, but with its own height for each column.
class ProfileSOE : public CsrSOE {
 public:
  std::string name() const override { return "profile"; }
  void form(const ElementState& state, const MatrixTerms& terms) override;
  const ProfileMatrix& profile() const { return profile_; }  ///< the matrix of the last form()

 private:
  ProfileMatrix profile_;
};

}  // namespace voussoir
