#include <voussoir/backends/cuda/vectors/dependencies.hpp>

#include <map>
#include <utility>
#include <vector>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/model_plans.hpp>
#include <voussoir/backends/detail/checks.hpp>

// Equations that depend on others, in vectors.

namespace voussoir::cuda {

namespace {

__global__ void combine_others(std::int32_t count, std::int32_t limit, const std::int32_t* equation,
                               const std::int32_t* start, const std::int32_t* other, const double* coefficient,
                               NodalTarget x) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= count || equation[k] >= limit) return;
  double sum = 0;
  for (std::int32_t i = start[k]; i < start[k + 1]; ++i)
    sum += coefficient[i] * x.y[static_cast<std::int64_t>(other[i]) * x.columns + x.column];
  x.y[static_cast<std::int64_t>(equation[k]) * x.columns + x.column] = sum;
}

__global__ void receive_shares(std::int32_t count, const std::int32_t* receiver, const std::int32_t* start,
                               const std::int32_t* giver, const double* share, NodalTarget y) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= count) return;
  double& target = y.y[static_cast<std::int64_t>(receiver[k]) * y.columns + y.column];
  double sum = target;
  for (std::int32_t i = start[k]; i < start[k + 1]; ++i)
    sum += share[i] * y.y[static_cast<std::int64_t>(giver[i]) * y.columns + y.column];
  target = sum;
}

__global__ void clear_dependent(std::int32_t count, std::int32_t owned, const std::int32_t* equation, NodalTarget y) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count && equation[k] < owned) y.y[static_cast<std::int64_t>(equation[k]) * y.columns + y.column] = 0;
}

__global__ void clear_constrained_entries(std::int64_t entries, int columns, const std::uint8_t* constrained,
                                          double* x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < entries && constrained[i / columns]) x[i] = 0;
}

template <class T>
Array<T> settled(const std::shared_ptr<DeviceMemory>& memory, const std::vector<T>& values) {
  Array<T> array(memory, std::span<const T>(values));
  if (!values.empty()) array.drop_host_mirror();
  return array;
}

}  // namespace

DeviceDependencies make_dependencies(const DeviceModel& model, int device) {
  const auto& memory = model.layout()->memory(device);
  const std::int32_t owned = model.layout()->owned(device);
  const std::vector<Dependency>& dependencies = model.part(device).dependencies;
  DeviceDependencies own;
  own.count = static_cast<std::int32_t>(dependencies.size());
  if (dependencies.empty()) return own;
  std::vector<std::int32_t> equation, start{0}, other, receiver, receiver_start{0}, giver;
  std::vector<double> coefficient, share;
  std::map<std::int32_t, std::vector<std::pair<std::int32_t, double>>> received;
  const auto list = [&](bool ghosts) {
    for (const Dependency& dependency : dependencies) {
      if (voussoir::detail::needs_ghosts(dependency, owned) != ghosts) continue;
      equation.push_back(dependency.equation);
      other.insert(other.end(), dependency.others.begin(), dependency.others.end());
      coefficient.insert(coefficient.end(), dependency.coefficients.begin(), dependency.coefficients.end());
      start.push_back(static_cast<std::int32_t>(other.size()));
    }
  };
  list(false);
  own.local = static_cast<std::int32_t>(equation.size());
  list(true);
  for (const Dependency& dependency : dependencies) {
    for (std::size_t i = 0; i < dependency.others.size(); ++i)
      if (dependency.others[i] < owned)
        received[dependency.others[i]].emplace_back(dependency.equation, dependency.coefficients[i]);
  }
  for (const auto& [to, shares] : received) {
    receiver.push_back(to);
    for (const auto& [from, factor] : shares) {
      giver.push_back(from);
      share.push_back(factor);
    }
    receiver_start.push_back(static_cast<std::int32_t>(giver.size()));
  }
  own.equation = settled(memory, equation);
  own.start = settled(memory, start);
  own.other = settled(memory, other);
  own.coefficient = settled(memory, coefficient);
  own.receivers = static_cast<std::int32_t>(receiver.size());
  own.receiver = settled(memory, receiver);
  own.receiver_start = settled(memory, receiver_start);
  own.giver = settled(memory, giver);
  own.share = settled(memory, share);
  return own;
}

void set_dependent(const DeviceModel& model, int device, bool ghosts_too, const NodalTarget& x) {
  const DeviceDependencies& own = ModelPlans::of(model).dependencies(device);
  if (own.count == 0) return;
  const std::int32_t limit = ghosts_too ? model.layout()->local_size(device) : model.layout()->owned(device);
  launch(combine_others, grid_for(own.count), stream_of(model.layout()->memory(device)), own.count, limit,
         own.equation.read_device(), own.start.read_device(), own.other.read_device(), own.coefficient.read_device(),
         x);
}

void set_dependent(const DeviceModel& model, int device, ProductPhase phase, const NodalTarget& x) {
  const DeviceDependencies& own = ModelPlans::of(model).dependencies(device);
  const std::int32_t first = phase == ProductPhase::rest ? own.local : 0;
  const std::int32_t count = (phase == ProductPhase::interior ? own.local : own.count) - first;
  if (count == 0) return;
  launch(combine_others, grid_for(count), stream_of(model.layout()->memory(device)), count,
         model.layout()->local_size(device), own.equation.read_device() + first, own.start.read_device() + first,
         own.other.read_device(), own.coefficient.read_device(), x);
}

void hand_on_dependent(const DeviceModel& model, int device, const NodalTarget& y) {
  const DeviceDependencies& own = ModelPlans::of(model).dependencies(device);
  if (own.count == 0) return;
  const cudaStream_t stream = stream_of(model.layout()->memory(device));
  launch(receive_shares, grid_for(own.receivers), stream, own.receivers, own.receiver.read_device(),
         own.receiver_start.read_device(), own.giver.read_device(), own.share.read_device(), y);
  launch(clear_dependent, grid_for(own.count), stream, own.count, model.layout()->owned(device),
         own.equation.read_device(), y);
}

void CudaBackend::expand_dependencies(const DeviceModel& model, Vector& x) {
  voussoir::detail::require_one_column(*model.layout(), x, "expand_dependencies");
  exchange_ghosts(x);
  for (int d = 0; d < devices(); ++d) {
    if (model.part(d).dependencies.empty()) continue;
    ModelPlans::of(model).dependencies(d);
    DeviceSection section(*memory(d));
    set_dependent(model, d, false, {x.part(d).update_device()});
  }
}

void CudaBackend::reduce_dependencies(const DeviceModel& model, Vector& x) {
  voussoir::detail::require_one_column(*model.layout(), x, "reduce_dependencies");
  exchange_ghosts(x);
  for (int d = 0; d < devices(); ++d) {
    if (model.part(d).dependencies.empty()) continue;
    ModelPlans::of(model).dependencies(d);
    DeviceSection section(*memory(d));
    hand_on_dependent(model, d, {x.part(d).update_device()});
  }
}

void CudaBackend::clear_constrained(const DeviceModel& model, Vector& x) {
  voussoir::detail::require_layout(*model.layout(), x, "clear_constrained");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const std::int64_t entries = std::int64_t{x.layout()->owned(d)} * x.columns();
    launch(clear_constrained_entries, grid_for(entries), stream_of(memory(d)), entries, x.columns(),
           model.part(d).constrained.read_device(), x.part(d).update_device());
  }
}

}  // namespace voussoir::cuda
