#include <gtest/gtest.h>

#include "backends_under_test.hpp"
#include "solvers/eigen/modal_models.hpp"
#include "solvers/solver_models.hpp"

// All eigen-solvers find the same modes on every backend.

namespace voussoir::conformance {
namespace {

struct ModesOn : ::testing::TestWithParam<std::string> {};

/// A distorted bar with an equation; and a free part beside it.
void build(Domain& d) {
  test::add_bar(d, {3, 2, 2});
  test::add_box(d, "free", {2, 1, 1}, {0, 0, 4}, {1, 0.8, 4.7}, test::dense_material(900, 0.2, 1.5));
}

TEST_P(ModesOn, EverySolverAgreesWithTheOracle) {
  Domain d;
  build(d);
  const ModeSet expected = test::modes_of(d, 14, "lanczos", oracle);
  test::expect_sound(expected);
  EXPECT_EQ(test::free_modes(expected), 6);
  for (const std::string& solver : test::built_in(eigen_solvers())) {
    const ModeSet modes = test::modes_of(d, 14, solver, GetParam());
    test::expect_sound(modes);
    ASSERT_EQ(modes.count(), expected.count()) << solver;
    for (int m = 0; m < modes.count(); ++m)
      EXPECT_NEAR(modes.eigenvalue(m), expected.eigenvalue(m), 1e-8 * expected.eigenvalue(m))
          << solver << ", mode " << m;
    for (std::size_t direction = 0; direction < 3; ++direction) {
      EXPECT_NEAR(modes.total_mass[direction], expected.total_mass[direction], 1e-12 * expected.total_mass[direction]);
      EXPECT_NEAR(modes.accumulated(13, static_cast<int>(direction)),
                  expected.accumulated(13, static_cast<int>(direction)), 1e-8)
          << solver;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, ModesOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
