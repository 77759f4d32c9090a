#include <voussoir/solvers/eigen/detail/eigen_rules.hpp>

#include "../solver_models.hpp"
#include "modal_models.hpp"
#include "support/expect_error.hpp"

// Mass matrices with a null space that no single unknown shows, and requests for more modes than there are.

namespace voussoir::test {
namespace {

using testing::expect_error;

/// Eight quadratic bricks with reduced integration, clamped on one side: their mass is integrated at as many points as
/// their stiffness, too few for its rank.
void add_reduced_block(Domain& d) {
  add_box(d, "block", {2, 2, 2}, {0, 0, 0}, {2, 1, 1.5}, dense_material(1000, 0.3, 2), "solid.hex20.reduced");
  d.prescribe("block_xmin", "all");
}

/// 1/λ of all free equations, descending: eigenvalues of M x = μ K x, of which those of motions without mass are zero.
Eigen::VectorXd inverse_eigenvalues(const Domain& d) {
  const System system(d, "csr");
  const EigenProblem problem(system.model);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(system.dense(problem.mass()),
                                                                         system.dense(problem.stiffness()));
  return solver.eigenvalues().reverse();
}

TEST(SingularMass, AllModesOfReducedBricksAreFound) {
  Domain d;
  add_reduced_block(d);
  const Eigen::VectorXd exact = inverse_eigenvalues(d);
  int count = 0;
  while (count < exact.size() && exact[count] > 1e-10 * exact[0]) ++count;
  ASSERT_LT(count, exact.size()) << "the mass matrix has a null space";
  ASSERT_GT(exact[count - 1], 1e-6 * exact[0]) << "and a gap says where it begins";
  for (const char* solver : {"lanczos", "subspace"}) {
    const ModeSet modes = modes_of(d, static_cast<int>(exact.size()), solver);
    ASSERT_EQ(modes.count(), count) << solver;
    expect_sound(modes);
    for (int m = 0; m < count; ++m) EXPECT_NEAR(modes.eigenvalue(m) * exact[m], 1, 1e-8) << solver << " " << m;
    ASSERT_FALSE(modes.report.notes.empty()) << solver;
    EXPECT_EQ(modes.report.notes[0], "the model has only " + std::to_string(count) +
                                         " modes: " + std::to_string(exact.size() - count) + " motions of its " +
                                         std::to_string(exact.size()) + " free unknowns have no mass");
  }
}

/// Most of the modes are too many for a method without a factorisation: it says so, and `auto` takes another.
TEST(SingularMass, ALargePartOfAllModesIsForLanczos) {
  Domain d;
  add_reduced_block(d);
  const int most = static_cast<int>(0.8 * static_cast<double>(inverse_eigenvalues(d).size()));
  EigenRequest few_iterations;
  few_iterations.max_iterations = 40;
  const ModeSet lobpcg = modes_of(d, most, "lobpcg", "openmp:2", few_iterations);
  EXPECT_LT(lobpcg.count(), most);
  EXPECT_EQ(lobpcg.report.completeness, Completeness::incomplete);
  EXPECT_NE(lobpcg.report.statement.find("use lanczos: lobpcg is for a small part of all modes"), std::string::npos)
      << lobpcg.report.statement;
  expect_sound(modes_of(d, most, "auto"));
  const System system(d, "csr");
  const EigenProblem problem(system.model);
  EXPECT_TRUE(detail::is_large_part(most, problem));
  EXPECT_FALSE(detail::is_large_part(problem.free_equations() / 4, problem));
  EXPECT_TRUE(detail::is_large_part(problem.free_equations() / 4 + 1, problem));
}

/// A row of such bricks has mechanisms, and these have no mass either.
TEST(SingularMass, AMechanismWithoutMassIsNamed) {
  Domain d;
  add_box(d, "row", {3, 1, 1}, {0, 0, 0}, {3, 1, 1}, dense_material(1000, 0.3, 2), "solid.hex20.reduced");
  d.prescribe("row_xmin", "all");
  for (const char* solver : {"lanczos", "subspace", "auto"})
    expect_error(ErrorCode::singular, {"mechanism", "no mass either"}, [&] { modes_of(d, 5, solver); });
}

TEST(MoreModesThanThereAre, SaysHowManyThereAre) {
  Domain d;
  add_box(d, "bar", {2, 1, 1}, {0, 0, 0}, {2, 1, 1}, dense_material(1000, 0.3, 2));
  d.prescribe("bar_xmin", "all");
  for (const char* solver : {"lanczos", "subspace", "auto"}) {
    const ModeSet modes = modes_of(d, 100, solver);
    EXPECT_EQ(modes.count(), 24) << solver;  // eight free nodes
    expect_sound(modes);
    ASSERT_FALSE(modes.report.notes.empty()) << solver;
    EXPECT_EQ(modes.report.notes[0], "the model has only 24 modes, as many as free unknowns") << solver;
  }
  expect_error(ErrorCode::bad_input, {"24 free unknowns", "lanczos"}, [&] { modes_of(d, 100, "lobpcg"); });
  expect_sound(modes_of(d, 4, "lobpcg"));
}

}  // namespace
}  // namespace voussoir::test
