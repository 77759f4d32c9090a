#pragma once
#include <cstdint>

#include <voussoir/backends/detail/sweep_rules.hpp>

namespace voussoir::cpu {

/// Systems that are solved together, one in each lane: eight doubles are a cache line of systems that lie side by side.
inline constexpr int sweep_lanes = 8;

/// A batch with coefficients of its own, as plain arrays.
template <class T>
struct SweepBatch {
  SweepShape shape;
  const T *lower = nullptr, *diagonal = nullptr, *upper = nullptr, *f = nullptr;
  T* y = nullptr;
  T tolerance = 0;
};

/// Rows of a factored matrix. With y_0 as a border, and for i ≥ 1 (for i ≥ 0 in systems that are not periodic):
/// β_i = inverse_i f_i − lower_i β_{i−1} and y_i = β_i − border_i y_0 − upper_i y_{i+1}. Row 0 of a periodic system:
/// y_0 = last · (f_0 − Σ weight_i β_i), where weight_0 = `first_lower` belongs to β_{length−1}.
template <class T>
struct SweepFactors {
  T inverse, lower, upper;
  T border, weight;
};

/// Solves systems first … first + count − 1; count is at most the number of lanes. `scratch` has
/// sweep_scratch(length) numbers per lane. Returns the lowest fault.
template <class T, int lanes>
detail::SweepWord sweep_pack(const SweepBatch<T>& batch, bool periodic, std::int64_t first, int count, T* scratch);

/// The same for the right-hand sides of a factored matrix; `last` closes a periodic system.
template <class T, int lanes>
detail::SweepWord sweep_pack(const SweepShape& shape, const SweepFactors<T>* factors, bool periodic, T last, const T* f,
                             T* y, std::int64_t first, int count, T* scratch);

/// Factors a matrix of `length` rows; `last` closes a periodic system. Returns its lowest fault, of system 0.
template <class T>
detail::SweepWord factor_matrix(std::int64_t length, const T* lower, const T* diagonal, const T* upper, bool periodic,
                                T tolerance, SweepFactors<T>* factors, T& last);

/// Numbers per lane that a pack keeps from its forward pass.
inline std::int64_t sweep_scratch(std::int64_t length) { return 3 * length; }

}  // namespace voussoir::cpu
