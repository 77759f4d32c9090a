#include <voussoir/backends/cuda/model_plans.hpp>

#include <algorithm>

namespace voussoir::cuda {

ModelPlans& ModelPlans::of(const DeviceModel& model) {
  std::shared_ptr<void>& slot = model.backend_data();
  if (!slot) slot = std::make_shared<ModelPlans>(model);
  auto& plans = *static_cast<ModelPlans*>(slot.get());
  if (!(plans.revision_ == model.revision())) plans.follow();
  return plans;
}

void ModelPlans::follow() {
  const ModelRevision now = model_.revision();
  if (now.batches != revision_.batches) {
    const auto unchanged = static_cast<std::size_t>(model_.unchanged_batches(revision_.batches));
    for (auto& gathers : gather_) {
      gathers.resize(std::min(unchanged, gathers.size()));
      gathers.resize(static_cast<std::size_t>(model_.batch_count()));
    }
    others_.clear();
    clusters_.clear();  // asked for by a flag per batch
    split_clusters_.clear();
  }
  // Operators that still have these clusters are out of date as well, and refuse to multiply.
  for (auto& [asked_for, set] : clusters_) follow_supports(model_, asked_for.first, *set);
  for (auto& [asked_for, set] : split_clusters_) follow_supports(model_, asked_for.first, *set);
  revision_ = now;
}

ModelPlans::ModelPlans(const DeviceModel& model) : model_(model), revision_(model.revision()) {
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

std::shared_ptr<const ClusterSet> ModelPlans::clusters(int device, const std::vector<bool>& active) {
  const auto known = clusters_.find({device, active});
  if (known != clusters_.end()) return known->second;
  auto set = std::make_shared<ClusterSet>(make_clusters(model_, device, active));
  clusters_.emplace(std::pair{device, active}, set);
  return set;
}

std::shared_ptr<const SplitClusters> ModelPlans::split_clusters(int device, const std::vector<bool>& active) {
  auto& set = split_clusters_[{device, active}];
  if (!set) set = std::make_shared<SplitClusters>(make_split_clusters(model_, device, active));
  return set;
}

const DeviceDependencies& ModelPlans::dependencies(int device) {
  auto& own = dependencies_[static_cast<std::size_t>(device)];
  if (!own) own = std::make_unique<DeviceDependencies>(make_dependencies(model_, device));
  return *own;
}

}  // namespace voussoir::cuda
