#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "backends_under_test.hpp"
#include "solvers/solver_models.hpp"

// CG whose products begin before the values of other devices have arrived.

namespace voussoir::conformance {
namespace {

using voussoir::test::System;

/// Sets VOUSSOIR_CUDA_OVERLAP while it lives.
class OverlapSetting {
 public:
  explicit OverlapSetting(const char* value) { setenv("VOUSSOIR_CUDA_OVERLAP", value, 1); }
  ~OverlapSetting() { unsetenv("VOUSSOIR_CUDA_OVERLAP"); }
  OverlapSetting(const OverlapSetting&) = delete;
  OverlapSetting& operator=(const OverlapSetting&) = delete;
};

struct CgOverlapOn : ::testing::TestWithParam<std::string> {};

TEST_P(CgOverlapOn, ChangesNoAnswer) {
  Domain d;
  test::add_bar(d, {40, 4, 4});  // long enough for rows that need no values of others
  for (const char* storage : {"bsr", "csr"}) {
    SCOPED_TRACE(storage);
    System s(d, storage, GetParam());
    Backend& backend = s.model.backend();
    const auto solve = [&](const char* overlap) {
      const OverlapSetting setting(overlap);
      CgRequest request;
      request.max_iterations = 40;
      backend.fill(s.soe->x(), 0.0);
      const CgOutcome outcome = backend.cg(s.soe->matrix(), nullptr, s.soe->b(), s.soe->x(), request);
      EXPECT_EQ(outcome.iterations, 40);
      return s.soe->x().to_host();
    };
    const std::vector<double> with = solve("1"), without = solve("0");
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < with.size(); ++i) {
      largest = std::max(largest, std::abs(without[i]));
      apart = std::max(apart, std::abs(with[i] - without[i]));
    }
    EXPECT_GT(largest, 0);
    EXPECT_LE(apart, 1e-11 * largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, CgOverlapOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
