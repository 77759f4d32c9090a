#include <voussoir/backends/host_memory.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>

#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

/// The files of a system, as far as they are looked at.
detail::SystemFiles system_with(const std::map<std::string, std::string>& files) {
  const auto folder = testing::empty_scratch_folder("system");
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  return {(folder / "proc").string(), (folder / "cgroup").string()};
}

TEST(HostMemory, IsLimitedByAControlGroupOfVersion2AndThoseAboveIt) {
  const auto room = detail::available_cgroup_memory(
      system_with({{"proc/self/cgroup", "0::/user/job\n"},
                   {"cgroup/user/job/memory.max", "max\n"},
                   {"cgroup/user/job/memory.current", "300\n"},
                   {"cgroup/user/memory.max", "5000\n"},
                   {"cgroup/user/memory.current", "2000\n"},
                   {"cgroup/user/memory.stat", "anon 900\ninactive_file 700\nactive_file 50\n"}}));
  EXPECT_EQ(room.bytes, 5000 - (2000 - 750));
  EXPECT_NE(room.limit.find("control group"), std::string::npos);
  EXPECT_FALSE(room.allocation_fails);
}

TEST(HostMemory, IsLimitedByAControlGroupOfVersion1) {
  const std::string groups = "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n";
  auto files = std::map<std::string, std::string>{{"proc/self/cgroup", groups},
                                                  {"cgroup/memory/job/memory.limit_in_bytes", "9000\n"},
                                                  {"cgroup/memory/job/memory.usage_in_bytes", "1000\n"},
                                                  {"cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                                                  {"cgroup/memory/memory.usage_in_bytes", "123456\n"}};
  EXPECT_EQ(detail::available_cgroup_memory(system_with(files)).bytes, 8000);
  // In a container the group of the host is not to be seen, and the root has the limit.
  files.erase("cgroup/memory/job/memory.limit_in_bytes");
  files["cgroup/memory/memory.limit_in_bytes"] = "200000\n";
  EXPECT_EQ(detail::available_cgroup_memory(system_with(files)).bytes, 200000 - 123456);
}

TEST(HostMemory, IsEndlessWhereNothingIsTold) {
  EXPECT_TRUE(std::isinf(detail::available_cgroup_memory(system_with({})).bytes));
  EXPECT_TRUE(
      std::isinf(detail::available_cgroup_memory(system_with({{"proc/self/cgroup", "nonsense\n0::\n"}})).bytes));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(HostMemory, IsLimitedByTheAddressSpace) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const double free_before = available_host_memory().bytes;
  EXPECT_GT(free_before, 100e6);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = before;
  limit.rlim_cur = pages * 4096 + 50'000'000;
  setrlimit(RLIMIT_AS, &limit);
  const AvailableMemory room = available_host_memory();
  setrlimit(RLIMIT_AS, &before);
  if (sysconf(_SC_PAGESIZE) != 4096) GTEST_SKIP() << "pages of another size";
  EXPECT_NEAR(room.bytes, 50e6, 5e6);
  EXPECT_NE(room.limit.find("ulimit -v"), std::string::npos);
  EXPECT_TRUE(room.allocation_fails);
}
#endif

}  // namespace
}  // namespace voussoir
