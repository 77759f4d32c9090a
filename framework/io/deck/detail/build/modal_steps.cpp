#include <voussoir/framework/io/deck/detail/build/modal_steps.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>

namespace voussoir::deck {
namespace {

/// An amplitude over the time of a step from 0 on.
Amplitude over_step(const AmplitudeCard* card, double start) {
  if (!card) return {};
  if (!card->total_time || start == 0) return card->curve;
  std::vector<Amplitude::Point> points(card->curve.points().begin(), card->curve.points().end());
  for (Amplitude::Point& point : points) point.first -= start;
  return Amplitude(std::move(points));
}

bool moves(const Supports& supports) {
  return !supports.kept.empty() ||
         std::any_of(supports.values.begin(), supports.values.end(), [](const auto& p) { return p.value != 0; }) ||
         std::any_of(supports.oblique.begin(), supports.oblique.end(), [](const auto& o) { return o.value != 0; });
}

}  // namespace

void ModalStepMaker::note_initial_motions() const {
  const auto& steps = b_.deck.steps;
  if (std::any_of(steps.begin(), steps.end(), [](const auto& s) {
        return s.procedure == Procedure::modal_dynamic || s.procedure == Procedure::dynamic;
      }))
    return;
  for (const InitialMotionCard& card : b_.deck.initial_motions)
    if (!card.entries.empty())
      b_.note("*INITIAL CONDITIONS of displacements and velocities are used in *DYNAMIC and *MODAL DYNAMIC steps only",
              card.entries.front().place);
}

void ModalStepMaker::note_unused_cards() const {
  note_initial_motions();
  const auto& steps = b_.deck.steps;
  const bool others =
      std::any_of(steps.begin(), steps.end(), [](const auto& s) { return s.procedure != Procedure::dynamic; });
  for (const auto& [name, material] : b_.deck.materials)
    if (material.damping && others)
      b_.note(
          "*DAMPING acts in *DYNAMIC steps, and has no effect in static, heat and *FREQUENCY steps; modes are damped "
          "by "
          "*MODAL DAMPING",
          material.damping->place);
  for (const auto& [name, points] : b_.deck.time_points) {
    const auto is_used = [&, &name = name](const StepCard& step) {
      const auto refers = [&](const auto& card) { return card.time_points == name; };
      return std::any_of(step.prints.begin(), step.prints.end(), refers) ||
             std::any_of(step.files.begin(), step.files.end(), refers) ||
             std::any_of(step.histories.begin(), step.histories.end(), refers);
    };
    if (std::none_of(steps.begin(), steps.end(), is_used))
      b_.note("*TIME POINTS '" + name + "' are ignored: no card refers to them; give TIME POINTS=" + name +
                  " on *NODE PRINT, *EL PRINT, *NODE FILE, *EL FILE or *OUTPUT",
              points.place);
  }
}

void ModalStepMaker::make(JobStep& step, std::size_t index, const StepCard& card, Model& model, ActingState& state,
                          double start) {
  step_place_ = card.place;
  if (step.procedure != Procedure::dynamic && step.procedure != Procedure::nonlinear_statics) direct_.reset();
  if (!uses_modes(step.procedure)) {
    dynamic_.reset();
    if (step.procedure == Procedure::statics) {
      if (any_direct_ && step.supports && !step.supports->kept.empty())
        b_.fail("*BOUNDARY, FIXED after *DYNAMIC or *STATIC in increments is not supported: give the value",
                card.place);
      loaded_statics_ = state.is_loaded();
      deformed_ = deformed_ || loaded_statics_;
      ever_deformed_ = ever_deformed_ || loaded_statics_;
    }
    if (card.modal.damping || !card.modal.base.empty())
      b_.fail("*MODAL DAMPING and *BASE MOTION belong in *MODAL DYNAMIC and *STEADY STATE DYNAMICS steps", card.place);
    if (step.procedure == Procedure::nonlinear_statics) step.modal = increments(step, index, card, model, state, start);
    if (step.procedure == Procedure::dynamic) step.modal = direct(step, index, card, model, state, start);
    if (step.procedure == Procedure::transient_heat) step.modal = heat(step, card, model, state, start);
    if (step.procedure == Procedure::thermal_stress) step.modal = stress(step, card, model, state, start);
    if (is_heat(step.procedure)) last_heat_ = index;
    return;
  }
  if (step.procedure == Procedure::frequency) {
    deformed_ = false;
    step.modal = frequency(step, index, card, state);
  } else if (step.procedure == Procedure::modal_dynamic)
    step.modal = dynamic(step, index, card, model, state, start);
  else
    step.modal = harmonic(step, index, card, model, state);
}

void ModalStepMaker::refuse_changing_materials(const JobStep& step, const StepCard& card) const {
  for (const auto& [name, material] : b_.deck.materials)
    if (material.elastic && material.elastic->rows.size() > 1) {
      refuse_heated(step, card);
      b_.fail("material '" + name +
                  "' depends on the temperature, and modes are those of the initial temperatures: give these by "
                  "*INITIAL CONDITIONS, and remove the temperatures of steps before (*TEMPERATURE, OP=NEW)",
              card.procedure_place);
    }
}

void ModalStepMaker::refuse_damped_materials() const {
  for (const auto& [name, material] : b_.deck.materials) {
    if (!material.damping || (material.damping->alpha == 0 && material.damping->beta == 0)) continue;
    for (const Model& m : b_.models)
      for (std::size_t k = 0; k < m.domain->block_count(); ++k)
        if (const auto& used = m.domain->block(k).material(); used && used->name() == name)
          b_.fail("*DAMPING of the material '" + name + "' is not used in mode superposition, which begins at " +
                      b_.deck.where(step_place_) + ": remove it, and give *MODAL DAMPING, RAYLEIGH in that step",
                  material.damping->place);
  }
}

void ModalStepMaker::refuse_heated(const JobStep& step, const StepCard& card) const {
  if (!step.heated_by) return;
  b_.fail("the temperatures of the *HEAT TRANSFER step at " + b_.job.steps[*step.heated_by].where +
              " act in all later steps, and nothing removes them; put the steps of modes and of mode superposition "
              "before it, or into a deck of their own",
          card.procedure_place);
}

FrequencyStep ModalStepMaker::frequency(const JobStep& step, std::size_t index, const StepCard& card,
                                        const ActingState& state) {
  if (card.perturbation && (loaded_statics_ || any_direct_))
    b_.fail(
        "*STEP, PERTURBATION with *FREQUENCY takes the stress of the static step or *DYNAMIC step before into account, "
        "which is not "
        "implemented: omit PERTURBATION for the modes of the unloaded body",
        card.place);
  if (!state.temperatures.empty() || step.heated_by) refuse_changing_materials(step, card);
  if (card.modal.damping || !card.modal.base.empty())
    b_.fail("*MODAL DAMPING and *BASE MOTION belong in *MODAL DYNAMIC and *STEADY STATE DYNAMICS steps", card.place);
  if (step.supports && moves(*step.supports))
    b_.note("displacements prescribed by *BOUNDARY are held at zero in *FREQUENCY steps", card.procedure_place);
  frequency_ = index;
  frequency_supports_ = step.supports;
  dynamic_.reset();
  return card.modal.frequency;
}

std::size_t ModalStepMaker::modes_for(const JobStep& step, const StepCard& card, ActingState& state) const {
  const Place place = card.procedure_place;
  if (!frequency_)
    b_.fail("the step superposes modes, and there is no *FREQUENCY step before it; add one to this deck", place);
  if (step.supports != frequency_supports_)
    b_.fail(
        "the supports of this step are not those of the *FREQUENCY step whose modes it superposes; use the same "
        "*BOUNDARY cards, or *BASE MOTION for a motion of all supports",
        place);
  if (step.supports && moves(*step.supports))
    b_.fail(
        "prescribed displacements other than zero are not supported in steps of mode superposition: use *BASE "
        "MOTION if all supports move together",
        place);
  refuse_heated(step, card);
  if (!state.temperatures.empty())
    b_.fail(
        "temperatures of earlier steps are not supported in steps of mode superposition: remove them by "
        "*TEMPERATURE, OP=NEW in the *FREQUENCY step",
        place);
  if (!state.network_pressures.empty())
    b_.fail("loads like P1NP are not supported in steps of mode superposition: give the pressure by P1", place);
  if (card.ramp)
    b_.fail("*STEP, AMPLITUDE=RAMP is not supported in steps of mode superposition: give the loads an *AMPLITUDE",
            card.place);
  refuse_damped_materials();
  return *frequency_;
}

StepDamping ModalStepMaker::damping_for(const StepCard& card) {
  if (card.modal.damping) damping_ = *card.modal.damping;
  return damping_;
}

/// "loads of step 2", "loads of step 2, amplitude PULSE".
std::string ModalStepMaker::name_of_share(const StepTime::Share& share, const JobStep& step) const {
  std::string name = "loads of " + step.name;
  for (const auto& [amplitude, card] : b_.deck.amplitudes)
    if (&card == share.amplitude) name += ", amplitude " + amplitude;
  return share.imaginary ? name + ", imaginary part" : name;
}

std::vector<StepLoad> ModalStepMaker::loads_for(const JobStep& step, Model& model, ActingState& state, double start,
                                                bool harmonic, std::vector<bool>* plain) {
  std::vector<StepLoad> loads;
  for (Ledger* ledger : {&state.forces, &state.pressures, &state.surface_pressures}) ledger->acting();
  refuse_old_loads(state, harmonic, uses_modes(step.procedure));
  for (const auto& [share, place] : state.load_shares()) {
    if (share.imaginary && !harmonic)
      b_.fail("a load with LOAD CASE=2 of an earlier step still acts; remove it with OP=NEW", place);
    StepTime time;
    time.share = share;
    const std::string name = name_of_share(share, step);
    StepLoad load;
    load.load_case = loads_.make(model, name, state, time, false);
    if (load.load_case.empty()) continue;
    load.amplitude =
        harmonic ? (share.amplitude ? share.amplitude->curve : Amplitude()) : over_step(share.amplitude, start);
    if (share.imaginary) std::swap(load.real, load.imaginary);
    loads.push_back(std::move(load));
    if (plain) plain->push_back(!share.amplitude);
  }
  return loads;
}

/// The programs differ in what becomes of such loads, and CalculiX lets them end without a word. In steps of direct
/// integration they stay where the step before has left them, and amplitudes over the total time go on; what steps of
/// modes leave still follows its amplitude.
void ModalStepMaker::refuse_old_loads(const ActingState& state, bool harmonic, bool superposed) const {
  const auto check = [&](const auto& a) {
    if (a.value == 0 || a.step >= static_cast<std::int32_t>(b_.job.steps.size())) return;
    if ((a.amplitude && (superposed || !a.amplitude->total_time)) || harmonic ||
        (harmonic_ && a.step <= static_cast<std::int32_t>(*harmonic_)))
      b_.fail("this load of an earlier step still acts in " + b_.deck.where(step_place_) +
                  (a.amplitude ? ", with its AMPLITUDE" : "") +
                  "; programs differ in what that means: give it anew in that step, or remove it by OP=NEW",
              a.place);
  };
  for (const Ledger* ledger : {&state.forces, &state.pressures, &state.surface_pressures}) ledger->visit(check);
  for (const BodyActing& body : state.bodies) check(body);
}

const AmplitudeCard& ModalStepMaker::amplitude_of(const BaseMotionCard& motion) const {
  const auto found = b_.deck.amplitudes.find(motion.amplitude);
  if (found == b_.deck.amplitudes.end())
    b_.fail(ErrorCode::not_found,
            "there is no amplitude '" + motion.amplitude + "'" + suggestion_from(motion.amplitude, b_.deck.amplitudes),
            motion.place);
  return found->second;
}

std::vector<double> ModalStepMaker::times_of(const std::string& name, double start, double period, Place place) const {
  const auto found = b_.deck.time_points.find(name);
  if (found == b_.deck.time_points.end())
    b_.fail(ErrorCode::not_found,
            "there are no *TIME POINTS '" + name + "'" + suggestion_from(name, b_.deck.time_points), place);
  std::vector<double> times;
  for (const double time : found->second.times) {
    const double of_step = found->second.total_time ? time - start : time;
    if (of_step > 0 && of_step <= period * (1 + 1e-12)) times.push_back(of_step);
  }
  if (times.empty()) b_.fail("none of the *TIME POINTS '" + name + "' is in this step", place);
  return times;
}

void ModalStepMaker::set_initial_motion(std::vector<InitialMotion>& displacement, std::vector<InitialMotion>& velocity,
                                        const Model& model) const {
  for (const InitialMotionCard& card : b_.deck.initial_motions)
    for (const auto& entry : card.entries)
      for (const std::int32_t n : b_.nodes_of(entry.node, entry.place)) {
        if (b_.has_axes(n) && entry.dof <= 3)
          b_.fail("*INITIAL CONDITIONS of node " + b_.node_name(n) + ", which has a *TRANSFORM, are not supported",
                  entry.place);
        const Unknown unknown = b_.unknown(model, n, entry.dof);
        if (unknown.node < 0)
          b_.fail("node " + b_.node_name(n) + " has no degree of freedom " + std::to_string(entry.dof), entry.place);
        (card.velocity ? velocity : displacement)
            .push_back({unknown.node, unknown_name(Physics::structure, unknown.component), entry.value});
      }
}

ModalDynamicStep ModalStepMaker::dynamic(JobStep& step, std::size_t index, const StepCard& card, Model& model,
                                         ActingState& state, double start) {
  ModalDynamicStep request;
  request.modes_of = modes_for(step, card, state);
  if (dynamic_ && harmonic_ && *harmonic_ > *dynamic_)
    b_.fail(
        "*STEADY STATE DYNAMICS between two *MODAL DYNAMIC steps: put it behind them, or a *FREQUENCY step before this "
        "one, to begin at rest",
        card.procedure_place);
  for (std::size_t k = *frequency_ + 1; k < b_.job.steps.size(); ++k)
    if (const Procedure between = b_.job.steps[k].procedure;
        between == Procedure::dynamic || between == Procedure::nonlinear_statics)
      b_.fail(
          "the step at " + b_.job.steps[k].where +
              " stands between *FREQUENCY and this one: that *MODAL DYNAMIC begins with its state is not supported; "
              "put *FREQUENCY after it",
          card.procedure_place);
  if (deformed_)
    b_.fail(
        "a static step with loads stands between *FREQUENCY and this step: that *MODAL DYNAMIC begins with its "
        "displacements is not supported; put the static step before *FREQUENCY, or give the displacements by *INITIAL "
        "CONDITIONS, TYPE=DISPLACEMENT",
        card.procedure_place);
  if (dynamic_ && b_.options.dialect == Dialect::abaqus)
    b_.fail(
        "a *MODAL DYNAMIC step after another one begins at rest in Abaqus and continues it in CalculiX; here it would "
        "continue: use --dialect calculix, or put a *FREQUENCY step before it to begin at rest",
        card.procedure_place);
  request.continues = dynamic_;
  request.increment = card.modal.increment;
  request.period = card.period;
  request.start = start;
  const double increments = std::ceil(request.period / request.increment * (1 - 1e-9));
  if (const int most = card.dynamic.times.most_increments; most > 0 && increments > most)
    b_.fail("this step has " + short_number(increments, 12) + " increments, more than *STEP, INC=" +
                std::to_string(most) + " allows; raise INC, or use larger increments",
            card.procedure_place);
  request.damping = damping_for(card);
  request.loads = loads_for(step, model, state, start, false);
  for (const BaseMotionCard& motion : card.modal.base) {
    if (motion.displacement)
      b_.fail(
          "*BASE MOTION, TYPE=DISPLACEMENT is not supported in *MODAL DYNAMIC steps: its second derivative is "
          "impulses at the points of the amplitude; give the acceleration (TYPE=ACCELERATION)",
          motion.place);
    if (motion.imaginary) b_.fail("*BASE MOTION, LOAD CASE=2 belongs in *STEADY STATE DYNAMICS steps", motion.place);
    BaseMotion base;
    base.direction = motion.dof - 1;
    base.acceleration = over_step(&amplitude_of(motion), start);
    base.real = motion.scale;
    request.base.push_back(std::move(base));
  }
  // A *FREQUENCY step in between brings the structure to rest, as it does in CalculiX.
  if (!any_dynamic_) set_initial_motion(request.displacement, request.velocity, model);
  set_outputs(step, card, start, request.states);
  dynamic_ = index;
  any_dynamic_ = true;
  return request;
}

void ModalStepMaker::set_outputs(JobStep& step, const StepCard& card, double start, StateOutput& states) const {
  for (const FileCard& file : card.files) {
    if (file.every) states.every = *file.every;
    if (!file.time_points.empty()) states.times = times_of(file.time_points, start, card.period, file.place);
    if (file.interval > 0) states.interval = file.interval;
    if (file.number > 0) states.interval = card.period / file.number;
  }
  for (std::size_t i = 0; i < step.prints.size(); ++i) {
    const auto of = std::find_if(card.prints.begin(), card.prints.end(), [&](const PrintCard& print) {
      return print.request.where == step.prints[i].where && !print.time_points.empty();
    });
    if (of != card.prints.end()) step.prints[i].times = times_of(of->time_points, start, card.period, of->place);
  }
  for (HistoryRequest& history : step.histories)
    for (const HistoryCard& of : card.histories)
      if (of.request.of.where == history.of.where && !of.time_points.empty())
        history.states.times = times_of(of.time_points, start, card.period, of.place);
}

HarmonicStep ModalStepMaker::harmonic(const JobStep& step, std::size_t index, const StepCard& card, Model& model,
                                      ActingState& state) {
  if (b_.options.dialect == Dialect::abaqus)
    b_.note(
        "*STEADY STATE DYNAMICS: points are spaced linearly between natural frequencies, as in CalculiX; Abaqus "
        "spaces them logarithmically unless FREQUENCY SCALE=LINEAR is given",
        card.procedure_place);
  HarmonicStep request;
  request.modes_of = modes_for(step, card, state);
  request.lowest = card.modal.lowest;
  request.highest = card.modal.highest;
  request.points = card.modal.points;
  request.bias = card.modal.bias;
  request.damping = damping_for(card);
  request.loads = loads_for(step, model, state, 0, true);
  harmonic_ = index;
  for (const BaseMotionCard& motion : card.modal.base) {
    if (motion.displacement)
      b_.fail(
          "*BASE MOTION, TYPE=DISPLACEMENT is not supported: give the acceleration, −(2π f)² times the displacement "
          "(TYPE=ACCELERATION)",
          motion.place);
    BaseMotion base;
    base.direction = motion.dof - 1;
    base.acceleration = amplitude_of(motion).curve;
    base.real = motion.scale;
    if (motion.imaginary) {
      base.imaginary = base.real;
      base.real = 0;
    }
    request.base.push_back(std::move(base));
  }
  return request;
}

}  // namespace voussoir::deck
