#include <voussoir/framework/model/constraint_handler.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/model/detail/equation_elimination.hpp>

namespace voussoir {
namespace {

bool differ(double a, double b) { return std::abs(a - b) > 1e-12 * std::max({std::abs(a), std::abs(b), 1e-300}); }

ConstraintPlan hold_single_points(const NumberedConstraints& constraints) {
  ConstraintPlan plan;
  plan.prescribed.assign(constraints.equation_count, 0);
  plan.value.assign(constraints.equation_count, 0.0);
  for (const auto& s : constraints.single) {
    if (plan.prescribed[s.equation] && differ(plan.value[s.equation], s.value))
      throw Error(ErrorCode::bad_input,
                  "prescribed twice with different values, " + short_number(plan.value[s.equation], 6) + " and " +
                      short_number(s.value, 6) + "; keep one",
                  constraints.label(s.equation));
    plan.prescribed[s.equation] = 1;
    plan.value[s.equation] = s.value;
  }
  return plan;
}

}  // namespace

ConstraintPlan EliminationHandler::plan(const NumberedConstraints& constraints) const {
  if (!constraints.multi.empty())
    throw Error(ErrorCode::bad_input,
                "the elimination handler does not support multi-point equations; use the transformation handler",
                constraints.multi.front().label);
  return hold_single_points(constraints);
}

ConstraintPlan TransformationHandler::plan(const NumberedConstraints& constraints) const {
  ConstraintPlan plan = hold_single_points(constraints);
  if (constraints.multi.empty()) return plan;
  detail::EliminatedEquations eliminated = detail::eliminate_equations(constraints, plan.prescribed, plan.value);
  plan.dependent = std::move(eliminated.dependent);
  plan.notes = std::move(eliminated.notes);
  return plan;
}

ConstraintPlan PenaltyHandler::plan(const NumberedConstraints& constraints) const {
  TransformationHandler().plan(constraints);  // contradictions are errors here too; what is redundant does no harm
  ConstraintPlan plan;
  plan.prescribed.assign(constraints.equation_count, 0);
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
