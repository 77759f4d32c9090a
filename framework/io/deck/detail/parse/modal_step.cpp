#include <algorithm>
#include <cmath>

#include <voussoir/framework/io/deck/detail/parse/parser.hpp>

// Steps of natural modes and of mode superposition.

namespace voussoir::deck {
namespace {

constexpr std::string_view no_cyclic_symmetry = "cyclic symmetry is not implemented; model the whole body";
constexpr double most_modes = 100'000, most_points = 1'000'000;

}  // namespace

void Parser::read_frequency(Card& card) {
  if (squeezed(card.value("SOLVER")) == "MATRIXSTORAGE")
    card.fail_unsupported(ErrorCode::bad_input,
                          "*FREQUENCY, SOLVER=MATRIXSTORAGE is not supported: matrices are not written");
  note_solver(card);
  // Modes are there for later steps whether they are stored or not; EIGENSOLVER and what belongs to it is Abaqus's.
  card.ignore({"STORAGE", "GLOBAL", "CYCMPC", "EIGENSOLVER", "SIM", "PROPERTY EVALUATION", "USER", "NSET"});
  if (!card.value("NORMALIZATION").empty())
    note("*FREQUENCY, NORMALIZATION is ignored: shapes are M-orthonormal, and tables have both modal masses",
         card.place());
  card.refuse("ACOUSTIC COUPLING", "acoustics are not implemented");
  card.refuse("DAMPING PROJECTION", "modes are undamped");
  card.refuse("RESIDUAL MODES", "the static correction of mode superposition takes their place");
  card.done();
  begin_procedure(card, Procedure::frequency);
  StepCard& current = step();
  current.period = 0;
  FrequencyStep& frequency = current.modal.frequency;
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first) fail("*FREQUENCY has one data line: number of modes, lower frequency, upper frequency");
    first = false;
    if (!field(0).empty()) {
      const Id modes = number_of(field(0), "number of modes");
      if (static_cast<double>(modes) > most_modes) fail("more than 100000 modes are not supported");
      frequency.modes = static_cast<int>(modes);
    }
    frequency.from = real_or(field(1), 0, "lower frequency");
    frequency.below = real_or(field(2), frequency.below, "upper frequency");
    if (frequency.from < 0) fail("the lower frequency " + in_quotes(field(1)) + " is negative");
    if (!(frequency.below > frequency.from))
      fail("the upper frequency " + in_quotes(field(2)) + " must be above the lower one");
    if (real_or(field(3), 0, "shift point") != 0) note("*FREQUENCY: the shift point is ignored", lines_.place());
  }
  if (frequency.modes == 0 && std::isinf(frequency.below))
    card.fail(ErrorCode::bad_input, "*FREQUENCY needs a data line: number of modes, lower frequency, upper frequency");
}

void Parser::read_modal_dynamic(Card& card) {
  note_solver(card);
  if (card.flag("STEADY STATE"))
    card.fail_unsupported(ErrorCode::bad_input,
                          "*MODAL DYNAMIC, STEADY STATE is not supported: give a period in which the motion decays, or "
                          "*STEADY STATE DYNAMICS for harmonic loads");
  card.refuse("CYCLIC SYMMETRY", no_cyclic_symmetry);
  if (!card.verbatim("CONTINUE").empty() || card.flag("CONTINUE"))
    card.fail_unsupported(
        ErrorCode::bad_input,
        "*MODAL DYNAMIC, CONTINUE is not supported: a step continues the one before if that is *MODAL "
        "DYNAMIC too, and begins at rest behind a *FREQUENCY step");
  const bool automatic = squeezed(card.verbatim("DIRECT")) == "NO";
  card.ignore({"DIRECT", "DELTMX", "NSET"});
  card.done();
  begin_procedure(card, Procedure::modal_dynamic);
  if (automatic)
    note("*MODAL DYNAMIC, DIRECT=NO is ignored: modes are integrated exactly, and the increment is that of the output",
         card.place());
  StepCard& current = step();
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first) fail("*MODAL DYNAMIC has one data line: increment, period");
    first = false;
    current.modal.increment = real_or(field(0), 1, "increment");
    current.period = real_or(field(1), 1, "period");
    for (std::size_t i = 2; i < std::min<std::size_t>(4, fields_.size()); ++i) real_or(field(i), 0, "increment");
    if (!(current.modal.increment > 0)) fail("the increment " + in_quotes(field(0)) + " must be positive");
    if (!(current.period > 0)) fail("the period " + in_quotes(field(1)) + " must be positive");
    if (current.period / current.modal.increment > most_points)
      fail("the step would have more than a million increments; make the increment longer");
  }
  if (first) card.fail(ErrorCode::bad_input, "*MODAL DYNAMIC needs a data line: increment, period");
}

void Parser::read_steady_state_dynamics(Card& card) {
  note_solver(card);
  if (squeezed(card.verbatim("HARMONIC")) == "NO")
    card.fail_unsupported(ErrorCode::bad_input,
                          "*STEADY STATE DYNAMICS, HARMONIC=NO is not supported: give the harmonics of the load one by "
                          "one, or *MODAL DYNAMIC over several periods");
  card.refuse("CYCLIC SYMMETRY", no_cyclic_symmetry);
  for (const std::string_view other : {"DIRECT", "SUBSPACE PROJECTION", "FRICTION DAMPING"})
    card.refuse(other, "the response is a superposition of the modes of a *FREQUENCY step");
  const std::string interval = card.choice("INTERVAL", {"EIGENFREQUENCY", "SPREAD", "RANGE"}, 4);
  if (interval != "EIGENFREQUENCY")
    card.fail_unsupported(ErrorCode::bad_input, "*STEADY STATE DYNAMICS, INTERVAL=" + interval +
                                                    " is not supported: there is EIGENFREQUENCY, with points between "
                                                    "natural frequencies");
  if (card.choice("FREQUENCY SCALE", {"LINEAR", "LOGARITHMIC"}, 3) != "LINEAR")
    card.fail_unsupported(ErrorCode::bad_input,
                          "*STEADY STATE DYNAMICS, FREQUENCY SCALE=LOGARITHMIC is not supported: give LINEAR");
  card.ignore({"NSET"});
  card.done();
  begin_procedure(card, Procedure::harmonic);
  StepCard& current = step();
  current.period = 0;
  bool first = true;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!first)
      fail_unsupported(
          "*STEADY STATE DYNAMICS has one data line here: lower frequency, upper frequency, number of points, bias");
    first = false;
    ModalCard& modal = current.modal;
    modal.lowest = real(field(0), "lower frequency");
    modal.highest = real(field(1), "upper frequency");
    const double points = real_or(field(2), 20, "number of points");
    modal.bias = real_or(field(3), 3, "bias");
    if (modal.lowest < 0 || !(modal.highest > modal.lowest))
      fail("the frequencies of *STEADY STATE DYNAMICS must rise from zero or more: lower, upper");
    if (!(points >= 2 && points <= most_points && points == std::floor(points)))
      fail("the number of points " + in_quotes(field(2)) + " must be a whole number from 2 on");
    if (!(modal.bias >= 1)) fail("the bias " + in_quotes(field(3)) + " must be 1 or more");
    modal.points = static_cast<std::size_t>(points);
  }
  if (first)
    card.fail(ErrorCode::bad_input,
              "*STEADY STATE DYNAMICS needs a data line: lower frequency, upper frequency, number of points, bias");
}

void Parser::read_modal_damping(Card& card) {
  const bool rayleigh = card.flag("RAYLEIGH");
  card.choice("MODAL", {"DIRECT"});
  card.choice("DEFINITION", {"MODE NUMBERS"});
  card.refuse("STRUCTURAL", "damping is a ratio to critical damping, or Rayleigh's");
  card.refuse("VISCOUS", "damping is a ratio to critical damping, or Rayleigh's");
  card.done();
  StepCard& current = step();
  if (!current.modal.damping) current.modal.damping.emplace();
  StepDamping& damping = *current.modal.damping;
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (rayleigh) {
      at_most(4, card, "(empty), (empty), alpha, beta");
      if (!field(0).empty() || !field(1).empty())
        fail_unsupported("*MODAL DAMPING, RAYLEIGH acts on all modes: leave the first two fields empty");
      damping.alpha = real_or(field(2), 0, "alpha");
      damping.beta = real_or(field(3), 0, "beta");
      if (damping.alpha < 0 || damping.beta < 0) fail("alpha and beta must not be negative");
      continue;
    }
    at_most(3, card, "first mode, last mode, ratio to critical damping");
    StepDamping::Ratio ratio;
    const Id first = number_of(field(0), "first mode");
    const Id last = field(1).empty() ? first : number_of(field(1), "last mode");
    if (last < first) fail("modes " + in_quotes(field(0)) + " to " + in_quotes(field(1)) + " are not a range");
    if (static_cast<double>(last) > 1e9) fail("mode " + in_quotes(field(1)) + " is too large");
    ratio.first = static_cast<int>(first);
    ratio.last = static_cast<int>(last);
    ratio.ratio = real(field(2), "damping ratio");
    if (ratio.ratio < 0) fail("the damping ratio " + in_quotes(field(2)) + " must not be negative");
    ratio.where = deck_.where(lines_.place());
    damping.ratios.push_back(ratio);
  }
}

void Parser::read_base_motion(Card& card) {
  BaseMotionCard motion;
  motion.place = card.place();
  const double dof = card.number("DOF", 0);
  if (dof == 0) card.fail(ErrorCode::bad_input, "*BASE MOTION needs the parameter DOF=: 1, 2 or 3");
  if (dof != 1 && dof != 2 && dof != 3)
    card.fail_unsupported(ErrorCode::bad_input,
                          "*BASE MOTION, DOF: 1, 2 and 3 are supported, the translations along x, y and z");
  motion.dof = static_cast<int>(dof);
  motion.amplitude = card.required("AMPLITUDE", "*BASE MOTION, DOF=1, AMPLITUDE=QUAKE");
  refer(Kind::amplitude, motion.amplitude, card.place());
  motion.displacement = card.choice("TYPE", {"ACCELERATION", "DISPLACEMENT"}, 4) == "DISPLACEMENT";
  motion.scale = card.number("SCALE", 1);
  const double part = card.number("LOAD CASE", 1);
  if (part != 1 && part != 2)
    card.fail(ErrorCode::bad_input, "*BASE MOTION, LOAD CASE is 1 (real part) or 2 (imaginary part)");
  motion.imaginary = part == 2;
  card.refuse("BASE NAME", "all supports move together");
  card.done();
  step().modal.base.push_back(std::move(motion));
}

void Parser::read_time_points(Card& card) {
  const std::string name = card.required("NAME", "*TIME POINTS, NAME=T1");
  TimePointsCard points;
  points.place = card.place();
  points.total_time = card.choice("TIME", {"STEP TIME", "TOTAL TIME"}) == "TOTAL TIME";
  const bool generate = card.flag("GENERATE");
  card.done();
  while (next_fields()) {
    if (fields_.empty()) continue;
    if (!generate) {
      for (const std::string_view text : fields_)
        if (!text.empty()) points.times.push_back(real(text, "time"));
      continue;
    }
    at_most(3, card, "first time, last time, increment");
    const double first = real(field(0), "first time"), last = real(field(1), "last time"),
                 increment = real(field(2), "increment");
    if (!(increment > 0) || !(last >= first) || (last - first) / increment > most_points)
      fail("*TIME POINTS, GENERATE: first time, last time, increment must give between one and a million times");
    for (int k = 0; first + k * increment <= last + 1e-9 * increment; ++k)
      points.times.push_back(first + k * increment);
  }
  std::sort(points.times.begin(), points.times.end());
  points.times.erase(std::unique(points.times.begin(), points.times.end()), points.times.end());
  deck_.time_points[name] = std::move(points);
}

}  // namespace voussoir::deck
