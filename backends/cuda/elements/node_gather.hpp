#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/runtime/runtime.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

/// Where the nodes of a batch find the values of its elements: for every local node the elements that have it, in
/// ascending order, so that sums are taken in the same order in every run. Nodes whose rows the device does not compute
/// (ghosts that feed none of its dependencies) have an empty list.
struct NodeGather {
  std::int32_t rows = 0;           ///< local nodes
  Array<std::uint32_t> start;      ///< per local node, and the total
  Array<std::uint32_t> incidence;  ///< element · nodes of an element + which of its nodes, ascending within a row

  std::size_t bytes() const { return start.bytes() + incidence.bytes(); }
};

/// Builds the lists on the device.
NodeGather make_node_gather(const DeviceModel& model, int device, int batch);

/// Where element vectors go: column `column` of a block of `columns` nodal vectors.
struct NodalTarget {
  double* y = nullptr;
  int columns = 1;
  int column = 0;
};

/// y[node] += factor · Σ values of its elements (in the layout of lanes, all elements of the batch), inside a section.
void add_to_nodes(const DeviceModel& model, int device, int batch, const NodeGather& plan, const double* values,
                  double factor, const NodalTarget& target);

}  // namespace voussoir::cuda
