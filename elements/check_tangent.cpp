#include <voussoir/backends/error.hpp>
#include <voussoir/elements/check_tangent.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

namespace voussoir {
namespace {

void require(const ElementProgram& program, bool right, const char* what, std::size_t given, std::size_t wanted) {
  if (right) return;
  throw Error(ErrorCode::bad_input, "check_tangent of '" + program.name() + "': " + std::to_string(given) + " " + what +
                                        " given, " + std::to_string(wanted) + " needed");
}

void require(const ElementProgram& program, const ElementStatus& status) {
  const std::string head = "check_tangent of '" + program.name() + "': ";
  switch (status.fault) {
    case ElementFault::none:
      return;
    case ElementFault::inverted:
      throw Error(ErrorCode::inverted, head + "the element is inverted at the given coordinates");
    case ElementFault::not_finite:
      throw Error(ErrorCode::not_finite, head + "a result is not a finite number");
    case ElementFault::bad_parameter:
      throw Error(ErrorCode::bad_input, head + "the element rejects the given parameters or coordinates");
  }
}

/// One element and the buffers to call its program.
class SingleElement {
 public:
  SingleElement(const ElementProgram& program, std::span<const double> coordinates, std::span<const double> parameters,
                std::span<const double> unknowns, const TangentCheckOptions& options)
      : unknowns_(program.dofs(), 0.0), program_(program), nodes_(program.nodes()), first_unknown_(program.nodes()) {
    std::copy(unknowns.begin(), unknowns.end(), unknowns_.begin());
    std::iota(nodes_.begin(), nodes_.end(), 0);
    for (int a = 0; a < program.nodes(); ++a) first_unknown_[a] = a * program.components();
    record_.push_back(options.reference_temperature);
    record_.insert(record_.end(), parameters.begin(), parameters.end());
    view_.element_count = 1;
    view_.nodes = nodes_.data();
    view_.coordinates = coordinates.data();
    view_.unknowns = unknowns_.data();
    view_.first_unknown = first_unknown_.data();
    temperature_.assign(options.temperature.begin(), options.temperature.end());
    const auto names = program.unknown_names();
    const auto t = std::find(names.begin(), names.end(), "T") - names.begin();
    if (options.temperature.empty() && t < static_cast<std::ptrdiff_t>(names.size())) {
      unknown_temperature_ = static_cast<int>(t);
      temperature_.resize(static_cast<std::size_t>(program.nodes()));
      take_temperature();
    }
    view_.temperature = temperature_.empty() ? nullptr : temperature_.data();
    view_.start_temperature = view_.expansion_reference = options.reference_temperature;
    view_.parameters = record_.data();
    // One element among the lanes of its group.
    for (const double number : options.history) history_.insert(history_.end(), program.lanes(), number);
    view_.history = history_.empty() ? nullptr : history_.data();
    view_.time = options.time;
    view_.time_step = options.time_step;
  }

  std::vector<double> residual() const {
    return call(program_.dofs(), [&](double* out) { return program_.residual(view_, 0, 1, out); });
  }
  std::vector<double> action(const std::vector<double>& direction) const {
    return call(program_.dofs(), [&](double* out) { return program_.action(view_, direction.data(), 0, 1, out); });
  }
  /// Full, by rows.
  std::vector<double> tangent() const {
    auto upper = call(program_.matrix_entries(), [&](double* out) { return program_.tangent(view_, 0, 1, out); });
    if (!program_.symmetric()) return upper;
    const int n = program_.dofs();
    std::vector<double> full(static_cast<std::size_t>(n) * n);
    std::size_t k = 0;
    for (int i = 0; i < n; ++i)
      for (int j = i; j < n; ++j) full[i * n + j] = full[j * n + i] = upper[k++];
    return full;
  }

  /// Whether the temperature that a law reads is an unknown of the element.
  bool has_unknown_temperature() const { return unknown_temperature_ >= 0; }
  /// Has the temperature that a law reads be the unknown T as it is now.
  void take_temperature() {
    for (int a = 0; a < program_.nodes(); ++a)
      temperature_[a] = unknowns_[a * program_.components() + unknown_temperature_];
  }

  std::vector<double> unknowns_;  ///< changed between calls

 private:
  template <class Call>
  std::vector<double> call(int values, const Call& compute) const {
    const int lanes = program_.lanes();
    std::vector<double> group(static_cast<std::size_t>(values) * lanes), result(values);
    require(program_, compute(group.data()));
    for (int k = 0; k < values; ++k) result[k] = group[static_cast<std::size_t>(k) * lanes];
    return result;
  }

  const ElementProgram& program_;
  std::vector<std::int32_t> nodes_, first_unknown_;
  std::vector<double> record_, temperature_, history_;
  int unknown_temperature_ = -1;  // which of the components
  ElementView view_;
};

double largest(const std::vector<double>& values) {
  double result = 0;
  for (double value : values) result = std::max(result, std::abs(value));
  return result;
}

/// Throws where the numbers given do not fit the element.
void check_sizes(const ElementProgram& program, std::span<const double> coordinates, std::span<const double> parameters,
                 std::span<const double> unknowns, const TangentCheckOptions& options) {
  const std::size_t nodes = program.nodes(), dofs = program.dofs();
  require(program, coordinates.size() == 3 * nodes, "coordinates", coordinates.size(), 3 * nodes);
  require(program, parameters.size() == program.parameter_names().size(), "parameters", parameters.size(),
          program.parameter_names().size());
  require(program, unknowns.empty() || unknowns.size() == dofs, "unknowns", unknowns.size(), dofs);
  require(program, options.temperature.empty() || options.temperature.size() == nodes, "temperatures",
          options.temperature.size(), nodes);
  const auto history = static_cast<std::size_t>(program.history_count());
  require(program, options.history.empty() || options.history.size() == history, "numbers of history",
          options.history.size(), history);
}

/// The derivative of the residual by central differences of two steps, combined so that errors of second order cancel;
/// full, by rows. The temperature that a law reads stays as it is, or follows the unknown T.
std::vector<double> differences_of(SingleElement& element, double step, bool temperature_follows) {
  const std::size_t dofs = element.unknowns_.size();
  std::vector<double> differences(dofs * dofs);
  const auto residual_at = [&](std::size_t j, double value) {
    element.unknowns_[j] = value;
    if (temperature_follows) element.take_temperature();
    return element.residual();
  };
  for (std::size_t j = 0; j < dofs; ++j) {
    const double at = element.unknowns_[j];
    const auto slope = [&](double h) {
      std::vector<double> forward = residual_at(j, at + h);
      const std::vector<double> backward = residual_at(j, at - h);
      for (std::size_t i = 0; i < dofs; ++i) forward[i] = (forward[i] - backward[i]) / (2 * h);
      return forward;
    };
    const std::vector<double> fine = slope(step), coarse = slope(2 * step);
    for (std::size_t i = 0; i < dofs; ++i) differences[i * dofs + j] = (4 * fine[i] - coarse[i]) / 3;
    element.unknowns_[j] = at;
    if (temperature_follows) element.take_temperature();
  }
  return differences;
}

/// Compares a tangent with differences, relative to `scale`.
TangentReport compare(const std::vector<double>& tangent, const std::vector<double>& differences, std::size_t dofs,
                      double scale) {
  TangentReport report;
  for (std::size_t i = 0; i < dofs; ++i)
    for (std::size_t j = 0; j < dofs; ++j) {
      const double error = std::abs(tangent[i * dofs + j] - differences[i * dofs + j]) / scale;
      if (error > report.tangent_error || (i == 0 && j == 0)) {
        report.tangent_error = error;
        report.row = static_cast<int>(i);
        report.column = static_cast<int>(j);
        report.analytic = tangent[i * dofs + j];
        report.by_differences = differences[i * dofs + j];
      }
    }
  return report;
}

}  // namespace

TangentReport check_tangent(const ElementProgram& program, std::span<const double> coordinates,
                            std::span<const double> parameters, std::span<const double> unknowns,
                            const TangentCheckOptions& options) {
  const std::size_t nodes = program.nodes(), dofs = program.dofs();
  if (const std::string defect = program.defect(); !defect.empty())
    throw Error(ErrorCode::misuse, "check_tangent of '" + program.name() + "': " + defect);
  check_sizes(program, coordinates, parameters, unknowns, options);

  double size = 0, largest_unknown = 0;
  for (std::size_t a = 1; a < nodes; ++a)
    for (int i = 0; i < 3; ++i) size = std::max(size, std::abs(coordinates[3 * a + i] - coordinates[i]));
  if (size == 0) size = 1;
  for (double u : unknowns) largest_unknown = std::max(largest_unknown, std::abs(u));
  const double step = options.relative_step * std::max(largest_unknown, 0.01 * size);

  SingleElement element(program, coordinates, parameters, unknowns, options);
  const std::vector<double> tangent = element.tangent();
  const double residual_size = largest(element.residual());

  double scale = largest(tangent);
  // Without a tangent, what counts is how much of the residual a step changes.
  if (scale == 0) scale = residual_size > 0 ? residual_size / step : 1;
  TangentReport report = compare(tangent, differences_of(element, step, false), dofs, scale);
  if (element.has_unknown_temperature()) {
    TangentReport whole = compare(tangent, differences_of(element, step, true), dofs, scale);
    whole.contains_temperature_change = true;
    if (whole.tangent_error < report.tangent_error) report = whole;
  }

  // A direction without any symmetry that could hide a wrong entry.
  std::vector<double> direction(dofs), product(dofs, 0.0);
  for (std::size_t i = 0; i < dofs; ++i) direction[i] = std::sin(1.0 + 2.3 * static_cast<double>(i));
  for (std::size_t i = 0; i < dofs; ++i)
    for (std::size_t j = 0; j < dofs; ++j) product[i] += tangent[i * dofs + j] * direction[j];
  const std::vector<double> action = element.action(direction);
  for (std::size_t i = 0; i < dofs; ++i)
    report.action_error = std::max(report.action_error, std::abs(action[i] - product[i]) / scale);

  const auto label = [&](int i) {
    return std::string(program.unknown_names()[i % program.components()]) + " of node " +
           std::to_string(i / program.components() + 1);
  };
  char numbers[200];
  std::snprintf(numbers, sizeof numbers, "analytic %.10g, by differences %.10g; action differs by %.3g",
                report.analytic, report.by_differences, report.action_error);
  char error[40];
  std::snprintf(error, sizeof error, "%.3g", report.tangent_error);
  report.text = "'" + program.name() + "': tangent and finite differences of the residual differ by " + error +
                " of the largest entry" +
                (report.contains_temperature_change ? ", change of p.temperature included" : "") + "; worst: force " +
                label(report.row) + " by " + label(report.column) + ", " + numbers;
  return report;
}

}  // namespace voussoir
