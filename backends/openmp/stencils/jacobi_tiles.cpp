#include <voussoir/backends/openmp/stencils/jacobi_tiles.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir::cpu {

namespace {

using detail::StencilFactors;
using detail::StencilPass;

/// Bytes that the planes of one thread may take: about half of a second-level cache.
constexpr std::int64_t cache_bytes = 512 << 10;

/// The nodes next to node i of an axis with n nodes, and whether i is kept. Beyond periodic sides indices go on, where
/// the caller has such planes or rows; else they go around.
struct Neighbours {
  std::int64_t below, above;
  bool kept;
};
Neighbours neighbours(std::int64_t i, std::int64_t n, const std::array<GridSide, 2>& sides) {
  if (sides[0] == GridSide::periodic) return {i - 1, i + 1, false};
  Neighbours at{i - 1, i + 1, false};
  if (i == 0) {
    if (sides[0] == GridSide::dirichlet) return {i, i, true};
    at.below = 1;
  }
  if (i == n - 1) {
    if (sides[1] == GridSide::dirichlet) return {i, i, true};
    at.above = n - 2;
  }
  return at;
}

/// A row and the rows next to it.
template <class Real>
struct Rows {
  const Real *u, *y_below, *y_above, *z_below, *z_above, *f;
};

template <class Real, bool Source, bool Damped>
inline Real next_value(const StencilFactors<Real>& a, const Rows<Real>& rows, std::int64_t x, Real left, Real right) {
  Real t = a.x * (left + right);
  t = std::fma(a.y, rows.y_below[x] + rows.y_above[x], t);
  if constexpr (Source) t = std::fma(a.f, rows.f[x], t);
  if constexpr (Damped) t = std::fma(a.u, rows.u[x], t);
  t = std::fma(a.z, rows.z_below[x], t);
  return std::fma(a.z, rows.z_above[x], t);
}

template <class Real, bool Source, bool Damped>
void next_row(const StencilFactors<Real>& a, const Rows<Real>& rows, std::int64_t nx,
              const std::array<GridSide, 2>& sides, Real* __restrict out) {
  const Real* const u = rows.u;
  for (std::int64_t x = 1; x < nx - 1; ++x) out[x] = next_value<Real, Source, Damped>(a, rows, x, u[x - 1], u[x + 1]);
  for (const std::int64_t x : {std::int64_t{0}, nx - 1}) {
    const Neighbours at = neighbours(x, nx, sides);
    out[x] = at.kept ? u[x] : next_value<Real, Source, Damped>(a, rows, x, u[(at.below + nx) % nx], u[at.above % nx]);
  }
}

template <class Real>
void next_row(const StencilFactors<Real>& a, const Rows<Real>& rows, std::int64_t nx,
              const std::array<GridSide, 2>& sides, Real* out) {
  if (rows.f)
    a.damped ? next_row<Real, true, true>(a, rows, nx, sides, out)
             : next_row<Real, true, false>(a, rows, nx, sides, out);
  else
    a.damped ? next_row<Real, false, true>(a, rows, nx, sides, out)
             : next_row<Real, false, false>(a, rows, nx, sides, out);
}

/// Rows of three planes of one iteration, in a thread's own memory. Beyond periodic sides, rows and planes go on.
template <class Real>
struct LevelPlanes {
  Real* base = nullptr;
  std::int64_t first_row = 0, rows = 0, nx = 0;
  Real* at(std::int64_t y, std::int64_t z) const { return base + ((z % 3 + 3) % 3 * rows + y - first_row) * nx; }
};

/// The walk of one thread over the rows [y_begin, y_end) of planes [begin, end).
template <class Real>
class TileWalk {
 public:
  TileWalk(const StencilPass& pass, const PlanesAt<const Real>& in, const PlanesAt<Real>& out,
           const PlanesAt<const Real>& f)
      : problem_(*pass.problem), in_(in), out_(out), f_(f), levels_(pass.weights.size()) {
    for (const double weight : pass.weights) factors_.push_back(detail::stencil_factors<Real>(problem_, weight));
  }

  void run(std::int64_t y_begin, std::int64_t y_end, std::int64_t begin, std::int64_t end) {
    const auto last = static_cast<std::int64_t>(levels_);
    y_begin_ = y_begin;
    y_end_ = y_end;
    begin_ = begin;
    end_ = end;
    memory_.resize(static_cast<std::size_t>(3 * (last - 1) * (y_end - y_begin + 2 * last) * problem_.nodes[0]));
    Real* base = memory_.data();
    planes_.assign(levels_, {});
    for (std::int64_t l = 1; l < last; ++l) {  // planes_[l] has the values after l iterations
      const Range rows = rows_of(l);
      planes_[static_cast<std::size_t>(l)] = {base, rows.begin, rows.end - rows.begin, problem_.nodes[0]};
      base += 3 * (rows.end - rows.begin) * problem_.nodes[0];
    }
    for (std::int64_t k = begin - last; k < end + last; ++k)
      for (std::int64_t l = 1; l <= last; ++l) {
        const Range there = planes_of(l);
        if (k - l >= there.begin && k - l < there.end) plane(l, k - l);
      }
  }

 private:
  struct Range {
    std::int64_t begin, end;
  };
  Range clip(std::int64_t begin, std::int64_t end, int axis) const {
    if (problem_.sides[axis][0] == GridSide::periodic) return {begin, end};
    return {std::max<std::int64_t>(begin, 0), std::min(end, problem_.nodes[axis])};
  }
  Range rows_of(std::int64_t l) const {
    const std::int64_t rim = static_cast<std::int64_t>(levels_) - l;
    return clip(y_begin_ - rim, y_end_ + rim, 1);
  }
  Range planes_of(std::int64_t l) const {
    const std::int64_t rim = static_cast<std::int64_t>(levels_) - l;
    return clip(begin_ - rim, end_ + rim, 2);
  }
  std::int64_t around_y(std::int64_t y) const {
    return (y % problem_.nodes[1] + problem_.nodes[1]) % problem_.nodes[1];
  }
  /// Row y of plane z after l iterations.
  const Real* row(std::int64_t l, std::int64_t y, std::int64_t z) const {
    return l == 0 ? in_.at(z) + around_y(y) * problem_.nodes[0] : planes_[static_cast<std::size_t>(l)].at(y, z);
  }

  /// Plane z after l iterations, from those after l − 1.
  void plane(std::int64_t l, std::int64_t z) const {
    const std::int64_t nx = problem_.nodes[0];
    const Range rows = rows_of(l);
    const bool last = l == static_cast<std::int64_t>(levels_);
    const Neighbours at_z = neighbours(z, problem_.nodes[2], problem_.sides[2]);
    const StencilFactors<Real>& a = factors_[static_cast<std::size_t>(l - 1)];
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      Real* const to = last ? out_.at(z) + y * nx : planes_[static_cast<std::size_t>(l)].at(y, z);
      const Neighbours at_y = neighbours(y, problem_.nodes[1], problem_.sides[1]);
      const Real* const u = row(l - 1, y, z);
      if (at_y.kept || at_z.kept) {
        std::copy_n(u, nx, to);
        continue;
      }
      const Rows<Real> from{u,
                            row(l - 1, at_y.below, z),
                            row(l - 1, at_y.above, z),
                            row(l - 1, y, at_z.below),
                            row(l - 1, y, at_z.above),
                            f_.base ? f_.at(z) + around_y(y) * nx : nullptr};
      next_row(a, from, nx, problem_.sides[0], to);
    }
  }

  const StencilProblem& problem_;
  const PlanesAt<const Real>& in_;
  const PlanesAt<Real>& out_;
  const PlanesAt<const Real>& f_;
  std::size_t levels_;
  std::vector<StencilFactors<Real>> factors_;
  std::vector<LevelPlanes<Real>> planes_;
  std::vector<Real> memory_;
  std::int64_t y_begin_ = 0, y_end_ = 0, begin_ = 0, end_ = 0;
};

/// Rows per tile: as many as fit in the cache, but at least twice the rows that are computed twice.
std::int64_t rows_of_tile(std::int64_t levels, std::int64_t row_bytes, std::int64_t ny) {
  if (levels <= 1) return std::min<std::int64_t>(ny, 32);
  const std::int64_t fit = cache_bytes / (3 * (levels - 1) * row_bytes) - 2 * levels;
  return std::clamp<std::int64_t>(fit, std::min(ny, 4 * levels), ny);
}

}  // namespace

int cpu_stencil_tile(std::int64_t row_bytes) {
  for (int levels = 4; levels > 1; --levels)
    if (cache_bytes / (3 * (levels - 1) * row_bytes) - 2 * levels >= 8 * levels) return levels;
  return 1;
}

template <class Real>
void jacobi_tiles(const StencilPass& pass, const PlanesAt<const Real>& in, const PlanesAt<Real>& out,
                  const PlanesAt<const Real>& f, int threads) {
  const auto levels = static_cast<std::int64_t>(pass.weights.size());
  const StencilProblem& problem = *pass.problem;
  const std::int64_t ny = problem.nodes[1], planes = pass.end - pass.begin;
  if (planes <= 0 || levels == 0) return;
  const std::int64_t rows = rows_of_tile(levels, problem.nodes[0] * static_cast<std::int64_t>(sizeof(Real)), ny);
  const std::int64_t tiles = (ny + rows - 1) / rows;
  // Enough pieces for all threads, but none so short that its first planes, which are computed twice, are most of it.
  const std::int64_t wanted = (4 * threads + tiles - 1) / tiles;
  const std::int64_t pieces = threads == 1 ? 1 : std::clamp<std::int64_t>(planes / (4 * levels), 1, wanted);
  const std::int64_t chunk = (planes + pieces - 1) / pieces;
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (tiles * pieces > 1)
  for (std::int64_t item = 0; item < tiles * pieces; ++item)
    keeper.guard([&] {
      const std::int64_t y = item % tiles * rows, z = pass.begin + item / tiles * chunk;
      const std::int64_t end = std::min(pass.end, z + chunk);
      if (z < end) TileWalk<Real>(pass, in, out, f).run(y, std::min(ny, y + rows), z, end);
    });
  keeper.rethrow();
}

namespace {

/// Adds the residual of a row to eight sums of squares, one per SIMD lane, and to the largest value of its plane.
template <class Real>
void add_residual(const StencilProblem& problem, const Rows<Real>& rows, double (&sum)[8], double& most) {
  const std::int64_t nx = problem.nodes[0];
  const auto& c = problem.coefficients;
  const auto residual = [&](std::int64_t x, double left, double right) {
    const double u = static_cast<double>(rows.u[x]);
    double r = c[0] * ((left - u) + (right - u));
    r = std::fma(c[1], (static_cast<double>(rows.y_below[x]) - u) + (static_cast<double>(rows.y_above[x]) - u), r);
    r = std::fma(c[2], (static_cast<double>(rows.z_below[x]) - u) + (static_cast<double>(rows.z_above[x]) - u), r);
    return rows.f ? r + static_cast<double>(rows.f[x]) : r;
  };
  const auto add = [&](std::int64_t x, Real left, Real right) {
    const double r = residual(x, static_cast<double>(left), static_cast<double>(right));
    sum[x % 8] = std::fma(r, r, sum[x % 8]);
    const double size = std::abs(r);
    if (!(size <= most) && most == most) most = size;  // a NaN stays
  };
  for (std::int64_t x = 1; x < nx - 1; ++x) add(x, rows.u[x - 1], rows.u[x + 1]);
  for (std::int64_t x = 0; x < nx; x += std::max<std::int64_t>(1, nx - 1)) {
    const Neighbours at = neighbours(x, nx, problem.sides[0]);
    if (!at.kept) add(x, rows.u[(at.below + nx) % nx], rows.u[at.above % nx]);
  }
}

}  // namespace

template <class Real>
void residual_planes(const StencilPass& pass, const PlanesAt<const Real>& in, const PlanesAt<const Real>& f,
                     std::span<StencilNorms> planes, int threads) {
  const StencilProblem& problem = *pass.problem;
  const std::int64_t nx = problem.nodes[0], ny = problem.nodes[1];
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t z = pass.begin; z < pass.end; ++z) {
    double sum[8] = {}, most = 0;
    const Neighbours at_z = neighbours(z, problem.nodes[2], problem.sides[2]);
    for (std::int64_t y = 0; y < ny && !at_z.kept; ++y) {
      const Neighbours at_y = neighbours(y, ny, problem.sides[1]);
      if (at_y.kept) continue;
      const Real* const plane = in.at(z);
      add_residual(
          problem,
          Rows<Real>{plane + y * nx, plane + (at_y.below + ny) % ny * nx, plane + at_y.above % ny * nx,
                     in.at(at_z.below) + y * nx, in.at(at_z.above) + y * nx, f.base ? f.at(z) + y * nx : nullptr},
          sum, most);
    }
    planes[static_cast<std::size_t>(z - pass.begin)] = {
        most, ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))};
  }
}

#define VSR_INSTANTIATE(Real)                                                                                 \
  template void jacobi_tiles(const StencilPass&, const PlanesAt<const Real>&, const PlanesAt<Real>&,          \
                             const PlanesAt<const Real>&, int);                                               \
  template void residual_planes(const StencilPass&, const PlanesAt<const Real>&, const PlanesAt<const Real>&, \
                                std::span<StencilNorms>, int);
VSR_INSTANTIATE(double)
VSR_INSTANTIATE(float)
#undef VSR_INSTANTIATE

}  // namespace voussoir::cpu
