#pragma once
#include <functional>
#include <map>
#include <memory>
#include <typeindex>
#include <vector>

#include <voussoir/backends/cuda/elements/clusters.hpp>
#include <voussoir/backends/cuda/elements/node_gather.hpp>
#include <voussoir/backends/cuda/elements/split_clusters.hpp>
#include <voussoir/backends/cuda/vectors/dependencies.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

/// What this backend derives from a model once and keeps with it. Parts are made when they are first asked for, outside
/// sections.
class ModelPlans {
 public:
  static ModelPlans& of(const DeviceModel& model);
  explicit ModelPlans(const DeviceModel& model);

  /// How values of a batch's elements are summed to nodes.
  const NodeGather& gather(int device, int batch);
  /// The clusters of the batches that are `active`, one flag per batch.
  std::shared_ptr<const ClusterSet> clusters(int device, const std::vector<bool>& active);
  /// The same, split by whether their elements need ghosts.
  std::shared_ptr<const SplitClusters> split_clusters(int device, const std::vector<bool>& active);
  /// The dependencies of a device, as arrays on it.
  const DeviceDependencies& dependencies(int device);
  /// True where some device has a dependency.
  bool any_dependency() const { return any_dependency_; }
  /// What other parts of the backend keep with a model, one object of each type; `make` makes it.
  template <class T>
  T& other(const std::function<std::shared_ptr<T>()>& make) {
    std::shared_ptr<void>& slot = others_[std::type_index(typeid(T))];
    if (!slot) slot = make();
    return *static_cast<T*>(slot.get());
  }

 private:
  /// Drops what is out of date since the model has changed, and has room for the batches that there are now.
  void follow();
  const DeviceModel& model_;
  ModelRevision revision_;
  std::vector<std::vector<std::unique_ptr<NodeGather>>> gather_;
  std::vector<std::unique_ptr<DeviceDependencies>> dependencies_;
  std::map<std::pair<int, std::vector<bool>>, std::shared_ptr<ClusterSet>> clusters_;
  std::map<std::pair<int, std::vector<bool>>, std::shared_ptr<SplitClusters>> split_clusters_;
  std::map<std::type_index, std::shared_ptr<void>> others_;
  bool any_dependency_ = false;
};

}  // namespace voussoir::cuda
