#include <voussoir/framework/model/constraint_handler.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <unordered_map>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

bool differ(double a, double b) { return std::abs(a - b) > 1e-12 * std::max({std::abs(a), std::abs(b), 1e-300}); }

ConstraintPlan hold_single_points(const NumberedConstraints& constraints) {
  ConstraintPlan plan;
  plan.held.assign(constraints.equation_count, 0);
  plan.value.assign(constraints.equation_count, 0.0);
  for (const auto& s : constraints.single) {
    if (plan.held[s.equation] && differ(plan.value[s.equation], s.value))
      throw Error(ErrorCode::bad_input,
                  "prescribed twice with different values, " + short_number(plan.value[s.equation]) + " and " +
                      short_number(s.value) + "; keep one",
                  constraints.label(s.equation));
    plan.held[s.equation] = 1;
    plan.value[s.equation] = s.value;
  }
  return plan;
}

}  // namespace

ConstraintPlan EliminationHandler::plan(const NumberedConstraints& constraints) const {
  if (!constraints.multi.empty())
    throw Error(ErrorCode::bad_input, "elimination knows no multi-point equations; use the transformation handler",
                constraints.multi.front().label);
  return hold_single_points(constraints);
}

ConstraintPlan TransformationHandler::plan(const NumberedConstraints& constraints) const {
  ConstraintPlan plan = hold_single_points(constraints);

  // Each equation is solved for its first unknown that is neither prescribed nor solved for already; then all are
  // substituted into each other until only free and prescribed unknowns remain on the right.
  std::map<std::int32_t, AffineDependency> dependent;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>>
      used_by;  // free or held unknown -> dependents that name it
  for (const auto& multi : constraints.multi) {
    std::map<std::int32_t, double> terms;  // Σ terms · x = constant after substitution of known dependents
    double constant = multi.constant;
    double largest = 0, scale = std::abs(multi.constant);  // scale: of what the constant was summed from
    for (std::size_t i = 0; i < multi.equations.size(); ++i) {
      const double c = multi.coefficients[i];
      largest = std::max(largest, std::abs(c));
      if (const auto known = dependent.find(multi.equations[i]); known != dependent.end()) {
        constant -= c * known->second.constant;
        scale = std::max(scale, std::abs(c * known->second.constant));
        for (std::size_t k = 0; k < known->second.others.size(); ++k)
          terms[known->second.others[k]] += c * known->second.coefficients[k];
      } else {
        terms[multi.equations[i]] += c;
      }
    }
    std::int32_t eliminated = -1;
    const double tiny = 1e-13 * largest;
    const auto usable = [&](std::int32_t equation) {
      const auto it = terms.find(equation);
      return it != terms.end() && !plan.held[equation] && std::abs(it->second) > tiny;
    };
    for (std::int32_t equation : multi.equations)
      if (usable(equation)) {
        eliminated = equation;
        break;
      }
    if (eliminated < 0)
      for (const auto& [equation, c] : terms)
        if (usable(equation)) {
          eliminated = equation;
          break;
        }
    if (eliminated < 0) {
      double rest = constant;
      for (const auto& [equation, c] : terms) {
        rest -= c * plan.value[equation];
        scale = std::max(scale, std::abs(c * plan.value[equation]));
      }
      if (std::abs(rest) > 1e-10 * scale)
        throw Error(
            ErrorCode::bad_input,
            "all its unknowns are prescribed or given by other equations, and they contradict it (first unknown: " +
                constraints.label(multi.equations.front()) + "); remove the equation or a support",
            multi.label);
      continue;  // says nothing new
    }
    AffineDependency d{eliminated, {}, {}, constant / terms[eliminated]};
    for (const auto& [equation, c] : terms)
      if (equation != eliminated && c != 0) {
        d.others.push_back(equation);
        d.coefficients.push_back(-c / terms[eliminated]);
      }
    for (std::int32_t user : used_by[eliminated]) {
      AffineDependency& earlier = dependent.at(user);
      std::map<std::int32_t, double> merged;
      for (std::size_t m = 0; m < earlier.others.size(); ++m) {
        const double c = earlier.coefficients[m];
        if (earlier.others[m] != eliminated) {
          merged[earlier.others[m]] += c;
          continue;
        }
        earlier.constant += c * d.constant;
        for (std::size_t k = 0; k < d.others.size(); ++k) {
          merged[d.others[k]] += c * d.coefficients[k];
          used_by[d.others[k]].push_back(user);
        }
      }
      earlier.others.clear();
      earlier.coefficients.clear();
      for (const auto& [other, value] : merged) {
        earlier.others.push_back(other);
        earlier.coefficients.push_back(value);
      }
    }
    used_by.erase(eliminated);
    for (std::int32_t other : d.others) used_by[other].push_back(eliminated);
    dependent.emplace(eliminated, std::move(d));
  }
  for (auto& [equation, d] : dependent) plan.dependent.push_back(std::move(d));
  return plan;
}

ConstraintPlan PenaltyHandler::plan(const NumberedConstraints& constraints) const {
  hold_single_points(constraints);  // contradictions are errors here too
  ConstraintPlan plan;
  plan.held.assign(constraints.equation_count, 0);
  plan.value.assign(constraints.equation_count, 0.0);
  std::vector<std::uint8_t> seen(constraints.equation_count, 0);
  for (const auto& s : constraints.single) {
    if (seen[s.equation]++) continue;
    plan.springs.push_back({{s.equation}, {1.0}, s.value, true});
  }
  for (const auto& m : constraints.multi) plan.springs.push_back({m.equations, m.coefficients, m.constant, m.support});
  return plan;
}

}  // namespace voussoir
