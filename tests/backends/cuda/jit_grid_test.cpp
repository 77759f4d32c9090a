#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include <voussoir/backends/cuda/programs/jit_text.hpp>
#include <voussoir/backends/cuda/programs/nvrtc.hpp>

// Grid kernels of users on their way to the run-time compiler, which needs no GPU.

namespace voussoir::cuda {
namespace {

std::string grid_text_of(const std::string& file) {
  std::ifstream in(std::string(VSR_TEST_SOURCE_DIR) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class NvrtcGrids : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    compiler_ = RuntimeCompiler::find(why);
    if (!compiler_) GTEST_SKIP() << why;
  }
  CompiledKernel compile(const KernelSource& source) const {
    return compiler_->compile(
        jit_grid_request(source, choose_target(90, compiler_->architectures()), kernel_headers()));
  }
  const RuntimeCompiler* compiler_ = nullptr;
};

TEST_F(NvrtcGrids, CompileStencilsAndSources) {
  const std::string tests = grid_text_of("tests/support/grid_kernels.hpp"),
                    tutorial = grid_text_of("docs/tutorials/heat_on_a_plate_elements.hpp");
  for (const auto& [type, text] :
       {std::pair{"voussoir::testing::AdvectionDiffusion", tests},
        std::pair{"voussoir::testing::MixedDerivative", tests}, std::pair{"voussoir::testing::GridIgnition", tests},
        std::pair{"voussoir::testing::OnTheHost", tests}, std::pair{"Torch", tutorial}, std::pair{"Drift", tutorial}}) {
    const CompiledKernel compiled = compile({type, "kernels.hpp", text});
    EXPECT_EQ(compiled.messages, "") << type;
    EXPECT_GT(compiled.code.size(), 1000u) << type;
    EXPECT_NE(compiled.name.find("grid_values"), std::string::npos) << compiled.name;
  }
}

TEST_F(NvrtcGrids, ErrorsNameTheUsersFileAndLine) {
  const KernelSource wrong{"Wrong", "wrong.hpp", R"(#pragma once
#include <voussoir/elements/grid/register.hpp>
struct Wrong {
  static constexpr const char* name = "wrong";
  struct Parameters {};
  template <class Node>
  VSR_FN static double apply(const Node& u, const Parameters&) {
    return u.dxxx();
  }
};
VSR_REGISTER_STENCIL(Wrong);
)"};
  const CompiledKernel compiled = compile(wrong);
  ASSERT_TRUE(compiled.code.empty());
  const Error error = jit_error(wrong, compiled.messages);
  EXPECT_EQ(error.where(), "wrong.hpp:8") << error.what();
  EXPECT_NE(error.text().find("dxxx"), std::string::npos) << error.what();
}

TEST(JitGrids, RequestsHaveTheUsersTextUnderItsName) {
  const CompileRequest request =
      jit_grid_request({"A::(anonymous namespace)::B", "my \"file\".hpp", "text", 0}, {"sm_90", true}, {});
  EXPECT_EQ(request.expression, "voussoir::cuda::grid_values<A::B>");
  ASSERT_EQ(request.headers.size(), 1U);
  EXPECT_EQ(request.headers[0].text, "#line 1 \"my \\\"file\\\".hpp\"\ntext\n");
}

}  // namespace
}  // namespace voussoir::cuda
