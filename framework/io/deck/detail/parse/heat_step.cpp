#include <algorithm>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Steps of heat conduction, and of thermal stress.

namespace voussoir::deck {

void Parser::read_heat_transfer(Card& card) {
  card.refuse("FREQUENCY", "modes of heat conduction are not implemented");
  card.refuse("MODAL DYNAMIC", "transient heat conduction is integrated directly: omit it");
  if (!card.flag("STEADY STATE")) return read_transient_heat(card);
  card.ignore({"DELTMX", "END", "MXDEM", "STORAGE"});
  read_procedure(card, Procedure::steady_heat);
}

/// Temperatures first, and then the stress that they cause. Where displacements are small they do not change the
/// temperatures, so that steps that solve for both at once have the same solution.
void Parser::read_uncoupled(Card& card) {
  if (card.flag("EXPLICIT") || !card.verbatim("EXPLICIT").empty())
    card.fail_unsupported(ErrorCode::bad_input, card.name() + ", EXPLICIT is not supported: omit it");
  if (step().nlgeom)
    fail_unsupported(
        card.name() + " with NLGEOM, here or in a step before, is not supported: omit it for small displacements",
        step().place);
  if (card.name() == "*COUPLED TEMPERATURE-DISPLACEMENT")
    note(
        "*COUPLED TEMPERATURE-DISPLACEMENT is solved as *UNCOUPLED TEMPERATURE-DISPLACEMENT: small displacements do "
        "not "
        "change the temperatures",
        card.place());
  if (card.flag("STEADY STATE")) {
    card.ignore({"DELTMX"});
    read_procedure(card, Procedure::steady_heat);
  } else {
    read_transient_heat(card);
  }
  step().with_stress = true;
}

/// The parameters that steady steps have too are read.
void Parser::read_transient_heat(Card& card) {
  note_solver(card);
  card.refuse("TOTAL TIME AT START", "times begin at 0");
  card.refuse("TIME RESET", "the total time goes on from step to step");
  const std::string end = squeezed(card.verbatim("END"));
  if (!end.empty() && end != "PERIOD")
    card.fail_unsupported(ErrorCode::bad_input,
                          "*HEAT TRANSFER, END=SS is not supported: the step ends with its period; use *HEAT TRANSFER, "
                          "STEADY STATE for the final state");
  const bool limited = !card.verbatim("DELTMX").empty();
  const double change = card.number("DELTMX", 0);
  if (limited && !(change > 0)) card.fail(ErrorCode::bad_input, card.name() + ", DELTMX must be greater than 0");
  const std::string direct = squeezed(card.verbatim("DIRECT"));
  const bool fixed = card.flag("DIRECT") || (!direct.empty() && direct != "NO");
  if (limited && fixed) note("DELTMX is ignored where increments are fixed by DIRECT", card.place());
  card.ignore({"MXDEM", "STORAGE"});
  card.done();
  begin_procedure(card, Procedure::transient_heat);
  step().dynamic.times.largest_change = fixed ? 0 : change;
  read_increments(card, fixed, true);
}

void Parser::add_stress_step() {
  const auto of_heat = [](const std::string& quantity) {
    return quantity == "NT" || quantity == "RFL" || quantity == "HFL";
  };
  StepCard& heat = step();
  StepCard stress = heat;
  stress.with_stress = false;
  stress.stress_of_heat = true;
  stress.procedure = heat.procedure == Procedure::transient_heat ? Procedure::thermal_stress : Procedure::statics;
  stress.actions.clear();
  for (PrintCard& print : heat.prints)
    std::erase_if(print.request.quantities, [&](const std::string& q) { return !of_heat(q); });
  for (PrintCard& print : stress.prints) std::erase_if(print.request.quantities, of_heat);
  const auto is_empty = [](const PrintCard& print) { return print.request.quantities.empty(); };
  // Curves are recorded of the step of heat; that of stress has states at some times only.
  stress.histories.clear();
  for (HistoryCard& history : heat.histories) {
    const std::size_t before = history.request.of.quantities.size();
    std::erase_if(history.request.of.quantities, [&](const std::string& q) { return !of_heat(q); });
    if (history.request.of.quantities.size() < before)
      note(
          "histories of thermal stress are not recorded: *NODE PRINT and *EL PRINT have tables of the states of the "
          "step",
          history.place);
  }
  std::erase_if(heat.histories, [](const HistoryCard& history) { return history.request.of.quantities.empty(); });
  std::erase_if(heat.prints, is_empty);
  std::erase_if(stress.prints, is_empty);
  deck_.steps.push_back(std::move(stress));
}

}  // namespace voussoir::deck
