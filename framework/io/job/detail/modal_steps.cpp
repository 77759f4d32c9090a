#include <voussoir/framework/io/job/detail/modal_steps.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/accelerogram/accelerogram_reader.hpp>

namespace voussoir::job {
namespace {

const std::vector<std::string> axes{"x", "y", "z"};

double number_or(const Json& json, std::string_view key, double otherwise) {
  return json.has(key) ? json.at(key).number() : otherwise;
}

double positive_or(const Json& json, std::string_view key, double otherwise) {
  return json.has(key) ? json.at(key).positive() : otherwise;
}

int whole(const Json& json, int least, int most) {
  const double value = json.number();
  if (!(value >= least && value <= most && value == std::floor(value)))
    json.fail("this must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return static_cast<int>(value);
}

bool yes_or_no(const Json& json, std::string_view key, bool otherwise) {
  return json.has(key) ? json.at(key).choice({"no", "yes"}) == "yes" : otherwise;
}

/// [[0, 0], [1, 2.5]]
std::vector<std::pair<double, double>> pairs(const Json& json) {
  if (!json.is_list()) json.fail("this must be a list of pairs of numbers, [[0, 0], [1, 2.5]]");
  std::vector<std::pair<double, double>> points;
  for (const Json& item : json.items()) {
    if (!item.is_list() || item.items().size() != 2) item.fail("this must be a pair of numbers, [0, 1]");
    points.emplace_back(item.items()[0].number(), item.items()[1].number());
  }
  return points;
}

Amplitude amplitude(const Json& json) {
  return json.doing([&] { return Amplitude(pairs(json)); });
}

int direction(const Json& json) {
  const std::string& word = json.at("direction").choice(axes);
  return static_cast<int>(std::find(axes.begin(), axes.end(), word) - axes.begin());
}

StepDamping read_damping(const Json& step) {
  StepDamping damping;
  if (!step.has("damping")) return damping;
  const Json json = step.at("damping");
  const auto checked = [](const Json& value) {
    if (value.number() < 0) value.fail("damping must not be negative");
    return value.number();
  };
  if (json.is_number()) {
    damping.all = checked(json);
    return damping;
  }
  json.allow({"ratio", "alpha", "beta", "modes"});
  if (json.has("ratio")) damping.all = checked(json.at("ratio"));
  if (json.has("alpha")) damping.alpha = checked(json.at("alpha"));
  if (json.has("beta")) damping.beta = checked(json.at("beta"));
  if (!json.has("modes")) return damping;
  for (const Json& item : json.at("modes").items()) {
    item.allow({"first", "last", "ratio"});
    StepDamping::Ratio ratio;
    ratio.first = whole(item.at("first"), 1, 1'000'000);
    ratio.last = item.has("last") ? whole(item.at("last"), ratio.first, 1'000'000) : ratio.first;
    ratio.ratio = checked(item.at("ratio"));
    ratio.where = item.where();
    damping.ratios.push_back(ratio);
  }
  return damping;
}

Accelerogram read_record(const Json& json, const std::filesystem::path& folder) {
  AccelerogramFormat format;
  if (json.has("layout")) {
    const std::string& layout = json.at("layout").choice({"time_and_value", "one_value", "many_values"});
    format.layout = layout == "one_value"     ? AccelerogramLayout::one_value
                    : layout == "many_values" ? AccelerogramLayout::many_values
                                              : AccelerogramLayout::time_and_value;
  }
  format.time_step = positive_or(json, "time_step", 0);
  format.time_scale = positive_or(json, "time_scale", 1);
  format.scale = number_or(json, "factor", 1);
  if (json.has("skip_lines")) format.skip_lines = static_cast<std::size_t>(whole(json.at("skip_lines"), 0, 1'000'000));
  const Json file = json.at("accelerogram");
  return file.doing([&] { return read_accelerogram(folder / file.text(), format); });
}

std::vector<BaseMotion> read_base(const Json& step, const std::filesystem::path& folder, bool harmonic) {
  std::vector<BaseMotion> motions;
  if (!step.has("base_motion")) return motions;
  for (const Json& json : step.at("base_motion").items()) {
    if (harmonic)
      json.allow({"direction", "acceleration", "factor", "imaginary"});
    else if (json.has("acceleration"))  // the other keys are those of files
      json.allow({"direction", "acceleration", "factor", "accelerogram"});
    else
      json.allow(
          {"direction", "acceleration", "factor", "accelerogram", "layout", "time_step", "time_scale", "skip_lines"});
    BaseMotion motion;
    motion.direction = direction(json);
    if (json.has("accelerogram") == json.has("acceleration") && !harmonic)
      json.fail("give the motion either by 'acceleration', a table of times and values, or by 'accelerogram', a file");
    if (json.has("accelerogram")) {
      motion.acceleration = read_record(json, folder).amplitude();
    } else {
      if (json.has("acceleration")) motion.acceleration = amplitude(json.at("acceleration"));
      motion.real = number_or(json, "factor", 1);
      motion.imaginary = harmonic ? number_or(json, "imaginary", 0) : 0;
    }
    motions.push_back(std::move(motion));
  }
  return motions;
}

/// Amplitudes of loads by their names; those that are not named are constant.
std::vector<StepLoad> read_loads(const Json& step, const std::vector<NamedLoadCase>& cases, bool harmonic) {
  std::vector<StepLoad> loads;
  for (const NamedLoadCase& of : cases) {
    StepLoad load;
    load.load_case = of.load_case;
    loads.push_back(std::move(load));
  }
  const auto find = [&](const Json& json, const std::string& name) {
    std::vector<std::size_t> found;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].load == name) found.push_back(i);
      names.push_back(cases[i].load);
    }
    if (found.empty()) json.fail("the step has no load '" + name + "';" + suggest(name, names));
    return found;
  };
  if (step.has("amplitudes"))
    for (const auto& [name, json] : step.at("amplitudes").members())
      for (const std::size_t i : find(json, name)) loads[i].amplitude = amplitude(json);
  if (harmonic && step.has("phases"))
    for (const auto& [name, json] : step.at("phases").members())
      for (const std::size_t i : find(json, name)) {
        const double angle = json.number() * std::acos(-1.0) / 180;
        loads[i].real = std::cos(angle);
        loads[i].imaginary = std::sin(angle);
      }
  return loads;
}

/// The frequency step whose modes a step superposes: the last one, or the one that it names.
std::size_t find_modes(const Json& json, JobStep& step, const std::vector<JobStep>& earlier) {
  std::size_t found = earlier.size();
  for (std::size_t i = 0; i < earlier.size(); ++i)
    if (earlier[i].procedure == Procedure::frequency &&
        (!json.has("modes_of") || json.at("modes_of").text() == earlier[i].name))
      found = i;
  if (found == earlier.size())
    json.fail(json.has("modes_of")
                  ? "no earlier step with \"analysis\": \"frequency\" is called '" + json.at("modes_of").text() + "'"
                  : "a step with \"analysis\": \"frequency\" must come before this one");
  if (!json.has("supports")) step.supports = earlier[found].supports;
  if (earlier[found].supports != step.supports)
    json.fail("the supports of the step must be those of step '" + earlier[found].name +
              "', whose modes it superposes");
  return found;
}

FrequencyStep read_frequency(const Json& json) {
  FrequencyStep request;
  if (json.has("modes")) request.modes = whole(json.at("modes"), 1, 100'000);
  request.from = positive_or(json, "from", 0);
  request.below = positive_or(json, "below", request.below);
  if (request.modes == 0 && !json.has("below")) request.modes = 10;
  if (!(request.below > request.from)) json.at("below").fail("'below' must be above 'from'");
  return request;
}

ModalDynamicStep read_dynamic(const Json& json, JobStep& step, const std::vector<JobStep>& earlier,
                              const std::vector<NamedLoadCase>& loads, const std::filesystem::path& folder) {
  ModalDynamicStep request;
  request.modes_of = find_modes(json, step, earlier);
  if (!earlier.empty() && yes_or_no(json, "continue", false)) {
    const auto* before = std::get_if<ModalDynamicStep>(&earlier.back().modal);
    if (!before || before->modes_of != request.modes_of)
      json.at("continue").fail("the step before is not one of modal dynamics with the same modes");
    request.continues = earlier.size() - 1;
    request.start = before->start + before->period;
  }
  request.increment = json.at("increment").positive();
  request.period = json.at("period").positive();
  if (request.period / request.increment > 1e6)
    json.at("increment").fail("the step would have more than a million increments");
  request.damping = read_damping(json);
  request.loads = read_loads(json, loads, false);
  request.base = read_base(json, folder, false);
  request.static_correction = yes_or_no(json, "static_correction", true);
  if (json.has("states_every")) request.states.every = whole(json.at("states_every"), 1, 1'000'000);
  return request;
}

/// "newmark", {"name": "hht", "alpha": -0.1} as a name for make_time_integrator().
std::string read_method(const Json& json) {
  if (!json.has("method")) return "generalised-alpha";
  const Json given = json.at("method");
  const std::vector<std::string> names{"newmark", "hht", "generalised-alpha", "explicit"};
  if (given.is_text()) return given.choice(names);
  const std::string name = given.at("name").choice(names);
  const char* const key = name == "newmark" ? "gamma" : name == "hht" ? "alpha" : "radius";
  given.allow(name == "newmark" ? std::vector<std::string>{"name", "beta", "gamma"}
                                : std::vector<std::string>{"name", key});
  std::string text = name;
  for (const char* number : {"beta", key})
    if (given.has(number))
      text += (text == name ? ":" : ",") + (number + ("=" + short_number(given.at(number).number(), 17)));
  return text;
}

bool is_explicit(const Json& json) {
  if (!json.has("method")) return false;
  const Json given = json.at("method");
  return given.is_text() ? given.text() == "explicit" : given.has("name") && given.at("name").text() == "explicit";
}

/// "default", or {"linear": 0.06, "quadratic": 1.2}; a coefficient that is not given is the default one.
void read_bulk_viscosity(const Json& json, ExplicitMethod& method) {
  method.linear_viscosity = BulkViscosityDefaults::linear;
  method.quadratic_viscosity = BulkViscosityDefaults::quadratic;
  if (json.is_text()) {
    json.choice({"default"});
    return;
  }
  json.allow({"linear", "quadratic"});
  const auto take = [&](const char* key, double& coefficient) {
    if (!json.has(key)) return;
    coefficient = json.at(key).number();
    if (!(coefficient >= 0)) json.at(key).fail("a coefficient of bulk viscosity must not be negative");
  };
  take("linear", method.linear_viscosity);
  take("quadratic", method.quadratic_viscosity);
}

/// "explicit", {"name": "explicit", "factor": 0.8}, with the increments of the step.
void read_explicit(const Json& json, DynamicStep& request) {
  DynamicTimes& times = request.times;
  ExplicitMethod method;
  if (const Json given = json.at("method"); !given.is_text()) {
    given.allow({"name", "factor", "mass_scaling", "bulk_viscosity"});
    method.factor = positive_or(given, "factor", method.factor);
    if (method.factor > 1) given.at("factor").fail("the factor of the stability limit is at most 1");
    if (given.has("bulk_viscosity")) read_bulk_viscosity(given.at("bulk_viscosity"), method);
    if (given.has("mass_scaling")) {
      const Json scaling = given.at("mass_scaling");
      scaling.allow({"step", "most_added"});
      method.scaled_step = scaling.at("step").positive();
      method.most_added_mass = positive_or(scaling, "most_added", method.most_added_mass);
    }
  }
  times.period = json.at("period").positive();
  times.automatic = !json.has("increment");
  times.increment = positive_or(json, "increment", 0);
  times.shortest = positive_or(json, "shortest", 0);
  times.longest = positive_or(json, "longest", 0);
  if (times.increment > times.period) json.at("increment").fail("the increment is longer than the period");
  if (json.has("most_increments")) json.at("most_increments").fail("this is for implicit steps");
  for (const char* key : {"automatic", "tolerance"})
    if (json.has(key))
      json.at(key).fail("increments of explicit dynamics follow from the stability limit, unless 'increment' is given");
  for (const char* key : {"shortest", "longest"})
    if (json.has(key) && !times.automatic) json.at(key).fail("'increment' gives all increments their size");
  if (times.longest > 0 && times.longest < times.shortest) json.at("longest").fail("the shortest increment is longer");
  request.method = "central-differences";
  request.explicit_method = method;
}

/// How many increments an implicit step may have.
void read_most_increments(const Json& json, DynamicTimes& times) {
  if (json.has("most_increments")) times.most_increments = whole(json.at("most_increments"), 1, 1'000'000'000);
}

/// The increments and the method of an implicit step.
void read_implicit(const Json& json, DynamicStep& request) {
  DynamicTimes& times = request.times;
  times.increment = json.at("increment").positive();
  times.period = json.at("period").positive();
  if (times.increment > times.period) json.at("increment").fail("the increment is longer than the period");
  if (times.period / times.increment > 1e7)
    json.at("increment").fail("the step would have more than ten million increments");
  times.automatic = yes_or_no(json, "automatic", false);
  times.tolerance = positive_or(json, "tolerance", 2e-5);
  times.shortest = positive_or(json, "shortest", 0);
  times.longest = positive_or(json, "longest", 0);
  for (const char* key : {"tolerance", "shortest", "longest"})
    if (json.has(key) && !times.automatic)
      json.at(key).fail("this is for automatic increments: \"automatic\": \"yes\"");
  if (times.shortest > times.increment) json.at("shortest").fail("the first increment is shorter");
  if (times.longest > 0 && times.longest < times.increment) json.at("longest").fail("the first increment is longer");
  request.method = read_method(json);
  read_most_increments(json, times);
}

DynamicStep read_direct(const Json& json, const std::vector<JobStep>& earlier, const JobStep& step,
                        const std::vector<NamedLoadCase>& loads, const std::filesystem::path& folder) {
  DynamicStep request;
  DynamicTimes& times = request.times;
  if (yes_or_no(json, "continue", false)) {
    const auto* before = earlier.empty() ? nullptr : std::get_if<DynamicStep>(&earlier.back().modal);
    if (!before || earlier.back().domain != step.domain)
      json.at("continue").fail("the step before is not one of dynamics");
    request.continues = earlier.size() - 1;
    times.start = before->times.start + before->times.period;
  }
  if (is_explicit(json))
    read_explicit(json, request);
  else
    read_implicit(json, request);
  if (request.continues) {
    const auto scaled = [](const DynamicStep& s) { return s.explicit_method ? s.explicit_method->scaled_step : 0.0; };
    if (scaled(std::get<DynamicStep>(earlier.back().modal)) != scaled(request))
      json.at("continue").fail("the step before has another 'mass_scaling', and masses would jump; give both the same");
  }
  if (json.has("damping")) {
    json.at("damping").allow({"alpha", "beta"});
    const StepDamping damping = read_damping(json);
    request.alpha = damping.alpha;
    request.beta = damping.beta;
  }
  request.loads = read_loads(json, loads, false);
  request.base = read_base(json, folder, false);
  if (json.has("states_every")) request.states.every = whole(json.at("states_every"), 1, 1'000'000);
  read_state_choice(json, request.times.period, request.states);
  return request;
}

/// Whether a load case is that of a load of the file in a step.
bool is_case_of(const std::string& load_case, const std::string& load, const std::string& step) {
  const std::string plain = load + " of " + step;
  return load_case == plain || load_case.starts_with(plain + " (");
}

/// A load with an amplitude begins anew. One that still acts at the end of the step before would act twice.
void refuse_loads_that_still_act(const Json& json, const StepLoad& before, const std::string& step,
                                 const std::vector<NamedLoadCase>& loads) {
  if (!json.has("amplitudes")) return;
  for (const NamedLoadCase& now : loads)
    if (json.at("amplitudes").has(now.load) && is_case_of(before.load_case, now.load, step))
      json.at("amplitudes")
          .at(now.load)
          .fail("the load '" + now.load +
                "' still acts at the end of the step before, which this step continues; omit its amplitude, so that it "
                "goes from there to its factor over the step, or bring it to zero in the step before");
}

/// Statics in increments. Loads without an amplitude go from what they were at the end of the step that is continued to
/// what they are at the end of this one.
DynamicStep read_increments(const Json& json, const std::vector<JobStep>& earlier, const JobStep& step,
                            const std::vector<NamedLoadCase>& loads) {
  DynamicStep request;
  request.method = "static";
  DynamicTimes& times = request.times;
  const DynamicStep* before = nullptr;
  if (yes_or_no(json, "continue", false)) {
    if (!earlier.empty() && earlier.back().procedure == Procedure::nonlinear_statics &&
        earlier.back().domain == step.domain)
      before = std::get_if<DynamicStep>(&earlier.back().modal);
    if (!before) json.at("continue").fail("the step before is not one of nonlinear statics");
    request.continues = earlier.size() - 1;
    times.start = before->times.start + before->times.period;
  }
  times.period = positive_or(json, "period", 1);
  times.increment = positive_or(json, "increment", times.period);
  if (times.increment > times.period) json.at("increment").fail("the increment is longer than the period");
  times.automatic = yes_or_no(json, "automatic", true);
  times.shortest = positive_or(json, "shortest", 0);
  times.longest = positive_or(json, "longest", 0);
  for (const char* key : {"shortest", "longest"})
    if (json.has(key) && !times.automatic) json.at(key).fail("this is for automatic increments");
  if (times.shortest > times.increment) json.at("shortest").fail("the first increment is shorter");
  if (times.longest > 0 && times.longest < times.increment) json.at("longest").fail("the first increment is longer");
  read_most_increments(json, times);
  request.loads = read_loads(json, loads, false);
  for (std::size_t i = 0; i < request.loads.size(); ++i)
    if (!json.has("amplitudes") || !json.at("amplitudes").has(loads[i].load))
      request.loads[i].amplitude = Amplitude({{0, 0}, {times.period, 1}});
  if (before)
    for (StepLoad load : before->loads) {
      const double end = load.amplitude.at(before->times.period);
      if (end == 0) continue;
      refuse_loads_that_still_act(json, load, earlier.back().name, loads);
      load.amplitude = Amplitude({{0, end}, {times.period, 0}});
      request.loads.push_back(std::move(load));
    }
  if (json.has("states_every")) request.states.every = whole(json.at("states_every"), 1, 1'000'000);
  read_state_choice(json, times.period, request.states);
  return request;
}

HarmonicStep read_harmonic(const Json& json, JobStep& step, const std::vector<JobStep>& earlier,
                           const std::vector<NamedLoadCase>& loads, const std::filesystem::path& folder) {
  HarmonicStep request;
  request.modes_of = find_modes(json, step, earlier);
  request.lowest = json.at("lowest").number();
  request.highest = json.at("highest").positive();
  if (request.lowest < 0 || request.highest <= request.lowest)
    json.at("highest").fail("frequencies must rise from 'lowest', zero or more, to 'highest'");
  if (json.has("points")) request.points = static_cast<std::size_t>(whole(json.at("points"), 2, 1'000'000));
  request.bias = positive_or(json, "bias", 3);
  if (request.bias < 1) json.at("bias").fail("the bias must be 1 or more");
  request.damping = read_damping(json);
  request.loads = read_loads(json, loads, true);
  request.base = read_base(json, folder, true);
  request.static_correction = yes_or_no(json, "static_correction", true);
  return request;
}

SpectrumStep read_spectrum(const Json& json, JobStep& step, const std::vector<JobStep>& earlier) {
  SpectrumStep request;
  request.modes_of = find_modes(json, step, earlier);
  const bool corrected = yes_or_no(json, "static_correction", false);
  for (const Json& item : json.at("directions").items()) {
    item.allow({"direction", "spectrum", "axis", "interpolation", "beyond", "factor", "rigid_acceleration"});
    using Spectrum = ResponseSpectrum;
    const auto axis = item.has("axis") && item.at("axis").choice({"period", "frequency"}) == "frequency"
                          ? Spectrum::Axis::frequency
                          : Spectrum::Axis::period;
    const auto between =
        item.has("interpolation") && item.at("interpolation").choice({"linear", "logarithmic"}) == "logarithmic"
            ? Spectrum::Interpolation::logarithmic
            : Spectrum::Interpolation::linear;
    const auto beyond = item.has("beyond") && item.at("beyond").choice({"refuse", "nearest"}) == "nearest"
                            ? Spectrum::Beyond::nearest
                            : Spectrum::Beyond::refuse;
    const Json table = item.at("spectrum");
    request.directions.push_back({direction(item),
                                  table.doing([&] { return Spectrum(pairs(table), axis, between, beyond); }),
                                  number_or(item, "factor", 1),
                                  {}});
    if (item.has("rigid_acceleration")) {
      if (!corrected)
        item.at("rigid_acceleration").fail("this is for modes that are left out; set \"static_correction\": \"yes\"");
      request.directions.back().rigid_acceleration = item.at("rigid_acceleration").number();
    }
  }
  if (request.directions.empty() || request.directions.size() > 3)
    json.at("directions").fail("there must be one, two or three directions");
  request.damping = read_damping(json);
  const std::string combination =
      json.has("combination") ? json.at("combination").choice({"cqc", "srss", "absolute"}) : "cqc";
  request.combination = combination == "srss"       ? ModalCombination::srss
                        : combination == "absolute" ? ModalCombination::absolute_sum
                                                    : ModalCombination::cqc;
  const std::string directional =
      json.has("directional") ? json.at("directional").choice({"srss", "100-30", "100-40"}) : "srss";
  request.directional = directional == "100-30"   ? DirectionalCombination::hundred_thirty
                        : directional == "100-40" ? DirectionalCombination::hundred_forty
                                                  : DirectionalCombination::srss;
  request.static_correction = corrected;
  return request;
}

}  // namespace

Amplitude read_amplitude(const Json& json) { return amplitude(json); }

const std::vector<std::string>& modal_analyses() {
  static const std::vector<std::string> words{"frequency", "modal_dynamic", "harmonic",
                                              "spectrum",  "dynamic",       "nonlinear_static"};
  return words;
}

Procedure modal_procedure(const std::string& analysis) {
  if (analysis == "modal_dynamic") return Procedure::modal_dynamic;
  if (analysis == "harmonic") return Procedure::harmonic;
  if (analysis == "dynamic") return Procedure::dynamic;
  if (analysis == "nonlinear_static") return Procedure::nonlinear_statics;
  return analysis == "spectrum" ? Procedure::spectrum : Procedure::frequency;
}

std::vector<std::string> modal_keys(Procedure procedure) {
  if (procedure == Procedure::nonlinear_statics)
    return {"increment",     "period",          "automatic",       "shortest",        "longest",
            "amplitudes",    "support_motions", "states_every",    "states_interval", "states_number",
            "states_change", "continue",        "most_increments", "histories"};
  switch (procedure) {
    case Procedure::frequency:
      return {"modes", "from", "below"};
    case Procedure::modal_dynamic:
      return {"modes_of",    "increment",         "period",       "damping", "amplitudes",
              "base_motion", "static_correction", "states_every", "continue"};
    case Procedure::harmonic:
      return {"modes_of", "lowest",     "highest", "points",      "bias",
              "damping",  "amplitudes", "phases",  "base_motion", "static_correction"};
    case Procedure::dynamic:
      return {"increment",        "period",          "automatic",
              "tolerance",        "shortest",        "longest",
              "method",           "damping",         "amplitudes",
              "base_motion",      "support_motions", "states_every",
              "states_interval",  "states_number",   "states_change",
              "histories",        "continue",        "initial_displacement",
              "initial_velocity", "most_increments"};
    case Procedure::spectrum:
      return {"modes_of", "directions", "damping", "combination", "directional", "static_correction"};
    default:
      return {};
  }
}

ModalRequest read_modal(const Json& json, JobStep& step, const std::vector<JobStep>& earlier,
                        const std::vector<NamedLoadCase>& loads, const std::filesystem::path& folder) {
  if (step.procedure == Procedure::nonlinear_statics) return read_increments(json, earlier, step, loads);
  switch (step.procedure) {
    case Procedure::frequency:
      return read_frequency(json);
    case Procedure::modal_dynamic:
      return read_dynamic(json, step, earlier, loads, folder);
    case Procedure::harmonic:
      return read_harmonic(json, step, earlier, loads, folder);
    case Procedure::spectrum:
      return read_spectrum(json, step, earlier);
    case Procedure::dynamic:
      return read_direct(json, earlier, step, loads, folder);
    default:
      return {};
  }
}

void read_history_states(const Json& json, double period, StateOutput& states) {
  const char* chosen = nullptr;
  for (const char* key : {"every", "interval", "number", "times"}) {
    if (!json.has(key)) continue;
    if (chosen) json.at(key).fail(std::string("give either '") + chosen + "' or '" + key + "'");
    chosen = key;
  }
  if (json.has("every")) states.every = whole(json.at("every"), 1, 1'000'000);
  if (json.has("interval")) states.interval = json.at("interval").positive();
  if (json.has("number")) states.interval = period / whole(json.at("number"), 1, 1'000'000);
  if (!json.has("times")) return;
  for (const Json& item : json.at("times").items()) {
    const double time = item.number();
    if (!(time > 0 && time <= period)) item.fail("the time is not in the step, which ends at its 'period'");
    if (!states.times.empty() && time <= states.times.back()) item.fail("times must increase");
    states.times.push_back(time);
  }
  if (states.times.empty()) json.at("times").fail("the list is empty; name times of the step");
}

void read_state_choice(const Json& json, double period, StateOutput& states) {
  const char* chosen = nullptr;
  for (const char* key : {"states_every", "states_at", "states_interval", "states_number", "states_change"}) {
    if (!json.has(key)) continue;
    if (chosen) json.at(key).fail(std::string("give either '") + chosen + "' or '" + key + "'");
    chosen = key;
  }
  if (json.has("states_interval")) states.interval = json.at("states_interval").positive();
  if (json.has("states_number")) states.interval = period / whole(json.at("states_number"), 1, 1'000'000);
  if (json.has("states_change")) {
    states.change = json.at("states_change").positive();
    if (states.change >= 1) json.at("states_change").fail("this is a share of the largest value, below 1");
  }
}

}  // namespace voussoir::job
