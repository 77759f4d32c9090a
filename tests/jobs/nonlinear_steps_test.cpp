#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include <voussoir/framework/analysis/decimal_time.hpp>
#include <voussoir/framework/io/job/job_file.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Steps with large displacements: the whole tangent of following pressures, limits of increments, strain energy, times,
// histories, and job files.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::KeptSteps;
using testing::plainly;
using testing::RanDeck;
using testing::run_deck;

RanDeck run_as(const std::string& deck, const std::string& tangent, const std::string& solver = "direct",
               const std::string& backend = "openmp:1") {
  RanDeck ran;
  ran.job = read_deck_text(deck, "test.inp");
  StaticOptions how = plainly();
  how.tangent = tangent;
  how.solver = solver;
  how.backend = backend;
  ran.result = run_job(ran.job, how, {}, ran.kept);
  return ran;
}

const std::vector<double>& curve(const RanDeck& ran, const std::string& name, std::size_t step = 0) {
  for (const auto& [of, values] : ran.kept.responses.at(step).energies)
    if (of == name) return values;
  throw std::out_of_range(name);
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

/// A unit cube of one C3D8 on rollers at x = 0, y = 0 and z = 0, with a pressure on the face x = 1.
std::string cube_under_pressure(double pressure, const std::string& statics) {
  std::ostringstream deck;
  deck.precision(17);
  deck << "*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n"
          "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n"
          "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\n"
          "1,1,3\n2,2,3\n3,3,3\n4,1,1\n4,3,3\n5,1,2\n6,2,2\n8,1,1\n*STEP, NLGEOM\n"
       << statics << "*DLOAD\nEALL, P4, " << pressure << "\n*END STEP\n";
  return deck.str();
}

/// The stretch of a bar of St Venant and Kirchhoff's material whose end face, as large as it becomes, carries a
/// tension: p = λ S / (1 − ν (λ² − 1)) with S = E (λ² − 1) / 2.
double stretch_under(double tension) {
  double low = 0.6, high = 2.0;
  for (int i = 0; i < 200; ++i) {
    const double l = 0.5 * (low + high);
    (l * 1000 * (l * l - 1) / 2 / (1 - 0.3 * (l * l - 1)) < tension ? low : high) = l;
  }
  return low;
}

TEST(NonlinearSteps, ATensionThatFollowsAFaceHasItsClosedForm) {
  for (const double tension : {-150.0, 100.0, 400.0}) {
    SCOPED_TRACE(tension);
    const RanDeck ran = run_as(cube_under_pressure(-tension, "*STATIC\n0.25, 1.\n"), "auto");
    EXPECT_NEAR(ran.kept.states.at(0).back().result.unknowns.at(6, 0), stretch_under(tension) - 1, 1e-8);
  }
}

/// A column with a pressure on its free top and a small force across.
std::string column_under(double pressure, const std::string& statics) {
  std::ostringstream deck;
  deck << column_deck() << "*STEP, NLGEOM\n"
       << statics << "*DLOAD\n3, P2, " << pressure << "\n*CLOAD\nTIP, 1, 2.\n*END STEP\n";
  return deck.str();
}

TEST(NonlinearSteps, TheWholeTangentOfPressuresConvergesQuadratically) {
  // A tension of 40 % of the modulus in two increments.
  EXPECT_LE(largest(curve(run_as(column_under(-400, "*STATIC, DIRECT\n0.5, 1.\n"), "auto"), "iterations")), 8);
  // With the symmetric part, 6 % in four increments do not converge.
  const std::string deck = column_under(-60, "*STATIC, DIRECT\n0.25, 1.\n");
  EXPECT_LE(largest(curve(run_as(deck, "auto"), "iterations")), 6);
  expect_error(ErrorCode::not_converged, {"40 iterations"}, [&] { run_as(deck, "symmetric"); });
}

TEST(NonlinearSteps, AnswersDoNotDependOnTheTangent) {
  const std::string deck = column_under(-20, "*STATIC, DIRECT\n0.25, 1.\n");
  const RanDeck symmetric = run_as(deck, "symmetric");
  const NodalField& expected = symmetric.kept.states.at(0).back().result.unknowns;
  for (const auto& [tangent, solver, backend] :
       {std::tuple("auto", "direct", "openmp"), std::tuple("full", "direct", "debug:2"),
        std::tuple("auto", "cg+block-jacobi", "openmp"), std::tuple("auto", "gmres", "debug")}) {
    SCOPED_TRACE(std::string(tangent) + " " + solver + " " + backend);
    const RanDeck ran = run_as(deck, tangent, solver, backend);
    const NodalField& found = ran.kept.states.at(0).back().result.unknowns;
    ASSERT_EQ(found.values.size(), expected.values.size());
    for (std::size_t i = 0; i < found.values.size(); ++i) EXPECT_NEAR(found.values[i], expected.values[i], 1e-7);
    EXPECT_LT(largest(curve(ran, "iterations")), largest(curve(symmetric, "iterations")));
  }
}

TEST(NonlinearSteps, AForceWithoutPressuresIsSolvedAsBefore) {
  const std::string deck = column_deck() + "*STEP, NLGEOM\n*STATIC\n0.25, 1.\n*CLOAD\nTIP, 1, 5.\n*END STEP\n";
  EXPECT_EQ(run_as(deck, "auto").kept.states.at(0).back().result.unknowns.values,
            run_as(deck, "symmetric").kept.states.at(0).back().result.unknowns.values);
}

TEST(NonlinearSteps, PressuresThatFollowInDynamics) {
  const std::string deck = column_deck() +
                           "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.02, 0.1\n*DLOAD\n3, P2, -200.\n*CLOAD\nTIP, 1, 5.\n"
                           "*END STEP\n";
  const RanDeck whole = run_as(deck, "auto"), symmetric = run_as(deck, "symmetric");
  const std::vector<double>&a = whole.kept.states.at(0).back().result.unknowns.values,
        &b = symmetric.kept.states.at(0).back().result.unknowns.values;
  const double size = std::abs(*std::max_element(b.begin(), b.end()));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6 * size);
}

// --- limits of increments ------------------------------------------------------------------------------------------

TEST(NonlinearSteps, IncrementsAreLimited) {
  const auto deck = [](const std::string& step) {
    return column_deck() + "*STEP, " + step + "\n*CLOAD\nTIP, 1, 5.\n*END STEP\n";
  };
  const std::string statics = "\n*STATIC, DIRECT\n0.01, 0.04", dynamics = "\n*DYNAMIC, DIRECT\n0.01, 0.04";
  for (const std::string& procedure : {statics, dynamics}) {
    EXPECT_EQ(run_deck(deck("NLGEOM, INC=4" + procedure)).kept.responses.at(0).axis.size(), 5u);
    expect_error(ErrorCode::not_converged, {"test.inp:", "0.03 of 0.04", "3 increments", "INC="},
                 [&] { run_deck(deck("NLGEOM, INC=3" + procedure)); });
  }
  expect_error(ErrorCode::not_converged, {"after 1 increment,"}, [&] { run_deck(deck("INC=1" + dynamics)); });
  for (const char* wrong : {"0", "-1", "2.5", "many"})
    expect_error(ErrorCode::bad_input, {"test.inp:", "INC"},
                 [&] { read_deck_text(deck(std::string("NLGEOM, INC=") + wrong + statics), "test.inp"); });
  // One solve has no increments.
  EXPECT_NO_THROW(run_deck(deck("INC=1\n*STATIC\n0.1, 1.")));
}

TEST(NonlinearSteps, NamesOfStepsAreShownWithTheirTitles) {
  const auto title = [](const std::string& step) {
    return read_deck_text(column_deck() + step + "\n*STATIC\n*CLOAD\nTIP, 1, 1.\n*END STEP\n", "test.inp")
        .steps.at(0)
        .title;
  };
  EXPECT_EQ(title("*STEP, NAME=PUSH"), "PUSH");
  EXPECT_EQ(title("*STEP, NAME=PUSH\nthe tip is pushed"), "PUSH: the tip is pushed");
  EXPECT_EQ(title("*STEP\nthe tip is pushed"), "the tip is pushed");
}

// --- energy --------------------------------------------------------------------------------------------------------

TEST(NonlinearSteps, StrainEnergyHasItsClosedForm) {
  // Of uniaxial stress: E (λ² − 1)² / 8 per undeformed volume, whatever the increments.
  for (const double tension : {-150.0, 400.0}) {
    SCOPED_TRACE(tension);
    const RanDeck ran = run_as(cube_under_pressure(-tension, "*STATIC, DIRECT\n0.5, 1.\n"), "auto");
    const double strain = std::pow(stretch_under(tension), 2) - 1, energy = 1000 * strain * strain / 8;
    EXPECT_NEAR(curve(ran, "internal").back(), energy, 1e-7 * energy);
    EXPECT_EQ(curve(ran, "internal").front(), 0);
    EXPECT_GT(std::abs(curve(ran, "external").back() - energy), 1e-3 * energy);  // the trapezoidal rule
  }
}

TEST(NonlinearSteps, StrainEnergyGoesOnFromStepToStep) {
  const std::string push = "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n*CLOAD\nTIP, 1, 5.\n*END STEP\n";
  const RanDeck ran = run_deck(column_deck() + push + "*STEP\n*STATIC\n0.5, 1.\n*CLOAD, OP=NEW\n*END STEP\n");
  const double top = curve(ran, "internal").back();
  EXPECT_GT(top, 0);
  EXPECT_NEAR(curve(ran, "internal", 1).front(), top, 1e-12 * top);
  EXPECT_NEAR(curve(ran, "internal", 1).back(), 0, 1e-9 * top);  // unloaded
}

TEST(NonlinearSteps, DynamicsBeginWithTheStrainEnergyOfStatics) {
  const RanDeck ran = run_deck(column_deck() +
                               "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n*CLOAD\nTIP, 1, 5.\n*END STEP\n"
                               "*STEP\n*DYNAMIC, DIRECT, ALPHA=0.\n0.005, 0.1\n*CLOAD, OP=NEW\n*END STEP\n");
  const auto& kinetic = curve(ran, "kinetic", 1);
  const auto& internal = curve(ran, "internal", 1);
  EXPECT_NEAR(internal.front(), curve(ran, "internal").back(), 1e-12 * internal.front());
  for (std::size_t i = 0; i < kinetic.size(); ++i)
    EXPECT_NEAR(kinetic[i] + internal[i], internal[0], 2e-3 * internal[0]) << i;
}

// --- times ---------------------------------------------------------------------------------------------------------

TEST(NonlinearSteps, TimesDoNotDrift) {
  const std::string load = "*CLOAD\nTIP, 1, 1.\n*END STEP\n";
  const RanDeck ran = run_deck(column_deck() + "*STEP, NLGEOM\n*STATIC, DIRECT\n0.02, 1.\n" + load +
                               "*STEP\n*STATIC\n0.1, 1., 1e-5, 0.1\n" + load);
  for (std::size_t step = 0; step < 2; ++step) {
    const std::vector<double>& times = ran.kept.responses.at(step).axis;
    for (const double time : times) {
      char text[40];
      std::snprintf(text, sizeof text, "%.12g", time);
      EXPECT_EQ(time, std::stod(text)) << text;
    }
    EXPECT_EQ(times.back(), step == 0 ? 1 : 2);
  }
  const std::vector<double>& times = ran.kept.responses.at(0).axis;
  ASSERT_EQ(times.size(), 51u);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i], static_cast<double>(i) / 50);
}

TEST(NonlinearSteps, DecimalTimes) {
  EXPECT_NE(0.1 + 0.2, 0.3);
  EXPECT_EQ(decimal_time(0.1 + 0.2), 0.3);
  EXPECT_EQ(decimal_time(0.9800000000000002), 0.98);
  EXPECT_EQ(decimal_time(-0.9800000000000002), -0.98);
  // What differs by more is another time.
  for (const double time : {1.0 / 3, 0.98000000001, 0.123456789012345, 1e-300, 5e-324, 0.0, 1e300}) {
    EXPECT_EQ(decimal_time(time), time);
  }
  EXPECT_TRUE(std::isnan(decimal_time(std::nan(""))));
}

// --- histories -----------------------------------------------------------------------------------------------------

TEST(NonlinearSteps, HistoriesOfStatics) {
  const RanDeck ran =
      run_deck(column_deck() +
               "*STEP, NLGEOM\n*STATIC, DIRECT\n0.25, 1.\n*CLOAD\nTIP, 1, 5.\n"
               "*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=TIP\nU1, V\n*NODE OUTPUT, NSET=FOOT, TOTALS=ONLY\nRF\n"
               "*OUTPUT, HISTORY, FREQUENCY=2\n*ELEMENT OUTPUT, ELSET=EALL\nELSE\n"
               "*NODE FILE\nU\n*END STEP\n");
  const StepResponse& response = ran.kept.responses.at(0);
  ASSERT_EQ(response.recorded.size(), 3u);
  const RecordedHistory& tip = response.recorded[0];
  EXPECT_EQ(tip.times, (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  ASSERT_EQ(tip.curves.size(), 1u);
  const auto& states = ran.kept.states.at(0);
  ASSERT_EQ(states.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(tip.curves[0].second[i + 1], states[i].result.unknowns.at(12, 0)) << i;
  const auto of_x = std::find_if(response.recorded[1].curves.begin(), response.recorded[1].curves.end(),
                                 [](const auto& curve) { return curve.first.ends_with("x"); });
  ASSERT_NE(of_x, response.recorded[1].curves.end());
  EXPECT_NEAR(of_x->second.back(), -5, 1e-7);
  const RecordedHistory& energies = response.recorded[2];
  EXPECT_EQ(energies.times, (std::vector<double>{0, 0.5, 1}));
  double sum = 0;
  for (const auto& [name, values] : energies.curves) sum += values.back();
  EXPECT_NEAR(sum, curve(ran, "internal").back(), 1e-12 * sum);
  // Statics has no velocities.
  const auto& notes = response.notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("V is printed in *DYNAMIC, *MODAL DYNAMIC and *STEADY STATE DYNAMICS steps only") !=
           std::string::npos;
  }));
}

// --- job files -----------------------------------------------------------------------------------------------------

/// The column of column_deck() as a job file.
class NonlinearJob : public testing::FolderTest {
 protected:
  Job read(const std::string& steps, const std::string& physics = "finite_solid") {
    std::ostringstream mesh;
    mesh << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n0 1 \"tip\"\n2 2 \"foot\"\n2 3 \"top\"\n"
            "3 4 \"body\"\n$EndPhysicalNames\n$Nodes\n16\n";
    const double corner[4][2] = {{0, 0}, {1, 0}, {1, .8}, {0, .8}};
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < 4; ++i)
        mesh << 4 * k + i + 1 << " " << corner[i][0] << " " << corner[i][1] << " " << k << "\n";
    mesh << "$EndNodes\n$Elements\n6\n1 5 2 4 1 1 2 3 4 5 6 7 8\n2 5 2 4 1 5 6 7 8 9 10 11 12\n"
            "3 5 2 4 1 9 10 11 12 13 14 15 16\n4 3 2 2 2 1 4 3 2\n5 3 2 3 3 13 14 15 16\n6 15 2 1 4 13\n$EndElements\n";
    std::ofstream(folder_ / "column.msh") << mesh.str();
    std::ofstream(folder_ / "column.json")
        << R"({"mesh": "column.msh", "materials": {"m": {"young": 1000, "poisson": 0.25, "density": 2}},
 "sections": [{"group": "body", "physics": ")"
        << physics << R"(", "material": "m"}],
 "supports": [{"name": "foot", "group": "foot", "ux": 0, "uy": 0, "uz": 0}],
 "loads": [{"name": "push", "group": "tip", "nodal_force": [5, 0, 0]}, {"name": "pull", "group": "top", "pressure": -30}],
 "steps": )"
        << steps << "}";
    return read_job_file(folder_ / "column.json");
  }
  KeptSteps run(const std::string& steps) {
    Job job = read(steps);
    KeptSteps kept;
    run_job(job, plainly(), {}, kept);
    return kept;
  }
};

/// Values without the NaN of places that have none.
std::vector<double> without_nan(std::vector<double> values) {
  std::replace_if(
      values.begin(), values.end(), [](double x) { return std::isnan(x); }, -1e300);
  return values;
}

void expect_same_steps(const KeptSteps& a, const KeptSteps& b) {
  ASSERT_EQ(a.states.size(), b.states.size());
  for (const auto& [step, states] : a.states) {
    const auto& others = b.states.at(step);
    ASSERT_EQ(states.size(), others.size());
    for (std::size_t i = 0; i < states.size(); ++i) {
      EXPECT_EQ(states[i].time, others[i].time);
      EXPECT_EQ(states[i].result.unknowns.values, others[i].result.unknowns.values) << step << " " << i;
      EXPECT_EQ(without_nan(states[i].result.reactions.values), without_nan(others[i].result.reactions.values))
          << step << " " << i;
      ASSERT_EQ(states[i].result.points.size(), 1u);
      EXPECT_EQ(states[i].result.points[0].values, others[i].result.points[0].values) << step << " " << i;
    }
    EXPECT_EQ(a.responses.at(step).axis, b.responses.at(step).axis);
    const auto &rows = a.responses.at(step).energies, &other_rows = b.responses.at(step).energies;
    ASSERT_EQ(rows.size(), other_rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k)
      EXPECT_EQ(without_nan(rows[k].second), without_nan(other_rows[k].second)) << rows[k].first;
  }
}

TEST_F(NonlinearJob, RunsToTheBitsOfTheEqualDeck) {
  const KeptSteps job = run(R"([
    {"name": "step 1", "analysis": "nonlinear_static", "increment": 0.25, "loads": ["push", "pull"], "states_every": 1},
    {"name": "step 2", "analysis": "nonlinear_static", "increment": 0.5, "period": 2, "automatic": "no",
     "loads": ["push"], "continue": "yes", "states_every": 1, "most_increments": 4}])");
  const std::string every = "*NODE FILE, FREQUENCY=1\nU\n*EL FILE\nS\n*END STEP\n";
  const RanDeck deck =
      run_deck(column_deck() + "*STEP, NLGEOM\n*STATIC\n0.25, 1.\n*CLOAD\nTIP, 1, 5.\n*DLOAD\n3, P2, -30.\n" + every +
               "*STEP, INC=4\n*STATIC, DIRECT\n0.5, 2.\n*DLOAD, OP=NEW\n" + every);
  EXPECT_EQ(job.states.at(1).size(), 4u);
  for (const auto& [step, states] : job.states) {
    const auto& others = deck.kept.states.at(step);
    ASSERT_EQ(states.size(), others.size());
  }
  expect_same_steps(job, deck.kept);
}

TEST_F(NonlinearJob, DynamicsRunToTheBitsOfTheEqualDeck) {
  const KeptSteps job = run(R"([{"name": "step 1", "analysis": "dynamic", "increment": 0.01, "period": 0.05,
    "method": {"name": "hht", "alpha": -0.05}, "loads": ["push"], "states_every": 1}])");
  const RanDeck deck = run_deck(column_deck() +
                                "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.01, 0.05\n*CLOAD\nTIP, 1, 5.\n"
                                "*NODE FILE, FREQUENCY=1\nU\n*EL FILE\nS\n*END STEP\n");
  expect_same_steps(job, deck.kept);
}

TEST_F(NonlinearJob, HasHistoriesAndALimitOfIncrements) {
  const KeptSteps kept = run(R"([{"name": "push", "analysis": "nonlinear_static", "increment": 0.5, "automatic": "no",
    "loads": ["push"], "histories": [{"at": "nodes", "group": "tip", "values": ["displacement"]}]}])");
  ASSERT_EQ(kept.responses.at(0).recorded.size(), 1u);
  EXPECT_EQ(kept.responses.at(0).recorded[0].times, (std::vector<double>{0, 0.5, 1}));
  const auto limited = [](const std::string& limit) {
    return R"([{"name": "push", "analysis": "nonlinear_static", "increment": 0.5, "automatic": "no", "loads": ["push"],
      "most_increments": )" +
           limit + "}]";
  };
  EXPECT_NO_THROW(run(limited("2")));
  expect_error(ErrorCode::not_converged, {"column.json", "0.5 of 1", "most_increments"}, [&] { run(limited("1")); });
  for (const char* wrong : {"0", "-3", "1.5", "\"all\""})
    expect_error(ErrorCode::bad_input, {"column.json", "most_increments"}, [&] { read(limited(wrong)); });
}

// A load that begins anew while what it was in the step before still fades out would act twice.
TEST_F(NonlinearJob, LoadsDoNotActTwice) {
  const std::string first =
      R"([{"name": "one", "analysis": "nonlinear_static", "increment": 0.5, "automatic": "no", "loads": ["push"]},
          {"name": "two", "analysis": "nonlinear_static", "increment": 0.5, "automatic": "no", "continue": "yes",
           "loads": ["push"])";
  expect_error(ErrorCode::bad_input, {"column.json", "amplitudes", "'push' still acts"},
               [&] { read(first + R"(, "amplitudes": {"push": [[0, 1], [1, 1]]}}])"); });
  const KeptSteps kept = run(first + R"(, "states_every": 1}])");
  const auto& end = kept.states.at(0).back().result.unknowns.values;
  double largest = 0;
  for (const double u : end) largest = std::max(largest, std::abs(u));
  for (const StepState& state : kept.states.at(1))
    for (std::size_t i = 0; i < end.size(); ++i)
      EXPECT_NEAR(state.result.unknowns.values[i], end[i], 1e-8 * largest) << state.time;
}

TEST_F(NonlinearJob, SupportsDoNotBeginInAStepThatContinues) {
  const auto steps = [](const std::string& analysis, const std::string& supports) {
    return R"([{"name": "one", "analysis": ")" + analysis + R"(", "increment": 0.5, "period": 1, "supports": )" +
           supports + R"(}, {"name": "two", "analysis": ")" + analysis +
           R"(", "increment": 0.5, "period": 1, "continue": "yes", "supports": ["foot"]}])";
  };
  for (const std::string analysis : {"nonlinear_static", "dynamic"}) {
    expect_error(ErrorCode::bad_input, {"column.json", "'foot'", "it would jump"},
                 [&] { read(steps(analysis, "[]")); });
    EXPECT_NO_THROW(read(steps(analysis, R"(["foot"])")));
  }
}

TEST_F(NonlinearJob, RefusesWhatHasNoLargeDisplacements) {
  expect_error(ErrorCode::bad_input, {"column.json"},
               [&] { read(R"([{"name": "push", "analysis": "nonlinear_static", "loads": ["push"]}])", "solid"); });
  expect_error(ErrorCode::bad_input, {"column.json", "large displacements"},
               [&] { read(R"([{"name": "modes", "analysis": "frequency", "modes": 2}])"); });
  expect_error(ErrorCode::bad_input, {"column.json", "increment"}, [&] {
    read(R"([{"name": "push", "analysis": "nonlinear_static", "loads": ["push"], "increment": 2}])");
  });
  expect_error(ErrorCode::bad_input, {"column.json", "velocity"}, [&] {
    read(R"([{"name": "push", "analysis": "nonlinear_static", "loads": ["push"],
      "histories": [{"at": "nodes", "group": "tip", "values": ["velocity"]}]}])");
  });
}

}  // namespace
}  // namespace voussoir
