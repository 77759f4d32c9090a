#include <voussoir/framework/io/job/detail/step_actions.hpp>

#include <algorithm>

#include <voussoir/framework/io/job/detail/heat_steps.hpp>

namespace voussoir::job {
namespace {

/// The entries of an object under `key` whose keys are names of loads that act in the step.
std::map<std::string, Json> entries_of_loads(const Json& step, const char* key, const std::vector<Load>& loads,
                                             const LoadFactors& factors) {
  std::map<std::string, Json> entries;
  if (!step.has(key)) return entries;
  for (const auto& [load, course] : step.at(key).members()) {
    const bool acts = std::any_of(factors.begin(), factors.end(),
                                  [&, &load = load](const auto& f) { return loads[f.first].name == load; });
    if (!acts) course.fail("the step has no load '" + load + "'");
    entries.emplace(load, course);
  }
  return entries;
}

/// The entry of a load; null if it has none.
const Json* find_entry(const std::map<std::string, Json>& entries, const std::string& load) {
  const auto found = entries.find(load);
  return found == entries.end() ? nullptr : &found->second;
}

/// The places of the loads or supports that act on a body.
template <class Entry>
std::vector<std::size_t> all_of_body(const std::vector<Entry>& entries, std::size_t body) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].body == body) all.push_back(i);
  return all;
}

/// Adds a remark for each load or support that is not marked in `used`.
template <class Entry>
void note_each_unused(const std::vector<Entry>& entries, const std::vector<char>& used, const std::string& kind,
                      std::vector<JobNote>& notes) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!used[i]) notes.push_back({entries[i].json.where(), "no step uses the " + kind + " '" + entries[i].name + "'"});
}

}  // namespace

StepActions::StepActions(Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports)
    : model_(model), loads_(loads), supports_(supports), load_used_(loads.size()), support_used_(supports.size()) {}

// ----- choice by name ------------------------------------------------------------------------------------------------

template <class Entry>
std::vector<std::size_t> StepActions::find(const std::vector<Entry>& entries, const Json& json, const std::string& name,
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

LoadFactors StepActions::loads_of(const Json& step, std::size_t body) const {
  if (!step.has("loads")) return all_loads(body);
  LoadFactors factors;
  const auto add = [&](const Json& at, const std::string& name, double factor) {
    for (const std::size_t i : find(loads_, at, name, body, "load")) {
      if (factor != 1 && (loads_[i].kind == "convection" || loads_[i].kind == "radiation" || loads_[i].kind == "film"))
        at.fail("'" + name + "' is " + (loads_[i].kind == "film" ? "a film" : loads_[i].kind) +
                ", which has no factor: define another load with other values");
      if (factor < 0 && loads_[i].kind == "centrifugal")
        at.fail("'" + name + "' is a centrifugal load, which cannot be reversed: the factor must not be negative");
      for (const auto& [other, f] : factors)
        if (other == i) at.fail("the load '" + name + "' is named twice");
      factors.emplace_back(i, factor);
    }
  };
  const Json json = step.at("loads");
  if (json.is_list() || json.is_text()) {
    for (const Json& item : json.items()) add(item, item.text(), 1.0);
  } else {
    for (const auto& [name, factor] : json.members()) add(factor, name, factor.number());
  }
  return factors;
}

LoadFactors StepActions::all_loads(std::size_t body) const {
  LoadFactors factors;
  for (const std::size_t i : all_of_body(loads_, body)) factors.emplace_back(i, 1.0);
  return factors;
}

std::vector<std::size_t> StepActions::supports_of(const Json& step, std::size_t body) const {
  if (!step.has("supports")) return all_supports(body);
  std::vector<std::size_t> chosen;
  for (const Json& item : step.at("supports").items())
    for (const std::size_t i : find_supports(item, item.text(), body)) chosen.push_back(i);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::vector<std::size_t> StepActions::all_supports(std::size_t body) const { return all_of_body(supports_, body); }

std::vector<std::size_t> StepActions::find_supports(const Json& json, const std::string& name, std::size_t body) const {
  return find(supports_, json, name, body, "support");
}

// ----- what a step makes of them -------------------------------------------------------------------------------------

std::shared_ptr<const Supports> StepActions::use_supports(std::size_t body, const std::vector<std::size_t>& chosen) {
  for (const std::size_t i : chosen) support_used_[i] = 1;
  auto& shared = shared_supports_[{body, chosen}];
  if (!shared) {
    auto made = std::make_shared<Supports>();
    for (const std::size_t i : chosen) apply_support(supports_[i], *made);
    shared = std::move(made);
  }
  return shared;
}

std::vector<MovedSupports> StepActions::read_support_amplitudes(const Json& step, std::size_t body,
                                                                const std::vector<std::size_t>& chosen) const {
  std::vector<MovedSupports> all_moved;
  if (!step.has("support_amplitudes")) return all_moved;
  for (const auto& [name, course] : step.at("support_amplitudes").members()) {
    MovedSupports moved;
    moved.displacement = read_amplitude(course);
    for (const std::size_t i : find_supports(course, name, body)) {
      if (std::find(chosen.begin(), chosen.end(), i) == chosen.end())
        course.fail("the step does not use the support '" + name + "'");
      if (supports_[i].along)
        course.fail("the support '" + name + "' acts along a direction, and such supports have no amplitude");
      for (const Prescribed& p : prescribed_values(supports_[i])) moved.places.push_back({p.node, p.unknown});
    }
    all_moved.push_back(std::move(moved));
  }
  return all_moved;
}

void StepActions::make_load_case(const std::string& name, const LoadFactors& factors, std::size_t body) {
  Domain& domain = model_.body(body).domain();
  LoadCase& load_case = domain.add_load_case(name);
  for (const auto& [i, factor] : factors) {
    loads_[i].json.doing([&, &i = i, &factor = factor] { apply_load(loads_[i], factor, domain, load_case); });
    load_used_[i] = 1;
  }
}

std::vector<NamedLoadCase> StepActions::make_separate_cases(const std::string& step, const LoadFactors& factors,
                                                            std::size_t body) {
  std::vector<NamedLoadCase> cases;
  for (const auto& [i, factor] : factors) {
    const Load& load = loads_[i];
    cases.push_back({load.name, add_load_case(load, factor, load.name + " of " + step, model_.body(body).domain())});
    load_used_[i] = 1;
  }
  return cases;
}

std::vector<StepLoad> StepActions::make_heat_cases(const Json& json, const std::string& step,
                                                   const LoadFactors& factors, std::size_t body) {
  const auto amplitudes = entries_of_loads(json, "amplitudes", loads_, factors);
  const auto coefficients = entries_of_loads(json, "coefficient_amplitudes", loads_, factors);
  std::vector<StepLoad> step_loads;
  for (const auto& [i, factor] : factors) {
    const Load& load = loads_[i];
    const HeatLoad acting{load, factor, find_entry(amplitudes, load.name), find_entry(coefficients, load.name)};
    for (StepLoad& made : add_heat_load(acting, step, model_.body(body).domain()))
      step_loads.push_back(std::move(made));
    load_used_[i] = 1;
  }
  return step_loads;
}

void StepActions::note_unused(std::vector<JobNote>& notes) const {
  note_each_unused(loads_, load_used_, "load", notes);
  note_each_unused(supports_, support_used_, "support", notes);
}

}  // namespace voussoir::job
