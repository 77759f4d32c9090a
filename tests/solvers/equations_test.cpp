// Multi-point equations, oblique supports and rigid bodies: every solver on every storage has the same answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/constrained_reference.hpp"
#include "support/expect_error.hpp"
#include "support/random_model.hpp"

namespace voussoir {
namespace {

using testing::ConstrainedReference;
using testing::expect_error;
using testing::RandomModel;
using testing::RandomModelOptions;

struct Way {
  const char *solver, *storage, *backend;
};

std::string to_text(const Way& way) { return std::string(way.solver) + " on " + way.storage + ", " + way.backend; }

constexpr Way ways[] = {
    {"direct", "bsr", "openmp:2"},
    {"direct:eigen", "csr", "openmp:2"},
    {"direct", "band", "openmp:2"},
    {"direct", "profile", "openmp:2"},
    {"direct:band", "csr", "openmp:2"},
    {"cg+jacobi", "csr", "openmp:2"},
    {"cg+amg", "bsr", "openmp:2"},
    {"cg+amg", "matrix-free", "openmp:2"},
    {"cg+fsai", "csr", "openmp:2"},
    {"cg+chebyshev", "matrix-free", "openmp:2"},
    {"cg+block-jacobi", "element", "openmp:2"},
    {"cg+jacobi", "element-scatter", "openmp:2"},
    {"cg+jacobi", "point", "openmp:2"},
    {"direct", "csr", "debug:2"},
    {"cg+jacobi", "bsr", "debug:2"},
    {"cg+block-jacobi", "matrix-free", "debug:2"},
};

StepResult solve(const Domain& domain, const Way& way, const std::string& constraints = "transformation") {
  StaticOptions options;
  options.solver = way.solver;
  options.storage = way.storage;
  options.backend = way.backend;
  options.constraints = constraints;
  options.relative_tolerance = 1e-12;
  return make_static_analysis(domain, options)->run()[0];
}

/// Largest difference over the largest value.
double difference(const Domain& domain, const StepResult& result, const std::vector<double>& expected) {
  const auto width = static_cast<std::int32_t>(expected.size() / domain.node_count());
  double worst = 0, size = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    for (std::int32_t k = 0; k < width; ++k) {
      const double found = result.unknowns.at(n, k), wanted = expected[static_cast<std::size_t>(n) * width + k];
      if (std::isnan(found)) continue;  // a node without this unknown
      worst = std::max(worst, std::abs(found - wanted));
      size = std::max(size, std::abs(wanted));
    }
  return size > 0 ? worst / size : worst;
}

/// One brick on a fixed base whose upper nodes follow equations with coefficients that nearly cancel.
void nearly_cancelling(Domain& d, bool constrained, const std::array<int, 4>& order) {
  BoxMesh mesh;
  mesh.cells = {1, 1, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210000, 0.3));
  d.add_load_case("push").traction("zmax", {20, -30, 100});
  if (!constrained) return;
  d.prescribe("zmin", "all");
  d.add_equation({{5, "uz", 3}, {6, "uz", -1}});
  const std::array<Domain::EquationTerm, 4> terms{{{5, "uz", 1}, {6, "uz", -0.33333333}, {7, "uz", 1}, {8, "uz", -1}}};
  std::vector<Domain::EquationTerm> ordered;
  for (int k : order) ordered.push_back(terms[k]);
  d.add_equation(ordered);
}

TEST(Equations, CoefficientsThatNearlyCancelHaveOneAnswerInAnyOrder) {
  std::array<int, 4> order{0, 1, 2, 3};
  const auto reference =
      testing::solve_by_dense_algebra([&](Domain& d, bool constrained) { nearly_cancelling(d, constrained, order); });
  ASSERT_EQ(reference.kind, ConstrainedReference::Kind::solved);
  int trial = 0;
  do {
    Domain d;
    nearly_cancelling(d, true, order);
    for (const Way& way : ways) {
      if (trial > 0 && &way != &ways[0] && &way != &ways[5]) continue;  // every way once, two of them for every order
      EXPECT_LT(difference(d, solve(d, way), reference.unknowns), 1e-7) << to_text(way) << ", order " << trial;
    }
    ++trial;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(trial, 24);
}

double linear_field(const double* x, int k) {
  static constexpr double g[3][3] = {{0.01, 0.002, -0.003}, {0.001, -0.004, 0.002}, {-0.002, 0.003, 0.005}};
  return 0.01 + g[k][0] * x[0] + g[k][1] * x[1] + g[k][2] * x[2];
}

/// Two blocks whose meshes do not match, the finer tied node to face to the coarser with the weights of the face's
/// shape functions. Terms stand with the smallest coefficient first. The fine faces divide the coarse ones, so that a
/// linear displacement field on the outer boundary is the exact solution.
void tied_patch(Domain& d) {
  BoxMesh mesh;
  mesh.cells = {2, 2, 2};
  mesh.set_prefix = "a ";
  mesh.block = "a";
  const auto material = std::make_shared<IsotropicMaterial>("steel", 1000, 0.3);
  add_box_mesh(d, mesh).set_material(material);
  mesh.cells = {2, 4, 4};
  mesh.lower = {1, 0, 0};
  mesh.upper = {2, 1, 1};
  mesh.set_prefix = "b ";
  mesh.block = "b";
  add_box_mesh(d, mesh).set_material(material);
  const auto at = [&](std::int32_t n) { return &d.coordinates()[3 * static_cast<std::size_t>(n)]; };
  for (const std::int32_t slave : d.node_set("b xmin"))
    for (const char* u : {"ux", "uy", "uz"}) {
      std::vector<Domain::EquationTerm> terms{{d.node_id(slave), u, 1}};
      for (const std::int32_t master : d.node_set("a xmax")) {
        const double wy = 1 - 2 * std::abs(at(slave)[1] - at(master)[1]);
        const double wz = 1 - 2 * std::abs(at(slave)[2] - at(master)[2]);
        if (wy > 1e-12 && wz > 1e-12) terms.push_back({d.node_id(master), u, -wy * wz});
      }
      std::sort(terms.begin(), terms.end(),
                [](const auto& x, const auto& y) { return std::abs(x.coefficient) < std::abs(y.coefficient); });
      d.add_equation(terms);
    }
  const auto tied = d.node_set("b xmin");
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double* x = at(n);
    const bool outside = x[0] == 0 || x[0] == 2 || x[1] == 0 || x[1] == 1 || x[2] == 0 || x[2] == 1;
    if (!outside || std::binary_search(tied.begin(), tied.end(), n)) continue;
    for (int k = 0; k < 3; ++k) d.prescribe_at(d.node_id(n), k == 0 ? "ux" : k == 1 ? "uy" : "uz", linear_field(x, k));
  }
  d.add_load_case("none");
}

TEST(Equations, ATiedPatchTestIsPassedOnEveryWay) {
  Domain d;
  tied_patch(d);
  std::vector<double> expected;
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    for (int k = 0; k < 3; ++k) expected.push_back(linear_field(&d.coordinates()[3 * static_cast<std::size_t>(n)], k));
  for (const Way& way : ways) EXPECT_LT(difference(d, solve(d, way), expected), 1e-10) << to_text(way);
  EXPECT_LT(difference(d, solve(d, ways[0], "penalty"), expected), 1e-4);
  expect_error(ErrorCode::bad_input, {"transformation"}, [&] { solve(d, ways[0], "elimination"); });
}

TEST(ObliqueSupports, ReactionsBalanceLoadsBesideOtherConstraints) {
  // Two blocks, tied node by node. Nodes of the tie stand on slopes, and some are prescribed along an axis as well:
  // what is out of balance there belongs to the support, the tie and the prescribed value together.
  Domain d;
  BoxMesh mesh;
  mesh.cells = {1, 1, 1};
  mesh.set_prefix = "a ";
  mesh.block = "a";
  const auto material = std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 1);
  add_box_mesh(d, mesh).set_material(material);
  mesh.lower = {1, 0, 0};
  mesh.upper = {2, 1, 1};
  mesh.set_prefix = "b ";
  mesh.block = "b";
  add_box_mesh(d, mesh).set_material(material);
  const auto left = d.node_set("a xmax"), right = d.node_set("b xmin");
  for (std::size_t i = 0; i < 4; ++i)
    for (const char* u : {"ux", "uy", "uz"}) d.add_equation({{d.node_id(right[i]), u, 1}, {d.node_id(left[i]), u, -1}});
  d.prescribe_at(d.node_id(d.node_set("a xmin")[0]), "all");
  d.prescribe_along(d.node_id(left[0]), {1, 2, 0.5});
  d.prescribe_along(d.node_id(right[1]), {-1, 1, 3}, 0.01);
  d.prescribe_along(d.node_id(right[1]), {0, 1, 0.2});
  d.prescribe_along(d.node_id(left[2]), {1, 1, 1});
  d.prescribe_at(d.node_id(left[2]), "uy", 0.02);
  d.prescribe_along(d.node_id(d.node_set("b xmax")[3]), {1, 1, 0});
  d.prescribe_at(d.node_id(d.node_set("b xmax")[3]), "uy");
  d.add_load_case("push").traction("b xmax", {3, -2, 1}).gravity("", {0, 0, -1});
  for (const char* handler : {"transformation", "penalty"}) {
    const StepResult result = solve(d, ways[0], handler);
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(result.reaction_sum[k], -result.load_sum[k], handler[0] == 't' ? 1e-9 : 1e-4) << handler << ", " << k;
    // On the slope of a node that nothing else holds, the force is along the direction.
    const std::int32_t n = d.node_set("b xmax")[3];
    EXPECT_NEAR(result.reactions.at(n, "uz"), 0, 1e-9) << handler;
  }
}

/// A block with random equations between any of its unknowns, so many that each dependent unknown depends on nearly all
/// that are left.
void tangled_block(Domain& d, bool constrained) {
  BoxMesh mesh;
  mesh.cells = {5, 5, 5};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
  d.add_load_case("pull").traction("xmax", {1, 0.5, -0.25});
  if (!constrained) return;
  d.prescribe("xmin", "all");
  std::mt19937 random(7);
  std::vector<std::int32_t> nodes;
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    if (d.coordinates()[3 * static_cast<std::size_t>(n)] > 0) nodes.push_back(n);
  for (int e = 0; e < 110; ++e) {
    std::vector<Domain::EquationTerm> terms;
    for (int t = 0; t < 51; ++t)
      terms.push_back({d.node_id(nodes[random() % nodes.size()]),
                       std::array<const char*, 3>{"ux", "uy", "uz"}[random() % 3],
                       static_cast<double>(random() % 2001) / 1000 - 1});
    d.add_equation(terms, 1e-4 * static_cast<double>(random() % 3));
  }
}

TEST(Equations, ManyLongOnesAgreeWithDenseAlgebra) {
  const auto reference = testing::solve_by_dense_algebra(tangled_block);
  ASSERT_EQ(reference.kind, ConstrainedReference::Kind::solved);
  Domain d;
  tangled_block(d, true);
  constexpr Way some[] = {{"direct", "bsr", "openmp:2"},
                          {"direct", "csr", "debug:2"},
                          {"cg+block-jacobi", "bsr", "openmp:2"},
                          {"cg+block-jacobi", "matrix-free", "openmp:2"}};
  for (const Way& way : some) EXPECT_LT(difference(d, solve(d, way), reference.unknowns), 1e-8) << to_text(way);
}

TEST(Equations, RandomConstraintsAgreeWithDenseAlgebraOnEveryWay) {
  int solved = 0;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    const RandomModel model(seed);
    const auto reference =
        testing::solve_by_dense_algebra([&](Domain& d, bool constrained) { model.build(d, constrained); });
    Domain d;
    SCOPED_TRACE(model.build(d));
    if (reference.kind == ConstrainedReference::Kind::contradictory) {
      EXPECT_THROW(solve(d, ways[0]), Error);
      continue;
    }
    ASSERT_EQ(reference.kind, ConstrainedReference::Kind::solved);
    ++solved;
    for (const Way& way : ways) {
      if (seed > 10 && std::string(way.backend) != "openmp:2") continue;
      EXPECT_LT(difference(d, solve(d, way), reference.unknowns), 1e-6) << to_text(way);
    }
    EXPECT_LT(difference(d, solve(d, ways[0], "penalty"), reference.unknowns), 1e-2);
  }
  EXPECT_GT(solved, 20);
}

TEST(Equations, ContradictionsAndLooseModelsAreRefusedOnEveryWay) {
  RandomModelOptions options;
  options.contradictory = true;
  options.loose = true;
  int refused = 0;
  for (std::uint32_t seed = 101; seed <= 140; ++seed) {
    const RandomModel model(seed, options);
    const auto reference =
        testing::solve_by_dense_algebra([&](Domain& d, bool constrained) { model.build(d, constrained); });
    if (reference.kind == ConstrainedReference::Kind::solved) continue;
    ++refused;
    Domain d;
    SCOPED_TRACE(model.build(d));
    for (const Way& way : {ways[0], ways[1], ways[3], ways[5]}) EXPECT_THROW(solve(d, way), Error) << to_text(way);
  }
  EXPECT_GT(refused, 3);
}

}  // namespace
}  // namespace voussoir
