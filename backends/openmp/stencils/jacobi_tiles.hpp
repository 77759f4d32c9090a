#pragma once
#include <cstdint>
#include <span>

#include <voussoir/backends/detail/stencil_machine.hpp>

namespace voussoir::cpu {

/// Planes of a grid where they lie.
template <class Real>
struct PlanesAt {
  Real* base = nullptr;
  std::int64_t first = 0, count = 0;
  std::int64_t plane = 0;  ///< numbers of a plane
  Real* at(std::int64_t z) const { return base + (z - first) % count * plane; }
};

/// The iterations of a pass, several per plane that is read: every thread walks along z over some rows, with three
/// planes of every iteration but the last in its caches, each one plane behind the one before it. Rows at the rim of a
/// thread's range are computed by both neighbours.
template <class Real>
void jacobi_tiles(const detail::StencilPass& pass, const PlanesAt<const Real>& in, const PlanesAt<Real>& out,
                  const PlanesAt<const Real>& f, int threads);

/// Norms of the residual, plane by plane.
template <class Real>
void residual_planes(const detail::StencilPass& pass, const PlanesAt<const Real>& in, const PlanesAt<const Real>& f,
                     std::span<StencilNorms> planes, int threads);

/// Iterations per pass through memory that suit a grid with rows of so many bytes.
int cpu_stencil_tile(std::int64_t row_bytes);

}  // namespace voussoir::cpu
