#pragma once
#include <voussoir/solvers/direct/band.hpp>
#include <voussoir/solvers/direct/profile.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

namespace voussoir {

/// A within a band around its diagonal, on the host: the classical storage for small and slender models. Number the
/// equations by reverse Cuthill–McKee first. The backend assembles sparse rows, which fill the band.
class BandSOE : public CsrSOE {
 public:
  std::string name() const override { return "band"; }
  void form(const ElementState& state, const MatrixTerms& terms) override;
  const BandMatrix& band() const { return band_; }  ///< as formed last

 private:
  BandMatrix band_;
};

/// A under a skyline, on the host: as a band, but each column only as high as it must be.
class ProfileSOE : public CsrSOE {
 public:
  std::string name() const override { return "profile"; }
  void form(const ElementState& state, const MatrixTerms& terms) override;
  const ProfileMatrix& profile() const { return profile_; }  ///< as formed last

 private:
  ProfileMatrix profile_;
};

}  // namespace voussoir
