#include <voussoir/backends/cuda/multigrid/gathered_nodes.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/multigrid/device_copies.hpp>

namespace voussoir::cuda {

namespace {

/// to[i] = from[i] + by
__global__ void copy_shifted(std::int64_t count, std::int32_t by, const std::int32_t* from, std::int32_t* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i] + by;
}

}  // namespace

GatheredNodes::GatheredNodes(const DeviceModel& model)
    : count_(model.node_count()),
      coordinates_(&model.part(0).coordinates),
      first_equation_(&model.part(0).first_equation),
      constrained_(&model.part(0).constrained) {
  if (model.devices() > 1) gather(model);
}

int GatheredNodes::most_components() const {
  const auto first = first_equation().read_host();
  std::int32_t most = 1;
  for (std::size_t n = 0; n + 1 < first.size(); ++n) most = std::max(most, first[n + 1] - first[n]);
  return most;
}

void GatheredNodes::gather(const DeviceModel& model) {
  const Layout& layout = *model.layout();
  const auto& memory = layout.memory(0);
  const auto nodes = static_cast<std::size_t>(count_);
  gathered_coordinates_ = Array<double>(memory, 3 * nodes);
  gathered_first_equation_ = Array<std::int32_t>(memory, nodes + 1);
  gathered_constrained_ = Array<std::uint8_t>(memory, static_cast<std::size_t>(layout.size()));
  double* coordinates;
  std::int32_t* first_equation;
  std::uint8_t* constrained;
  {
    DeviceSection section(*memory);
    coordinates = gathered_coordinates_.write_device();
    first_equation = gathered_first_equation_.write_device();
    constrained = gathered_constrained_.write_device();
  }
  for (int d = 0; d < model.devices(); ++d) {
    const DeviceModel::Part& part = model.part(d);
    const auto owned = static_cast<std::size_t>(part.owned_nodes);
    const auto node = static_cast<std::size_t>(model.first_node(d));
    DeviceSection section(*layout.memory(d));
    send_to_first(layout, d, part.coordinates.read_device(), 3 * owned, coordinates + 3 * node);
    send_to_first(layout, d, part.constrained.read_device(), static_cast<std::size_t>(layout.owned(d)),
                  constrained + layout.first(d));
    // The first equation behind the owned nodes is the first of the next device, or the total.
    Array<std::int32_t> first(layout.memory(d), owned + 1);
    const auto count = static_cast<std::int64_t>(owned) + 1;
    launch(copy_shifted, grid_for(count), stream_of(layout.memory(d)), count,
           static_cast<std::int32_t>(layout.first(d)), part.first_equation.read_device(), first.write_device());
    send_to_first(layout, d, first.read_device(), owned + 1, first_equation + node);
  }
  coordinates_ = &gathered_coordinates_;
  first_equation_ = &gathered_first_equation_;
  constrained_ = &gathered_constrained_;
}

}  // namespace voussoir::cuda
