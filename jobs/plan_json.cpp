#include <nlohmann/json.hpp>

#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/plan.hpp>

namespace voussoir {
namespace {

using PlanJson = nlohmann::ordered_json;

PlanJson seconds_or_null(const std::optional<double>& seconds) {
  return seconds ? PlanJson(*seconds) : PlanJson(nullptr);
}

PlanJson strategy_json(const StrategyPlan& s) {
  PlanJson stages = PlanJson::object();
  for (const StagePrediction& stage : s.stages) stages[stage.stage] = seconds_or_null(stage.seconds);
  PlanJson object{{"solver", s.solver},
                  {"storage", s.storage},
                  {"devices", s.devices},
                  {"predicted_seconds", seconds_or_null(s.seconds)},
                  {"predicted_set_up_seconds", seconds_or_null(s.set_up_seconds)},
                  {"predicted_iteration_seconds", seconds_or_null(s.iteration_seconds)},
                  {"predicted_stages", stages},
                  {"predicted_bytes", s.memory},
                  {"fits", s.fits},
                  {"chosen", s.chosen}};
  if (s.count) {
    object["assumed_iterations"] = s.count->iterations;
    object["assumption"] = s.count->text;
  }
  return object;
}

PlanJson model_json(const ModelPlan& m) {
  PlanJson strategies = PlanJson::array();
  for (const StrategyPlan& s : m.strategies) strategies.push_back(strategy_json(s));
  return {{"model", m.domain + 1},
          {"procedure", m.procedure},
          {"steps", m.steps},
          {"matrices", m.matrices},
          {"linear", m.linear},
          {"nodes", m.shape.nodes},
          {"equations", m.shape.equations},
          {"auto", {{"solver", m.chosen_solver}, {"storage", m.chosen_storage}, {"reason", m.reason}}},
          {"strategies", strategies},
          {"notes", m.notes}};
}

}  // namespace

std::string to_json(const JobPlan& plan) {
  PlanJson backends = PlanJson::array();
  for (const BackendPlan& b : plan.backends) {
    PlanJson models = PlanJson::array();
    for (const ModelPlan& m : b.models) models.push_back(model_json(m));
    backends.push_back({{"backend", b.backend},
                        {"device", b.device},
                        {"usable", b.usable},
                        {"measured_profile", b.usable && !b.is_assumption},
                        {"profile", b.profile_note},
                        {"models", models}});
  }
  const PlanJson root{{"voussoir", version()}, {"file", plan.source},  {"name", plan.name},
                      {"title", plan.title},   {"backends", backends}, {"notes", plan.notes}};
  return printable_json(root.dump(2, ' ', false, PlanJson::error_handler_t::replace)) + "\n";
}

}  // namespace voussoir
