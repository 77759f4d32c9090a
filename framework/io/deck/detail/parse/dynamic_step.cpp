#include <algorithm>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Steps of direct integration.

namespace voussoir::deck {

void Parser::read_dynamic(Card& card) {
  note_solver(card);
  if (card.flag("EXPLICIT")) return read_explicit(card);
  card.refuse("RELATIVE TO ABSOLUTE", "coordinates are those of the deck");
  for (const std::string_view other : {"HAFTOL", "HALFINC SCALE FACTOR", "SINGULAR MASS", "SUBSPACE", "APPLICATION",
                                       "IMPACT", "INITIAL", "NOHAF", "TIME INTEGRATOR"})
    card.refuse(other, "there are ALPHA and DIRECT");
  card.refuse("ADIABATIC", "deformation produces no heat here: omit it");
  const double alpha = card.number("ALPHA", -0.05);
  if (!(alpha >= -1.0 / 3 - 1e-6 && alpha <= 0))
    card.fail(ErrorCode::bad_input, "*DYNAMIC, ALPHA is from -1/3, most numerical damping, to 0, none");
  const std::string direct = squeezed(card.verbatim("DIRECT"));
  const bool fixed = card.flag("DIRECT") || (!direct.empty() && direct != "NO");
  card.done();
  begin_procedure(card, Procedure::dynamic);
  StepCard& current = step();
  current.dynamic.alpha = std::max(alpha, -1.0 / 3);
  read_increments(card, fixed, true);
}

void Parser::keep_states_of_statics() {
  for (std::size_t i = 1; i < deck_.steps.size(); ++i) {
    const StepCard& next = deck_.steps[i];
    StepCard& before = deck_.steps[i - 1];
    if (next.procedure != Procedure::dynamic || before.procedure != Procedure::statics || before.perturbation ||
        before.stress_of_heat)
      continue;
    before.procedure = Procedure::nonlinear_statics;
    before.dynamic.times.automatic = false;
    before.dynamic.times.increment = before.period;
  }
}

void Parser::read_increments(Card& card, bool fixed, bool needed) {
  StepCard& current = step();
  DynamicTimes& times = current.dynamic.times;
  times.automatic = !fixed;
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first) fail(card.name() + " has one data line: increment, period, shortest and longest increment");
    first = false;
    at_most(4, card, "increment, period, shortest increment, longest increment");
    times.increment = real_or(field(0), 1, "increment");
    current.period = real_or(field(1), 1, "period");
    times.shortest = real_or(field(2), 0, "shortest increment");
    times.longest = real_or(field(3), 0, "longest increment");
    if (!(times.increment > 0)) fail("the increment " + in_quotes(field(0)) + " must be positive");
    if (!(current.period > 0)) fail("the period " + in_quotes(field(1)) + " must be positive");
    if (times.shortest < 0 || times.longest < 0) fail("the shortest and the longest increment must not be negative");
    if (times.increment > current.period * (1 + 1e-9))
      fail("the increment " + in_quotes(field(0)) + " is longer than the period " + in_quotes(field(1)));
    if (current.period / times.increment > 1e7)
      fail("the step would have more than ten million increments; make the increment longer");
  }
  if (first && needed) card.fail(ErrorCode::bad_input, card.name() + " needs a data line: increment, period");
  if (first) times.increment = current.period;
  if (fixed || times.shortest == 0 || times.shortest <= times.increment) {
    if (fixed || times.longest == 0 || times.longest >= times.increment) return;
    card.fail(ErrorCode::bad_input, card.name() + ": the first increment is longer than the longest one");
  }
  card.fail(ErrorCode::bad_input, card.name() + ": the first increment is shorter than the shortest one");
}

}  // namespace voussoir::deck
