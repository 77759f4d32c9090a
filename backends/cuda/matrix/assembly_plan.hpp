#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

class CudaSparseMatrix;

/// 32 blocks of nodes, side by side in a slice, that get contributions of a run of elements. The contributions number d
/// of its lanes have the codes (first_code + d) · 32 + lane.
struct GatherCell {
  std::uint32_t first_code = 0;
  std::uint32_t cell = 0;
  std::int32_t slice = 0;
  std::uint32_t depth_and_first = 0;  ///< 2 · longest list of the lanes, + 1 where no run before this one adds here

  __host__ __device__ std::uint32_t depth() const { return depth_and_first / 2; }
  __host__ __device__ bool comes_first() const { return depth_and_first % 2 != 0; }
};

/// Which blocks of element matrices are summed to which blocks of nodes, for a run of elements of a batch. A code is
/// (element − first) << 2 · node_bits | a << node_bits | b for the pair (a, b) of the element's nodes; codes of a block
/// ascend, so that sums are always taken in the same order. Elements with dependent equations are left out.
struct BatchGather {
  int batch = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
  int node_bits = 0;
  std::int64_t cells = 0;
  Array<GatherCell> cell;
  Array<std::uint32_t> code;

  std::size_t bytes() const { return cell.bytes() + code.bytes(); }
};
inline constexpr std::uint32_t no_code = ~0u;

/// Contributions of the elements with dependent equations of a batch: value[target[t]] += Σ factor · number of an
/// element matrix, over the terms start[t] … start[t + 1]. `source` counts through the matrices of these elements, one
/// after another.
struct DependentGather {
  Array<std::int32_t> element;  ///< ascending
  Array<std::int64_t> target;
  Array<std::uint32_t> start;
  Array<std::int64_t> source;
  Array<double> factor;

  std::size_t bytes() const {
    return element.bytes() + target.bytes() + start.bytes() + source.bytes() + factor.bytes();
  }
};

/// A cell with an equation that is not free in its rows or columns.
struct ConstrainedCell {
  std::uint32_t cell = 0;
  std::int32_t slice = 0;
};

/// How a model's elements are summed to a matrix on one device.
struct AssemblyPlan {
  /// True where nodes have several equations and rows are single equations: then blocks of nodes are found by `nodes`,
  /// and `offset` says, per cell and lane of it, where the columns of a block begin in its rows (−1: no block).
  bool expanded = false;
  SlicedRows nodes;
  Array<std::int32_t> offset;
  std::vector<BatchGather> gathers;  ///< by batches, then elements
  /// True where every run of elements fills whole blocks, so that the first one sets what the others add to.
  bool whole_blocks = false;
  std::vector<DependentGather> dependents;  ///< per batch
  std::int64_t constrained_cells = 0;
  Array<ConstrainedCell> constrained;
  ModelRevision revision;                 ///< of the model that it was made for
  std::vector<Array<std::uint8_t>> skip;  ///< per batch: elements with dependent equations; empty where there are none

  std::size_t bytes() const;
};

/// Brings the pattern and the plan of a matrix up to date where its model has changed since they were made.
void follow_model(const DeviceModel& model, int device, CudaSparseMatrix& matrix);

}  // namespace voussoir::cuda
