#include <algorithm>
#include <cmath>

#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/backends/stencil_services.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>

// The operations of an explicit step on long vectors, each alone, by size: from vectors in the first-level cache to
// those in memory. Formula (1) puts them together again.

namespace voussoir::detail {
namespace {

/// The measurements of all sizes, and the time between two launches where operations are queued.
struct LongVectorSamples {
  std::vector<CostSample> add, saxpy, border, in, out;
  double launch_add = 0, launch_saxpy = 0, launch_border = 0;
};

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

LongVectorSamples measure_long_vectors(Calibrator& c, StencilServices& stencils) {
  LongVectorSamples all;
  for (const std::int64_t n : long_vector_sizes(c)) {
    const std::int64_t side = n + 2;
    std::vector<double> u = rough_numbers(side * side);
    const auto vectors = stencils.make_long_vectors(n, 0.2, u);
    vectors->steps(1);
    const auto entries = static_cast<double>(side * side), bytes = long_vector_bytes(n);
    const auto measure = [&](LongVectorOperation operation, double units, std::vector<CostSample>& to, double& launch) {
      const auto work = [&] { vectors->repeat(operation, 1); };
      constexpr int launches = 50;  // one after another, as in steps
      if (to.empty() && c.queues())
        launch = c.measure(units, bytes, [&] { vectors->repeat(operation, launches); }).seconds / launches;
      to.push_back(c.measure_execution(units, bytes, work));
    };
    measure(LongVectorOperation::first_sum, static_cast<double>((n + 1) * side - 1), all.add, all.launch_add);
    measure(LongVectorOperation::scaled_sum, static_cast<double>(n * side - 2), all.saxpy, all.launch_saxpy);
    measure(LongVectorOperation::border, 4.0 * static_cast<double>(side), all.border, all.launch_border);
    vectors->write(u);
    // Both directions together: one copy alone would find its data where the one before has left them.
    const CostSample both = c.measure(8 * entries, 8 * entries, [&] {
      vectors->write(u);
      vectors->read(u);
    });
    CostSample in = c.measure(8 * entries, 8 * entries, [&] {
      vectors->write(u);
      c.backend()->wait();
    });
    in.seconds = std::clamp(in.seconds, 0.1 * both.seconds, 0.9 * both.seconds);
    CostSample out = both;
    out.seconds = both.seconds - in.seconds;
    all.in.push_back(in);
    all.out.push_back(out);
  }
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
    if (c.queues()) {
      const auto queued = [&](std::string_view name, double launch, const std::vector<CostSample>& execution) {
        c.profile().costs[std::string(name)] = queued_operation(std::string(name), launch, execution);
      };
      queued(operations::add, all.launch_add, all.add);
      queued(operations::saxpy, all.launch_saxpy, all.saxpy);
      queued(operations::border, all.launch_border, all.border);
    } else {
      take(operations::add, &LongVectorSamples::add);
      take(operations::saxpy, &LongVectorSamples::saxpy);
      take(operations::border, &LongVectorSamples::border);
    }
    take(operations::staged_in, &LongVectorSamples::in);
    take(operations::staged_out, &LongVectorSamples::out);
  });
}

}  // namespace voussoir::detail
