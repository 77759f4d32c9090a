#include <algorithm>
#include <cmath>

#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/backends/stencil_services.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>

// The operations of an explicit step on long vectors, each alone, by size: from vectors in the first-level cache to
// those in memory. Formula (1) puts them together again.

namespace voussoir::detail {
namespace {

/// The measurements of all sizes.
struct LongVectorSamples {
  std::vector<CostSample> add, saxpy, border, in, out;
};

/// The smaller one of two measurements of each size: other programs only add time.
void take_least(const std::vector<CostSample>& other, std::vector<CostSample>& samples) {
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (other[i].seconds < samples[i].seconds) samples[i] = other[i];
}

/// Points per side: closer where vectors leave the caches of most processors.
std::vector<std::int64_t> long_vector_sizes(const Calibrator& c) {
  std::vector<std::int64_t> sizes{8,   12,  18,  26,  36,  50,  70,   100,  140,  180,  220,  260,  300,
                                  350, 420, 510, 600, 720, 860, 1000, 1200, 1450, 1750, 2100, 2900, 4000};
  const double largest = c.largest_bytes() / 24;
  std::erase_if(sizes, [&](std::int64_t n) { return static_cast<double>((n + 2) * (n + 2)) > largest; });
  if (!c.options().quick) return sizes;
  std::vector<std::int64_t> few;
  for (std::size_t i = 0; i < sizes.size(); i += 3) few.push_back(sizes[i]);
  return few;
}

LongVectorSamples measure_once(Calibrator& c, StencilServices& stencils) {
  LongVectorSamples all;
  for (const std::int64_t n : long_vector_sizes(c)) {
    const std::int64_t side = n + 2;
    std::vector<double> u = rough_numbers(side * side);
    const auto vectors = stencils.make_long_vectors(n, 0.2, u);
    vectors->steps(1);
    const auto bytes = 8 * static_cast<double>(side * side), working_set = long_vector_bytes(n);
    const auto measure = [&](LongVectorOperation operation, double units, std::vector<CostSample>& to) {
      // On a GPU many at a time, as in steps: the host does not wait for each.
      const int count = c.on_host() ? 1 : 65;
      CostSample sample = c.measure(units, working_set, [&] { vectors->repeat(operation, count); });
      sample.seconds /= count;
      to.push_back(sample);
    };
    measure(LongVectorOperation::first_sum, static_cast<double>((n + 1) * side - 1), all.add);
    measure(LongVectorOperation::scaled_sum, static_cast<double>(n * side - 2), all.saxpy);
    measure(LongVectorOperation::border, 4.0 * static_cast<double>(side), all.border);
    all.in.push_back(c.measure(bytes, bytes, [&] {
      vectors->write(u);
      c.backend()->wait();
    }));
    all.out.push_back(c.measure(bytes, bytes, [&] { vectors->read(u); }));
  }
  return all;
}

/// Twice, some seconds apart.
LongVectorSamples measure_long_vectors(Calibrator& c, StencilServices& stencils) {
  LongVectorSamples all = measure_once(c, stencils);
  if (c.options().quick) return all;
  const LongVectorSamples again = measure_once(c, stencils);
  for (const auto which : {&LongVectorSamples::add, &LongVectorSamples::saxpy, &LongVectorSamples::border,
                           &LongVectorSamples::in, &LongVectorSamples::out})
    take_least(again.*which, all.*which);
  return all;
}

}  // namespace

void calibrate_long_vectors(Calibrator& c) {
  c.group("grids: long vectors", [&] {
    StencilServices& stencils = c.backend()->service<StencilServices>();
    LongVectorSamples all = measure_long_vectors(c, stencils);
    int uses = 0;
    const auto take = [&](std::string_view name, std::vector<CostSample> LongVectorSamples::*which) {
      uses = 0;
      c.add(std::string(name), [&] {
        if (uses++ > 0) all = measure_long_vectors(c, stencils);
        return all.*which;
      });
    };
    if (c.on_host()) {
      take(operations::add, &LongVectorSamples::add);
      take(operations::saxpy, &LongVectorSamples::saxpy);
      take(operations::border, &LongVectorSamples::border);
    } else {
      // Launches are queued: what the smallest size takes is the time between two of them.
      const auto queued = [&](std::string_view name, const std::vector<CostSample>& execution) {
        c.profile().costs[std::string(name)] =
            queued_operation(std::string(name), execution.front().seconds, execution);
      };
      queued(operations::add, all.add);
      queued(operations::saxpy, all.saxpy);
      queued(operations::border, all.border);
    }
    take(operations::staged_in, &LongVectorSamples::in);
    take(operations::staged_out, &LongVectorSamples::out);
  });
}

}  // namespace voussoir::detail
