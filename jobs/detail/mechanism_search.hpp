#pragma once
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/framework/model/rigid_clusters.hpp>

namespace voussoir::detail {

/// Throws Error (singular) that names the part and its motion where something in a linear model can move without
/// resistance, such as bodies that are connected by a hinge only. Stores no matrix: motions that the geometry leaves
/// are multiplied with the elements. Costs nothing if there are none.
void require_no_mechanism(const AnalysisModel& model, const RigidClusters& clusters);

}  // namespace voussoir::detail
