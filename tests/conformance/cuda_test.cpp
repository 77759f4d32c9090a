#include <gtest/gtest.h>

#include <string>

#include "backends_under_test.hpp"

namespace voussoir::conformance {
namespace {

/// How many tests of this program, or of its suites whose names end so, run on a backend: on "cuda", or on "cuda:0,0".
int tests_on(const std::string& specification, const std::string& suites = "") {
  const std::string name = "/" + test_name(specification);
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  int count = 0;
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    if (!std::string(suite.name()).ends_with(suites)) continue;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const std::string test = suite.GetTestInfo(t)->name();
      const std::size_t at = test.find(name);
      if (at == std::string::npos) continue;
      const std::size_t end = at + name.size();         // "/openmp_1" is the end, or followed by the name of a model
      if (test.compare(end, 4, "_0_0") == 0) continue;  // two devices of the same name
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
  const int here = tests_on(oracle), types = tests_on(oracle, "ElementTypes");
  ASSERT_GE(types, 80);
  // All but the same bits twice, where no order can change, and on a second device element types and ways of
  // integration.
  for (const std::string& form : voussoir::further::forms("emulated"))
    EXPECT_GE(4 * (tests_on(form) - tests_on(form, "ElementTypes")), 3 * (here - types)) << form;
  EXPECT_EQ(tests_on("emulated", "ElementTypes"), types);
}
#endif

}  // namespace
}  // namespace voussoir::conformance
