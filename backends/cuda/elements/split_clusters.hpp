#pragma once
#include <voussoir/backends/cuda/elements/clusters.hpp>

namespace voussoir::cuda {

/// Clusters whose products can begin before the ghosts of x have arrived: `interior` has those of elements that need no
/// ghosts, `batches` the others. Places of a batch are those of `batches`, which are whole clusters, and then those of
/// `interior`: in `batches`, `element` and `place` are those of the whole batch.
struct SplitClusters : ClusterSet {
  std::vector<ClusterPlan> interior;  ///< one per batch
  std::size_t bytes() const;
};

/// Cuts the active batches of a device. Elements need ghosts where one of their nodes is owned by another device, or
/// has an equation that depends on one of these.
SplitClusters make_split_clusters(const DeviceModel& model, int device, const std::vector<bool>& active);
/// The clusters of a model whose supports have changed, and nothing else.
void follow_supports(const DeviceModel& model, int device, SplitClusters& set);

}  // namespace voussoir::cuda
