#include <cmath>

#include <voussoir/framework/model/constraint_handler.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/amg/detail/cycle.hpp>
#include <voussoir/solvers/eigen/detail/eigen_blocks.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "modal_models.hpp"

// LOBPCG: where it begins, how far it gets, and where it stops.

namespace voussoir::test {
namespace {

std::unique_ptr<Domain> cantilever_of(std::array<int, 3> cells) {
  auto domain = std::make_unique<Domain>();
  Domain& d = *domain;
  const std::array<double, 3> size{0.1 * cells[0], 0.1 * cells[1], 0.1 * cells[2]};
  add_box(d, "beam", cells, {0, 0, 0}, size, dense_material(2.1e11, 0.3, 7850));
  d.prescribe("beam_xmin", "all");
  return domain;
}

/// Ritz values of K and M in the span of what coarser levels propose.
std::vector<double> ritz_values_of_soft_motions(const Domain& d, const std::string& backend, int columns) {
  const AnalysisModel model(d, Backend::open(backend), TransformationHandler(), PlainNumberer());
  const EigenProblem problem(model);
  const auto soe = make_soe("bsr");
  soe->set_model(model);
  problem.form(*soe, 1, 0);
  AmgPreconditioner multigrid;
  multigrid.set_up(*soe);
  const auto* cycle = dynamic_cast<const detail::AmgCycle*>(multigrid.inverse());
  if (!cycle) return {};
  const Vector motions = cycle->soft_motions(columns);
  if (!motions.layout()) return {};
  const detail::EigenBlocks blocks(problem);
  return rayleigh_ritz(blocks, blocks.orthonormal(motions.clone(), {})).values;
}

/// Ritz values are never below the eigenvalues. Those of noise would be larger by orders of magnitude.
TEST(SoftMotions, SpanTheLowestModesRoughly) {
  const auto domain = cantilever_of({60, 6, 6});
  const Domain& d = *domain;
  const int columns = 12, compared = 6;
  const ModeSet modes = modes_of(d, compared, "lanczos");
  const std::vector<double> values = ritz_values_of_soft_motions(d, "openmp:2", columns);
  ASSERT_EQ(values.size(), static_cast<std::size_t>(columns));
  for (int m = 0; m < compared; ++m) {
    EXPECT_GE(values[static_cast<std::size_t>(m)], modes.eigenvalue(m) * (1 - 1e-9)) << m;
    EXPECT_LE(values[static_cast<std::size_t>(m)], modes.eigenvalue(m) * 2.5) << m;
  }
}

TEST(SoftMotions, AreTheSameOnAllThreadsAndDevices) {
  // Without equal frequencies: which direction of a plane of motions is the last one would depend on rounding.
  const auto domain = cantilever_of({40, 6, 4});
  const Domain& d = *domain;
  const std::vector<double> one = ritz_values_of_soft_motions(d, "openmp:1", 8);
  ASSERT_EQ(one.size(), 8U);
  EXPECT_EQ(ritz_values_of_soft_motions(d, "openmp:2", 8), one);
  EXPECT_EQ(ritz_values_of_soft_motions(d, "debug", 8), one);
  const std::vector<double> two = ritz_values_of_soft_motions(d, "debug:2", 8);
  ASSERT_EQ(two.size(), one.size());
  // The levels compute in single precision, and two devices add in another order.
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_NEAR(two[k] / one[k], 1, 1e-5) << k;
}

/// A hierarchy of one level has nothing to propose.
TEST(SoftMotions, NeedACoarserLevel) {
  EXPECT_TRUE(ritz_values_of_soft_motions(*cantilever_of({2, 1, 1}), "openmp:1", 4).empty());
}

/// Eigenvalues of the projected matrix exceed the lowest ones by many digits, and its solution is exact to what is
/// left. Residuals must get to 1e-8 all the same, or to rounding errors of K x, and not by twice as many iterations.
TEST(Lobpcg, IsNotSlowedDownByRoundingErrors) {
  const auto expect_few = [](std::array<int, 3> cells, int iterations) {
    const auto domain = cantilever_of(cells);
    const int count = 7;
    EigenRequest request;
    request.check = CompletenessCheck::none;
    const ModeSet modes = modes_of(*domain, count, "lobpcg", "openmp:2", request);
    const ModeSet exact = modes_of(*domain, count, "lanczos");
    EXPECT_TRUE(modes.report.converged);
    EXPECT_LE(modes.report.iterations, iterations) << cells[0];
    for (int m = 0; m < count; ++m)
      EXPECT_NEAR(modes.eigenvalue(m) / exact.eigenvalue(m), 1,
                  1e-7 + modes.report.modes[static_cast<std::size_t>(m)].rounding)
          << m;
  };
  expect_few({64, 8, 8}, 20);
  expect_few({180, 3, 3}, 28);
}

/// Bending of a square section comes in pairs. Of the first three modes the last belongs to one: both are found at
/// once, where a probe would find the other missing, and a second search would begin.
TEST(Lobpcg, DoesNotCutPairs) {
  const auto domain = cantilever_of({30, 3, 3});
  const Domain& d = *domain;
  EigenRequest request;
  request.check = CompletenessCheck::probe;
  const ModeSet two = modes_of(d, 2, "lobpcg", "openmp:2", request),
                three = modes_of(d, 3, "lobpcg", "openmp:2", request);
  ASSERT_EQ(three.count(), 3);
  EXPECT_EQ(three.report.completeness, Completeness::probed) << three.report.statement;
  EXPECT_NE(three.report.statement.find(": 4 found below"), std::string::npos) << three.report.statement;
  EXPECT_LE(three.report.iterations, two.report.iterations + 12);
  EXPECT_NEAR(modes_of(d, 4, "lanczos").eigenvalue(3) / three.eigenvalue(2), 1, 1e-8);
}

}  // namespace
}  // namespace voussoir::test
