#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include <voussoir/backends/cuda/programs/jit_text.hpp>
#include <voussoir/backends/cuda/programs/nvrtc.hpp>

// NVIDIA's run-time compiler needs no GPU: where it is installed, kernels are compiled here for one that is not there.

namespace voussoir::cuda {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(VSR_TEST_SOURCE_DIR) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The element of tests/consumer, as its program would hand it over; or with the law as it is written.
KernelSource seepage(const char* shape = "Hex8", const char* law = "voussoir::detail::UniformLaw<Seepage, 2>") {
  return {std::string("voussoir::PointElement<") + law + ", voussoir::" + shape + ", voussoir::Full>", "my_element.hpp",
          text_of("tests/consumer/my_element.hpp")};
}

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    compiler_ = RuntimeCompiler::find(why);
    if (!compiler_) GTEST_SKIP() << why;
  }
  CompiledKernel compile(const KernelSource& source, const KernelTemplate& kernel) const {
    return compiler_->compile(
        jit_request(source, kernel, choose_target(90, compiler_->architectures()), kernel_headers()));
  }
  const RuntimeCompiler* compiler_ = nullptr;

  void expect_compiles(const KernelSource& source, const KernelTemplate& kernel) const {
    SCOPED_TRACE(kernel.name + " " + kernel.more);
    const CompiledKernel compiled = compile(source, kernel);
    EXPECT_EQ(compiled.messages, "");
    EXPECT_GT(compiled.code.size(), 1000u);
    EXPECT_NE(compiled.name.find(kernel.name), std::string::npos) << compiled.name;
    EXPECT_NE(compiled.code.find(compiled.name), std::string::npos) << "the code does not have " << compiled.name;
  }
};

TEST_F(Nvrtc, CompilesEveryRoutineOfAUsersElement) {
  for (const Routine routine :
       {Routine::tangent, Routine::residual, Routine::action, Routine::body_load, Routine::recover})
    expect_compiles(seepage(), values_template(routine));
  for (const char* plain : {"true", "false"})
    for (const char* kernel : {"cluster_action", "cluster_actions"}) expect_compiles(seepage(), {kernel, plain});
  for (const char* kernel : {"tell_ways", "point_tangents", "pair_tangents"}) expect_compiles(seepage(), {kernel});
  expect_compiles(seepage("Hex20"), {"cluster_point_action"});
  const KernelSource general = seepage("Hex8", "Seepage");
  expect_compiles(general, {"tensor_tangents"});
  expect_compiles(general, {"cluster_action", "true"});
  const KernelSource coupled{
      "voussoir::PointElement<voussoir::detail::ConstantLaw<ThermoElastic>, voussoir::Hex8, voussoir::Full>",
      "thermo_elastic.hpp", text_of("tests/consumer/thermo_elastic.hpp")};
  for (const char* kernel :
       {"tell_ways", "constant_tangents", "tensor_tangents", "keep_tensors", "cluster_tensor_action"})
    expect_compiles(coupled, {kernel});
  for (const char* kernel : {"keep_tensors", "cluster_tensor_action"}) expect_compiles(seepage("Hex20"), {kernel});
  expect_compiles(seepage("Tet4"), values_template(Routine::tangent));
}

TEST_F(Nvrtc, CompilesOtherFormulationsAndWholeElements) {
  const KernelSource mine{"voussoir::PointElement<(anonymous namespace)::Mine, voussoir::Hex8, voussoir::Incompatible>",
                          "mine.hpp", R"(#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/register.hpp>
namespace {
struct Mine : voussoir::Solid {
  static constexpr const char* name = "mine";
};
}  // namespace
static const voussoir::RegisterKernel<voussoir::PointElement<Mine, voussoir::Hex8, voussoir::Incompatible>> registered{
    "mine.hex8.bends", "hex8", VSR_KERNEL_FILE_OR_NULL};
VSR_REGISTER_ELEMENT(Mine, Hex8);
)"};
  for (const Routine routine : {Routine::mass_action, Routine::lumped_action})
    expect_compiles(mine, values_template(routine));
  expect_compiles(mine, {"pair_tangents"});
  expect_compiles(mine, {"cluster_actions", "true"});
  expect_compiles(mine, {"streamed_masses", "true"});
  expect_compiles(mine, {"streamed_masses", "false"});
  const KernelSource beam{"voussoir::Beam", "beam.hpp", "#include <voussoir/elements/structural/beam.hpp>\n"};
  for (const Routine routine : {Routine::tangent, Routine::mass, Routine::lumped_mass, Routine::recover})
    expect_compiles(beam, values_template(routine));
  for (const char* kernel : {"cluster_action", "cluster_actions"}) expect_compiles(beam, {kernel, "true"});
  expect_compiles(beam, {"tell_ways"});
}

TEST_F(Nvrtc, MistakesAreReportedAtTheUsersLine) {
  KernelSource source = seepage();
  const std::string right = "p[1] * grad(0, 2)";
  const std::size_t at = source.text.find(right);
  ASSERT_NE(at, std::string::npos);
  source.text.replace(at, right.size(), "p[1] * gradient(0, 2)");
  const long line = 1 + std::count(source.text.begin(), source.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const CompiledKernel kernel = compile(source, values_template(Routine::residual));
  EXPECT_EQ(kernel.code, "");
  const Error error = jit_error(source, kernel.messages);
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_EQ(error.where(), "my_element.hpp:" + std::to_string(line)) << error.what();
  EXPECT_NE(error.text().find("\"gradient\" is undefined"), std::string::npos) << error.what();
}

TEST_F(Nvrtc, HeadersThatKernelsCannotHaveAreExplained) {
  KernelSource source = seepage();
  source.text = "#include <vector>\n" + source.text;
  const Error error = jit_error(source, compile(source, values_template(Routine::residual)).messages);
  EXPECT_EQ(error.where(), "my_element.hpp:1");
  EXPECT_NE(error.text().find("nothing of the standard library"), std::string::npos) << error.what();
}

TEST_F(Nvrtc, GivesPtxForAGpuThatIsNewerThanTheCompiler) {
  const int newest = compiler_->architectures().back();
  const Target target = choose_target(newest + 10, compiler_->architectures());
  const CompiledKernel kernel =
      compiler_->compile(jit_request(seepage(), values_template(Routine::residual), target, kernel_headers()));
  EXPECT_NE(kernel.code.find(".entry " + kernel.name), std::string::npos);
  EXPECT_EQ(kernel.code.back(), '\0');  // as the driver wants it
}

TEST(NvrtcLibrary, MissingOrOtherLibrariesAreRefusedWithAReason) {
  std::string why;
  EXPECT_EQ(RuntimeCompiler::load("libvoussoir_no_such_compiler.so", why), nullptr);
  EXPECT_NE(why.find("libvoussoir_no_such_compiler.so"), std::string::npos);
  EXPECT_EQ(RuntimeCompiler::load("libm.so.6", why), nullptr);
  EXPECT_NE(why.find("nvrtc"), std::string::npos) << why;
}

}  // namespace
}  // namespace voussoir::cuda
