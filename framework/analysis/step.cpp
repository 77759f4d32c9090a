#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <voussoir/backends/large_vector.hpp>
#include <voussoir/framework/analysis/detail/support_forces.hpp>
#include <voussoir/framework/detail/node_range.hpp>

namespace voussoir {

std::vector<AnalysisState> step_states(const Domain& domain, const std::vector<Step>& given) {
  std::vector<Step> steps = given;
  if (steps.empty()) {
    Step all{"static", {}, 1.0};
    for (const auto& c : domain.load_cases()) all.load_cases[c->name()] = 1.0;
    steps.push_back(std::move(all));
  }
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t c = 0; c < domain.load_case_count(); ++c) places.emplace(domain.load_case(c).name(), c);
  std::vector<AnalysisState> states;
  for (const Step& step : steps) {
    AnalysisState state;
    state.name = step.name;
    state.prescribed_factor = step.prescribed_factor;
    state.case_factors.assign(domain.load_case_count(), 0.0);
    for (const auto& [name, factor] : step.load_cases) {
      const auto place = places.find(name);
      if (place == places.end()) domain.load_case(name);  // throws, with the names that there are
      state.case_factors[place->second] = factor;
    }
    states.push_back(std::move(state));
  }
  return states;
}

namespace {

/// Half of force times motion of elements that recover no energy themselves: springs, and users' elements.
double energy_of_springs(const AnalysisModel& m, const AnalysisState& state) {
  if (m.is_thermal()) return 0;
  auto factors = m.batch_factors(state.case_factors);
  bool any = false;
  for (std::size_t b = 0; b < factors.size(); ++b) {
    const BatchOrigin& origin = m.batches()[b];
    factors[b] = 0;
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementProgram& program = m.domain().block(origin.block).type().program();
    const auto names = program.recovered_names();
    if (!program.has_tangent() || std::find(names.begin(), names.end(), "energy") != names.end()) continue;
    factors[b] = 1;
    any = true;
  }
  if (!any) return 0;
  Vector force = m.make_vector();
  m.backend().fill(force, 0.0);
  m.translating([&] { m.backend().residual(m.device_model(), state.elements(), factors, false, force); });
  return 0.5 * m.backend().dot(state.unknowns, force);
}

/// Reactions of supports along directions. `single` flags unknowns that are prescribed as well: what is out of balance
/// there is their own.
void add_oblique_reactions(const AnalysisModel& m, const std::vector<double>& out_of_balance,
                           const std::vector<char>& single, bool by_springs, StepResult& result) {
  const auto& supports = m.domain().oblique_supports();
  if (supports.empty()) return;
  const std::size_t width = m.unknown_names().size();
  const char* const names[] = {"ux", "uy", "uz"};
  const auto force = detail::oblique_support_forces(m, out_of_balance, single, !by_springs);
  for (std::size_t i = 0; i < supports.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      const std::int32_t e = m.equation(supports[i].node, names[k]);
      if (e < 0) continue;
      const double value = force[i] * supports[i].direction[k];
      double& reaction = result.reactions.values[supports[i].node * width + k];
      if (by_springs && single[e]) continue;  // the sum of both is there already
      reaction = std::isnan(reaction) ? value : reaction + value;
      result.reaction_sum[k] += value;
    }
}

/// A nodal field of all unknowns, NaN everywhere.
NodalField empty_field(const AnalysisModel& m, const std::string& name) {
  NodalField field{name, m.unknown_names(), {}};
  field.values = large_zeros(static_cast<std::size_t>(m.domain().node_count()) * field.components.size());
#pragma omp parallel for schedule(static) if (field.values.size() > detail::worth_threads)
  for (double& value : field.values) value = std::numeric_limits<double>::quiet_NaN();
  return field;
}

/// Calls visit(equation, place in a field of all unknowns, component) for every equation, by all threads.
template <class Visit>
void over_equations(const AnalysisModel& m, const Visit& visit) {
  const auto at = m.numbered_nodes();
  const auto first = m.first_equation();
  const std::size_t width = m.unknown_names().size();
#pragma omp parallel for schedule(static) if (at.size() > detail::worth_threads)
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      const auto component = static_cast<std::size_t>(m.component(k, e));
      visit(e, at[k] * width + component, component);
    }
}

/// Calls add(equation, component) for every equation, in order: sums have the same bits whatever the threads. What acts
/// on generalised coordinates is not a force and does not count.
template <class Add>
void sum_equations(const AnalysisModel& m, const Add& add) {
  const auto first = m.first_equation();
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    if (is_generalised_node(m.domain(), m.numbered_nodes()[k])) continue;
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) add(e, static_cast<std::size_t>(m.component(k, e)));
  }
}

/// The residual of some kinds of batches, with −1 times the nodal loads where `with_loads`.
template <class Takes>
std::vector<double> forces_of(const AnalysisModel& m, const AnalysisState& state, bool with_loads, const Takes& takes) {
  Backend& backend = m.backend();
  Vector force = m.make_vector();
  if (with_loads) {
    backend.copy(state.loads, force);
    backend.scale(-1.0, force);
  } else {
    backend.fill(force, 0.0);
  }
  auto factors = m.batch_factors(state.case_factors);
  for (std::size_t b = 0; b < factors.size(); ++b)
    if (!takes(m.batches()[b])) factors[b] = 0;
  m.translating([&] { backend.residual(m.device_model(), state.elements(), factors, false, force); });
  return force.to_host();
}

/// What each equation lacks in balance: as the elements and loads leave it, and with the shares of dependent unknowns
/// handed to those that they follow, whether these are free (balance) or prescribed (reactions).
class Balance {
 public:
  Balance(const AnalysisModel& m, Integrator& integrator, const AnalysisState& state)
      : plain(integrator.out_of_balance(m, state).to_host()) {
    if (const Vector forces = integrator.inertial_forces(m, state); forces.layout()) inertial = forces.to_host();
    if (m.constraints().dependent.empty()) return;
    reduced_ = plain;
    for (const auto& d : m.constraints().dependent) {
      for (std::size_t k = 0; k < d.others.size(); ++k)
        reduced_[d.others[k]] += d.coefficients[k] * reduced_[d.equation];
      reduced_[d.equation] = 0;
    }
  }

  const std::vector<double> plain;
  std::vector<double> inertial;  ///< the share of damping and inertia in `plain`; empty where there is none
  double reduced(std::int32_t equation) const { return reduced_.empty() ? plain[equation] : reduced_[equation]; }

 private:
  std::vector<double> reduced_;  // empty where nothing is dependent
};

/// Reactions of prescribed unknowns and of supports along directions.
void add_reactions(const AnalysisModel& m, const AnalysisState& state, const Balance& balance, StepResult& result) {
  result.reactions = empty_field(m, "reaction");
  result.reaction_sum.assign(m.unknown_names().size(), 0.0);
  over_equations(m, [&](std::int32_t e, std::size_t place, std::size_t) {
    if (m.is_prescribed(e)) result.reactions.values[place] = balance.reduced(e);
  });
  sum_equations(m, [&](std::int32_t e, std::size_t component) {
    if (m.is_prescribed(e)) result.reaction_sum[component] += balance.reduced(e);
  });
  std::vector<char> single(balance.plain.size(), 0);
  if (m.constraints().springs.empty()) {
    if (m.domain().oblique_supports().empty()) return;
    for (std::int32_t e = 0; e < m.equation_count(); ++e) single[e] = m.is_prescribed(e);
    add_oblique_reactions(m, balance.plain, single, false, result);
    return;
  }
  // What is left of the balance without the springs of supports is what they push with: the reactions.
  auto forces = forces_of(m, state, true, [](const BatchOrigin& batch) { return !batch.support; });
  for (std::size_t e = 0; e < balance.inertial.size(); ++e) forces[e] += balance.inertial[e];
  for (const auto& spring : m.constraints().springs) {
    if (spring.equations.size() != 1) continue;
    const auto place = m.place(spring.equations[0]);
    single[spring.equations[0]] = 1;
    result.reactions.values[place.node * m.unknown_names().size() + place.component] = forces[spring.equations[0]];
    result.reaction_sum[place.component] += forces[spring.equations[0]];
  }
  add_oblique_reactions(m, forces, single, true, result);
}

/// Flags nodes that elements use.
std::vector<char> used_nodes(const Domain& domain) {
  std::vector<char> used(domain.node_count(), 0);
#pragma omp parallel if (domain.node_count() > detail::worth_threads)
  {
    const detail::NodeRange mine(domain.node_count());
    for (std::size_t b = 0; b < domain.block_count(); ++b)
      for (const std::int32_t n : domain.block(b).connectivity())
        if (mine.contains(n)) used[n] = 1;
  }
  return used;
}

/// Sums of the external loads, and what the elements resist with.
void add_forces(const AnalysisModel& m, const AnalysisState& state, const Balance& balance, StepResult& result) {
  // Everything that the batches of loads and the nodal loads push with.
  const auto loads =
      forces_of(m, state, true, [](const BatchOrigin& batch) { return batch.kind == BatchOrigin::Kind::surface_load; });
  result.load_sum.assign(m.unknown_names().size(), 0.0);
  sum_equations(m, [&](std::int32_t e, std::size_t component) { result.load_sum[component] -= loads[e]; });
  // Without springs of supports, the elements resist with what balances these loads.
  std::vector<double> resisting;
  if (!m.constraints().springs.empty())
    resisting =
        forces_of(m, state, false, [](const BatchOrigin& batch) { return batch.kind == BatchOrigin::Kind::block; });
  for (std::size_t e = 0; !resisting.empty() && e < balance.inertial.size(); ++e) resisting[e] += balance.inertial[e];
  const std::vector<char> used = used_nodes(m.domain());
  const std::size_t width = m.unknown_names().size();
  result.internal_forces = empty_field(m, "internal_force");
  over_equations(m, [&](std::int32_t e, std::size_t place, std::size_t) {
    double& force = result.internal_forces.values[place];
    if (!used[place / width])  // a node without elements hands on what it is pushed with
      force = balance.reduced(e) - loads[e];
    else
      force = resisting.empty() ? balance.plain[e] - loads[e] : resisting[e];
  });
}

/// Adds the energy of all points of a field, in their order.
void add_energy(const PointField& field, double& sum) {
  const std::size_t width = field.names.size(), points = field.values.size() / width;
  const int energy = field.name_index("energy"), volume = field.name_index("volume");
  // The columns lie far apart: all threads fetch them, and one adds up.
  const auto pairs = large_room(2 * points);
#pragma omp parallel for schedule(static) if (points > detail::worth_threads)
  for (std::size_t p = 0; p < points; ++p) {
    pairs[2 * p] = field.values[p * width + energy];
    pairs[2 * p + 1] = field.values[p * width + volume];
  }
  for (std::size_t p = 0; p < points; ++p) sum += pairs[2 * p] * pairs[2 * p + 1];
}

/// Values at the points of all blocks that have any, and their energy.
void add_points(const AnalysisModel& m, const AnalysisState& state, StepResult& result) {
  const Domain& domain = m.domain();
  for (std::size_t b = 0; b < m.batches().size(); ++b) {
    if (m.batches()[b].kind != BatchOrigin::Kind::block) continue;
    const ElementProgram& program = domain.block(m.batches()[b].block).type().program();
    if (program.points() == 0) continue;
    PointField field;
    field.block = m.batches()[b].block;
    field.points = program.points();
    field.names.assign(program.recovered_names().begin(), program.recovered_names().end());
    field.values =
        m.translating([&] { return m.backend().recover(m.device_model(), static_cast<int>(b), state.elements()); });
    if (field.has("energy") && field.has("volume")) add_energy(field, result.energy);
    result.points.push_back(std::move(field));
  }
  result.energy += energy_of_springs(m, state);
}

}  // namespace

StepResult make_step_result(const AnalysisModel& m, Integrator& integrator, const AnalysisState& state,
                            const SolveReport& report, bool recover) {
  StepResult result;
  result.step = state.name;
  result.report = report;
  result.unknowns = empty_field(m, field_name(m.unknown_names()));
  const std::vector<double> u = state.unknowns.to_host();
  over_equations(m, [&](std::int32_t e, std::size_t place, std::size_t) { result.unknowns.values[place] = u[e]; });
  const Balance balance(m, integrator, state);
  add_reactions(m, state, balance, result);
  add_forces(m, state, balance, result);
  if (recover) add_points(m, state, result);
  return result;
}

}  // namespace voussoir
