#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/jobs/detail/modal_runner.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/state_times.hpp>
#include <voussoir/jobs/mode_files.hpp>
#include <voussoir/jobs/summary.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>

// Steps of mode superposition: over time, over frequency, under a response spectrum.

namespace voussoir::detail {
namespace {

/// Curves of more nodes than this are not read by anybody; tables have them.
constexpr std::size_t most_nodes_of_curves = 20;
constexpr const char* relative_note =
    "the base moves: displacements and velocities are relative to it (CalculiX's are absolute)";
constexpr const char* forces_note =
    "RF in steps of mode superposition contains inertia and damping; CalculiX prints the forces of the stiffness alone";

bool prints(const JobStep& step, const std::string& quantity) {
  return std::any_of(step.prints.begin(), step.prints.end(), [&](const PrintRequest& print) {
    return std::find(print.quantities.begin(), print.quantities.end(), quantity) != print.quantities.end();
  });
}

bool prints_elements(const JobStep& step) {
  return std::any_of(step.prints.begin(), step.prints.end(),
                     [](const PrintRequest& print) { return print.at == PrintRequest::At::elements; });
}

/// Nodes whose motion is drawn over time or frequency: those of small tables of displacements, and one more.
std::vector<std::int32_t> nodes_of_curves(const Job& job, const JobStep& step, std::int32_t peak) {
  const Domain& domain = *job.domains[step.domain];
  std::set<std::int32_t> nodes;
  for (const PrintRequest& print : step.prints) {
    if (print.at != PrintRequest::At::nodes || print.set.empty()) continue;
    const auto set = domain.node_set(print.set);
    if (nodes.size() + set.size() <= most_nodes_of_curves) nodes.insert(set.begin(), set.end());
  }
  std::vector<std::int32_t> list;
  if (peak >= 0) list.push_back(peak);
  for (const std::int32_t node : nodes)
    if (node != peak) list.push_back(node);
  return list;
}

std::string node_name(const Job& job, const Domain& domain, std::int32_t node) {
  return "node " + job.instances.node(domain.node_id(node));
}

/// The field without nodes that the reader made itself, and without those whose ux, uy, uz are rotations.
NodalField reported(const Job& job, const Domain& domain, NodalField field) {
  const std::size_t width = field.components.size();
  const auto from = static_cast<std::size_t>(reported_nodes(job, domain)) * width;
  for (std::size_t i = from; i < field.values.size(); ++i) field.values[i] = nan;
  for (const std::int32_t node : job.rotation_nodes)
    std::fill_n(field.values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * width), width, nan);
  return field;
}

/// Whether the reactions contain moments at nodes whose ux, uy, uz are rotations: sums of forces would count them.
bool has_moments_among_forces(const Job& job, const NodalField& reactions) {
  for (const std::int32_t node : job.rotation_nodes)
    for (int c = 0; c < reactions.width(); ++c)
      if (!std::isnan(reactions.at(node, c))) return true;
  return false;
}
constexpr const char* no_sums_note =
    "sums of reactions are left out of the peaks: rotations of a rigid body are held, and their moments are not "
    "forces; "
    "*NODE PRINT, TOTALS=ONLY and the reactions of nodes tell them apart";

/// The largest value of each component of a field, with its node. Returns the node of the largest displacement.
template <class Time>
std::int32_t add_peaks(const Job& job, const Domain& domain, const NodalField& field, const Time& time_of,
                       std::vector<ResponsePeak>& peaks) {
  std::int32_t node = -1;
  double largest = -1;
  const NodalField shown = reported(job, domain, field);
  for (const std::string& component : field.components) {
    const NodalField::Extreme extreme = shown.largest(component);
    if (extreme.node < 0) continue;
    const auto [value, at] = time_of(extreme.node, component);
    peaks.push_back({component, value, at, node_name(job, domain, extreme.node)});
    if (component[0] == 'u' && std::abs(extreme.value) > largest) {
      largest = std::abs(extreme.value);
      node = extreme.node;
    }
  }
  return node;
}

/// "reaction x", "reaction rx", or "reaction head" of a user's unknown.
std::string reaction_name(const std::string& unknown) {
  return "reaction " + (unknown.size() == 2 && unknown[0] == 'u' ? unknown.substr(1) : unknown);
}

/// The displacements or velocities of single nodes as a field of the model; zero elsewhere.
NodalField initial_field(const AnalysisModel& model, const std::vector<ModalDynamicStep::Initial>& entries) {
  NodalField field{field_name(model.unknown_names()), model.unknown_names(), {}};
  field.values.assign(static_cast<std::size_t>(model.domain().node_count()) * field.components.size(), 0.0);
  for (const auto& entry : entries)
    field.values[static_cast<std::size_t>(entry.node) * field.components.size() +
                 static_cast<std::size_t>(field.component_index(entry.unknown))] = entry.value;
  return field;
}

/// The largest Mises stress (or section force) of the elements over time.
void add_stress_peaks(const Job& job, const Domain& domain, const SuperposedHistory& history, double start,
                      StepResponse& response) {
  std::vector<PointExtremes> points;
  try {
    points = history.point_extremes();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    response.notes.push_back("peaks of stresses are not computed: " + error.text());
    return;
  }
  for (const char* name : {"mises", "stress", "N", "My", "Mz"}) {
    ResponsePeak largest{name, 0, 0, ""};
    for (const PointExtremes& block : points) {
      if (std::find(block.names.begin(), block.names.end(), name) == block.names.end()) continue;
      const PointExtremes::Largest found = block.largest(name);
      if (found.element < 0 || (!largest.place.empty() && std::abs(found.peak.value) <= std::abs(largest.value)))
        continue;
      largest.value = found.peak.value;
      largest.at = start + found.peak.time;
      const Id id = domain.block(static_cast<std::size_t>(block.block)).id(found.element);
      largest.place = "element " + job.instances.element(id);
    }
    if (!largest.place.empty()) response.peaks.push_back(std::move(largest));
  }
}

/// "mode 4" or "modes 4 to 7".
std::string numbered_modes(int first, int last) {
  return first == last ? "mode " + std::to_string(first)
                       : "modes " + std::to_string(first) + " to " + std::to_string(last);
}

/// What the user should know of the damping: ratios of modes that there are not, and modes that do not oscillate.
std::vector<std::string> damping_notes(const StepDamping& damping, const ModalSystem& system,
                                       const std::string& where) {
  std::vector<std::string> notes;
  const int modes = static_cast<int>(system.modes());
  for (const StepDamping::Ratio& range : damping.ratios)
    if (range.last > modes)
      notes.push_back((range.where.empty() ? where : range.where) + ": the damping ratio " +
                      short_number(range.ratio, 6) + " is given for " + numbered_modes(range.first, range.last) +
                      ", but there " + (modes == 1 ? "is 1 mode" : "are " + std::to_string(modes) + " modes") + ": " +
                      numbered_modes(std::max(range.first, modes + 1), range.last) + " " +
                      (range.last > std::max(range.first, modes + 1) ? "are" : "is") + " ignored");
  int first = 0, count = 0;
  double largest = 0;
  for (int m = 0; m < modes; ++m) {
    const double omega = system.omegas()[static_cast<std::size_t>(m)],
                 decay = system.decays()[static_cast<std::size_t>(m)];
    if (!(omega > 0) || !(decay > omega * (1 + 1e-12))) continue;
    if (count++ == 0) first = m + 1;
    largest = std::max(largest, decay / omega);
  }
  if (count > 0)
    notes.push_back(
        where + ": " +
        (count == 1 ? "mode " + std::to_string(first) + " is"
                    : std::to_string(count) + " modes, the first of them mode " + std::to_string(first) + ", are") +
        " damped more than critically, with ratios up to " + short_number(largest, 6) +
        ": such a mode creeps back to rest and does not oscillate");
  return notes;
}

}  // namespace

ModeSuperposition ModalRunner::superposition_of(std::size_t step, std::size_t modes_of, const StepDamping& damping,
                                                bool static_correction) {
  const auto found = found_.find(modes_of);
  if (found == found_.end())
    throw Error(ErrorCode::misuse, "the modes of step '" + job_.steps[modes_of].name + "' were not found", where(step));
  if (const std::string fault = fault_of(found->second.modes->report, EigenRequest().tolerance); !fault.empty())
    throw Error(ErrorCode::not_converged,
                "modes that are not exact or not complete are not superposed (step '" + job_.steps[modes_of].name +
                    "'): " + fault,
                where(step));
  if (found->second.modes->count() == 0)
    throw Error(ErrorCode::bad_input,
                "there are no modes to superpose: step '" + job_.steps[modes_of].name + "' found none", where(step));
  ModeSuperposition sum = make_mode_superposition(found->second.analysis->model(), *found->second.modes);
  sum.set_damping(damping.of(found->second.modes->count()));
  for (const std::string& text : damping_notes(damping, sum.system(), where(step))) note(text);
  sum.set_static_correction(static_correction);
  return sum;
}

void ModalRunner::run_dynamic(std::size_t step, const ModalDynamicStep& request) {
  const JobStep& asked = job_.steps[step];
  const Domain& domain = *job_.domains[asked.domain];
  const Stopwatch watch;
  tell(step, "superpose");
  ModeSuperposition sum = superposition_of(step, request.modes_of, request.damping, request.static_correction);
  for (const StepLoad& load : request.loads) sum.add_load_case(load.load_case, load.amplitude, load.real);
  for (const BaseMotion& base : request.base)
    sum.add_base_acceleration(ModeSet::direction_names()[static_cast<std::size_t>(base.direction)], base.acceleration,
                              base.real);
  const AnalysisModel& model = found_.at(request.modes_of).analysis->model();
  if (request.continues) {
    sum.set_initial_state(ends_.at(*request.continues));
  } else {
    if (!request.displacement.empty()) sum.set_initial_displacement(initial_field(model, request.displacement));
    if (!request.velocity.empty()) sum.set_initial_velocity(initial_field(model, request.velocity));
  }
  const StateTimes states = state_times(asked, request);
  std::vector<double> times{0};  // peaks may be there
  times.insert(times.end(), states.times.begin(), states.times.end());
  const SuperposedHistory history = sum.time_history(times);
  ends_.erase(request.continues.value_or(step));
  ends_[step] = history.end();

  const bool velocities = prints(asked, "V");
  for (std::size_t k = 0; k < states.times.size(); ++k) {
    const StateTimes::Use& use = states.uses[k];
    if (!use.any()) continue;
    tell(step, "superpose", static_cast<int>(k + 1));
    StepState state;
    state.at = state.time = request.start + states.times[k];
    state.result = history.state(k + 1, use.for_viewers || prints_elements(asked));
    if (velocities) state.velocity = history.field(k + 1, ModalQuantity::velocity);
    state.for_viewers = use.for_viewers;
    state.prints = use.prints;
    receiver_.state(step, std::move(state));
  }

  tell(step, "peaks");
  StepResponse response;
  response.statement = sum.truncation().text();
  response.notes = states.notes;
  if (!request.base.empty()) response.notes.emplace_back(relative_note);
  if (prints(asked, "RF")) response.notes.emplace_back(forces_note);
  const FieldExtremes extremes = history.extremes();
  const std::int32_t node = add_peaks(
      job_, domain, extremes.magnitude,
      [&](std::int32_t n, const std::string& component) {
        const Peak peak = extremes.at(n, component).peak();
        return std::pair{peak.value, request.start + peak.time};
      },
      response.peaks);
  add_stress_peaks(job_, domain, history, request.start, response);
  const ReactionExtremes reactions = history.reaction_extremes();
  const bool sums = !has_moments_among_forces(job_, reactions.reactions.magnitude);
  if (!sums) response.notes.emplace_back(no_sums_note);
  for (std::size_t u = 0; sums && u < reactions.unknowns.size(); ++u) {
    const Peak peak = reactions.sums[u].peak();
    response.peaks.push_back({reaction_name(reactions.unknowns[u]), peak.value, request.start + peak.time, ""});
  }
  for (const double time : times) response.axis.push_back(request.start + time);
  for (const std::int32_t n : nodes_of_curves(job_, asked, node))
    for (const std::string& unknown : model.unknown_names())
      if (unknown[0] == 'u' && model.equation(n, unknown) >= 0)
        response.histories.emplace_back(node_name(job_, domain, n) + " " + unknown,
                                        history.history(domain.node_id(n), unknown));
  add_time("superpose", watch.seconds());
  receiver_.end(step, std::move(response));
}

void ModalRunner::run_harmonic(std::size_t step, const HarmonicStep& request) {
  const JobStep& asked = job_.steps[step];
  const Domain& domain = *job_.domains[asked.domain];
  const Stopwatch watch;
  tell(step, "superpose");
  ModeSuperposition sum = superposition_of(step, request.modes_of, request.damping, request.static_correction);
  for (const StepLoad& load : request.loads)
    sum.add_harmonic_load_case(load.load_case, {load.real, load.imaginary}, load.amplitude);
  for (const BaseMotion& base : request.base)
    sum.add_harmonic_base_acceleration(ModeSet::direction_names()[static_cast<std::size_t>(base.direction)],
                                       {base.real, base.imaginary}, base.acceleration);
  SweepPoints points;
  points.between = request.points;
  points.bias = request.bias;
  const std::vector<double> frequencies = sweep_frequencies(sum.system(), request.lowest, request.highest, points);
  const SuperposedSweep sweep = sum.harmonic_sweep(frequencies);
  const bool velocities = prints(asked, "V");
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    tell(step, "superpose", static_cast<int>(k + 1));
    SuperposedSweep::State both = sweep.state(k, prints_elements(asked));
    StepState state;
    state.at = state.time = frequencies[k];
    state.result = std::move(both.real);
    state.imaginary = std::move(both.imaginary);
    if (velocities) {
      SuperposedSweep::Field field = sweep.field(k, ModalQuantity::velocity);
      state.velocity = std::move(field.real);
      state.imaginary_velocity = std::move(field.imaginary);
    }
    for (const PrintRequest& print : asked.prints) {
      const auto every = static_cast<std::size_t>(std::max(print.every, 1));
      state.prints.push_back((k + 1) % every == 0 || k + 1 == frequencies.size());
    }
    receiver_.state(step, std::move(state));
  }

  StepResponse response;
  response.statement = sum.truncation().text();
  response.axis = frequencies;
  if (!request.base.empty()) response.notes.emplace_back(relative_note);
  if (prints(asked, "RF")) response.notes.emplace_back(forces_note);
  const AnalysisModel& model = found_.at(request.modes_of).analysis->model();
  const std::vector<HarmonicPeak> peaks = sweep.peaks();
  NodalField amplitude{field_name(model.unknown_names()), model.unknown_names(), {}};
  for (const HarmonicPeak& peak : peaks) amplitude.values.push_back(peak.amplitude);
  const std::int32_t node = add_peaks(
      job_, domain, amplitude,
      [&](std::int32_t n, const std::string& component) {
        const HarmonicPeak& peak = peaks[static_cast<std::size_t>(n) * amplitude.components.size() +
                                         static_cast<std::size_t>(amplitude.component_index(component))];
        return std::pair{peak.amplitude, peak.frequency};
      },
      response.peaks);
  for (const std::int32_t n : nodes_of_curves(job_, asked, node))
    for (const std::string& unknown : model.unknown_names())
      if (unknown[0] == 'u' && model.equation(n, unknown) >= 0)
        response.sweeps.emplace_back(node_name(job_, domain, n) + " " + unknown,
                                     sweep.history(domain.node_id(n), unknown));
  add_time("superpose", watch.seconds());
  receiver_.end(step, std::move(response));
}

void ModalRunner::run_spectrum(std::size_t step, const SpectrumStep& request) {
  const JobStep& asked = job_.steps[step];
  const Domain& domain = *job_.domains[asked.domain];
  const Stopwatch watch;
  tell(step, "superpose");
  ModeSuperposition sum = superposition_of(step, request.modes_of, request.damping, request.static_correction);
  std::vector<SpectrumInput> inputs;
  std::vector<std::string> directions;
  for (const SpectrumStep::Direction& of : request.directions) {
    directions.push_back(ModeSet::direction_names()[static_cast<std::size_t>(of.direction)]);
    inputs.push_back({directions.back(), of.spectrum, of.factor, of.rigid_acceleration});
  }
  SpectrumPeaks peaks = sum.response_spectrum(inputs, request.combination, request.directional);
  StepResponse response;
  response.statement = sum.truncation(directions).text();
  response.notes = peaks.notes;
  add_peaks(
      job_, domain, peaks.displacement,
      [&](std::int32_t n, const std::string& component) {
        return std::pair{peaks.displacement.at(n, component), nan};
      },
      response.peaks);
  const bool sums = !has_moments_among_forces(job_, peaks.reactions);
  if (!sums) response.notes.emplace_back(no_sums_note);
  for (std::size_t u = 0; sums && u < peaks.reaction_sum.size(); ++u)
    response.peaks.push_back({reaction_name(peaks.displacement.components[u]), peaks.reaction_sum[u], nan, ""});
  StepState state;
  state.at = 1;
  state.time = asked.total_time;
  state.result.step = asked.name;
  state.result.unknowns = std::move(peaks.displacement);
  state.result.reactions = peaks.reactions;
  state.result.internal_forces = std::move(peaks.reactions);
  state.result.reaction_sum = peaks.reaction_sum;
  state.result.points = std::move(peaks.points);
  state.prints.assign(asked.prints.size(), 1);
  receiver_.state(step, std::move(state));
  add_time("superpose", watch.seconds());
  receiver_.end(step, std::move(response));
}

}  // namespace voussoir::detail
