#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include <voussoir/framework/mesh/block_mesh.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/direct_solver.hpp>

#include "solver_models.hpp"
#include "support/dense_algebra.hpp"
#include "support/expect_error.hpp"

namespace voussoir::test {
namespace {

using testing::expect_error;
using testing::preconditioned_eigenvalues;
using testing::symmetric_eigenvalues;

/// A cantilever of bricks, large enough for a hierarchy with small coarsest levels.
void add_cantilever(Domain& d, int n, const std::string& type = "solid.hex8.full", double poisson = 0.3) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {5 * n, n, n};
  mesh.upper = {5, 1, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, poisson, 7850));
  d.prescribe("xmin", "all");
  d.add_load_case("pull").traction("xmax", {0, 0, -1e6});
}

SolveReport solve(System& s, const AmgOptions& options = {}, double tolerance = 1e-8) {
  CgSolver solver(std::make_shared<AmgPreconditioner>(options), {tolerance, 500});
  s.model.backend().fill(s.soe->x(), 0.0);
  return solver.solve(*s.soe);
}

AmgOptions with(const std::string& text) { return AmgOptions::parse(text); }

/// The solution by elimination.
Eigen::VectorXd eliminated(const Domain& d) {
  System s(d, "csr");
  EXPECT_TRUE(DirectSolver().solve(*s.soe).converged);
  return s.on_free(s.soe->x());
}

void expect_near(const System& s, const Eigen::VectorXd& exact) {
  EXPECT_LE((s.on_free(s.soe->x()) - exact).norm(), 1e-6 * exact.norm());
}

TEST(AmgOptionsInWords, AreReadAndWrittenAlike) {
  const AmgOptions o = with("k-cycle,full,l1-jacobi,direct,steps=3,ratio=12.5,threshold=0.1,coarsest=50,levels=4");
  EXPECT_EQ(o.cycle, AmgOptions::Cycle::k);
  EXPECT_EQ(o.numbers, AmgOptions::Numbers::full);
  EXPECT_EQ(o.smoother, AmgOptions::Smoother::l1_jacobi);
  EXPECT_EQ(o.coarsest, AmgOptions::Coarsest::direct);
  EXPECT_EQ(o.smoothing_steps, 3);
  EXPECT_EQ(o.smoothing_ratio, 12.5);
  EXPECT_EQ(o.threshold, 0.1);
  EXPECT_EQ(o.coarsest_rows, 50);
  EXPECT_EQ(o.most_levels, 4);
  EXPECT_EQ(o.suffix(), ":k-cycle,full,l1-jacobi,direct,steps=3,ratio=12.5,threshold=0.1,coarsest=50,levels=4");
  EXPECT_EQ(with("fsai,basis=1").smoother, AmgOptions::Smoother::fsai);
  EXPECT_EQ(with("fsai,basis=1").suffix(), ":fsai,basis=1");
  EXPECT_EQ(with("chebyshev,basis=2").suffix(), ":chebyshev,basis=2");
  EXPECT_EQ(with("").suffix(), "");
  EXPECT_EQ(make_solver("cg+amg")->name(), "cg+amg");
  EXPECT_EQ(make_solver("cg+amg:single,steps=4")->name(), "cg+amg:single,steps=4");
}

TEST(AmgOptionsInWords, AreRefusedWithTheWordThatIsWrong) {
  expect_error(ErrorCode::bad_input, {"amg setting 'fast'", "k-cycle", "steps=N"}, [] { with("k-cycle,fast"); });
  expect_error(ErrorCode::bad_input, {"amg setting 'steps=many'", "number"}, [] { with("steps=many"); });
  expect_error(ErrorCode::bad_input, {"steps=0", "between 1"}, [] { with("steps=0"); });
  expect_error(ErrorCode::bad_input, {"basis=3", "between 1 and 2"}, [] { with("basis=3"); });
  expect_error(ErrorCode::bad_input, {"threshold=2", "between 0"}, [] { with("threshold=2"); });
  expect_error(ErrorCode::bad_input, {"ratio=1e4", "between 2 and 1000"}, [] { with("ratio=1e4"); });
  expect_error(ErrorCode::bad_input, {"steps=1000000000000", "between 1 and 20"}, [] { with("steps=1000000000000"); });
  expect_error(ErrorCode::bad_input, {"amg setting ''"}, [] { make_solver("cg+amg:,"); });
  expect_error(ErrorCode::bad_input, {"amg setting ''"}, [] { with("fsai,"); });
  expect_error(ErrorCode::not_found, {"cg+amg:"}, [] { make_solver("cg+amg:"); });
  for (const char* twice :
       {"single,full", "fsai,steps=2,chebyshev", "dense,direct", "v-cycle,k-cycle", "steps=3,steps=4"})
    expect_error(ErrorCode::bad_input, {"give one of them"}, [&] { with(twice); });
  AmgOptions none;
  none.smoothing_steps = -1;
  expect_error(ErrorCode::misuse, {"smoothing steps", "not negative"}, [&] { AmgPreconditioner a(none); });
}

TEST(Amg, FindsTheSolutionInFewIterations) {
  Domain d;
  add_cantilever(d, 6);
  System s(d, "bsr");
  const SolveReport report = solve(s, with("coarsest=100"));
  EXPECT_TRUE(report.converged) << report.reason;
  EXPECT_LE(report.iterations, 30);
  EXPECT_LE(report.true_residual, 1.05e-8);
  EXPECT_EQ(report.solver, "cg+amg:coarsest=100 on bsr");
  EXPECT_NE(report.preconditioner.find("levels of 4557, "), std::string::npos) << report.preconditioner;
  EXPECT_TRUE(report.advice.empty()) << report.advice;
  expect_near(s, eliminated(d));
}

TEST(Amg, EverySettingConverges) {
  Domain d;
  add_cantilever(d, 4);
  const Eigen::VectorXd exact = eliminated(d);
  for (const char* text : {"full", "single", "k-cycle", "k-cycle,full", "block-jacobi", "l1-jacobi,steps=3", "direct",
                           "dense,levels=2", "threshold=0", "threshold=0.2", "steps=1", "steps=4,ratio=40", "chebyshev",
                           "fsai", "fsai,full", "fsai,k-cycle", "fsai,basis=1,steps=1", "chebyshev,basis=2"}) {
    System s(d, "bsr");
    const SolveReport report = solve(s, with(std::string(text) + ",coarsest=100"));
    EXPECT_TRUE(report.converged) << text << ": " << report.reason;
    EXPECT_LE(report.iterations, 60) << text;
    expect_near(s, exact);
  }
}

TEST(Amg, ACycleIsSymmetricAndPositive) {
  Domain d;
  add_cantilever(d, 3);
  System s(d, "bsr");
  AmgPreconditioner amg(with("full,coarsest=60"));
  amg.set_up(*s.soe);
  ASSERT_GE(amg.levels().size(), 2u);
  const Eigen::MatrixXd m = s.dense(*amg.inverse());
  EXPECT_LE((m - m.transpose()).norm(), 1e-12 * m.norm());
  EXPECT_GT(symmetric_eigenvalues(m).minCoeff(), 0);
  // And it is near the inverse: the error of a cycle is a contraction in the norm of energy.
  const Eigen::VectorXd spectrum = preconditioned_eigenvalues(m, s.dense());
  EXPECT_GT(spectrum.minCoeff(), 0.2);
  EXPECT_LT(spectrum.maxCoeff(), 1 + 1e-10);
}

TEST(Amg, ACycleWithASparseInverseIsSymmetricAndABetterInverse) {
  Domain d;
  add_cantilever(d, 3);
  System s(d, "bsr");
  const Eigen::MatrixXd a = s.dense();
  const auto lowest = [&](const char* how) {
    AmgPreconditioner amg(with(how));
    amg.set_up(*s.soe);
    const Eigen::MatrixXd m = s.dense(*amg.inverse());
    EXPECT_LE((m - m.transpose()).norm(), 1e-12 * m.norm()) << how;
    const Eigen::VectorXcd spectrum = (m * a).eigenvalues();
    EXPECT_LT(spectrum.real().maxCoeff(), 1 + 1e-10) << how;
    return spectrum.real().minCoeff();
  };
  EXPECT_GT(1 - lowest("full,chebyshev,coarsest=60,steps=2"), 1.25 * (1 - lowest("full,fsai,coarsest=60,steps=2")));
}

TEST(Amg, ReproducesRigidMotionsOnCoarserLevels) {
  // A body that is hardly held: without its rigid motions on the coarser levels CG would need many more iterations.
  Domain d;
  BoxMesh mesh;
  mesh.type = "solid.hex8.full";
  mesh.cells = {8, 8, 8};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  const Id corner = d.node_id(0);
  d.add_node_set("corner", {corner});
  d.prescribe("corner", "all");
  for (Id id : {corner + 1, corner + 9}) {
    d.add_node_set("n" + std::to_string(id), {id});
    d.prescribe("n" + std::to_string(id), "all");
  }
  d.add_load_case("pull").traction("xmax", {0, 0, -1e6});
  System rigid(d, "bsr"), constant(d, "bsr");
  AmgOptions constants = with("coarsest=100");
  constants.near_null_space = [](const AnalysisModel& model) {
    NearNullSpace space{3, std::vector<double>(3 * static_cast<std::size_t>(model.equation_count()), 0.0)};
    for (std::size_t e = 0; e < static_cast<std::size_t>(model.equation_count()); ++e) space.values[3 * e + e % 3] = 1;
    return space;
  };
  const int with_rotations = solve(rigid, with("coarsest=100")).iterations;
  const int without = solve(constant, constants).iterations;
  EXPECT_LE(with_rotations, 35);
  EXPECT_GE(without, with_rotations + 10);
}

TEST(Amg, RefusesANearNullSpaceOfTheWrongSize) {
  Domain d;
  add_cantilever(d, 3);
  System s(d, "bsr");
  AmgOptions wrong = with("coarsest=20");
  wrong.near_null_space = [](const AnalysisModel&) { return NearNullSpace{2, std::vector<double>(7)}; };
  expect_error(ErrorCode::misuse, {"near-null space of 2 vectors", "768 equations", "7"}, [&] { solve(s, wrong); });
}

/// Two layers, of which one becomes softer at the end of the bar when the second load case acts: springs on its
/// surface.
/// Bricks with springs between some of their nodes.
void add_bricks_and_springs(Domain& d) {
  add_cantilever(d, 4);
  d.add_block("springs", "truss")
      .set_material(std::make_shared<IsotropicMaterial>("spring", 210e9, 0.3, 7850))
      .set_section("area", 0.02);
  for (Id id = 1; id < 40; ++id) d.block("springs").add(10000 + id, {id, id + 41});
}

/// Forms the matrix with the stiffness of the bricks times a factor, and the springs as they were: no multiple of the
/// matrix before.
void form_with_bricks_times(System& s, double factor) {
  std::vector<double> factors = s.model.batch_factors(s.state.case_factors);
  for (int b = 0; b < s.model.device_model().batch_count(); ++b)
    if (s.model.batches()[b].kind == BatchOrigin::Kind::block && s.model.batches()[b].block == 0) factors[b] = factor;
  MatrixTerms terms;
  terms.batch_factors = factors;
  s.soe->form(nullptr, terms);
  s.model.backend().fill(s.soe->x(), 0.0);
}

/// How far what a hierarchy makes of the right-hand side is from what one makes that is built for these values.
double distance_from_fresh(System& s, const AmgPreconditioner& amg, const AmgOptions& options) {
  AmgPreconditioner fresh(options);
  fresh.set_up(*s.soe);
  EXPECT_EQ(fresh.levels().size(), amg.levels().size());
  for (std::size_t l = 0; l < fresh.levels().size() && l < amg.levels().size(); ++l)
    EXPECT_EQ(fresh.levels()[l].entries, amg.levels()[l].entries);
  Vector y = s.model.make_vector(), z = s.model.make_vector();
  amg.inverse()->apply(s.soe->b(), y);
  fresh.inverse()->apply(s.soe->b(), z);
  return (s.on_free(y) - s.on_free(z)).norm() / s.on_free(z).norm();
}

TEST(Amg, BringsAHierarchyUpToDate) {
  for (const char* how : {"full,chebyshev", "single,chebyshev", "full,l1-jacobi", "full,chebyshev,direct",
                          "full,chebyshev,k-cycle", "full,fsai", "single,fsai"})
    for (const char* storage : {"bsr", "matrix-free"}) {
      SCOPED_TRACE(std::string(how) + " on " + storage);
      Domain d;
      add_bricks_and_springs(d);
      System s(d, storage);
      // Without a threshold, groups do not depend on values.
      const AmgOptions options = with(std::string(how) + ",coarsest=60,threshold=0");
      auto amg = std::make_shared<AmgPreconditioner>(options);
      CgSolver solver(amg, {1e-8, 500});
      EXPECT_TRUE(solver.solve(*s.soe).converged);
      const auto levels = amg->levels();
      // As in a short time step: inertia has another spectrum than stiffness.
      MatrixTerms terms;
      terms.mass = 1e10;
      s.soe->form(nullptr, terms);
      s.model.backend().fill(s.soe->x(), 0.0);
      const SolveReport second = solver.solve(*s.soe);
      EXPECT_TRUE(second.converged);
      EXPECT_LE(second.iterations, 60);
      ASSERT_EQ(amg->levels().size(), levels.size());
      for (std::size_t l = 0; l < levels.size(); ++l) EXPECT_EQ(amg->levels()[l].rows, levels[l].rows);
      EXPECT_NE(amg->levels()[0].largest_eigenvalue, levels[0].largest_eigenvalue);
      EXPECT_LE(distance_from_fresh(s, *amg, options), amg->is_single() ? 1e-6 : 1e-12);
    }
}

TEST(Amg, KeepsItsBoundWhereTheSpectrumIsAsItWas) {
  Domain d;
  add_bricks_and_springs(d);
  System s(d, "bsr");
  const AmgOptions options = with("full,coarsest=60,threshold=0");
  AmgPreconditioner amg(options);
  amg.set_up(*s.soe);
  const double bound = amg.levels()[0].largest_eigenvalue;
  form_with_bricks_times(s, 0.9);
  amg.set_up(*s.soe);
  EXPECT_EQ(amg.levels()[0].largest_eigenvalue, bound);
  const double distance = distance_from_fresh(s, amg, options);
  EXPECT_GT(distance, 0);
  EXPECT_LE(distance, 1e-3);
}

/// Good for nothing until it is strengthened, then what it stands for.
struct Hesitant : Preconditioner {
  std::string name() const override { return "hesitant"; }
  void set_up(const LinearSOE& soe) override { good.set_up(soe); }
  const Operator* inverse() const override { return strengthened ? good.inverse() : nullptr; }
  int patience() const override { return strengthened ? 1000 : 7; }
  bool strengthen(const LinearSOE&) override { return !std::exchange(strengthened, true); }
  AmgPreconditioner good{AmgOptions::parse("coarsest=60")};
  bool strengthened = false;
};

TEST(AStrengthenedPreconditioner, GoesOnFromWhereCgWas) {
  Domain d;
  add_cantilever(d, 4);
  System s(d, "bsr");
  auto hesitant = std::make_shared<Hesitant>();
  CgSolver solver(hesitant, {1e-8, 500});
  std::vector<int> told;
  solver.progress = [&](int iteration, double) {
    told.push_back(iteration);
    return true;
  };
  const SolveReport report = solver.solve(*s.soe);
  EXPECT_TRUE(report.converged);
  EXPECT_TRUE(hesitant->strengthened);
  EXPECT_GT(report.iterations, 7);
  EXPECT_LE(report.iterations, 7 + 30);
  // Each of the two runs has its start in the history.
  EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 2);
  EXPECT_EQ(told.back(), report.iterations);
  EXPECT_EQ(report.memory_bytes, hesitant->bytes());
}

/// The same where CG is told to look early.
TEST(AStrengthenedPreconditioner, IsAskedForWhereCgIsSlowAtItsStart) {
  struct Early : Hesitant {
    int patience() const override { return 1000; }
    Checkpoint checkpoint() const override { return strengthened ? Checkpoint{} : Checkpoint{4, reduction}; }
    double reduction = 0;
  };
  Domain d;
  add_cantilever(d, 4);
  for (const bool slow : {false, true}) {
    System s(d, "bsr");
    auto early = std::make_shared<Early>();
    early->reduction = slow ? 1e-6 : 1e6;
    CgSolver solver(early, {1e-8, 2000});
    const SolveReport report = solver.solve(*s.soe);
    EXPECT_TRUE(report.converged);
    EXPECT_EQ(early->strengthened, slow);
    if (slow) {
      EXPECT_LE(report.iterations, 4 + 30);
    } else {
      EXPECT_GT(report.iterations, 60);
    }
  }
}

/// Jacobi with a factor that changes from one application to the next, as no linear map does.
struct Restless final : Operator {
  explicit Restless(const Operator& steady, Backend& backend) : steady_(steady), backend_(backend) {}
  const std::shared_ptr<const Layout>& layout() const override { return steady_.layout(); }
  void apply(const Vector& r, Vector& z) const override {
    steady_.apply(r, z);
    backend_.axpby(++count_ % 2 ? 0.0 : 0.8 / backend_.norm(r) * backend_.norm(z), r, 1.0, z);
  }
  double apply_dot(const Vector& r, Vector& z) const override {
    apply(r, z);
    return backend_.dot(r, z);
  }
  std::size_t bytes() const override { return 0; }
  std::size_t bytes_moved() const override { return 0; }
  std::string describe() const override { return "restless"; }
  const Operator& steady_;
  Backend& backend_;
  mutable int count_ = 0;
};

TEST(FlexibleCg, BearsAPreconditionerThatChanges) {
  Domain d;
  add_cantilever(d, 3);
  System s(d, "bsr");
  AmgPreconditioner amg(with("full,coarsest=60"));
  amg.set_up(*s.soe);
  const auto iterations = [&](bool flexible) {
    CgRequest request;
    request.max_iterations = 500;
    request.flexible = flexible;
    s.model.backend().fill(s.soe->x(), 0.0);
    const Restless restless(*amg.inverse(), s.model.backend());
    return s.model.backend().cg(s.soe->matrix(), &restless, s.soe->b(), s.soe->x(), request).iterations;
  };
  const int flexible = iterations(true), plain = iterations(false);
  EXPECT_LT(flexible, 100);
  EXPECT_LT(1.2 * flexible, plain);
}

TEST(Amg, TakesABlockOfVectorsAtOnce) {
  Domain d;
  add_cantilever(d, 4);
  for (const char* text : {"full,coarsest=60", "single,coarsest=60", "k-cycle,full,coarsest=60"}) {
    System s(d, "bsr");
    AmgPreconditioner amg(with(text));
    amg.set_up(*s.soe);
    constexpr int columns = 5;
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
          << text << ", column " << c;
    }
  }
}

TEST(Amg, WorksOnEveryStorage) {
  Domain d;
  add_cantilever(d, 5);
  const Eigen::VectorXd exact = eliminated(d);
  int iterations = 0;
  for (const char* storage : {"bsr", "csr", "element", "matrix-free"}) {
    System s(d, storage);
    const SolveReport report = solve(s, with("coarsest=60"));
    EXPECT_TRUE(report.converged) << storage << ": " << report.reason;
    if (iterations == 0) iterations = report.iterations;
    EXPECT_NEAR(report.iterations, iterations, 1) << storage;
    expect_near(s, exact);
  }
}

TEST(Amg, NamesAnUnknownWithoutStiffness) {
  Domain d;
  add_cantilever(d, 3);
  const Id lone = d.node_id(d.node_count() - 1) + 1;
  d.add_node(lone, 7, 0, 0);
  d.add_block("bar", "truss")
      .set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850))
      .set_section("area", 1e-4)
      .add(100000, {lone - 1, lone});
  System s(d, "bsr");
  expect_error(ErrorCode::singular, {"under-constrained", "node " + std::to_string(lone) + ", u"}, [&] { solve(s); });
}

TEST(Amg, HoldsContrastsOfAMillion) {
  Domain d;
  BlockMesh mesh(3, 1e-7);
  mesh.add_box({0, 0, 0}, {3, 1, 0.5}, "stiff");
  mesh.add_box({0, 0, 0.5}, {3, 1, 1}, "soft");
  mesh.name_sides_where("xmin", [](double x, double, double) { return x == 0; });
  mesh.name_sides_where("xmax", [](double x, double, double) { return x == 3; });
  mesh.refine_to_size(1.0 / 6);
  mesh.fill(d, "solid.hex8.full");
  d.block("stiff").set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  d.block("soft").set_material(std::make_shared<IsotropicMaterial>("foam", 210e3, 0.3, 78));
  d.prescribe("xmin", "all");
  d.add_load_case("pull").traction("xmax", {0, 0, -1e3});
  System s(d, "bsr");
  const SolveReport report = solve(s, with("coarsest=100"));
  EXPECT_TRUE(report.converged) << report.reason;
  EXPECT_LE(report.iterations, 45);
}

struct Shaped {
  std::string type;
  std::array<int, 3> cells;
  std::array<double, 3> upper;
  int iterations;
};
struct AmgOnShapes : ::testing::TestWithParam<Shaped> {};

TEST_P(AmgOnShapes, Converges) {
  const Shaped& shape = GetParam();
  Domain d;
  // Two parts that know nothing of each other, the second elsewhere and turned, and an equation between two of its
  // nodes.
  for (const bool second : {false, true}) {
    BoxMesh mesh;
    mesh.type = shape.type;
    mesh.cells = shape.cells;
    mesh.upper = shape.upper;
    mesh.block = second ? "second" : "first";
    mesh.set_prefix = second ? "second." : "";
    if (second) mesh.map = [](double x, double y, double z) { return std::array<double, 3>{20 - y, x, z}; };
    add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
    d.prescribe(mesh.set_prefix + "xmin", "all");
  }
  const Id last = d.node_id(d.node_count() - 1);
  d.add_equation({{last, "ux", 1}, {last - 1, "ux", -1}});
  const bool plane = shape.type.starts_with("plane");
  d.add_load_case("pull")
      .traction("xmax", {0, plane ? -1e4 : 0, plane ? 0 : -1e4})
      .traction("second.xmax", {1e4, 2e3, 0});
  System s(d, "bsr");
  const SolveReport report = solve(s, with("coarsest=100"));
  EXPECT_TRUE(report.converged) << report.reason;
  EXPECT_LE(report.iterations, shape.iterations) << report.preconditioner;
  expect_near(s, eliminated(d));
}

INSTANTIATE_TEST_SUITE_P(Amg, AmgOnShapes,
                         ::testing::Values(Shaped{"solid.hex8", {12, 4, 4}, {3, 1, 1}, 35},
                                           Shaped{"solid.tet4", {10, 4, 4}, {2.5, 1, 1}, 35},
                                           Shaped{"solid.tet10", {6, 2, 2}, {3, 1, 1}, 45},
                                           Shaped{"solid.hex20", {6, 2, 2}, {3, 1, 1}, 45},
                                           Shaped{"solid.wedge6", {10, 4, 4}, {2.5, 1, 1}, 35},
                                           Shaped{"plane_stress.quad4", {30, 10, 1}, {3, 1, 1}, 35},
                                           Shaped{"solid.hex8", {20, 20, 1}, {10, 10, 0.5}, 60}),
                         [](const auto& info) {
                           std::string name = info.param.type + "_" + std::to_string(info.index);
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

/// A sheet of one layer of elements, four times as wide as thick, that bends.
void add_sheet(Domain& d, const std::string& type, int n) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {n, n, 1};
  mesh.upper = {4.0 * n, 4.0 * n, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  d.prescribe("xmin", "all");
  d.add_load_case("press").pressure("zmax", 10);
}

TEST(Amg, TakesASparseInverseForThinWallsByItself) {
  for (const char* type : {"solid.hex8", "solid.tet10", "solid.hex20"}) {
    SCOPED_TRACE(type);
    Domain d;
    add_sheet(d, type, type == std::string("solid.hex8") ? 24 : 14);
    System s(d, "bsr"), plain(d, "bsr");
    const SolveReport itself = solve(s, with("coarsest=100"));
    const SolveReport by_nodes = solve(plain, with("coarsest=100,chebyshev"));
    EXPECT_TRUE(itself.converged) << itself.reason;
    EXPECT_NE(itself.preconditioner.find("smoothed by a sparse approximate inverse"), std::string::npos)
        << itself.preconditioner;
    EXPECT_EQ(by_nodes.preconditioner.find("sparse approximate inverse"), std::string::npos) << by_nodes.preconditioner;
    EXPECT_LT(2 * itself.iterations, by_nodes.iterations);
  }
  Domain solid;
  add_cantilever(solid, 6);
  System s(solid, "bsr");
  EXPECT_EQ(solve(s, with("coarsest=100")).preconditioner.find("sparse approximate inverse"), std::string::npos);
}

/// A plate of which each side is a hundred times its thickness.
TEST(Amg, ConvergesOnAThinPlate) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {40, 40, 1};
  mesh.upper = {100, 100, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  d.prescribe("xmin", "all");
  d.add_load_case("press").pressure("zmax", 10);
  System s(d, "bsr");
  const SolveReport report = solve(s, with("coarsest=100"), 1e-6);
  EXPECT_TRUE(report.converged) << report.reason;
}

/// Elements a hundred times as wide as thick are too much for multigrid, and few enough to eliminate.
TEST(Auto, EliminatesWhereMultigridLeadsNowhere) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {18, 18, 18};
  mesh.upper = {100, 100, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  d.prescribe("xmin", "all");
  d.add_load_case("press").pressure("zmax", 10);
  const auto results = make_static_analysis(d, StaticOptions{.backend = "openmp:2"})->run();
  const SolveReport& report = results.front().report;
  EXPECT_TRUE(report.converged);
  EXPECT_TRUE(report.solver.starts_with("direct")) << report.solver;
  EXPECT_NE(report.choice.find("cg+amg on bsr did not converge"), std::string::npos) << report.choice;
}

TEST(Amg, SaysWhatWasSeenWhereItStalls) {
  // Nearly incompressible by full integration: what displacements alone cannot represent on coarser levels.
  Domain d;
  add_cantilever(d, 6, "solid.hex8.full", 0.499999);
  System s(d, "bsr");
  const SolveReport report = solve(s, with("coarsest=100"));
  EXPECT_GT(report.iterations, 60);
  for (const char* words :
       {"Multigrid converged slowly", "operator complexity 1", "on level 0", "Try more smoothing, cg+amg:steps="})
    EXPECT_NE(report.advice.find(words), std::string::npos) << words << " in: " << report.advice;
}

TEST(Amg, GivesTheSameBitsOnEveryNumberOfThreads) {
  Domain d;
  add_cantilever(d, 6);
  std::vector<double> first;
  for (const char* backend : {"openmp:1", "openmp:2", "openmp:3"}) {
    System s(d, "bsr", backend);
    solve(s, with("coarsest=100"));
    const std::vector<double> x = s.soe->x().to_host();
    if (first.empty()) first = x;
    EXPECT_EQ(x, first) << backend;
  }
}

}  // namespace
}  // namespace voussoir::test
