#pragma once
#include <algorithm>
#include <vector>

#include <voussoir/backends/device_model.hpp>

namespace voussoir::detail {

/// The nodes of a model on the first device: those of the model itself where there is only one device, else a copy
/// gathered from all of them through the host.
class NodeTable {
 public:
  explicit NodeTable(const DeviceModel& model)
      : coordinates_(&model.part(0).coordinates),
        first_equation_(&model.part(0).first_equation),
        constrained_(&model.part(0).constrained) {
    if (model.devices() > 1) gather(model);
  }
  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  const Array<double>& coordinates() const { return *coordinates_; }
  const Array<std::int32_t>& first_equation() const { return *first_equation_; }
  const Array<std::uint8_t>& constrained() const { return *constrained_; }
  /// The most equations that a node has, at least 1.
  int most_components() const {
    const auto first = first_equation().read_host();
    std::int32_t most = 1;
    for (std::size_t n = 0; n + 1 < first.size(); ++n) most = std::max(most, first[n + 1] - first[n]);
    return most;
  }

 private:
  void gather(const DeviceModel& model) {
    const Layout& layout = *model.layout();
    std::vector<double> coordinates;
    std::vector<std::int32_t> first_equation;
    std::vector<std::uint8_t> constrained;
    for (int d = 0; d < model.devices(); ++d) {
      const DeviceModel::Part& part = model.part(d);
      const auto nodes = static_cast<std::size_t>(part.owned_nodes);
      const auto points = part.coordinates.read_host();
      coordinates.insert(coordinates.end(), points.begin(), points.begin() + static_cast<std::ptrdiff_t>(3 * nodes));
      const auto first = part.first_equation.read_host();
      for (std::size_t n = 0; n < nodes; ++n)
        first_equation.push_back(first[n] + static_cast<std::int32_t>(layout.first(d)));
      const auto flags = part.constrained.read_host();
      constrained.insert(constrained.end(), flags.begin(), flags.begin() + layout.owned(d));
    }
    first_equation.push_back(static_cast<std::int32_t>(layout.size()));
    const auto& memory = layout.memory(0);
    gathered_coordinates_ = Array<double>(memory, std::span<const double>(coordinates));
    gathered_first_equation_ = Array<std::int32_t>(memory, std::span<const std::int32_t>(first_equation));
    gathered_constrained_ = Array<std::uint8_t>(memory, std::span<const std::uint8_t>(constrained));
    coordinates_ = &gathered_coordinates_;
    first_equation_ = &gathered_first_equation_;
    constrained_ = &gathered_constrained_;
  }

  const Array<double>* coordinates_;
  const Array<std::int32_t>* first_equation_;
  const Array<std::uint8_t>* constrained_;
  Array<double> gathered_coordinates_;
  Array<std::int32_t> gathered_first_equation_;
  Array<std::uint8_t> gathered_constrained_;
};

}  // namespace voussoir::detail
