#include <algorithm>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Steps, their procedures, and what they print.

namespace voussoir::deck {

namespace {
constexpr std::size_t most_prints = 1'000'000;

/// NLGEOM acts in the steps that follow, too.
bool reads_nlgeom(Card& card, bool before) {
  const bool here = card.flag("NLGEOM");
  if (before && !here && !card.verbatim("NLGEOM").empty())
    card.fail_unsupported(ErrorCode::bad_input,
                          "NLGEOM=NO after a step with NLGEOM is not supported: put the step into a deck of its own");
  return here || before;
}

}  // namespace

void Parser::read_step(Card& card) {
  if (in_step_)
    card.fail(ErrorCode::bad_input,
              "*STEP within the step that begins at " + deck_.where(step().place) + ": end that with *END STEP first");
  if (scope_ != Scope::none)
    card.fail(ErrorCode::bad_input, "*STEP within the card at " + deck_.where(scope_place_) +
                                        ": end that first (*END PART, *END INSTANCE, *END ASSEMBLY)");
  StepCard next;
  next.place = card.place();
  next.nlgeom = reads_nlgeom(card, !deck_.steps.empty() && deck_.steps.back().nlgeom);
  next.perturbation = card.flag("PERTURBATION");
  const std::string name = card.value("NAME");
  const std::string amplitude = card.choice("AMPLITUDE", {"", "RAMP", "STEP"});
  next.ramp = amplitude == "RAMP";  // the end of a linear step is the same for both
  if (amplitude == "STEP" && (next.nlgeom || has_plastic_section()))
    card.fail_unsupported(
        ErrorCode::bad_input,
        "*STEP, AMPLITUDE=STEP with NLGEOM or *PLASTIC is not supported: give the loads an *AMPLITUDE");
  if (const std::string most = card.value("INC"); !most.empty())
    next.dynamic.times.most_increments = static_cast<int>(std::min<Id>(number_of(most, "INC"), 1'000'000'000));
  card.ignore({"INCF", "EXTRAPOLATION", "UNSYMM", "CONVERT SDI", "SOLVER", "THERMAL NETWORK"});
  card.refuse("TURBULENCE MODEL", "fluids are not implemented");
  card.done();
  while (const auto line = lines_.data()) {
    if (!next.title.empty()) next.title += ' ';
    next.title += *line;
  }
  if (!name.empty()) next.title = next.title.empty() ? name : name + ": " + next.title;
  // What is printed lasts until it is asked for anew.
  if (!deck_.steps.empty()) {
    prints_ += step().prints.size();
    if (prints_ > most_prints)
      card.fail(ErrorCode::bad_input, "the steps of the deck request more than " + std::to_string(most_prints) +
                                          " tables in total; requests remain active in later steps: use *NODE PRINT, "
                                          "FREQUENCY=0 and *EL PRINT, FREQUENCY=0 to end them");
    next.prints = step().prints;
    if (step().stress_of_heat) {
      const auto& heat = deck_.steps[deck_.steps.size() - 2].prints;
      next.prints.insert(next.prints.begin(), heat.begin(), heat.end());
    }
    next.histories = deck_.steps[deck_.steps.size() - (step().stress_of_heat ? 2 : 1)].histories;
  }
  deck_.steps.push_back(std::move(next));
  in_step_ = true;
  prints_nodes_ = prints_elements_ = histories_begun_ = false;
  history_.reset();
}

void Parser::read_end_step(Card& card) {
  card.done();
  if (!in_step_) card.fail(ErrorCode::bad_input, "*END STEP without *STEP before it");
  in_step_ = false;
  if (step().no_analysis) {
    // What acts in it goes on in later steps, as what stands before the first step does.
    StepCard unsolved = std::move(step());
    deck_.steps.pop_back();
    if (unsolved.actions.empty()) return;
    if (!deck_.steps.empty() || !noted_.insert("loads of *NO ANALYSIS").second)
      fail("*NO ANALYSIS with loads or supports is supported only in the first step: remove the step", unsolved.place);
    for (Action& action : unsolved.actions) deck_.actions.push_back(std::move(action));
    return;
  }
  if (!step().procedure)
    fail(
        "this step has no procedure: give *STATIC, *HEAT TRANSFER, *UNCOUPLED TEMPERATURE-DISPLACEMENT, *DYNAMIC, "
        "*FREQUENCY, *MODAL DYNAMIC or *STEADY STATE DYNAMICS",
        step().place);
  if (step().with_stress) add_stress_step();
  step().restart = restart_write_;
  leave_kept_steps();
}

void Parser::begin_procedure(const Card& card, Procedure procedure) {
  StepCard& current = step();
  if (current.procedure)
    card.fail(ErrorCode::bad_input,
              card.name() + ": the step has a procedure already, at " + deck_.where(current.procedure_place));
  const bool takes_large =
      is_heat(procedure) || procedure == Procedure::nonlinear_statics || procedure == Procedure::dynamic;
  if (current.nlgeom && !takes_large)
    fail_unsupported(card.name() + " with NLGEOM, here or in a step before, is not supported: *STATIC and *DYNAMIC are",
                     current.place);
  current.procedure = procedure;
  current.procedure_place = card.place();
}

void Parser::note_solver(Card& card) {
  if (!card.value("SOLVER").empty())
    note(card.name() + ", SOLVER is ignored: the solver is chosen when the job is run", card.place());
}

void Parser::read_procedure(Card& card, Procedure procedure) {
  note_solver(card);
  card.ignore({"DIRECT", "STABILIZE", "ALLSDTOL", "CONTINUE", "FULLY PLASTIC", "LONG TERM"});
  card.refuse("TOTAL TIME AT START", "times begin at 0");
  StepCard& current = step();
  const bool time_reset = card.flag("TIME RESET");
  card.done();
  begin_procedure(card, procedure);
  current.time_reset = time_reset;
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first) fail(card.name() + " has one data line: increment, period");
    first = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, fields_.size()); ++i) real_or(field(i), 0, "time");
    const double period = real_or(field(1), 1, "period");
    if (period < 0) fail("the period " + in_quotes(field(1)) + " of a step is negative");
    current.period = period > 0 ? period : 1;
  }
}

void Parser::read_static(Card& card) {
  card.refuse("RIKS", "arc-length methods are not implemented");
  if (!step().nlgeom && !has_plastic_section()) return read_procedure(card, Procedure::statics);
  note_solver(card);
  card.refuse("STABILIZE", "increments are not stabilised");
  card.refuse("TOTAL TIME AT START", "times begin at 0");
  card.ignore({"ALLSDTOL", "CONTINUE", "FULLY PLASTIC", "LONG TERM"});
  const std::string direct = squeezed(card.verbatim("DIRECT"));
  const bool fixed = card.flag("DIRECT") || (!direct.empty() && direct != "NO");
  const bool time_reset = card.flag("TIME RESET");
  card.done();
  begin_procedure(card, Procedure::nonlinear_statics);
  step().time_reset = time_reset;
  read_increments(card, fixed, false);
}

/// Abaqus and CalculiX only check a deck that has such a step.
void Parser::read_no_analysis(Card& card) {
  card.done();
  skip_data();
  step().no_analysis = true;
  note("*NO ANALYSIS: this step is read and not solved", card.place());
}

namespace {

struct Quantity {
  std::string_view name;
  bool at_nodes;
};
// What CalculiX's names mean and can be given here.
constexpr Quantity quantities[] = {
    {"U", true},    {"V", true},     {"RF", true},    {"NT", true},    {"RFL", true}, {"S", false},     {"E", false},
    {"HFL", false}, {"ENER", false}, {"EVOL", false}, {"ELSE", false}, {"SF", false}, {"COORD", false}, {"PEEQ", false},
};

}  // namespace

/// FREQUENCY=N: every N states are written.
int Parser::states_between(const Card& card, double every) const {
  if (!(every >= 0 && every <= 1e9 && every == static_cast<int>(every)))
    card.fail(ErrorCode::bad_input, card.name() + ", FREQUENCY is a whole number of increments");
  return std::max(1, static_cast<int>(every));
}

void Parser::read_print(Card& card, PrintRequest::At at) {
  const bool nodes = at == PrintRequest::At::nodes;
  PrintCard print;
  print.place = card.place();
  print.request.at = at;
  print.request.where = deck_.where(card.place());
  print.request.set = card.value(nodes ? "NSET" : "ELSET");
  const std::string totals = card.choice("TOTALS", {"NO", "YES", "ONLY"}, 2);
  if (totals == "YES") print.request.totals = PrintRequest::Totals::also;
  if (totals == "ONLY") print.request.totals = PrintRequest::Totals::only;
  // Tables are in the axes of the node or the element unless they are asked for in global ones.
  print.request.local = !card.flag("GLOBAL");
  print.request.every_given = !card.value("FREQUENCY").empty();
  const double every = card.number("FREQUENCY", 1);
  const bool silent = every == 0 || card.number("FREQUENCYF", 1) == 0;
  print.request.every = states_between(card, every);
  print.time_points = card.value("TIME POINTS");
  card.ignore({"SUMMARY", "POSITION", "OUTPUT", "LAST ITERATIONS", "CONTACT ELEMENTS", "ELEMENTS", "SECTION FORCES",
               "REBAR", "MODE", "LAST MODE"});
  card.done();
  if (!print.request.set.empty()) {
    print.request.set = scoped(print.request.set);
    refer(nodes ? Kind::node_set : Kind::element_set, print.request.set, card.place());
  }
  // The first request of a step replaces those of the steps before.
  bool& begun = nodes ? prints_nodes_ : prints_elements_;
  if (!begun) std::erase_if(step().prints, [&](const PrintCard& old) { return old.request.at == at; });
  begun = true;
  while (next_fields())
    for (const std::string_view text : fields_) {
      if (text.empty()) continue;
      const std::string name = squeezed(text);
      const bool known = std::any_of(std::begin(quantities), std::end(quantities), [&](const Quantity& quantity) {
        return quantity.name == name && quantity.at_nodes == nodes;
      });
      const auto& listed = print.request.quantities;
      if (known && std::find(listed.begin(), listed.end(), name) != listed.end())
        note(card.name() + " names " + in_quotes(name) + " more than once; it is printed once", lines_.place());
      else if (known)
        print.request.quantities.push_back(name);
      else
        note(card.name() + ": " + in_quotes(name) + " is not printed; there " +
                 (nodes ? "are U, V, RF, NT, RFL" : "are S, E, PEEQ, HFL, ENER, EVOL, ELSE, SF, COORD"),
             lines_.place());
    }
  if (!silent && !print.request.quantities.empty()) step().prints.push_back(std::move(print));
}

void Parser::read_node_print(Card& card) { read_print(card, PrintRequest::At::nodes); }
void Parser::read_element_print(Card& card) { read_print(card, PrintRequest::At::elements); }

// Result files hold everything that is known, whatever is asked for; of steps with many states they hold some.
void Parser::read_file_request(Card& card) {
  FileCard file;
  file.place = card.place();
  if (const double every = card.number("FREQUENCY", 0); every != 0) file.every = states_between(card, every);
  file.time_points = card.value("TIME POINTS");
  if (file.every || !file.time_points.empty()) step().files.push_back(std::move(file));
  skip_data();
}

/// *OUTPUT, FIELD selects states; *OUTPUT, HISTORY has the times of the curves that the next cards ask for.
void Parser::read_output(Card& card) {
  const bool field = card.flag("FIELD"), history = card.flag("HISTORY");
  const bool adds = card.choice("OP", {"NEW", "ADD", "REPLACE"}) == "ADD";
  FileCard file;
  file.place = card.place();
  if (const double every = card.number("FREQUENCY", 0); every != 0) file.every = states_between(card, every);
  file.time_points = card.value("TIME POINTS");
  file.interval = card.number("TIME INTERVAL", 0);
  if (!(file.interval >= 0 && file.interval < 1e300))
    card.fail(ErrorCode::bad_input, "*OUTPUT, TIME INTERVAL is a time that is not negative");
  if (const double number = card.number("NUMBER INTERVAL", 0); number != 0) file.number = states_between(card, number);
  const bool chooses = file.every || !file.time_points.empty() || file.interval > 0 || file.number > 0;
  history_.reset();
  if (history && in_step_) {
    if (!histories_begun_ && !adds) step().histories.clear();
    histories_begun_ = true;
    history_ = file;
  }
  if (field && in_step_ && chooses) step().files.push_back(std::move(file));
  skip_data();
}

}  // namespace voussoir::deck
