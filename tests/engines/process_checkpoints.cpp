// mpirun -n N process_checkpoints FOLDER
//
// Runs steps over time on all processes, once without a break, and once so that the run breaks off at a state, while
// checkpoints are written every few increments, and is resumed. Everything that the steps pass on must be the same: to
// the bits in explicit dynamics and on two processes, and to rounding on more, where MUMPS adds messages in the order
// in which they arrive. Then the model is divided in another way when the run is resumed: the same to rounding.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/process_job.hpp>

#include "engines/bar_deck.hpp"
#include "engines/kept_states.hpp"

namespace {

using namespace voussoir;
using namespace voussoir::test;

/// Keeps states up to one of them, where it fails as a full disk does.
class BreakingStates : public KeptStates {
 public:
  void state(std::size_t step, StepState state) override {
    if (left-- == 0) throw Error(ErrorCode::io, "the disk is full");
    KeptStates::state(step, std::move(state));
  }
  int left = -1;  ///< states until the failure; negative: none
};

struct Case {
  std::string name, deck;
  int states;  ///< that are passed on before the run breaks off
};

std::vector<Case> cases() {
  const std::string dynamics = "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.005, 0.06\n";
  const std::string push = "*CLOAD, AMPLITUDE=PULSE\nRIGHT, 2, 1.\n*DLOAD\nEALL, GRAV, 9.81, 0., 0., -1.\n";
  const std::string warm = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n";
  const std::string heated =
      "*BOUNDARY\nLEFT, 11, 11, 120.\n*FILM, AMPLITUDE=PULSE\nLAST, F2, 300., 40.\n*DFLUX\nFIRST, BF, 50.\n";
  const std::string weak = "*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n*PLASTIC\n20., 0.\n40., 0.1\n60., 1.\n";
  const std::string pulled = "*CLOAD\nRIGHT, 1, 0.12\n*EL PRINT, ELSET=EALL\nPEEQ\n";
  return {
      {"dynamics", bar(4, "C3D8", elastic, held + dynamics + push + printed + dynamics + push + printed), 8},
      {"second step", bar(4, "C3D8", elastic, held + dynamics + push + printed + dynamics + push + printed), 19},
      {"automatic", bar(3, "C3D8", elastic, held + "*STEP, INC=10000\n*DYNAMIC\n0.004, 0.012\n" + push + printed), 20},
      {"heat, then stress",
       bar(4, "C3D8", heat,
           warm + held + "*STEP, INC=1000\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.005, 0.06\n" + heated +
               "*NODE PRINT, NSET=TIP\nNT, U\n*END STEP\n"),
       7},
      {"stress after heat",
       bar(4, "C3D8", heat,
           warm + held + "*STEP, INC=1000\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.005, 0.06\n" + heated +
               "*NODE PRINT, NSET=TIP\nNT, U\n*END STEP\n"),
       15},
      {"plastic",
       bar(4, "C3D8", weak,
           held + "*STEP, NLGEOM, INC=1000\n*STATIC\n0.1, 1.\n" + pulled + printed +
               "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.03\n*CLOAD\nRIGHT, 2, 0.05\n" + printed),
       6},
      {"explicit", bar(3, "C3D8", weak, held + "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 0.1\n" + push + printed), 5},
      {"explicit, second step",
       bar(3, "C3D8", weak,
           held + "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 0.05\n" + push + printed +
               "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 0.05\n" + push + printed),
       26},
      {"explicit, viscous",
       bar(4, "C3D8", elastic, held + "*STEP\n*DYNAMIC, EXPLICIT\n, 0.1\n*BULK VISCOSITY\n0.1, 1.5\n" + push + printed),
       5},
      {"beams on solids",
       mixed_bar(held + dynamics + "*CLOAD, AMPLITUDE=PULSE\nTIP, 2, 0.1\n" + printed + dynamics + printed), 8},
      {"second step with beams on solids",
       mixed_bar(held + dynamics + "*CLOAD, AMPLITUDE=PULSE\nTIP, 2, 0.1\n" + printed + dynamics + printed), 17},
      // Only some of the parts have temperatures: those with nodes of a set, or with a material that has a table.
      {"warm at one end",
       bar(4, "C3D8", elastic + "*EXPANSION\n1E-4\n",
           warm + held + dynamics + "*TEMPERATURE, AMPLITUDE=PULSE\nRIGHT, 90.\n" + push + printed + dynamics + push +
               printed),
       8},
      {"a table in one of two materials",
       two_materials("*ELASTIC\n1000., 0.25, 0.\n800., 0.25, 100.\n*DENSITY\n2.\n", elastic,
                     warm + held + dynamics + push + printed + dynamics + push + printed),
       8},
      {"a conductivity with a table in one of two materials",
       two_materials("*CONDUCTIVITY\n20., 0.\n40., 200.\n*SPECIFIC HEAT\n3.\n*DENSITY\n2.\n",
                     "*CONDUCTIVITY\n15.\n*SPECIFIC HEAT\n3.\n*DENSITY\n2.\n",
                     warm + "*STEP, INC=1000\n*HEAT TRANSFER, DIRECT\n0.005, 0.06\n" + heated + printed_heat),
       5},
      // On three processes and more, some have no elements.
      {"two elements", bar(1, "C3D8", elastic, held + dynamics + push + printed), 7},
  };
}

/// Runs a case; collective. Without checkpoints where the folder is empty.
void run(Engine& engine, const Case& one, const ProcessOptions& options, const std::string& folder, bool resume,
         StepReceiver& receiver, bool& resumed) {
  Processes& processes = engine.processes();
  Job job;
  std::optional<RunCheckpoints> checkpoints;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    job = read_deck_text(one.deck, "bar.inp");
    if (folder.empty()) return;
    CheckpointOptions every;
    every.every_increments = 5;
    every.resume = resume;
    checkpoints.emplace(folder, "bar", every);
    checkpoints->begin(job_fingerprint(job), {"processes", "none"});
    resumed = checkpoints->resumes();
  });
  run_process_job(engine, &job, options, {}, &receiver, checkpoints ? &*checkpoints : nullptr);
  if (checkpoints) checkpoints->finish();
}

/// The largest nodal force of a step.
double largest_force(const std::vector<StepState>& states) {
  double force = 0;
  for (const StepState& state : states)
    force = std::max({force, size_of(state.result.reactions.values), size_of(state.result.internal_forces.values)});
  return force;
}

/// States of a resumed run are the last ones of the whole run.
void expect_same_runs(const KeptStates& whole, KeptStates& resumed, double allowed) {
  tolerance = allowed;
  for (auto& [step, states] : resumed.states) {
    const std::vector<StepState>& all = whole.states.at(step);
    if (states.empty() || states.size() > all.size()) throw Error(ErrorCode::internal, "another number of states");
    const std::size_t first = all.size() - states.size();
    double motion = 0;
    for (const StepState& state : all) motion = std::max(motion, size_of(state.result.unknowns.values));
    for (std::size_t i = 0; i < states.size(); ++i)
      expect_same_state("step " + std::to_string(step + 1) + ", state " + std::to_string(first + i + 1), all[first + i],
                        states[i], motion, largest_force(all));
  }
  for (const auto& [step, response] : whole.responses) {
    const StepResponse& other = resumed.responses.at(step);
    expect_same_response(response, other, largest_force(whole.states.at(step)), true);
    if (allowed == 0 && response.statement != other.statement)
      throw Error(ErrorCode::internal, "'" + response.statement + "' and '" + other.statement + "'");
  }
}

/// Breaks a run off and resumes it with other options; collective.
void resume_case(Engine& engine, const Case& one, const KeptStates& whole, const ProcessOptions& options,
                 const ProcessOptions& later, const std::string& folder) {
  Processes& processes = engine.processes();
  BreakingStates broken, resumed;
  bool goes_on = false;
  broken.left = one.states;
  bool failed = false;
  try {
    run(engine, one, options, folder, false, broken, goes_on);
  } catch (const SharedError& error) {
    failed = error.code() == ErrorCode::io;
    if (!failed) throw;
  }
  run(engine, one, later, folder, true, resumed, goes_on);
  const bool same_parts = options.partitioner == later.partitioner;
  agree(processes, [&] {
    if (!failed) throw Error(ErrorCode::internal, "the run did not break off");
    if (!processes.is_first()) return;
    if (!goes_on) throw Error(ErrorCode::internal, "the run was not resumed");
    std::size_t again = 0, all = 0;
    for (const auto& [step, states] : resumed.states) again += states.size();
    for (const auto& [step, states] : whole.states) all += states.size();
    if (again >= all) throw Error(ErrorCode::internal, "the run started anew");
    const bool same_bits = same_parts && (processes.count() < 3 || one.name.find("explicit") == 0);
    expect_same_runs(whole, resumed, same_bits ? 0 : same_parts ? 1e-12 : 1e-9);
    std::printf("%s: resumed with the same %s, %zu of %zu states\n", one.name.c_str(),
                same_bits    ? "bits"
                : same_parts ? "answers"
                             : "answers by other parts",
                again, all);
    std::fflush(stdout);
  });
}

/// With the same parts, and from parts of one kind to those of another.
void resume_case(Engine& engine, const Case& one, ProcessOptions options, const std::string& folder) {
  KeptStates whole;
  bool goes_on = false;
  options.partitioner = "coordinate";
  run(engine, one, options, {}, false, whole, goes_on);
  resume_case(engine, one, whole, options, options, folder);
  if (engine.processes().count() == 1) return;
  ProcessOptions other = options;
  other.partitioner = "coordinate:shares=3";  // the first process has most elements
  for (int p = 1; p < engine.processes().count(); ++p) other.partitioner += "/1";
  resume_case(engine, one, whole, other, options, folder);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  ProcessOptions options;
  options.backend = "openmp:1";
  options.engine.method = "mumps";
  int failed = 0;
  try {
    const auto engine = open_engine("petsc");
    Processes& processes = engine->processes();
    const std::filesystem::path folder = words[1];
    agree(processes, [&] {
      if (!processes.is_first()) return;
      std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
    });
    const auto attempt = [&](const std::string& name, const std::function<void()>& work) {
      if (count > 2 && name != words[2]) return;
      try {
        work();
      } catch (const SharedError& error) {
        ++failed;
        if (processes.is_first()) std::printf("%s FAILED: %s\n", name.c_str(), error.what());
      } catch (const std::exception& error) {
        std::printf("%s FAILED on process %d alone: %s\n", name.c_str(), processes.own(), error.what());
        std::fflush(stdout);
        processes.abort(2);
      }
    };
    for (const Case& one : cases()) attempt(one.name, [&] { resume_case(*engine, one, options, folder.string()); });
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed > 0;
}
