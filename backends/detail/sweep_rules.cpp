#include <voussoir/backends/detail/sweep_rules.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir::detail {

namespace {

/// An extent of a shape: how many entries along it, and how far apart.
struct SweepExtent {
  std::int64_t count, stride;
};

[[noreturn]] void refuse_shape(const std::string& why) { throw Error(ErrorCode::misuse, "tridiagonal batch: " + why); }

}  // namespace

void require_sweep_shape(const SweepShape& shape, std::size_t entries, const char* what) {
  if (shape.length < 1) refuse_shape("systems of length " + std::to_string(shape.length) + "; the least length is 1");
  if (shape.inner < 0 || shape.outer < 0) refuse_shape("a negative number of systems");
  if (shape.first < 0) refuse_shape("the first unknown is entry " + std::to_string(shape.first));
  if (shape.systems() == 0) return;
  std::array<SweepExtent, 3> extents{SweepExtent{shape.length, shape.stride},
                                     SweepExtent{shape.inner, shape.inner_stride},
                                     SweepExtent{shape.outer, shape.outer_stride}};
  std::sort(extents.begin(), extents.end(),
            [](const SweepExtent& a, const SweepExtent& b) { return a.stride < b.stride; });
  // Sorted by stride, each step must go past everything that the smaller ones reach; then no two unknowns coincide.
  std::int64_t reach = 0;
  bool overflow = false;
  for (const SweepExtent& extent : extents) {
    if (extent.count == 1) continue;
    if (extent.stride <= reach)
      refuse_shape("strides " + std::to_string(shape.stride) + ", " + std::to_string(shape.inner_stride) + " and " +
                   std::to_string(shape.outer_stride) + " let unknowns coincide or have the wrong sign");
    std::int64_t further = 0;
    overflow = overflow || __builtin_mul_overflow(extent.count - 1, extent.stride, &further) ||
               __builtin_add_overflow(reach, further, &reach);
  }
  overflow = overflow || __builtin_add_overflow(reach, shape.first, &reach);
  if (overflow || reach >= static_cast<std::int64_t>(entries))
    refuse_shape("the array " + std::string(what) + " has " + std::to_string(entries) + " entries, too few for " +
                 std::to_string(shape.systems()) + " systems of length " + std::to_string(shape.length) +
                 " with the strides of the shape");
}

void require_sweep_options(const SweepOptions& options, int devices) {
  if (options.device < 0 || options.device >= devices)
    refuse_shape("device " + std::to_string(options.device) + " of a backend with " + std::to_string(devices));
  if (!(options.largest_loss >= 0) || options.largest_loss > 1)
    refuse_shape("the largest loss of accuracy must be between 0 and 1");
}

void require_shared_matrix(std::int64_t length, std::size_t lower, std::size_t diagonal, std::size_t upper) {
  if (length < 1) refuse_shape("systems of length " + std::to_string(length) + "; the least length is 1");
  for (const std::size_t entries : {lower, diagonal, upper})
    if (static_cast<std::int64_t>(entries) != length)
      refuse_shape("a shared matrix of length " + std::to_string(length) + " has an array of " +
                   std::to_string(entries) + " coefficients");
}

void require_sweep_plan(const SweepPlan& plan, const SweepShape& shape, bool single) {
  if (plan.length() != shape.length)
    refuse_shape("systems of length " + std::to_string(shape.length) + " and a matrix of length " +
                 std::to_string(plan.length()));
  if (plan.is_single() != single)
    refuse_shape(std::string("the matrix was prepared for ") + (plan.is_single() ? "float" : "double") +
                 ", the right-hand sides are " + (single ? "float" : "double"));
}

}  // namespace voussoir::detail
