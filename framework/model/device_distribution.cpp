#include <voussoir/framework/model/device_distribution.hpp>

#include <algorithm>
#include <sstream>

#include <voussoir/backends/halo_traffic.hpp>

namespace voussoir {

double DeviceDistribution::imbalance() const {
  double most = 0, sum = 0;
  for (const Device& device : devices) {
    most = std::max(most, static_cast<double>(device.equations));
    sum += device.equations;
  }
  return sum > 0 ? most * static_cast<double>(devices.size()) / sum : 1.0;
}

std::string DeviceDistribution::describe() const {
  std::ostringstream text;
  text << devices.size() << (devices.size() == 1 ? " device" : " devices") << " with ";
  for (std::size_t d = 0; d < devices.size(); ++d) text << (d ? " + " : "") << devices[d].equations;
  text << " equations";
  if (devices.size() == 1) return text.str();
  text << ", halos of ";
  for (std::size_t d = 0; d < devices.size(); ++d) text << (d ? " + " : "") << devices[d].ghost_equations;
  text << ": " << bytes_per_product << " bytes are exchanged per product";
  return text.str();
}

DeviceDistribution device_distribution(const DeviceModel& model) {
  DeviceDistribution result;
  const Layout& layout = *model.layout();
  for (int d = 0; d < model.devices(); ++d) {
    const DeviceModel::Part& part = model.part(d);
    DeviceDistribution::Device device;
    device.nodes = part.owned_nodes;
    device.equations = layout.owned(d);
    device.ghost_nodes = part.local_nodes - part.owned_nodes;
    device.ghost_equations = layout.ghosts(d);
    for (const ElementBatch& batch : part.batches) device.elements += batch.element_count;
    device.neighbours = static_cast<int>(layout.exchanges(d).size());
    result.devices.push_back(device);
  }
  result.bytes_per_product = halo_bytes(layout);
  return result;
}

}  // namespace voussoir
