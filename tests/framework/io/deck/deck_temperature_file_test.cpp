#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "deck_text.hpp"
#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

// *TEMPERATURE, FILE=: temperatures of a result file of CalculiX.

namespace voussoir {
namespace {

using namespace voussoir::testing;

/// Two steps, as CalculiX 2.20 writes them; the second one has two increments.
const std::string frd =
    "    1C\n    2C                             8                                     1\n"
    " -1         1 0.00000E+00 0.00000E+00 0.00000E+00\n -3\n"
    "    1PSTEP                         1           1           1          \n"
    "  100CL  101 1.000000000           8                     0    1           1\n"
    " -4  NDTEMP      1    1\n -5  T           1    1    0    0\n"
    " -1         1-9.50739E-01\n -1         2 2.00000E+01\n -3\n"
    "    1PSTEP                         2           1           2          \n"
    "  100CL  102 1.500000000           8                     0    2           1\n"
    " -4  NDTEMP      1    1\n -5  T           1    1    0    0\n -1         1 3.00000E+01\n -3\n"
    "    1PSTEP                         3           2           2          \n"
    "  100CL  103 2.000000000           8                     0    2           1\n"
    " -4  DISP        4    1\n -5  D1          1    2    1    0\n -1         1 9.00000E+01\n -3\n"
    " -4  NDTEMP      1    1\n -5  T           1    1    0    0\n"
    " -1         1 4.00000E+01\n -1         2 5.00000E+01\n -1        99 7.00000E+01\n -3\n 9999\n";

Job job_with(const std::string& card) {
  std::ofstream(scratch_folder() / "hot.frd") << frd;
  return read_deck_text(cube_model() + clamped + "*STEP\n*STATIC\n" + card + "*END STEP\n", "test.inp", {},
                        scratch_folder());
}

double temperature(const Job& job, Id node) {
  const Domain& d = *job.domains[0];
  return d.load_case(job.steps[0].load_case).temperatures()[d.node_index(node)];
}

TEST(DeckTemperatureFile, TheLastIncrementOfAStepIsRead) {
  const Job last = job_with("*TEMPERATURE, FILE=hot.frd\n");
  EXPECT_DOUBLE_EQ(temperature(last, 1), 40);
  EXPECT_DOUBLE_EQ(temperature(last, 2), 50);
  EXPECT_DOUBLE_EQ(temperature(last, 3), 0) << "nodes that the file does not have stay at the initial temperature";
  bool noted = false;
  for (const JobNote& n : last.notes) noted = noted || n.text.find("that the deck does not have") != std::string::npos;
  EXPECT_TRUE(noted) << "node 99";
  const Job first = job_with("*TEMPERATURE, FILE=hot, BSTEP=1\n3, 7.\n");
  EXPECT_DOUBLE_EQ(temperature(first, 1), -0.950739);
  EXPECT_DOUBLE_EQ(temperature(first, 2), 20);
  EXPECT_DOUBLE_EQ(temperature(first, 3), 7) << "lines may follow";
}

TEST(DeckTemperatureFile, WhatCannotBeReadIsNamed) {
  expect_error(ErrorCode::io, {"there is no file", "cold.frd"}, [&] { job_with("*TEMPERATURE, FILE=cold\n"); });
  expect_error(ErrorCode::bad_input, {"no temperatures (NT) of step 5", "hot.frd"},
               [&] { job_with("*TEMPERATURE, FILE=hot, BSTEP=5\n"); });
  expect_error(ErrorCode::bad_input, {"only result files of CalculiX (.frd) can be read"},
               [&] { job_with("*TEMPERATURE, FILE=job.odb\n"); });
  expect_error(ErrorCode::bad_input, {"BSTEP= needs FILE="}, [&] { job_with("*TEMPERATURE, BSTEP=1\n1,2.\n"); });
}

}  // namespace
}  // namespace voussoir
