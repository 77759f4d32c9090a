#pragma once
#include <memory>
#include <span>

#include <voussoir/backends/detail/stencil_machine.hpp>

// Grids in the memory of devices and grids that are streamed through it, the same for all backends.

namespace voussoir::detail {

/// The problem with axes of one Neumann node as periodic ones, which is the same: a node is its own neighbour. Throws
/// as check_problem().
StencilProblem normal_problem(const StencilProblem& problem);
/// The range of planes of a device, of `devices` that share nz planes evenly.
struct PlaneRange {
  std::int64_t begin = 0, end = 0;
};
PlaneRange plane_range(std::int64_t nz, int device, int devices);

/// See StencilServices::slab_bytes().
std::size_t slab_bytes(const StencilProblem& problem, std::int64_t slab, int height, int tile, bool source,
                       int real_bytes);

/// See StencilServices::make_jacobi(); `tile` is what is used where the options have none.
template <class Real>
std::unique_ptr<StencilIteration<Real>> make_memory_iteration(std::unique_ptr<StencilMachine<Real>> machine,
                                                              const StencilProblem& problem, std::span<const Real> u,
                                                              std::span<const Real> f, const StencilOptions& options,
                                                              int tile);
/// See StencilServices::stream_jacobi().
template <class Real>
std::unique_ptr<StencilIteration<Real>> make_streamed_iteration(std::unique_ptr<StencilMachine<Real>> machine,
                                                                const StencilProblem& problem, std::span<Real> u,
                                                                std::span<const Real> f, const StencilOptions& options,
                                                                int tile);

/// Checks what StencilServices::make_long_vectors() is given.
void check_long_vectors(std::int64_t n, double alpha, std::size_t values);

}  // namespace voussoir::detail
