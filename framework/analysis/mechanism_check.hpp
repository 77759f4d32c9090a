#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/framework/model/rigid_clusters.hpp>

namespace voussoir {

/// Whether something in a model can move without resistance.
struct MechanismVerdict {
  std::vector<double> motion;  ///< over all equations, of norm 1; empty where none was found
  std::string note;            ///< where mechanisms could not be excluded: why, in words
};

/// Looks for mechanisms in a matrix that is formed, whatever the load and the solver. The motions that leave all
/// elements rigid are known from the mesh and the constraints; the matrix is projected on them (Rayleigh-Ritz), so that
/// springs and all else that is not rigid have their say. A product with a few vectors, and nothing where the mesh
/// hangs together by faces.
MechanismVerdict look_for_mechanisms(const LinearSOE& soe, const RigidClusters& clusters);

}  // namespace voussoir
