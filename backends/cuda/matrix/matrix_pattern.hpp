#pragma once
#include <span>
#include <utility>
#include <vector>

#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

/// Whether a batch adds to matrices at all.
inline bool has_matrix(const ElementBatch& batch) {
  return batch.element_count > 0 && (batch.program->has_tangent() || batch.program->has_mass());
}

/// Pairs (owned row, column) of nodes, ascending, each once.
using NodePairs = std::vector<std::pair<std::int32_t, std::int32_t>>;

/// The blocks of a model's matrix on one device: rows are its own nodes, columns all nodes that share an element with
/// them, themselves, and `extra`. Columns of other devices' nodes follow those of its own.
SlicedRows make_node_pattern(const DeviceModel& model, int device, const NodePairs& extra);

/// The same pattern by equations. `offset` gets, per cell and lane of the node pattern, where the columns of a block
/// begin in the rows of its node's equations, or −1.
SlicedRows expand_pattern(const DeviceModel& model, int device, const SlicedRows& nodes, Array<std::int32_t>& offset);

/// Fills the columns behind the end of rows, and of lanes without a row. Inside a section.
void pad_columns(SlicedRows& rows, cudaStream_t stream);

}  // namespace voussoir::cuda
