#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <voussoir/backends/sweep_services.hpp>

// Packs of systems, one in each SIMD lane, and how their rows are brought into lanes from any layout.

namespace voussoir::cpu {

/// Rows that are brought into lanes together. Eight doubles are a cache line, which is then read at once.
inline constexpr int pack_rows = 8;

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
[[gnu::always_inline]] inline Pack<T, W> negative_inverse(Pack<T, W> a) {
  for (int k = 0; k < Pack<T, W>::parts; ++k) a.part[k] = T(-1) / a.part[k];
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

/// to[r · W + w] = from[w][r] for eight rows of contiguous systems, in squares that fit registers of 16 bytes.
template <class T, int W>
[[gnu::always_inline]] inline void transpose_in(const T* const* from, std::int64_t row, T* to) {
  constexpr int side = 16 / sizeof(T);
  typedef T Piece __attribute__((vector_size(16)));
  typedef T LoosePiece __attribute__((vector_size(16), aligned(sizeof(T))));
  for (int w = 0; w < W; w += side)
    for (int r = 0; r < pack_rows; r += side) {
      Piece in[side];
      for (int k = 0; k < side; ++k) in[k] = *reinterpret_cast<const LoosePiece*>(from[w + k] + row + r);
      T* out = to + r * W + w;
      if constexpr (side == 2) {
        *reinterpret_cast<LoosePiece*>(out) = __builtin_shufflevector(in[0], in[1], 0, 2);
        *reinterpret_cast<LoosePiece*>(out + W) = __builtin_shufflevector(in[0], in[1], 1, 3);
      } else {
        const Piece a = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
                    b = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
        const Piece c = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7),
                    d = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
        *reinterpret_cast<LoosePiece*>(out) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        *reinterpret_cast<LoosePiece*>(out + W) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        *reinterpret_cast<LoosePiece*>(out + 2 * W) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
        *reinterpret_cast<LoosePiece*>(out + 3 * W) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
      }
    }
}
/// to[w][r] = from[r · W + w]: the reverse.
template <class T, int W>
[[gnu::always_inline]] inline void transpose_out(const T* from, std::int64_t row, T* const* to) {
  constexpr int side = 16 / sizeof(T);
  typedef T Piece __attribute__((vector_size(16)));
  typedef T LoosePiece __attribute__((vector_size(16), aligned(sizeof(T))));
  for (int w = 0; w < W; w += side)
    for (int r = 0; r < pack_rows; r += side) {
      Piece in[side];
      for (int k = 0; k < side; ++k) in[k] = *reinterpret_cast<const LoosePiece*>(from + (r + k) * W + w);
      if constexpr (side == 2) {
        *reinterpret_cast<LoosePiece*>(to[w] + row + r) = __builtin_shufflevector(in[0], in[1], 0, 2);
        *reinterpret_cast<LoosePiece*>(to[w + 1] + row + r) = __builtin_shufflevector(in[0], in[1], 1, 3);
      } else {
        const Piece a = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
                    b = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
        const Piece c = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7),
                    d = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
        *reinterpret_cast<LoosePiece*>(to[w] + row + r) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
        *reinterpret_cast<LoosePiece*>(to[w + 1] + row + r) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        *reinterpret_cast<LoosePiece*>(to[w + 2] + row + r) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
        *reinterpret_cast<LoosePiece*>(to[w + 3] + row + r) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
      }
    }
}

/// W systems from number `first` on, of which `count` exist; further lanes repeat the last one.
template <class T, int W>
class SystemPack {
 public:
  SystemPack(const SweepShape& shape, std::int64_t first, int count) : stride_(shape.stride), count_(count) {
    for (int w = 0; w < W; ++w) start_[w] = system_start(shape, first + std::min(w, count - 1));
    side_by_side_ = count == W;
    for (int w = 1; w < W; ++w) side_by_side_ = side_by_side_ && start_[w] == start_[0] + w;
  }

  std::int64_t start(int lane) const { return start_[lane]; }
  int count() const { return count_; }
  bool side_by_side() const { return side_by_side_; }
  std::int64_t stride() const { return stride_; }

  /// Rows `row` … `row + rows` − 1 of an array: where lane 0 of the first one is, and the distance to the next row.
  /// `buffer` has pack_rows · W numbers.
  struct Rows {
    const T* at;
    std::int64_t step;
  };
  [[gnu::always_inline]] Rows bring(const T* array, std::int64_t row, int rows, T* buffer) const {
    if (side_by_side_) {
      const T* at = array + start_[0] + row * stride_;
      if (stride_ != W)  // the next group of rows is far away, and the processor cannot guess where
        for (int r = 0; r < pack_rows; ++r) __builtin_prefetch(at + (r + 2 * pack_rows) * stride_);
      return {at, stride_};
    }
    if (W > 1 && stride_ == 1 && rows == pack_rows) {
      const T* from[W];
      for (int w = 0; w < W; ++w) from[w] = array + start_[w];
      if constexpr (W > 1) transpose_in<T, W>(from, row, buffer);
    } else {
      for (int r = 0; r < rows; ++r)
        for (int w = 0; w < W; ++w) buffer[r * W + w] = array[start_[w] + (row + r) * stride_];
    }
    return {buffer, W};
  }
  /// Writes rows of results, which lie in a buffer of pack_rows · W numbers.
  [[gnu::always_inline]] void put(const T* buffer, std::int64_t row, int rows, T* array) const {
    if (side_by_side_) {
      for (int r = 0; r < rows; ++r) Pack<T, W>::load(buffer + r * W).store(array + start_[0] + (row + r) * stride_);
    } else if (W > 1 && stride_ == 1 && rows == pack_rows && count_ == W) {
      T* to[W];
      for (int w = 0; w < W; ++w) to[w] = array + start_[w];
      if constexpr (W > 1) transpose_out<T, W>(buffer, row, to);
    } else {
      for (int r = 0; r < rows; ++r)
        for (int w = 0; w < count_; ++w) array[start_[w] + (row + r) * stride_] = buffer[r * W + w];
    }
  }

 private:
  std::int64_t start_[W];
  std::int64_t stride_;
  int count_;
  bool side_by_side_;
};

}  // namespace voussoir::cpu
