#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <voussoir/backends/service.hpp>

namespace voussoir {

/// What happens at a side of a grid.
enum class GridSide {
  dirichlet,  ///< the values in the outer layer of nodes are kept
  neumann,    ///< no flux: the missing neighbour of a node at the side is the node's other neighbour (mirrored)
  periodic    ///< the neighbour of the last node is the first one; both sides of the axis are periodic
};

/// The stationary heat equation on a grid of nx × ny × nz nodes, x fastest: node (i, j, k) is entry i + nx (j + ny k).
/// The outer nodes lie at the sides. With c_a = conductivity / spacing_a² along the axes a = x, y, z,
///
///   Σ_a c_a (2 u − u_{a−} − u_{a+}) = f      at every node that is not kept by a Dirichlet side.
///
/// A flux g into the body through a Neumann side is a source of 2 g / spacing_a at the nodes of that side. Along a
/// periodic axis of n nodes the period is n spacings. An axis of one node with Neumann or periodic sides has no
/// gradient: the neighbours of a node are the node itself.
struct StencilProblem {
  std::array<std::int64_t, 3> nodes{1, 1, 1};      ///< number of nodes along x, y, z
  std::array<double, 3> coefficients{1, 1, 1};     ///< c_x, c_y, c_z; none negative, not all zero
  std::array<std::array<GridSide, 2>, 3> sides{};  ///< lower and upper side of x, y, z; all Dirichlet by default
  std::int64_t size() const { return nodes[0] * nodes[1] * nodes[2]; }                           ///< number of nodes
  double diagonal() const { return 2 * (coefficients[0] + coefficients[1] + coefficients[2]); }  ///< 2 Σ c_a
};

/// Throws Error (bad_input) where a problem has an axis without nodes, more nodes than can be addressed, coefficients
/// that are negative, not finite or all zero, or a periodic side whose opposite is not periodic.
void check_problem(const StencilProblem& problem);

/// How iterations are grouped. Nothing here changes a bit of the result.
struct StencilOptions {
  /// Iterations per pass (the height h of the pyramids); 0: the backend chooses. In memory, halos of h layers are
  /// exchanged between devices every h iterations. Of a grid in host memory, every slab takes h iterations on its
  /// device.
  int height = 0;
  int tile = 0;           ///< iterations per pass through device memory (time tile on the chip); 0: the backend chooses
  std::int64_t slab = 0;  ///< layers R of a slab of a grid in host memory, overlaps included; 0: by the budget
  /// Bytes that a grid in host memory may take on each device; 0: three quarters of what is free there.
  std::size_t device_bytes = 0;
};

/// Norms over the nodes that are not kept, in a fixed order of summation.
struct StencilNorms {
  double max = 0;  ///< largest absolute value; NaN where a value is NaN
  double l2 = 0;   ///< square root of the sum of squares
};

/// What iterations have done so far.
struct StencilReport {
  std::int64_t iterations = 0;     ///< iterations done
  std::int64_t passes = 0;         ///< passes over the grid: by slabs in host memory, or between exchanges in memory
  std::int64_t slabs = 0;          ///< slabs that were brought to devices (in memory: 0)
  int height = 0;                  ///< iterations per pass that was used
  int tile = 0;                    ///< iterations per pass through device memory that was used
  std::int64_t slab = 0;           ///< layers of a slab, overlaps included (in memory: 0)
  std::int64_t bytes_in = 0;       ///< bytes copied from host memory to devices by iterations
  std::int64_t bytes_out = 0;      ///< bytes copied from devices to host memory by iterations
  std::int64_t bytes_between = 0;  ///< bytes copied between devices
  std::size_t device_bytes = 0;    ///< bytes allocated on all devices together
  bool pinned = true;              ///< false where host memory could not be pinned, and copies are slow for that
  std::int64_t updates = 0;        ///< node updates by slabs, repeated work in overlaps included; tiles on the chip not
};

/// Jacobi iterations on one grid. One iteration with damping factor ω replaces every value that is not kept by
///
///   u ← (1 − ω) u + ω (f + Σ_a c_a (u_{a−} + u_{a+})) / d,      d = 2 Σ_a c_a,
///
/// and all backends, heights, tiles, slabs and numbers of devices and threads compute it by the same operations with
/// the same rounding: in the precision of the grid, with factors A_a = ω c_a / d, A_f = ω / d, A_u = 1 − ω that are
/// computed in double precision and rounded once,
///
///   t = A_x (u_{x−} + u_{x+});  t = fma(A_y, u_{y−} + u_{y+}, t);  with a source: t = fma(A_f, f, t);
///   where ω ≠ 1: t = fma(A_u, u, t);  t = fma(A_z, u_{z−}, t);  u ← fma(A_z, u_{z+}, t).
///
/// `Real` is double or float.
template <class Real>
class StencilIteration {
 public:
  virtual ~StencilIteration() = default;
  StencilIteration(const StencilIteration&) = delete;
  StencilIteration& operator=(const StencilIteration&) = delete;

  virtual const StencilProblem& problem() const = 0;  ///< the problem it was made for
  /// One iteration per damping factor, in order; all 1 is plain Jacobi. May return before the work is done where values
  /// stay on devices. Throws Error (bad_input) where a factor is not finite.
  virtual void iterate(std::span<const double> weights) = 0;
  /// Norms of the residual f − Σ_a c_a (2 u − u_{a−} − u_{a+}) at the current values, over the nodes that are not kept.
  virtual StencilNorms residual() = 0;
  /// Copies the current values to `u` (size() numbers).
  virtual void read(std::span<Real> u) = 0;
  /// Replaces all values.
  virtual void write(std::span<const Real> u) = 0;
  virtual StencilReport report() const = 0;  ///< what was done so far

 protected:
  StencilIteration() = default;
};

/// The operations of a time step on long vectors, in their order.
enum class LongVectorOperation {
  first_sum,   ///< T_j ← V_j + V_{j+M−1}
  second_sum,  ///< S_i ← T_{i−M} + T_{i+1}
  scaled_sum,  ///< V_i ← fma(α, S_i, (1 − 4α) V_i)
  border       ///< V ← its first values at the border
};

/// The explicit scheme for the heat equation on a square grid as operations on long vectors. The grid of (N+2) × (N+2)
/// nodes, M = N + 2, is a vector V by rows. A step with α = Δt · diffusivity / spacing² is four operations:
///
///   T_j ← V_j + V_{j+M−1}                     sum of vectors,    j = 1 … (N+1)M − 1
///   S_i ← T_{i−M} + T_{i+1}                   sum of vectors,    i = M+1 … (N+1)M − 2
///   V_i ← fma(α, S_i, (1 − 4α) V_i)           scaled sum,        the same i
///   V ← its first values at the border        border restored
///
/// Not the fastest way to compute it: this is the algorithm whose time formula (1) of docs/stencils.md predicts.
class LongVectorHeat {
 public:
  virtual ~LongVectorHeat() = default;
  LongVectorHeat(const LongVectorHeat&) = delete;
  LongVectorHeat& operator=(const LongVectorHeat&) = delete;
  virtual std::int64_t nodes() const = 0;             ///< nodes per side without the border, N
  virtual void steps(std::int64_t count) = 0;         ///< takes time steps; may return before the work is done
  virtual void read(std::span<double> u) = 0;         ///< copies the (N+2)² values to the host
  virtual void write(std::span<const double> u) = 0;  ///< replaces all values, and those of the border from now on
  /// One operation of a step alone, `count` times, for measurements; may return before the work is done. The values are
  /// of no use afterwards until write().
  virtual void repeat(LongVectorOperation operation, std::int64_t count) = 0;

 protected:
  LongVectorHeat() = default;
};

/// Jacobi iterations on grids with temporal blocking ("pyramids"): several iterations for one pass through slow memory.
class StencilServices : public Service {
 public:
  static constexpr std::string_view service_name = "stencils";  ///< by which Backend::service() finds it

  /// Iterations on a grid in the memory of the devices, cut in ranges of layers along z where there are several. Copies
  /// `u`, and the source `f` of as many numbers; an empty `f` is no source and takes no time. Throws Error: bad_input
  /// for arrays of other sizes or heights that do not fit, out_of_memory where it does not fit in the devices' memory.
  virtual std::unique_ptr<StencilIteration<double>> make_jacobi(const StencilProblem& problem,
                                                                std::span<const double> u, std::span<const double> f,
                                                                const StencilOptions& options = {}) = 0;
  /// The same in single precision.
  virtual std::unique_ptr<StencilIteration<float>> make_jacobi(const StencilProblem& problem, std::span<const float> u,
                                                               std::span<const float> f,
                                                               const StencilOptions& options = {}) = 0;

  /// Iterations on a grid that stays in host memory, in place: `u` and `f` must outlive the result, and `u` is changed
  /// by iterate(). Slabs of R layers with overlaps of h layers on both sides are brought to the devices, take h
  /// iterations there and return R − 2h layers; copies overlap with computing. With several devices each has a range of
  /// layers. Overlaps stay on the device: every layer crosses the bus once in each direction per pass. Memory that is
  /// not pinned is pinned while the result exists, where copies are faster so. Throws Error (bad_input) where the
  /// budget is too small for slabs of the height, and says how much is needed.
  virtual std::unique_ptr<StencilIteration<double>> stream_jacobi(const StencilProblem& problem, std::span<double> u,
                                                                  std::span<const double> f,
                                                                  const StencilOptions& options = {}) = 0;
  /// The same in single precision.
  virtual std::unique_ptr<StencilIteration<float>> stream_jacobi(const StencilProblem& problem, std::span<float> u,
                                                                 std::span<const float> f,
                                                                 const StencilOptions& options = {}) = 0;

  /// Bytes that slabs of R layers with height h take on a device, buffers for overlapped copies included. `real_bytes`
  /// is 8 or 4. This is what a budget is compared with.
  virtual std::size_t slab_bytes(const StencilProblem& problem, std::int64_t slab, int height, bool source,
                                 int real_bytes) const = 0;
  /// The time tile that is used for a problem where none is given.
  virtual int default_tile(const StencilProblem& problem, bool source, int real_bytes) const = 0;

  /// The explicit scheme on long vectors, on the first device, from (n+2)² values by rows. Throws Error (bad_input) for
  /// another number of values, n < 1, or an α that is not finite.
  virtual std::unique_ptr<LongVectorHeat> make_long_vectors(std::int64_t n, double alpha,
                                                            std::span<const double> u) = 0;
};

}  // namespace voussoir
