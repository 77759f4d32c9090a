#include <voussoir/framework/analysis/detail/support_forces.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace voussoir::detail {
namespace {

/// A support or an equation, with the unknowns that are not excluded.
struct Row {
  std::vector<std::int32_t> columns;
  std::vector<double> coefficients;
  double norm = 0;
};

/// Rows over numbered columns, as the two products that least squares want.
struct Rows {
  std::vector<Row> rows;
  std::unordered_map<std::int32_t, std::int32_t> column_of;  // equation → column
  std::vector<std::int32_t> equation_of;

  void add(Row& row, std::int32_t equation, double c) {
    const auto [it, added] = column_of.try_emplace(equation, static_cast<std::int32_t>(equation_of.size()));
    if (added) equation_of.push_back(equation);
    row.columns.push_back(it->second);
    row.coefficients.push_back(c);
  }
  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(rows.size(), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t k = 0; k < rows[i].columns.size(); ++k)
        y[i] += rows[i].coefficients[k] / rows[i].norm * x[rows[i].columns[k]];
    return y;
  }
  std::vector<double> transposed_times(const std::vector<double>& y) const {
    std::vector<double> x(equation_of.size(), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t k = 0; k < rows[i].columns.size(); ++k)
        x[rows[i].columns[k]] += rows[i].coefficients[k] / rows[i].norm * y[i];
    return x;
  }
};

double square(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum;
}

/// Leaves only what hangs together with the first `wanted` rows, which stay where they are.
void keep_connected(Rows& all, std::size_t wanted) {
  std::vector<std::vector<std::int32_t>> rows_of(all.equation_of.size());
  for (std::size_t i = 0; i < all.rows.size(); ++i)
    for (const std::int32_t c : all.rows[i].columns) rows_of[c].push_back(static_cast<std::int32_t>(i));
  std::vector<char> met(all.rows.size(), 0);
  std::vector<std::int32_t> waiting;
  for (std::size_t i = 0; i < wanted; ++i) {
    met[i] = 1;
    waiting.push_back(static_cast<std::int32_t>(i));
  }
  while (!waiting.empty()) {
    const std::int32_t i = waiting.back();
    waiting.pop_back();
    for (const std::int32_t c : all.rows[i].columns)
      for (const std::int32_t other : std::exchange(rows_of[c], {}))
        if (!std::exchange(met[other], 1)) waiting.push_back(other);
  }
  std::vector<Row> kept;
  for (std::size_t i = 0; i < all.rows.size(); ++i)
    if (met[i]) kept.push_back(std::move(all.rows[i]));
  all.rows = std::move(kept);
}

}  // namespace

std::vector<double> oblique_support_forces(const AnalysisModel& model, const std::vector<double>& out_of_balance,
                                           const std::vector<char>& excluded, bool equations_too) {
  const Domain& domain = model.domain();
  const auto& supports = domain.oblique_supports();
  if (supports.empty()) return {};
  const char* const names[] = {"ux", "uy", "uz"};
  Rows all;
  for (const ObliqueSupport& o : supports) {
    Row& row = all.rows.emplace_back();
    for (int k = 0; k < 3; ++k) {
      const std::int32_t e = model.equation(o.node, names[k]);
      if (e >= 0 && !excluded[e] && std::abs(o.direction[k]) > 1e-14) all.add(row, e, o.direction[k]);
    }
  }
  if (equations_too) {
    for (const ConstraintEquation& equation : domain.equations()) {
      Row& row = all.rows.emplace_back();
      for (const auto& term : equation.terms) {
        const std::int32_t e = model.equation(term.node, term.unknown);
        if (e >= 0 && !excluded[e] && term.coefficient != 0) all.add(row, e, term.coefficient);
      }
    }
    keep_connected(all, supports.size());
  }
  for (Row& row : all.rows) {
    for (const double c : row.coefficients) row.norm = std::max(row.norm, std::abs(c));
    if (row.norm == 0) row.norm = 1;
    double sum = 0;
    for (const double c : row.coefficients) sum += c / row.norm * (c / row.norm);
    row.norm *= sum > 0 ? std::sqrt(sum) : 1.0;
  }

  // Conjugate gradients of least squares. A. Björck: Numerical Methods for Least Squares Problems (1996), 7.4.1.
  std::vector<double> force(all.rows.size(), 0.0), rest(all.equation_of.size());
  for (std::size_t c = 0; c < rest.size(); ++c) rest[c] = out_of_balance[all.equation_of[c]];
  std::vector<double> gradient = all.times(rest), direction = gradient;
  double size = square(gradient);
  const double enough = 1e-28 * size;
  for (std::size_t left = 10 * all.rows.size() + 50; left > 0 && size > enough; --left) {
    const std::vector<double> change = all.transposed_times(direction);
    const double step = size / square(change);
    if (!std::isfinite(step)) break;
    for (std::size_t i = 0; i < force.size(); ++i) force[i] += step * direction[i];
    for (std::size_t c = 0; c < rest.size(); ++c) rest[c] -= step * change[c];
    gradient = all.times(rest);
    const double next = square(gradient);
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = gradient[i] + next / size * direction[i];
    size = next;
  }
  force.resize(supports.size());
  for (std::size_t i = 0; i < force.size(); ++i) force[i] /= all.rows[i].norm;
  return force;
}

}  // namespace voussoir::detail
