#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

/// Parts of a model that can only move as rigid bodies where nothing in them is strained, and the motions that
/// supports, joints and multi-point equations leave to them.
///
/// Most element types resist everything but rigid motion; which do is read off the matrices of their first elements.
/// Where two such elements share a face (an edge in the plane, a node where it carries all that a rigid motion has),
/// what leaves both unstrained moves them as one. So a mesh falls into clusters: usually one, two where blocks touch
/// along an edge only, as a hinge does. A zero-energy motion moves every cluster rigidly, and is found among
/// six values for each cluster instead of among all unknowns: from geometry only, fast, and independently of the
/// solver.
///
/// Springs, masses and elements that are not known to resist all strain are left out, so that what is found may still
/// be resisted by them: the matrix must be checked. Motions that are not found are excluded, unless undecided() is not
/// empty.
class RigidClusters {
 public:
  explicit RigidClusters(const AnalysisModel& model);  ///< of the elements of a model, from its mesh and constraints

  /// A basis of the motions that strain no cluster and respect all constraints: a vector over all equations each, zero
  /// where an equation is not free.
  const std::vector<std::vector<double>>& motions() const { return motions_; }
  /// The reason why there may be further motions; empty if there are none.
  const std::string& undecided() const { return undecided_; }

 private:
  std::vector<std::vector<double>> motions_;
  std::string undecided_;
};

}  // namespace voussoir
