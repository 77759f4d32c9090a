#include <gtest/gtest.h>

#include "backends_under_test.hpp"
#include "solvers/solver_models.hpp"

// CG that is to stop early where it comes on slowly.

namespace voussoir::conformance {
namespace {

using voussoir::test::System;

struct CgCheckpointOn : ::testing::TestWithParam<std::string> {};

TEST_P(CgCheckpointOn, StopsWhereTheResidualIsTooLargeAndNowhereElse) {
  Domain d;
  test::add_bar(d);
  System s(d, "bsr", GetParam());
  Backend& backend = s.model.backend();
  const auto solve = [&](int checkpoint, double reduction) {
    CgRequest request;
    request.max_iterations = 500;
    request.checkpoint = checkpoint;
    request.checkpoint_reduction = reduction;
    backend.fill(s.soe->x(), 0.0);
    return backend.cg(s.soe->matrix(), nullptr, s.soe->b(), s.soe->x(), request);
  };
  const CgOutcome plain = solve(0, 0);
  ASSERT_EQ(plain.stop, CgOutcome::Stop::converged);
  ASSERT_GT(plain.iterations, 20);
  const double there = plain.history[7] / plain.history[0];

  const CgOutcome slow = solve(7, 0.9 * there);
  EXPECT_EQ(slow.stop, CgOutcome::Stop::slow);
  EXPECT_EQ(slow.iterations, 7);
  ASSERT_EQ(slow.history.size(), 8u);
  EXPECT_NEAR(slow.residual, plain.history[7], 1e-9 * plain.history[0]);

  const CgOutcome fast = solve(7, 1.1 * there);
  EXPECT_EQ(fast.stop, CgOutcome::Stop::converged);
  EXPECT_EQ(fast.iterations, plain.iterations);
}

INSTANTIATE_TEST_SUITE_P(Conformance, CgCheckpointOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
