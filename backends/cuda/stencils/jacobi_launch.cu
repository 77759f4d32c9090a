#include <voussoir/backends/cuda/stencils/jacobi_launch.hpp>

#include <algorithm>
#include <iterator>

#include <voussoir/backends/cuda/stencils/jacobi_kernel.hpp>

namespace voussoir::cuda {

namespace {

using voussoir::detail::StencilPass;

/// Rows per warp, warps per block, planes in stages and blocks per multiprocessor, as they were measured to be fastest
/// on an H200 for 1024³ nodes. Numbers in double precision take so many registers that more warps would spill them.
template <class Real, int T, bool Source>
struct TileChoice {
  static constexpr bool narrow = sizeof(Real) == 8;
  static constexpr int rows = 4;
  static constexpr int warps = emulated ? 4 : T > 2 && !narrow ? 12 : 8;
  static constexpr int stages = T == 3 ? (Source ? 3 : 4) : 2;
  static constexpr int blocks = T <= 2 ? 2 : 1;
};

AxisSides axis_sides(const std::array<GridSide, 2>& sides) {
  static_assert(static_cast<int>(GridSide::dirichlet) == side_dirichlet &&
                static_cast<int>(GridSide::neumann) == side_neumann &&
                static_cast<int>(GridSide::periodic) == side_periodic);
  return {static_cast<int>(sides[0]), static_cast<int>(sides[1])};
}

/// Planes per block of threads. A block computes 2 T planes more than it writes; few blocks leave multiprocessors idle.
int planes_of_block(std::int64_t planes, std::int64_t tiles, std::int64_t together, int levels) {
  std::int64_t best = planes, least = -1;
  const std::int64_t most = std::max<std::int64_t>(1, planes / (4 * levels));
  for (std::int64_t chunks = 1; chunks <= std::min<std::int64_t>(most, 64); ++chunks) {
    const std::int64_t length = (planes + chunks - 1) / chunks;
    const std::int64_t waves = (tiles * ((planes + length - 1) / length) + together - 1) / together;
    const std::int64_t cost = waves * (length + 2 * levels);
    if (least < 0 || cost < least) {
      least = cost;
      best = length;
    }
  }
  return static_cast<int>(best);
}

template <class Real>
PlaneRing<Real> ring(const DevicePlanes<Real>& planes) {
  return {planes.base, static_cast<int>(planes.first), static_cast<int>(planes.count)};
}

template <class Real, int T, bool Source>
constexpr std::size_t shared_bytes_of() {
  using Choice = TileChoice<Real, T, Source>;
  return JacobiTile<T, Choice::rows, Choice::warps, Choice::stages>::template shared_bytes<Real>(Source);
}
template <class Real, bool Source>
std::size_t shared_bytes_of(int levels) {
  constexpr std::size_t known[] = {shared_bytes_of<Real, 1, Source>(), shared_bytes_of<Real, 2, Source>(),
                                   shared_bytes_of<Real, 3, Source>(), shared_bytes_of<Real, 4, Source>()};
  static_assert(std::size(known) == most_jacobi_levels);
  return known[levels - 1];
}

template <class Real, int T, bool Source, bool Damped>
void start(JacobiPass<Real>& work, const CudaMemory& memory) {
  using Choice = TileChoice<Real, T, Source>;
  using Tile = JacobiTile<T, Choice::rows, Choice::warps, Choice::stages>;
  work.tiles_x = (work.nx + Tile::width - 1) / Tile::width;
  work.tiles_y = (work.ny + Tile::height - 1) / Tile::height;
  const std::int64_t tiles = std::int64_t{work.tiles_x} * work.tiles_y;
  work.chunk =
      planes_of_block(work.end - work.begin, tiles, std::int64_t{memory.facts().multiprocessors} * Choice::blocks, T);
  const std::int64_t chunks = (work.end - work.begin + work.chunk - 1) / work.chunk;
  if (tiles * chunks > 0x7fffffff)
    throw Error(ErrorCode::bad_input, "stencil: a grid of " + std::to_string(work.nx) + " x " +
                                          std::to_string(work.ny) + " nodes per layer is too large for this backend");
  Grid grid;
  grid.blocks = tiles * chunks;
  grid.threads = Tile::threads;
  grid.shared_bytes = shared_bytes_of<Real, T, Source>();
  if (grid.shared_bytes > memory.facts().shared_bytes_per_block)
    throw Error(ErrorCode::unavailable, "stencil options: " + std::to_string(T) +
                                            " iterations per pass need more shared memory than " + memory.facts().name +
                                            " has; give a smaller tile, or 0");
  launch(jacobi_pass<Real, T, Choice::rows, Choice::warps, Choice::stages, Choice::blocks, Source, Damped>, grid,
         memory.stream(), work);
}

template <class Real, int T>
void start(JacobiPass<Real>& work, bool damped, const CudaMemory& memory) {
  if (work.f.base)
    damped ? start<Real, T, true, true>(work, memory) : start<Real, T, true, false>(work, memory);
  else
    damped ? start<Real, T, false, true>(work, memory) : start<Real, T, false, false>(work, memory);
}

template <class Real>
JacobiPass<Real> pass_on_device(const StencilPass& pass, const DevicePlanes<const Real>& in,
                                const DevicePlanes<const Real>& f) {
  const StencilProblem& problem = *pass.problem;
  JacobiPass<Real> work{};
  work.in = ring(in);
  work.f = ring(f);
  work.nx = static_cast<int>(problem.nodes[0]);
  work.ny = static_cast<int>(problem.nodes[1]);
  work.nz = static_cast<int>(problem.nodes[2]);
  for (int a = 0; a < 3; ++a) work.sides[a] = axis_sides(problem.sides[a]);
  work.begin = static_cast<int>(pass.begin);
  work.end = static_cast<int>(pass.end);
  return work;
}

}  // namespace

int default_jacobi_levels(bool source, int real_bytes, std::size_t shared_bytes) {
  const bool narrow = real_bytes == 8;
  const auto needed = [&](int levels) {
    if (narrow) return source ? shared_bytes_of<double, true>(levels) : shared_bytes_of<double, false>(levels);
    return source ? shared_bytes_of<float, true>(levels) : shared_bytes_of<float, false>(levels);
  };
  int levels = most_jacobi_levels;
  while (levels > 1 && needed(levels) > shared_bytes) --levels;
  return levels;
}

template <class Real>
void launch_jacobi(const StencilPass& pass, const DevicePlanes<const Real>& in, const DevicePlanes<Real>& out,
                   const DevicePlanes<const Real>& f, const CudaMemory& memory) {
  const std::size_t levels = pass.weights.size();
  if (pass.end <= pass.begin || levels == 0) return;
  JacobiPass<Real> work = pass_on_device(pass, in, f);
  work.out = ring(out);
  // Pairs of neighbours are read at once where every row starts at an even place.
  work.pairs = work.nx % 2 == 0;
  bool damped = false;
  for (std::size_t t = 0; t < levels; ++t) {
    const auto a = voussoir::detail::stencil_factors<Real>(*pass.problem, pass.weights[t]);
    work.level[t] = {a.x, a.y, a.z, a.f, a.u, a.damped};
    damped |= a.damped;
  }
  switch (levels) {
    case 1:
      return start<Real, 1>(work, damped, memory);
    case 2:
      return start<Real, 2>(work, damped, memory);
    case 3:
      return start<Real, 3>(work, damped, memory);
    case 4:
      return start<Real, 4>(work, damped, memory);
    default:
      throw Error(ErrorCode::internal, "a stencil pass of " + std::to_string(levels) + " iterations");
  }
}

namespace {

inline constexpr int residual_threads = 256;

/// A block per plane. Threads take every 256th node, and their sums are added in pairs.
template <class Real>
__global__ void residual_of_planes(const VSR_GRID_CONSTANT JacobiPass<Real> pass, double cx, double cy, double cz,
                                   double* norms) {
  VSR_SHARED double most[residual_threads];
  VSR_SHARED double sum[residual_threads];
  const int z = pass.begin + static_cast<int>(blockIdx.x);
  const std::int64_t plane = static_cast<std::int64_t>(pass.nx) * pass.ny;
  const bool around = pass.sides[2].lower == side_periodic;
  const Real* const u = pass.in.base + slot(pass.in, z) * plane;
  const Real* const below =
      pass.in.base + slot(pass.in, around ? z - 1 : folded(z - 1, pass.nz, pass.sides[2])) * plane;
  const Real* const above =
      pass.in.base + slot(pass.in, around ? z + 1 : folded(z + 1, pass.nz, pass.sides[2])) * plane;
  const Real* const f = pass.f.base ? pass.f.base + slot(pass.f, z) * plane : nullptr;
  double my_most = 0, my_sum = 0;
  if (around || !kept(z, pass.nz, pass.sides[2]))
    for (int i = static_cast<int>(threadIdx.x); i < plane; i += residual_threads) {
      const int x = i % pass.nx, y = i / pass.nx;
      if (kept(x, pass.nx, pass.sides[0]) || kept(y, pass.ny, pass.sides[1])) continue;
      const double v = u[i];
      const int row = y * pass.nx;
      const auto apart = [v](Real a, Real b) { return (static_cast<double>(a) - v) + (static_cast<double>(b) - v); };
      double r =
          cx * apart(u[row + folded(x - 1, pass.nx, pass.sides[0])], u[row + folded(x + 1, pass.nx, pass.sides[0])]);
      r = fused(cy,
                apart(u[folded(y - 1, pass.ny, pass.sides[1]) * pass.nx + x],
                      u[folded(y + 1, pass.ny, pass.sides[1]) * pass.nx + x]),
                r);
      r = fused(cz, apart(below[i], above[i]), r);
      if (f) r += static_cast<double>(f[i]);
      my_sum = fused(r, r, my_sum);
      const double size = r < 0 ? -r : r;
      if (!(size <= my_most) && my_most == my_most) my_most = size;  // a NaN stays
    }
  const int me = static_cast<int>(threadIdx.x);
  most[me] = my_most;
  sum[me] = my_sum;
  for (int half = residual_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) {
      if (!(most[me + half] <= most[me]) && most[me] == most[me]) most[me] = most[me + half];
      sum[me] += sum[me + half];
    }
  }
  if (me == 0) {
    norms[2 * blockIdx.x] = most[0];
    norms[2 * blockIdx.x + 1] = sum[0];
  }
}

}  // namespace

template <class Real>
void launch_residual(const StencilPass& pass, const DevicePlanes<const Real>& in, const DevicePlanes<const Real>& f,
                     double* norms, const CudaMemory& memory) {
  const JacobiPass<Real> work = pass_on_device(pass, in, f);
  const auto& c = pass.problem->coefficients;
  launch(residual_of_planes<Real>, {pass.end - pass.begin, residual_threads}, memory.stream(), work, c[0], c[1], c[2],
         norms);
}

#define VSR_INSTANTIATE(Real)                                                                                         \
  template void launch_jacobi(const StencilPass&, const DevicePlanes<const Real>&, const DevicePlanes<Real>&,         \
                              const DevicePlanes<const Real>&, const CudaMemory&);                                    \
  template void launch_residual(const StencilPass&, const DevicePlanes<const Real>&, const DevicePlanes<const Real>&, \
                                double*, const CudaMemory&);
VSR_INSTANTIATE(double)
VSR_INSTANTIATE(float)
#undef VSR_INSTANTIATE

}  // namespace voussoir::cuda
