#pragma once
#include <cstddef>
#include <cstring>

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

  /// Vector v of a record at any place that may hold numbers: records are not aligned as vectors are.
  static Type load(const double* record, std::size_t v) {
    Type vector;
    std::memcpy(&vector, record + v * lanes, sizeof vector);
    return vector;
  }
  static void store(const Type& vector, double* record, std::size_t v) {
    std::memcpy(record + v * lanes, &vector, sizeof vector);
  }
};

}  // namespace voussoir::detail
