#pragma once
#include <algorithm>
#include <cstddef>
#include <exception>
#include <vector>

// Loops over long arrays, cut in blocks of fixed length. Threads take whole blocks, so that what is computed, to the
// last bit, does not depend on how many threads there are.

namespace voussoir::cpu {

/// Entries of a vector that are handled together: 16 KiB, a comfortable part of a first-level cache.
inline constexpr std::size_t block_entries = 2048;
/// Below this many blocks a loop is shorter than waking the threads.
inline constexpr std::ptrdiff_t fewest_blocks = 4;

inline std::ptrdiff_t block_count(std::size_t entries) {
  return static_cast<std::ptrdiff_t>((entries + block_entries - 1) / block_entries);
}

/// Calls work(begin, end) for each block. A block always falls to the same thread, which is how OpenMpMemory places
/// pages near the threads that use them.
template <class Work>
void for_blocks(std::size_t entries, int threads, Work&& work) {
  const std::ptrdiff_t blocks = block_count(entries);
#pragma omp parallel for num_threads(threads) schedule(static) if (blocks >= fewest_blocks)
  for (std::ptrdiff_t b = 0; b < blocks; ++b)
    work(static_cast<std::size_t>(b) * block_entries,
         std::min(entries, static_cast<std::size_t>(b + 1) * block_entries));
}

/// Adds neighbours, then neighbours of those: the order is that of the array alone, and rounding grows slowly.
inline double sum_pairwise(std::vector<double>& parts) {
  std::size_t n = parts.size();
  if (n == 0) return 0;
  for (; n > 1; n = (n + 1) / 2)
    for (std::size_t i = 0; i < (n + 1) / 2; ++i)
      parts[i] = 2 * i + 1 < n ? parts[2 * i] + parts[2 * i + 1] : parts[2 * i];
  return parts[0];
}

/// Sum of work(begin, end) over all blocks.
template <class Work>
double sum_blocks(std::size_t entries, int threads, Work&& work) {
  const std::ptrdiff_t blocks = block_count(entries);
  std::vector<double> parts(static_cast<std::size_t>(blocks));
#pragma omp parallel for num_threads(threads) schedule(static) if (blocks >= fewest_blocks)
  for (std::ptrdiff_t b = 0; b < blocks; ++b)
    parts[static_cast<std::size_t>(b)] = work(static_cast<std::size_t>(b) * block_entries,
                                              std::min(entries, static_cast<std::size_t>(b + 1) * block_entries));
  return sum_pairwise(parts);
}

/// x·y of a stretch. Eight running sums, one per SIMD lane of the widest machine: the order of additions is then the
/// same on all of them.
inline double dot_stretch(const double* x, const double* y, std::size_t n) {
  double sum[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) sum[k] += x[i + k] * y[i + k];
  for (int k = 0; i < n; ++i, ++k) sum[k] += x[i] * y[i];
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/// Carries an exception out of a parallel loop, where it must not escape by itself. Of several, one is kept.
class ExceptionKeeper {
 public:
  template <class Work>
  void guard(Work&& work) noexcept {
    try {
      work();
    } catch (...) {
#pragma omp critical(voussoir_exception_keeper)
      if (!kept_) kept_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (kept_) std::rethrow_exception(kept_);
  }

 private:
  std::exception_ptr kept_;
};

}  // namespace voussoir::cpu
