#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/amg/detail/cycle.hpp>
#include <voussoir/solvers/cg_solver.hpp>

#include "solver_models.hpp"
#include "support/expect_error.hpp"

// Multigrid whose levels are divided over several devices, beside that of one device.

namespace voussoir::test {
namespace {

using testing::expect_error;

std::shared_ptr<IsotropicMaterial> steel() { return std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850); }

/// A cantilever, numbered along its length.
void add_beam(Domain& d, std::array<int, 3> cells, const std::string& type = "solid.hex8.full") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells[2], cells[1], cells[0]};  // the last direction is numbered last
  mesh.upper = {1, 1, static_cast<double>(cells[0]) / cells[1]};
  add_box_mesh(d, mesh).set_material(steel());
  d.prescribe("zmin", "all");
  d.add_load_case("pull").traction("zmax", {1e6, 0, -1e6});
}

void add_heated_bar(Domain& d) {
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {5, 5, 15};
  mesh.upper = {1, 1, 3};
  auto material = steel();
  material->set("conductivity", 45);
  add_box_mesh(d, mesh).set_material(material);
  d.prescribe("zmin", "T");
  d.add_load_case("heat").heat_flux("zmax", 1000);
}

struct Answer {
  SolveReport report;
  std::vector<double> x;
  std::vector<AmgLevelReport> levels;
  std::vector<std::size_t> device_bytes;
  std::size_t peak = 0;  ///< of one device
  std::string summary;
};

Answer solve_on(const Domain& d, const std::string& storage, const std::string& backend, const std::string& how,
                double tolerance = 1e-12) {
  System s(d, storage, backend);
  auto amg = std::make_shared<AmgPreconditioner>(AmgOptions::parse(how));
  CgSolver solver(amg, {tolerance, 400});
  s.model.backend().fill(s.soe->x(), 0.0);
  Answer answer;
  answer.report = solver.solve(*s.soe);
  answer.x = s.soe->x().to_host();
  answer.levels = amg->levels();
  answer.device_bytes = amg->device_bytes();
  answer.summary = amg->summary();
  for (int k = 0; k < s.model.backend().devices(); ++k)
    answer.peak = std::max(answer.peak, s.model.backend().memory(k)->bytes_peak());
  return answer;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double size = 0, apart = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    size += b[i] * b[i];
    apart += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(apart / size);
}

/// Aggregates that end between devices are smaller or have other shapes. To a tolerance of 1e-12, that may cost a few
/// iterations, most of them with smoothers that need many.
void expect_same_as_one_device(const Domain& d, const std::string& storage, const std::string& how,
                               const std::vector<std::string>& backends = {"debug:3"}) {
  SCOPED_TRACE(storage + ", " + how);
  const Answer one = solve_on(d, storage, "debug", how);
  ASSERT_TRUE(one.report.converged) << one.report.reason;
  EXPECT_EQ(one.summary.find("divided"), std::string::npos);
  for (const std::string& backend : backends) {
    SCOPED_TRACE(backend);
    const Answer several = solve_on(d, storage, backend, how);
    EXPECT_NE(several.summary.find("divided over"), std::string::npos) << several.summary;
    EXPECT_TRUE(several.report.converged) << several.report.reason;
    EXPECT_LE(several.report.iterations, 2 + 1.15 * one.report.iterations) << several.summary;
    EXPECT_LE(distance(several.x, one.x), 1e-10);
    EXPECT_EQ(several.levels.front().rows, one.levels.front().rows);
    EXPECT_EQ(several.levels.front().entries, one.levels.front().entries);
  }
}

TEST(DividedAmg, HasTheIterationsOfOneDevice) {
  Domain d;
  add_beam(d, {9, 8, 8});
  const std::string how = "coarsest=60,gather=60";
  const int one = solve_on(d, "bsr", "debug", how, 1e-8).report.iterations;
  for (const char* backend : {"debug:2", "debug:4"})
    EXPECT_NEAR(solve_on(d, "bsr", backend, how, 1e-8).report.iterations, one, 2) << backend;
}

TEST(DividedAmg, HasTheAnswersOfOneDeviceOnEveryStorage) {
  Domain d;
  add_beam(d, {12, 3, 3});
  for (const char* storage : {"bsr", "csr", "element", "matrix-free"})
    expect_same_as_one_device(d, storage, "single,coarsest=30,gather=30", {"debug:2"});
  expect_same_as_one_device(d, "bsr", "full,coarsest=30,gather=300", {"debug:4"});
}

TEST(DividedAmg, HasEverySetting) {
  Domain d;
  add_beam(d, {12, 3, 3});
  for (const char* how :
       {"single,k-cycle", "full,k-cycle", "full,l1-jacobi,steps=3", "full,block-jacobi", "single,fsai",
        "full,fsai,basis=1", "full,basis=2", "full,direct", "full,levels=2", "full,levels=3"})
    expect_same_as_one_device(d, "bsr", std::string(how) + ",coarsest=30,gather=30");
}

TEST(DividedAmg, ACycleExchangesTheHalosOfItsLevels) {
  Domain d;
  add_beam(d, {12, 2, 2});
  const auto check = [&](const std::string& storage, const std::string& how, const std::string& backend, bool divided) {
    SCOPED_TRACE(storage + ", " + how + ", " + backend);
    System s(d, storage, backend);
    AmgPreconditioner amg(AmgOptions::parse(how));
    amg.set_up(*s.soe);
    EXPECT_EQ(amg.summary().find("divided") != std::string::npos, divided) << amg.summary();
    const HaloTraffic predicted = amg.cycle_traffic();
    EXPECT_EQ(predicted.exchanges > 0, divided);
    Vector r = s.model.make_vector(), z = s.model.make_vector();
    s.model.backend().fill(r, 1.0);
    const HaloTraffic before = halo_traffic();
    amg.inverse()->apply(r, z);
    const HaloTraffic counted = halo_traffic() - before;
    EXPECT_EQ(counted.exchanges, predicted.exchanges);
    EXPECT_EQ(counted.bytes, predicted.bytes);
  };
  check("bsr", "single,coarsest=12,gather=12", "debug:2", true);
  check("bsr", "full,k-cycle,coarsest=12,gather=12", "debug:3", true);
  check("bsr", "single,fsai,coarsest=12,gather=12", "debug:2", true);
  check("matrix-free", "single,steps=3,coarsest=12,gather=60", "debug:4", true);
  check("bsr", "single,coarsest=12,gather=12", "debug", false);

  // All levels on the first device: only the SOE's own products, if any, exchange halos.
  for (const char* how : {"single,coarsest=12", "full,coarsest=12"}) {
    System s(d, "bsr", "debug:2");
    AmgPreconditioner amg(AmgOptions::parse(how));
    amg.set_up(*s.soe);
    Vector r = s.model.make_vector(), z = s.model.make_vector();
    s.model.backend().fill(r, 1.0);
    const HaloTraffic before = halo_traffic();
    amg.inverse()->apply(r, z);
    EXPECT_EQ((halo_traffic() - before).bytes, amg.cycle_traffic().bytes) << how;
    EXPECT_EQ((halo_traffic() - before).exchanges, amg.cycle_traffic().exchanges) << how;
  }
  expect_error(ErrorCode::misuse, {"not been set up"}, [] { (void)AmgPreconditioner().cycle_traffic(); });
}

TEST(DividedAmg, ConductsHeat) {
  Domain d;
  add_heated_bar(d);
  for (const char* storage : {"csr", "matrix-free"})
    expect_same_as_one_device(d, storage, "single,coarsest=20,gather=20");
}

TEST(DividedAmg, SolvesPlaneModels) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  mesh.cells = {10, 30, 1};
  mesh.upper = {1, 3, 1};
  add_box_mesh(d, mesh).set_material(steel()).set_section("thickness", 0.01);
  d.prescribe("ymin", "all");
  d.add_load_case("pull").traction("ymax", {1e6, 0, 0});
  expect_same_as_one_device(d, "bsr", "single,coarsest=40,gather=40");
}

TEST(DividedAmg, HasEquationsAcrossDevices) {
  Domain d;
  add_beam(d, {14, 4, 4});
  // Nodes of the first, second and last quarter move together.
  const Id first = d.node_id(0), last = d.node_id(d.node_count() - 1);
  d.add_equation({{last, "uy", 1}, {first + 90, "uy", -0.5}, {first + 190, "uz", -0.25}});
  d.add_equation({{last - 70, "ux", 1}, {first + 60, "ux", -1}});
  for (const char* storage : {"bsr", "matrix-free"})
    expect_same_as_one_device(d, storage, "single,coarsest=30,gather=30");
}

TEST(DividedAmg, TakesNodesOfDifferentUnknowns) {
  Domain d;
  add_beam(d, {14, 4, 4});
  const Id last = d.node_id(d.node_count() - 1);
  for (int k = 1; k <= 4; ++k) d.add_node(last + k, 1, 1, 3.5 + 0.5 * k);
  auto material = steel();
  material->set("shear_modulus", 80e9);
  auto& beams = d.add_block("mast", "beam");
  beams.set_material(material);
  for (const std::string& name : beams.type().program().parameter_names())
    if (!material->has(name)) beams.set_section(name, 0.02);
  for (int k = 0; k < 4; ++k) beams.add(100000 + k, {last + k, last + k + 1});
  d.add_node_set("foot", {last});
  for (const char* rotation : {"rx", "ry", "rz"}) d.prescribe("foot", rotation);
  expect_same_as_one_device(d, "csr", "full,coarsest=60,gather=60");
}

TEST(DividedAmg, ACycleIsSymmetricAndPositive) {
  Domain d;
  add_beam(d, {5, 2, 1});
  for (const char* how : {"full,coarsest=12,gather=12", "full,coarsest=12,gather=12,fsai"}) {
    System s(d, "bsr", "debug:2");
    AmgPreconditioner amg(AmgOptions::parse(how));
    amg.set_up(*s.soe);
    ASSERT_NE(amg.summary().find("divided"), std::string::npos);
    const Eigen::MatrixXd m = s.dense(*amg.inverse());
    EXPECT_LE((m - m.transpose()).norm(), 1e-12 * m.norm()) << how;
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(0.5 * (m + m.transpose())).eigenvalues()[0], 0) << how;
  }
}

TEST(DividedAmg, TakesABlockOfVectorsAtOnce) {
  Domain d;
  add_beam(d, {16, 3, 3});
  for (const char* how : {"full,coarsest=60,gather=60", "single,coarsest=60,gather=60",
                          "full,k-cycle,coarsest=60,gather=60", "full,fsai,coarsest=60,gather=60"}) {
    System s(d, "bsr", "debug:3");
    AmgPreconditioner amg(AmgOptions::parse(how));
    amg.set_up(*s.soe);
    constexpr int columns = 3;
    std::vector<double> block(static_cast<std::size_t>(s.model.equation_count()) * columns);
    for (const std::int32_t e : s.free)
      for (int c = 0; c < columns; ++c) block[static_cast<std::size_t>(e) * columns + c] = std::sin(1.0 + e * (c + 1));
    Vector x = s.model.make_vector(columns), y = s.model.make_vector(columns);
    x.from_host(block);
    amg.inverse()->apply(x, y);
    for (int c = 0; c < columns; ++c) {
      std::vector<double> one(static_cast<std::size_t>(s.model.equation_count()));
      for (std::size_t e = 0; e < one.size(); ++e) one[e] = block[e * columns + static_cast<std::size_t>(c)];
      Vector x1 = s.model.make_vector(), y1 = s.model.make_vector();
      x1.from_host(one);
      amg.inverse()->apply(x1, y1);
      EXPECT_LE((s.on_free(y, c) - s.on_free(y1)).norm(), (amg.is_single() ? 1e-5 : 1e-12) * s.on_free(y1).norm())
          << how << ", column " << c;
    }
  }
}

TEST(DividedAmg, GivesTheSameBitsOnEveryRun) {
  Domain d;
  add_beam(d, {14, 4, 4});
  const std::string how = "single,coarsest=60,gather=60";
  const Answer first = solve_on(d, "bsr", "debug:4", how), second = solve_on(d, "bsr", "debug:4", how);
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(first.report.iterations, second.report.iterations);
}

TEST(DividedAmg, NeedsLessMemoryOnEachOfMoreDevices) {
  Domain d;
  add_beam(d, {48, 5, 5});
  for (const char* storage : {"bsr", "matrix-free"}) {
    SCOPED_TRACE(storage);
    const std::string how = "single,coarsest=60,gather=400";
    const Answer one = solve_on(d, storage, "debug", how, 1e-8);
    for (const int devices : {2, 4}) {
      SCOPED_TRACE(devices);
      const Answer several = solve_on(d, storage, "debug:" + std::to_string(devices), how, 1e-8);
      // The finest level, the hierarchy with the vectors of cycles, and everything while it was set up.
      const auto& finest = several.levels.front().device_bytes;
      ASSERT_EQ(finest.size(), static_cast<std::size_t>(devices));
      const auto largest = static_cast<double>(*std::max_element(finest.begin(), finest.end()));
      EXPECT_LE(largest, 1.3 / devices * static_cast<double>(one.levels.front().device_bytes.front()));
      const auto& all = several.device_bytes;
      EXPECT_LE(static_cast<double>(*std::max_element(all.begin(), all.end())),
                1.3 / devices * static_cast<double>(one.device_bytes.front()));
      EXPECT_LE(static_cast<double>(several.peak), 1.3 / devices * static_cast<double>(one.peak));
    }
  }
}

TEST(DividedAmg, TakesNewValues) {
  Domain d;
  add_beam(d, {14, 4, 4});
  for (const char* storage : {"bsr", "matrix-free"}) {
    System s(d, storage, "debug:2");
    auto amg = std::make_shared<AmgPreconditioner>(AmgOptions::parse("full,coarsest=60,gather=60"));
    CgSolver solver(amg, {1e-10, 400});
    s.model.backend().fill(s.soe->x(), 0.0);
    EXPECT_TRUE(solver.solve(*s.soe).converged);
    const double before = amg->levels()[0].largest_eigenvalue;
    MatrixTerms terms;
    terms.mass = 1e10;
    s.soe->form(nullptr, terms);
    s.model.backend().fill(s.soe->x(), 0.0);
    const SolveReport again = solver.solve(*s.soe);
    EXPECT_TRUE(again.converged);
    AmgPreconditioner fresh(AmgOptions::parse("full,coarsest=60,gather=60"));
    fresh.set_up(*s.soe);
    EXPECT_NE(amg->levels()[0].largest_eigenvalue, before);
    EXPECT_EQ(amg->levels()[0].largest_eigenvalue, fresh.levels()[0].largest_eigenvalue);
    EXPECT_LT(amg->reduction(0), 0.7);
  }
}

TEST(DividedAmg, FindsSoftMotions) {
  Domain d;
  add_beam(d, {12, 3, 3});
  const auto softest = [&](const std::string& backend) {
    System s(d, "bsr", backend);
    AmgPreconditioner amg(AmgOptions::parse("full,coarsest=30,gather=30"));
    amg.set_up(*s.soe);
    const auto* cycle = dynamic_cast<const detail::AmgCycle*>(amg.inverse());
    const Vector x = cycle->soft_motions(3);
    Vector y = s.model.make_vector(3);
    s.soe->matrix().apply(x, y);
    Eigen::Matrix<double, 3, 3, Eigen::RowMajor> a, m;
    s.model.backend().block_dot(x, y, {a.data(), 9});
    s.model.backend().block_dot(x, x, {m.data(), 9});
    const Eigen::Matrix3d lower = 0.5 * (a + a.transpose()), mass = 0.5 * (m + m.transpose());
    return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::Matrix3d>(lower, mass).eigenvalues()[0];
  };
  const double one = softest("debug");
  EXPECT_GT(one, 0);
  EXPECT_NEAR(softest("debug:2"), one, 0.5 * one);
}

TEST(DividedAmg, GathersSmallModels) {
  Domain d;
  add_beam(d, {8, 2, 2});
  // More devices than planes of nodes have aggregates for; fewer rows than are divided.
  EXPECT_EQ(solve_on(d, "bsr", "debug:2", "coarsest=12").summary.find("divided"), std::string::npos);
  const Answer many = solve_on(d, "bsr", "debug:9", "coarsest=12,gather=12", 1e-8);
  EXPECT_TRUE(many.report.converged);
}

TEST(DividedAmg, NamesAnUnknownWithoutStiffness) {
  Domain d;
  add_beam(d, {12, 3, 3});
  const Id lone = d.node_id(d.node_count() - 1) + 1;
  d.add_node(lone, 1, 1, 7);
  d.add_block("bar", "truss").set_material(steel()).set_section("area", 1e-4).add(100000, {lone - 1, lone});
  expect_error(ErrorCode::singular, {"under-constrained", "node " + std::to_string(lone) + ", u"},
               [&] { solve_on(d, "bsr", "debug:2", "coarsest=60,gather=60"); });
}

TEST(DividedAmg, HasObliqueSupportsOnSeveralDevices) {
  Domain d;
  add_beam(d, {12, 3, 3});
  const Id first = d.node_id(0), last = d.node_id(d.node_count() - 1);
  d.prescribe_along(first + 40, {1, 1, 0}, 1e-5);
  d.prescribe_along(first + 110, {0, 1, 2});
  d.prescribe_along(last - 3, {1, -2, 3}, -2e-5);
  d.add_equation({{last, "uy", 1}, {first + 60, "uy", -0.5}, {first + 130, "uz", -0.25}}, 1e-5);
  for (const char* storage : {"bsr", "matrix-free"})
    expect_same_as_one_device(d, storage, "single,coarsest=90,gather=90");
}

TEST(DividedAmg, HasQuadraticElements) {
  Domain d;
  add_beam(d, {6, 2, 2}, "solid.hex20");
  expect_same_as_one_device(d, "bsr", "single,coarsest=90,gather=90");
}

TEST(DividedAmg, TakesTheNearNullSpaceOfAUser) {
  Domain d;
  add_beam(d, {12, 3, 3});
  AmgOptions options = AmgOptions::parse("full,coarsest=60,gather=60");
  options.near_null_space = [](const AnalysisModel& model) {
    NearNullSpace space{3, std::vector<double>(3 * static_cast<std::size_t>(model.equation_count()), 0.0)};
    for (std::size_t e = 0; e < static_cast<std::size_t>(model.equation_count()); ++e) space.values[3 * e + e % 3] = 1;
    return space;
  };
  const auto solve = [&](const std::string& backend, const AmgOptions& how, std::vector<double>& x) {
    System s(d, "bsr", backend);
    auto amg = std::make_shared<AmgPreconditioner>(how);
    s.model.backend().fill(s.soe->x(), 0.0);
    const SolveReport report = CgSolver(amg, {1e-12, 400}).solve(*s.soe);
    EXPECT_TRUE(report.converged) << report.reason;
    EXPECT_EQ(amg->summary().find("divided") != std::string::npos, backend != "debug") << amg->summary();
    EXPECT_EQ(amg->levels()[1].rows % 3, 0);
    x = s.soe->x().to_host();
    return report.iterations;
  };
  std::vector<double> expected, x;
  const int one = solve("debug", options, expected);
  EXPECT_LE(solve("debug:3", options, x), 2 + 1.15 * one);
  EXPECT_LE(distance(x, expected), 1e-10);
  options.near_null_space = [](const AnalysisModel&) { return NearNullSpace{2, std::vector<double>(7)}; };
  expect_error(ErrorCode::misuse, {"near-null space of 2 vectors", "7"}, [&] { solve("debug:2", options, x); });
}

TEST(DividedAmg, SolvesSeveralColumnsFromAStart) {
  Domain d;
  add_beam(d, {12, 3, 3});
  constexpr int columns = 3;
  const auto solve = [&](const std::string& backend) {
    System s(d, "bsr", backend);
    const std::vector<double> b = s.soe->b().to_host();
    s.soe->set_columns(columns);
    std::vector<double> loads(b.size() * columns, 0.0), start(loads.size(), 0.0);
    for (const std::int32_t e : s.free)
      for (std::size_t c = 0; c < columns; ++c) {
        const auto i = static_cast<std::size_t>(e) * columns + c;
        loads[i] = c == 1 ? 0 : b[static_cast<std::size_t>(e)] + 1e3 * std::sin(1.0 + e * static_cast<double>(c));
        start[i] = 1e-6 * std::cos(e * (1.0 + static_cast<double>(c)));
      }
    s.soe->b().from_host(loads);
    s.soe->x().from_host(start);
    auto amg = std::make_shared<AmgPreconditioner>(AmgOptions::parse("single,coarsest=60,gather=60"));
    const SolveReport report = CgSolver(amg, {1e-12, 400}).solve(*s.soe);
    EXPECT_TRUE(report.converged) << report.reason;
    EXPECT_EQ(amg->summary().find("divided") != std::string::npos, backend != "debug");
    return s.soe->x().to_host();
  };
  const std::vector<double> expected = solve("debug");
  EXPECT_LE(distance(solve("debug:3"), expected), 1e-10);
}

TEST(DividedAmg, BeginsAgainAfterValuesThatItRefused) {
  Domain d;
  add_beam(d, {12, 3, 3});
  for (const char* how : {"full,coarsest=60,gather=60", "single,coarsest=60,gather=60,direct"}) {
    System s(d, "bsr", "debug:2");
    AmgPreconditioner amg(AmgOptions::parse(how));
    amg.set_up(*s.soe);
    MatrixTerms indefinite;
    indefinite.stiffness = -1;
    s.soe->form(nullptr, indefinite);
    for (int k = 0; k < 2; ++k) expect_error(ErrorCode::singular, {"not positive"}, [&] { amg.set_up(*s.soe); });
    EXPECT_EQ(amg.inverse(), nullptr);
    s.soe->form(nullptr, MatrixTerms());
    amg.set_up(*s.soe);
    EXPECT_LT(amg.reduction(0), 0.7);
    AmgPreconditioner fresh(AmgOptions::parse(how));
    fresh.set_up(*s.soe);
    EXPECT_EQ(amg.summary(), fresh.summary());
    EXPECT_EQ(amg.reduction(0), fresh.reduction(0));
  }
}

/// The solution at the nodes of a domain, however they are numbered.
std::vector<double> solve_divided(const Domain& d, const std::string& backend, const DofNumberer& numberer,
                                  const std::string& how, std::string* summary = nullptr) {
  const AnalysisModel model(d, Backend::open(backend), TransformationHandler(), numberer);
  const auto soe = make_soe("bsr");
  soe->set_model(model);
  AnalysisState state;
  state.case_factors.assign(d.load_case_count(), 1.0);
  StaticIntegrator integrator;
  integrator.begin_step(model, state);
  integrator.form_tangent(model, state, *soe);
  integrator.form_unbalance(model, state, soe->b());
  auto amg = std::make_shared<AmgPreconditioner>(AmgOptions::parse(how));
  model.backend().fill(soe->x(), 0.0);
  const SolveReport report = CgSolver(amg, {1e-12, 400}).solve(*soe);
  EXPECT_TRUE(report.converged) << backend << ": " << report.reason;
  if (summary) *summary = amg->summary();
  const std::vector<double> x = soe->x().to_host();
  std::vector<double> values(3 * static_cast<std::size_t>(d.node_count()), 0.0);
  for (std::size_t k = 0; k < model.numbered_nodes().size(); ++k)
    for (std::int32_t e = model.first_equation()[k]; e < model.first_equation()[k + 1]; ++e)
      values[3 * static_cast<std::size_t>(model.numbered_nodes()[k]) +
             static_cast<std::size_t>(e - model.first_equation()[k])] = x[static_cast<std::size_t>(e)];
  return values;
}

TEST(DividedAmg, FollowsADivisionOfTheMesh) {
  Domain d;
  add_beam(d, {5, 4, 4});
  const std::string how = "single,coarsest=90,gather=90";
  const std::vector<double> expected = solve_divided(d, "debug", PlainNumberer(), how);
  for (const char* method : {"coordinate", "metis"}) {
    DividedNumberer::Options options;
    options.method = method;
    std::string summary;
    EXPECT_LE(distance(solve_divided(d, "debug:4", DividedNumberer(options), how, &summary), expected), 1e-10)
        << method;
    EXPECT_NE(summary.find("divided over"), std::string::npos) << method << ": " << summary;
  }
  // Parts that are scattered: every node has neighbours on other devices.
  DividedNumberer::Options scattered;
  for (std::int32_t n = 0; n < d.node_count(); ++n) scattered.part_of_node.push_back(n % 3);
  EXPECT_LE(distance(solve_divided(d, "debug:3", DividedNumberer(scattered), how), expected), 1e-10);
}

TEST(DividedAmg, SolvesTinyModelsOnManyDevices) {
  const std::string how = "full,coarsest=1,gather=1";
  const auto compare = [&](std::array<int, 3> cells, const char* backend) {
    Domain d;
    add_beam(d, cells);
    EXPECT_LE(
        distance(solve_divided(d, backend, PlainNumberer(), how), solve_divided(d, "debug", PlainNumberer(), how)),
        1e-10)
        << backend << ", " << cells[0] << " cells";
  };
  compare({1, 1, 1}, "debug:9");  // eight nodes
  compare({2, 1, 1}, "debug:2");
  compare({5, 2, 1}, "debug:3");
}

TEST(DividedAmg, GathersWhereADeviceHasNoNodes) {
  Domain d;
  add_beam(d, {12, 3, 3});
  DividedNumberer::Options options;
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    options.part_of_node.push_back(n < d.node_count() / 2 ? 0 : 2);  // the second device is left out
  std::string summary;
  const std::string how = "single,coarsest=30,gather=30";
  const std::vector<double> expected = solve_divided(d, "debug", PlainNumberer(), how);
  EXPECT_LE(distance(solve_divided(d, "debug:3", DividedNumberer(options), how, &summary), expected), 1e-10);
  EXPECT_EQ(summary.find("divided"), std::string::npos) << summary;
}

TEST(DividedAmg, HasDevicesWhoseNodesAreAllHeld) {
  Domain d;
  add_beam(d, {12, 3, 3});
  std::vector<Id> held;
  for (std::int32_t n = 0; n < d.node_count() / 3; ++n) held.push_back(d.node_id(n));
  d.add_node_set("held", held);
  d.prescribe("held", "all");
  const std::string how = "single,coarsest=60,gather=60";
  const std::vector<double> expected = solve_divided(d, "debug", PlainNumberer(), how);
  for (const char* backend : {"debug:3", "debug:4"})
    EXPECT_LE(distance(solve_divided(d, backend, PlainNumberer(), how), expected), 1e-10) << backend;
}

}  // namespace
}  // namespace voussoir::test
