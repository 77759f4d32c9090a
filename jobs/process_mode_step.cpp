#include <voussoir/jobs/detail/process_mode_step.hpp>

#include <algorithm>
#include <optional>

#include <voussoir/framework/analysis/mode_parts.hpp>
#include <voussoir/jobs/detail/collect_and_agree.hpp>
#include <voussoir/jobs/detail/modal_request.hpp>

namespace voussoir::detail {

/// The result of the whole model on process 0, an empty one on the others.
StepResult ProcessModeStep::merged(std::size_t domain, const StepResult& own) {
  std::optional<StepMerger> merger;
  std::string packed;
  agree(processes_, [&] {
    if (whole_) merger.emplace(*whole_->domains[domain], domain, part_.domains[domain].unknown_names, own);
    packed = pack_fields(own);
  });
  collect_and_agree(processes_, packed,
                    [&](int p, const std::string& bytes) { merger->add(places_[static_cast<std::size_t>(p)], bytes); });
  return merger ? merger->take() : StepResult();
}

/// Returns the signs of the shapes, which only whole shapes show.
std::vector<int> ProcessModeStep::pass_on(std::size_t step, const ModeSet& own) {
  const std::size_t domain = part_.job.steps[step].domain;
  auto whole = std::make_shared<ModeSet>();
  whole->report = own.report;
  whole->participation = own.participation;
  whole->total_mass = own.total_mass;
  for (const NodalField& shape : own.shapes) {
    StepResult result;
    result.unknowns = shape;
    result = merged(domain, result);
    whole->shapes.push_back(std::move(result.unknowns));
  }
  std::string signs;
  agree(processes_, [&] {
    if (!whole_) return;
    for (const int sign : orient_modes(*whole_->domains[domain], *whole)) signs += sign < 0 ? '-' : '+';
    modes_ = whole;
    receiver_->modes(step, whole);
  });
  processes_.broadcast(signs);
  std::vector<int> list;
  for (const char sign : signs) list.push_back(sign == '-' ? -1 : 1);
  return list;
}

EigenReport ProcessModeStep::run(std::size_t step, ProcessModes& analysis) {
  const JobStep& asked = part_.job.steps[step];
  ModeSet modes = solve_request(std::get<FrequencyStep>(asked.modal),
                                [&](const EigenRequest& request) { return analysis.solve(request); });
  const std::vector<int> signs = pass_on(step, modes);
  const bool recover = std::any_of(asked.prints.begin(), asked.prints.end(),
                                   [](const PrintRequest& print) { return print.at == PrintRequest::At::elements; });
  for (std::size_t m = 0; m < modes.shapes.size() && !asked.prints.empty(); ++m) {
    for (double& value : modes.shapes[m].values) value *= signs[m];
    const StepResult result = merged(asked.domain, analysis.result_of(modes.shapes[m], asked.name, recover));
    agree(processes_, [&] {
      if (!whole_) return;
      StepState state;
      state.at = static_cast<double>(m + 1);
      state.time = asked.total_time;
      state.result = result;
      state.for_viewers = false;
      state.prints.assign(asked.prints.size(), 1);
      receiver_->state(step, std::move(state));
    });
  }
  agree(processes_, [&] {
    if (whole_) receiver_->end(step, {});
  });
  return modes.report;
}

EigenReport modes_in_pieces(const ProcessPart& part, std::size_t step, ProcessModes& analysis, PartReceiver& receiver) {
  ModeSet modes = solve_request(std::get<FrequencyStep>(part.job.steps[step].modal),
                                [&](const EigenRequest& request) { return analysis.solve(request); });
  EigenReport report = modes.report;
  receiver.modes(step, std::move(modes));
  return report;
}

}  // namespace voussoir::detail
