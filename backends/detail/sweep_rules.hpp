#pragma once
#include <cstdint>

#include <voussoir/backends/detail/any_side.hpp>
#include <voussoir/backends/sweep_services.hpp>

// What backends share about tridiagonal batches: which pivots are accepted, how faults are kept, which arguments fit.

namespace voussoir::detail {

/// The lowest fault of a batch as one number, so that the least one wins: that of the lowest system, and of its faults
/// a pivot that was not accepted before numbers that are not finite, which may be the consequence.
using SweepWord = unsigned long long;
inline constexpr SweepWord no_sweep_fault = ~0ULL;

VSR_ANY_SIDE inline SweepWord sweep_word(std::int64_t system, std::int64_t length, std::int64_t row, SweepFault fault) {
  const std::int64_t place = (2 * system + (fault == SweepFault::not_finite ? 1 : 0)) * length + row;
  return static_cast<SweepWord>(place) * 4 + static_cast<SweepWord>(fault);
}
inline SweepOutcome sweep_outcome(SweepWord word, std::int64_t length) {
  if (word == no_sweep_fault) return {};
  const auto place = static_cast<std::int64_t>(word / 4);
  return {static_cast<SweepFault>(word % 4), place / (2 * length), place % length};
}

template <class T>
struct SweepPrecision;
template <>
struct SweepPrecision<double> {
  static constexpr double epsilon = 0x1p-52, largest = 0x1.fffffffffffffp+1023, default_loss = 1e-6;
};
template <>
struct SweepPrecision<float> {
  static constexpr float epsilon = 0x1p-23F, largest = 0x1.fffffep+127F;
  static constexpr double default_loss = 1e-3;
};

/// A pivot is accepted where |pivot| > tolerance · size, size the sum of the magnitudes of its row's coefficients.
template <class T>
T sweep_tolerance(const SweepOptions& options) {
  const double loss = options.largest_loss > 0 ? options.largest_loss : SweepPrecision<T>::default_loss;
  return static_cast<T>(static_cast<double>(SweepPrecision<T>::epsilon) / loss);
}

/// What is wrong with a pivot that was not accepted.
template <class T>
VSR_ANY_SIDE inline SweepFault pivot_fault(T pivot, T size) {
  const T magnitude = pivot < 0 ? -pivot : pivot;
  if (!(magnitude <= SweepPrecision<T>::largest) || !(size <= SweepPrecision<T>::largest))
    return SweepFault::not_finite;
  return magnitude <= 64 * SweepPrecision<T>::epsilon * size ? SweepFault::singular : SweepFault::inaccurate;
}

/// Throws Error (misuse) where a shape has no meaning, or where an array of `entries` entries is too short for it.
void require_sweep_shape(const SweepShape& shape, std::size_t entries, const char* what);
/// The same for all arrays of a solve.
template <class T>
void require_sweep(const SweepShape& shape, const SweepCoefficients<T>& matrix, const Array<T>& f, const Array<T>& y) {
  require_sweep_shape(shape, matrix.lower.size(), "lower");
  require_sweep_shape(shape, matrix.diagonal.size(), "diagonal");
  require_sweep_shape(shape, matrix.upper.size(), "upper");
  require_sweep_shape(shape, f.size(), "f");
  require_sweep_shape(shape, y.size(), "y");
}
/// Throws Error (misuse) for options that have no meaning on a backend of so many devices.
void require_sweep_options(const SweepOptions& options, int devices);
/// Throws Error (misuse) where the arrays of a shared matrix have other than `length` entries.
void require_shared_matrix(std::int64_t length, std::size_t lower, std::size_t diagonal, std::size_t upper);
/// Throws Error (misuse) where a plan does not fit a shape or a precision.
void require_sweep_plan(const SweepPlan& plan, const SweepShape& shape, bool single);

/// The device pointers of a right-hand side and a solution, which may be the same array. Inside a section.
template <class T>
struct SweepSides {
  const T* f = nullptr;
  T* y = nullptr;

  SweepSides(const SweepShape& shape, const Array<T>& right, Array<T>& solution) {
    const bool whole = shape.unknowns() == static_cast<std::int64_t>(solution.size());
    if (&right == &solution) {
      f = y = solution.update_device();
    } else {
      f = right.read_device();
      y = whole ? solution.write_device() : solution.update_device();
    }
  }
};

}  // namespace voussoir::detail
