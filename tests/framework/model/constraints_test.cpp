#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <chrono>
#include <cmath>
#include <random>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

NumberedConstraints constraints_on(std::int32_t count) {
  NumberedConstraints c;
  c.equation_count = count;
  c.label = [](std::int32_t e) { return "unknown " + std::to_string(e); };
  return c;
}

/// Prescribed values and equations as C x = g.
std::pair<Eigen::MatrixXd, Eigen::VectorXd> dense(const NumberedConstraints& c) {
  const auto rows = static_cast<Eigen::Index>(c.single.size() + c.multi.size());
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(rows, c.equation_count);
  Eigen::VectorXd g = Eigen::VectorXd::Zero(rows);
  Eigen::Index row = 0;
  for (const auto& s : c.single) {
    m(row, s.equation) = 1;
    g[row++] = s.value;
  }
  for (const auto& e : c.multi) {
    for (std::size_t i = 0; i < e.equations.size(); ++i) m(row, e.equations[i]) += e.coefficients[i];
    g[row++] = e.constant;
  }
  return {m, g};
}

TEST(TransformationHandler, MeetsEveryConstraintWithAsManyFreedomsAsTheRankLeaves) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-2, 2);
  for (int trial = 0; trial < 50; ++trial) {
    constexpr int n = 30;
    NumberedConstraints c = constraints_on(n);
    for (int i = 0; i < 8; ++i) c.single.push_back({3 * i, number(random)});
    // Equations that name each other's unknowns, held ones too: chains and substitutions in both directions.
    for (int i = 0; i < 10; ++i) {
      NumberedConstraints::Multi m;
      m.label = "e" + std::to_string(i);
      m.constant = number(random);
      for (int k = 0; k < 2 + i % 4; ++k) {
        m.equations.push_back(static_cast<std::int32_t>(random() % n));
        m.coefficients.push_back(number(random));
      }
      c.multi.push_back(m);
    }
    const auto [matrix, g] = dense(c);
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(matrix);
    if ((matrix * lu.solve(g) - g).norm() > 1e-9) {
      EXPECT_THROW(TransformationHandler().plan(c), Error);  // no solution at all
      continue;
    }
    const ConstraintPlan plan = TransformationHandler().plan(c);
    EXPECT_TRUE(plan.springs.empty());
    std::vector<char> taken(n, 0);
    Eigen::VectorXd x(n);
    for (int i = 0; i < n; ++i) {
      x[i] = plan.prescribed[i] ? plan.value[i] : number(random);  // whatever the free ones are …
      taken[i] = plan.prescribed[i];
    }
    for (const auto& d : plan.dependent) {
      EXPECT_FALSE(taken[d.equation]);
      taken[d.equation] = 1;
    }
    for (const auto& d : plan.dependent) {
      double value = d.constant;
      for (std::size_t k = 0; k < d.others.size(); ++k) {
        EXPECT_FALSE(taken[d.others[k]] && !plan.prescribed[d.others[k]]) << "depends on a dependent unknown";
        value += d.coefficients[k] * x[d.others[k]];
      }
      x[d.equation] = value;
    }
    EXPECT_LT((matrix * x - g).norm(), 1e-9 * (1 + x.norm())) << trial;  // … every constraint is met
    EXPECT_EQ(n - std::count(taken.begin(), taken.end(), 1), n - lu.rank());
  }
}

TEST(TransformationHandler, FollowsChains) {
  // x0 = 2 x1 + 1, x1 = 3 x2, x2 = x3 − 1, and x3 = 5 is prescribed: x0 = 25. Given in the worst order.
  NumberedConstraints c = constraints_on(5);
  c.multi = {{{0, 1}, {1, -2}, 1, "a"}, {{1, 2}, {1, -3}, 0, "b"}, {{2, 3}, {1, -1}, -1, "c"}};
  c.single = {{3, 5}};
  const auto plan = TransformationHandler().plan(c);
  ASSERT_EQ(plan.dependent.size(), 3u);
  const auto& x0 = plan.dependent[0];
  EXPECT_EQ(x0.equation, 0);
  double value = x0.constant;
  for (std::size_t k = 0; k < x0.others.size(); ++k) value += x0.coefficients[k] * plan.value[x0.others[k]];
  EXPECT_DOUBLE_EQ(value, 25);
}

TEST(TransformationHandler, RedundantIsHarmlessContradictionIsNamed) {
  NumberedConstraints c = constraints_on(4);
  c.single = {{0, 1}, {1, 2}, {0, 1}};
  c.multi = {{{0, 1}, {2, -1}, 0, "doubled"}};  // 2 · 1 − 2 = 0: true already
  EXPECT_TRUE(TransformationHandler().plan(c).dependent.empty());
  c.multi[0].constant = 0.5;
  expect_error(ErrorCode::bad_input, {"doubled", "unknown 0", "contradict"}, [&] { TransformationHandler().plan(c); });

  c = constraints_on(3);
  c.multi = {{{0, 1}, {1, -1}, 0, "first"}, {{1, 2}, {1, -1}, 0, "second"}, {{2, 0}, {1, -1}, 0, "third"}};
  EXPECT_EQ(TransformationHandler().plan(c).dependent.size(), 2u);  // the third follows from the others
  c.multi[2].constant = 1;
  expect_error(ErrorCode::bad_input, {"third"}, [&] { TransformationHandler().plan(c); });
}

TEST(Handlers, PrescribedTwiceMustBeTheSame) {
  NumberedConstraints c = constraints_on(2);
  c.single = {{1, 0.5}, {1, 0.5}};
  EXPECT_NO_THROW(EliminationHandler().plan(c));
  c.single.push_back({1, 0.6});
  expect_error(ErrorCode::bad_input, {"unknown 1", "0.5", "0.6"}, [&] { EliminationHandler().plan(c); });
  expect_error(ErrorCode::bad_input, {"unknown 1"}, [&] { TransformationHandler().plan(c); });
  expect_error(ErrorCode::bad_input, {"unknown 1"}, [&] { PenaltyHandler().plan(c); });
}

TEST(EliminationHandler, RefusesEquations) {
  NumberedConstraints c = constraints_on(2);
  c.multi = {{{0, 1}, {1, -1}, 0, "hinge"}};
  expect_error(ErrorCode::bad_input, {"hinge", "transformation"}, [&] { EliminationHandler().plan(c); });
}

/// A block of bricks with supports, a prescribed motion and equations: chains, a held master, constants.
void build(Domain& d, bool constrained) {
  BoxMesh mesh;
  mesh.cells = {3, 2, 2};
  mesh.upper = {3, 2, 2};
  mesh.distortion = 0.2;
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
  d.add_node_set("corner", {d.node_id(d.node_count() - 1)});
  d.add_load_case("pull").nodal("corner", "uy", 2).traction("xmax", {1, 0, 0.5});
  if (!constrained) return;
  d.prescribe("xmin", "all");
  d.prescribe("corner", "ux", 0.01);
  const Id corner = d.node_id(d.node_count() - 1);
  d.add_equation({{14, "uy", 1}, {15, "uy", -1}});
  d.add_equation({{15, "uy", 2}, {16, "uz", -1}, {17, "ux", 0.5}}, 0.002);
  d.add_equation({{16, "uz", 1}, {corner, "ux", -0.3}, {20, "uz", -1}});
}

/// The solution of K u = f under C u = g by one dense system with multipliers: [K Cᵀ; C 0] [u; l] = [f; g].
Eigen::VectorXd by_multipliers() {
  Domain free, held;
  build(free, false);
  build(held, true);
  const auto backend = Backend::open("openmp:1");
  const AnalysisModel model(free, backend, TransformationHandler(), PlainNumberer());
  const int n = model.equation_count();
  const std::vector<double> factors{1.0};
  const auto batches = model.batch_factors(factors);
  auto csr = backend->make_matrix(model.device_model(), 1);
  MatrixTerms terms;
  terms.batch_factors = batches;
  backend->assemble(model.device_model(), nullptr, terms, *csr);
  const HostMatrix k = csr->to_host();
  Vector u = model.make_vector(), r = model.make_vector();
  backend->fill(u, 0);
  backend->fill(r, 0);
  model.add_loads(factors, {}, r);
  backend->scale(-1, r);
  backend->residual(model.device_model(), u, batches, false, r);
  const auto minus_f = r.to_host();

  std::vector<std::vector<std::pair<int, double>>> rows;
  std::vector<double> g;
  const auto at = [&](std::int32_t node, const std::string& unknown) { return model.equation(node, unknown); };
  for (const auto& p : held.prescribed())
    for (const char* unknown : {"ux", "uy", "uz"})
      if (p.unknown == "all" || p.unknown == unknown) {
        rows.push_back({{at(p.node, unknown), 1.0}});
        g.push_back(p.value);
      }
  for (const auto& e : held.equations()) {
    rows.emplace_back();
    for (const auto& t : e.terms) rows.back().push_back({at(t.node, t.unknown), t.coefficient});
    g.push_back(e.constant);
  }
  const int m = static_cast<int>(rows.size());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n + m, n + m);
  Eigen::VectorXd b(n + m);
  for (int i = 0; i < n; ++i) {
    for (auto j = k.row_start[i]; j < k.row_start[i + 1]; ++j) a(i, k.column[j]) = k.value[j];
    b[i] = -minus_f[i];
  }
  for (int i = 0; i < m; ++i) {
    for (const auto& [equation, coefficient] : rows[i]) a(n + i, equation) = a(equation, n + i) = coefficient;
    b[n + i] = g[i];
  }
  return a.fullPivLu().solve(b).head(n);
}

double largest_difference(const NodalField& found, const Eigen::VectorXd& expected) {
  double worst = 0;
  for (Eigen::Index i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(found.values[i] - expected[i]));
  return worst / expected.cwiseAbs().maxCoeff();
}

TEST(Handlers, TransformationIsTheSolutionWithMultipliers) {
  Domain d;
  build(d, true);
  const Eigen::VectorXd expected = by_multipliers();
  for (const char* solver : {"direct", "cg"}) {
    StaticOptions options;
    options.backend = "openmp:1";
    options.solver = solver;
    options.relative_tolerance = 1e-12;
    EXPECT_LT(largest_difference(make_static_analysis(d, options)->run()[0].unknowns, expected), 1e-9) << solver;
  }
}

TEST(Handlers, PenaltyIsOffByTheInverseOfItsFactor) {
  const Eigen::VectorXd expected = by_multipliers();
  Domain d;
  build(d, true);
  std::vector<double> error;
  for (const double factor : {1e3, 1e5, 1e7}) {
    Analysis::Collaborators c;
    c.backend = Backend::open("openmp:1");
    c.handler = std::make_shared<PenaltyHandler>(factor);
    c.soe = make_soe("csr");
    c.solver = make_solver("direct");
    error.push_back(largest_difference(StaticAnalysis(d, c).run()[0].unknowns, expected));
  }
  EXPECT_NEAR(error[0] / error[1], 100, 10);
  EXPECT_NEAR(error[1] / error[2], 100, 10);
  EXPECT_LT(error[2], 1e-5);
}

TEST(Handlers, PenaltyFollowsThePrescribedFactorOnEveryBackend) {
  for (const char* backend : {"openmp:1", "debug:2"}) {
    Domain d;
    build(d, true);
    StaticOptions options;
    options.backend = backend;
    options.constraints = "penalty";
    auto penalty = make_static_analysis(d, options);
    options.constraints = "transformation";
    auto exact = make_static_analysis(d, options);
    for (auto* a : {penalty.get(), exact.get()}) {
      a->add_step({"whole", {{"pull", 1}}, 1});
      a->add_step({"half", {}, 0.5});
    }
    const auto p = penalty->run(), e = exact->run();
    for (int s = 0; s < 2; ++s) {
      Eigen::VectorXd reference = Eigen::Map<const Eigen::VectorXd>(
          e[s].unknowns.values.data(), static_cast<Eigen::Index>(e[s].unknowns.values.size()));
      EXPECT_LT(largest_difference(p[s].unknowns, reference), 1e-5) << backend << ", step " << s;
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(p[s].reaction_sum[i], e[s].reaction_sum[i], 1e-4) << backend << ", step " << s;
    }
  }
}

TEST(Transformation, EquationsThatSayTheSameTwiceAreNoContradiction) {
  // 0.1 + 0.2 differs from 0.3 in the last bit; that is rounding, not contradiction.
  NumberedConstraints c = constraints_on(3);
  c.multi = {{{0, 1}, {1, -1}, 0.1, "first"}, {{1, 2}, {1, -1}, 0.2, "second"}, {{0, 2}, {1, -1}, 0.3, "third"}};
  EXPECT_EQ(TransformationHandler().plan(c).dependent.size(), 2u);
  c.multi[2].constant = 0.300001;
  EXPECT_THROW(TransformationHandler().plan(c), Error);
}

/// The largest coefficient of what unknowns depend on.
double largest_coefficient(const ConstraintPlan& plan) {
  double largest = 0;
  for (const auto& d : plan.dependent)
    for (double c : d.coefficients) largest = std::max(largest, std::abs(c));
  return largest;
}

TEST(Transformation, CoefficientsThatNearlyCancelAreNoPivots) {
  // Solved for x0 and x1 in turn, the second equation would be x1 = 3e8 (x3 − x2).
  NumberedConstraints c = constraints_on(4);
  c.multi = {{{0, 1}, {3, -1}, 0, "a"}, {{0, 1, 2, 3}, {1, -0.33333333, 1, -1}, 0, "b"}};
  const auto plan = TransformationHandler().plan(c);
  EXPECT_EQ(plan.dependent.size(), 2u);
  EXPECT_LE(largest_coefficient(plan), 1.0);
  EXPECT_TRUE(plan.notes.empty());
}

TEST(Transformation, EquationsThatDifferInTheEighthDigitAreOne) {
  // What a third becomes in eight digits, rounded either way and scaled: never enforced as x0 = x1 = 0, on any machine.
  for (const double third : {0.33333333, 0.33333334})
    for (const double factor : {1.0, 0.1888392296, -7.560408881, 22.68122687}) {
      NumberedConstraints c = constraints_on(2);
      c.multi = {{{0, 1}, {3, -1}, 0, "a"}, {{0, 1}, {factor, -third * factor}, 0, "b"}};
      const auto plan = TransformationHandler().plan(c);
      EXPECT_EQ(plan.dependent.size(), 1u) << third << " · " << factor;
      ASSERT_EQ(plan.notes.size(), 1u);
      EXPECT_NE(plan.notes.front().find("was dropped"), std::string::npos) << plan.notes.front();
    }
  // A difference that is written in six digits is meant.
  NumberedConstraints c = constraints_on(2);
  c.multi = {{{0, 1}, {3, -1}, 0, "a"}, {{0, 1}, {1, -0.333334}, 0, "b"}};
  const auto plan = TransformationHandler().plan(c);
  EXPECT_EQ(plan.dependent.size(), 2u);
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes.front().find("enforced as written"), std::string::npos) << plan.notes.front();
}

TEST(Transformation, CoefficientsStaySmallWhateverIsChained) {
  // x_i = 2 x_(i+1) a thousand times: written in the last unknown, the first would be 2^1000 of it.
  for (const std::vector<double>& pair : {std::vector<double>{1, -2}, std::vector<double>{-2, 1}}) {
    NumberedConstraints c = constraints_on(1001);
    for (int i = 0; i < 1000; ++i) c.multi.push_back({{i, i + 1}, pair, 0, "e"});
    const auto plan = TransformationHandler().plan(c);
    EXPECT_EQ(plan.dependent.size(), 1000u);
    EXPECT_LE(largest_coefficient(plan), 10.0);
  }
  std::mt19937 random(3);
  NumberedConstraints c = constraints_on(300);
  for (int i = 0; i < 100; ++i) {
    NumberedConstraints::Multi m{{}, {}, 0, "e"};
    for (int k = 0; k < 20; ++k) {
      m.equations.push_back(static_cast<std::int32_t>(random() % 300));
      m.coefficients.push_back(std::ldexp(1.0, static_cast<int>(random() % 20) - 10));
    }
    c.multi.push_back(m);
  }
  const auto plan = TransformationHandler().plan(c);
  EXPECT_EQ(plan.dependent.size(), 100u);
  EXPECT_LE(largest_coefficient(plan), 10.0);
}

TEST(Transformation, WhatFollowsFromOthersIsDroppedWithANote) {
  NumberedConstraints c = constraints_on(3);
  c.multi = {{{0, 1}, {3, -1}, 0, "*EQUATION at a.inp:5"},
             {{1, 2}, {1, -1}, 0, "*EQUATION at a.inp:8"},
             {{0, 1}, {1, -0.33333333}, 0, "*EQUATION at a.inp:11"}};
  const auto plan = TransformationHandler().plan(c);
  EXPECT_EQ(plan.dependent.size(), 2u) << "eight digits are what people write";
  ASSERT_EQ(plan.notes.size(), 1u);
  for (const char* word : {"a.inp:5", "a.inp:11", "dropped"})
    EXPECT_NE(plan.notes[0].find(word), std::string::npos) << plan.notes[0];
  // Coefficients that differ in a digit that was meant are enforced, and said to be nearly the same.
  c.multi[2].coefficients[1] = -0.3333331;
  const auto meant = TransformationHandler().plan(c);
  EXPECT_EQ(meant.dependent.size(), 3u);
  ASSERT_EQ(meant.notes.size(), 1u);
  EXPECT_NE(meant.notes[0].find("nearly redundant"), std::string::npos) << meant.notes[0];
  c.multi[2].coefficients[1] = -0.33;
  EXPECT_TRUE(TransformationHandler().plan(c).notes.empty());
  // The same with a constant is a contradiction.
  c.multi[2] = {{0, 1}, {1, -0.33333333}, 0.1, "*EQUATION at a.inp:11"};
  expect_error(ErrorCode::bad_input, {"a.inp:11", "contradict", "unknown 0"}, [&] { TransformationHandler().plan(c); });
  expect_error(ErrorCode::bad_input, {"contradict"}, [&] { PenaltyHandler().plan(c); });
}

TEST(Transformation, RotationsAreComparedByTheirLever) {
  // A rigid body in metres whose nodes are micrometres away: the lever is no rounding, and no reason to solve for θ.
  for (const double size : {1e-6, 1.0, 1e6}) {
    NumberedConstraints c = constraints_on(12);  // five nodes (ux, uy), then the reference node's ux, uy, θ … 10, 11
    c.scale.assign(12, 1.0);
    c.scale[11] = size;
    for (int n = 0; n < 4; ++n) {
      const double x = size * std::cos(n), y = size * std::sin(n);
      c.multi.push_back({{11, 2 * n, 8}, {y, 1, -1}, 0, "x"});
      c.multi.push_back({{11, 2 * n + 1, 9}, {-x, 1, -1}, 0, "y"});
    }
    const auto plan = TransformationHandler().plan(c);
    ASSERT_EQ(plan.dependent.size(), 8u) << size;
    for (int k = 0; k < 8; ++k) EXPECT_EQ(plan.dependent[k].equation, k) << size;
    // A second body on the same nodes: three equations join the bodies, the rest follows.
    c.equation_count = 15;
    c.scale.assign(15, 1.0);
    c.scale[11] = c.scale[14] = size;
    for (int n = 0; n < 4; ++n) {
      const double x = size * (std::cos(n) - 1), y = size * (std::sin(n) + 2);
      c.multi.push_back({{14, 2 * n, 12}, {y, 1, -1}, 0, "second x"});
      c.multi.push_back({{14, 2 * n + 1, 13}, {-x, 1, -1}, 0, "second y"});
    }
    EXPECT_EQ(TransformationHandler().plan(c).dependent.size(), 11u) << size;
  }
}

TEST(Transformation, TimeGrowsWithTheNumberOfTerms) {
  // Elimination by the first usable term took minutes for these: every link was put into all before it.
  const auto start = std::chrono::steady_clock::now();
  NumberedConstraints c = constraints_on(100001);
  for (int i = 0; i < 100000; ++i) c.multi.push_back({{i, i + 1}, {1, -1}, 0, "link"});
  EXPECT_EQ(TransformationHandler().plan(c).dependent.size(), 100000u);
  c = constraints_on(2051);
  for (int i = 0; i < 2000; ++i) {
    NumberedConstraints::Multi m{{}, {}, 0, "mean"};
    for (int k = 0; k < 51; ++k) {
      m.equations.push_back(i + k);
      m.coefficients.push_back(k ? -0.02 : 1.0);
    }
    c.multi.push_back(m);
  }
  EXPECT_EQ(TransformationHandler().plan(c).dependent.size(), 2000u);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 60.0);
}

TEST(Handlers, ReactionsBalanceLoads) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {3, 2, 2};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 2));
  d.prescribe("xmin", "all");
  d.add_load_case("all").traction("xmax", {1, -2, 3}).gravity("", {0, 0, -10});
  for (const char* handler : {"elimination", "transformation", "penalty"}) {
    StaticOptions options;
    options.backend = "openmp:1";
    options.constraints = handler;
    const auto r = make_static_analysis(d, options)->run();
    const double expected[] = {1, -2, 3 - 20};  // traction on an area of 1, weight of a volume of 1
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(r[0].load_sum[i], expected[i], 1e-9) << handler;
      EXPECT_NEAR(r[0].reaction_sum[i], -expected[i], 1e-5) << handler;
    }
  }
}

}  // namespace
}  // namespace voussoir
