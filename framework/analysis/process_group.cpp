#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir {

ProcessGroup* ProcessGroup::of(const AnalysisModel& model) {
  auto* const group = model.backend().find<ProcessGroup>();
  return group && group->is_active() ? group : nullptr;
}

namespace detail {

double work_of(const AnalysisModel& model, const Vector& force, const Vector& motion) {
  return sum_of_all(model, force.layout() ? model.backend().dot(force, motion) : 0.0);
}

double force_norm(const AnalysisModel& model, const Vector& force) {
  if (ProcessGroup* const group = ProcessGroup::of(model)) return group->norm(model, force);
  return force.layout() ? model.backend().norm(force) : 0.0;
}

double force_product(const AnalysisModel& model, const Vector& a, const Vector& b) {
  ProcessGroup* const group = ProcessGroup::of(model);
  if (!group) return model.backend().dot(a, b);
  std::vector<double> whole = a.to_host();
  group->assemble(model, whole);
  Vector sum = model.make_vector();
  sum.from_host(whole);
  return group->sum(model.backend().dot(sum, b));
}

double product_of_unknowns(const AnalysisModel& model, const Vector& x, const Vector& y) {
  ProcessGroup* const group = ProcessGroup::of(model);
  return group ? group->product_of_unknowns(model, x, y) : model.backend().dot(x, y);
}

void assemble_forces(const AnalysisModel& model, Vector& forces) {
  ProcessGroup* const group = ProcessGroup::of(model);
  if (!group) return;
  std::vector<double> values = forces.to_host();
  group->assemble(model, values);
  forces.from_host(values);
}

double sum_of_all(const AnalysisModel& model, double number) {
  ProcessGroup* const group = ProcessGroup::of(model);
  return group ? group->sum(number) : number;
}

bool on_any(const AnalysisModel& model, bool condition) {
  ProcessGroup* const group = ProcessGroup::of(model);
  return group ? group->any(condition) : condition;
}

bool all_linear(const AnalysisModel& model) { return !on_any(model, !model.is_linear()); }

void together(const AnalysisModel& model, const std::function<void()>& work) {
  ProcessGroup* const group = ProcessGroup::of(model);
  if (!group) return work();
  try {
    work();
    group->fence();
  } catch (const Error& error) {
    group->share(error);
  }
}

}  // namespace detail

}  // namespace voussoir
