#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/process/detail/part_archive.hpp>

// The steps of a job and all else but its domains, as bytes.

namespace voussoir::detail {

void walk(PartWriter& out, const Amplitude& amplitude) {
  out(std::vector<Amplitude::Point>(amplitude.points().begin(), amplitude.points().end()));
}

void walk(PartReader& in, Amplitude& amplitude) {
  std::vector<Amplitude::Point> points;
  in(points);
  amplitude = Amplitude(std::move(points));
}

template <class A>
void walk(A& archive, Walked<A, Prescribed>& prescribed) {
  auto& [node, unknown, value] = prescribed;
  archive(node, unknown, value);
}

template <class A>
void walk(A& archive, Walked<A, ObliqueSupport>& support) {
  auto& [node, direction, value] = support;
  archive(node, direction, value);
}

template <class A>
void walk(A& archive, Walked<A, Supports::Kept>& kept) {
  auto& [node, unknown, direction] = kept;
  archive(node, unknown, direction);
}

template <class A>
void walk(A& archive, Walked<A, Supports>& supports) {
  auto& [values, oblique, kept] = supports;
  archive(values, oblique, kept);
}

template <class A>
void walk(A& archive, Walked<A, PrintRequest>& request) {
  auto& [at, set, quantities, totals, local, every, every_given, times, where] = request;
  archive.choice(at, PrintRequest::At::elements);
  archive(set, quantities);
  archive.choice(totals, PrintRequest::Totals::only);
  archive(local, every, every_given, times, where);
}

template <class A>
void walk(A& archive, Walked<A, JobNote>& note) {
  auto& [where, text] = note;
  archive(where, text);
}

template <class A>
void walk(A& archive, Walked<A, InstanceNumbers::Range>& range) {
  auto& [shift, instance] = range;
  archive(shift, instance);
}

template <class A>
void walk(A& archive, Walked<A, InstanceNumbers>& instances) {
  auto& [nodes, elements] = instances;
  archive(nodes, elements);
}

template <class A>
void walk(A& archive, Walked<A, NodeAxes>& axes) {
  auto& [systems, system_of] = axes;
  archive(systems, system_of);
}

template <class A>
void walk(A& archive, Walked<A, Units>& units) {
  auto& [force, length, stress, temperature, power] = units;
  archive(force, length, stress, temperature, power);
}

template <class A>
void walk(A& archive, Walked<A, ProbePoint>& point) {
  auto& [name, position, where] = point;
  archive(name, position, where);
}

template <class A>
void walk(A& archive, Walked<A, ProbePath>& path) {
  auto& [name, from, to, points, where] = path;
  archive(name, from, to, points, where);
}

template <class A>
void walk(A& archive, Walked<A, CheckpointRequest>& request) {
  auto& [every_seconds, every_increments] = request;
  archive(every_seconds, every_increments);
}

template <class A>
void walk(A& archive, Walked<A, FrequencyStep>& step) {
  auto& [modes, from, below] = step;
  archive(modes, from, below);
}

template <class A>
void walk(A& archive, Walked<A, StepLoad>& load) {
  auto& [load_case, amplitude, real, imaginary, course] = load;
  if constexpr (!A::reading)
    if (course) throw Error(ErrorCode::misuse, "a load whose course is a function cannot be encoded", load_case);
  archive(load_case, amplitude, real, imaginary);
}

template <class A>
void walk(A& archive, Walked<A, BaseMotion>& motion) {
  auto& [direction, acceleration, real, imaginary] = motion;
  archive(direction, acceleration, real, imaginary);
}

template <class A>
void walk(A& archive, Walked<A, MovedSupports::Place>& place) {
  auto& [node, unknown] = place;
  archive(node, unknown);
}

template <class A>
void walk(A& archive, Walked<A, MovedSupports>& moved) {
  auto& [places, displacement] = moved;
  archive(places, displacement);
}

template <class A>
void walk(A& archive, Walked<A, InitialMotion>& motion) {
  auto& [node, unknown, value] = motion;
  archive(node, unknown, value);
}

template <class A>
void walk(A& archive, Walked<A, DynamicTimes>& times) {
  auto& [increment, period, start, automatic, shortest, longest, tolerance, largest_change, most_increments] = times;
  archive(increment, period, start, automatic, shortest, longest, tolerance, largest_change, most_increments);
}

template <class A>
void walk(A& archive, Walked<A, ExplicitMethod>& method) {
  auto& [factor, scaled_step, most_added_mass, linear_viscosity, quadratic_viscosity] = method;
  archive(factor, scaled_step, most_added_mass, linear_viscosity, quadratic_viscosity);
}

template <class A>
void walk(A& archive, Walked<A, StateOutput>& output) {
  auto& [every, times, interval, change] = output;
  archive(every, times, interval, change);
}

template <class A>
void walk(A& archive, Walked<A, HistoryRequest>& request) {
  auto& [name, of, columns, centroids, states] = request;
  archive(name, of, columns, centroids, states);
}

template <class A>
void walk(A& archive, Walked<A, DynamicStep>& step) {
  auto& [times, continues, method, alpha, beta, loads, base, moved, states, displacement, velocity, explicit_method] =
      step;
  archive(times, continues, method, alpha, beta, loads, base, moved, states, displacement, velocity, explicit_method);
}

template <class A>
void walk(A& archive, Walked<A, ThermalStressStep>& step) {
  auto& [start, loads, moved, states] = step;
  archive(start, loads, moved, states);
}

namespace {

/// The kinds of requests that a part may have.
enum class RequestKind { none, frequency, dynamic, thermal_stress };

RequestKind request_kind_of(const ModalRequest& request) {
  if (std::holds_alternative<std::monostate>(request)) return RequestKind::none;
  if (std::holds_alternative<FrequencyStep>(request)) return RequestKind::frequency;
  if (std::holds_alternative<DynamicStep>(request)) return RequestKind::dynamic;
  if (std::holds_alternative<ThermalStressStep>(request)) return RequestKind::thermal_stress;
  throw Error(ErrorCode::misuse, "a step of mode superposition cannot be encoded");
}

template <class Step, class A, class Request>
void walk_request(A& archive, Request& request) {
  if constexpr (A::reading)
    archive(request.template emplace<Step>());
  else
    archive(std::get<Step>(request));
}

/// Members of a step but its supports, which steps share.
template <class A>
void walk_step(A& archive, Walked<A, JobStep>& step) {
  auto& [name, title, procedure, procedure_name, domain, load_case, load_factor, total_time, where, supports, heated_by,
         prints, histories, modal, restart] = step;  // process 0 has what restart files need
  archive(name, title);
  archive.choice(procedure, Procedure::nonlinear_statics);
  archive(procedure_name, domain, load_case, load_factor, total_time, where, heated_by, prints, histories);
  RequestKind kind = RequestKind::none;
  if constexpr (!A::reading) kind = request_kind_of(modal);
  archive.choice(kind, RequestKind::thermal_stress);
  if (kind == RequestKind::frequency) walk_request<FrequencyStep>(archive, modal);
  if (kind == RequestKind::dynamic) walk_request<DynamicStep>(archive, modal);
  if (kind == RequestKind::thermal_stress) walk_request<ThermalStressStep>(archive, modal);
}

template <class A>
void walk_general(A& archive, Walked<A, Job>& job) {
  auto& [name, title, source, domains, steps, node_axes, notes, rotation_nodes, own_nodes, instances, mesh_only, units,
         points, paths, checkpoints, restart_deck, restart] = job;
  // put_domains() and put_steps() write the domains and the steps; process 0 has what jobs that continue others begin
  // with
  archive(name, title, source, node_axes, notes, rotation_nodes, own_nodes, instances, mesh_only, units, points, paths,
          checkpoints);
}

/// Indices of nodes, steps and domains that others would use without a check.
void check_indices(const PartReader& in, const Job& job) {
  const std::int32_t nodes = job.domains.front()->node_count();
  const auto node = [&](std::int32_t n) { in.require(n >= 0 && n < nodes, "a node does not exist"); };
  const auto moved = [&](const std::vector<MovedSupports>& list) {
    for (const MovedSupports& supports : list)
      for (const MovedSupports::Place& place : supports.places) node(place.node);
  };
  for (const std::int32_t n : job.rotation_nodes) node(n);
  in.require(job.own_nodes >= 0 && job.own_nodes <= nodes, "the number of the user's nodes is wrong");
  in.require(job.node_axes.system_of.empty() || static_cast<std::int32_t>(job.node_axes.system_of.size()) == nodes,
             "the local axes do not fit the nodes");
  for (const std::int32_t system : job.node_axes.system_of)
    in.require(system >= -1 && system < static_cast<std::int32_t>(job.node_axes.systems.size()),
               "a local system does not exist");
  for (std::size_t i = 0; i < job.steps.size(); ++i) {
    const JobStep& step = job.steps[i];
    in.require(step.domain < job.domains.size(), "a step has a model that does not exist");
    in.require(!step.heated_by || *step.heated_by < i, "a step is heated by a later one");
    if (!step.load_case.empty()) job.domains[step.domain]->load_case(step.load_case);  // throws if there is none
    if (step.supports) {
      for (const Prescribed& p : step.supports->values) node(p.node);
      for (const ObliqueSupport& o : step.supports->oblique) node(o.node);
      for (const Supports::Kept& k : step.supports->kept) node(k.node);
    }
    if (const auto* dynamic = std::get_if<DynamicStep>(&step.modal)) {
      in.require(!dynamic->continues || *dynamic->continues < i, "a step continues a later one");
      moved(dynamic->moved);
      for (const InitialMotion& m : dynamic->displacement) node(m.node);
      for (const InitialMotion& m : dynamic->velocity) node(m.node);
    }
    if (const auto* thermal = std::get_if<ThermalStressStep>(&step.modal)) moved(thermal->moved);
  }
}

}  // namespace

void put_steps(PartWriter& out, const Job& job) {
  walk_general(out, job);
  std::vector<const Supports*> shared;
  std::vector<std::int64_t> supports_of;
  for (const JobStep& step : job.steps) {
    const auto at = std::find(shared.begin(), shared.end(), step.supports.get()) - shared.begin();
    if (step.supports && at == static_cast<std::ptrdiff_t>(shared.size())) shared.push_back(step.supports.get());
    supports_of.push_back(step.supports ? at : -1);
  }
  out(static_cast<std::uint64_t>(shared.size()));
  for (const Supports* supports : shared) walk(out, *supports);
  out(supports_of);
  for (const JobStep& step : job.steps) walk_step(out, step);
}

void get_steps(PartReader& in, Job& job) {
  walk_general(in, job);
  std::uint64_t count = 0;
  in(count);
  std::vector<std::shared_ptr<const Supports>> shared;
  for (; count > 0; --count) {
    auto supports = std::make_shared<Supports>();
    walk(in, *supports);
    shared.push_back(std::move(supports));
  }
  std::vector<std::int64_t> supports_of;
  in(supports_of);
  for (const std::int64_t which : supports_of) {
    in.require(which >= -1 && which < static_cast<std::int64_t>(shared.size()),
               "a step has supports that do not exist");
    JobStep& step = job.steps.emplace_back();
    walk_step(in, step);
    if (which >= 0) step.supports = shared[static_cast<std::size_t>(which)];
  }
  check_indices(in, job);
}

}  // namespace voussoir::detail
