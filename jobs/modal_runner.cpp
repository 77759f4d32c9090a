#include <voussoir/jobs/detail/modal_runner.hpp>

#include <algorithm>

#include <voussoir/framework/analysis/shape_result.hpp>
#include <voussoir/jobs/detail/modal_request.hpp>
#include <voussoir/jobs/mode_files.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

namespace voussoir::detail {
namespace {

std::size_t modes_of(const JobStep& step) {
  if (const auto* dynamic = std::get_if<ModalDynamicStep>(&step.modal)) return dynamic->modes_of;
  if (const auto* harmonic = std::get_if<HarmonicStep>(&step.modal)) return harmonic->modes_of;
  if (const auto* spectrum = std::get_if<SpectrumStep>(&step.modal)) return spectrum->modes_of;
  return static_cast<std::size_t>(-1);
}

}  // namespace

std::string ModalRunner::where(std::size_t step) const {
  const JobStep& asked = job_.steps[step];
  return asked.where.empty() ? "step '" + asked.name + "'" : asked.where;
}

void ModalRunner::note(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

void ModalRunner::tell(std::size_t step, const std::string& stage, int iteration) const {
  Progress progress;
  progress.stage = stage;
  progress.iteration = iteration;
  if (tell_ && !tell_(step, progress)) throw Error(ErrorCode::cancelled, "stopped by the observer", where(step));
}

void ModalRunner::add_time(const std::string& stage, double seconds) {
  const auto same = std::find_if(times_.begin(), times_.end(), [&](const StageTime& t) { return t.stage == stage; });
  if (same == times_.end())
    times_.push_back({stage, seconds});
  else
    same->seconds += seconds;
}

std::size_t ModalRunner::last_use(std::size_t frequency_step) const {
  std::size_t last = frequency_step;
  for (std::size_t i = frequency_step + 1; i < job_.steps.size(); ++i)
    if (modes_of(job_.steps[i]) == frequency_step) last = i;
  return last;
}

void ModalRunner::run(std::size_t step) {
  const JobStep& asked = job_.steps[step];
  if (const auto* frequency = std::get_if<FrequencyStep>(&asked.modal))
    find_modes(step, *frequency);
  else
    superpose(step);
  std::erase_if(found_, [&](const auto& entry) { return entry.second.last_use <= step; });
}

void ModalRunner::take_modes(std::size_t step, std::shared_ptr<const ModeSet> modes) {
  Found found;
  found.last_use = last_use(step);
  if (found.last_use == step) return;
  found.analysis = make_modal_analysis(*job_.domains[job_.steps[step].domain], backend_);
  found.modes = std::move(modes);
  found_.insert_or_assign(step, std::move(found));
}

void ModalRunner::superpose(std::size_t step) {
  const JobStep& asked = job_.steps[step];
  try {
    if (const auto* dynamic = std::get_if<ModalDynamicStep>(&asked.modal))
      run_dynamic(step, *dynamic);
    else if (const auto* harmonic = std::get_if<HarmonicStep>(&asked.modal))
      run_harmonic(step, *harmonic);
    else if (const auto* spectrum = std::get_if<SpectrumStep>(&asked.modal))
      run_spectrum(step, *spectrum);
    else
      throw Error(ErrorCode::misuse, "the step has no request for its procedure", where(step));
  } catch (const Error& error) {
    // Errors of the model name the step that caused them; errors of files and observers keep their own location.
    if (error.code() != ErrorCode::bad_input || error.where().find(where(step)) != std::string::npos) throw;
    throw Error(error.code(), error.text(), where(step) + (error.where().empty() ? "" : ", " + error.where()));
  }
}

void ModalRunner::find_modes(std::size_t step, const FrequencyStep& request) {
  const JobStep& asked = job_.steps[step];
  Found found;
  found.analysis = make_modal_analysis(*job_.domains[asked.domain], backend_);
  found.analysis->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress); };
  auto modes = std::make_shared<ModeSet>(
      solve_request(request, [&](const EigenRequest& wanted) { return found.analysis->solve(wanted); }));
  found.analysis->observer = nullptr;
  const AnalysisModel& model = found.analysis->model();
  equations_ = std::max<std::int64_t>(equations_, model.equation_count());
  free_equations_ = std::max<std::int64_t>(free_equations_, model.free_equation_count());
  for (const StageTime& t : found.analysis->stage_times()) add_time(t.stage, t.seconds);
  for (const std::string& text : found.analysis->notes()) note(text);
  for (const std::string& text : modes->report.notes) note(text);
  if (const std::string fault = fault_of(modes->report, EigenRequest().tolerance); !fault.empty())
    faults_.push_back(where(step) + ": " + fault);
  found.modes = modes;
  found.last_use = last_use(step);
  receiver_.modes(step, found.modes);
  const bool recover = std::any_of(asked.prints.begin(), asked.prints.end(),
                                   [](const PrintRequest& print) { return print.at == PrintRequest::At::elements; });
  for (int m = 0; m < modes->count() && !asked.prints.empty(); ++m) {
    tell(step, "recover", m + 1);
    StepState state;
    state.at = m + 1;
    state.time = asked.total_time;
    state.result = result_of_shape(model, modes->shapes[static_cast<std::size_t>(m)], asked.name, recover);
    state.for_viewers = false;
    state.prints.assign(asked.prints.size(), 1);
    receiver_.state(step, std::move(state));
  }
  receiver_.end(step, {});
  found_.emplace(step, std::move(found));
}

}  // namespace voussoir::detail
