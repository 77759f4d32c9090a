#include <voussoir/jobs/job_fingerprint.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/detail/restart_state.hpp>

namespace voussoir {
namespace {

constexpr const char* text_part = "the text of the input file";

/// Adds up what it is given; texts and lists with their lengths, so that nothing can move from one to the next.
class PartSum {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> PartSum& add(T value) {
    sum_ = checksum({reinterpret_cast<const char*>(&value), sizeof value}, sum_);
    return *this;
  }
  PartSum& add(const std::string& text) {
    add(text.size());
    sum_ = checksum(text, sum_);
    return *this;
  }
  PartSum& add(double first, double second) { return add(first).add(second); }
  PartSum& add(const Amplitude& amplitude) {
    add(amplitude.points().size());
    for (const auto& [time, value] : amplitude.points()) add(time, value);
    return *this;
  }
  template <class T>
  requires std::is_arithmetic_v<T> PartSum& add(std::span<const T> list) {
    add(list.size());
    sum_ = checksum({reinterpret_cast<const char*>(list.data()), list.size_bytes()}, sum_);
    return *this;
  }
  template <class T>
  requires std::is_arithmetic_v<T> PartSum& add(const std::vector<T>& list) { return add(std::span<const T>(list)); }
  PartSum& add(const std::array<double, 3>& vector) { return add(std::span<const double>(vector)); }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = checksum({});
};

std::uint64_t sum_of_nodes(const Job& job) {
  PartSum sum;
  for (const auto& domain : job.domains) {
    sum.add(domain->node_count());
    for (std::int32_t n = 0; n < domain->node_count(); ++n) sum.add(domain->node_id(n));
    sum.add(domain->coordinates());
  }
  sum.add(job.rotation_nodes).add(job.own_nodes).add(job.node_axes.system_of);
  for (const Orientation& axes : job.node_axes.systems)
    sum.add(axes.varies()).add(axes.axis_point()).add(axes.axis_direction());
  return sum.sum();
}

std::uint64_t sum_of_elements(const Job& job) {
  PartSum sum;
  for (const auto& domain : job.domains)
    for (std::size_t b = 0; b < domain->block_count(); ++b) {
      const ElementBlock& block = domain->block(b);
      sum.add(block.name()).add(block.type_name()).add(block.size());
      for (std::int32_t e = 0; e < block.size(); ++e) sum.add(block.id(e));
      sum.add(block.connectivity());
    }
  return sum.sum();
}

/// Axes at a place that is on no axis of a cylinder but by bad luck.
void add_axes(PartSum& sum, const Orientation& orientation) {
  sum.add(orientation.varies()).add(orientation.axis_point()).add(orientation.axis_direction());
  for (const std::array<double, 3>& away : {std::array{1.0, 0.37, 0.21}, std::array{0.13, 1.0, -0.59}}) {
    std::array<double, 3> place = orientation.axis_point();
    for (std::size_t k = 0; k < 3; ++k) place[k] += away[k];
    try {
      for (const double entry : orientation.at(place)) sum.add(entry);
    } catch (const Error&) {  // on the axis
      sum.add(0);
    }
  }
}

std::uint64_t sum_of_materials(const Job& job) {
  PartSum sum;
  for (const auto& domain : job.domains)
    for (std::size_t b = 0; b < domain->block_count(); ++b) {
      const ElementBlock& block = domain->block(b);
      for (const auto& [name, value] : block.section()) sum.add(name).add(value);
      for (const auto& [name, values] : block.per_element()) sum.add(name).add(values);
      add_axes(sum, block.orientation());
      if (!block.material()) continue;
      const Material& material = *block.material();
      sum.add(material.name()).add(material.law()).add(material.damping().mass, material.damping().stiffness);
      sum.add(material.expansion_reference().has_value()).add(material.expansion_reference().value_or(0));
      std::vector<double> temperatures = material.temperatures();
      if (temperatures.empty()) temperatures.push_back(0);
      sum.add(temperatures);
      for (const std::string& name : material.parameter_names())
        for (const double temperature : temperatures) sum.add(name).add(material.value(name, temperature));
    }
  return sum.sum();
}

std::uint64_t sum_of_sets(const Job& job) {
  PartSum sum;
  for (const auto& domain : job.domains) {
    for (const std::string& name : domain->node_set_names()) sum.add(name).add(domain->node_set(name));
    for (const std::string& name : domain->element_set_names()) {
      sum.add(name);
      for (const ElementRef& ref : domain->element_set(name)) sum.add(ref.block).add(ref.element);
    }
    for (const std::string& name : domain->surface_names()) {
      sum.add(name);
      for (const FaceRef& ref : domain->surface(name)) sum.add(ref.block).add(ref.element).add(ref.face);
    }
  }
  return sum.sum();
}

std::uint64_t sum_of_equations(const Job& job) {
  PartSum sum;
  for (const auto& domain : job.domains)
    for (const ConstraintEquation& equation : domain->equations()) {
      sum.add(equation.constant).add(equation.terms.size());
      for (const ConstraintEquation::Term& term : equation.terms)
        sum.add(term.node).add(term.unknown).add(term.coefficient);
    }
  return sum.sum();
}

std::uint64_t sum_of_temperatures(const Job& job) {
  PartSum sum;
  for (const auto& domain : job.domains) sum.add(domain->reference_temperature()).add(domain->initial_temperatures());
  return sum.sum();
}

void add_load_case(PartSum& sum, const LoadCase& loads) {
  sum.add(loads.name());
  for (const LoadCase::Nodal& load : loads.nodal_loads()) sum.add(load.node).add(load.unknown).add(load.value);
  for (const LoadCase::Surface& load : loads.surface_loads()) sum.add(load.surface).add(load.kind).add(load.values);
  for (const LoadCase::Body& body : loads.body_loads()) {
    const BodyLoad& load = body.load;
    sum.add(body.element_set).add(std::span<const double>(load.acceleration)).add(load.angular_velocity_squared);
    sum.add(std::span<const double>(load.axis_point)).add(std::span<const double>(load.axis_direction));
    sum.add(load.source);
  }
  sum.add(loads.temperatures());
}

std::uint64_t sum_of_loads(const Job& job) {
  PartSum sum;
  for (const auto& domain : job.domains)
    for (const auto& loads : domain->load_cases()) add_load_case(sum, *loads);
  return sum.sum();
}

void add_supports(PartSum& sum, const std::vector<Prescribed>& values, const std::vector<ObliqueSupport>& oblique) {
  for (const Prescribed& p : values) sum.add(p.node).add(p.unknown).add(p.value);
  for (const ObliqueSupport& o : oblique) sum.add(o.node).add(o.direction).add(o.value);
}

std::uint64_t sum_of_supports(const Job& job, const JobStep& step) {
  PartSum sum;
  if (step.supports) {
    add_supports(sum, step.supports->values, step.supports->oblique);
    for (const Supports::Kept& kept : step.supports->kept) sum.add(kept.node).add(kept.unknown).add(kept.direction);
  } else {
    add_supports(sum, job.domains[step.domain]->prescribed(), job.domains[step.domain]->oblique_supports());
  }
  return sum.sum();
}

void add_damping(PartSum& sum, const StepDamping& damping) {
  for (const StepDamping::Ratio& r : damping.ratios) sum.add(r.first).add(r.last).add(r.ratio);
  sum.add(damping.all).add(damping.alpha).add(damping.beta);
}

void add_acting(PartSum& sum, const std::vector<StepLoad>& loads, const std::vector<BaseMotion>& base) {
  for (const StepLoad& load : loads) {
    sum.add(load.load_case).add(load.amplitude).add(load.real, load.imaginary).add(bool(load.course));
    if (!load.course) continue;
    for (const auto& [time, value] : load.amplitude.points()) sum.add(load.course(time));
  }
  for (const BaseMotion& motion : base)
    sum.add(motion.direction).add(motion.acceleration).add(motion.real, motion.imaginary);
}

/// What a step with several states asks for, by subject.
struct RequestSums {
  PartSum times, method, loads, initial, states;

  void add(const StateOutput& output) {
    states.add(output.every).add(output.times).add(output.interval, output.change);
  }
  void add(const std::vector<InitialMotion>& motions) {
    for (const InitialMotion& m : motions) initial.add(m.node).add(m.unknown).add(m.value);
    initial.add(motions.size());
  }
  void add(const std::vector<MovedSupports>& list) {
    for (const MovedSupports& moved : list) {
      loads.add(moved.displacement).add(moved.places.size());
      for (const MovedSupports::Place& place : moved.places) loads.add(place.node).add(place.unknown);
    }
  }
  void operator()(std::monostate) {}
  void operator()(const FrequencyStep& s) { method.add(s.modes).add(s.from, s.below); }
  void operator()(const ModalDynamicStep& s) {
    times.add(s.increment).add(s.period).add(s.start).add(s.modes_of).add(s.continues.value_or(0));
    add_damping(method, s.damping);
    method.add(s.static_correction);
    add_acting(loads, s.loads, s.base);
    add(s.states);
    add(s.displacement);
    add(s.velocity);
  }
  void operator()(const HarmonicStep& s) {
    times.add(s.lowest, s.highest).add(s.points).add(s.bias).add(s.modes_of);
    add_damping(method, s.damping);
    method.add(s.static_correction);
    add_acting(loads, s.loads, s.base);
  }
  void operator()(const SpectrumStep& s) {
    add_damping(method, s.damping);
    method.add(s.combination).add(s.directional).add(s.static_correction).add(s.modes_of);
    for (const SpectrumStep::Direction& d : s.directions) {
      loads.add(d.direction).add(d.factor).add(d.rigid_acceleration.value_or(-1)).add(d.spectrum.axis());
      for (const auto& [at, value] : d.spectrum.points()) loads.add(at, value);
    }
  }
  void operator()(const DynamicStep& s) {
    times.add(s.times.increment).add(s.times.period).add(s.times.start).add(s.times.automatic);
    times.add(s.times.shortest).add(s.times.longest).add(s.times.tolerance).add(s.continues.has_value());
    times.add(s.times.largest_change).add(s.times.most_increments);
    method.add(s.method).add(s.alpha, s.beta).add(s.explicit_method.has_value());
    if (const auto& own = s.explicit_method) {
      method.add(own->factor).add(own->scaled_step).add(own->most_added_mass);
      method.add(own->linear_viscosity).add(own->quadratic_viscosity);
    }
    add_acting(loads, s.loads, s.base);
    add(s.moved);
    add(s.states);
    add(s.displacement);
    add(s.velocity);
  }
  void operator()(const ThermalStressStep& s) {
    times.add(s.start);
    add_acting(loads, s.loads, {});
    add(s.moved);
    add(s.states);
  }
};

void add_step(std::vector<FingerprintPart>& parts, const Job& job, std::size_t index) {
  const JobStep& step = job.steps[index];
  RequestSums sums;
  std::visit(sums, step.modal);
  sums.times.add(step.total_time);
  sums.method.add(step.procedure).add(step.procedure_name).add(step.domain);
  sums.loads.add(step.load_case).add(step.load_factor).add(step.heated_by.has_value());
  sums.loads.add(step.heated_by.value_or(0));
  const auto add_print = [&](const PrintRequest& print) {
    sums.states.add(print.at).add(print.set).add(print.totals).add(print.local).add(print.every).add(print.times);
    for (const std::string& quantity : print.quantities) sums.states.add(quantity);
  };
  for (const PrintRequest& print : step.prints) add_print(print);
  for (const HistoryRequest& history : step.histories) {
    sums.states.add(history.name).add(history.centroids);
    add_print(history.of);
    for (const std::string& column : history.columns) sums.states.add(column);
    sums.add(history.states);
  }
  const std::string of = " of step " + std::to_string(index + 1) + " ('" + step.name + "')";
  parts.push_back({"procedure, method and damping" + of, sums.method.sum()});
  parts.push_back({"increments and period" + of, sums.times.sum()});
  parts.push_back({"loads" + of, sums.loads.sum()});
  parts.push_back({"supports" + of, sum_of_supports(job, step)});
  parts.push_back({"initial motion" + of, sums.initial.sum()});
  parts.push_back({"requested results" + of, sums.states.sum()});
}

std::uint64_t sum_of_places(const Job& job) {
  PartSum sum;
  for (const ProbePoint& point : job.points) sum.add(point.name).add(point.position);
  for (const ProbePath& path : job.paths) sum.add(path.name).add(path.from).add(path.to).add(path.points);
  return sum.sum();
}

/// Comments and empty lines of decks do not count, and neither do spaces at the ends of lines.
std::uint64_t sum_of_text(const Job& job) {
  PartSum sum;
  std::ifstream file(job.source);
  const bool deck = !job.source.ends_with(".json");
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || (deck && line.compare(first, 2, "**") == 0)) continue;
    sum.add(line);
  }
  return sum.sum();
}

}  // namespace

std::vector<FingerprintPart> job_fingerprint(const Job& job) {
  std::vector<FingerprintPart> parts = {{"nodes", sum_of_nodes(job)},
                                        {"elements", sum_of_elements(job)},
                                        {"materials and sections", sum_of_materials(job)},
                                        {"sets and surfaces", sum_of_sets(job)},
                                        {"constraint equations", sum_of_equations(job)},
                                        {"initial temperatures", sum_of_temperatures(job)},
                                        {"loads", sum_of_loads(job)},
                                        {"the number of steps", job.steps.size()},
                                        {"points and paths", sum_of_places(job)}};
  PartSum labels;
  labels.add(job.name).add(job.title).add(job.units.force).add(job.units.length).add(job.units.stress);
  labels.add(job.units.temperature).add(job.units.power);
  parts.push_back({"names, title or units", labels.sum()});
  for (std::size_t i = 0; i < job.steps.size(); ++i) add_step(parts, job, i);
  if (job.restart) parts.push_back({"the restart file", checksum(job.restart->bytes)});
  parts.push_back({text_part, sum_of_text(job)});
  return parts;
}

detail::RestartFingerprint detail::RestartFingerprint::of(const Job& job) {
  RestartFingerprint made;
  made.model = {{"nodes", sum_of_nodes(job)},
                {"elements", sum_of_elements(job)},
                {"materials and sections", sum_of_materials(job)},
                {"constraint equations", sum_of_equations(job)},
                {"initial temperatures", sum_of_temperatures(job)}};
  for (const auto& domain : job.domains) {
    const auto add = [&](const std::string& name, const auto& sum) { made.model.push_back({name, sum.sum()}); };
    for (const std::string& name : domain->node_set_names()) {
      PartSum sum;
      sum.add(domain->node_set(name));
      add("node set '" + name + "'", sum);
    }
    for (const std::string& name : domain->element_set_names()) {
      PartSum sum;
      for (const ElementRef& ref : domain->element_set(name)) sum.add(ref.block).add(ref.element);
      add("element set '" + name + "'", sum);
    }
  }
  std::vector<std::map<std::string, std::uint64_t, std::less<>>> sums_of_cases;  // per domain
  for (const auto& domain : job.domains) {
    auto& sums = sums_of_cases.emplace_back();
    for (const auto& loads : domain->load_cases()) {
      PartSum sum;
      add_load_case(sum, *loads);
      sums.emplace(loads->name(), sum.sum());
    }
  }
  for (std::size_t i = 0; i < job.steps.size(); ++i) {
    const JobStep& step = job.steps[i];
    std::vector<FingerprintPart>& parts = made.steps.emplace_back(Step{step.procedure, {}}).parts;
    add_step(parts, job, i);
    std::set<std::string, std::less<>> cases = {step.load_case};
    if (const auto* request = std::get_if<DynamicStep>(&step.modal))
      for (const StepLoad& load : request->loads) cases.insert(load.load_case);
    PartSum sum;
    for (const std::string& name : cases)
      if (const auto found = sums_of_cases[step.domain].find(name); found != sums_of_cases[step.domain].end())
        sum.add(found->second);
    parts.push_back({"load cases of step " + std::to_string(i + 1) + " ('" + step.name + "')", sum.sum()});
  }
  return made;
}

std::vector<std::string> changed_parts(const std::vector<FingerprintPart>& before,
                                       const std::vector<FingerprintPart>& now) {
  std::vector<std::string> names;
  const auto compare = [&](const std::vector<FingerprintPart>& from, const std::vector<FingerprintPart>& with) {
    for (const FingerprintPart& part : from)
      if (std::find(with.begin(), with.end(), part) == with.end() &&
          std::find(names.begin(), names.end(), part.name) == names.end())
        names.push_back(part.name);
  };
  compare(now, before);
  compare(before, now);
  if (names.size() > 1) std::erase(names, text_part);
  // What only one of the runs has often explains all other changes; messages name the first ones only.
  const auto has = [](const std::vector<FingerprintPart>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(), [&](const FingerprintPart& part) { return part.name == name; });
  };
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return !has(before, name) || !has(now, name); });
  return names;
}

}  // namespace voussoir
