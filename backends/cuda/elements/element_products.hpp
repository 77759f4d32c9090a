#pragma once
#include <voussoir/backends/cuda/elements/clusters.hpp>
#include <voussoir/backends/cuda/elements/node_gather.hpp>
#include <voussoir/backends/device_model.hpp>

// Products with element matrices that are stored in the layout of lanes. All of this inside a section, and only
// enqueued.

namespace voussoir::cuda {

/// True where cluster_product() does a type.
bool fits_cluster_product(const ElementProgram& program, const DeviceMemory& memory);
/// Element matrices in the order of clusters, times x, summed to nodes. x and y as in `sums`; columns that are asked
/// for together share the reading of the matrices, as far as registers allow.
void cluster_product(const ClusterPlan& plan, const double* matrices, const double* x, const ClusterSums& sums,
                     cudaStream_t stream);
/// Brings the matrices of elements first … first + count from plain order to that of a plan.
void order_matrices(const ClusterPlan& plan, std::int32_t first, std::int32_t count, const double* plain,
                    double* ordered, cudaStream_t stream);

/// Spreads a nodal vector to element vectors.
void spread_vector(const ElementView& view, const ElementProgram& program, const double* x, double* vectors,
                   cudaStream_t stream);
/// Columns of element vectors, one `step` numbers after another, and where their products go.
struct ElementColumns {
  const double* x = nullptr;
  double* products = nullptr;  ///< may be x where multiplies_in_place()
  std::int64_t step = 0;
  int width = 1;
};
/// products = matrices · x, element by element, all in plain order.
void multiply_vectors(std::int32_t count, const ElementProgram& program, const double* matrices,
                      const ElementColumns& columns, cudaStream_t stream);
bool multiplies_in_place(const ElementProgram& program);

/// True where multiply_to_nodes() does a type.
bool scatters_at_once(const ElementProgram& program);
/// y += matrices · x, from nodes to nodes in one go, with sums in any order. Matrices in plain order.
void multiply_to_nodes(const ElementView& view, const ElementProgram& program, const double* matrices, const double* x,
                       const NodalTarget& y, cudaStream_t stream);

}  // namespace voussoir::cuda
