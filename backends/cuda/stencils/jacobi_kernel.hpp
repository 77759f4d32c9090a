#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <voussoir/backends/cuda/runtime/async_copy.hpp>
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>

// Several Jacobi iterations in one pass through the memory of a device.
//
// A block of threads walks along z over a tile of 64 × H nodes. At each step it reads one plane of the tile, and every
// level t = 1 … T of the pyramid advances by one plane, t planes behind. A warp has RY rows of the tile, and a lane two
// neighbouring nodes of each. For each level a thread keeps two numbers per node: the value u of the newest plane, and
// what is known of the next value of that plane, before its upper neighbour arrives:
//
//   p = A_x (u_{x−} + u_{x+}) + A_y (u_{y−} + u_{y+}) + A_f f + A_u u + A_z u_{z−}
//
// When the plane above arrives, the new value is p + A_z u_{z+}, and that is the plane which arrives at the next
// level. So all levels advance without a barrier; then neighbours are exchanged for all levels at once, by
// shuffles along x and through shared memory along y, behind one barrier per plane. At the rim of a tile each level
// loses one node per side: tiles overlap by T nodes (the rim along x is even, for accesses to pairs), and only what
// lies inside is written. Overlaps are read from the caches mostly.

#if defined(VSR_CUDA_EMULATED)
#define VSR_GRID_CONSTANT
#else
#define VSR_GRID_CONSTANT __grid_constant__
#endif

namespace voussoir::cuda {

/// Planes in a ring: plane z is at slot (z − first) mod count.
template <class Real>
struct PlaneRing {
  Real* base;
  int first, count;
};

template <class Real>
__device__ inline int slot(const PlaneRing<Real>& ring, int z) {
  return static_cast<int>(static_cast<unsigned>(z - ring.first) % static_cast<unsigned>(ring.count));
}

/// What happens at the two sides of an axis; the numbers are those of GridSide.
struct AxisSides {
  int lower, upper;
};
inline constexpr int side_dirichlet = 0, side_neumann = 1, side_periodic = 2;

/// Factors of one iteration, rounded to the precision of the grid.
template <class Real>
struct JacobiFactors {
  Real x, y, z, f, u;
  int damped;  ///< whether u counts
};

inline constexpr int most_levels = 4;

template <class Real>
struct JacobiPass {
  PlaneRing<const Real> in;
  PlaneRing<Real> out;
  PlaneRing<const Real> f;
  int nx, ny, nz;
  AxisSides sides[3];
  int begin, end;  ///< planes of `out` to be written
  int tiles_x, tiles_y;
  int chunk;  ///< planes per block of threads
  int pairs;  ///< whether pairs of neighbours are aligned in every row
  JacobiFactors<Real> level[most_levels];
};

/// T iterations, RY rows per warp, planes in so many stages: that of the step and those on their way.
template <int T, int RY, int Warps, int Stages>
struct JacobiTile {
  static constexpr int rim_x = (T + 1) / 2 * 2;
  static constexpr int width = 64 - 2 * rim_x;  ///< nodes written along x
  static constexpr int rows = RY * Warps;       ///< nodes held along y
  static constexpr int height = rows - 2 * T;   ///< nodes written along y
  static constexpr int threads = 32 * Warps;
  static constexpr int source_planes = T + Stages - 1;  ///< of the source, which every level needs at another plane
  static constexpr int edge_pairs = 2 * T * Warps * 2 * 32;
  static constexpr int plane_pairs = rows * 32;
  template <class Real>
  static constexpr std::size_t shared_bytes(bool source) {
    return 2 * sizeof(Real) * (edge_pairs + plane_pairs * (Stages + (source ? source_planes : 0)));
  }
};

template <class Real>
struct alignas(2 * sizeof(Real)) Two {
  Real a[2];
};

__device__ inline double fused(double a, double b, double c) {
#if defined(VSR_CUDA_EMULATED)
  return std::fma(a, b, c);
#else
  return __fma_rn(a, b, c);
#endif
}
__device__ inline float fused(float a, float b, float c) {
#if defined(VSR_CUDA_EMULATED)
  return std::fma(a, b, c);
#else
  return __fmaf_rn(a, b, c);
#endif
}

/// The node whose value stands at index i of an axis of n nodes, which may lie beyond the sides.
__device__ inline int folded(int i, int n, AxisSides sides) {
  if (sides.lower == side_periodic) {
    i %= n;
    return i < 0 ? i + n : i;
  }
  while (i < 0 || i >= n) {
    if (i < 0)
      i = sides.lower == side_neumann ? -i : 0;
    else
      i = sides.upper == side_neumann ? 2 * (n - 1) - i : n - 1;
  }
  return i;
}
__device__ inline bool kept(int i, int n, AxisSides sides) {
  return (i == 0 && sides.lower == side_dirichlet) || (i == n - 1 && sides.upper == side_dirichlet);
}

/// The state of one thread on its way along z.
template <class Real, int T, int RY, int Warps, int Stages, bool Source, bool Damped>
class JacobiWalk {
 public:
  using Tile = JacobiTile<T, RY, Warps, Stages>;

  __device__ JacobiWalk(const JacobiPass<Real>& pass, Two<Real>* shared) : pass_(pass), shared_(shared) {
    lane_ = static_cast<int>(threadIdx.x) % 32;
    warp_ = static_cast<int>(threadIdx.x) / 32;
    const int block = static_cast<int>(blockIdx.x);
    const int x = block % pass.tiles_x * Tile::width - Tile::rim_x;
    const int y = block / pass.tiles_x % pass.tiles_y * Tile::height - T;
    begin_ = pass.begin + block / pass.tiles_x / pass.tiles_y * pass.chunk;
    end_ = begin_ + pass.chunk < pass.end ? begin_ + pass.chunk : pass.end;
    inside_ = x >= 0 && y >= 0 && x + 64 <= pass.nx && y + Tile::rows <= pass.ny;
    // An inside tile may still touch a side with its outermost lanes: those are never written, nor is what they reach.
    x_ = x + 2 * lane_;
    y_ = y + warp_ * RY;
    for (int i = 0; i < 2; ++i) {
      const int at = folded(x_ + i, pass.nx, pass.sides[0]);
      at_x_[i] = at;
      if (kept(at, pass.nx, pass.sides[0])) keep_ |= 0x55555555u << i;
    }
    for (int r = 0; r < RY; ++r) {
      const int at = folded(y_ + r, pass.ny, pass.sides[1]);
      at_y_[r] = at * pass.nx;
      if (kept(at, pass.ny, pass.sides[1])) keep_ |= 3u << 2 * r;
    }
    writes_ = lane_ >= Tile::rim_x / 2 && lane_ < 32 - Tile::rim_x / 2;
    plane_ = static_cast<std::int64_t>(pass.nx) * pass.ny;
  }

  __device__ void run() {
    const bool ends = pass_.sides[2].lower != side_periodic;
    int k = begin_ - T;
    if (ends && k < 0) k = 0;
    last_load_ = end_ - 1 + T;
    if (ends && last_load_ > pass_.nz - 1) last_load_ = pass_.nz - 1;
    next_load_ = k;
    in_slot_ = slot(pass_.in, k);
    if (Source) f_slot_ = slot(pass_.f, k);
    for (int t = 0; t < T; ++t)
      for (int r = 0; r < RY; ++r)
        for (int i = 0; i < 2; ++i) value_[t][r][i] = part_[t][r][i] = 0;
    const int stop = end_ - 1 + T;
    if (inside_) {
      for (int s = 1; s < Stages; ++s) load<false>();
      // Sides along z concern a level only at its first two and its last two planes.
      const int fast = ends && k <= 0 ? T + 1 : k;
      const int slow = ends && stop >= pass_.nz - 1 ? pass_.nz - 1 : stop + 1;
#pragma unroll 1
      for (; k < fast && k <= stop; ++k) step<true, false>(k);
#pragma unroll 1
      for (; k < slow && k <= stop; ++k) step<false, false>(k);
#pragma unroll 1
      for (; k <= stop; ++k) step<true, false>(k);
    } else {
      for (int s = 1; s < Stages; ++s) load<true>();
#pragma unroll 1
      for (; k <= stop; ++k) step<true, true>(k);
    }
  }

 private:
  /// Asks for the next plane of the tile, which arrives in shared memory while those before are worked on. Every call
  /// is a group of copies, an empty one beyond the last plane.
  template <bool Rim>
  __device__ void load() {
    if (next_load_ <= last_load_) {
      fetch<Rim>(pass_.in.base + in_slot_ * plane_, arriving(load_stage_));
      if (++in_slot_ == pass_.in.count) in_slot_ = 0;
      if (Source) {
        fetch<Rim>(pass_.f.base + f_slot_ * plane_, source_at(load_source_));
        if (++f_slot_ == pass_.f.count) f_slot_ = 0;
      }
    }
    close_copies();
    ++next_load_;
    if (++load_stage_ == Stages) load_stage_ = 0;
    if (Source && ++load_source_ == Tile::source_planes) load_source_ = 0;
  }
  template <bool Rim>
  __device__ void fetch(const Real* plane, Two<Real>* to) const {
#pragma unroll
    for (int r = 0; r < RY; ++r) {
      if (Rim || !pass_.pairs) {
#pragma unroll
        for (int i = 0; i < 2; ++i) start_copy<sizeof(Real)>(&to[32 * r].a[i], plane + (at_y_[r] + at_x_[i]));
      } else {
        start_copy<sizeof(Two<Real>)>(&to[32 * r], plane + (at_y_[0] + at_x_[0]) + r * pass_.nx);
      }
    }
  }
  /// Where the nodes of this thread arrive.
  __device__ Two<Real>* arriving(int stage) const {
    return shared_ + (Tile::edge_pairs + stage * Tile::plane_pairs + warp_ * (RY * 32) + lane_);
  }
  __device__ Two<Real>* source_at(int stage) const {
    return shared_ + (Tile::edge_pairs + (Stages + stage) * Tile::plane_pairs + warp_ * (RY * 32) + lane_);
  }

  /// One plane further, with (Ends) or without the sides along z in reach, and with or without the sides along x and y.
  template <bool Ends, bool Rim>
  __device__ void step(int k) {
    load<Rim>();
    wait_for_copies_but<Stages - 1>();
    Real v[RY][2];
#pragma unroll
    for (int r = 0; r < RY; ++r) {
      const Two<Real> both = arriving(stage_)[32 * r];
      v[r][0] = both.a[0];
      v[r][1] = both.a[1];
    }
#pragma unroll
    for (int t = 0; t < T; ++t) advance<Ends, Rim>(t, k - t, v);
    if (k - T >= begin_) store<Rim>(k - T, v);  // k − T < end_ always
    Two<Real>* const edges = shared_ + (k & 1) * (T * Warps * 2 * 32);
#pragma unroll
    for (int t = 0; t < T; ++t) {
      Two<Real>* const mine = edges + ((t * Warps + warp_) * 2) * 32 + lane_;
      mine[0] = {{value_[t][0][0], value_[t][0][1]}};
      mine[32] = {{value_[t][RY - 1][0], value_[t][RY - 1][1]}};
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < T; ++t) collect<Ends>(t, k - t, edges);
    if (++stage_ == Stages) stage_ = 0;
    if (Source && ++source_stage_ == Tile::source_planes) source_stage_ = 0;
  }

  /// The plane z of level t has arrived in v: plane z − 1 of level t + 1 leaves in v.
  template <bool Ends, bool Rim>
  __device__ void advance(int t, int z, Real (&v)[RY][2]) {
    const Real az = pass_.level[t].z;
    const bool mirrored = Ends && z == 1 && pass_.sides[2].lower == side_neumann;
    const bool top = Ends && z == pass_.nz && pass_.sides[2].upper != side_periodic;  // nothing has arrived
    const bool keep = Ends && pass_.sides[2].lower != side_periodic && kept(z - 1, pass_.nz, pass_.sides[2]);
#pragma unroll
    for (int r = 0; r < RY; ++r)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        Real p = part_[t][r][i];
        if (Ends && mirrored) p = fused(az, v[r][i], p);
        if (!(Ends && top)) p = fused(az, v[r][i], p);
        if (Ends && keep) p = value_[t][r][i];
        if (Rim && (keep_ >> (2 * r + i) & 1u)) p = value_[t][r][i];
        part_[t][r][i] = value_[t][r][i];
        value_[t][r][i] = v[r][i];
        v[r][i] = p;
      }
  }

  /// All that is known of the next value of plane z of level t; part_ has the plane below.
  template <bool Ends>
  __device__ void collect(int t, int z, const Two<Real>* edges) {
    const JacobiFactors<Real>& a = pass_.level[t];
    const Two<Real> below = edges[((t * Warps + (warp_ > 0 ? warp_ - 1 : 0)) * 2 + 1) * 32 + lane_];
    const Two<Real> above = edges[((t * Warps + (warp_ < Warps - 1 ? warp_ + 1 : warp_)) * 2) * 32 + lane_];
    const bool first = Ends && z == 0 && pass_.sides[2].lower == side_neumann;
    const bool last = Ends && z == pass_.nz - 1 && pass_.sides[2].upper == side_neumann;
    // The source of plane z arrived t planes ago.
    const int stage = source_stage_ - t;
    const Two<Real>* const source = Source ? source_at(stage < 0 ? stage + Tile::source_planes : stage) : nullptr;
#pragma unroll
    for (int r = 0; r < RY; ++r) {
      const Real left = __shfl_up_sync(0xffffffffu, value_[t][r][1], 1);
      const Real right = __shfl_down_sync(0xffffffffu, value_[t][r][0], 1);
      Two<Real> f{};
      if (Source) f = source[32 * r];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Real u = value_[t][r][i];
        const Real y_below = r > 0 ? value_[t][r > 0 ? r - 1 : 0][i] : below.a[i];
        const Real y_above = r < RY - 1 ? value_[t][r < RY - 1 ? r + 1 : r][i] : above.a[i];
        Real p = a.x * (i == 0 ? left + value_[t][r][1] : value_[t][r][0] + right);
        p = fused(a.y, y_below + y_above, p);
        if (Source) p = fused(a.f, f.a[i], p);
        if (Damped && a.damped) p = fused(a.u, u, p);
        const Real z_below = part_[t][r][i];
        if (Ends && last) p = fused(a.z, z_below, p);
        if (!(Ends && first)) p = fused(a.z, z_below, p);
        part_[t][r][i] = p;
      }
    }
  }

  template <bool Rim>
  __device__ void store(int z, const Real (&v)[RY][2]) {
    if (!writes_) return;
    Real* const plane = pass_.out.base + static_cast<std::int64_t>(slot(pass_.out, z)) * plane_;
#pragma unroll
    for (int r = 0; r < RY; ++r) {
      const int row = warp_ * RY + r;
      if (row < T || row >= Tile::rows - T) continue;
      if (Rim || !pass_.pairs) {
        if (Rim && y_ + r >= pass_.ny) continue;
        Real* const to = plane + ((y_ + r) * pass_.nx + x_);
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (!Rim || x_ + i < pass_.nx) to[i] = v[r][i];
      } else {
        *reinterpret_cast<Two<Real>*>(plane + (at_y_[0] + at_x_[0]) + r * pass_.nx) = {{v[r][0], v[r][1]}};
      }
    }
  }

  const JacobiPass<Real>& pass_;
  Two<Real>* shared_;
  Real value_[T][RY][2], part_[T][RY][2];
  std::int64_t plane_;
  int begin_, end_, last_load_, next_load_, x_, y_, in_slot_, f_slot_ = 0;
  int stage_ = 0, load_stage_ = 0, source_stage_ = 0, load_source_ = 0;
  int at_x_[2], at_y_[RY];
  unsigned keep_ = 0;
  int lane_, warp_;
  bool inside_, writes_;
};

template <class Real, int T, int RY, int Warps, int Stages, int Blocks, bool Source, bool Damped>
__global__ void __launch_bounds__(32 * Warps, Blocks) jacobi_pass(const VSR_GRID_CONSTANT JacobiPass<Real> pass) {
  VSR_DYNAMIC_SHARED(Two<Real>, shared);
  JacobiWalk<Real, T, RY, Warps, Stages, Source, Damped> walk(pass, shared);
  walk.run();
}

}  // namespace voussoir::cuda
