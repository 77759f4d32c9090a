#include <voussoir/backends/cuda/model_plans.hpp>

namespace voussoir::cuda {

ModelPlans& ModelPlans::of(const DeviceModel& model) {
  std::shared_ptr<void>& slot = model.backend_data();
  if (!slot) slot = std::make_shared<ModelPlans>(model);
  return *static_cast<ModelPlans*>(slot.get());
}

ModelPlans::ModelPlans(const DeviceModel& model) : model_(model) {
  const auto devices = static_cast<std::size_t>(model.devices());
  gather_.resize(devices);
  dependencies_.resize(devices);
  for (int d = 0; d < model.devices(); ++d) {
    gather_[static_cast<std::size_t>(d)].resize(static_cast<std::size_t>(model.batch_count()));
    any_dependency_ = any_dependency_ || !model.part(d).dependencies.empty();
  }
}

const NodeGather& ModelPlans::gather(int device, int batch) {
  auto& plan = gather_[static_cast<std::size_t>(device)][static_cast<std::size_t>(batch)];
  if (!plan) plan = std::make_unique<NodeGather>(make_node_gather(model_, device, batch));
  return *plan;
}

const ClusterSet& ModelPlans::clusters(int device, const std::vector<bool>& active) {
  auto& set = clusters_[{device, active}];
  if (!set) set = std::make_unique<ClusterSet>(make_clusters(model_, device, active));
  return *set;
}

const DeviceDependencies& ModelPlans::dependencies(int device) {
  auto& own = dependencies_[static_cast<std::size_t>(device)];
  if (!own) own = std::make_unique<DeviceDependencies>(make_dependencies(model_, device));
  return *own;
}

}  // namespace voussoir::cuda
