#include <algorithm>
#include <cmath>

#include <voussoir/backends/cost_model/cost_model.hpp>

// Formulas (1) and (2) of "Models of GPU computing for difference schemes", and the counts of the general form of (2).

namespace voussoir {

double long_vector_formula(const LongVectorTimes& t, std::int64_t n, std::int64_t steps) {
  const double s = std::max(t.in_flight, 1.0), side = static_cast<double>(n) + 2;
  const double whole = std::ceil((side * side - 1) / s);
  const double inner = std::ceil((static_cast<double>(n) * side - 2) / s);
  return t.copies +
         static_cast<double>(steps) * (4 * t.launch + t.add * whole + t.add * inner + t.saxpy * inner + t.border);
}

double long_vector_bytes(std::int64_t n) {
  const double side = static_cast<double>(n) + 2;
  return 16 * side * side;
}

double pyramid_formula(std::int64_t n, std::int64_t blocks, std::int64_t slab, int height, double copy, double update,
                       double in_flight) {
  const double r = static_cast<double>(slab), h = height, inner = static_cast<double>(n) - 2;
  return static_cast<double>(blocks) *
         ((3 * r - 2 * h) * copy + update * std::ceil(h * (r - h - 1) * inner * inner / std::max(in_flight, 1.0)));
}

double PyramidJob::bytes(std::int64_t slab, int height) const {
  if (slab_bytes) return slab_bytes(slab, height);
  return 6.0 * static_cast<double>(slab) * static_cast<double>(nx) * static_cast<double>(ny) * real_bytes;
}

PyramidCounts count_pyramid(const PyramidJob& job, int height, std::int64_t slab) {
  if (height < 1 || slab <= 2 * static_cast<std::int64_t>(height))
    throw Error(ErrorCode::bad_input, "a slab of " + std::to_string(slab) + " layers has nothing left after " +
                                          std::to_string(height) + " iterations; it needs more than twice as many");
  PyramidCounts counts;
  counts.computed.assign(static_cast<std::size_t>(height), 0);
  const std::int64_t produced = slab - 2 * height;
  const std::int64_t devices = std::max(1, job.devices);
  const std::int64_t own = (job.nz + devices - 1) / devices;  // layers of the device that has most
  const double fields = job.source ? 2 : 1;
  double plain = 0;
  // A device in the middle has neighbours on both sides; with one device both ends are those of the grid.
  const std::int64_t low = devices > 2 ? -height : 0, high = devices > 1 ? own + height : own;
  for (std::int64_t first = 0; first < own; first += produced) {
    const std::int64_t last = std::min(own, first + produced);
    ++counts.slabs;
    const std::int64_t from = std::max(low, first - height), to = std::min(high, last + height);
    // Where the overlap stays on the device, only the layers that no slab before had are copied.
    const std::int64_t known = first == 0 ? from : std::min(to, first + height);
    counts.layers_in += fields * static_cast<double>(job.keeps_overlap ? to - known : to - from);
    counts.layers_out += static_cast<double>(last - first);
    for (int j = 1; j <= height; ++j) {
      const std::int64_t begin = std::max(low, first - height + j), end = std::min(high, last + height - j);
      counts.computed[static_cast<std::size_t>(j - 1)] += static_cast<double>(std::max<std::int64_t>(0, end - begin));
      plain += static_cast<double>(last - first);
    }
  }
  double all = 0;
  for (const double layers : counts.computed) all += layers;
  counts.repeated = plain > 0 ? all / plain - 1 : 0;
  return counts;
}

}  // namespace voussoir
