#pragma once
#include <cstdint>

#include <voussoir/backends/detail/sweep_rules.hpp>

namespace voussoir::cpu {

/// Systems that are solved together, one in each lane: eight doubles are a cache line of systems that lie side by side.
/// Every batch is solved in such packs, also where there are fewer systems, so that a system has the same bits in any
/// batch.
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

/// The most systems of a panel: those of a pack, or of several where systems lie side by side, so that long stretches
/// of memory are read row by row. A panel with a shared matrix keeps less and has more of them.
int panel_systems(const SweepShape& shape, bool shared);

/// Solves systems first … first + count − 1; count is at most panel_systems(). `scratch` has sweep_scratch()
/// numbers for each of panel_systems(). Returns the lowest fault.
template <class T>
detail::SweepWord sweep_panel(const SweepBatch<T>& batch, bool periodic, std::int64_t first, int count, T* scratch);

/// The same for the right-hand sides of a factored matrix; `last` closes a periodic system.
template <class T>
detail::SweepWord sweep_panel(const SweepShape& shape, const SweepFactors<T>* factors, bool periodic, T last,
                              const T* f, T* y, std::int64_t first, int count, T* scratch);

/// Factors a matrix of `length` rows; `last` closes a periodic system. Returns its lowest fault, of system 0.
template <class T>
detail::SweepWord factor_matrix(std::int64_t length, const T* lower, const T* diagonal, const T* upper, bool periodic,
                                T tolerance, SweepFactors<T>* factors, T& last);

/// Numbers per system that a panel keeps from its forward pass.
inline std::int64_t sweep_scratch(std::int64_t length, bool shared) { return (shared ? 1 : 3) * length; }

}  // namespace voussoir::cpu
