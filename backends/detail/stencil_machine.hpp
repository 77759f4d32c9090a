#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/stencil_services.hpp>

// What the iterations of detail/stencil_iteration.hpp need of the devices of a backend.

namespace voussoir::detail {

/// Planes of a grid in a buffer of a device, as a ring: plane z is at slot (z − first) mod count.
struct StencilPlanes {
  int buffer = -1;  ///< −1: none
  std::int64_t first = 0, count = 0;
  std::int64_t slot(std::int64_t z) const { return (z - first) % count; }
};

/// Some iterations on planes that lie on a device. Planes of `in` and `f` from begin − n to end + n, for n iterations,
/// are there; those beyond the sides of an axis that is not periodic are not needed.
struct StencilPass {
  const StencilProblem* problem = nullptr;
  StencilPlanes in, out, f;
  std::int64_t begin = 0, end = 0;  ///< planes of `out` that are written; below 0 and above nz − 1 where z is periodic
  std::span<const double> weights;  ///< a damping factor per iteration
};

/// Factors of one iteration, rounded to the precision of the grid; see StencilIteration.
template <class Real>
struct StencilFactors {
  Real x, y, z, f, u;
  bool damped;  ///< whether u counts
};
template <class Real>
StencilFactors<Real> stencil_factors(const StencilProblem& problem, double weight) {
  const double d = problem.diagonal();
  const auto factor = [&](double c) { return static_cast<Real>(weight * (c / d)); };
  return {factor(problem.coefficients[0]), factor(problem.coefficients[1]), factor(problem.coefficients[2]),
          static_cast<Real>(weight / d),   static_cast<Real>(1 - weight),   weight != 1};
}

/// Work of one device that is done in order; different lanes overlap.
enum class StencilLane { in, compute, out };

/// The devices of a backend as buffers, copies and passes. Everything may return before it is done, but what waits for
/// it in the order of lanes. Not for several threads.
template <class Real>
class StencilMachine {
 public:
  virtual ~StencilMachine() = default;

  virtual int devices() const = 0;
  virtual int most_tile() const = 0;  ///< the most iterations of one pass
  /// A new buffer of so many numbers, by the number that it is known by on its device.
  virtual int make_buffer(int device, std::int64_t entries) = 0;
  virtual std::size_t free_bytes(int device) const = 0;  ///< memory that may still be allocated
  virtual bool overlaps_copies() const = 0;              ///< whether lanes run beside each other

  /// In the lane `compute`. The pass has at most most_tile() weights.
  virtual void advance(int device, const StencilPass& pass) = 0;
  /// Norms of the residual of each plane from begin to end, in order. Waits.
  virtual void residual(int device, const StencilPass& pass, std::span<StencilNorms> planes) = 0;
  /// From host memory, in the lane `in`.
  virtual void bring(int device, int buffer, std::int64_t at, const Real* host, std::int64_t entries) = 0;
  /// To host memory, in the lane `out`.
  virtual void fetch(int device, int buffer, std::int64_t at, Real* host, std::int64_t entries) = 0;
  /// Between buffers of any two devices, after and before all else in the lanes `compute` of both.
  virtual void copy(int to, int to_buffer, std::int64_t to_at, int from, int from_buffer, std::int64_t from_at,
                    std::int64_t entries) = 0;
  /// What `waiting` is asked to do from now on comes after all that `other` was asked to do so far.
  virtual void order(int device, StencilLane waiting, StencilLane other) = 0;
  /// Until everything is done.
  virtual void wait() = 0;
  /// Host memory for staging that copies use at full speed.
  virtual std::shared_ptr<Real> host_buffer(std::int64_t entries) = 0;
  /// Lets copies use this host memory at full speed from now on, as long as the machine exists. False where that is not
  /// possible.
  virtual bool pin(const Real* host, std::int64_t entries) = 0;
};

}  // namespace voussoir::detail
