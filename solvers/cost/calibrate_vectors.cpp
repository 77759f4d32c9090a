#include <algorithm>
#include <cmath>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>

// Rates of vector operations, from vectors that fit in the first-level cache to those that fit in none.

namespace voussoir::detail {
std::shared_ptr<const Layout> even_layout(const Backend& backend, std::int64_t n, std::int64_t ghosts) {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  std::vector<std::vector<std::int64_t>> others(static_cast<std::size_t>(backend.devices()));
  for (int d = 0; d < backend.devices(); ++d) {
    memories.push_back(backend.memory(d));
    first.push_back(n * (d + 1) / backend.devices());
    if (d > 0)
      for (std::int64_t g = first[static_cast<std::size_t>(d)] - ghosts; g < first[static_cast<std::size_t>(d)]; ++g)
        others[static_cast<std::size_t>(d)].push_back(g);
  }
  return std::make_shared<Layout>(std::move(memories), std::move(first), std::move(others));
}

std::vector<double> rough_numbers(std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::uint64_t state = 1;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
  }
  return values;
}

namespace {

/// An operation on some of three vectors.
struct VectorOperation {
  std::string_view name;
  int streams;  ///< different vectors that it reads or writes
  std::function<void(Backend&, Vector& x, Vector& y, Vector& z)> run;
};

std::vector<VectorOperation> vector_operations() {
  return {
      {operations::fill, 1, [](Backend& b, Vector& x, Vector&, Vector&) { b.fill(x, 0.5); }},
      {operations::copy, 2, [](Backend& b, Vector& x, Vector& y, Vector&) { b.copy(x, y); }},
      {operations::axpy, 2, [](Backend& b, Vector& x, Vector& y, Vector&) { b.axpy(1e-9, x, y); }},
      {operations::dot, 2, [](Backend& b, Vector& x, Vector& y, Vector&) { (void)b.dot(x, y); }},
  };
}

std::vector<std::int64_t> vector_sizes(const Calibrator& c) {
  const auto largest = static_cast<std::int64_t>(c.largest_bytes() / 24);
  std::vector<std::int64_t> sizes;
  for (double n = 64; n < static_cast<double>(largest); n *= c.options().quick ? 4 : 2)
    sizes.push_back(static_cast<std::int64_t>(n));
  sizes.push_back(std::max<std::int64_t>(largest, 128));
  return sizes;
}

/// s of formula (1): only devices with many threads show steps.
double measure_width(Calibrator& c) {
  if (c.on_host()) return 1;
  std::vector<CostSample> samples;
  const std::int64_t grain = 8192, steps = c.options().quick ? 16 : 80;
  for (std::int64_t k = 1; k <= steps; ++k) {
    const auto layout = even_layout(*c.backend(), k * grain);
    Vector x(layout), y(layout), z(layout);
    samples.push_back(c.measure(static_cast<double>(k * grain), 24.0 * static_cast<double>(k * grain),
                                [&] { c.backend()->multiply(x, y, z); }));
  }
  return fit_width(samples, static_cast<double>(grain));
}

/// Brings the values of a vector to its devices.
void bring_to_devices(const Backend& backend, const Vector& x) {
  for (int d = 0; d < backend.devices(); ++d) {
    DeviceSection section(*backend.memory(d));
    (void)x.part(d).read_device();
  }
}

/// Copies that pay for the memory of a new array, on the device and pinned on the host. What that takes differs from
/// one allocation to the next, so that the median counts, not the least.
std::vector<CostSample> copies_to_new_arrays(const Calibrator& c) {
  std::vector<CostSample> samples;
  for (double bytes = 1 << 16; bytes <= std::min(0.1 * c.largest_bytes(), 4e7); bytes *= 3) {
    const auto n = static_cast<std::int64_t>(bytes / 8);
    const auto values = rough_numbers(n);
    const auto layout = even_layout(*c.backend(), n);
    std::vector<Vector> kept;  // so that the next one does not get the memory of the one before
    std::vector<double> times;
    for (int run = 0; run < 7; ++run) {
      c.backend()->wait();
      const Stopwatch watch;
      kept.emplace_back(layout);
      kept.back().from_host(values);
      bring_to_devices(*c.backend(), kept.back());
      c.backend()->wait();
      times.push_back(watch.seconds());
    }
    std::sort(times.begin(), times.end());
    samples.push_back({8.0 * static_cast<double>(n), 8.0 * static_cast<double>(n), times[3], times[4] / times[2] - 1});
  }
  return samples;
}

void calibrate_copies(Calibrator& c) {
  const auto sizes = vector_sizes(c);
  const auto measure = [&](bool to_device) {
    std::vector<CostSample> samples;
    for (const std::int64_t n : sizes) {
      const auto values = rough_numbers(n);
      std::vector<double> back(values.size());
      Vector x(even_layout(*c.backend(), n));
      x.from_host(values);
      const double bytes = 8.0 * static_cast<double>(n);
      samples.push_back(c.measure(bytes, bytes, [&] {
        if (to_device) {
          x.from_host(values);
          bring_to_devices(*c.backend(), x);
        } else {
          c.backend()->scale(1.0, x);  // the host's copy is stale again
          x.to_host(back);
        }
      }));
      if (!to_device)  // without the scaling, where that counts
        if (const OperationCost* scale = c.profile().find(operations::fill))
          samples.back().seconds = std::max(0.2 * samples.back().seconds,
                                            samples.back().seconds - 2 * scale->seconds(static_cast<double>(n), bytes));
    }
    return samples;
  };
  c.add(std::string(operations::to_device), [&] { return measure(true); });
  c.add(std::string(operations::to_host), [&] { return measure(false); });
  c.add(std::string(operations::new_array), [&] { return copies_to_new_arrays(c); });
}

void calibrate_exchange(Calibrator& c) {
  if (c.backend()->devices() < 2) return;
  c.add(std::string(operations::exchange), [&] {
    std::vector<CostSample> samples;
    for (std::int64_t ghosts = 64; ghosts <= (c.options().quick ? 4096 : 262144); ghosts *= 8) {
      Vector x(even_layout(*c.backend(), 2 * ghosts * c.backend()->devices(), ghosts));
      samples.push_back(
          c.measure(static_cast<double>(ghosts), 8.0 * static_cast<double>(ghosts), [&] { c.backend()->exchange(x); }));
    }
    return samples;
  });
}

}  // namespace

void calibrate_vectors(Calibrator& c) {
  double width = 1;
  c.group("threads in flight", [&] { width = measure_width(c); });
  const auto sizes = vector_sizes(c);
  for (const VectorOperation& operation : vector_operations())
    c.group("vectors: " + std::string(operation.name), [&] {
      c.add(
          std::string(operation.name),
          [&] {
            std::vector<CostSample> samples;
            for (const std::int64_t n : sizes) {
              const auto layout = even_layout(*c.backend(), n);
              Vector x(layout), y(layout), z(layout);
              const auto values = rough_numbers(n);
              x.from_host(values);
              y.from_host(values);
              samples.push_back(c.measure(static_cast<double>(n), 8.0 * operation.streams * static_cast<double>(n),
                                          [&] { operation.run(*c.backend(), x, y, z); }));
            }
            return samples;
          },
          operation.name == operations::dot ? 1 : width);
    });
  c.group("copies", [&] { calibrate_copies(c); });
  c.group("halo exchange", [&] { calibrate_exchange(c); });
}

}  // namespace voussoir::detail
