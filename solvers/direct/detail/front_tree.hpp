#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir::detail {

/// The symbolic part of a multifrontal elimination: the order of the equations, and the fronts in which they are
/// eliminated.
///
/// **Places** count equations in the order of their elimination; those of the boundary, which are kept, come last. A
/// front eliminates neighbouring places that have the same pattern below, or nearly so: few stored zeros are cheaper
/// than small fronts. Equations with equal patterns, such as those of one node, are ordered and analysed as one.
struct FrontTree {
  /// A dense symmetric matrix of which the first columns are eliminated.
  struct Front {
    std::int32_t first = 0, width = 0;  ///< places that it eliminates
    std::int64_t rows = 0;              ///< where its places begin in `rows`: the own ones, then those below, ascending
    std::int32_t height = 0;            ///< number of its places
    std::int64_t panel = 0;             ///< where its columns begin in the factor
    std::int32_t parent = -1;           ///< front that the rest is added to; −1 for none
  };

  /// Analyses the pattern of a matrix. `boundary` has equations to be kept, each once.
  FrontTree(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary);

  std::vector<std::int32_t> equation;               ///< of each place
  std::vector<std::int32_t> place;                  ///< of each equation
  std::int32_t eliminated = 0;                      ///< number of places before those of the boundary
  std::vector<Front> fronts;                        ///< children before parents; with a boundary, that is the last one
  std::vector<std::int32_t> rows;                   ///< places of all fronts
  std::vector<std::vector<std::int32_t>> children;  ///< fronts below each front, ascending
  std::int64_t panel_entries = 0;                   ///< numbers of all panels together
  double flops = 0;                                 ///< floating-point operations of the elimination
  bool dissected = false;                           ///< whether METIS ordered it, else minimum degree

  /// The entries of the matrix by the lower one of their places: rows and positions of column j are those from
  /// entry_start[j] to entry_start[j + 1].
  std::vector<std::int64_t> entry_start, entry_source;
  std::vector<std::int32_t> entry_row;  ///< the higher place of each entry

  /// The places of a front.
  std::span<const std::int32_t> rows_of(const Front& front) const {
    return std::span(rows).subspan(static_cast<std::size_t>(front.rows), static_cast<std::size_t>(front.height));
  }
};

}  // namespace voussoir::detail
