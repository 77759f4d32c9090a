#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "backends/cpu_backends.hpp"

namespace voussoir {
namespace {

TEST(DeviceMemory, LackOfItSaysWhatWasAskedAndWhatHelpsAndLeavesTheBackendUsable) {
  const auto specifications = further::specifications();
  if (specifications.empty()) GTEST_SKIP() << "no backend with memory of its own takes part";
  for (const std::string& specification : specifications) {
    SCOPED_TRACE(specification);
    const auto backend = further::open(specification);
    try {
      const auto far_too_much = backend->make_array<double>(0, std::size_t{1} << 41);
      ADD_FAILURE() << "17 TB were given out";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      for (const char* part : {"17592.2 GB were requested on device 0", "free of", "matrix-free"})
        EXPECT_NE(error.text().find(part), std::string::npos) << error.text();
    }
    auto some = backend->make_array<double>(0, 3);
    some.write_host()[2] = 4;
    some.drop_host_mirror();
    EXPECT_EQ(some.read_host()[2], 4);
    EXPECT_EQ(backend->bytes_in_use(), 3 * sizeof(double));
    EXPECT_LT(backend->bytes_peak(), std::size_t{1} << 30);
  }
}

}  // namespace
}  // namespace voussoir
