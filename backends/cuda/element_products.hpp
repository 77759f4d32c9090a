#pragma once
#include <voussoir/backends/cuda/clusters.hpp>
#include <voussoir/backends/device_model.hpp>

// Products with element matrices that are stored as upper triangles in the layout of lanes. All of this inside a
// section, and only enqueued.

namespace voussoir::cuda {

/// True where cluster_product() does a type.
bool fits_cluster_product(const ElementProgram& program, const DeviceMemory& memory);
/// Element matrices in the order of clusters, times x, summed to nodes. x and y as in `sums`.
void cluster_product(const ClusterPlan& plan, const double* matrices, const double* x, const ClusterSums& sums,
                     cudaStream_t stream);
/// Brings the matrices of elements first … first + count from plain order to that of a plan.
void order_matrices(const ClusterPlan& plan, std::int32_t first, std::int32_t count, const double* plain,
                    double* ordered, cudaStream_t stream);

/// Spreads a nodal vector to element vectors.
void spread_vector(const ElementView& view, const ElementProgram& program, const double* x, double* vectors,
                   cudaStream_t stream);
/// vectors = matrices · x, element by element, all in plain order. `x` may be `vectors` where multiplies_in_place().
void multiply_vectors(std::int32_t count, int dofs, const double* matrices, const double* x, double* vectors,
                      cudaStream_t stream);
bool multiplies_in_place(int dofs);

}  // namespace voussoir::cuda
