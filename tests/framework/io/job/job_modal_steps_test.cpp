#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <support/expect_error.hpp>
#include <support/job_samples.hpp>

// Steps of modes and of mode superposition in job files.

namespace voussoir {
namespace {

using testing::expect_error;

const std::string support = R"("supports": [{"name": "foot", "group": "left side", "all": 0}],
  "loads": [{"name": "push", "group": "body", "gravity": [0, 0, -10]}],)";
const std::string modes = R"({"name": "modes", "analysis": "frequency", "modes": 6})";

Job steps(const std::string& more) {
  return testing::read_on(testing::job(support + R"("steps": [)" + modes + (more.empty() ? "" : ", " + more) + "]"));
}

TEST(JobModalSteps, Frequency) {
  const Job job = steps(R"({"analysis": "frequency", "from": 10, "below": 200})");
  EXPECT_EQ(std::get<FrequencyStep>(job.steps[0].modal).modes, 6);
  const auto& second = std::get<FrequencyStep>(job.steps[1].modal);
  EXPECT_EQ(second.modes, 0);
  EXPECT_EQ(second.from, 10);
  EXPECT_EQ(second.below, 200);
  EXPECT_EQ(job.steps[1].procedure, Procedure::frequency);
}

TEST(JobModalSteps, ModalDynamic) {
  const Job job = steps(R"({"analysis": "modal_dynamic", "increment": 0.1, "period": 2, "loads": {"push": 2},
    "amplitudes": {"push": [[0, 0], [1, 5]]}, "damping": {"ratio": 0.05, "modes": [{"first": 2, "ratio": 0.1}]},
    "base_motion": [{"direction": "y", "acceleration": [[0, 1], [2, 3]], "factor": 9.81}],
    "print": [{"at": "nodes", "values": ["displacement", "velocity"]}]},
    {"analysis": "modal_dynamic", "increment": 0.1, "period": 1, "continue": "yes", "static_correction": "no"})");
  const auto& step = std::get<ModalDynamicStep>(job.steps[1].modal);
  EXPECT_EQ(step.modes_of, 0u);
  ASSERT_EQ(step.loads.size(), 1u);
  EXPECT_EQ(step.loads[0].amplitude.at(0.5), 2.5);
  EXPECT_EQ(job.domains[0]->load_case(step.loads[0].load_case).body_loads().at(0).load.acceleration[2], -20);
  EXPECT_EQ(step.base.at(0).direction, 1);
  EXPECT_EQ(step.base[0].real, 9.81);
  EXPECT_EQ(step.damping.all, 0.05);
  EXPECT_EQ(step.damping.ratios.at(0).first, 2);
  EXPECT_TRUE(step.static_correction);
  EXPECT_EQ(job.steps[1].prints.at(0).quantities, (std::vector<std::string>{"U", "V"}));
  const auto& next = std::get<ModalDynamicStep>(job.steps[2].modal);
  EXPECT_EQ(next.continues, std::optional<std::size_t>(1));
  EXPECT_EQ(next.start, 2);
  EXPECT_FALSE(next.static_correction);
  EXPECT_TRUE(next.loads.empty());
}

TEST(JobModalSteps, LoadCasesHaveTheNamesOfLoadAndStep) {
  const std::string shake = R"({"name": "shake", "analysis": "modal_dynamic", "increment": 0.1, "period": 2,
    "loads": ["push"]})";
  const Job job = steps(shake);
  EXPECT_EQ(std::get<ModalDynamicStep>(job.steps[1].modal).loads.at(0).load_case, "push of shake");
}

TEST(JobModalSteps, AccelerationOfARigidStructure) {
  const std::string code = R"({"analysis": "spectrum", "damping": 0.05, "directions": [{"direction": "x",
    "spectrum": [[0.1, 2], [10, 1]], "rigid_acceleration": 0.4}])";
  const Job job = steps(code + R"(, "static_correction": "yes"})");
  EXPECT_EQ(std::get<SpectrumStep>(job.steps[1].modal).directions[0].rigid_acceleration, std::optional<double>(0.4));
  expect_error(ErrorCode::bad_input, {"rigid_acceleration", "static_correction"}, [&] { steps(code + "}"); });
}

TEST(JobModalSteps, HarmonicHasPhases) {
  const Job job = steps(R"({"analysis": "harmonic", "lowest": 1, "highest": 90, "points": 8, "loads": ["push"],
    "phases": {"push": 90}, "damping": 0.02})");
  const auto& step = std::get<HarmonicStep>(job.steps[1].modal);
  EXPECT_EQ(step.points, 8u);
  EXPECT_NEAR(step.loads.at(0).real, 0, 1e-15);
  EXPECT_EQ(step.loads[0].imaginary, 1);
  EXPECT_EQ(step.damping.all, 0.02);
}

TEST(JobModalSteps, Spectrum) {
  const Job job = steps(R"({"analysis": "spectrum", "combination": "srss", "directional": "100-30", "damping": 0.05,
    "directions": [{"direction": "x", "spectrum": [[0.1, 2], [10, 1]], "factor": 9.81},
                   {"direction": "z", "spectrum": [[0.1, 2], [10, 1]], "axis": "frequency", "beyond": "nearest"}]})");
  const auto& step = std::get<SpectrumStep>(job.steps[1].modal);
  ASSERT_EQ(step.directions.size(), 2u);
  EXPECT_EQ(step.directions[0].factor, 9.81);
  EXPECT_EQ(step.directions[1].direction, 2);
  EXPECT_EQ(step.directions[1].spectrum.axis(), ResponseSpectrum::Axis::frequency);
  EXPECT_EQ(step.combination, ModalCombination::srss);
  EXPECT_EQ(step.directional, DirectionalCombination::hundred_thirty);
}

TEST(JobModalSteps, AccelerogramOfAFileBesideTheJob) {
  const auto folder = std::filesystem::temp_directory_path() / ("voussoir_modal_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "part.msh", std::ios::binary)
      << testing::gmsh_bytes(testing::two_cubes(), testing::GmshVariant::text41);
  std::ofstream(folder / "quake.txt") << "# t a\n0 0\n1 0.5\n2 0\n";
  const std::string text = testing::job(support + R"("steps": [)" + modes +
                                        R"(, {"analysis": "modal_dynamic", "increment": 0.1, "period": 2,
    "base_motion": [{"direction": "x", "accelerogram": "quake.txt", "factor": 2}]}])");
  const Job job = read_job_text(text, "job.json", folder);
  std::filesystem::remove_all(folder);
  EXPECT_DOUBLE_EQ(std::get<ModalDynamicStep>(job.steps[1].modal).base.at(0).acceleration.at(1), 1.0);
}

TEST(JobModalSteps, ErrorsNameTheKey) {
  const auto refuse = [](const std::string& step, std::initializer_list<std::string> pieces) {
    SCOPED_TRACE(step);
    expect_error(ErrorCode::bad_input, pieces, [&] { steps(step); });
  };
  refuse(R"({"analysis": "frequency", "modes": 0})", {"/steps/1/modes", "whole number"});
  refuse(R"({"analysis": "frequency", "below": 1, "from": 2})", {"/steps/1/below"});
  refuse(R"({"analysis": "modal_dynamic", "period": 1})", {"increment"});
  refuse(R"({"analysis": "modal_dynamic", "increment": 1, "period": 1, "modes_of": "none"})", {"called 'none'"});
  refuse(R"({"analysis": "modal_dynamic", "increment": 1, "period": 1, "supports": []})", {"supports of the step"});
  refuse(R"({"analysis": "modal_dynamic", "increment": 1, "period": 1, "damping": -1})", {"/damping", "negative"});
  refuse(R"({"analysis": "modal_dynamic", "increment": 1, "period": 1, "continue": "yes"})", {"the step before"});
  refuse(R"({"analysis": "modal_dynamic", "increment": 1, "period": 1, "base_motion": [{"direction": "x"}]})",
         {"'acceleration'", "'accelerogram'"});
  refuse(R"({"analysis": "modal_dynamic", "increment": 1, "period": 1, "amplitudes": {"push": [[0, 1]]}})",
         {"has no load 'push'"});
  refuse(R"({"analysis": "harmonic", "lowest": 3, "highest": 2})", {"/highest"});
  refuse(R"({"analysis": "spectrum", "directions": []})", {"one, two or three"});
  expect_error(ErrorCode::bad_input, {"must come before"}, [] {
    testing::read_on(testing::job(support + R"("steps": [{"analysis": "harmonic", "lowest": 1, "highest": 2}])"));
  });
}

}  // namespace
}  // namespace voussoir
