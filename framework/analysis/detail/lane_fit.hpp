#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <voussoir/framework/analysis/detail/weighted_sums.hpp>

namespace voussoir::detail {

/// Least-squares fits of several patches, whose orthonormal bases are built side by side: monomial i of sample s of
/// lane l stands at (s · terms + i) · lanes + l. Each lane computes what it would compute alone.
class LaneFit {
 public:
  static constexpr int most_terms = 10;    ///< 1, x, y, z and their products
  static constexpr std::size_t lanes = 8;  ///< patches with as many samples each that are fitted side by side

  LaneFit(std::size_t samples, std::size_t terms, std::size_t width) : terms_(terms), width_(width) {
    monomials_.resize(samples * terms * lanes);
    basis_.resize(samples * terms * lanes);
    along_.resize(terms * width);
  }
  double* monomials() { return monomials_.data(); }

  /// Gram and Schmidt: orthonormal columns, and which combinations of monomials they are. Monomials that the points
  /// cannot tell from those before them, as z² in a single layer, are left out.
  void orthonormalize(std::size_t samples) {
    samples_ = samples;
    std::array<std::size_t, lanes> found{};
    for (std::size_t j = 0; j < terms_; ++j) {
      double* const v = basis_.data() + j * samples * lanes;
      double of[most_terms][lanes] = {}, given[lanes], left[lanes], scale[lanes];
      for (std::size_t l = 0; l < lanes; ++l) of[j][l] = 1;
      for (std::size_t s = 0; s < samples; ++s)
        std::copy_n(monomials_.data() + (s * terms_ + j) * lanes, lanes, v + s * lanes);
      dot(v, v, given);
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t b = 0; b < j; ++b) {
          const double* const base = basis_.data() + b * samples * lanes;
          double along[lanes];
          dot(base, v, along);
          for (std::size_t s = 0; s < samples * lanes; s += lanes)
            for (std::size_t l = 0; l < lanes; ++l) v[s + l] -= along[l] * base[s + l];
          for (std::size_t k = 0; k < terms_; ++k)
            for (std::size_t l = 0; l < lanes; ++l) of[k][l] -= along[l] * makeup_[b][k][l];
        }
      dot(v, v, left);
      // A column that is left out is zero from here on, and takes part in nothing.
      for (std::size_t l = 0; l < lanes; ++l) {
        const bool kept = found[l] < samples && left[l] > 1e-6 * given[l];
        scale[l] = kept ? 1 / std::sqrt(left[l]) : 0;
        found[l] += kept;
      }
      for (std::size_t s = 0; s < samples * lanes; s += lanes)
        for (std::size_t l = 0; l < lanes; ++l) v[s + l] *= scale[l];
      for (std::size_t k = 0; k < terms_; ++k)
        for (std::size_t l = 0; l < lanes; ++l) makeup_[j][k][l] = of[k][l] * scale[l];
    }
  }

  /// terms × width coefficients of a lane. `record(s)` points to the values of sample s.
  template <class Record>
  void fit(std::size_t lane, const Record& record, double* out) {
    const double* const basis = basis_.data() + lane;
    weighted_sums(
        width_, terms_, samples_, record,
        [basis, samples = samples_](std::size_t b, std::size_t s) { return basis[(b * samples + s) * lanes]; },
        along_.data());
    weighted_sums(
        width_, terms_, terms_, [this](std::size_t b) { return along_.data() + b * width_; },
        [this, lane](std::size_t j, std::size_t b) { return makeup_[b][j][lane]; }, out);
  }

 private:
  /// Products of two columns, lane by lane.
  void dot(const double* a, const double* b, double* out) const {
    using Simd = SimdVector<lanes>;
    typename Simd::Type sum[Simd::count] = {};
    for (std::size_t s = 0; s < samples_; ++s, a += lanes, b += lanes)
      for (std::size_t v = 0; v < Simd::count; ++v) sum[v] += Simd::load(a, v) * Simd::load(b, v);
    for (std::size_t v = 0; v < Simd::count; ++v) Simd::store(sum[v], out, v);
  }

  std::size_t terms_, width_, samples_ = 0;
  std::vector<double> monomials_, basis_, along_;
  double makeup_[most_terms][most_terms][lanes] = {};  // of each column of the basis, from monomials
};

}  // namespace voussoir::detail
