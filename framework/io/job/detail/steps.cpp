#include <voussoir/framework/io/job/detail/steps.hpp>

#include <algorithm>

#include <voussoir/framework/io/job/detail/heat_steps.hpp>
#include <voussoir/framework/io/job/detail/increment_checks.hpp>
#include <voussoir/framework/io/job/detail/modal_steps.hpp>
#include <voussoir/framework/io/job/detail/step_actions.hpp>
#include <voussoir/framework/io/job/detail/step_motions.hpp>
#include <voussoir/framework/io/job/detail/step_outputs.hpp>

namespace voussoir::job {
namespace {

/// Reads the steps of a job one after the other: which analysis each is, and what that analysis takes.
class StepReader {
 public:
  StepReader(const Json& root, Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports,
             const std::filesystem::path& folder, Job& job)
      : root_(root),
        model_(model),
        folder_(folder),
        job_(job),
        actions_(model, loads, supports),
        motions_(model, actions_) {}

  void read() {
    if (root_.has("steps")) {
      const auto steps = root_.at("steps").items();
      if (steps.empty()) root_.at("steps").fail("the list is empty; leave it out for one step with all loads");
      for (const Json& step : steps) read_step(step);
    } else if (model_.body_count() > 1) {
      root_.fail(
          "the job has structural and heat sections: give 'steps' that define the analysis of "
          "them, e.g. {\"analysis\": \"heat\"} and {\"analysis\": \"static\"}");
    } else {
      if (const std::string why = reason_for_increments(domain_of(0)); !why.empty())
        root_.fail(why + ": give 'steps' with \"analysis\": \"nonlinear_static\"");
      JobStep& step =
          add_step(root_, "step 1", model_.body(0).procedure(), actions_.all_loads(0), actions_.all_supports(0));
      read_prints(root_, root_, model_, step);
    }
    actions_.note_unused(job_.notes);
  }

 private:
  void read_step(const Json& json) {
    const std::string analysis = json.has("analysis") ? json.at("analysis").choice(all_analyses()) : "";
    if (analysis == "transient_heat") return read_heat_step(json);
    if (analysis == "thermal_stress") return read_stress_step(json);
    const std::vector<std::string>& modal = modal_analyses();
    if (std::find(modal.begin(), modal.end(), analysis) != modal.end()) return read_modal_step(json, analysis);
    read_single_step(json, analysis);
  }

  static std::vector<std::string> all_analyses() {
    std::vector<std::string> words{"static", "heat", "transient_heat", "thermal_stress"};
    words.insert(words.end(), modal_analyses().begin(), modal_analyses().end());
    return words;
  }

  /// A step of statics or steady heat, with one result. Without an `analysis`, it is that of the only body.
  void read_single_step(const Json& json, const std::string& analysis) {
    json.allow({"name", "title", "analysis", "procedure", "loads", "supports", "temperatures_from", "print"});
    const std::string name = name_of(json);
    Procedure procedure = model_.body(0).procedure();
    if (!analysis.empty()) {
      procedure = analysis == "static" ? Procedure::statics : Procedure::steady_heat;
      model_.require(procedure, json.at("analysis"), "this analysis");
    } else if (model_.body_count() > 1) {
      json.fail("'analysis' is missing; the job has sections for \"static\" and for \"heat\"");
    }
    const std::size_t body = *model_.find(procedure);
    if (const std::string why = procedure == Procedure::statics ? reason_for_increments(domain_of(body)) : "";
        !why.empty())
      json.fail(why + ": use \"analysis\": \"nonlinear_static\"");
    JobStep& step = add_step(json, name, procedure, actions_.loads_of(json, body), actions_.supports_of(json, body));
    if (json.has("title")) step.title = json.at("title").text();
    if (json.has("procedure")) step.procedure_name = json.at("procedure").text();
    if (json.has("temperatures_from")) step.heated_by = heating_step(json.at("temperatures_from"), procedure);
    read_prints(json, root_, model_, step);
  }

  /// A step of modes, of mode superposition, of direct integration or of nonlinear statics.
  void read_modal_step(const Json& json, const std::string& analysis) {
    const Procedure procedure = modal_procedure(analysis);
    std::vector<std::string> keys{"name", "title", "analysis", "supports", "print"};
    const bool loaded = procedure == Procedure::modal_dynamic || procedure == Procedure::harmonic ||
                        procedure == Procedure::dynamic || procedure == Procedure::nonlinear_statics;
    if (loaded) keys.emplace_back("loads");
    for (const std::string& key : modal_keys(procedure)) keys.push_back(key);
    json.allow(keys);
    model_.require(Procedure::statics, json.at("analysis"), "this analysis");
    const std::size_t body = *model_.find(Procedure::statics);
    const std::string name = name_of(json);
    const bool over_time = procedure == Procedure::nonlinear_statics || procedure == Procedure::dynamic;
    if (!over_time) refuse_increments(json.at("analysis"), domain_of(body));
    check_large_displacements(json.at("analysis"), domain_of(body), procedure);
    JobStep& step = add_step(json, name, Procedure::statics, {}, actions_.supports_of(json, body));
    step.procedure = procedure;
    if (json.has("title")) step.title = json.at("title").text();
    std::vector<NamedLoadCase> cases;
    if (loaded && json.has("loads")) cases = actions_.make_separate_cases(name, actions_.loads_of(json, body), body);
    const std::vector<JobStep> earlier(job_.steps.begin(), job_.steps.end() - 1);
    step.modal = read_modal(json, step, earlier, cases, folder_);
    if (const auto* dynamic = std::get_if<ModalDynamicStep>(&step.modal))
      step.total_time = dynamic->start + dynamic->period;
    if (auto* direct = std::get_if<DynamicStep>(&step.modal)) {
      step.total_time = direct->times.start + direct->times.period;
      if (direct->explicit_method)
        check_explicit_plasticity(json.at("analysis"), domain_of(body));
      else
        require_no_explicit_elements(json.at("analysis"), domain_of(body));
      motions_.read(json, step, *direct);
      read_histories(json, model_, step);
    }
    read_prints(json, root_, model_, step);
  }

  /// A step of transient heat.
  void read_heat_step(const Json& json) {
    std::vector<std::string> keys{"name", "title", "analysis", "supports", "print"};
    keys.insert(keys.end(), transient_heat_keys().begin(), transient_heat_keys().end());
    json.allow(keys);
    model_.require(Procedure::steady_heat, json.at("analysis"), "this analysis");
    const std::size_t body = *model_.find(Procedure::steady_heat);
    const std::string name = name_of(json);
    const std::vector<std::size_t> prescribed = actions_.supports_of(json, body);
    JobStep& step = add_step(json, name, Procedure::steady_heat, {}, prescribed);
    step.procedure = Procedure::transient_heat;
    if (json.has("title")) step.title = json.at("title").text();
    const std::vector<JobStep> earlier(job_.steps.begin(), job_.steps.end() - 1);
    DynamicStep request = read_transient_heat(json, step, earlier);
    step.total_time = request.times.start + request.times.period;
    request.loads = actions_.make_heat_cases(json, name, actions_.loads_of(json, body), body);
    request.moved = actions_.read_support_amplitudes(json, body, prescribed);
    step.modal = std::move(request);
    read_histories(json, model_, step);
    read_prints(json, root_, model_, step);
  }

  /// Static states under the temperatures of a step of transient heat.
  void read_stress_step(const Json& json) {
    json.allow({"name", "title", "analysis", "supports", "print", "temperatures_from", "loads", "amplitudes",
                "support_amplitudes", "states_every", "states_at"});
    model_.require(Procedure::statics, json.at("analysis"), "this analysis");
    const std::size_t body = *model_.find(Procedure::statics);
    const std::string name = name_of(json);
    const std::vector<std::size_t> prescribed = actions_.supports_of(json, body);
    refuse_increments(json.at("analysis"), domain_of(body));
    const std::size_t heat = heating_step(json.at("temperatures_from"), Procedure::statics);
    const auto* over = std::get_if<DynamicStep>(&job_.steps[heat].modal);
    if (!over)
      json.at("temperatures_from").fail("this step has one state; use \"analysis\": \"static\" for its temperatures");
    const auto times = over->times;  // `over` points into job_.steps, which grows now
    JobStep& step = add_step(json, name, Procedure::statics, {}, prescribed);
    step.procedure = Procedure::thermal_stress;
    step.heated_by = heat;
    step.total_time = job_.steps[heat].total_time;
    if (json.has("title")) step.title = json.at("title").text();
    ThermalStressStep request;
    request.start = times.start;
    read_heat_states(json, times.period, request.states);
    const LoadFactors factors = actions_.loads_of(json, body);
    for (const auto& [load, factor] : factors)
      if (actions_.load(load).kind == "temperature")
        json.fail("the load '" + actions_.load(load).name +
                  "' is a temperature, and those of the heat step act here; name the other loads in 'loads'");
    request.loads = actions_.make_heat_cases(json, name, factors, body);
    request.moved = actions_.read_support_amplitudes(json, body, prescribed);
    step.modal = std::move(request);
    read_prints(json, root_, model_, step);
  }

  const Domain& domain_of(std::size_t body) { return model_.body(body).domain(); }

  std::string name_of(const Json& json) const {
    const std::string name =
        json.has("name") ? json.at("name").text() : "step " + std::to_string(job_.steps.size() + 1);
    for (const JobStep& other : job_.steps)
      if (other.name == name) json.fail("a step before is called '" + name + "' too; give each a unique name");
    return name;
  }

  JobStep& add_step(const Json& json, const std::string& name, Procedure procedure, const LoadFactors& factors,
                    const std::vector<std::size_t>& prescribed) {
    JobStep step;
    step.name = name;
    step.procedure = procedure;
    step.domain = *model_.find(procedure);
    step.total_time = static_cast<double>(job_.steps.size() + 1);
    step.where = json.where();
    step.supports = actions_.use_supports(step.domain, prescribed);
    if (!factors.empty()) {
      actions_.make_load_case(name, factors, step.domain);
      step.load_case = name;
    }
    return job_.steps.emplace_back(std::move(step));
  }

  std::size_t heating_step(const Json& json, Procedure procedure) const {
    if (procedure != Procedure::statics) json.fail("only a static step can use the temperatures of another step");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < job_.steps.size(); ++i) {
      if (!is_heat(job_.steps[i].procedure)) continue;
      if (job_.steps[i].name == json.text()) return i;
      names.push_back(job_.steps[i].name);
    }
    throw Error(ErrorCode::not_found,
                "no earlier heat step is called '" + json.text() + "';" + suggest(json.text(), names), json.where());
  }

  const Json& root_;
  Model& model_;
  const std::filesystem::path& folder_;
  Job& job_;
  StepActions actions_;
  MotionReader motions_;
};

}  // namespace

void read_steps(const Json& root, Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports,
                const std::filesystem::path& folder, Job& job) {
  StepReader(root, model, loads, supports, folder, job).read();
}

}  // namespace voussoir::job
