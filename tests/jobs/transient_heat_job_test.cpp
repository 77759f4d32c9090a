#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "heat_bar.hpp"
#include "support/expect_error.hpp"

// Transient heat and thermal stress from job files, and the files that are written.

namespace voussoir {
namespace {

using testing::BarMaterial;
using testing::elastic;
using testing::end_step;
using testing::expect_error;
using testing::expect_temperatures;
using testing::heat_bar;
using testing::heat_step;
using testing::heated;
using testing::KeptHeat;
using testing::plainly;
using testing::stress_supports;

class TransientHeatJob : public testing::FolderTest {
 protected:
  /// The bar of heat_bar() as one row of four hexahedra, with a model of heat and one of statics.
  Job read(const std::string& steps) {
    std::ostringstream mesh;
    mesh << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 \"left\"\n2 2 \"right\"\n3 3 "
            "\"bar\"\n$EndPhysicalNames\n$Nodes\n20\n";
    const double corner[4][2] = {{0, 0}, {.25, 0}, {.25, .25}, {0, .25}};
    for (int i = 0; i <= 4; ++i)
      for (int k = 0; k < 4; ++k)
        mesh << 4 * i + k + 1 << " " << 0.25 * i << " " << corner[k][0] << " " << corner[k][1] << "\n";
    mesh << "$EndNodes\n$Elements\n6\n1 3 2 1 1 1 2 3 4\n2 3 2 2 2 17 18 19 20\n";
    for (int e = 0; e < 4; ++e) {
      mesh << 3 + e << " 5 2 3 3";
      for (int j = 1; j <= 8; ++j) mesh << " " << 4 * e + j;
      mesh << "\n";
    }
    mesh << "$EndElements\n";
    std::ofstream(folder_ / "bar.msh") << mesh.str();
    std::ofstream(folder_ / "bar.json") << R"({"mesh": "bar.msh", "materials": {"m": {"conductivity": 2,
 "specific_heat": 3, "density": 4, "young": 1000, "poisson": 0, "expansion": 1e-4}}, "initial_temperature": 10,
 "sections": [{"group": "bar", "physics": "heat", "material": "m"}, {"group": "bar", "physics": "solid", "material": "m"}],
 "supports": [{"name": "hot", "group": "left", "T": 50}, {"name": "foot", "group": "left", "ux": 0},
              {"name": "across", "group": "bar", "uy": 0, "uz": 0}],
 "loads": [{"name": "air", "group": "right", "convection": {"film": 5, "sink": 100}},
           {"name": "fire", "group": "left", "radiation": {"emissivity": 0.8, "sink": 300, "stefan_boltzmann": 5.67e-8,
            "absolute_zero": -273.15}},
           {"name": "source", "group": "bar", "heat_source": 60},
           {"name": "push", "group": "right", "pressure": -2}],
 "steps": )" << steps << "}";
    return read_job_file(folder_ / "bar.json");
  }
  KeptHeat run(const std::string& steps) {
    Job job = read(steps);
    KeptHeat kept;
    run_job(job, plainly(), {}, kept);
    return kept;
  }
};

TEST_F(TransientHeatJob, AmplitudesAreThoseOfDecks) {
  const KeptHeat kept = run(R"([{"name": "heating", "analysis": "transient_heat", "increment": 0.1, "period": 0.4,
    "method": "backward-euler", "supports": [], "loads": ["air", "fire"], "states_every": 1,
    "amplitudes": {"air": [[0, 1], [0.25, 2], [0.3, 0.5]], "fire": [[0, 1], [0.25, 2], [0.3, 0.5]]}}])");
  expect_temperatures(kept, 0,
                      {{308.1486, 12.30102, 38.59671},
                       {481.7928, 24.05532, 61.40749},
                       {235.1546, 46.38107, 46.26198},
                       {175.6375, 66.62125, 42.94112}});
}

TEST_F(TransientHeatJob, StepsContinueAndSupportsHaveAmplitudes) {
  const KeptHeat kept = run(R"([
   {"analysis": "transient_heat", "increment": 0.1, "period": 0.2, "method": "backward-euler", "loads": [],
    "support_amplitudes": {"hot": [[0, 1], [0.5, 2]]}},
   {"analysis": "transient_heat", "increment": 0.1, "period": 0.2, "continue": "yes", "method": "backward-euler",
    "loads": [], "support_amplitudes": {"hot": [[0, 1.4]]}},
   {"analysis": "transient_heat", "increment": 0.1, "period": 0.2, "loads": [], "method": "backward-euler",
    "supports": []}])");
  const KeptHeat deck = heated(heat_bar() + heat_step + "0.1, 0.2\n*BOUNDARY, AMPLITUDE=B\nLEFT, 11, 11, 50.\n" +
                               end_step + heat_step + "0.1, 0.2\n" + end_step);
  for (int n = 1; n <= 20; ++n) {
    EXPECT_NEAR(kept.at_end(0, n), deck.at_end(0, n), 1e-9);
    EXPECT_NEAR(kept.at_end(1, n), deck.at_end(1, n), 1e-9);
    EXPECT_NEAR(kept.at_end(2, n), 10, 1e-9);  // it does not continue
  }
  EXPECT_NEAR(kept.states.at(1).back().time, 0.4, 1e-12);
}

TEST_F(TransientHeatJob, MethodsConvergeToTheSame) {
  // 60 t / 12 for all three.
  for (const char* method : {"backward-euler", "crank-nicolson", "bdf2"}) {
    const KeptHeat kept =
        run(std::string(R"([{"analysis": "transient_heat", "increment": 0.1, "period": 1, "supports": [],
      "loads": {"source": 2}, "method": ")") +
            method + "\"}]");
    EXPECT_NEAR(kept.at_end(0, 9), 20, 1e-8) << method;
  }
}

TEST_F(TransientHeatJob, ThermalStressAtStates) {
  const KeptHeat kept = run(R"([{"name": "heating", "analysis": "transient_heat", "increment": 0.1, "period": 1,
    "supports": [], "loads": ["source"]},
   {"name": "stress", "analysis": "thermal_stress", "temperatures_from": "heating", "states_at": [0.25, 1],
    "amplitudes": {"push": [[0, 0], [1, 1]]}},
   {"name": "end", "analysis": "static", "temperatures_from": "heating", "loads": []}])");
  const auto& states = kept.states.at(1);
  ASSERT_EQ(states.size(), 2u);
  for (const StepState& state : states)
    EXPECT_NEAR(state.result.unknowns.at(16, 0), 1e-4 * 5 * state.time + 2.0 / 1000 * state.time, 1e-9) << state.time;
  EXPECT_NEAR(states[0].time, 0.25, 1e-12);
  EXPECT_NEAR(kept.at_end(2, 17, "ux"), 5e-4, 1e-9);
  const StepResponse& response = kept.responses.at(1);
  ASSERT_FALSE(response.peaks.empty());
  EXPECT_EQ(response.peaks[0].quantity, "ux");
  EXPECT_NEAR(response.peaks[0].value, 2.5e-3, 1e-9);
  EXPECT_NEAR(response.peaks[0].at, 1, 1e-12);
}

TEST_F(TransientHeatJob, RefusesByKey) {
  const auto refuse = [&](const std::string& step, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { run("[{\"analysis\": \"transient_heat\", " + step + "}]"); });
  };
  refuse(R"("increment": 0.1)", {"bar.json", "period"});
  refuse(R"("increment": 2, "period": 1)", {"bar.json", "longer than the period"});
  refuse(R"("increment": 0.1, "period": 1, "tolerance": 1e-3)", {"bar.json", "automatic"});
  refuse(R"("increment": 0.1, "period": 1, "largest_change": 1)", {"bar.json", "automatic"});
  refuse(R"("increment": 0.1, "period": 1, "continue": "yes")", {"bar.json", "no heat step"});
  refuse(R"("increment": 0.1, "period": 1, "method": "hht")", {"bar.json", "method"});
  refuse(R"("increment": 0.1, "period": 1, "states_at": [2])", {"bar.json", "not in the step"});
  refuse(R"("increment": 0.1, "period": 1, "states_at": [0.2], "states_every": 2)", {"bar.json", "either"});
  refuse(R"("increment": 0.1, "period": 1, "amplitudes": {"push": [[0, 1]]})", {"bar.json", "no load 'push'"});
  refuse(R"("increment": 0.1, "period": 1, "amplitudes": {"fire": [[0, 1], [1, -1]]})", {"bar.json", "absolute_zero"});
  refuse(R"("increment": 0.1, "period": 1, "supports": [], "support_amplitudes": {"hot": [[0, 1]]})",
         {"bar.json", "does not use"});
  expect_error(ErrorCode::bad_input, {"bar.json", "one state"}, [&] {
    run(R"([{"name": "h", "analysis": "heat"}, {"analysis": "thermal_stress", "temperatures_from": "h"}])");
  });
}

TEST_F(TransientHeatJob, FilesHaveTheSeries) {
  BarMaterial material;
  material.more = elastic;
  Job job = read_deck_text(
      heat_bar(material) + stress_supports +
          "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.1, 0.3\n*BOUNDARY\nRIGHT, 11, 11, 110.\n"
          "*NODE PRINT, NSET=RIGHT\nNT, U\n*EL PRINT, ELSET=EALL\nHFL, S\n*END STEP\n"
          "*STEP\n*STATIC\n*NODE PRINT, NSET=RIGHT\nNT\n*END STEP\n",
      "test.inp");
  job.name = "fire";
  OutputOptions options;
  options.folder = folder_ / "out";
  options.frd = true;
  std::filesystem::create_directories(options.folder);
  ResultFiles files(job, options);
  const JobResult result = run_job(job, plainly(), {}, files);
  files.finish(result, {});
  for (const char* name :
       {"fire_step1_heat.csv", "fire_step1_history.csv", "fire_step1_peaks.csv", "fire_step1_times.pvd",
        "fire_step1_time_0003.vtu", "fire_step1_NT_RIGHT.csv", "fire_step1_HFL_EALL.csv", "fire_step2_times.pvd",
        "fire_step2_time_0003.vtu", "fire_step2_U_RIGHT.csv", "fire_step2_S_EALL.csv", "fire_step3_NT_RIGHT.csv",
        "fire.frd", "fire.dat"})
    EXPECT_TRUE(std::filesystem::exists(options.folder / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(options.folder / "fire_step2_energies.csv"));
  const auto json = nlohmann::json::parse(files.json());
  EXPECT_EQ(json["steps"][0]["procedure"], "transient heat");
  EXPECT_EQ(json["steps"][1]["procedure"], "thermal stress");
  EXPECT_EQ(json["steps"][1]["name"], "step 1, stress");
  EXPECT_EQ(json["steps"][2]["name"], "step 2");
  EXPECT_GT(json["steps"][0]["heat"]["stored"].get<double>(), 0);
  EXPECT_EQ(json["steps"][0]["integration"]["increments"].get<double>(), 3);
  // The static step has the temperatures at the end of the transient one.
  EXPECT_NE(testing::read_all(options.folder / "fire_step3_NT_RIGHT.csv").find("110"), std::string::npos);
  EXPECT_NE(testing::read_all(options.folder / "fire_step2_time_0003.vtu").find("temperature"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
