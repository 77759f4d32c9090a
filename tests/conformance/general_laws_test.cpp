#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "answers.hpp"
#include "backends_under_test.hpp"
#include "support/registered_names.hpp"

// Laws with values, sources, history, derivatives by dual numbers and unsymmetric tangents, of
// support/general_laws.hpp, on every backend.

namespace voussoir::conformance {
namespace {

std::shared_ptr<Material> numbers() {
  auto m = std::make_shared<Material>("numbers");
  m->set("diffusivity", 2).set("rate", 3).set("k0", 2).set("k1", 0.7).set("bx", 4).set("by", -1).set("bz", 0.5);
  m->set("lambda", 120).set("mu", 80).set("expansion_", 1e-3).set("conductivity", 5).set("rho", 2).set("capacity", 3);
  m->set("yield", 20).set("hardening", 10).set("k", 2).set("tau", 0.5).set("thickness", 0.5);
  return m;
}

/// A box or a rectangle whose nodes are moved, with a prescribed side and, in two dimensions, an equation.
void build(const std::string& type, Domain& d, std::array<int, 3> cells = {3, 2, 2}) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = cells;
  for (std::size_t i = 0; i < 3; ++i) mesh.upper[i] = cells[i];
  mesh.distortion = 0.15;
  auto& block = add_box_mesh(d, mesh);
  block.set_material(numbers());
  const std::string unknown = block.type().program().unknown_names()[0];
  d.prescribe("xmin", "all");
  d.prescribe("xmax", unknown, 0.01);
  auto& load_case = d.add_load_case("all");
  load_case.nodal_at(d.node_id(d.node_count() - 2), block.type().program().unknown_names().back(), 0.3);
}

/// Every registered solver for matrices that need not be symmetric, with a storage: iterations with each, with their
/// usual preconditioner and with Jacobi's in turn.
std::vector<std::pair<std::string, std::string>> general_solvers() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const std::string& solver : test::built_in(solvers())) {
    if (solver == "cg") continue;  // needs a symmetric matrix
    if (!solvers().find(solver).takes_preconditioner) {
      list.emplace_back(solver, "csr");
      continue;
    }
    for (const std::string& storage : test::general_storages())
      list.emplace_back(solver + (list.size() % 2 ? "" : "+jacobi"), storage);
  }
  return list;
}

const std::string types[] = {"reaction_diffusion.hex8",
                             "reaction_diffusion.tet4",
                             "ignition.hex8",
                             "ignition.quad4",
                             "convection_diffusion.hex8",
                             "convection_diffusion.quad4",
                             "convection_diffusion.tet10",
                             "neo_hooke_energy.hex8",
                             "coupled_solid.hex8",
                             "j2.hex8",
                             "j2.hex8.bbar",
                             "plain_solid.hex8",
                             "plain_solid.hex20",
                             "plume.hex8"};

struct GeneralLaws : ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(GeneralLaws, ServicesAgreeWithTheOracle) {
  const auto& [backend, type] = GetParam();
  if (type.starts_with("neo_hooke")) GTEST_SKIP() << "has no energy at numbers this wild";
  Domain d;
  build(type, d);
  expect_alike(services(d, Backend::open(backend), true), services(d, Backend::open(oracle), true), 1e-12);
}

TEST_P(GeneralLaws, SolutionsAgreeWhateverTheSolver) {
  const auto& [backend, type] = GetParam();
  const auto solve = [&, type = type](const std::string& on, const std::string& solver, const std::string& storage) {
    Domain d;
    // Small, for there are many solvers. Ignition depends on the size.
    build(type, d, type.starts_with("ignition") ? std::array{3, 2, 2} : std::array{2, 2, 1});
    StaticOptions options;
    options.solver = solver;
    options.storage = storage;
    options.relative_tolerance = 1e-11;
    return make_static_analysis(d, Backend::open(on), options)->run().front().unknowns.values;
  };
  const auto reference = solve(oracle, "direct", "auto");
  double largest = 0;
  for (const double v : reference) largest = std::max(largest, std::abs(v));
  ASSERT_GT(largest, 1e-3);
  // Emulated, each solver solves half of the laws on one device and the others on two.
  const bool emulated = backend.starts_with("emulated");
  std::size_t turn = static_cast<std::size_t>(std::find(std::begin(types), std::end(types), type) - std::begin(types)) +
                     (backend == "emulated" ? 0 : 1);
  for (const auto& [solver, storage] : general_solvers()) {
    if (emulated && turn++ % 2) continue;
    const auto found = solve(backend, solver, storage);
    ASSERT_EQ(found.size(), reference.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], reference[i], 1e-8 * largest) << solver << " on " << storage << ", value " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, GeneralLaws,
                         ::testing::Combine(::testing::ValuesIn(backends_under_test()), ::testing::ValuesIn(types)),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + "_" + test_name(std::get<1>(info.param));
                         });

/// −k c″ + b c′ = 0 between c = 0 and c = 1.
double convected(double x, double peclet) { return std::expm1(peclet * x) / std::expm1(peclet); }

struct GeneralLawsOn : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, GeneralLawsOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

TEST_P(GeneralLawsOn, ConvectionConvergesToTheExactSolution) {
  double before = 0;
  for (const int cells : {10, 20, 40}) {
    Domain d;
    BoxMesh mesh;
    mesh.type = "convection_diffusion.hex8";
    mesh.cells = {cells, 1, 1};
    auto& block = add_box_mesh(d, mesh);
    auto m = std::make_shared<Material>("stream");
    m->set("diffusivity", 0.25).set("bx", 1).set("by", 0).set("bz", 0);
    block.set_material(m);
    d.prescribe("xmin", "c");
    d.prescribe("xmax", "c", 1.0);
    const auto result = make_static_analysis(d, Backend::open(GetParam()))->run().front();
    double error = 0;
    for (std::int32_t n = 0; n < d.node_count(); ++n)
      error = std::max(error, std::abs(result.unknowns.at(n, "c") - convected(d.coordinates()[3 * n], 4)));
    if (before > 0) {
      EXPECT_NEAR(before / error, 4.0, 0.4) << cells << " elements";
    }
    before = error;
    EXPECT_NE(result.report.choice.find("not symmetric"), std::string::npos) << result.report.choice;
  }
  EXPECT_LT(before, 1e-3);
}

TEST_P(GeneralLawsOn, ReactionConvergesToTheExactSolution) {
  // −k c″ + r c = 0, c(0) = 1, no flux at x = 1: cosh(m (1 − x)) / cosh m with m² = r / k. Symmetric: CG solves it.
  double before = 0;
  for (const int cells : {8, 16}) {
    Domain d;
    BoxMesh mesh;
    mesh.type = "reaction_diffusion.hex8";
    mesh.cells = {cells, 1, 1};
    auto& block = add_box_mesh(d, mesh);
    auto m = std::make_shared<Material>("pool");
    m->set("diffusivity", 2).set("rate", 18);
    block.set_material(m);
    d.prescribe("xmin", "c", 1.0);
    StaticOptions options;
    options.solver = "cg";
    const auto result = make_static_analysis(d, Backend::open(GetParam()), options)->run().front();
    double error = 0;
    for (std::int32_t n = 0; n < d.node_count(); ++n) {
      const double exact = std::cosh(3 * (1 - d.coordinates()[3 * n])) / std::cosh(3.0);
      error = std::max(error, std::abs(result.unknowns.at(n, "c") - exact));
    }
    if (before > 0) {
      EXPECT_NEAR(before / error, 4.0, 0.4);
    }
    before = error;
  }
}

TEST_P(GeneralLawsOn, SurfaceLoadsActOnAUsersField) {
  // 2 c″ + 6 = 0 between c = 1 and an inflow of 4, less what a film of 3 to 2 lets out: 2 c′(1) = 4 − 3 (c(1) − 2), so
  // that c = 1 + a x − 1.5 x² with 2 (a − 3) = 4 − 3 (a − 2.5), a = 3.5.
  Domain d;
  BoxMesh mesh;
  mesh.type = "reaction_diffusion.hex8";
  mesh.cells = {6, 2, 1};
  auto& block = add_box_mesh(d, mesh);
  auto m = std::make_shared<Material>("soil");
  m->set("diffusivity", 2).set("rate", 0);
  block.set_material(m);
  d.prescribe("xmin", "c", 1.0);
  d.add_load_case("all").inflow("xmax", 4).film("xmax", 3, 2).source("", 6);
  const auto result = make_static_analysis(d, Backend::open(GetParam()))->run().front();
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double x = d.coordinates()[3 * n];
    EXPECT_NEAR(result.unknowns.at(n, "c"), 1 + 3.5 * x - 1.5 * x * x, 1e-9);
  }
}

TEST_P(GeneralLawsOn, ASmallLoadBesideALargeOneIsBalancedToo) {
  // A bar of rubber with a small load, alone and beside a body with a load that is 1e9 times as large.
  const auto solve = [&](bool beside) {
    Domain d;
    for (int part = 0; part < (beside ? 2 : 1); ++part) {
      BoxMesh mesh;
      mesh.type = "neo_hooke_flux.hex8";
      mesh.cells = {2, 1, 1};
      mesh.lower = {0, 5.0 * part, 0};
      mesh.upper = {2, 5.0 * part + 1, 1};
      mesh.block = mesh.set_prefix = part ? "large" : "small";
      auto m = std::make_shared<Material>("rubber");
      m->set("lambda", part ? 3e9 : 3).set("mu", part ? 2e9 : 2);
      add_box_mesh(d, mesh).set_material(m);
      d.prescribe(mesh.set_prefix + "xmin", "all");
    }
    auto& loads = d.add_load_case("pull");
    loads.nodal("smallxmax", "ux", 0.5);
    if (beside) loads.nodal("largexmax", "ux", 0.05e9);
    const auto result = make_static_analysis(d, Backend::open(GetParam()))->run().front();
    for (std::int32_t n = 0; n < d.node_count(); ++n)
      if (d.coordinates()[3 * n] == 2 && d.coordinates()[3 * n + 1] == 0 && d.coordinates()[3 * n + 2] == 0)
        return result.unknowns.at(n, "ux");
    return 0.0;
  };
  const double alone = solve(false);
  EXPECT_GT(alone, 0.1);
  EXPECT_NEAR(solve(true), alone, 1e-8 * alone);
}

TEST_P(GeneralLawsOn, AHeatedBarGrows) {
  // T = 100 x along a bar that is free to expand: u_x = α 100 x² / 2 on its axis, to the order of the mesh.
  Domain d;
  BoxMesh mesh;
  mesh.type = "coupled_solid.hex8";
  mesh.cells = {8, 1, 1};
  mesh.upper = {1, 0.01, 0.01};
  auto& block = add_box_mesh(d, mesh);
  auto m = std::make_shared<Material>("metal");
  m->set("lambda", 0).set("mu", 80).set("expansion_", 1e-5).set("conductivity", 5).set("rho", 2).set("capacity", 3);
  block.set_material(m);
  for (const char* unknown : {"ux", "uy", "uz", "T"}) d.prescribe("xmin", unknown);
  d.prescribe("ymin", "uy");
  d.prescribe("zmin", "uz");
  d.prescribe("xmax", "T", 100.0);
  const auto result = make_static_analysis(d, Backend::open(GetParam()))->run().front();
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    if (d.coordinates()[3 * n] == 1.0) {
      EXPECT_NEAR(result.unknowns.at(n, "T"), 100.0, 1e-9);
      EXPECT_NEAR(result.unknowns.at(n, "ux"), 0.5e-3, 1e-5);
    }
}

TEST_P(GeneralLawsOn, UnsymmetricModelsAreRefusedByMethodsForSymmetricOnes) {
  Domain d;
  build("convection_diffusion.hex8", d);
  const auto expect_refusal = [&](const std::string& solver, const std::string& storage, const std::string& text) {
    StaticOptions options;
    options.solver = solver;
    options.storage = storage;
    try {
      make_static_analysis(d, Backend::open(GetParam()), options)->run();
      FAIL() << solver << " on " << storage << " did not object";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  expect_refusal("cg", "auto", "use gmres, bicgstab or direct");
  expect_refusal("direct", "band", "not symmetric");
  expect_refusal("direct:profile", "auto", "not symmetric");
}

TEST_P(GeneralLawsOn, EquationsBetweenUnsymmetricElementsHold) {
  // A stream through two boxes that equations join is that through one box.
  Domain d;
  for (int part = 0; part < 2; ++part) {
    BoxMesh mesh;
    mesh.type = "convection_diffusion.hex8";
    mesh.cells = {8, 1, 1};
    mesh.lower = {part * 0.5, 0, 0};
    mesh.upper = {part * 0.5 + 0.5, 1, 1};
    mesh.block = mesh.set_prefix = part ? "right" : "left";
    auto m = std::make_shared<Material>("stream");
    m->set("diffusivity", 0.25).set("bx", 1).set("by", 0).set("bz", 0);
    add_box_mesh(d, mesh).set_material(m);
  }
  for (std::int32_t left = 0; left < d.node_count(); ++left)
    for (std::int32_t right = left + 1; right < d.node_count(); ++right) {
      const double* a = d.coordinates().data() + 3 * left;
      const double* b = d.coordinates().data() + 3 * right;
      if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2])
        d.add_equation({{d.node_id(left), "c", 1.0}, {d.node_id(right), "c", -1.0}});
    }
  d.prescribe("leftxmin", "c");
  d.prescribe("rightxmax", "c", 1.0);
  Domain whole;
  BoxMesh mesh;
  mesh.type = "convection_diffusion.hex8";
  mesh.cells = {16, 1, 1};
  auto m = std::make_shared<Material>("stream");
  m->set("diffusivity", 0.25).set("bx", 1).set("by", 0).set("bz", 0);
  add_box_mesh(whole, mesh).set_material(m);
  whole.prescribe("xmin", "c");
  whole.prescribe("xmax", "c", 1.0);
  const auto one = make_static_analysis(whole, Backend::open(GetParam()))->run().front();
  for (const auto& [solver, storage] : general_solvers()) {
    StaticOptions options;
    options.solver = solver;
    options.storage = storage;
    options.relative_tolerance = 1e-11;
    const auto two = make_static_analysis(d, Backend::open(GetParam()), options)->run().front();
    for (std::int32_t n = 0; n < d.node_count(); ++n)
      for (std::int32_t k = 0; k < whole.node_count(); ++k)
        if (std::abs(d.coordinates()[3 * n] - whole.coordinates()[3 * k]) < 1e-12) {
          ASSERT_NEAR(two.unknowns.at(n, "c"), one.unknowns.at(k, "c"), 1e-9) << solver;
        }
  }
}

// A bar of length 2 conducts heat; its first half is a coupled element as well, on the same nodes, which conducts as
// much again and expands: T(1) = 40 · 5 / 15, and u(1) = β T(1) / 2 with β = α (3 λ + 2 μ) / (λ + 2 μ), sides being
// held.
TEST_P(GeneralLawsOn, HeatAndCoupledElementsShareNodes) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {4, 1, 1};
  mesh.upper = {2, 1, 1};
  auto& heat = add_box_mesh(d, mesh);
  heat.set_material(numbers());
  auto& coupled = d.add_block("coupled", "coupled_solid.hex8");
  coupled.set_material(numbers());
  for (std::int32_t e = 0; e < heat.size(); ++e) {
    std::vector<Id> nodes;
    double largest = 0;
    for (const std::int32_t n : heat.nodes(e)) {
      nodes.push_back(d.node_id(n));
      largest = std::max(largest, d.coordinates()[3 * static_cast<std::size_t>(n)]);
    }
    if (largest < 1.1) coupled.add(100 + e, nodes);
  }
  ASSERT_EQ(coupled.size(), 2);
  d.add_node_set_where("half", [](double x, double, double) { return x < 1.1; });
  d.add_node_set_where("end", [](double x, double, double) { return x < 0.1; });
  d.prescribe("half", "uy");
  d.prescribe("half", "uz");
  d.prescribe("end", "ux");
  d.prescribe("xmin", "T", 0);
  d.prescribe("xmax", "T", 40);
  const double middle = 40.0 * 5 / 15, beta = 1e-3 * (3 * 120 + 2 * 80) / (120 + 2 * 80);
  for (const auto& [solver, storage] : general_solvers()) {
    if (storage == "bsr") continue;                // nodes have one unknown or four
    if (solver.starts_with("bicgstab")) continue;  // may break down: u and T have different sizes
    StaticOptions options;
    options.solver = solver;
    options.storage = storage;
    options.relative_tolerance = 1e-11;
    const auto result = make_static_analysis(d, Backend::open(GetParam()), options)->run().front();
    for (std::int32_t n = 0; n < d.node_count(); ++n) {
      const double x = d.coordinates()[3 * static_cast<std::size_t>(n)];
      ASSERT_NEAR(result.unknowns.at(n, "T"), x < 1 ? middle * x : middle + (40 - middle) * (x - 1), 1e-7) << solver;
      const double u = result.unknowns.at(n, "ux");
      ASSERT_EQ(std::isnan(u), x > 1.1);
      if (!std::isnan(u)) {
        ASSERT_NEAR(u, beta * middle * x * x / 2, 1e-9) << solver << " on " << storage;
      }
    }
  }
}

}  // namespace
}  // namespace voussoir::conformance
