#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <voussoir/backends/sweep_services.hpp>

// Packs of systems, one in each SIMD lane, and how their rows are brought into lanes from any layout.

namespace voussoir::cpu {

/// Bytes of a register. Wider vectors than the processor has are not kept in registers by all compilers.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

/// W numbers of W systems, in as many registers as they need.
template <class T, int W>
struct Pack {
  static constexpr int bytes = W * sizeof(T) < register_bytes ? static_cast<int>(W * sizeof(T)) : register_bytes;
  static constexpr int side = bytes / static_cast<int>(sizeof(T)), parts = W / side;
  typedef T Part __attribute__((vector_size(bytes)));
  typedef T LoosePart __attribute__((vector_size(bytes), aligned(sizeof(T))));
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef Bits MaskPart __attribute__((vector_size(bytes)));
  Part part[parts];

  static Pack all(T x) {
    Pack r;
    for (int k = 0; k < parts; ++k) r.part[k] = x - Part{};
    return r;
  }
  static Pack load(const T* p) {
    Pack r;
    for (int k = 0; k < parts; ++k) r.part[k] = reinterpret_cast<const LoosePart*>(p)[k];
    return r;
  }
  void store(T* p) const {
    for (int k = 0; k < parts; ++k) reinterpret_cast<LoosePart*>(p)[k] = part[k];
  }
  T lane(int w) const { return part[w / side][w % side]; }
  void set_lane(int w, T x) { part[w / side][w % side] = x; }
};

/// A yes or no for each of W systems.
template <class T, int W>
struct PackMask {
  typename Pack<T, W>::MaskPart part[Pack<T, W>::parts];

  static PackMask yes() {
    PackMask r;
    for (auto& p : r.part) p = ~typename Pack<T, W>::MaskPart{};
    return r;
  }
  bool holds(int w) const { return part[w / Pack<T, W>::side][w % Pack<T, W>::side] != 0; }
  bool all() const {
    bool result = true;
    for (int w = 0; w < W; ++w) result = result && holds(w);
    return result;
  }
};

#define VSR_PACK_OPERATOR(op)                                                        \
  template <class T, int W>                                                          \
  [[gnu::always_inline]] inline Pack<T, W> operator op(Pack<T, W> a, Pack<T, W> b) { \
    for (int k = 0; k < Pack<T, W>::parts; ++k) a.part[k] = a.part[k] op b.part[k];  \
    return a;                                                                        \
  }
VSR_PACK_OPERATOR(+)
VSR_PACK_OPERATOR(-)
VSR_PACK_OPERATOR(*)
VSR_PACK_OPERATOR(/)
#undef VSR_PACK_OPERATOR

/// c − a b, which compilers fuse to one operation.
template <class T, int W>
[[gnu::always_inline]] inline Pack<T, W> less_product(Pack<T, W> c, Pack<T, W> a, Pack<T, W> b) {
  for (int k = 0; k < Pack<T, W>::parts; ++k) c.part[k] -= a.part[k] * b.part[k];
  return c;
}
/// c + a b
template <class T, int W>
[[gnu::always_inline]] inline Pack<T, W> plus_product(Pack<T, W> c, Pack<T, W> a, Pack<T, W> b) {
  for (int k = 0; k < Pack<T, W>::parts; ++k) c.part[k] += a.part[k] * b.part[k];
  return c;
}
template <class T, int W>
[[gnu::always_inline]] inline Pack<T, W> scaled(Pack<T, W> a, T x) {
  for (int k = 0; k < Pack<T, W>::parts; ++k) a.part[k] *= x;
  return a;
}
template <class T, int W>
[[gnu::always_inline]] inline Pack<T, W> negative(Pack<T, W> a) {
  for (int k = 0; k < Pack<T, W>::parts; ++k) a.part[k] = -a.part[k];
  return a;
}
template <class T, int W>
[[gnu::always_inline]] inline Pack<T, W> inverse(Pack<T, W> a) {
  for (int k = 0; k < Pack<T, W>::parts; ++k) a.part[k] = T(1) / a.part[k];
  return a;
}
template <class T, int W>
[[gnu::always_inline]] inline Pack<T, W> magnitude(Pack<T, W> a) {
  using Mask = typename Pack<T, W>::MaskPart;
  using Bits = typename Pack<T, W>::Bits;
  for (int k = 0; k < Pack<T, W>::parts; ++k)
    a.part[k] = reinterpret_cast<typename Pack<T, W>::Part>(reinterpret_cast<Mask>(a.part[k]) &
                                                            std::numeric_limits<Bits>::max());
  return a;
}
template <class T, int W>
[[gnu::always_inline]] inline void require_greater(PackMask<T, W>& mask, Pack<T, W> a, Pack<T, W> b) {
  for (int k = 0; k < Pack<T, W>::parts; ++k) mask.part[k] &= a.part[k] > b.part[k];
}

/// Entry of unknown 0 of a system.
inline std::int64_t system_start(const SweepShape& shape, std::int64_t system) {
  return shape.first + system / shape.inner * shape.outer_stride + system % shape.inner * shape.inner_stride;
}

/// The lower and the upper halves of two registers, their numbers in turn: a₀ b₀ a₁ b₁ …
template <class Part>
[[gnu::always_inline]] inline Part lower_halves(Part a, Part b) {
  constexpr int side = sizeof(Part) / sizeof(a[0]);
  if constexpr (side == 2)
    return __builtin_shufflevector(a, b, 0, 2);
  else if constexpr (side == 4)
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
  else if constexpr (side == 8)
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  else
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
template <class Part>
[[gnu::always_inline]] inline Part upper_halves(Part a, Part b) {
  constexpr int side = sizeof(Part) / sizeof(a[0]);
  if constexpr (side == 2)
    return __builtin_shufflevector(a, b, 1, 3);
  else if constexpr (side == 4)
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
  else if constexpr (side == 8)
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  else
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
/// Transposes a square of `side` registers of `side` numbers.
template <int side, class Part>
[[gnu::always_inline]] inline void transpose(Part (&a)[side]) {
  for (int stage = 1; stage < side; stage *= 2) {
    Part b[side];
    for (int k = 0; k < side / 2; ++k) {
      b[2 * k] = lower_halves(a[k], a[k + side / 2]);
      b[2 * k + 1] = upper_halves(a[k], a[k + side / 2]);
    }
    for (int k = 0; k < side; ++k) a[k] = b[k];
  }
}

/// W lines of an array, of which `count` exist; further lanes repeat the last one. A line is a system or a part of one.
template <class T, int W>
class LinePack {
 public:
  using V = Pack<T, W>;
  /// Rows that are brought into lanes together: a square of registers.
  static constexpr int rows_at_once = V::side;

  /// Systems from number `first` on.
  LinePack(const SweepShape& shape, std::int64_t first, int count) : stride_(shape.stride), count_(count) {
    for (int w = 0; w < W; ++w) start_[w] = system_start(shape, first + std::min(w, count - 1));
    find_kind();
  }
  /// Parts of one system: `count` parts of `rows` rows each from row `first_row` on.
  LinePack(const SweepShape& shape, std::int64_t system, std::int64_t first_row, std::int64_t rows, int count)
      : stride_(shape.stride), count_(count) {
    for (int w = 0; w < W; ++w)
      start_[w] = system_start(shape, system) + (first_row + std::min(w, count - 1) * rows) * stride_;
    find_kind();
  }

  std::int64_t start(int lane) const { return start_[lane]; }
  int count() const { return count_; }
  bool side_by_side() const { return side_by_side_; }
  std::int64_t stride() const { return stride_; }

  /// One row of an array.
  [[gnu::always_inline]] V row(const T* array, std::int64_t row) const {
    if (side_by_side_) return V::load(array + start_[0] + row * stride_);
    alignas(64) T numbers[W];
    for (int w = 0; w < W; ++w) numbers[w] = array[start_[w] + row * stride_];
    return V::load(numbers);
  }
  /// Whether rows lie one after another in memory, so that squares can be brought.
  bool has_squares() const { return stride_ == 1 && !side_by_side_; }
  /// `rows_at_once` rows of an array from `row` on.
  [[gnu::always_inline]] void square(const T* array, std::int64_t row, V (&to)[rows_at_once]) const {
    for (int p = 0; p < V::parts; ++p) {
      typename V::Part in[rows_at_once];
      for (int k = 0; k < rows_at_once; ++k)
        in[k] = *reinterpret_cast<const typename V::LoosePart*>(array + start_[p * V::side + k] + row);
      transpose<rows_at_once>(in);
      for (int k = 0; k < rows_at_once; ++k) to[k].part[p] = in[k];
    }
  }
  /// Writes a row of results.
  [[gnu::always_inline]] void put_row(V values, std::int64_t row, T* array) const {
    if (side_by_side_) return values.store(array + start_[0] + row * stride_);
    for (int w = 0; w < count_; ++w) array[start_[w] + row * stride_] = values.lane(w);
  }
  /// Writes a square of results.
  [[gnu::always_inline]] void put_square(const V (&from)[rows_at_once], std::int64_t row, T* array) const {
    for (int p = 0; p < V::parts; ++p) {
      typename V::Part out[rows_at_once];
      for (int k = 0; k < rows_at_once; ++k) out[k] = from[k].part[p];
      transpose<rows_at_once>(out);
      for (int k = 0; k < rows_at_once; ++k)
        if (p * V::side + k < count_)
          *reinterpret_cast<typename V::LoosePart*>(array + start_[p * V::side + k] + row) = out[k];
    }
  }

 private:
  void find_kind() {
    side_by_side_ = count_ == W;
    for (int w = 1; w < W; ++w) side_by_side_ = side_by_side_ && start_[w] == start_[0] + w;
  }

  std::int64_t start_[W];
  std::int64_t stride_;
  int count_;
  bool side_by_side_;
};

}  // namespace voussoir::cpu
