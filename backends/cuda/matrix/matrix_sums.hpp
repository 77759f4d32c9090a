#pragma once
#include <voussoir/backends/cuda/matrix/assembly_plan.hpp>
#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>
#include <voussoir/backends/detail/any_side.hpp>

namespace voussoir::cuda {

/// Element matrices of a run on the device, in the layout of lanes. `first` counts from the start of the batch.
struct ElementMatrices {
  const double* value = nullptr;
  int nodes = 0;
  int components = 0;
  std::int32_t first = 0;
  std::int32_t count = 0;
  bool symmetric = true;                        ///< upper triangles, not whole matrices
  const std::int32_t* element_nodes = nullptr;  ///< of the whole batch; needed where there are slots
  const std::uint8_t* slot = nullptr;           ///< ElementBatch::slot; null: the first equations of nodes
  int dofs() const { return nodes * components; }
  /// Which of a node's equations component i of the elements is.
  VSR_ANY_SIDE int slot_of(std::int32_t node, int i) const {
    return slot ? slot[static_cast<std::int64_t>(node) * components + i] : i;
  }
  int entries() const { return symmetric ? dofs() * (dofs() + 1) / 2 : dofs() * dofs(); }
};

/// The values of a matrix on one device and how they are found, for sums of element matrices. Inside a section.
struct MatrixTarget {
  SlicedView rows;
  double* value = nullptr;
  int block_size = 1;
  bool expanded = false;
  const std::int32_t* node_row = nullptr;        ///< expanded: per place of the node pattern
  const std::int32_t* offset = nullptr;          ///< expanded: per cell and lane of it
  const std::int32_t* first_equation = nullptr;  ///< per local node
  std::int32_t owned_nodes = 0;

  static MatrixTarget of(const DeviceModel& model, int device, CudaSparseMatrix& matrix);
};

/// Adds the matrices of a run by a plan, in a fixed order; where `set_first`, cells that come first are set instead.
void gather_matrices(const BatchGather& plan, const ElementMatrices& matrices, const MatrixTarget& target,
                     bool set_first, cudaStream_t stream);
/// Adds the matrices of a run by atomic operations, in any order. `skip` marks elements that are left out, or is null.
void scatter_matrices(const std::int32_t* nodes, const std::uint8_t* skip, const ElementMatrices& matrices,
                      const MatrixTarget& target, cudaStream_t stream);
/// Copies the matrices of elements with dependent equations that are in a run to their place in `kept`.
void keep_dependent(const DependentGather& plan, const ElementMatrices& matrices, double* kept, cudaStream_t stream);
/// Adds what was kept.
void add_dependent(const DependentGather& plan, const double* kept, const MatrixTarget& target, cudaStream_t stream);
/// Zeroes rows and columns of equations that are not free; the diagonal stays, positive.
void isolate_constrained(const AssemblyPlan& plan, const std::uint8_t* constrained, const MatrixTarget& target,
                         cudaStream_t stream);

}  // namespace voussoir::cuda
