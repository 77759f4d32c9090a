#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/job/job_file.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Amplitudes of film coefficients and of emissivities, on a body whose conductivity is so high that it has one
// temperature: C T' = h a(t) A (s(t) − T).

namespace voussoir {
namespace {

using testing::expect_error;
using testing::KeptSteps;
using testing::plainly;
using testing::RanDeck;
using testing::run_deck;

constexpr double capacity = 12, zero = -273.15, boltzmann = 5.67e-8;

/// One C3D8 of 1 × 1 × 1 with ρ c = 12 at 10 degrees. The amplitude UP is t, WAVE has a kink, JUMP goes from 1 to 0.25
/// at 0.45, and END is 1 until 1 and 0.5 at 2.
std::string lumped_block() {
  return "*NODE, NSET=NALL\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n6, 1, 0, 1\n7, 1, 1, 1\n"
         "8, 0, 1, 1\n*ELEMENT, TYPE=C3D8, ELSET=BLOCK\n1, 1, 2, 3, 4, 5, 6, 7, 8\n*MATERIAL, NAME=M\n*CONDUCTIVITY\n"
         "1.E7\n*SPECIFIC HEAT\n3.\n*DENSITY\n4.\n*SOLID SECTION, ELSET=BLOCK, MATERIAL=M\n"
         "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=-273.15, STEFAN BOLTZMANN=5.67E-8\n"
         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 10.\n*AMPLITUDE, NAME=UP\n0., 0., 1., 1.\n"
         "*AMPLITUDE, NAME=WAVE\n0., 1., 0.3, 2., 0.7, 0.5\n*AMPLITUDE, NAME=JUMP\n0., 1., 0.45, 1., 0.45, 0.25\n"
         "*AMPLITUDE, NAME=END, TIME=TOTAL TIME\n0., 1., 1., 1., 2., 0.5\n";
}

double wave(double t) { return t < 0.3 ? 1 + t / 0.3 : t < 0.7 ? 2 - 1.5 * (t - 0.3) / 0.4 : 0.5; }
double jump(double t) { return t < 0.45 ? 1 : 0.25; }

/// Times and temperatures of all increments of a step.
struct Course {
  std::vector<double> times, temperatures;
  double missing = 0, stored = 0;
};

Course course_of(const StepResponse& response) {
  Course course;
  course.times = response.recorded.at(0).times;
  course.temperatures = response.recorded.at(0).curves.at(0).second;
  for (const auto& [name, value] : response.totals) {
    if (name == "missing") course.missing = value;
    if (name == "stored") course.stored = value;
  }
  return course;
}

Course heated(const std::string& procedure, const std::string& loads) {
  const RanDeck ran = run_deck(lumped_block() + "*STEP, INC=1000000\n" + procedure + loads +
                               "*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=NALL\nNT\n*END STEP\n");
  return course_of(ran.kept.responses.at(0));
}

/// The mean of a function that is a cubic between two times, by Simpson's rule just inside of them.
double mean(const std::function<double(double)>& f, double from, double to) {
  const double in = 1e-12 * (to - from);
  return (f(from + in) + 4 * f(0.5 * (from + to)) + f(to - in)) / 6;
}

const std::string automatic = "*HEAT TRANSFER\n0.05, 1.\n";

// T = s + (T₀ − s) exp(−h t² / 2C) for a(t) = t.
TEST(FilmAmplitudes, ACoefficientThatRises) {
  double before = 0;
  for (const double increment : {0.02, 0.01, 0.005}) {
    const Course found = heated("*HEAT TRANSFER, DIRECT\n" + std::to_string(increment) + ", 1.\n",
                                "*FILM, FILM AMPLITUDE=UP\nBLOCK, F2, 100., 24.\n");
    double worst = 0;
    for (std::size_t i = 0; i < found.times.size(); ++i) {
      const double exact = 100 - 90 * std::exp(-24 * found.times[i] * found.times[i] / (2 * capacity));
      worst = std::max(worst, std::abs(found.temperatures[i] - exact));
    }
    EXPECT_LT(worst, 60 * increment);
    if (before > 0) {
      EXPECT_NEAR(before / worst, 2, 0.1);  // backward Euler is of first order
    }
    before = worst;
    EXPECT_NEAR(found.missing, 0, 1e-6 * found.stored);
  }
}

// The change of a load that begins with 0 is no measure of errors at the start: with T ~ t² every increment would have
// to be a fixed small part of the time so far.
TEST(FilmAmplitudes, AutomaticIncrementsOfACoefficientThatBeginsWithZero) {
  const Course found = heated(automatic, "*FILM, FILM AMPLITUDE=UP\nBLOCK, F2, 100., 24.\n");
  EXPECT_LT(found.times.size(), 200u);
  double worst = 0;
  for (std::size_t i = 0; i < found.times.size(); ++i) {
    const double exact = 100 - 90 * std::exp(-24 * found.times[i] * found.times[i] / (2 * capacity));
    worst = std::max(worst, std::abs(found.temperatures[i] - exact));
  }
  EXPECT_LT(worst, 0.02 * 57);  // of 57 degrees that it is heated by
}

// Each increment of backward Euler, with loads at its end: C (T₁ − T₀)/Δ = h a₁ (s₁ − T₁).
TEST(FilmAmplitudes, FixedIncrementsTakeBothAmplitudesAtTheEnd) {
  const Course found =
      heated("*HEAT TRANSFER, DIRECT\n0.05, 1.\n", "*FILM, AMPLITUDE=WAVE, FILM AMPLITUDE=UP\nBLOCK, F2, 100., 24.\n");
  ASSERT_EQ(found.times.size(), 21u);
  double t = 10;
  for (std::size_t i = 1; i < found.times.size(); ++i) {
    const double rate = 0.05 * 24 / capacity * found.times[i];
    t = (t + rate * 100 * wave(found.times[i])) / (1 + rate);
    EXPECT_NEAR(found.temperatures[i], t, 2e-4) << i;
  }
}

// Automatic increments end at kinks and jumps, and take the means of a and of a · s over the increment.
TEST(FilmAmplitudes, AutomaticIncrementsTakeMeans) {
  for (const std::string coefficient : {"WAVE", "JUMP"}) {
    const auto a = coefficient == "WAVE" ? wave : jump;
    const Course found =
        heated(automatic, "*FILM, AMPLITUDE=WAVE, FILM AMPLITUDE=" + coefficient + "\nBLOCK, F2, 100., 24.\n");
    ASSERT_GT(found.times.size(), 10u);
    double t = 10;
    for (std::size_t i = 1; i < found.times.size(); ++i) {
      const double from = found.times[i - 1], to = found.times[i], rate = (to - from) * 24 / capacity;
      const double sent = mean([&](double x) { return 100 * a(x) * wave(x); }, from, to);
      t = (t + rate * sent) / (1 + rate * mean(a, from, to));
      EXPECT_NEAR(found.temperatures[i], t, 5e-4) << coefficient << " " << to;
    }
    for (const double kink : {0.3, 0.7})
      EXPECT_TRUE(std::any_of(found.times.begin(), found.times.end(), [&](double x) {
        return std::abs(x - kink) < 1e-9;
      })) << kink;
    EXPECT_NEAR(found.missing, 0, 1e-6 * std::abs(found.stored));
  }
}

// The same for radiation: C (T₁ − T₀)/Δ = σ (mean of ε (s − z)⁴ − mean of ε · (T₁ − z)⁴).
TEST(FilmAmplitudes, RadiationTakesMeans) {
  const Course found = heated(automatic, "*RADIATE, AMPLITUDE=WAVE, RADIATION AMPLITUDE=UP\nBLOCK, R2, 600., 0.9\n");
  ASSERT_GT(found.times.size(), 10u);
  double in = 0;
  for (std::size_t i = 1; i < found.times.size(); ++i) {
    const double from = found.times[i - 1], to = found.times[i];
    const auto sent = [&](double x) { return 0.9 * x * std::pow(600 * wave(x) - zero, 4); };
    double mean_sent = 0;  // in many pieces: the function is of the fifth degree
    for (int k = 0; k < 64; ++k)
      mean_sent += mean(sent, from + (to - from) * k / 64, from + (to - from) * (k + 1) / 64);
    const double lost = 0.9 * 0.5 * (from + to) * std::pow(found.temperatures[i] - zero, 4);
    in += (to - from) * boltzmann * (mean_sent / 64 - lost);
    EXPECT_NEAR(capacity * (found.temperatures[i] - 10), in, 1e-4 * std::abs(in) + 1e-3) << to;
  }
  EXPECT_NEAR(found.missing, 0, 1e-6 * found.stored);
}

// Steady steps have the factor at their end; in later steps the coefficient stays there, or goes on over the total
// time.
TEST(FilmAmplitudes, SteadyAndLaterSteps) {
  const std::string steady = "*STEP\n*HEAT TRANSFER, STEADY STATE\n1., 1.\n";
  Job job =
      read_deck_text(lumped_block() + steady +
                         "*FILM, FILM AMPLITUDE=WAVE\nBLOCK, F2, 100., 8.\n*FILM\nBLOCK, F1, 20., 2.\n"
                         "*END STEP\n" +
                         steady + "*FILM, FILM AMPLITUDE=END\nBLOCK, F1, 20., 2.\n*END STEP\n" + steady + "*END STEP\n",
                     "test.inp");
  std::vector<double> found;
  run_job(job, plainly(), {}, [&](std::size_t, StepResult result) { found.push_back(result.unknowns.at(0, 0)); });
  ASSERT_EQ(found.size(), 3u);
  const auto balance = [](double h1, double h2) { return (h1 * 100 + h2 * 20) / (h1 + h2); };
  EXPECT_NEAR(found[0], balance(4, 2), 1e-4);
  EXPECT_NEAR(found[1], balance(4, 1), 1e-4);  // END at the total time 2
  EXPECT_NEAR(found[2], balance(4, 1), 1e-4);
  const RanDeck ran =
      run_deck(lumped_block() + "*STEP\n" + automatic +
               "*FILM, FILM AMPLITUDE=WAVE\nBLOCK, F2, 100., 24.\n*END STEP\n"
               "*STEP\n*HEAT TRANSFER, DIRECT\n0.1, 0.5\n*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=NALL\nNT\n*END STEP\n");
  const Course second = course_of(ran.kept.responses.at(1));
  double t = second.temperatures.front();
  for (std::size_t i = 1; i < second.times.size(); ++i) {
    const double rate = 0.1 * 12 / capacity;
    t = (t + rate * 100) / (1 + rate);
    EXPECT_NEAR(second.temperatures[i], t, 2e-4) << i;
  }
}

TEST(FilmAmplitudes, RefusesByNameAndLine) {
  const auto refuse = [](const std::string& loads, std::initializer_list<std::string> pieces,
                         ErrorCode code = ErrorCode::bad_input) {
    expect_error(code, pieces, [&] { heated("*AMPLITUDE, NAME=DOWN\n0., 1., 1., -1.\n" + automatic, loads); });
  };
  refuse("*FILM, FILM AMPLITUDE=NONE\nBLOCK, F2, 100., 24.\n", {"test.inp:", "NONE"}, ErrorCode::not_found);
  refuse("*FILM, FILM TIME DELAY=1.\nBLOCK, F2, 100., 24.\n", {"test.inp:", "FILM TIME DELAY"});
  refuse("*FILM, FILM AMPLITUDE=DOWN\nBLOCK, F2, 100., 24.\n", {"test.inp:", "film coefficient negative"});
  refuse("*RADIATE, RADIATION AMPLITUDE=DOWN\nBLOCK, R2, 100., 0.5\n", {"test.inp:", "emissivity negative"});
  refuse("*RADIATE, RADIATION AMPLITUDE=WAVE\nBLOCK, R2, 100., 0.9\n", {"test.inp:", "exceed 1"});
}

class FilmJob : public testing::FolderTest {};

TEST_F(FilmJob, JobFilesHaveCoefficientAmplitudes) {
  std::ofstream(folder_ / "block.msh")
      << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"top\"\n3 2 "
         "\"block\"\n$EndPhysicalNames\n$Nodes\n8\n"
         "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n$Elements\n2\n"
         "1 3 2 1 1 5 6 7 8\n2 5 2 2 2 1 2 3 4 5 6 7 8\n$EndElements\n";
  const auto read = [&](const std::string& amplitudes) {
    std::ofstream(folder_ / "block.json")
        << R"({"mesh": "block.msh", "materials": {"m": {"conductivity": 1e7, "specific_heat": 3, "density": 4}},
 "initial_temperature": 10, "sections": [{"group": "block", "physics": "heat", "material": "m"}],
 "loads": [{"name": "air", "group": "top", "convection": {"film": 24, "sink": 100}},
           {"name": "sky", "group": "top", "radiation": {"emissivity": 0.9, "sink": 600, "stefan_boltzmann": 5.67e-8,
            "absolute_zero": -273.15}}, {"name": "source", "group": "block", "heat_source": 1}],
 "steps": [{"analysis": "transient_heat", "increment": 0.05, "period": 1, "automatic": "yes", "method": "backward-euler",
            "histories": [{"at": "nodes", "group": "block", "values": "temperature"}], )"
        << amplitudes << "}]}";
    return read_job_file(folder_ / "block.json");
  };
  const std::string waves = "[[0, 1], [0.3, 2], [0.7, 0.5]]", up = "[[0, 0], [1, 1]]";
  for (const bool radiates : {false, true}) {
    const std::string name = radiates ? "sky" : "air";
    Job job = read("\"loads\": [\"" + name + "\"], \"amplitudes\": {\"" + name + "\": " + waves +
                   "}, \"coefficient_amplitudes\": {\"" + name + "\": " + up + "}");
    KeptSteps kept;
    run_job(job, plainly(), {}, kept);
    const Course found = course_of(kept.responses.at(0));
    const Course deck =
        heated(automatic, radiates ? "*RADIATE, AMPLITUDE=WAVE, RADIATION AMPLITUDE=UP\nBLOCK, R2, 600., 0.9\n"
                                   : "*FILM, AMPLITUDE=WAVE, FILM AMPLITUDE=UP\nBLOCK, F2, 100., 24.\n");
    ASSERT_EQ(found.times.size(), deck.times.size());
    for (std::size_t i = 0; i < deck.times.size(); ++i)
      EXPECT_NEAR(found.temperatures[i], deck.temperatures[i], 1e-6 * std::abs(deck.temperatures[i]));
  }
  expect_error(ErrorCode::bad_input, {"block.json", "no coefficient"},
               [&] { read(R"("coefficient_amplitudes": {"source": [[0, 1]]})"); });
  expect_error(ErrorCode::bad_input, {"block.json", "negative"},
               [&] { read(R"("coefficient_amplitudes": {"air": [[0, 1], [1, -1]]})"); });
  expect_error(ErrorCode::bad_input, {"block.json", "no load 'rain'"},
               [&] { read(R"("coefficient_amplitudes": {"rain": [[0, 1]]})"); });
}

}  // namespace
}  // namespace voussoir
