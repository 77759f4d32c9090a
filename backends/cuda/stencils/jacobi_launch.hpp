#pragma once
#include <span>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/detail/stencil_machine.hpp>

namespace voussoir::cuda {

/// Planes of a grid on a device.
template <class Real>
struct DevicePlanes {
  Real* base = nullptr;
  std::int64_t first = 0, count = 0;
};

/// The most iterations of one pass through device memory.
inline constexpr int most_jacobi_levels = 4;
/// Those that were measured to be fastest, in double precision or single, with a source or without; fewer where a block
/// has less shared memory than they need.
int default_jacobi_levels(bool source, int real_bytes, std::size_t shared_bytes);

/// Enqueues the iterations of a pass, at most most_jacobi_levels. Inside a section.
template <class Real>
void launch_jacobi(const voussoir::detail::StencilPass& pass, const DevicePlanes<const Real>& in,
                   const DevicePlanes<Real>& out, const DevicePlanes<const Real>& f, const CudaMemory& memory);

/// Norms of the residual of each plane: its largest value and its sum of squares, in turn. Inside a section.
template <class Real>
void launch_residual(const voussoir::detail::StencilPass& pass, const DevicePlanes<const Real>& in,
                     const DevicePlanes<const Real>& f, double* norms, const CudaMemory& memory);

/// See StencilServices::make_long_vectors(); what it is given has been checked.
std::unique_ptr<LongVectorHeat> make_cuda_long_vectors(std::shared_ptr<DeviceMemory> memory, std::int64_t n,
                                                       double alpha, std::span<const double> u);

}  // namespace voussoir::cuda
