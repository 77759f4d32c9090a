#include <voussoir/jobs/detail/whole_model_check.hpp>

#include <algorithm>

#include <voussoir/framework/analysis/judged_steps.hpp>
#include <voussoir/framework/model/bodies.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/framework/model/rigid_clusters.hpp>
#include <voussoir/jobs/detail/integration_notes.hpp>
#include <voussoir/jobs/detail/mechanism_search.hpp>
#include <voussoir/jobs/detail/process_checks.hpp>

namespace voussoir::detail {
namespace {

constexpr const char* newton_bodies =
    "the model consists of bodies that do not touch; on several processes, Newton's method tests the "
    "convergence of all of them together rather than of each";

void add_once(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

void note_unused_nodes(const AnalysisModel& model, std::vector<std::string>& general) {
  const auto unused = model.unused_nodes();
  if (unused.empty()) return;
  const std::string first = model.domain().node_label(unused.front());
  const std::string text = unused.size() == 1
                               ? first + " is used by no element"
                               : std::to_string(unused.size()) + " nodes are used by no element, the first is " + first;
  add_once(general, text);
}

}  // namespace

std::vector<std::string> WholeModelCheck::run(std::vector<std::string>& general) {
  std::set<std::pair<std::size_t, const voussoir::Supports*>> done;
  for (std::size_t s = job_.first_step(); s < job_.steps.size(); ++s) {
    const JobStep& step = job_.steps[s];
    const bool vibrates = step.procedure == Procedure::frequency;
    if (uses_modes(step.procedure) && !vibrates) continue;  // of the supports that its modes have
    if (has_increments(step.procedure)) {
      if (step.supports) step.supports->apply(*job_.domains[step.domain]);
      look_at_increments(s, general);
      continue;
    }
    if (!vibrates && !done.insert({step.domain, step.supports.get()}).second) continue;
    if (step.supports) step.supports->apply(*job_.domains[step.domain]);
    if (vibrates)
      look_for_free_motions(s, general);
    else
      look_at(*job_.domains[step.domain], general);
  }
  return std::move(notes_);
}

/// A free body may fly, but not in statics, nor where errors of increments are compared with its displacements.
void WholeModelCheck::look_at_increments(std::size_t index, std::vector<std::string>& general) {
  const JobStep& step = job_.steps[index];
  const auto& request = std::get<DynamicStep>(step.modal);
  const AnalysisModel model(*job_.domains[step.domain], backend_, TransformationHandler(), PlainNumberer());
  note_unused_nodes(model, general);
  if (step.procedure == Procedure::nonlinear_statics) require_no_free_motion(find_free_motions(model));
  if (step.procedure == Procedure::dynamic && request.times.automatic && !request.explicit_method)
    require_judged_steps(model);
  if (!model.is_linear() && !request.explicit_method && Bodies(model).count() > 1) add_once(general, newton_bodies);
  if (!request.continues)
    step_notes_[index] = notes_on_held_motions(
        model, request, [&](std::int32_t node) { return job_.instances.node(model.domain().node_id(node)); });
}

/// A free body vibrates, too.
void WholeModelCheck::look_for_free_motions(std::size_t step, std::vector<std::string>& general) {
  const AnalysisModel model(*job_.domains[job_.steps[step].domain], backend_, TransformationHandler(), PlainNumberer());
  note_unused_nodes(model, general);
  const RigidClusters clusters(model);
  possible_motions_[step] = {static_cast<int>(clusters.motions().size()), !clusters.undecided().empty()};
}

void WholeModelCheck::look_at(const Domain& domain, std::vector<std::string>& general) {
  const AnalysisModel model(domain, backend_, TransformationHandler(), PlainNumberer());
  note_unused_nodes(model, general);
  require_no_free_motion(find_free_motions(model));
  if (const std::int32_t bodies = Bodies(model).count(); bodies > 1)
    add_note("the model consists of " + std::to_string(bodies) +
             " bodies that do not touch; the tolerance of iterative methods holds for all of them "
             "together");
  if (!model.is_linear() && Bodies(model).count() > 1) add_once(general, newton_bodies);
  const auto& names = model.unknown_names();
  if (std::none_of(names.begin(), names.end(), [](const std::string& name) { return name == "ux"; })) return;  // heat
  const RigidClusters clusters(model);
  detail::require_no_mechanism(model, clusters);
  if (!clusters.undecided().empty()) add_note("mechanisms could not be excluded: " + clusters.undecided());
}

void WholeModelCheck::add_note(const std::string& note) { add_once(notes_, note); }

}  // namespace voussoir::detail
