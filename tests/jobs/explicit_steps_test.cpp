#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "bar_job.hpp"
#include "job_models.hpp"
#include "support/expect_error.hpp"

// Steps of explicit dynamics from decks and job files.

namespace voussoir {
namespace {

using testing::expect_error;
using testing::plainly;

/// A bar of C3D8 along x, 1 × 1 across, E = 100, ν = 0, ρ = 1: waves run at 10. FOOT are the nodes at x = 0, TIP those
/// at the end, TIP1 the first of these.
std::string explicit_bar(int cells, double length, const std::string& damping = "", const std::string& further = "") {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const double corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int k = 0; k <= cells; ++k)
    for (int i = 0; i < 4; ++i)
      text << 4 * k + i + 1 << ", " << length * k / cells << ", " << corner[i][0] << ", " << corner[i][1] << "\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int e = 0; e < cells; ++e) {
    text << e + 1;
    for (int j = 1; j <= 8; ++j) text << ", " << 4 * e + j;
    text << "\n";
  }
  text << "*NSET, NSET=FOOT\n1, 2, 3, 4\n*NSET, NSET=TIP\n"
       << 4 * cells + 1 << ", " << 4 * cells + 2 << ", " << 4 * cells + 3 << ", " << 4 * cells + 4
       << "\n*NSET, NSET=TIP1\n"
       << 4 * cells + 1 << "\n*MATERIAL, NAME=M\n*ELASTIC\n100., 0.\n*DENSITY\n1.\n*EXPANSION\n1e-3\n"
       << damping << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
       << further << "*AMPLITUDE, NAME=PULSE\n";
  char line[64];
  for (int i = 0; i <= 200; ++i) {
    std::snprintf(line, sizeof line, "%.3f, %.9f,\n", 0.01 * i, (1 - std::cos(std::acos(-1.0) * 0.01 * i)) / 2);
    text << line;
  }
  return text.str();
}
const std::string held = "*BOUNDARY\nFOOT, 1, 3\n";

/// Keeps what steps pass on.
class ExplicitStates : public StepReceiver {
 public:
  void step(std::size_t, StepResult) override {}
  void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
  void state(std::size_t step, StepState state) override { states[step].push_back(std::move(state)); }
  void end(std::size_t step, StepResponse response) override { responses[step] = std::move(response); }
  double count(std::size_t step, const std::string& name) const {
    for (const auto& [known, value] : responses.at(step).counts)
      if (known == name) return value;
    return std::nan("");
  }
  std::map<std::size_t, std::vector<StepState>> states;
  std::map<std::size_t, StepResponse> responses;
};

ExplicitStates run_text(const std::string& text) {
  Job job = read_deck_text(text, "test.inp");
  ExplicitStates kept;
  run_job(job, plainly(), {}, kept);
  return kept;
}

double tip(const ExplicitStates& kept, std::size_t step, int cells, const char* unknown = "ux") {
  return kept.states.at(step).back().result.unknowns.at(4 * cells, unknown);
}
double tip_velocity(const ExplicitStates& kept, std::size_t step, int cells) {
  return kept.states.at(step).back().velocity.at(4 * cells, "ux");
}

TEST(ExplicitSteps, AgreeWithImplicitOnes) {
  // A soft push, weight, heat and a moved foot; 40 elements over a length that the wave of the pulse fills.
  const std::string model = explicit_bar(40, 10, "*DAMPING, ALPHA=0.4\n", held);
  const std::string loads =
      "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 2.\n*DLOAD, AMPLITUDE=PULSE\nEALL, GRAV, 0.3, 0., 1., 0.\n"
      "*BOUNDARY, AMPLITUDE=PULSE\nFOOT, 1, 1, 0.5\n*TEMPERATURE, AMPLITUDE=PULSE\nNALL, 30.\n*NODE PRINT, "
      "NSET=TIP1\nU, V\n*END STEP\n";
  const ExplicitStates is = run_text(model + "*STEP\n*DYNAMIC, EXPLICIT\n, 1.5\n" + loads);
  const ExplicitStates expected = run_text(model + "*STEP\n*DYNAMIC, DIRECT, ALPHA=0\n0.01, 1.5\n" + loads);
  ASSERT_GT(std::abs(tip(expected, 0, 40)), 0.1);
  EXPECT_NEAR(tip(is, 0, 40), tip(expected, 0, 40), 2e-3);
  EXPECT_NEAR(tip(is, 0, 40, "uy"), tip(expected, 0, 40, "uy"), 5e-3 * std::abs(tip(expected, 0, 40, "uy")));
  EXPECT_NEAR(tip_velocity(is, 0, 40), tip_velocity(expected, 0, 40), 0.02);
  std::map<std::string, double> ours(is.responses.at(0).totals.begin(), is.responses.at(0).totals.end()),
      theirs(expected.responses.at(0).totals.begin(), expected.responses.at(0).totals.end());
  for (const char* energy : {"kinetic", "internal", "external", "damping"})
    EXPECT_NEAR(ours.at(energy), theirs.at(energy), 0.01 * theirs.at("external")) << energy;
  EXPECT_GT(theirs.at("damping"), 0.05 * theirs.at("external"));
  EXPECT_LT(std::abs(ours.at("numerical")), 0.01 * ours.at("external"));
}

TEST(ExplicitSteps, AWaveArrivesOnTime) {
  // A bar of length 10 that is pulled with 1 from t = 0 on: the front is at the foot at t = 1, where it doubles.
  const int cells = 100;
  const ExplicitStates kept = run_text(explicit_bar(cells, 10, "", held) +
                                       "*STEP\n*DYNAMIC, EXPLICIT\n, 1.95\n*CLOAD\nTIP, 1, 0.25\n"
                                       "*NODE PRINT, NSET=FOOT, TOTALS=ONLY\nRF\n*END STEP\n");
  double mean = 0, arrival = 0;
  int count = 0;
  for (const StepState& state : kept.states.at(0)) {
    double force = 0;
    for (int n = 0; n < 4; ++n) force += state.result.reactions.at(n, "ux");
    if (state.time < 0.95) {
      EXPECT_NEAR(force, 0, 0.05) << state.time;
    }
    if (state.time > 1.2) mean += force, ++count;
    if (arrival == 0 && force < -1) arrival = state.time;
  }
  EXPECT_GT(kept.states.at(0).size(), 150u);
  EXPECT_NEAR(arrival, 1, 0.02);
  EXPECT_NEAR(mean / count, -2, 0.02);
  // An element of 0.1 is crossed in 0.01; steps are 0.9 of a limit that is not above it.
  EXPECT_LE(kept.count(0, "largest_increment"), 0.009 * 1.001);
  EXPECT_GT(kept.count(0, "largest_increment"), 0.008);
  const StepResponse& response = kept.responses.at(0);
  EXPECT_NE(response.statement.find("explicit integration"), std::string::npos) << response.statement;
  ASSERT_EQ(response.energies.front().second.size(), response.axis.size());
  EXPECT_GT(response.axis.size(), 150u);
}

TEST(ExplicitSteps, DirectGivesIncrementsUpToTheLimit) {
  const std::string model = explicit_bar(10, 10, "", held);
  const std::string load = "*CLOAD\nTIP, 1, 0.25\n*END STEP\n";
  const ExplicitStates kept = run_text(model + "*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n0.02, 1.\n" + load);
  EXPECT_EQ(kept.count(0, "increments"), 50);
  EXPECT_EQ(kept.count(0, "largest_increment"), 0.02);
  expect_error(ErrorCode::bad_input, {"test.inp:", "0.2 is too long", "stable up to"},
               [&] { run_text(model + "*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n0.2, 1.\n" + load); });
  // The factor, and the longest increment.
  const double limit = kept.count(0, "stability_limit");
  EXPECT_NEAR(limit, 0.1, 0.005);
  const ExplicitStates half = run_text(model + "*STEP\n*DYNAMIC, EXPLICIT, SCALE FACTOR=0.5\n, 1.\n" + load);
  EXPECT_EQ(half.count(0, "increments"), std::ceil(1 / (0.5 * limit)));
  EXPECT_EQ(run_text(model + "*STEP\n*DYNAMIC, EXPLICIT\n, 1., , 0.025\n" + load).count(0, "increments"), 40);
  expect_error(ErrorCode::bad_input, {"test.inp:", "shorter than 0.5", "element"},
               [&] { run_text(model + "*STEP\n*DYNAMIC, EXPLICIT\n, 1., 0.5\n" + load); });
}

TEST(ExplicitSteps, StepsContinueEachOther) {
  const std::string model = explicit_bar(10, 10, "*DAMPING, ALPHA=0.1\n", held);
  const std::string load = "*CLOAD\nTIP, 1, 0.25\nTIP1, 2, 0.3\n*NODE PRINT, NSET=TIP1\nU\n*END STEP\n";
  const std::string half = "*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n0.02, 1.\n" + load;
  const ExplicitStates whole = run_text(model + "*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n0.02, 2.\n" + load),
                       parts = run_text(model + half + half);
  EXPECT_NEAR(parts.states.at(1).back().at, 2, 1e-12);
  for (const char* unknown : {"ux", "uy"})
    EXPECT_NEAR(tip(parts, 1, 10, unknown), tip(whole, 0, 10, unknown), 1e-3 * std::abs(tip(whole, 0, 10, unknown)));
  // From an implicit step on, and into one.
  const std::string implicit = "*STEP\n*DYNAMIC, DIRECT, ALPHA=0\n0.02, 1.\n" + load;
  for (const std::string& text : {implicit + half, half + implicit}) {
    const ExplicitStates mixed = run_text(model + text);
    EXPECT_NEAR(tip(mixed, 1, 10), tip(whole, 0, 10), 0.05 * std::abs(tip(whole, 0, 10)));
  }
}

/// Stresses of statics are in equilibrium with the loads that go on: nothing moves. Without the loads, the body springs
/// back with the energy of the statics, as in an implicit step.
TEST(ExplicitSteps, BeginWithTheEndOfStatics) {
  const std::string model = explicit_bar(10, 10, "", held);
  for (const std::string& large : {std::string(), std::string(", NLGEOM")}) {
    const auto step = [&](const std::string& procedure, const std::string& loads) {
      return "*STEP" + large + "\n" + procedure + loads + "*NODE PRINT, NSET=TIP1\nU\n*END STEP\n";
    };
    const std::string statics =
        step("*STATIC\n", "*CLOAD\nTIP, 1, 0.5\nTIP1, 2, 0.01\n*DLOAD\nEALL, GRAV, 0.01, 0., 1., 0.\n");
    const std::string none = "*CLOAD, OP=NEW\n*DLOAD, OP=NEW\n",
                      explicit_card = "*DYNAMIC, EXPLICIT, SCALE FACTOR=0.3\n, 0.7\n";
    const ExplicitStates rest = run_text(model + statics + step(explicit_card, ""));
    const double before = tip(rest, 0, 10);
    ASSERT_GT(before, 0.1);
    EXPECT_NEAR(tip(rest, 1, 10), before, 1e-8 * before) << large;
    EXPECT_NEAR(tip(rest, 1, 10, "uy"), tip(rest, 0, 10, "uy"), 1e-8 * std::abs(tip(rest, 0, 10, "uy"))) << large;
    const auto totals = [](const ExplicitStates& kept, std::size_t s) {
      const auto& list = kept.responses.at(s).totals;
      return std::map<std::string, double>(list.begin(), list.end());
    };
    EXPECT_LT(totals(rest, 1).at("kinetic"), 1e-12 * totals(rest, 1).at("internal")) << large;
    const ExplicitStates free = run_text(model + statics + step(explicit_card, none)),
                         expected = run_text(model + statics + step("*DYNAMIC, DIRECT, ALPHA=0\n0.01, 0.7\n", none));
    const double stored = totals(free, 0).at("internal");
    EXPECT_NEAR(totals(free, 1).at("kinetic") + totals(free, 1).at("internal"), stored, 5e-3 * stored) << large;
    EXPECT_GT(totals(free, 1).at("kinetic"), 0.3 * stored) << large;
    EXPECT_NEAR(tip(free, 1, 10), tip(expected, 1, 10), 0.05 * before) << large;
  }
  // What has masses in one step alone.
  run_text(model +
           "*STEP\n*STATIC\n*CLOAD\nTIP, 1, 0.5\n*END STEP\n*STEP\n*DYNAMIC, EXPLICIT\n, 0.2\n"
           "*FIXED MASS SCALING, TYPE=BELOW MIN, DT=0.091\n*END STEP\n");
}

TEST(ExplicitSteps, ABodyFliesFreely) {
  // Without supports: u = v t. With α M alone, the velocity decays like exp(−α t).
  const std::string start = "*INITIAL CONDITIONS, TYPE=VELOCITY\nNALL, 1, 2.\nNALL, 3, -0.5\n";
  const ExplicitStates free = run_text(explicit_bar(3, 3, "", start) + "*STEP\n*DYNAMIC, EXPLICIT\n, 7.\n*END STEP\n");
  EXPECT_NEAR(tip(free, 0, 3), 14, 1e-9);
  EXPECT_NEAR(tip(free, 0, 3, "uz"), -3.5, 1e-9);
  const ExplicitStates damped =
      run_text(explicit_bar(3, 3, "*DAMPING, ALPHA=0.3\n", start) + "*STEP\n*DYNAMIC, EXPLICIT\n, 7.\n*END STEP\n");
  EXPECT_NEAR(tip_velocity(damped, 0, 3), 2 * std::exp(-0.3 * 7), 1e-3);
  expect_error(ErrorCode::bad_input, {"test.inp:", "damping by the stiffness", "beta"}, [&] {
    run_text(explicit_bar(3, 3, "*DAMPING, BETA=0.01\n", start) + "*STEP\n*DYNAMIC, EXPLICIT\n, 7.\n*END STEP\n");
  });
}

TEST(ExplicitSteps, StatesAreThoseThatAreAskedFor) {
  const std::string model = explicit_bar(4, 4, "", held);
  const ExplicitStates points =
      run_text("*TIME POINTS, NAME=TP\n0.123, 0.456\n" + model +
               "*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*CLOAD\nTIP, 1, 0.25\n*NODE FILE, TIME POINTS=TP\nU\n*END STEP\n");
  ASSERT_EQ(points.states.at(0).size(), 2u);
  EXPECT_NEAR(points.states.at(0)[0].at, 0.123, 1e-12);
  EXPECT_NEAR(points.states.at(0)[1].at, 0.456, 1e-12);
  const ExplicitStates every = run_text(model +
                                        "*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n0.001, 1.\n*CLOAD\nTIP, 1, 0.25\n*NODE "
                                        "FILE, FREQUENCY=300\nU\n*END STEP\n");
  const auto& states = every.states.at(0);
  ASSERT_EQ(states.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(states[static_cast<std::size_t>(i)].at, 0.3 * (i + 1), 1e-12);
  EXPECT_EQ(states.back().at, 1);
}

TEST(ExplicitSteps, MassIsScaledOnRequest) {
  // The last of 20 elements is a twentieth as long as the others.
  std::string model = explicit_bar(20, 20, "", held);
  for (int n = 81; n <= 84; ++n) {
    const std::string old = "\n" + std::to_string(n) + ", 20, ";
    const auto at = model.find(old);
    ASSERT_NE(at, std::string::npos);
    model.replace(at, old.size(), "\n" + std::to_string(n) + ", 19.05, ");
  }
  const auto step = [&](const std::string& scaling) {
    return model + "*STEP\n*DYNAMIC, EXPLICIT\n, 3.\n" + scaling +
           "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 2.\n*NODE PRINT, NSET=TIP1\nU\n*END STEP\n";
  };
  const ExplicitStates plain = run_text(step("")),
                       scaled = run_text(step("*FIXED MASS SCALING, TYPE=BELOW MIN, DT=0.01\n"));
  EXPECT_EQ(plain.count(0, "added_mass"), 0);
  EXPECT_EQ(scaled.count(0, "scaled_elements"), 1);
  EXPECT_GT(scaled.count(0, "added_mass"), 0.001);
  EXPECT_LT(scaled.count(0, "added_mass"), 0.05);
  EXPECT_GE(scaled.count(0, "smallest_increment"), 0.0099);
  EXPECT_LT(plain.count(0, "largest_increment"), 0.007);
  EXPECT_NEAR(tip(scaled, 0, 20), tip(plain, 0, 20), 0.03 * std::abs(tip(plain, 0, 20)));
  EXPECT_NE(scaled.responses.at(0).statement.find("% of mass added to 1 element"), std::string::npos);
  expect_error(ErrorCode::bad_input, {"test.inp:", "more mass", "element 20"},
               [&] { run_text(step("*FIXED MASS SCALING, TYPE=BELOW MIN, DT=0.08\n")); });
  run_text(step("*FIXED MASS SCALING, TYPE=BELOW MIN, DT=0.08, MOST ADDED=0.9\n"));
  const std::string half = "*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n";
  expect_error(ErrorCode::bad_input, {"test.inp:", "masses would jump"}, [&] {
    run_text(model + half + "*FIXED MASS SCALING, TYPE=BELOW MIN, DT=0.01\n*END STEP\n" + half + "*END STEP\n");
  });
}

TEST(ExplicitSteps, BulkViscosityDampsTheRingingOfSuddenLoads) {
  // Elements are cubes of edge 1 with c = 10.
  const std::string model = explicit_bar(20, 20, "", held);
  const auto step = [&](const std::string& card, const std::string& load = "*CLOAD\nTIP, 1, 2.\n") {
    return "*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n" + card + load + "*NODE PRINT, NSET=TIP1\nU\n*END STEP\n";
  };
  const auto total = [](const ExplicitStates& run, std::size_t at, const std::string& name) {
    for (const auto& [key, value] : run.responses.at(at).totals)
      if (key == name) return value;
    ADD_FAILURE() << name;
    return 0.0;
  };
  const ExplicitStates plain = run_text(model + step("")), zero = run_text(model + step("*BULK VISCOSITY\n0., 0.\n")),
                       usual = run_text(model + step("*BULK VISCOSITY\n")),
                       given = run_text(model + step("*BULK VISCOSITY\n, 0.\n") + step("", ""));
  EXPECT_EQ(tip(zero, 0, 20), tip(plain, 0, 20));
  EXPECT_EQ(total(plain, 0, "viscous"), 0);
  EXPECT_GT(total(usual, 0, "viscous"), total(given, 0, "viscous"));
  EXPECT_GT(total(given, 0, "viscous"), 0);
  EXPECT_GT(total(given, 1, "viscous"), 0);  // a step has the coefficients of the one that it continues
  EXPECT_LT(given.count(0, "stability_limit"), 0.97 * plain.count(0, "stability_limit"));
  EXPECT_GT(given.count(0, "stability_limit"), 0.8 * plain.count(0, "stability_limit"));
  EXPECT_EQ(usual.responses.at(0).energies.size(), 8u);
  EXPECT_EQ(usual.responses.at(0).energies.at(5).first, "viscous");
  EXPECT_NE(usual.responses.at(0).statement.find("by bulk viscosity"), std::string::npos);
}

// A bar that is hit: what the tables have at its support is what all forces, those of viscosity included, leave there.
TEST(ExplicitSteps, ReactionsOfTablesIncludeBulkViscosity) {
  const std::string output = "*NODE PRINT, NSET=FOOT, FREQUENCY=1\nRF\n*END STEP\n";
  const ExplicitStates run =
      run_text(explicit_bar(6, 6, "", held) +
               "*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*BULK VISCOSITY\n0.5, 1.2\n*CLOAD\nTIP, 1, 2.\n" + output);
  const StepResponse& response = run.responses.at(0);
  ASSERT_EQ(response.sums.at(0).first, "reaction x");
  double largest = 0;
  std::size_t compared = 0;
  for (const StepState& state : run.states.at(0))
    for (std::size_t i = 0; i < response.axis.size(); ++i) {
      if (response.axis[i] != state.time) continue;
      double sum = 0;
      for (int n = 0; n < 4; ++n) sum += state.result.internal_forces.at(n, "ux");
      EXPECT_NEAR(sum, response.sums[0].second[i], 1e-12) << state.time;
      largest = std::max(largest, std::abs(sum));
      ++compared;
    }
  EXPECT_GT(compared, 5u);
  EXPECT_GT(largest, 1);
}

// The mass of C3D20R is lumped as that of C3D20 (Hinton, Rock and Zienkiewicz: 7/248 at each corner, 16/248 in the
// middle of each edge), as in CalculiX, whose ratio of these is 2.2855. In so short a time nothing else acts.
TEST(ExplicitSteps, ReducedElementsHaveTheLumpedMassOfWholeOnes) {
  const char* const nodes =
      "*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n9,.5,0,0\n"
      "10,1,.5,0\n11,.5,1,0\n12,0,.5,0\n13,.5,0,1\n14,1,.5,1\n15,.5,1,1\n16,0,.5,1\n17,0,0,.5\n18,1,0,.5\n"
      "19,1,1,.5\n20,0,1,.5\n";
  const double time = 1e-3;
  for (const std::string type : {"C3D20", "C3D20R"}) {
    const ExplicitStates run = run_text(
        nodes + ("*ELEMENT, TYPE=" + type) +
        ", ELSET=E\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,\n16, 17, 18, 19, 20\n*MATERIAL, NAME=M\n"
        "*ELASTIC\n1., 0.\n*DENSITY\n1.\n*SOLID SECTION, ELSET=E, MATERIAL=M\n*BOUNDARY\n7, 1, 3\n*STEP, INC=5\n"
        "*DYNAMIC, EXPLICIT, DIRECT\n1e-4, 1e-3\n*CLOAD\n1, 1, 1.\n9, 2, 1.\n*NODE PRINT, NSET=NALL, FREQUENCY=100\nU\n"
        "*END STEP\n");
    const NodalField& u = run.states.at(0).back().result.unknowns;
    EXPECT_NEAR(u.at(0, "ux"), 0.5 * time * time * 248 / 7, 1e-5 * time * time * 248 / 7) << type;
    EXPECT_NEAR(u.at(8, "uy"), 0.5 * time * time * 248 / 16, 1e-5 * time * time * 248 / 16) << type;
    // INC= is not a limit of explicit steps; a note says so.
    const auto& notes = run.responses.at(0).notes;
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.find("10 increments") != std::string::npos && note.find("INC=5") != std::string::npos;
    })) << type;
  }
}

TEST(ExplicitSteps, RefuseByNameAndLine) {
  const std::string model = explicit_bar(2, 2, "", held);
  const auto refuse = [&](const std::string& step, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read_deck_text(model + step + "*END STEP\n", "test.inp"); });
  };
  refuse("*STEP\n*DYNAMIC, EXPLICIT=2\n, 1.\n", {"test.inp:", "EXPLICIT='2'"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT, SCALE FACTOR=1.5\n, 1.\n", {"test.inp:", "SCALE FACTOR"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n", {"test.inp:", "data line"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 0.\n", {"test.inp:", "positive"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n, 1.\n", {"test.inp:", "needs an increment"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n-0.1, 1.\n", {"test.inp:", "negative"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1., 0.2, 0.1\n", {"test.inp:", "shorter than the shortest"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT, ADIABATIC\n, 1.\n", {"test.inp:", "ADIABATIC"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*BOUNDARY\n9, 1, 1, 0.1\n", {"test.inp:", "jump"});
  refuse("*STEP\n*DYNAMIC\n0.1, 1.\n*BULK VISCOSITY\n", {"test.inp:", "EXPLICIT"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*BULK VISCOSITY\n-0.1\n", {"test.inp:", "negative"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*BULK VISCOSITY\n0.1, 1., 2.\n", {"test.inp:", "quadratic"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*BULK VISCOSITY\n*BULK VISCOSITY\n", {"test.inp:", "already"});
  refuse("*STEP\n*DYNAMIC\n0.1, 1.\n*FIXED MASS SCALING, TYPE=BELOW MIN, DT=0.1\n", {"test.inp:", "EXPLICIT"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*FIXED MASS SCALING, FACTOR=10\n", {"test.inp:", "FACTOR"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*FIXED MASS SCALING, TYPE=UNIFORM, DT=0.1\n", {"test.inp:", "BELOW MIN"});
  refuse("*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*FIXED MASS SCALING, TYPE=BELOW MIN\n", {"test.inp:", "needs an increment"});
  expect_error(ErrorCode::bad_input, {"test.inp:", "multi-point"}, [&] {
    run_text(explicit_bar(2, 2, "", held + "*EQUATION\n2\n9, 1, 1., 10, 1, -1.\n") +
             "*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*END STEP\n");
  });
  std::string softening = model;
  softening.replace(softening.find("100., 0.\n"), 9, "100., 0., 0.\n400., 0., 100.\n");
  expect_error(ErrorCode::bad_input, {"test.inp:", "depend on the temperature"}, [&] {
    run_text(softening + "*STEP\n*DYNAMIC, EXPLICIT\n, 1.\n*TEMPERATURE, AMPLITUDE=PULSE\nNALL, 100.\n*END STEP\n");
  });
  const Job noted =
      read_deck_text(model + "*STEP\n*DYNAMIC, EXPLICIT, ALPHA=-0.05\n0.001, 1.\n*END STEP\n", "test.inp");
  std::string notes;
  for (const JobNote& note : noted.notes) notes += note.text + "\n";
  EXPECT_NE(notes.find("ALPHA is ignored"), std::string::npos) << notes;
  EXPECT_NE(notes.find("initial increment is ignored"), std::string::npos) << notes;
}

using ExplicitJob = BarJob;

TEST_F(ExplicitJob, JobFilesHaveMotionsLoadsAndDamping) {
  // Elements of length 1 are crossed in 0.1.
  Job job = read(R"([{"name": "blow", "analysis": "dynamic", "period": 0.1, "loads": ["pull"],
    "method": {"name": "explicit", "factor": 0.1, "mass_scaling": {"step": 0.011, "most_added": 1}},
    "damping": {"alpha": 0.5}, "longest": 0.005,
    "amplitudes": {"pull": [[0, 0], [0.05, 1]]}, "support_motions": {"wall": [[0, 0], [1, 1]]},
    "initial_velocity": [{"group": "right", "unknown": "ux", "value": 2}]},
   {"name": "more", "analysis": "dynamic", "method": {"name": "explicit", "factor": 0.1,
     "mass_scaling": {"step": 0.011, "most_added": 1}}, "increment": 0.005, "period": 0.1, "continue": "yes",
    "support_motions": {"wall": [[0, 0.1], [1, 1.1]]}}])");
  ExplicitStates kept;
  run_job(job, plainly(), {}, kept);
  EXPECT_NEAR(kept.states.at(0).back().result.unknowns.at(0, "ux"), 0.001, 1e-12);
  EXPECT_EQ(kept.count(0, "increments"), 20);
  EXPECT_EQ(kept.count(0, "scaled_elements"), 2);
  EXPECT_NEAR(kept.count(0, "added_mass"), 0.21, 1e-9);  // (0.11 / 0.1)² − 1
  EXPECT_EQ(kept.count(1, "increments"), 20);
  EXPECT_NEAR(kept.states.at(1).back().at, 0.2, 1e-12);
  EXPECT_NEAR(kept.states.at(1).back().result.unknowns.at(0, "ux"), 0.002, 1e-12);
  const auto refuse = [&](const std::string& rest, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] {
      read(R"([{"analysis": "dynamic", "period": 0.1, "support_motions": {"wall": [[0, 0], [1, 1]]}, )" + rest + "}]");
    });
  };
  refuse(R"("method": "explicit", "automatic": "yes")", {"bar.json", "automatic"});
  refuse(R"("method": "explicit", "tolerance": 1e-3)", {"bar.json", "tolerance"});
  refuse(R"("method": "explicit", "increment": 0.2)", {"bar.json", "longer than the period"});
  refuse(R"("method": "explicit", "increment": 0.01, "longest": 0.02)", {"bar.json", "longest"});
  refuse(R"("method": {"name": "explicit", "factor": 2})", {"bar.json", "factor"});
  refuse(R"("method": {"name": "explicit", "radius": 0.5})", {"bar.json", "radius"});
  refuse(R"("method": {"name": "explicit", "mass_scaling": {"most_added": 0.5}})", {"bar.json", "step"});
  refuse(R"("method": {"name": "explicit", "bulk_viscosity": {"linear": -1}})", {"bar.json", "negative"});
  refuse(R"("method": {"name": "explicit", "bulk_viscosity": {"cubic": 1}})", {"bar.json", "cubic"});
  refuse(R"("method": {"name": "explicit", "bulk_viscosity": "much"})", {"bar.json", "much"});
  Job viscous = read(R"([{"analysis": "dynamic", "period": 0.1, "support_motions": {"wall": [[0, 0], [1, 1]]},
    "method": {"name": "explicit", "bulk_viscosity": {"linear": 0.1}}}])");
  const auto& method = std::get<DynamicStep>(viscous.steps[0].modal).explicit_method;
  EXPECT_EQ(method->linear_viscosity, 0.1);
  EXPECT_EQ(method->quadratic_viscosity, 1.2);
  refuse(R"("method": "explicitly", "increment": 0.01)", {"bar.json", "explicitly"});
}

TEST_F(ExplicitJob, ProgressHasTheTimeLeftAndFilesHaveEnergies) {
  Job job =
      read_deck_text(explicit_bar(10, 10, "", held) +
                         "*STEP\n*DYNAMIC, EXPLICIT\n, 20.\n*CLOAD\nTIP, 1, 0.25\n*NODE PRINT, NSET=TIP1\nU\n*END "
                         "STEP\n",
                     "test.inp");
  job.name = "blow";
  OutputOptions options;
  options.folder = folder_ / "out";
  std::filesystem::create_directories(options.folder);
  ResultFiles files(job, options);
  int told = 0;
  const JobResult result = run_job(
      job, plainly(),
      [&](const JobProgress& progress) {
        if (progress.left >= 0) ++told;
        return true;
      },
      files);
  files.finish(result, {});
  EXPECT_GT(told, 50);
  for (const char* name :
       {"blow_energies.csv", "blow_history.csv", "blow_peaks.csv", "blow_times.pvd", "blow_time_0001.vtu"})
    EXPECT_TRUE(std::filesystem::exists(options.folder / name)) << name;
  const auto json = nlohmann::json::parse(files.json());
  EXPECT_EQ(json["steps"][0]["procedure"], "dynamics");
  EXPECT_GT(json["steps"][0]["energies"]["external"].get<double>(), 0);
  EXPECT_GT(json["steps"][0]["integration"]["increments"].get<double>(), 100);
  EXPECT_GT(json["steps"][0]["integration"]["stability_limit"].get<double>(), 0.05);
  // Stopping is possible at every report.
  Job stopped =
      read_deck_text(explicit_bar(10, 10, "", held) + "*STEP\n*DYNAMIC, EXPLICIT\n, 20.\n*END STEP\n", "t.inp");
  ExplicitStates kept;
  expect_error(ErrorCode::cancelled, {"cancelled"}, [&] {
    run_job(
        stopped, plainly(), [&](const JobProgress& progress) { return progress.left < 0; }, kept);
  });
}

}  // namespace
}  // namespace voussoir
