#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace voussoir {

/// The values of a result quantity in each mode: displacements, stresses, reactions or whatever depends linearly on the
/// displacements, entry by entry. One column for each coordinate that multiplies it: those of the modes, and after them
/// those of load patterns, with residual_values() for the modes left out. Refers to arrays of the caller and owns
/// nothing.
class ModalValues {
 public:
  /// No columns yet.
  ModalValues() = default;
  /// The columns of an array, one after the other: values[coordinate · entries + entry]. Throws Error (misuse) if the
  /// array cannot be divided into that many columns.
  ModalValues(std::span<const double> values, std::size_t columns);

  /// Appends a column. Throws Error (misuse) if its length is not that of the others.
  ModalValues& add(std::span<const double> column);

  std::size_t columns() const { return columns_.size(); }                         ///< number of coordinates
  std::size_t entries() const { return columns() ? columns_[0].size() : 0; }      ///< length of each column
  std::span<const double> column(std::size_t i) const { return columns_.at(i); }  ///< the values of one coordinate

 private:
  std::vector<std::span<const double>> columns_;
};

/// What the modes leave out of the response to a load pattern (residual flexibility): the result of the static load
/// minus that of the modes,
///
///   r_static − Σ_i r_i P_i/ω_i²,   with the modal loads P_i = φ_iᵀ f of the pattern.
///
/// Multiplied by the amplitude p(t) of the pattern and added to the superposed response, it corrects for the modes left
/// out as if they followed the load without inertia (mode acceleration, static correction). For a base acceleration in
/// the direction d, the pattern is f = −M r_d and P_i = −Γ_i. Modes are M-orthonormal. Throws Error (bad_input) for a
/// rigid mode (ω = 0) that the pattern loads: there is no static response then; Error (misuse) where sizes differ.
std::vector<double> residual_values(std::span<const double> static_values, const ModalValues& modal_values,
                                    std::span<const double> modal_loads, std::span<const double> omegas);

}  // namespace voussoir
