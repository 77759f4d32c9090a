#pragma once
#include <omp.h>

#include <cstdint>

namespace voussoir::detail {

/// Loops over fewer nodes or elements are done before other threads have woken up.
inline constexpr std::int32_t worth_threads = 4096;

/// The nodes that are this thread's, inside a parallel region. A thread that visits all elements in order and adds to
/// its own nodes alone sums in the same order as one thread would, so that the number of threads changes no bit.
struct NodeRange {
  std::int32_t begin, end;

  explicit NodeRange(std::int32_t nodes)
      : begin(share(nodes, omp_get_thread_num())), end(share(nodes, omp_get_thread_num() + 1)) {}
  bool contains(std::int32_t node) const { return node >= begin && node < end; }

 private:
  static std::int32_t share(std::int32_t nodes, int thread) {
    return static_cast<std::int32_t>(std::int64_t{nodes} * thread / omp_get_num_threads());
  }
};

}  // namespace voussoir::detail
