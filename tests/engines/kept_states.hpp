#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <voussoir/jobs/step_receiver.hpp>

// What steps over time pass on, and how two runs of the same steps are compared.

namespace voussoir::test {

inline double tolerance = 1e-9;  ///< of comparisons, relative to the largest value; 0: the same bits

/// Keeps what steps pass on.
class KeptStates : public StepReceiver {
 public:
  void step(std::size_t step, StepResult result) override {
    StepState state;
    state.result = std::move(result);
    states[step].push_back(std::move(state));
  }
  void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
  void state(std::size_t step, StepState state) override {
    if (fails) throw Error(ErrorCode::io, "the disk is full");
    states[step].push_back(std::move(state));
  }
  void end(std::size_t step, StepResponse response) override { responses[step] = std::move(response); }

  bool fails = false;
  std::map<std::size_t, std::vector<StepState>> states;
  std::map<std::size_t, StepResponse> responses;
};

inline double size_of(const std::vector<double>& values) {
  double size = 0;
  for (const double v : values)
    if (!std::isnan(v)) size = std::max(size, std::abs(v));
  return size;
}

/// Throws where two lists of numbers differ by more than the tolerance times `size`; NaN must be in the same places.
inline void expect_same(const std::string& what, const std::vector<double>& a, const std::vector<double>& b,
                        double size) {
  if (a.size() != b.size())
    throw Error(ErrorCode::internal,
                what + ": " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " values");
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::abs(a[i] - b[i]) <= tolerance * size) continue;
    char text[200];
    std::snprintf(text, sizeof text, "%s, value %zu: %.12g and %.12g (largest %.3g)", what.c_str(), i, a[i], b[i],
                  size);
    throw Error(ErrorCode::internal, text);
  }
}

inline void expect_same_field(const std::string& where, const NodalField& a, const NodalField& b, double size) {
  if (a.name != b.name || a.components != b.components)
    throw Error(ErrorCode::internal, where + ": field '" + a.name + "' and '" + b.name + "'");
  expect_same(where + " " + a.name, a.values, b.values, std::max(size, size_of(a.values)));
}

inline void expect_same_points(const std::string& where, const PointField& a, const PointField& b) {
  if (a.block != b.block || a.points != b.points || a.names != b.names)
    throw Error(ErrorCode::internal, where + ": points of other blocks");
  const std::size_t width = a.names.size();
  const auto column = [&](const PointField& field, std::size_t c) {
    std::vector<double> values;
    for (std::size_t i = c; i < field.values.size(); i += width) values.push_back(field.values[i]);
    return values;
  };
  for (std::size_t c = 0; c < width; ++c) {
    double size = 0;  // a component that is zero has the rounding of its neighbours
    for (std::size_t d = 0; d < width; ++d)
      if (a.names[d][0] == a.names[c][0]) size = std::max(size, size_of(column(a, d)));
    expect_same(where + " points " + a.names[c], column(a, c), column(b, c), size);
  }
}

/// `force` is the largest force of the step, since those at its beginning may be rounding alone.
inline void expect_same_state(const std::string& where, const StepState& a, const StepState& b, double motion,
                              double force) {
  // Frequencies of a sweep follow from natural frequencies.
  if (!(std::abs(a.at - b.at) <= tolerance * std::abs(a.at)) || a.for_viewers != b.for_viewers || a.prints != b.prints)
    throw Error(ErrorCode::internal, where + ": other times or outputs");
  expect_same_field(where, a.result.unknowns, b.result.unknowns, motion);
  expect_same_field(where, a.velocity, b.velocity, 0);
  if (a.imaginary.has_value() != b.imaginary.has_value())
    throw Error(ErrorCode::internal, where + ": only one has an imaginary part");
  if (a.imaginary) expect_same_field(where + " imaginary", a.imaginary->unknowns, b.imaginary->unknowns, motion);
  expect_same(where + " temperatures", a.temperatures, b.temperatures, size_of(a.temperatures));
  expect_same_field(where, a.result.reactions, b.result.reactions, force);
  expect_same_field(where, a.result.internal_forces, b.result.internal_forces, force);
  expect_same(where + " loads", a.result.load_sum, b.result.load_sum, 10 * force);
  expect_same(where + " reactions", a.result.reaction_sum, b.result.reaction_sum, 10 * force);
  expect_same(where + " energy", {a.result.energy}, {b.result.energy}, std::abs(a.result.energy));
  if (a.result.points.size() != b.result.points.size())
    throw Error(ErrorCode::internal, where + ": other blocks have points");
  for (std::size_t i = 0; i < a.result.points.size(); ++i)
    expect_same_points(where, a.result.points[i], b.result.points[i]);
}

inline void expect_same_curves(const std::string& what, const NamedHistories& a, const NamedHistories& b,
                               double size = 0) {
  if (a.size() != b.size()) throw Error(ErrorCode::internal, what + ": another number of curves");
  for (const auto& [name, values] : a)
    if (name != "iterations" && name != "unbalance") size = std::max(size, size_of(values));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first) throw Error(ErrorCode::internal, what + ": " + a[i].first + " and " + b[i].first);
    if (a[i].first == "unbalance") continue;  // of the last iteration: rounding
    expect_same(what + " " + a[i].first, a[i].second, b[i].second, std::max(size, size_of(a[i].second)));
  }
}

/// `force` is the largest force at a node: sums may be rounding alone.
inline void expect_same_response(const StepResponse& a, const StepResponse& b, double force, bool factorised) {
  expect_same("times", a.axis, b.axis, size_of(a.axis));
  expect_same_curves("history", a.histories, b.histories);
  expect_same_curves("energy", a.energies, b.energies);
  expect_same_curves("sum", a.sums, b.sums, force);
  if (a.recorded.size() != b.recorded.size()) throw Error(ErrorCode::internal, "other recorded curves");
  for (std::size_t i = 0; i < a.recorded.size(); ++i) {
    expect_same("recorded times", a.recorded[i].times, b.recorded[i].times, size_of(a.recorded[i].times));
    expect_same_curves("recorded", a.recorded[i].curves, b.recorded[i].curves);
  }
  const auto joined = [](const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) text += "[" + note + "]";
    return text;
  };
  if (a.peaks.size() != b.peaks.size() || a.notes != b.notes)
    throw Error(ErrorCode::internal, "other peaks or notes: " + joined(a.notes) + " and " + joined(b.notes));
  // Peaks of opposite sign on both sides of a plane of symmetry are equally large.
  double largest_peak = 0;
  for (const ResponsePeak& peak : a.peaks) largest_peak = std::max(largest_peak, std::abs(peak.value));
  for (std::size_t i = 0; i < a.peaks.size(); ++i)
    if (a.peaks[i].quantity != b.peaks[i].quantity ||
        !(std::abs(std::abs(a.peaks[i].value) - std::abs(b.peaks[i].value)) <=
          tolerance * std::max(largest_peak, force)))
      throw Error(ErrorCode::internal, "peak of " + a.peaks[i].quantity);
  if (a.counts.size() != b.counts.size()) throw Error(ErrorCode::internal, "other counts");
  for (std::size_t i = 0; i < a.counts.size(); ++i) {
    if (a.counts[i].first == "iterations" && !factorised) continue;  // of another preconditioner
    // Balances are rounding, and so is the estimate of the stability limit of a few equations, within its tolerance.
    if (a.counts[i].first == "worst_balance" || a.counts[i].first == "stability_limit") continue;
    const double least = a.counts[i].first == "iterations" || a.counts[i].first == "matrices" ? 2 : 0;
    if (!(std::abs(a.counts[i].second - b.counts[i].second) <= std::max(least, 1e-9 * std::abs(a.counts[i].second))))
      throw Error(ErrorCode::internal, a.counts[i].first + ": " + std::to_string(a.counts[i].second) + " and " +
                                           std::to_string(b.counts[i].second));
  }
}

}  // namespace voussoir::test
