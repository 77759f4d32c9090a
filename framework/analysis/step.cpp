#include <voussoir/framework/analysis/step.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <voussoir/framework/analysis/detail/support_forces.hpp>

namespace voussoir {

std::vector<StepState> step_states(const Domain& domain, const std::vector<Step>& given) {
  std::vector<Step> steps = given;
  if (steps.empty()) {
    Step all{"static", {}, 1.0};
    for (const auto& c : domain.load_cases()) all.load_cases[c->name()] = 1.0;
    steps.push_back(std::move(all));
  }
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t c = 0; c < domain.load_case_count(); ++c) places.emplace(domain.load_case(c).name(), c);
  std::vector<StepState> states;
  for (const Step& step : steps) {
    StepState state;
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
double energy_of_springs(const AnalysisModel& m, const StepState& state) {
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
  m.translating([&] { m.backend().residual(m.device_model(), state.unknowns, factors, false, force); });
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

}  // namespace

StepResult make_step_result(const AnalysisModel& m, const StepState& state, const SolveReport& report, bool recover) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Backend& backend = m.backend();
  const Domain& domain = m.domain();
  const auto& names = m.unknown_names();
  const std::size_t width = names.size();

  StepResult result;
  result.step = state.name;
  result.report = report;
  result.unknowns = {field_name(names), names, std::vector<double>(domain.node_count() * width, nan)};
  result.reactions = {"reaction", names, std::vector<double>(domain.node_count() * width, nan)};
  result.load_sum.assign(width, 0.0);
  result.reaction_sum.assign(width, 0.0);

  const std::vector<double> u = state.unknowns.to_host();
  std::vector<double> r = StaticIntegrator().out_of_balance(m, state).to_host();
  const std::vector<double> out_of_balance = r;
  // A dependent unknown hands its force to those it follows, whether they are free (balance) or held (reactions).
  for (const auto& d : m.constraints().dependent) {
    for (std::size_t k = 0; k < d.others.size(); ++k) r[d.others[k]] += d.coefficients[k] * r[d.equation];
    r[d.equation] = 0;
  }
  const auto at = m.numbered_nodes();
  const auto first = m.first_equation();
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      const std::size_t place = at[k] * width + (e - first[k]);
      result.unknowns.values[place] = u[e];
      if (m.is_held(e)) {
        result.reactions.values[place] = r[e];
        result.reaction_sum[e - first[k]] += r[e];
      }
    }
  std::vector<char> single(r.size(), 0);
  if (m.constraints().springs.empty()) {
    for (std::int32_t e = 0; e < m.equation_count(); ++e) single[e] = m.is_held(e);
    add_oblique_reactions(m, out_of_balance, single, false, result);
  }
  // What is left of the balance without the springs of supports is what they push with: the reactions.
  if (!m.constraints().springs.empty()) {
    Vector without = m.make_vector();
    backend.copy(state.loads, without);
    backend.scale(-1.0, without);
    auto no_supports = m.batch_factors(state.case_factors);
    for (std::size_t b = 0; b < no_supports.size(); ++b)
      if (m.batches()[b].support) no_supports[b] = 0;
    m.translating([&] { backend.residual(m.device_model(), state.unknowns, no_supports, false, without); });
    const std::vector<double> forces = without.to_host();
    for (const auto& spring : m.constraints().springs) {
      if (spring.equations.size() != 1) continue;
      const auto place = m.place(spring.equations[0]);
      single[spring.equations[0]] = 1;
      result.reactions.values[place.node * width + place.component] = forces[spring.equations[0]];
      result.reaction_sum[place.component] += forces[spring.equations[0]];
    }
    add_oblique_reactions(m, forces, single, true, result);
  }

  // External loads: everything that the batches of loads and the nodal loads push with.
  Vector loads = m.make_vector();
  backend.copy(state.loads, loads);
  backend.scale(-1.0, loads);
  auto factors = m.batch_factors(state.case_factors);
  for (std::size_t b = 0; b < factors.size(); ++b)
    if (m.batches()[b].kind != BatchOrigin::Kind::surface_load) factors[b] = 0;
  m.translating([&] { backend.residual(m.device_model(), state.unknowns, factors, false, loads); });
  const std::vector<double> f = loads.to_host();
  // What the elements resist with is what holds the balance against these loads.
  std::vector<double> internal(f.size());
  if (m.constraints().springs.empty()) {
    for (std::size_t e = 0; e < f.size(); ++e) internal[e] = out_of_balance[e] - f[e];
  } else {
    Vector resisting = m.make_vector();
    backend.fill(resisting, 0.0);
    auto blocks = m.batch_factors(state.case_factors);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (m.batches()[b].kind != BatchOrigin::Kind::block) blocks[b] = 0;
    m.translating([&] { backend.residual(m.device_model(), state.unknowns, blocks, false, resisting); });
    internal = resisting.to_host();
  }
  // A node that no element uses hands on what it is pushed with.
  std::vector<char> used(domain.node_count(), 0);
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t n : domain.block(b).connectivity()) used[n] = 1;
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e)
      if (!used[at[k]]) internal[e] = r[e] - f[e];
  result.internal_forces = {"internal_force", names, std::vector<double>(domain.node_count() * width, nan)};
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      result.load_sum[e - first[k]] -= f[e];
      result.internal_forces.values[at[k] * width + (e - first[k])] = internal[e];
    }

  if (recover)
    for (std::size_t b = 0; b < m.batches().size(); ++b) {
      if (m.batches()[b].kind != BatchOrigin::Kind::block) continue;
      const ElementProgram& program = domain.block(m.batches()[b].block).type().program();
      if (program.points() == 0) continue;
      PointField field;
      field.block = m.batches()[b].block;
      field.points = program.points();
      field.names.assign(program.recovered_names().begin(), program.recovered_names().end());
      field.values =
          m.translating([&] { return backend.recover(m.device_model(), static_cast<int>(b), state.unknowns); });
      if (field.has("energy") && field.has("volume")) {
        const int energy = field.name_index("energy"), volume = field.name_index("volume");
        for (std::int32_t e = 0; e < domain.block(field.block).size(); ++e)
          for (int p = 0; p < field.points; ++p) result.energy += field.at(e, p, energy) * field.at(e, p, volume);
      }
      result.points.push_back(std::move(field));
    }
  if (recover) result.energy += energy_of_springs(m, state);
  return result;
}

}  // namespace voussoir
