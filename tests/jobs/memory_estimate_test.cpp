#include <voussoir/jobs/memory_estimate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

void build_box(Domain& domain, const std::string& type, std::array<int, 3> cells) {
  BoxMesh box;
  box.type = type;
  box.cells = cells;
  box.upper = {double(cells[0]), double(cells[1]), double(cells[2])};
  add_box_mesh(domain, box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  domain.prescribe("xmin", "all");
  domain.add_load_case("weight").gravity("", {0, -9.81, 0});
}

TEST(ModelSize, CountsABoxOfHexahedra) {
  const std::int64_t a = 4, b = 3, c = 2;
  Domain domain;
  build_box(domain, "solid.hex8.full", {int(a), int(b), int(c)});
  const ModelSize size = model_size(domain);
  const std::int64_t nodes = (a + 1) * (b + 1) * (c + 1);
  EXPECT_EQ(size.nodes, nodes);
  EXPECT_EQ(size.equations, 3 * nodes);
  EXPECT_EQ(size.elements, a * b * c);
  EXPECT_EQ(size.dimension, 3);
  EXPECT_TRUE(size.uniform);
  // Along each axis n nodes have 3n − 2 neighbours, themselves included; ordered pairs are the product of these.
  const std::int64_t ordered = (3 * a + 1) * (3 * b + 1) * (3 * c + 1);
  EXPECT_EQ(size.node_pairs, (ordered - nodes) / 2);
  EXPECT_EQ(size.element_matrix_numbers, size.elements * 24 * 25 / 2);
  // Peeled from a corner: a + 1 layers along the longest edge.
  EXPECT_NEAR(size.layer, double(nodes) / double(a + 1), 1e-12);
}

TEST(ModelSize, IsZeroWithoutElements) {
  Domain domain;
  domain.add_node(1, 0, 0);
  const ModelSize size = model_size(domain);
  EXPECT_EQ(size.nodes, 0);
  EXPECT_EQ(size.layer, 0);
  for (const auto& estimate : estimate_memory(size)) EXPECT_TRUE(std::isfinite(estimate.total()));
}

TEST(MemoryEstimate, MatricesAreWithinATenthOfWhatIsAllocated) {
  struct Case {
    std::string type;
    std::array<int, 3> cells;
  };
  for (const Case& c : {Case{"solid.hex8.full", {14, 12, 10}}, Case{"solid.hex20", {6, 6, 5}},
                        Case{"plane_stress.quad8", {40, 30, 1}}, Case{"solid.tet10", {6, 6, 6}}}) {
    Domain domain;
    build_box(domain, c.type, c.cells);
    const auto estimates = estimate_memory(model_size(domain));
    for (const std::string storage : {"bsr", "csr", "element"}) {
      const auto estimate = std::find_if(estimates.begin(), estimates.end(),
                                         [&](const MemoryEstimate& e) { return e.storage == storage; });
      ASSERT_NE(estimate, estimates.end());
      const auto backend = Backend::open("openmp:2");
      const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
      const auto soe = make_soe(storage);
      soe->set_model(model);
      StaticIntegrator integrator;
      AnalysisState state;
      state.case_factors = {1.0};
      integrator.begin_step(model, state);
      integrator.form_tangent(model, state, *soe);
      const double bytes = static_cast<double>(soe->matrix().bytes());
      EXPECT_NEAR(estimate->matrix / bytes, 1, 0.1) << c.type << " " << storage << " " << bytes;
    }
  }
}

TEST(MemoryEstimate, FactorsAreWithinAThirdOfWhatTheDirectSolverReports) {
  struct Case {
    std::string type;
    std::array<int, 3> cells;
  };
  if (!why_unavailable(DirectMethod::mumps).empty()) GTEST_SKIP() << "without MUMPS another solver holds the factor";
  for (const Case& c : {Case{"solid.hex8.full", {14, 14, 14}}, Case{"solid.hex8.full", {60, 8, 8}},
                        Case{"solid.hex20", {8, 8, 8}}, Case{"plane_stress.quad4", {100, 100, 1}}}) {
    Domain domain;
    build_box(domain, c.type, c.cells);
    const ModelSize size = model_size(domain);
    const MemoryEstimate direct = estimate_memory(size).front();
    ASSERT_EQ(direct.solver, "direct");
    StaticOptions options;
    options.backend = "openmp:2";
    options.solver = "direct:mumps";
    const auto analysis = make_static_analysis(domain, options);
    analysis->set_recovery(false);
    const double measured = static_cast<double>(analysis->run().front().report.memory_bytes);
    // The work is the factor and the matrix on its way to the solver.
    const double unknowns = static_cast<double>(size.equations) / static_cast<double>(size.nodes);
    const double csr = (static_cast<double>(size.node_pairs) * unknowns * unknowns +
                        static_cast<double>(size.equations) * (unknowns + 1) / 2) *
                       12;
    const double factor = direct.work - 4.2 * csr;
    EXPECT_GT(factor / measured, 0.67) << c.type << " " << c.cells[0];
    EXPECT_LT(factor / measured, 1.5) << c.type << " " << c.cells[0];
  }
}

/// Arrays of the backend at the peak of a set-up, beyond those that were there before.
double measured_set_up(const Domain& domain) {
  const auto backend = Backend::open("openmp:2");
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const auto soe = make_soe("bsr");
  soe->set_model(model);
  StaticIntegrator integrator;
  AnalysisState state;
  state.case_factors = {1.0};
  integrator.begin_step(model, state);
  integrator.form_tangent(model, state, *soe);
  const std::size_t before = backend->bytes_in_use(), peak_before = backend->bytes_peak();
  AmgPreconditioner amg;
  amg.set_up(*soe);
  EXPECT_GT(backend->bytes_peak(), peak_before) << "the peak is not that of the set-up";
  return static_cast<double>(backend->bytes_peak() - before);
}

TEST(MemoryEstimate, MultigridIsWithinAThirdOfWhatItsSetUpAllocates) {
  struct Case {
    std::string type;
    std::array<int, 3> cells;
  };
  for (const Case& c : {Case{"solid.hex8.full", {16, 14, 12}}, Case{"solid.hex20", {8, 8, 7}},
                        Case{"solid.tet10", {7, 7, 7}}, Case{"plane_stress.quad8", {60, 50, 1}}}) {
    Domain domain;
    build_box(domain, c.type, c.cells);
    const double ratio = amg_set_up_bytes(model_size(domain)) / measured_set_up(domain);
    EXPECT_GT(ratio, 0.67) << c.type;
    EXPECT_LT(ratio, 1.5) << c.type;
  }
}

// The set-up comes before the results: what is larger counts, and what cycles read stays.
TEST(MemoryEstimate, MultigridsSetUpAndResultsAreNotThereAtOnce) {
  Domain domain;
  build_box(domain, "solid.hex8.full", {6, 5, 4});
  ModelSize size = model_size(domain);
  const auto amg = [&] {
    for (const MemoryEstimate& estimate : estimate_memory(size))
      if (estimate.solver == "cg+amg") return estimate;
    ADD_FAILURE() << "no estimate";
    return MemoryEstimate{};
  };
  size.recovered_numbers = 0;
  const MemoryEstimate few = amg();
  size.recovered_numbers = 1000;
  EXPECT_NEAR(amg().total(), few.total(), 1);
  size.recovered_numbers = 1'000'000;
  EXPECT_DOUBLE_EQ(amg().work, 0.5 * amg_set_up_bytes(size));
  EXPECT_GT(amg().total(), few.total());
}

TEST(MainMemory, IsWhatTheSystemTells) {
  const MainMemory memory = main_memory();
  EXPECT_GT(memory.all, 64e6);
  EXPECT_LE(memory.available, memory.all);
}

}  // namespace
}  // namespace voussoir
