#include <voussoir/jobs/detail/recorded_model.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/detail/step_histories.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {
namespace {

/// Temperatures that are kept for a step of thermal stress: 2 GB.
constexpr double most_heated_values = 2.5e8;

/// A model in one process.
class WholeModel : public RecordedModel {
 public:
  WholeModel(const Job& job, std::size_t step, StepReceiver& receiver,
             std::map<std::size_t, std::vector<HeatedState>>& heated)
      : job_(job),
        step_(step),
        domain_(*job.domains[job.steps[step].domain]),
        receiver_(receiver),
        heated_(heated),
        motion_(job, job.steps[step]),
        tables_(job, step),
        local_(curve_nodes_of(job, job.steps[step])) {
    for (const std::int32_t n : local_) curve_nodes_.push_back({n, domain_.node_id(n)});
  }

  void show(RecordedState& state) override {
    state_ = &state;
    motion_.set(state.motion(0));
    digest_ = motion_.digest(local_);
    for (LargestValue& largest : digest_.largest)
      if (largest.place >= 0) largest.node = domain_.node_id(static_cast<std::int32_t>(largest.place));
  }
  const MotionDigest& motion() const override { return digest_; }
  const std::vector<CurveNode>& curve_nodes() override { return curve_nodes_; }
  bool has_force_sums() override {
    return domain_.oblique_supports().empty() && !state_->has_springs() && job_.rotation_nodes.empty();
  }
  std::int64_t node_count() const override { return domain_.node_count(); }
  Nodes nodes() override {
    Nodes all{{}, motion_.hidden()};
    for (std::int32_t n = 0; n < domain_.node_count(); ++n) all.numbers.push_back(domain_.node_id(n));
    return all;
  }
  std::vector<double> values() override { return motion_.field().values; }
  double change() override { return motion_.change(); }
  void mark_written() override { motion_.mark_written(); }
  std::vector<double> written() const override { return motion_.written(); }
  void set_written(std::vector<double> values) override { motion_.set_written(std::move(values)); }

  const HeatedState* keep_temperatures(std::size_t stress, HeatedState head) override {
    std::vector<HeatedState>& states = heated_[stress];
    check_heated(states.size(), motion_.field().values.size());
    head.temperatures = motion_.field().values;
    states.push_back(std::move(head));
    return &states.back();
  }
  void restore_temperatures(std::size_t stress, HeatedState state) override {
    heated_[stress].push_back(std::move(state));
  }

  void form(const Wanted& wanted) override {
    result_ = state_->result(wanted.points);
    velocity_ = wanted.velocity ? state_->motion(1) : NodalField();
    acceleration_ = wanted.acceleration ? state_->motion(2) : NodalField();
    temperatures_.clear();
    if (wanted.temperatures) temperatures_ = acting_temperatures(job_, job_.steps[step_], wanted.time);
  }
  std::vector<PrintTable> tables_of_history(std::size_t request, std::vector<std::string>& notes) override {
    return tables_.of(request,
                      {&result_, velocity_.width() > 0 ? &velocity_ : nullptr,
                       acceleration_.width() > 0 ? &acceleration_ : nullptr, &temperatures_},
                      notes);
  }
  void pass_on(StepState head, bool with_points) override {
    const std::string name = head.result.step;
    head.result = std::move(result_);
    head.result.step = name;
    head.velocity = std::move(velocity_);
    if (!with_points) {  // as if curves had not asked for them
      head.result.points.clear();
      head.result.energy = 0;
    }
    receiver_.state(step_, std::move(head));
  }

 private:
  const Job& job_;
  std::size_t step_;
  const Domain& domain_;
  StepReceiver& receiver_;
  std::map<std::size_t, std::vector<HeatedState>>& heated_;
  NodeMotion motion_;
  HistoryTables tables_;
  std::vector<std::int32_t> local_;
  std::vector<CurveNode> curve_nodes_;
  RecordedState* state_ = nullptr;
  MotionDigest digest_;
  // What form() was asked for:
  StepResult result_;
  NodalField velocity_, acceleration_;
  std::vector<double> temperatures_;
};

}  // namespace

std::vector<std::int32_t> curve_nodes_of(const Job& job, const JobStep& step) {
  const Domain& domain = *job.domains[step.domain];
  std::set<std::int32_t> nodes;
  for (const PrintRequest& print : step.prints) {
    if (print.at != PrintRequest::At::nodes || print.set.empty()) continue;
    const auto set = domain.node_set(print.set);
    if (nodes.size() + set.size() <= most_curve_nodes) nodes.insert(set.begin(), set.end());
  }
  return {nodes.begin(), nodes.end()};
}

void check_heated(std::size_t kept, std::size_t temperatures) {
  if (static_cast<double>(kept + 1) * static_cast<double>(temperatures) <= most_heated_values) return;
  throw Error(ErrorCode::out_of_memory,
              "the temperatures of more than " + std::to_string(kept) +
                  " increments, at which thermal stress is written or printed, do not fit into 2 GB; choose fewer "
                  "by FREQUENCY=N or TIME POINTS= of *NODE PRINT, *EL PRINT and *NODE FILE, or by "
                  "\"states_every\" and \"states_at\"");
}

NodeMotion::NodeMotion(const Job& job, const JobStep& step) : domain_(*job.domains[step.domain]) {
  hidden_.assign(static_cast<std::size_t>(domain_.node_count()), 0);
  for (std::int32_t n = reported_nodes(job, domain_); n < domain_.node_count(); ++n)
    hidden_[static_cast<std::size_t>(n)] = 1;
  for (const std::int32_t n : job.rotation_nodes) hidden_[static_cast<std::size_t>(n)] = 1;
}

MotionDigest NodeMotion::digest(std::span<const std::int32_t> curve_nodes) const {
  MotionDigest digest;
  const std::size_t width = field_.components.size();
  digest.components = field_.components;
  digest.largest.resize(width);
  for (std::size_t n = 0; n < hidden_.size() && width > 0; ++n) {
    if (hidden_[n]) continue;
    double square = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double value = field_.values[n * width + c];
      if (std::isnan(value)) continue;
      LargestValue& largest = digest.largest[c];
      if (field_.components[c][0] == 'u') square += value * value;
      if (largest.place < 0 || std::abs(value) > std::abs(largest.value))
        largest = {value, static_cast<std::int64_t>(n), 0};
    }
    digest.magnitude = std::max(digest.magnitude, std::sqrt(square));
  }
  for (const std::int32_t n : curve_nodes)
    for (std::size_t c = 0; c < width; ++c)
      digest.at_curve_nodes.push_back(n < 0 ? nan : field_.at(n, static_cast<int>(c)));
  return digest;
}

double NodeMotion::change() const {
  double change = 0;
  for (std::size_t i = 0; i < field_.values.size(); ++i)
    if (has_curve(field_.components[i % field_.components.size()]) && !std::isnan(field_.values[i]))
      change = std::max(change, std::abs(field_.values[i] - (written_.empty() ? 0.0 : written_[i])));
  return change;
}

std::unique_ptr<RecordedModel> make_recorded_model(const Job& job, std::size_t step, StepReceiver& receiver,
                                                   std::map<std::size_t, std::vector<HeatedState>>& heated) {
  return std::make_unique<WholeModel>(job, step, receiver, heated);
}

}  // namespace voussoir::detail
