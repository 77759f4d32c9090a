#include <algorithm>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Steps of explicit dynamics: *DYNAMIC, EXPLICIT.

namespace voussoir::deck {

void Parser::read_explicit(Card& card) {
  card.refuse("RELATIVE TO ABSOLUTE", "coordinates are those of the deck");
  card.refuse("ADIABATIC", "deformation produces no heat here: omit it");
  card.refuse("FIXED TIME INCREMENTATION", "give DIRECT for increments of equal size");
  if (card.number("ALPHA", 0) != 0)
    note("*DYNAMIC, EXPLICIT: ALPHA is ignored, central differences have no numerical damping", card.place());
  // Both choose how the stable increment is estimated.
  card.ignore({"ELEMENT BY ELEMENT", "IMPROVED DT METHOD"});
  ExplicitMethod method;
  method.factor = card.number("SCALE FACTOR", method.factor);
  if (!(method.factor > 0 && method.factor <= 1))
    card.fail(ErrorCode::bad_input, "*DYNAMIC, SCALE FACTOR is greater than 0, up to 1");
  const std::string direct = squeezed(card.verbatim("DIRECT"));
  bool fixed = card.flag("DIRECT") || (!direct.empty() && direct != "NO");
  if (card.flag("DIRECT USER CONTROL")) fixed = true;
  card.done();
  begin_procedure(card, Procedure::dynamic);
  StepCard& current = step();
  current.dynamic.explicit_method = method;
  DynamicTimes& times = current.dynamic.times;
  times.automatic = !fixed;
  times.increment = 0;
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first) fail("*DYNAMIC has one data line: increment, period, shortest and longest increment");
    first = false;
    at_most(4, card, "increment, period, shortest increment, longest increment");
    const double increment = real_or(field(0), 0, "increment");
    current.period = real_or(field(1), 1, "period");
    times.shortest = real_or(field(2), 0, "shortest increment");
    times.longest = real_or(field(3), 0, "longest increment");
    if (!(current.period > 0)) fail("the period " + in_quotes(field(1)) + " must be positive");
    if (increment < 0 || times.shortest < 0 || times.longest < 0) fail("increments must not be negative");
    if (times.longest > 0 && times.longest < times.shortest)
      fail("the longest increment is shorter than the shortest one");
    if (increment > current.period * (1 + 1e-9))
      fail("the increment " + in_quotes(field(0)) + " is longer than the period " + in_quotes(field(1)));
    if (fixed && increment == 0) fail("*DYNAMIC, EXPLICIT, DIRECT needs an increment: increment, period");
    if (fixed)
      times.increment = increment;
    else if (increment > 0)
      note(
          "*DYNAMIC, EXPLICIT: the initial increment is ignored, increments follow from the stability limit; give "
          "DIRECT "
          "to prescribe them, or the longest one as the fourth number",
          card.place());
  }
  if (first) card.fail(ErrorCode::bad_input, "*DYNAMIC, EXPLICIT needs a data line: increment or nothing, period");
}

void Parser::read_bulk_viscosity(Card& card) {
  DynamicCard& dynamic = step().dynamic;
  if (!dynamic.explicit_method)
    card.fail(ErrorCode::bad_input, "*BULK VISCOSITY belongs behind *DYNAMIC, EXPLICIT in its step");
  if (dynamic.has_bulk_viscosity)
    card.fail(ErrorCode::bad_input, "the step has *BULK VISCOSITY already; give it once, for all elements");
  card.done();
  dynamic.has_bulk_viscosity = true;
  ExplicitMethod& method = *dynamic.explicit_method;
  method.linear_viscosity = BulkViscosityDefaults::linear;
  method.quadratic_viscosity = BulkViscosityDefaults::quadratic;
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first) fail("*BULK VISCOSITY has one data line: linear and quadratic coefficient");
    first = false;
    at_most(2, card, "linear coefficient, quadratic coefficient");
    method.linear_viscosity = real_or(field(0), method.linear_viscosity, "linear coefficient");
    method.quadratic_viscosity = real_or(field(1), method.quadratic_viscosity, "quadratic coefficient");
    if (method.linear_viscosity < 0 || method.quadratic_viscosity < 0)
      fail("the coefficients of *BULK VISCOSITY must not be negative; 0 switches a term off");
  }
}

void Parser::read_fixed_mass_scaling(Card& card) {
  if (!step().dynamic.explicit_method)
    card.fail(ErrorCode::bad_input, "*FIXED MASS SCALING belongs behind *DYNAMIC, EXPLICIT in its step");
  if (step().dynamic.explicit_method->scaled_step > 0)
    card.fail(ErrorCode::bad_input, "the step has *FIXED MASS SCALING already; give it once, for all elements");
  for (const std::string_view other : {"FACTOR", "ELSET"})
    card.refuse(other, "mass is scaled by DT= for all elements whose stable increment is shorter");
  const std::string type = squeezed(card.value("TYPE"));
  if (type != "BELOWMIN")
    card.fail_unsupported(
        ErrorCode::bad_input,
        "*FIXED MASS SCALING is supported with TYPE=BELOW MIN: mass is added to elements whose stable "
        "increment is shorter than DT");
  ExplicitMethod& method = *step().dynamic.explicit_method;
  method.scaled_step = card.number("DT", 0);
  if (!(method.scaled_step > 0))
    card.fail(ErrorCode::bad_input,
              "*FIXED MASS SCALING needs an increment: *FIXED MASS SCALING, TYPE=BELOW MIN, DT=1e-6");
  method.most_added_mass = card.number("MOST ADDED", method.most_added_mass);
  if (!(method.most_added_mass >= 0))
    card.fail(ErrorCode::bad_input,
              "*FIXED MASS SCALING, MOST ADDED is the share of the mass that may be added: 0.1 for 10 %");
  card.done();
}

}  // namespace voussoir::deck
