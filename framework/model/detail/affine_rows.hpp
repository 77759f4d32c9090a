#pragma once
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <voussoir/framework/model/constraint_handler.hpp>

namespace voussoir::detail {

/// A coefficient, and the sum of the sizes of what it was summed from. Elimination is exact for coefficients that
/// differ from the user's by rounding errors of that size, so that a coefficient as small as these may as well be zero.
struct SizedNumber {
  double value = 0;
  double size = 0;
};

struct AffineTerm {
  std::int32_t column = 0;
  double value = 0;
  double size = 0;
};

/// Σ terms · x = constant. Terms stand in the order in which they came: the user's first.
struct AffineRow {
  std::vector<AffineTerm> terms;
  SizedNumber constant;
};

/// Multi-point equations as sparse rows over the unknowns that they name ("columns", numbered from 0).
class AffineRows {
 public:
  AffineRows(const NumberedConstraints& constraints, const std::vector<std::uint8_t>& prescribed);

  const AffineRow& operator[](std::int32_t row) const { return rows_[row]; }
  AffineRow& operator[](std::int32_t row) { return rows_[row]; }
  std::int32_t columns() const { return static_cast<std::int32_t>(equation_.size()); }
  std::int32_t equation(std::int32_t column) const { return equation_[column]; }
  bool prescribed(std::int32_t column) const { return prescribed_[column] != 0; }
  double scale(std::int32_t column) const { return scale_[column]; }
  /// Place of a column in a row, or −1.
  int find(std::int32_t row, std::int32_t column) const;

  /// Divides a row so that the coefficient of the term is 1, and moves that term to the front.
  void solve_for(std::int32_t row, int term);

  /// Subtracts from `row` the multiple of `solved` (whose first term is that of `column`, with coefficient 1) that
  /// takes the column away. Calls added(column) and removed(column) for what changes in the row. False where the row
  /// has no such column.
  template <class Added, class Removed>
  bool substitute(std::int32_t row, std::int32_t column, const AffineRow& solved, Added added, Removed removed);

  /// Substitutes all columns of a solved row, but its own, that `row_of` gives a solved row to.
  void complete(std::int32_t row, const std::vector<std::int32_t>& row_of);

 private:
  bool is_rounding(const AffineTerm& term) const;

  std::vector<AffineRow> rows_;
  std::vector<std::int32_t> equation_;
  std::vector<std::uint8_t> prescribed_;
  std::vector<double> scale_;
  std::vector<std::int32_t> place_;  // of each column in the row at work, or −1
};

/// Rows x_own + Σ terms = constant whose other unknowns are free or held: T, with the rows that use each column.
class SolvedRows {
 public:
  SolvedRows(AffineRows& rows, const std::vector<std::pair<std::int32_t, std::int32_t>>& pivots);

  /// The largest coefficient of a free unknown, in scaled unknowns; not finite where one is not.
  double largest() const;
  /// Makes unknowns free that others depend on with more than `limit`, until none is left or too many were exchanged.
  void exchange(double limit);
  std::vector<AffineDependency> dependencies() const;

 private:
  double excess(const AffineTerm& own, const AffineTerm& term) const;
  int worst_term(std::int32_t row, double limit) const;

  AffineRows& rows_;
  std::vector<std::int32_t> solved_;
};

template <class Added, class Removed>
bool AffineRows::substitute(std::int32_t row, std::int32_t column, const AffineRow& solved, Added added,
                            Removed removed) {
  auto& terms = rows_[row].terms;
  const int at = find(row, column);
  if (at < 0) return false;
  const AffineTerm factor = terms[at];
  for (std::size_t k = 0; k < terms.size(); ++k) place_[terms[k].column] = static_cast<std::int32_t>(k);
  for (std::size_t k = 1; k < solved.terms.size(); ++k) {
    const AffineTerm& t = solved.terms[k];
    std::int32_t& place = place_[t.column];
    if (place < 0) {
      place = static_cast<std::int32_t>(terms.size());
      terms.push_back({t.column, 0, 0});
      added(t.column);
    }
    terms[place].value -= factor.value * t.value;
    terms[place].size += std::abs(factor.value * t.value);
  }
  AffineRow& r = rows_[row];
  r.constant.value -= factor.value * solved.constant.value;
  r.constant.size += std::abs(factor.value * solved.constant.value);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    place_[terms[k].column] = -1;
    if (static_cast<int>(k) == at || is_rounding(terms[k])) {
      removed(terms[k].column);
      continue;
    }
    terms[kept++] = terms[k];
  }
  terms.resize(kept);
  return true;
}

}  // namespace voussoir::detail
