#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace voussoir::detail {

/// Least-squares fits of several patches side by side: number i of sample s of lane l stands at (s · count + i) · lanes
/// + l. Each lane computes what it would compute alone.
class LaneFit {
 public:
  static constexpr int most_terms = 10;    ///< 1, x, y, z and their products
  static constexpr std::size_t lanes = 8;  ///< patches with as many samples each that are fitted side by side

  LaneFit(std::size_t samples, std::size_t terms, std::size_t width) : terms_(terms), width_(width) {
    monomials_.resize(samples * terms * lanes);
    data_.resize(samples * width * lanes);
    basis_.resize(samples * terms * lanes);
  }
  double* monomials() { return monomials_.data(); }
  double* data() { return data_.data(); }

  /// terms × width coefficients for each lane, as above. Monomials that the points cannot tell from those before them,
  /// as z² in a single layer, are left out.
  void solve(std::size_t samples, double* out) {
    // Gram and Schmidt: orthonormal columns, and which combinations of monomials they are.
    double makeup[most_terms][most_terms][lanes] = {};
    std::array<std::size_t, lanes> found{};
    for (std::size_t j = 0; j < terms_; ++j) {
      double* const v = basis_.data() + j * samples * lanes;
      double of[most_terms][lanes] = {}, given[lanes] = {}, left[lanes] = {}, scale[lanes];
      for (std::size_t l = 0; l < lanes; ++l) of[j][l] = 1;
      for (std::size_t s = 0; s < samples; ++s)
        for (std::size_t l = 0; l < lanes; ++l) {
          const double value = monomials_[(s * terms_ + j) * lanes + l];
          v[s * lanes + l] = value;
          given[l] += value * value;
        }
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t b = 0; b < j; ++b) {
          const double* const base = basis_.data() + b * samples * lanes;
          double along[lanes] = {};
          for (std::size_t s = 0; s < samples * lanes; s += lanes)
            for (std::size_t l = 0; l < lanes; ++l) along[l] += base[s + l] * v[s + l];
          for (std::size_t s = 0; s < samples * lanes; s += lanes)
            for (std::size_t l = 0; l < lanes; ++l) v[s + l] -= along[l] * base[s + l];
          for (std::size_t k = 0; k < terms_; ++k)
            for (std::size_t l = 0; l < lanes; ++l) of[k][l] -= along[l] * makeup[b][k][l];
        }
      for (std::size_t s = 0; s < samples * lanes; s += lanes)
        for (std::size_t l = 0; l < lanes; ++l) left[l] += v[s + l] * v[s + l];
      // A column that is left out is zero from here on, and takes part in nothing.
      for (std::size_t l = 0; l < lanes; ++l) {
        const bool kept = found[l] < samples && left[l] > 1e-6 * given[l];
        scale[l] = kept ? 1 / std::sqrt(left[l]) : 0;
        found[l] += kept;
      }
      for (std::size_t s = 0; s < samples * lanes; s += lanes)
        for (std::size_t l = 0; l < lanes; ++l) v[s + l] *= scale[l];
      for (std::size_t k = 0; k < terms_; ++k)
        for (std::size_t l = 0; l < lanes; ++l) makeup[j][k][l] = of[k][l] * scale[l];
    }
    std::fill_n(out, terms_ * width_ * lanes, 0.0);
    for (std::size_t b = 0; b < terms_; ++b)
      for (std::size_t k = 0; k < width_; k += at_once) {
        double along[at_once][lanes] = {};
        if (k + at_once <= width_)
          project<at_once>(b, k, samples, along);
        else
          for (std::size_t i = 0; k + i < width_; ++i) project<1>(b, k + i, samples, along + i);
        for (std::size_t i = 0; i < at_once && k + i < width_; ++i)
          for (std::size_t j = 0; j < terms_; ++j)
            for (std::size_t l = 0; l < lanes; ++l)
              out[(j * width_ + k + i) * lanes + l] += along[i][l] * makeup[b][j][l];
      }
  }

 private:
  static constexpr std::size_t at_once = 4;  // values whose sums run side by side

  /// Products of a column of the basis with `count` values from `first` on.
  template <std::size_t count>
  void project(std::size_t b, std::size_t first, std::size_t samples, double (*along)[lanes]) const {
    const double* const base = basis_.data() + b * samples * lanes;
    double sum[count][lanes] = {};
    for (std::size_t s = 0; s < samples; ++s)
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t l = 0; l < lanes; ++l)
          sum[i][l] += base[s * lanes + l] * data_[(s * width_ + first + i) * lanes + l];
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t l = 0; l < lanes; ++l) along[i][l] = sum[i][l];
  }

  std::size_t terms_, width_;
  std::vector<double> monomials_, data_, basis_;
};

}  // namespace voussoir::detail
