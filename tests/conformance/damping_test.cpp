#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/solvers/static_problem.hpp>

#include "backends_under_test.hpp"
#include "support/newmark.hpp"

// Damping of each material, on every backend.

namespace voussoir::conformance {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr int cells = 8;
constexpr double cell = 1.0 / cells;

struct DampingOn : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, DampingOn, ::testing::ValuesIn(single_emulated_backend()),
                         [](const auto& info) { return test_name(info.param); });

std::shared_ptr<Material> material(const std::string& name, const RayleighDamping& damping) {
  auto m = std::make_shared<IsotropicMaterial>(name, 1, 0.3, 1);
  m->set_damping(damping);
  return m;
}

/// A bar of trusses along x with E = A = ρ = L = 1, fixed at x = 0; its nodes begin at 100 · number + 1.
void add_bar(Domain& d, int number, const std::shared_ptr<Material>& m) {
  const int first = 100 * number + 1;
  const std::string name = "bar" + std::to_string(number);
  for (int i = 0; i <= cells; ++i) d.add_node(first + i, i * cell, number, 0);
  auto& bar = d.add_block(name, "truss");
  bar.set_material(m).set_section("area", 1);
  for (int i = 0; i < cells; ++i) bar.add(first + i, {first + i, first + i + 1});
  d.add_node_set(name + " wall", {first});
  d.prescribe(name + " wall", "ux");
}

void hold_across(Domain& d) {
  d.add_node_set_where("all", [](double, double, double) { return true; });
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
}

/// ω of the mode sin(πx/2) of the elements with consistent masses, in closed form.
double frequency() {
  const double phi = pi * cell / 2;
  return std::sqrt(6.0 / (2 + std::cos(phi)) / (cell * cell) * (1 - std::cos(phi)));
}

TEST_P(DampingOn, EachBarDecaysAsItsMaterialDamps) {
  const RayleighDamping of_bar[2] = {{0.4, 0}, {0.1, 0.05}}, of_model{0.05, 0.01};
  Domain d;
  for (int bar = 0; bar < 2; ++bar) add_bar(d, bar, material("m" + std::to_string(bar), of_bar[bar]));
  hold_across(d);
  const double omega = frequency(), end = 1.3 * 2 * pi / omega;
  for (const auto& [storage, solver] :
       {std::pair{"csr", "direct"}, std::pair{"element", "cg"}, std::pair{"matrix-free", "cg"}}) {
    if (std::string(storage) != "csr" && GetParam() == "debug") continue;
    AnalysisModel model(d, Backend::open(GetParam()), TransformationHandler(), PlainNumberer());
    const auto soe = make_soe(storage);
    soe->set_model(model);
    const auto solve = make_solver(solver, 1e-10);
    testing::Newmark newmark;
    newmark.set_damping(of_model);
    newmark.keep_matrix_over_time();
    double decay[2], damped[2];
    for (int bar = 0; bar < 2; ++bar) {
      decay[bar] =
          (of_bar[bar].mass + of_model.mass + (of_bar[bar].stiffness + of_model.stiffness) * omega * omega) / 2;
      damped[bar] = std::sqrt(omega * omega - decay[bar] * decay[bar]);
    }
    // Velocities ω sin(πx/2), and the accelerations that damping gives them.
    AnalysisState state = std::move(step_states(d, {}).front());
    std::vector<double> v(model.equation_count(), 0.0), a = v;
    for (const std::int32_t n : model.numbered_nodes())
      if (const auto e = model.equation(n, "ux"); model.is_free(e)) {
        const int bar = d.coordinates()[3 * n + 1] > 0.5;
        v[e] = omega * std::sin(pi / 2 * d.coordinates()[3 * n]);
        a[e] = -2 * decay[bar] * v[e];
      }
    state.unknowns = model.initial_unknowns(1);
    state.rate = model.make_vector();
    state.rate.from_host(v);
    state.second_rate = model.make_vector();
    state.second_rate.from_host(a);
    constexpr int steps = 60;
    std::uint64_t formed = 0;
    for (int k = 1; k <= steps; ++k) {
      state.time_step = end / steps;
      state.time += state.time_step;
      newmark.begin_step(model, state);
      ASSERT_TRUE(LinearAlgorithm().solve(model, newmark, *soe, *solve, {&state, 1}).front().converged);
      newmark.commit(model, state);
      if (k == 1) formed = soe->version();
    }
    EXPECT_EQ(soe->version(), formed) << "one matrix for all steps";
    const auto u = state.unknowns.to_host();
    for (int bar = 0; bar < 2; ++bar) {
      const double exact = omega / damped[bar] * std::exp(-decay[bar] * end) * std::sin(damped[bar] * end);
      EXPECT_NEAR(u[model.equation(d.node_index(100 * bar + 1 + cells), "ux")], exact, 8e-3)
          << storage << ", bar " << bar;
    }
  }
}

TEST_P(DampingOn, TheOperatorIsTheSumOverTheMaterials) {
  // One bar whose second half is of another material, all equations included; C by hand.
  const RayleighDamping half[2] = {{0.4, 0.02}, {0.1, 0.05}};
  Domain d;
  for (int i = 0; i <= cells; ++i) d.add_node(i + 1, i * cell, 0, 0);
  for (int part = 0; part < 2; ++part) {
    auto& bar = d.add_block(part ? "right" : "left", "truss");
    bar.set_material(material(part ? "right" : "left", half[part])).set_section("area", 1);
    for (int i = 0; i < cells / 2; ++i) {
      const int e = part * cells / 2 + i + 1;
      bar.add(e, {e, e + 1});
    }
  }
  hold_across(d);
  d.add_node_set("wall", {1});
  d.prescribe("wall", "ux");
  AnalysisModel model(d, Backend::open(GetParam()), TransformationHandler(), PlainNumberer());
  Backend& backend = model.backend();
  std::vector<double> v(model.equation_count(), 0.0), exact = v;
  const auto equation = [&](int i) { return model.equation(d.node_index(i + 1), "ux"); };
  for (int i = 0; i <= cells; ++i) v[equation(i)] = std::sin(3.0 * i) + 0.5;
  for (int i = 0; i < cells; ++i) {
    const RayleighDamping& c = half[i >= cells / 2];
    const double left = v[equation(i)], right = v[equation(i + 1)];
    const double spring = c.stiffness * (left - right) / cell;
    exact[equation(i)] += spring + c.mass * cell / 6 * (2 * left + right);
    exact[equation(i + 1)] += -spring + c.mass * cell / 6 * (left + 2 * right);
  }
  for (const ElementProduct product : {ElementProduct::matrix_free, ElementProduct::gather}) {
    const auto c = backend.make_element_operator(model.device_model(), product, OperatorEquations::all);
    const DampingFactors factors = damping_factors(model);
    EXPECT_FALSE(factors.uniform);
    backend.assemble(model.device_model(), {}, factors.terms(), *c);
    Vector x = model.make_vector(), y = model.make_vector();
    x.from_host(v);
    c->apply(x, y);
    const auto found = y.to_host();
    for (int i = 0; i <= cells; ++i) EXPECT_NEAR(found[equation(i)], exact[equation(i)], 1e-12) << "node " << i + 1;
  }
  // Factors that are not one per batch.
  const std::vector<double> one{1};
  MatrixTerms wrong;
  wrong.mass_factors = one;
  const auto op = backend.make_element_operator(model.device_model(), ElementProduct::matrix_free);
  EXPECT_THROW(backend.assemble(model.device_model(), {}, wrong, *op), Error);
}

}  // namespace
}  // namespace voussoir::conformance
