#include <gtest/gtest.h>

#include "support/further_backends.hpp"

namespace voussoir {
namespace {

// The one place where a run says whether a GPU took part. Where one is usable, the tests of this folder that go through
// all backends go through it too.
TEST(Cuda, TakesPart) {
  const BackendInfo& cuda = further::cuda_info();
  if (!cuda.usable) GTEST_SKIP() << "cuda: skipped: " << cuda.reason;
  for (const std::string& form : further::forms("cuda")) EXPECT_EQ(Backend::open(form)->name(), form);
}

}  // namespace
}  // namespace voussoir
