#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/jobs/detail/dynamic_recorder.hpp>
#include <voussoir/jobs/detail/dynamic_runner.hpp>
#include <voussoir/jobs/detail/integration_notes.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/solvers/numbering.hpp>

// Steps of explicit dynamics. Their increments are too many to look at each: states are recorded at even intervals of
// time, at the times that are asked for, and every so many increments where a table or the files ask for that.

namespace voussoir::detail {
namespace {

/// States that curves, energies and tables have, unless somebody says how many.
constexpr int usual_reports = 200;

/// The step as its recorder is to see it: records are the increments that it counts on.
DynamicStep recorded_request(const DynamicStep& request) {
  DynamicStep recorded = request;
  recorded.times.increment = request.times.period / usual_reports;
  recorded.times.automatic = true;
  return recorded;
}

/// The largest number of increments such that all that are asked for are among its multiples; 0: none are.
int common_increments(const JobStep& step, const DynamicStep& request) {
  int every = request.states.every;
  for (const PrintRequest& print : step.prints)
    if (print.times.empty() && print.every_given) every = std::gcd(every, print.every);
  for (const HistoryRequest& history : step.histories)
    if (history.states.times.empty() && history.states.every > 0) every = std::gcd(every, history.states.every);
  return every;
}

/// The time between two records: it divides the interval of files, or the first one of histories, and no interval of a
/// history is shorter.
double common_interval(const JobStep& step, const DynamicStep& request) {
  const auto divided = [](double interval, double largest) {
    return interval / std::ceil(interval / largest * (1 - 1e-9));
  };
  double interval = request.times.period / usual_reports;
  bool divides = request.states.interval > 0;
  if (divides) interval = divided(request.states.interval, interval);
  for (const HistoryRequest& history : step.histories) {
    const double asked = history.states.interval;
    if (!(asked > 0) || !history.states.times.empty() || history.states.every > 0) continue;
    interval = divides ? divided(interval, asked) : divided(asked, interval);
    divides = true;
  }
  return interval;
}

/// The most steps from one estimate of the stability limit to the next where the model is not linear. An estimate takes
/// about a dozen products.
constexpr int steps_per_estimate = 50;

ExplicitSteps explicit_steps(const JobStep& step, const DynamicStep& request, std::vector<double> targets) {
  ExplicitSteps steps;
  steps.estimate_every = steps_per_estimate;
  steps.end = request.times.period;
  steps.factor = request.explicit_method->factor;
  if (request.times.automatic) {
    if (request.times.longest > 0) steps.longest = request.times.longest;
    steps.shortest = request.times.shortest;
  } else {
    steps.step = request.times.increment;
  }
  steps.report_every = common_increments(step, request);
  steps.report_interval = common_interval(step, request);
  steps.times = std::move(targets);
  return steps;
}

std::string explicit_statement(ExplicitAnalysis& analysis) {
  const ExplicitReport& report = analysis.report();
  std::string text =
      "explicit integration: " + std::to_string(report.steps) + (report.steps == 1 ? " increment" : " increments");
  if (report.smallest_step != report.largest_step)
    text += " from " + short_number(report.smallest_step, 4) + " to " + short_number(report.largest_step, 4);
  else
    text += " of " + short_number(report.largest_step, 4);
  text += ", stable up to " + short_number(report.smallest_limit, 4);
  if (report.scaled_elements > 0)
    text += ", " + short_number(100 * report.added_mass, 3) + " % of mass added to " +
            std::to_string(report.scaled_elements) + (report.scaled_elements == 1 ? " element" : " elements");
  return text + energies_text(analysis.energies());
}

std::vector<std::pair<std::string, double>> explicit_counts(const ExplicitReport& report) {
  return {{"increments", static_cast<double>(report.steps)},
          {"smallest_increment", report.smallest_step},
          {"largest_increment", report.largest_step},
          {"stability_limit", report.smallest_limit},
          {"estimates", report.estimates},
          {"products", report.products},
          {"worst_balance", report.worst_balance},
          {"added_mass", report.added_mass},
          {"scaled_elements", static_cast<double>(report.scaled_elements)}};
}

/// Central differences create energy where steps are longer than the stability limit, if only for a while.
std::string note_on_unstable_steps(const EnergyBalance& energies) {
  constexpr double allowed = 0.05;
  const double created = -energies.numerical(), supplied = supplied_energy(energies);
  if (!(created > allowed * supplied)) return "";
  return "energy has appeared from nothing, " + short_number(100 * created / supplied, 3) +
         " % of what was supplied: some steps were longer than the stability limit, and the results are wrong; use a "
         "smaller "
         "SCALE FACTOR of *DYNAMIC, EXPLICIT ('factor' of the method in job files)";
}

/// Temperatures begin where they are: a jump would do work that no step accounts for.
void check_temperatures_begin(const Job& job, std::size_t step, const DynamicStep& request, const std::string& where) {
  const Domain& domain = *job.domains[job.steps[step].domain];
  const double start = request.times.start;
  const std::vector<double> given = acting_temperatures(job, job.steps[step], start);
  if (given.empty()) return;
  std::vector<double> before = domain.initial_temperatures();
  if (request.continues && step > 0)
    if (std::vector<double> last = acting_temperatures(job, job.steps[step - 1], start); !last.empty())
      before = std::move(last);
  for (std::size_t n = 0; n < given.size(); ++n)
    if (std::abs(given[n] - before[n]) > 1e-9 * std::max({std::abs(given[n]), std::abs(before[n]), 1e-300}))
      throw Error(ErrorCode::bad_input,
                  "the temperature of node " + job.instances.node(domain.node_id(static_cast<std::int32_t>(n))) +
                      " would jump from " + short_number(before[n], 6) + " to " + short_number(given[n], 6) +
                      " at the beginning of a step of explicit dynamics; give the temperatures an amplitude that " +
                      "begins where they are",
                  where);
}

}  // namespace

void DynamicRunner::integrate_explicitly(std::size_t step, const DynamicStep& request, StepCheckpoint& saved) {
  const Stopwatch stopwatch;
  const JobStep& asked = job_.steps[step];
  check_temperatures_begin(job_, step, request, where(step));
  const DynamicStep recorded = recorded_request(request);
  const auto recorder =
      make_recorder ? make_recorder(step, recorded) : make_step_recorder(job_, step, recorded, receiver_, heated_);
  recorder->checkpoint = &saved;
  const auto make = [&](const std::shared_ptr<DofNumberer>& numberer) {
    Analysis::Collaborators parts;
    parts.backend = backend_;
    if (!make_analysis) parts.numberer = numberer ? numberer : make_numberer(options_.numbering, *backend_, false);
    auto made = std::make_unique<ExplicitAnalysis>(*job_.domains[asked.domain], std::move(parts));
    if (numbered) numbered(made->model());
    made->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress, -1) || saved.is_on(); };
    recorder->increments = [a = made.get()] { return a->report().steps; };
    made->set_steps(explicit_steps(asked, request, recorder->targets()));
    made->set_mass_scaling({request.explicit_method->scaled_step, request.explicit_method->most_added_mass});
    made->set_bulk_viscosity({request.explicit_method->linear_viscosity, request.explicit_method->quadratic_viscosity});
    made->set_damping({request.alpha, request.beta});
    made->add_recorder(recorder);
    made->finished = [](double, StepResult) {};  // the recorder passes states on
    made->set_recovery(false);
    set_loads(made->loads(), request);
    End motion = initial_motion(made->model(), request, nullptr);
    made->set_initial_displacement(std::move(motion.displacement));
    made->set_initial_velocity(std::move(motion.velocity));
    made->set_initial_history(read_history(made->model(), motion.history));
    return made;
  };
  const std::unique_ptr<ExplicitAnalysis> finished = run_saved(step, request, make, *recorder, saved);
  ExplicitAnalysis& analysis = *finished;
  keep_end(step, analysis.integrator(), analysis.model(), analysis.state());
  take_model_report(analysis, stopwatch.seconds());
  if (matrix_.empty()) matrix_ = "no matrix: explicit dynamics";
  StepResponse response = recorder->finish(analysis.integrator());
  response.counts = explicit_counts(analysis.report());
  if (const int most = request.times.most_increments; most > 0 && analysis.report().steps > most)
    response.notes.push_back("the step has taken " + std::to_string(analysis.report().steps) +
                             " increments, as many as the stability limit requires; *STEP, INC=" +
                             std::to_string(most) + " does not limit explicit steps (CalculiX would have stopped)");
  for (std::string& note : notes_on_missed_pulses(request, analysis.report().largest_step))
    response.notes.push_back(std::move(note));
  if (std::string note = note_on_unstable_steps(analysis.energies()); !note.empty())
    response.notes.push_back(std::move(note));
  for (std::string& note : notes_on_hardening(analysis.model(), *(whole_job ? *whole_job : job_).domains[asked.domain],
                                              [&] { return analysis.result(); }))
    response.notes.push_back(std::move(note));
  add_held_notes(analysis.model(), request, response);
  response.statement = explicit_statement(analysis);
  conclude(step, request, std::move(response), saved);
}

}  // namespace voussoir::detail
