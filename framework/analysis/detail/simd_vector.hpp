#pragma once
#include <cstddef>

namespace voussoir::detail {

/// Numbers that stand side by side in one register, for records of `width` numbers, which is even.
template <std::size_t width>
struct SimdVector {
  static_assert(width % 2 == 0, "a record is a whole number of vectors");
#if defined(__AVX__)
  static constexpr std::size_t lanes = width % 4 == 0 ? 4 : 2;
#else
  static constexpr std::size_t lanes = 2;
#endif
  static constexpr std::size_t count = width / lanes;  ///< vectors of a record
  typedef double Type __attribute__((vector_size(lanes * sizeof(double))));
  /// The same in memory, at any place that may hold a number.
  typedef double Loose __attribute__((vector_size(lanes * sizeof(double)), aligned(sizeof(double)), may_alias));
};

}  // namespace voussoir::detail
