#include <gtest/gtest.h>

#include <string>

#include <voussoir/backends/backend.hpp>

namespace voussoir {
namespace {

/// The error of opening a backend: its code and text.
std::pair<ErrorCode, std::string> refusal(const std::string& specification) {
  try {
    Backend::open(specification);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::internal, "opened"};
}

void expect_refusal(const std::string& specification, ErrorCode code, const std::string& part) {
  const auto [found, text] = refusal(specification);
  EXPECT_EQ(found, code) << specification << ": " << text;
  EXPECT_NE(text.find(part), std::string::npos) << specification << ": " << text;
}

TEST(Open, NameOpensTheSameAgain) {
  for (const std::string name : {"openmp", "openmp:1", "openmp:3", "debug", "debug:2"}) {
    const auto backend = Backend::open(name);
    EXPECT_EQ(backend->name(), name);
    EXPECT_EQ(Backend::open(backend->name())->describe(), backend->describe());
  }
  EXPECT_EQ(Backend::open("openmp:3")->describe(), "openmp: 3 threads");
  EXPECT_EQ(Backend::open("debug:3")->devices(), 3);
  EXPECT_EQ(Backend::open("debug:3")->memory(2)->device(), 2);
  EXPECT_TRUE(Backend::open("openmp")->memory(0)->shares_host_memory());
  EXPECT_FALSE(Backend::open("debug")->memory(0)->shares_host_memory());
}

TEST(Open, AutoSaysWhatItTookAndWhy) {
  const auto backend = Backend::open();
  const std::string text = backend->describe();
  if (backend->name().rfind("cuda", 0) == 0) return;  // a GPU and its plugin are here
  EXPECT_EQ(backend->name(), "openmp");
  EXPECT_EQ(text.rfind("openmp: ", 0), 0u) << text;
  EXPECT_NE(text.find("(cuda: "), std::string::npos) << text;
}

TEST(Open, BadNumbersAreExplained) {
  for (const std::string bad : {"openmp:0", "openmp:x", "openmp:-1", "openmp:2x", "openmp: 2", "openmp:99999999999"})
    expect_refusal(bad, ErrorCode::bad_input, "is not a number of threads; write openmp:N with N from 1 to 1024");
  for (const std::string bad : {"debug:99", "debug:0", "debug:two"})
    expect_refusal(bad, ErrorCode::bad_input, "is not a number of pseudo-devices; write debug:N with N from 1 to 16");
  expect_refusal("openmp:", ErrorCode::bad_input, "nothing follows the colon");
  expect_refusal("auto:2", ErrorCode::bad_input, "'auto' takes no argument after a colon");
  expect_refusal("", ErrorCode::bad_input, "no name");
  expect_refusal(":2", ErrorCode::bad_input, "no name");
  expect_refusal("../evil", ErrorCode::bad_input, "letters, digits");
}

TEST(Open, UnknownNamesGetTheNearestSpelling) {
  expect_refusal("opnemp", ErrorCode::not_found, "did you mean 'openmp'?");
  expect_refusal("OpenMP:4", ErrorCode::not_found, "did you mean 'openmp'?");
  expect_refusal("cud", ErrorCode::not_found, "did you mean 'cuda'?");
  expect_refusal("debugg", ErrorCode::not_found, "did you mean 'debug'?");
  expect_refusal("quantum", ErrorCode::not_found, "available: auto, openmp, debug, cuda");
  expect_refusal("quantum", ErrorCode::not_found, "libvoussoir_quantum.so not found");
}

TEST(Open, AvailableListsEveryKindWithAReason) {
  const auto list = Backend::available();
  ASSERT_GE(list.size(), 3u);
  EXPECT_EQ(list[0].name, "openmp");
  EXPECT_TRUE(list[0].usable);
  EXPECT_EQ(list[1].name, "debug");
  EXPECT_TRUE(list[1].usable);
  EXPECT_EQ(list[2].name, "cuda");
  for (const auto& info : list) EXPECT_FALSE(info.reason.empty()) << info.name;
}

TEST(Backend, CountsItsMemoryOverAllDevices) {
  const auto backend = Backend::open("debug:2");
  const std::size_t before = backend->bytes_in_use();
  {
    const auto a = backend->make_array<double>(0, 10);
    const auto b = backend->make_array<double>(1, 20);
    EXPECT_EQ(backend->bytes_in_use(), before + 240);
  }
  EXPECT_EQ(backend->bytes_in_use(), before);
  EXPECT_GE(backend->bytes_peak(), before + 240);
}

TEST(Backend, NormIsTheEuclideanOne) {
  for (const std::string name : {"openmp:1", "openmp:2", "debug", "debug:2"}) {
    const auto backend = Backend::open(name);
    std::vector<std::shared_ptr<DeviceMemory>> memories;
    std::vector<std::int64_t> first = {0};
    for (int d = 0; d < backend->devices(); ++d) {
      memories.push_back(backend->memory(d));
      first.push_back(d + 1 == backend->devices() ? 2 : 1);
    }
    Vector x(std::make_shared<const Layout>(memories, first, std::vector<std::vector<std::int64_t>>(memories.size())));
    x.from_host(std::vector<double>{3, -4});
    EXPECT_EQ(backend->norm(x), 5.0) << name;
  }
}

}  // namespace
}  // namespace voussoir
