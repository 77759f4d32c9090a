// *RESTART, WRITE and READ on several processes: what one number of processes has written, another one continues.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bar_deck.hpp"
#include "on_processes.hpp"

namespace voussoir::testing {
namespace {

namespace fs = std::filesystem;

struct Continued {
  std::string name, model, first, second;
};

std::vector<Continued> continued_jobs() {
  using test::bar;
  const std::string ends =
      "*NODE PRINT, NSET=TIP, FREQUENCY=1000\nU\n*NODE PRINT, NSET=LEFT, TOTALS=YES, "
      "FREQUENCY=1000\nRF\n*EL PRINT, ELSET=LAST, FREQUENCY=1000\nS\n*END STEP\n";
  const std::string weak = "*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n*PLASTIC\n20., 0.\n40., 0.1\n60., 1.\n";
  const std::string both = "*STEP, INC=1000\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.005, 0.02\n";
  const std::string heated = "*NODE PRINT, NSET=TIP, FREQUENCY=1000\nNT, U\n*END STEP\n";
  const std::string beams =
      "*NODE PRINT, NSET=TIP, FREQUENCY=1000\nU\n*NODE PRINT, NSET=LEFT, TOTALS=YES, FREQUENCY=1000\nRF\n*END STEP\n";
  const std::string large = "*STEP, NLGEOM, INC=1000\n";
  return {
      {"a support that stays where it is", bar(4, "C3D8", test::elastic, test::held),
       "*STEP\n*STATIC\n*BOUNDARY\nTIP, 1, 1, 0.01\n" + ends,
       "*STEP\n*STATIC\n*BOUNDARY, FIXED\nTIP, 1, 1\n*CLOAD\nRIGHT, 2, 0.1\n" + ends},
      {"dynamics", bar(4, "C3D8", test::elastic, test::held),
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n*CLOAD\nRIGHT, 2, 0.1\n" + ends,
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n*CLOAD, OP=NEW\n" + ends},
      {"plastic statics, then dynamics", bar(4, "C3D8", weak, test::held),
       large + "*STATIC\n0.25, 1.\n*CLOAD\nRIGHT, 1, 0.12\n" + ends,
       large + "*DYNAMIC, DIRECT\n0.005, 0.03\n*CLOAD\nRIGHT, 2, 0.05\n" + ends},
      {"explicit dynamics", bar(4, "C3D8", test::elastic, test::held),
       "*STEP\n*DYNAMIC, EXPLICIT\n, 0.05\n*CLOAD\nRIGHT, 2, 0.1\n" + ends,
       "*STEP\n*DYNAMIC, EXPLICIT\n, 0.05\n" + ends},
      {"explicit plastic dynamics", bar(4, "C3D8", weak, test::held),
       large + "*DYNAMIC, EXPLICIT\n, 0.05\n*CLOAD\nRIGHT, 1, 0.2\n" + ends,
       large + "*DYNAMIC, EXPLICIT\n, 0.02\n*CLOAD, OP=NEW\n" + ends},
      {"beams on solids", test::mixed_bar(test::held),
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n*CLOAD\nTIP, 2, 0.1\n" + beams,
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n" + beams},
      {"equations, a rigid body and oblique supports",
       bar(4, "C3D8", test::elastic,
           "*NODE, NSET=REF\n1000, 1.1, 0.1, 0.1\n*RIGID BODY, NSET=RIGHT, REF NODE=1000\n*EQUATION\n2\n19, 3, 1., 27, "
           "3, -1.\n*TRANSFORM, NSET=LEFT, TYPE=R\n1., 1., 0., -1., 1., 0.\n*BOUNDARY\nLEFT, 1\nLEFT, 3\n1, 2\n"),
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n*CLOAD\n1000, 2, 0.1\n" + ends,
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n*CLOAD, OP=NEW\n" + ends},
      {"two materials that are warm at one end",
       test::two_materials("*ELASTIC\n1000., 0.25, 0.\n800., 0.25, 100.\n*DENSITY\n2.\n*EXPANSION\n1E-4\n",
                           test::elastic, "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n" + test::held),
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n*TEMPERATURE\nRIGHT, 90.\n" + ends,
       "*STEP, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.05\n*CLOAD\nRIGHT, 2, 0.1\n" + ends},
      {"heat and stress over time",
       bar(4, "C3D8", test::heat, "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n" + test::held),
       both + "*BOUNDARY\nLEFT, 11, 11, 120.\n*DFLUX\nFIRST, BF, 50.\n" + heated, both + heated},
  };
}

/// The last step of a run.
Json last_step_of(const fs::path& folder) {
  Json document = results_of(folder / "job.results.json");
  Json last;
  last["steps"].push_back(document["steps"].back());
  // Peaks on both sides of a plane of symmetry are equally large; numbers count the steps of one deck.
  for (const char* const name : {"peaks", "number", "total_time"}) last["steps"][0].erase(name);
  return last;
}

class Restarted : public ::testing::Test {
 protected:
  /// Runs a deck on one process without an engine (0), or on several.
  void run(int processes, const fs::path& folder, const std::string& deck) {
    write_text(folder / "job.inp", deck);
    RunSettings settings;
    settings.folder = folder;
    const Outcome outcome =
        processes == 0
            ? run_program({"run", "job.inp", "--solver", "direct", "--threads", "1", "--tolerance", "1e-13"}, settings)
            : on_processes(processes, folder, {"run", "job.inp", "--engine", "petsc:mumps", "--tolerance", "1e-13"});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_FALSE(contains(outcome.error, "no restart file")) << outcome.error;
  }
};

TEST_F(Restarted, JobsGoOnAnyNumberOfProcesses) {
  for (const Continued& job : continued_jobs()) {
    SCOPED_TRACE(job.name);
    const fs::path whole = fresh_folder("restarted_whole");
    run(0, whole, job.model + job.first + job.second);
    struct Turn {
      int first, second;
    };
    for (const Turn turn : {Turn{2, 3}, {3, 0}, {0, 2}}) {
      SCOPED_TRACE(std::to_string(turn.first) + ", then " + std::to_string(turn.second) + " processes");
      const fs::path first = fresh_folder("restarted_first"), second = fresh_folder("restarted_second");
      run(turn.first, first, job.model + "*RESTART, WRITE\n" + job.first);
      ASSERT_TRUE(fs::exists(first / "job.rout"));
      fs::copy_file(first / "job.rout", second / "job.rin");
      run(turn.second, second, "*RESTART, READ\n" + job.second);
      EXPECT_FALSE(fs::exists(second / "job_step1.vtu"));
      expect_same_steps(last_step_of(whole), last_step_of(second));
    }
  }
}

TEST_F(Restarted, WhatDiffersIsOneError) {
  const Continued job = continued_jobs().front();
  const fs::path first = fresh_folder("restarted_first"), second = fresh_folder("restarted_second");
  run(2, first, job.model + "*RESTART, WRITE\n" + job.first);
  fs::copy_file(first / "job.rout", second / "job.rin");
  write_text(second / "job.inp", "*RESTART, READ, STEP=7\n" + job.second);
  const Outcome missing = on_processes(2, second, {"run", "job.inp", "--engine", "petsc:mumps"});
  EXPECT_EQ(missing.code, 1) << missing.error;
  EXPECT_EQ(occurrences(missing.error, "no state of this step"), 1u) << missing.error;
  // Each process writes its own pieces, and none has the state of the whole model.
  write_text(second / "job.inp", "*RESTART, READ\n" + job.second);
  const Outcome pieces = on_processes(2, second, {"run", "job.inp", "--engine", "petsc:mumps", "--pieces"});
  EXPECT_EQ(pieces.code, 4) << pieces.error;
  EXPECT_EQ(occurrences(pieces.error, "without --pieces"), 1u) << pieces.error;
  write_text(second / "job.inp", "*RESTART, READ\n*STEP, NLGEOM\n*STATIC\n*END STEP\n");
  const Outcome other = on_processes(2, second, {"run", "job.inp", "--engine", "petsc:mumps"});
  EXPECT_EQ(other.code, 1) << other.error;
  EXPECT_EQ(occurrences(other.error, "this step has no NLGEOM"), 1u) << other.error;
}

}  // namespace
}  // namespace voussoir::testing
