#pragma once
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>
#include <voussoir/jobs/step_receiver.hpp>

#include "job_models.hpp"

// A small deck for steps of modes and of dynamics, and what its steps pass on.

namespace voussoir::testing {

/// A column of three C3D8, 1 × 0.8 × 3, that stands on nodes 1 to 4; node 13 is at its top. `damping` follows the
/// material, `initial` the section.
inline std::string column_deck(const std::string& damping = "", const std::string& initial = "") {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const double corner[4][2] = {{0, 0}, {1, 0}, {1, .8}, {0, .8}};
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 4; ++i)
      text << 4 * k + i + 1 << ", " << corner[i][0] << ", " << corner[i][1] << ", " << k << "\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int e = 0; e < 3; ++e) {
    text << e + 1;
    for (int j = 1; j <= 8; ++j) text << ", " << 4 * e + j;
    text << "\n";
  }
  text << "*NSET, NSET=FOOT\n1, 2, 3, 4\n*NSET, NSET=TIP\n13\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n"
       << damping << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
       << initial << "*BOUNDARY\nFOOT, 1, 3\n*AMPLITUDE, NAME=PULSE\n0., 0., 0.2, 1., 0.4, 0.\n";
  return text.str();
}

/// Keeps what steps pass on.
class KeptSteps : public StepReceiver {
 public:
  void step(std::size_t, StepResult) override {}
  void modes(std::size_t step, std::shared_ptr<const ModeSet> modes) override { found[step] = std::move(modes); }
  void state(std::size_t step, StepState state) override { states[step].push_back(std::move(state)); }
  void end(std::size_t step, StepResponse response) override { responses[step] = std::move(response); }

  std::map<std::size_t, std::shared_ptr<const ModeSet>> found;
  std::map<std::size_t, std::vector<StepState>> states;
  std::map<std::size_t, StepResponse> responses;
};

struct RanDeck {
  Job job;
  KeptSteps kept;
  JobResult result;
};

/// Runs the steps of a deck as plainly() says.
inline RanDeck run_deck(const std::string& text) {
  RanDeck ran;
  ran.job = read_deck_text(text, "test.inp");
  ran.result = run_job(ran.job, plainly(), {}, ran.kept);
  return ran;
}

}  // namespace voussoir::testing
