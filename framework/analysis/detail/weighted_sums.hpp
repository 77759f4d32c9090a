#pragma once
#include <cstddef>

#include <voussoir/framework/analysis/detail/simd_vector.hpp>

namespace voussoir::detail {

/// Sums of records of `width` numbers that stand side by side, with `sums` different weights at a time: the sums stay
/// in registers, so that each record is read once for all of them. Each number is added up in the order of the records,
/// whatever `sums` is.
template <std::size_t sums, std::size_t width>
class WeightedSums {
  using Simd = SimdVector<width>;
  static constexpr std::size_t vectors = Simd::count;
  using Vector = typename Simd::Type;

 public:
  /// `record(i)` points to record i, `weight(s, i)` is its weight in sum s. Sum s is written to out + s · apart.
  template <class Record, class Weight>
  static void add_up(std::size_t count, const Record& record, const Weight& weight, double* out,
                     std::size_t apart = width) {
    Vector sum[sums][vectors] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const double* const of = record(i);
      for (std::size_t s = 0; s < sums; ++s) {
        const double w = weight(s, i);
        for (std::size_t v = 0; v < vectors; ++v) sum[s][v] += w * Simd::load(of, v);
      }
    }
    for (std::size_t s = 0; s < sums; ++s)
      for (std::size_t v = 0; v < vectors; ++v) Simd::store(sum[s][v], out + s * apart, v);
  }

  /// More sums than fit in registers, some at a time.
  template <class Record, class Weight>
  static void add_up_all(std::size_t all, std::size_t count, const Record& record, const Weight& weight, double* out) {
    std::size_t s = 0;
    for (; s + sums <= all; s += sums)
      add_up(
          count, record, [&](std::size_t k, std::size_t i) { return weight(s + k, i); }, out + s * width);
    for (; s < all; ++s)
      WeightedSums<1, width>::add_up(
          count, record, [&](std::size_t, std::size_t i) { return weight(s, i); }, out + s * width);
  }
};

/// The same for records of any width, up to the usual ones with a kernel of their own.
template <class Record, class Weight>
void weighted_sums(std::size_t width, std::size_t sums, std::size_t count, const Record& record, const Weight& weight,
                   double* out) {
  if (width == 6) return WeightedSums<4, 6>::add_up_all(sums, count, record, weight, out);
  if (width == 12) return WeightedSums<4, 12>::add_up_all(sums, count, record, weight, out);
  for (std::size_t s = 0; s < sums; ++s, out += width) {
    for (std::size_t k = 0; k < width; ++k) out[k] = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double w = weight(s, i);
      const double* const of = record(i);
      for (std::size_t k = 0; k < width; ++k) out[k] += w * of[k];
    }
  }
}

}  // namespace voussoir::detail
