#pragma once
#include <memory>

#include <voussoir/backends/explicit_services.hpp>

namespace voussoir::cuda {

class CudaBackend;

/// Explicit steps on NVIDIA GPUs: internal forces by clusters of elements, their sums and the vectors in a few kernels
/// per step, which are recorded once and replayed.
std::unique_ptr<ExplicitServices> make_explicit_services(CudaBackend& backend);

}  // namespace voussoir::cuda
