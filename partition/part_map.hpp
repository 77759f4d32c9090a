#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/partition/decomposition.hpp>
#include <voussoir/partition/part_matrices.hpp>

namespace voussoir {

/// Restriction to some unknowns and extension from them, with or without weights: R, Rᵀ and Rᵀ D.
class PartMap {
 public:
  PartMap() = default;
  /// `unknowns` ascend. `weights` has one number for each, or is empty for 1 each.
  explicit PartMap(std::vector<std::int32_t> unknowns, std::vector<double> weights = {});

  std::span<const std::int32_t> unknowns() const { return unknowns_; }  ///< of the whole, ascending
  std::span<const double> weights() const { return weights_; }          ///< D; empty if all are 1
  std::size_t size() const { return unknowns_.size(); }                 ///< number of unknowns

  /// part = R whole
  void restrict(std::span<const double> whole, std::span<double> part) const;
  /// part = D R whole
  void restrict_weighted(std::span<const double> whole, std::span<double> part) const;
  /// whole += Rᵀ part
  void extend(std::span<const double> part, std::span<double> whole) const;
  /// whole += Rᵀ D part
  void extend_weighted(std::span<const double> part, std::span<double> whole) const;

 private:
  std::vector<std::int32_t> unknowns_;
  std::vector<double> weights_;
};

/// How unknowns of several parts are shared between them. In each case the weights of one unknown add up to 1.
enum class Weighting {
  owner,         ///< 1 in the lowest part, 0 in all others
  multiplicity,  ///< 1 / number of parts
  stiffness      ///< diagonal entry of the part's matrix divided by that of the whole: for parts of unequal stiffness
};
/// Weights of the unknowns of a part, by local numbers. `matrices` is needed for Weighting::stiffness only; a null
/// pointer is then an Error (misuse).
std::vector<double> part_weights(const Decomposition& decomposition, int part, Weighting weighting,
                                 const PartMatrices* matrices = nullptr);

/// A set of unknowns, grown by layers of elements.
struct Overlap {
  std::vector<std::int32_t> unknowns;  ///< ascending
  std::vector<std::int32_t> layer;     ///< of each unknown: 0 for the set itself, then 1, 2, …
};
/// Grows a set of unknowns, ascending, by layers: each layer adds all unknowns that share an entry of the matrix with
/// the set. A negative number of layers is an Error (bad_input).
Overlap with_overlap(const FullRows& matrix, std::span<const std::int32_t> unknowns, int layers);

/// Weights of overlapping sets that add up to 1 at each unknown and decrease linearly across the overlap. `size` is the
/// number of all unknowns; one list per set is returned.
std::vector<std::vector<double>> partition_of_unity(std::span<const Overlap> sets, int layers, std::int32_t size);

}  // namespace voussoir
