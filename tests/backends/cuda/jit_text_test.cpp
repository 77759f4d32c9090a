#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <support/expect_error.hpp>
#include <voussoir/backends/cuda/programs/jit_text.hpp>

namespace voussoir::cuda {
namespace {

TEST(JitText, EmbeddedHeadersAreCompleteAndFreeOfTheStandardLibrary) {
  std::set<std::string> names;
  for (const NamedText& header : kernel_headers()) names.insert(header.name);
  for (const char* name : {"voussoir/elements/kernel/point_kernel.hpp", "voussoir/elements/kernel/element_kernel.hpp",
                           "voussoir/elements/register.hpp", "voussoir/elements/point/point_element.hpp",
                           "voussoir/backends/cuda/elements/element_kernels.hpp"})
    EXPECT_EQ(names.count(name), 1u) << name;
  const std::regex include("#include *[<\"]([^>\"]+)[>\"]");
  for (const NamedText& header : kernel_headers()) {
    // These three hide what others include from the run-time compiler.
    if (header.name == "voussoir/elements/register.hpp" || header.name == "voussoir/elements/grid/register.hpp" ||
        header.name == "voussoir/backends/cuda/runtime/shared_memory.hpp")
      continue;
    for (std::sregex_iterator it(header.text.begin(), header.text.end(), include), end; it != end; ++it)
      EXPECT_EQ(names.count((*it)[1]), 1u) << header.name << " includes " << (*it)[1];
  }
}

TEST(JitText, TargetIsTheGpuOrTheNearestOneBelow) {
  const std::vector<int> known{75, 80, 90, 100};
  EXPECT_EQ(choose_target(90, known).option, "sm_90");
  EXPECT_TRUE(choose_target(90, known).machine_code);
  EXPECT_EQ(choose_target(120, known).option, "compute_100");
  EXPECT_FALSE(choose_target(120, known).machine_code);
  EXPECT_EQ(choose_target(89, known).option, "compute_80");
  testing::expect_error(ErrorCode::unavailable, {"compute capability 7.0", "openmp"},
                        [&] { (void)choose_target(70, known); });
}

TEST(JitText, RequestNamesTheKernelAndTheUsersFile) {
  const KernelSource source{"voussoir::PointElement<(anonymous namespace)::Mine, voussoir::Hex8, voussoir::Full>",
                            "my \"folder\"/mine.hpp", "struct Mine {};"};
  const CompileRequest request =
      jit_request(source, values_template(Routine::lumped_mass), {"sm_80", true}, kernel_headers());
  EXPECT_EQ(request.expression,
            "voussoir::cuda::element_values<voussoir::PointElement<Mine, voussoir::Hex8, voussoir::Full>, "
            "voussoir::cuda::Routine::lumped_mass>");
  ASSERT_EQ(request.headers.size(), kernel_headers().size() + 1);
  EXPECT_EQ(request.headers.back().text, "#line 1 \"my \\\"folder\\\"/mine.hpp\"\nstruct Mine {};\n");
  EXPECT_NE(request.text.find("<" + request.headers.back().name + ">"), std::string::npos);
  const std::regex include("#include <([^>]+)>");
  for (std::sregex_iterator it(request.text.begin(), request.text.end(), include), end; it != end; ++it)
    EXPECT_TRUE(std::any_of(request.headers.begin(), request.headers.end(), [&](const NamedText& header) {
      return header.name == (*it)[1].str();
    })) << (*it)[1];
  EXPECT_EQ(std::count(request.options.begin(), request.options.end(), "--gpu-architecture=sm_80"), 1);
}

TEST(JitText, ErrorShowsTheUsersFileAndLineFirst) {
  const KernelSource source{"Mine", "mine.hpp", ""};
  const Error error = jit_error(source, R"(voussoir/elements/kernel/tensor.hpp(12): error: too many
      return a;
             ^
          detected during:
            instantiation of "f" at line 3 of voussoir/elements/point/point_element.hpp
            instantiation of "g" at line 7 of mine.hpp

mine.hpp(9): error: identifier "gradd" is undefined
    gradd(0);
    ^
          detected during instantiation of "h" at line 1 of voussoir/elements/point/point_element.hpp

2 errors detected in the compilation of "voussoir_kernel.cu".
)");
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_EQ(error.where(), "mine.hpp:9");
  EXPECT_EQ(error.text(), R"(this kernel does not compile for the GPU: identifier "gradd" is undefined
    gradd(0);
    ^
voussoir/elements/kernel/tensor.hpp:12: too many
      return a;
             ^
            instantiation of "g" at line 7 of mine.hpp)");
}

TEST(JitText, AnyOtherLogIsShownAsItIs) {
  const Error error = jit_error({"Mine", "mine.hpp", ""}, "nvrtc: fatal: nothing works");
  EXPECT_EQ(error.where(), "mine.hpp");
  EXPECT_NE(error.text().find("nothing works"), std::string::npos);
}

}  // namespace
}  // namespace voussoir::cuda
