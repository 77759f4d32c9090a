#include <voussoir/backends/openmp/cpu_grouped_dots.hpp>

#include <algorithm>
#include <vector>

#include <voussoir/backends/detail/grouped_dot_checks.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir::cpu {

namespace {

class CpuGroupedDots final : public GroupedDots {
 public:
  explicit CpuGroupedDots(Backend& backend) : backend_(backend) {}

  void dots(std::span<const Pair> pairs, std::span<double> results) override {
    detail::require_pairs(backend_, pairs, results);
    std::fill(results.begin(), results.end(), 0.0);
    for (int d = 0; d < backend_.devices(); ++d) add_device(pairs, results, d);
  }

 private:
  /// Blocks and their order are those of CpuBackend::dot().
  void add_device(std::span<const Pair> pairs, std::span<double> results, int device) const {
    DeviceSection section(*backend_.memory(device));
    std::vector<const double*> x, y;
    for (const Pair& pair : pairs) {
      x.push_back(pair.x.part(device).read_device());
      y.push_back(pair.y.part(device).read_device());
    }
    const std::size_t entries = detail::owned_entries(pairs.front().x, device), count = pairs.size();
    const std::ptrdiff_t blocks = block_count(entries);
    std::vector<std::vector<double>> parts(count, std::vector<double>(static_cast<std::size_t>(blocks)));
#pragma omp parallel for num_threads(backend_.threads()) schedule(static) if (blocks >= fewest_blocks)
    for (std::ptrdiff_t b = 0; b < blocks; ++b) {
      const std::size_t begin = static_cast<std::size_t>(b) * block_entries;
      const std::size_t length = std::min(entries, begin + block_entries) - begin;
      for (std::size_t k = 0; k < count; ++k)
        parts[k][static_cast<std::size_t>(b)] = dot_stretch(x[k] + begin, y[k] + begin, length);
    }
    for (std::size_t k = 0; k < count; ++k) results[k] += sum_pairwise(parts[k]);
  }

  Backend& backend_;
};

}  // namespace

std::unique_ptr<GroupedDots> make_grouped_dots(Backend& backend) { return std::make_unique<CpuGroupedDots>(backend); }

}  // namespace voussoir::cpu
