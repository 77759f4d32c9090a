#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace voussoir::detail {

/// Sets of the numbers 0 … count − 1 that several threads may join at the same time (Anderson and Woll, Wait-free
/// parallel algorithms for the union-find problem, STOC 1991). A set is known by its least member, so that neither the
/// order of the joins nor the number of threads changes the result.
class DisjointSets {
 public:
  explicit DisjointSets(std::int32_t count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  /// The least member of the set of `i`, as far as joins have got.
  std::int32_t find(std::int32_t i) {
    while (true) {
      std::int32_t above = entry(i).load(std::memory_order_relaxed);
      if (above == i) return i;
      const std::int32_t next = entry(above).load(std::memory_order_relaxed);
      if (next == above) return above;
      entry(i).compare_exchange_weak(above, next, std::memory_order_relaxed);  // a shorter way for those who follow
      i = next;
    }
  }

  void join(std::int32_t i, std::int32_t j) {
    while (true) {
      i = find(i);
      j = find(j);
      if (i == j) return;
      if (i < j) std::swap(i, j);
      std::int32_t root = i;  // unless another thread has joined it to something meanwhile
      if (entry(i).compare_exchange_strong(root, j, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic_ref<std::int32_t> entry(std::int32_t i) {
    return std::atomic_ref<std::int32_t>(parent_[static_cast<std::size_t>(i)]);
  }

  std::vector<std::int32_t> parent_;
};

}  // namespace voussoir::detail
