#include <voussoir/framework/model/detail/affine_rows.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace voussoir::detail {

namespace {

// Decimal numbers of a file, coordinates subtracted from each other and a few sums leave no more than this.
constexpr double rounding = 1e-13;

}  // namespace

AffineRows::AffineRows(const NumberedConstraints& constraints, const std::vector<std::uint8_t>& prescribed) {
  std::vector<std::int32_t> column_of(constraints.equation_count, -1);
  rows_.resize(constraints.multi.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& multi = constraints.multi[i];
    auto& terms = rows_[i].terms;
    rows_[i].constant = {multi.constant, std::abs(multi.constant)};
    for (std::size_t k = 0; k < multi.equations.size(); ++k) {
      std::int32_t& column = column_of[multi.equations[k]];
      if (column < 0) {
        column = static_cast<std::int32_t>(equation_.size());
        equation_.push_back(multi.equations[k]);
        prescribed_.push_back(prescribed[multi.equations[k]]);
        scale_.push_back(constraints.scale.empty() ? 1.0 : constraints.scale[multi.equations[k]]);
        place_.push_back(-1);
      }
      const double c = multi.coefficients[k];
      if (place_[column] < 0) {
        place_[column] = static_cast<std::int32_t>(terms.size());
        terms.push_back({column, c, std::abs(c)});
      } else {
        terms[place_[column]].value += c;
        terms[place_[column]].size += std::abs(c);
      }
    }
    for (const AffineTerm& t : terms) place_[t.column] = -1;
    std::erase_if(terms, [&](const AffineTerm& t) { return is_rounding(t); });
  }
}

bool AffineRows::is_rounding(const AffineTerm& term) const { return std::abs(term.value) <= rounding * term.size; }

int AffineRows::find(std::int32_t row, std::int32_t column) const {
  const auto& terms = rows_[row].terms;
  for (std::size_t k = 0; k < terms.size(); ++k)
    if (terms[k].column == column) return static_cast<int>(k);
  return -1;
}

void AffineRows::solve_for(std::int32_t row, int term) {
  AffineRow& r = rows_[row];
  std::rotate(r.terms.begin(), r.terms.begin() + term, r.terms.begin() + term + 1);
  const double pivot = r.terms.front().value;
  const auto divide = [&](double& value, double& size) {
    value /= pivot;
    size /= std::abs(pivot);
  };
  for (AffineTerm& t : r.terms) divide(t.value, t.size);
  divide(r.constant.value, r.constant.size);
  r.terms.front().value = r.terms.front().size = 1;
}

void AffineRows::complete(std::int32_t row, const std::vector<std::int32_t>& row_of) {
  AffineRow& r = rows_[row];
  const std::size_t own = r.terms.size();
  bool any = false;
  for (std::size_t k = 1; k < own && !any; ++k) any = row_of[r.terms[k].column] >= 0;
  if (!any) return;
  // All at once: one pass over the sum of the rows, however many are substituted.
  AffineRow sum;
  sum.constant = r.constant;
  const auto add = [&](std::int32_t column, double value, double size) {
    std::int32_t& place = place_[column];
    if (place < 0) {
      place = static_cast<std::int32_t>(sum.terms.size());
      sum.terms.push_back({column, 0, 0});
    }
    sum.terms[place].value += value;
    sum.terms[place].size += size;
  };
  for (std::size_t k = 0; k < own; ++k) {
    const AffineTerm& t = r.terms[k];
    const std::int32_t solved = k == 0 ? -1 : row_of[t.column];
    if (solved < 0) {
      add(t.column, t.value, t.size);
      continue;
    }
    const AffineRow& s = rows_[solved];
    for (std::size_t q = 1; q < s.terms.size(); ++q)
      add(s.terms[q].column, -t.value * s.terms[q].value, std::abs(t.value * s.terms[q].value));
    sum.constant.value -= t.value * s.constant.value;
    sum.constant.size += std::abs(t.value * s.constant.value);
  }
  for (const AffineTerm& t : sum.terms) place_[t.column] = -1;
  std::erase_if(sum.terms, [&](const AffineTerm& t) { return is_rounding(t); });
  r = std::move(sum);
}

SolvedRows::SolvedRows(AffineRows& rows, const std::vector<std::pair<std::int32_t, std::int32_t>>& pivots)
    : rows_(rows) {
  for (const auto& [row, column] : pivots) solved_.push_back(row);
}

/// How far x_own moves with another unknown, each in its own scale.
double SolvedRows::excess(const AffineTerm& own, const AffineTerm& term) const {
  if (rows_.prescribed(term.column)) return 0;
  const double size = std::abs(term.value) * rows_.scale(own.column) / rows_.scale(term.column);
  return std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
}

double SolvedRows::largest() const {
  double largest = 0;
  for (const std::int32_t row : solved_)
    for (std::size_t k = 1; k < rows_[row].terms.size(); ++k)
      largest = std::max(largest, excess(rows_[row].terms[0], rows_[row].terms[k]));
  return largest;
}

int SolvedRows::worst_term(std::int32_t row, double limit) const {
  const auto& terms = rows_[row].terms;
  int worst = -1;
  for (std::size_t k = 1; k < terms.size(); ++k)
    if (const double size = excess(terms[0], terms[k]); size > limit && std::isfinite(size)) {
      limit = size;
      worst = static_cast<int>(k);
    }
  return worst;
}

void SolvedRows::exchange(double limit) {
  std::deque<std::int32_t> waiting;
  for (const std::int32_t row : solved_)
    if (worst_term(row, limit) >= 0) waiting.push_back(row);
  if (waiting.empty()) return;
  std::vector<std::vector<std::int32_t>> users(rows_.columns());
  for (const std::int32_t row : solved_)
    for (std::size_t k = 1; k < rows_[row].terms.size(); ++k) users[rows_[row].terms[k].column].push_back(row);
  std::size_t left = 10 * solved_.size() + 100;  // rounding must not make it go on for ever
  while (!waiting.empty() && left-- > 0) {
    const std::int32_t row = waiting.front();
    waiting.pop_front();
    const int worst = worst_term(row, limit);
    if (worst < 0) continue;
    const std::int32_t column = rows_[row].terms[worst].column;
    rows_.solve_for(row, worst);
    for (std::size_t k = 1; k < rows_[row].terms.size(); ++k) users[rows_[row].terms[k].column].push_back(row);
    for (const std::int32_t user : std::vector<std::int32_t>(std::move(users[column]))) {
      if (user == row) continue;
      const bool met = rows_.substitute(
          user, column, rows_[row], [&](std::int32_t added) { users[added].push_back(user); }, [](std::int32_t) {});
      if (met && worst_term(user, limit) >= 0) waiting.push_back(user);
    }
    users[column].clear();
  }
}

std::vector<AffineDependency> SolvedRows::dependencies() const {
  std::vector<AffineDependency> result;
  std::vector<std::pair<std::int32_t, double>> others;
  for (const std::int32_t row : solved_) {
    const AffineRow& r = rows_[row];
    AffineDependency d{rows_.equation(r.terms[0].column), {}, {}, r.constant.value};
    if (std::abs(d.constant) <= rounding * r.constant.size) d.constant = 0;
    others.clear();
    for (std::size_t k = 1; k < r.terms.size(); ++k)
      others.push_back({rows_.equation(r.terms[k].column), -r.terms[k].value});
    std::sort(others.begin(), others.end());
    for (const auto& [equation, c] : others) {
      d.others.push_back(equation);
      d.coefficients.push_back(c);
    }
    result.push_back(std::move(d));
  }
  std::sort(result.begin(), result.end(),
            [](const AffineDependency& a, const AffineDependency& b) { return a.equation < b.equation; });
  return result;
}

}  // namespace voussoir::detail
