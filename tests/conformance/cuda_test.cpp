#include <gtest/gtest.h>

#include <string>

#include "backends_under_test.hpp"

namespace voussoir::conformance {
namespace {

/// How many tests of this program run on a backend.
int tests_on(const std::string& specification) {
  const std::string name = "/" + test_name(specification);
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  int count = 0;
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const std::string test = suite.GetTestInfo(t)->name();
      const std::size_t at = test.find(name);
      if (at == std::string::npos) continue;
      const std::size_t end = at + name.size();  // "/openmp_1" is the end, or followed by the name of a model
      if (end == test.size() || test[end] == '_') ++count;
    }
  }
  return count;
}

// The one place where a run says whether a GPU took part.
TEST(Conformance, OnCuda) {
  const int here = tests_on(oracle);
  ASSERT_GT(here, 40);
  const BackendInfo& cuda = voussoir::further::cuda_info();
  if (!cuda.usable) GTEST_SKIP() << "cuda: skipped: " << cuda.reason << " (" << 2 * here << " tests did not run)";
  for (const std::string& form : voussoir::further::forms("cuda")) EXPECT_GE(tests_on(form), here) << form;
}

#if defined(VSR_TEST_EMULATION_DIR)
TEST(Conformance, OnTheEmulatedCudaBackend) {
  const int here = tests_on(oracle);
  // All but the same bits twice, where no order can change, and on a second device the ways of integration.
  for (const std::string& form : voussoir::further::forms("emulated")) EXPECT_GE(4 * tests_on(form), 3 * here) << form;
}
#endif

}  // namespace
}  // namespace voussoir::conformance
