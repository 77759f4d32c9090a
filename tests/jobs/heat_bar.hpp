#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>

#include "job_models.hpp"

// A bar that is heated, as a deck, and what its steps find.

namespace voussoir::testing {

/// The cards of its material.
struct BarMaterial {
  std::string conductivity = "2.", specific_heat = "3.", density = "4.", more;
};

/// Four C3D8 in a row, 1 × 0.25 × 0.25, with nodes 1 to 4 at x = 0 and 17 to 20 at x = 1; 10 degrees.
inline std::string heat_bar(const BarMaterial& material = {}) {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const double corner[4][2] = {{0, 0}, {.25, 0}, {.25, .25}, {0, .25}};
  for (int i = 0; i <= 4; ++i)
    for (int k = 0; k < 4; ++k)
      text << 4 * i + k + 1 << ", " << 0.25 * i << ", " << corner[k][0] << ", " << corner[k][1] << "\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int e = 0; e < 4; ++e) {
    text << e + 1;
    for (int j = 1; j <= 8; ++j) text << ", " << 4 * e + j;
    text << "\n";
  }
  text << "*NSET, NSET=LEFT\n1, 2, 3, 4\n*NSET, NSET=RIGHT\n17, 18, 19, 20\n*MATERIAL, NAME=M\n*CONDUCTIVITY\n"
       << material.conductivity << "\n*SPECIFIC HEAT\n"
       << material.specific_heat << "\n*DENSITY\n"
       << material.density << "\n"
       << material.more << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
       << "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=-273.15, STEFAN BOLTZMANN=5.67E-8\n"
       << "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 10.\n"
       << "*AMPLITUDE, NAME=A\n0., 1., 0.25, 2., 0.3, 0.5\n*AMPLITUDE, NAME=B\n0., 1., 0.5, 2.\n"
       << "*AMPLITUDE, NAME=T, TIME=TOTAL TIME\n0., 1., 0.5, 2.\n";
  return text.str();
}

inline const std::string heat_step = "*STEP\n*HEAT TRANSFER, DIRECT\n";
inline const std::string end_step = "*NODE PRINT, NSET=NALL\nNT\n*END STEP\n";

/// Cards for thermal stress.
inline const std::string elastic = "*ELASTIC\n1000., 0.3\n*EXPANSION, ZERO=10.\n1.E-4\n";
inline const std::string stress_supports = "*BOUNDARY\nLEFT, 1, 1\n1, 2, 3\n2, 3, 3\n";

/// Keeps everything that the steps find.
class KeptHeat : public StepReceiver {
 public:
  void step(std::size_t step, StepResult result) override { results[step] = std::move(result); }
  void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
  void state(std::size_t step, StepState state) override { states[step].push_back(std::move(state)); }
  void end(std::size_t step, StepResponse response) override { responses[step] = std::move(response); }
  /// The temperature or another unknown of a node at the end of a step.
  double at_end(std::size_t step, int node, const char* unknown = "T") const {
    const StepResult& last = results.contains(step) ? results.at(step) : states.at(step).back().result;
    return last.unknowns.at(node - 1, unknown);
  }
  std::map<std::size_t, StepResult> results;
  std::map<std::size_t, std::vector<StepState>> states;
  std::map<std::size_t, StepResponse> responses;
};

/// Solves a deck.
inline KeptHeat heated(const std::string& deck) {
  Job job = read_deck_text(deck, "test.inp");
  KeptHeat kept;
  run_job(job, plainly(), {}, kept);
  return kept;
}

/// Temperatures of nodes 1, 9 and 17 (or `nodes`) of each state of a step.
inline void expect_temperatures(const KeptHeat& kept, std::size_t step,
                                const std::vector<std::array<double, 3>>& wanted,
                                const std::array<int, 3>& nodes = {1, 9, 17}, double tolerance = 1e-5) {
  const auto& states = kept.states.at(step);
  ASSERT_EQ(states.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(states[i].result.unknowns.at(nodes[k] - 1, 0), wanted[i][k], tolerance * std::abs(wanted[i][k]))
          << "step " << step + 1 << ", state " << i + 1 << ", node " << nodes[k];
}

}  // namespace voussoir::testing
