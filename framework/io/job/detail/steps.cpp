#include <voussoir/framework/io/job/detail/steps.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/job/detail/heat_steps.hpp>
#include <voussoir/framework/io/job/detail/increment_checks.hpp>
#include <voussoir/framework/io/job/detail/modal_steps.hpp>

namespace voussoir::job {
namespace {

/// A word for a table, and what decks call it.
struct Quantity {
  std::string word, code;
  PrintRequest::At at;
  Procedure procedure;
  bool history = false;  // of histories alone
};

const std::vector<Quantity>& all_quantities() {
  using At = PrintRequest::At;
  constexpr auto statics = Procedure::statics;
  constexpr auto heat = Procedure::steady_heat;
  static const std::vector<Quantity> all = {
      {"displacement", "U", At::nodes, statics},
      {"reaction", "RF", At::nodes, statics},
      {"velocity", "V", At::nodes, statics},
      {"temperature", "NT", At::nodes, heat},
      {"heat_flow", "RFL", At::nodes, heat},
      {"stress", "S", At::elements, statics},
      {"strain", "E", At::elements, statics},
      {"energy", "ENER", At::elements, statics},
      {"volume", "EVOL", At::elements, statics},
      {"section_force", "SF", At::elements, statics},
      {"heat_flux", "HFL", At::elements, heat},
      {"acceleration", "A", At::nodes, statics, true},
      {"mises", "MISES", At::elements, statics, true},
      {"element_energy", "ELSE", At::elements, statics, true},
      {"plastic_strain", "PEEQ", At::elements, statics},
  };
  return all;
}

class StepReader {
 public:
  StepReader(const Json& root, Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports,
             const std::filesystem::path& folder, Job& job)
      : root_(root),
        model_(model),
        loads_(loads),
        supports_(supports),
        folder_(folder),
        job_(job),
        load_used_(loads.size()),
        support_used_(supports.size()) {}

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
      add_step(root_, "step 1", model_.body(0).procedure(), all_loads(0), all_supports(0));
      read_prints(root_, job_.steps.back());
    }
    note_unused(loads_, load_used_, "load");
    note_unused(supports_, support_used_, "support");
  }

 private:
  using SupportPlaces = std::map<std::pair<std::int32_t, std::string>, double>;  // displacement by node and unknown
  using Factors = std::vector<std::pair<std::size_t, double>>;                   // load and factor

  void read_step(const Json& json) {
    if (read_modal_step(json) || read_heat_step(json) || read_stress_step(json)) return;
    json.allow({"name", "title", "analysis", "procedure", "loads", "supports", "temperatures_from", "print"});
    const std::string name = name_of(json);
    Procedure procedure = model_.body(0).procedure();
    if (json.has("analysis")) {
      procedure = json.at("analysis").choice(all_analyses()) == "static" ? Procedure::statics : Procedure::steady_heat;
      model_.require(procedure, json.at("analysis"), "this analysis");
    } else if (model_.body_count() > 1) {
      json.fail("'analysis' is missing; the job has sections for \"static\" and for \"heat\"");
    }
    const std::size_t body = *model_.find(procedure);
    if (const std::string why = procedure == Procedure::statics ? reason_for_increments(domain_of(body)) : "";
        !why.empty())
      json.fail(why + ": use \"analysis\": \"nonlinear_static\"");
    add_step(json, name, procedure, json.has("loads") ? named_loads(json.at("loads"), body) : all_loads(body),
             json.has("supports") ? named_supports(json.at("supports"), body) : all_supports(body));
    JobStep& step = job_.steps.back();
    if (json.has("title")) step.title = json.at("title").text();
    if (json.has("procedure")) step.procedure_name = json.at("procedure").text();
    if (json.has("temperatures_from")) step.heated_by = heating_step(json.at("temperatures_from"), procedure);
    if (json.has("print"))
      read_prints(json, step);
    else if (root_.has("print"))
      read_prints(root_, step);
  }

  const Domain& domain_of(std::size_t body) { return model_.body(body).domain(); }

  static std::vector<std::string> all_analyses() {
    std::vector<std::string> words{"static", "heat", "transient_heat", "thermal_stress"};
    words.insert(words.end(), modal_analyses().begin(), modal_analyses().end());
    return words;
  }

  std::string name_of(const Json& json) const {
    const std::string name =
        json.has("name") ? json.at("name").text() : "step " + std::to_string(job_.steps.size() + 1);
    for (const JobStep& other : job_.steps)
      if (other.name == name) json.fail("a step before is called '" + name + "' too; give each a unique name");
    return name;
  }

  /// A step of modes or of mode superposition; false where it is another one.
  bool read_modal_step(const Json& json) {
    if (!json.has("analysis")) return false;
    const std::string& analysis = json.at("analysis").choice(all_analyses());
    if (analysis == "static" || analysis == "heat" || analysis == "transient_heat" || analysis == "thermal_stress")
      return false;
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
    add_step(json, name, Procedure::statics, {},
             json.has("supports") ? named_supports(json.at("supports"), body) : all_supports(body));
    JobStep& step = job_.steps.back();
    step.procedure = procedure;
    if (json.has("title")) step.title = json.at("title").text();
    std::vector<NamedLoadCase> cases;
    if (loaded && json.has("loads")) cases = separate_loads(named_loads(json.at("loads"), body), name, body);
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
      read_motions(json, step, *direct);
      read_histories(json, step);
    }
    if (json.has("print"))
      read_prints(json, step);
    else if (root_.has("print"))
      read_prints(root_, step);
    return true;
  }

  /// A step of transient heat; false where it is another one.
  bool read_heat_step(const Json& json) {
    if (!json.has("analysis") || json.at("analysis").choice(all_analyses()) != "transient_heat") return false;
    std::vector<std::string> keys{"name", "title", "analysis", "supports", "print"};
    keys.insert(keys.end(), transient_heat_keys().begin(), transient_heat_keys().end());
    json.allow(keys);
    model_.require(Procedure::steady_heat, json.at("analysis"), "this analysis");
    const std::size_t body = *model_.find(Procedure::steady_heat);
    const std::string name = name_of(json);
    const auto prescribed = json.has("supports") ? named_supports(json.at("supports"), body) : all_supports(body);
    add_step(json, name, Procedure::steady_heat, {}, prescribed);
    JobStep& step = job_.steps.back();
    step.procedure = Procedure::transient_heat;
    if (json.has("title")) step.title = json.at("title").text();
    const std::vector<JobStep> earlier(job_.steps.begin(), job_.steps.end() - 1);
    DynamicStep request = read_transient_heat(json, step, earlier);
    step.total_time = request.times.start + request.times.period;
    const Factors factors = json.has("loads") ? named_loads(json.at("loads"), body) : all_loads(body);
    add_heat_loads(json, name, body, factors, request.loads);
    read_courses(json, body, prescribed, request.moved);
    step.modal = std::move(request);
    read_histories(json, step);
    read_prints(json.has("print") ? json : root_, step);
    return true;
  }

  /// "support_amplitudes": what is prescribed times a function of time.
  void read_courses(const Json& json, std::size_t body, const std::vector<std::size_t>& prescribed,
                    std::vector<MovedSupports>& all_moved) const {
    if (!json.has("support_amplitudes")) return;
    for (const auto& [support, course] : json.at("support_amplitudes").members()) {
      MovedSupports moved;
      moved.displacement = read_amplitude(course);
      for (const std::size_t i : find(supports_, course, support, body, "support")) {
        if (std::find(prescribed.begin(), prescribed.end(), i) == prescribed.end())
          course.fail("the step does not use the support '" + support + "'");
        if (supports_[i].along)
          course.fail("the support '" + support + "' acts along a direction, and such supports have no amplitude");
        Supports places;
        apply_support(supports_[i], places);
        for (const Prescribed& p : places.values) moved.places.push_back({p.node, p.unknown});
      }
      all_moved.push_back(std::move(moved));
    }
  }

  /// Static states under the temperatures of a step of transient heat; false where it is another step.
  bool read_stress_step(const Json& json) {
    if (!json.has("analysis") || json.at("analysis").choice(all_analyses()) != "thermal_stress") return false;
    json.allow({"name", "title", "analysis", "supports", "print", "temperatures_from", "loads", "amplitudes",
                "support_amplitudes", "states_every", "states_at"});
    model_.require(Procedure::statics, json.at("analysis"), "this analysis");
    const std::size_t body = *model_.find(Procedure::statics);
    const std::string name = name_of(json);
    const auto prescribed = json.has("supports") ? named_supports(json.at("supports"), body) : all_supports(body);
    refuse_increments(json.at("analysis"), domain_of(body));
    const std::size_t heat = heating_step(json.at("temperatures_from"), Procedure::statics);
    const auto* over = std::get_if<DynamicStep>(&job_.steps[heat].modal);
    if (!over)
      json.at("temperatures_from").fail("this step has one state; use \"analysis\": \"static\" for its temperatures");
    const auto times = over->times;  // `over` points into job_.steps, which grows now
    add_step(json, name, Procedure::statics, {}, prescribed);
    JobStep& step = job_.steps.back();
    step.procedure = Procedure::thermal_stress;
    step.heated_by = heat;
    step.total_time = job_.steps[heat].total_time;
    if (json.has("title")) step.title = json.at("title").text();
    ThermalStressStep request;
    request.start = times.start;
    read_heat_states(json, times.period, request.states);
    const Factors factors = json.has("loads") ? named_loads(json.at("loads"), body) : all_loads(body);
    for (const auto& [load, factor] : factors)
      if (loads_[load].kind == "temperature")
        json.fail("the load '" + loads_[load].name +
                  "' is a temperature, and those of the heat step act here; name "
                  "the other loads in 'loads'");
    add_heat_loads(json, name, body, factors, request.loads);
    read_courses(json, body, prescribed, request.moved);
    step.modal = std::move(request);
    read_prints(json.has("print") ? json : root_, step);
    return true;
  }

  void add_heat_loads(const Json& json, const std::string& name, std::size_t body, const Factors& factors,
                      std::vector<StepLoad>& step_loads) {
    const auto read = [&](const char* key) {
      std::map<std::string, Json> amplitudes;
      if (!json.has(key)) return amplitudes;
      for (const auto& [load, course] : json.at(key).members()) {
        const bool acts = std::any_of(factors.begin(), factors.end(),
                                      [&, &load = load](const auto& f) { return loads_[f.first].name == load; });
        if (!acts) course.fail("the step has no load '" + load + "'");
        amplitudes.emplace(load, course);
      }
      return amplitudes;
    };
    const auto find = [](const std::map<std::string, Json>& amplitudes, const std::string& load) {
      const auto found = amplitudes.find(load);
      return found == amplitudes.end() ? nullptr : &found->second;
    };
    const std::map<std::string, Json> amplitudes = read("amplitudes"), coefficients = read("coefficient_amplitudes");
    for (const auto& [i, factor] : factors) {
      const HeatLoad load{loads_[i], factor, find(amplitudes, loads_[i].name), find(coefficients, loads_[i].name)};
      for (StepLoad& made : add_heat_load(load, name, model_.body(body).domain()))
        step_loads.push_back(std::move(made));
      load_used_[i] = 1;
    }
  }

  /// Motions of supports, and initial displacements and velocities, of a step of direct integration.
  void read_motions(const Json& json, const JobStep& step, DynamicStep& request) {
    std::vector<char> moves(supports_.size());
    SupportPlaces ends;
    if (!request.continues) support_at_.clear();
    if (json.has("support_motions"))
      for (const auto& [name, motion] : json.at("support_motions").members()) {
        MovedSupports moved;
        moved.displacement = read_amplitude(motion);
        for (const std::size_t i : find(supports_, motion, name, step.domain, "support")) {
          if (supports_[i].along)
            motion.fail("the support '" + name +
                        "' acts along a direction, and such supports cannot move; use supports "
                        "along the axes");
          Supports places;
          apply_support(supports_[i], places);
          for (const Prescribed& p : places.values) {
            moved.places.push_back({p.node, p.unknown});
            check_start(motion, name, p, p.value * moved.displacement.at(0));
            ends[{p.node, p.unknown}] = p.value * moved.displacement.at(request.times.period);
          }
          moves[i] = 1;
        }
        request.moved.push_back(std::move(moved));
      }
    if (!request.continues) {
      read_initial(json, "initial_displacement", step, request.displacement);
      read_initial(json, "initial_velocity", step, request.velocity);
    } else if (json.has("initial_displacement") || json.has("initial_velocity")) {
      json.at("continue").fail("a step that continues another one has no initial displacement or velocity");
    }
    const auto acts =
        json.has("supports") ? named_supports(json.at("supports"), step.domain) : all_supports(step.domain);
    refuse_late_supports(json, acts, request.continues.has_value());
    for (const std::size_t i : acts) {
      const bool zero = (!supports_[i].along || supports_[i].along->second == 0) &&
                        std::all_of(supports_[i].values.begin(), supports_[i].values.end(),
                                    [](const auto& v) { return v.second == 0; });
      if (!zero && !moves[i] && step.procedure == Procedure::nonlinear_statics && !supports_[i].along) {
        ramp_support(i, request, ends);
        continue;
      }
      if (!zero && !moves[i])
        json.fail("the support '" + supports_[i].name +
                  "' prescribes a value other than zero, which would jump at the beginning; give its course by "
                  "'support_motions'");
      if (moves[i] || supports_[i].along) continue;
      Supports places;
      apply_support(supports_[i], places);
      for (const Prescribed& p : places.values) check_start(json, supports_[i].name, p, p.value);
    }
    support_at_ = std::move(ends);
  }

  /// A node that was free in the step that is continued has moved, and a support would take it back with a jump.
  void refuse_late_supports(const Json& json, const std::vector<std::size_t>& acts, bool continues) {
    std::set<std::pair<std::int32_t, std::string>> supported;
    std::set<std::size_t> along;
    for (const std::size_t i : acts) {
      bool is_new = false;
      if (supports_[i].along) {
        along.insert(i);
        is_new = !supported_along_.count(i);
      } else {
        Supports places;
        apply_support(supports_[i], places);
        for (const Prescribed& p : places.values) {
          supported.insert({p.node, p.unknown});
          is_new = is_new || !supported_.count({p.node, p.unknown});
        }
      }
      if (continues && is_new)
        json.fail("the support '" + supports_[i].name +
                  "' holds unknowns that were free in the step before, which this step continues: it would jump to its "
                  "place, since nodes have moved; let it act from the first step on");
    }
    supported_ = std::move(supported);
    supported_along_ = std::move(along);
  }

  /// In nonlinear statics, a support goes from where it is to what is prescribed.
  void ramp_support(std::size_t support, DynamicStep& request, SupportPlaces& ends) {
    Supports places;
    apply_support(supports_[support], places);
    std::map<double, MovedSupports> groups;  // by where they begin, as a share of what is prescribed
    for (const Prescribed& p : places.values) {
      if (p.value == 0) continue;
      const auto before = support_at_.find({p.node, p.unknown});
      MovedSupports& moved = groups[before == support_at_.end() ? 0.0 : before->second / p.value];
      moved.places.push_back({p.node, p.unknown});
      ends[{p.node, p.unknown}] = p.value;
    }
    for (auto& [begin, moved] : groups) {
      moved.displacement = Amplitude({{0, begin}, {request.times.period, 1}});
      request.moved.push_back(std::move(moved));
    }
  }

  /// Supports begin where the step before has left them, which is at zero unless that step is continued.
  void check_start(const Json& json, const std::string& name, const Prescribed& place, double value) const {
    const auto before = support_at_.find({place.node, place.unknown});
    const double at = before == support_at_.end() ? 0.0 : before->second;
    if (std::abs(value - at) > 1e-6 * std::max(std::abs(value), std::abs(at)))
      json.fail("the support '" + name + "' would jump from " + short_number(at, 6) + " to " + short_number(value, 6) +
                " (" + place.unknown + ") at the beginning of the step; give it a motion in 'support_motions' that " +
                "begins where the support is");
  }

  void read_initial(const Json& json, const char* key, const JobStep& step, std::vector<InitialMotion>& motions) {
    if (!json.has(key)) return;
    Body& body = model_.body(step.domain);
    for (const Json& item : json.at(key).items()) {
      item.allow({"group", "unknown", "value"});
      const Json group = item.at("group");
      const std::string set = body.node_set(model_.groups().select(group, {0, 1, 2, 3}, "motions are of"), group);
      const std::string unknown = item.at("unknown").choice({"ux", "uy", "uz", "rx", "ry", "rz"});
      for (const std::int32_t node : body.domain().node_set(set))
        motions.push_back({node, unknown, item.at("value").number()});
    }
  }

  /// A load case of each load, since each has an amplitude of its own.
  std::vector<NamedLoadCase> separate_loads(const Factors& factors, const std::string& step, std::size_t body) {
    std::vector<NamedLoadCase> cases;
    Domain& domain = model_.body(body).domain();
    for (const auto& [load, factor] : factors) {
      const std::string plain = loads_[load].name + " of " + step;
      std::string name = plain;
      const auto taken = [&] {
        return std::any_of(domain.load_cases().begin(), domain.load_cases().end(),
                           [&](const auto& other) { return other->name() == name; });
      };
      for (int k = 2; taken(); ++k) name = plain + " (" + std::to_string(k) + ")";
      LoadCase& load_case = domain.add_load_case(name);
      loads_[load].json.doing(
          [&, &load = load, &factor = factor] { apply_load(loads_[load], factor, domain, load_case); });
      load_used_[load] = 1;
      cases.push_back({loads_[load].name, name});
    }
    return cases;
  }

  void add_step(const Json& json, const std::string& name, Procedure procedure, const Factors& factors,
                const std::vector<std::size_t>& prescribed) {
    JobStep step;
    step.name = name;
    step.procedure = procedure;
    step.domain = *model_.find(procedure);
    step.total_time = static_cast<double>(job_.steps.size() + 1);
    step.where = json.where();
    auto& shared = shared_supports_[{step.domain, prescribed}];
    if (!shared) {
      auto made = std::make_shared<Supports>();
      for (const std::size_t s : prescribed) apply_support(supports_[s], *made);
      shared = std::move(made);
    }
    step.supports = shared;
    for (const std::size_t s : prescribed) support_used_[s] = 1;
    if (!factors.empty()) {
      Domain& domain = model_.body(step.domain).domain();
      LoadCase& load_case = domain.add_load_case(name);
      for (const auto& [load, factor] : factors) {
        loads_[load].json.doing(
            [&, &load = load, &factor = factor] { apply_load(loads_[load], factor, domain, load_case); });
        load_used_[load] = 1;
      }
      step.load_case = name;
    }
    job_.steps.push_back(std::move(step));
  }

  Factors all_loads(std::size_t body) const {
    Factors factors;
    for (std::size_t i = 0; i < loads_.size(); ++i)
      if (loads_[i].body == body) factors.emplace_back(i, 1.0);
    return factors;
  }
  std::vector<std::size_t> all_supports(std::size_t body) const {
    std::vector<std::size_t> prescribed;
    for (std::size_t i = 0; i < supports_.size(); ++i)
      if (supports_[i].body == body) prescribed.push_back(i);
    return prescribed;
  }

  /// Those of that name, of which there may be several.
  template <class Entry>
  std::vector<std::size_t> find(const std::vector<Entry>& entries, const Json& json, const std::string& name,
                                std::size_t body, const char* kind) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].name == name) found.push_back(i);
    if (found.empty()) {
      std::vector<std::string> names;
      for (const Entry& entry : entries) names.push_back(entry.name);
      throw Error(ErrorCode::not_found, "there is no " + std::string(kind) + " '" + name + "';" + suggest(name, names),
                  json.where());
    }
    for (const std::size_t i : found)
      if (entries[i].body != body)
        json.fail("the " + std::string(kind) + " '" + name + "' belongs to " +
                  (model_.body(body).procedure() == Procedure::statics ? "heat conduction, but the step is static"
                                                                       : "statics, but the step is a heat step"));
    return found;
  }

  Factors named_loads(const Json& json, std::size_t body) const {
    Factors factors;
    const auto add = [&](const Json& at, const std::string& name, double factor) {
      for (const std::size_t i : find(loads_, at, name, body, "load")) {
        if (factor != 1 &&
            (loads_[i].kind == "convection" || loads_[i].kind == "radiation" || loads_[i].kind == "film"))
          at.fail("'" + name + "' is " + (loads_[i].kind == "film" ? "a film" : loads_[i].kind) +
                  ", which has no factor: define another load with other values");
        if (factor < 0 && loads_[i].kind == "centrifugal")
          at.fail("'" + name + "' is a centrifugal load, which cannot be reversed: the factor must not be negative");
        for (const auto& [other, f] : factors)
          if (other == i) at.fail("the load '" + name + "' is named twice");
        factors.emplace_back(i, factor);
      }
    };
    if (json.is_list() || json.is_text()) {
      for (const Json& item : json.items()) add(item, item.text(), 1.0);
    } else {
      for (const auto& [name, factor] : json.members()) add(factor, name, factor.number());
    }
    return factors;
  }

  std::vector<std::size_t> named_supports(const Json& json, std::size_t body) const {
    std::vector<std::size_t> prescribed;
    for (const Json& item : json.items())
      for (const std::size_t i : find(supports_, item, item.text(), body, "support")) prescribed.push_back(i);
    std::sort(prescribed.begin(), prescribed.end());
    prescribed.erase(std::unique(prescribed.begin(), prescribed.end()), prescribed.end());
    return prescribed;
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

  void read_prints(const Json& owner, JobStep& step) {
    if (!owner.has("print")) return;
    // A request for all steps is for those that have such a result.
    const bool for_all = &owner == &root_ && model_.body_count() > 1;
    for (const Json& json : owner.at("print").items()) {
      json.allow({"at", "group", "values", "totals"});
      PrintRequest request = read_request(json, step, for_all, false);
      if (!request.quantities.empty()) step.prints.push_back(std::move(request));
    }
  }

  /// "at", "group", "values" and "totals" of a table or a history. Of a request for all steps, quantities that a step
  /// does not have are left out.
  PrintRequest read_request(const Json& json, const JobStep& step, bool for_all, bool history) {
    PrintRequest request;
    request.where = json.where();
    request.at =
        json.at("at").choice({"nodes", "elements"}) == "nodes" ? PrintRequest::At::nodes : PrintRequest::At::elements;
    std::vector<std::string> words;
    for (const Quantity& q : all_quantities())
      if (q.at == request.at && (history || !q.history)) words.push_back(q.word);
    for (const Json& item : json.at("values").items()) {
      const std::string& word = item.choice(words);
      for (const Quantity& q : all_quantities()) {
        if (q.word != word || q.at != request.at) continue;
        if (q.code == "V" && step.procedure != Procedure::modal_dynamic && step.procedure != Procedure::harmonic &&
            step.procedure != Procedure::dynamic)
          item.fail("'velocity' is a result of steps of dynamics, modal dynamics and harmonic response");
        if (is_heat(q.procedure) == is_heat(step.procedure))
          request.quantities.push_back(q.code);
        else if (!for_all)
          item.fail("'" + word + "' is not a result of a step of " + to_string(step.procedure));
      }
    }
    if (json.at("values").items().empty()) json.at("values").fail("the list is empty; name the results");
    if (json.has("totals")) {
      const std::string& totals = json.at("totals").choice({"no", "also", "only"});
      request.totals = totals == "no"     ? PrintRequest::Totals::no
                       : totals == "also" ? PrintRequest::Totals::also
                                          : PrintRequest::Totals::only;
    }
    if (json.has("group") && !request.quantities.empty()) {
      Body& body = model_.body(step.domain);
      const Json group = json.at("group");
      request.set =
          request.at == PrintRequest::At::nodes
              ? body.node_set(model_.groups().select(group, {0, 1, 2, 3}, "a table is of"), group)
              : body.element_set(model_.groups().select(group, body.element_dimensions(), "a table of elements is of"),
                                 group);
    }
    return request;
  }

  /// "histories" of a step of dynamics or transient heat.
  void read_histories(const Json& owner, JobStep& step) {
    if (!owner.has("histories")) return;
    const double period = std::get<DynamicStep>(step.modal).times.period;
    for (const Json& json : owner.at("histories").items()) {
      json.allow({"name", "at", "group", "values", "totals", "position", "every", "interval", "number", "times"});
      HistoryRequest history;
      history.of = read_request(json, step, false, true);
      history.name = json.has("name") ? json.at("name").text() : history.of.set;
      if (history.name.empty()) history.name = history.of.at == PrintRequest::At::nodes ? "NALL" : "EALL";
      if (json.has("position")) {
        if (history.of.at == PrintRequest::At::nodes) json.at("position").fail("this is for histories of elements");
        history.centroids = json.at("position").choice({"points", "centroids"}) == "centroids";
      }
      read_history_states(json, period, history.states);
      step.histories.push_back(std::move(history));
    }
  }

  template <class Entry>
  void note_unused(const std::vector<Entry>& entries, const std::vector<char>& used, const std::string& kind) {
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (!used[i])
        job_.notes.push_back({entries[i].json.where(), "no step uses the " + kind + " '" + entries[i].name + "'"});
  }

  const Json& root_;
  Model& model_;
  const std::vector<Load>& loads_;
  const std::vector<Support>& supports_;
  const std::filesystem::path& folder_;
  Job& job_;
  std::vector<char> load_used_, support_used_;
  std::set<std::pair<std::int32_t, std::string>> supported_;  // in the last step of direct integration
  std::set<std::size_t> supported_along_;                     // there, along directions
  SupportPlaces support_at_;                                  // where it has left supports that moved
  std::map<std::pair<std::size_t, std::vector<std::size_t>>, std::shared_ptr<const Supports>> shared_supports_;
};

}  // namespace

void read_steps(const Json& root, Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports,
                const std::filesystem::path& folder, Job& job) {
  StepReader(root, model, loads, supports, folder, job).read();
}

}  // namespace voussoir::job
