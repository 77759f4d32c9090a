#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/framework/model/rigid_clusters.hpp>

namespace voussoir {

/// Whether something in a model can move without resistance.
struct MechanismReport {
  std::vector<double> motion;  ///< over all equations, of norm 1; empty where none was found
  std::string note;            ///< the reason, if mechanisms could not be excluded
};

/// Searches an assembled matrix for mechanisms, independently of load and solver. The motions that leave all
/// elements rigid are known from the mesh and the constraints; the matrix is projected on them (Rayleigh-Ritz), so that
/// springs and everything else that is not rigid are taken into account. Costs a product with a few vectors, and
/// nothing if the mesh hangs together by faces.
MechanismReport find_mechanisms(const LinearSOE& soe, const RigidClusters& clusters);

}  // namespace voussoir
