#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <voussoir/partition/process/process_analysis.hpp>
#include <voussoir/partition/process/processes.hpp>

#include "partition/thread_processes.hpp"

namespace voussoir {
namespace {

using testing::on_threads;

TEST(Processes, AgreeOnTheErrorOfTheLowest) {
  std::vector<std::string> texts(4);
  std::vector<int> failed(4, -1), codes(4, -1);
  on_threads(4, [&](Processes& processes) {
    const auto own = static_cast<std::size_t>(processes.own());
    try {
      agree(processes, [&] {
        if (own == 1) throw Error(ErrorCode::inverted, "turned inside out", "element 7");
        if (own == 3) throw std::bad_alloc();
      });
    } catch (const SharedError& error) {
      texts[own] = error.what();
      failed[own] = error.process();
      codes[own] = static_cast<int>(error.code());
    }
  });
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(texts[p], "element 7: process 1 of 4: turned inside out");
    EXPECT_EQ(failed[p], 1);
    EXPECT_EQ(codes[p], static_cast<int>(ErrorCode::inverted));
  }
}

TEST(Processes, ErrorsOfTheFirstKeepTheirWords) {
  std::vector<std::string> texts(3);
  on_threads(3, [&](Processes& processes) {
    try {
      agree(processes, [&] {
        if (processes.is_first()) throw Error(ErrorCode::bad_input, "no such set", "beam.inp:12");
      });
    } catch (const SharedError& error) {
      texts[static_cast<std::size_t>(processes.own())] = error.what();
    }
  });
  for (const std::string& text : texts) EXPECT_EQ(text, "beam.inp:12: no such set");
}

TEST(Processes, GoOnWhereNobodyFails) {
  std::vector<int> done(3, 0);
  on_threads(3, [&](Processes& processes) {
    agree(processes, [&] { ++done[static_cast<std::size_t>(processes.own())]; });
    EXPECT_TRUE(processes.any(processes.own() == 2));
    EXPECT_FALSE(processes.any(false));
    EXPECT_EQ(processes.maximum(-5 - processes.own()), -5);
  });
  EXPECT_EQ(done, std::vector<int>(3, 1));
}

// A node of three parts, one of two; the second part has its unknowns in another order, the third lacks one of them.
TEST(Processes, SharedNodesAreSummedByTheNamesOfUnknowns) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<NodalField> fields(3);
  fields[0] = {"force", {"ux", "uy"}, {1, 2, 10, nothing}};
  fields[1] = {"force", {"uy", "ux"}, {20, 10, nothing, 100}};
  fields[2] = {"force", {"ux"}, {100, 7}};
  on_threads(3, [&](Processes& processes) {
    const int own = processes.own();
    ProcessPart part;
    part.part = own;
    part.parts = 3;
    part.domains.resize(1);
    part.domains[0].unknown_names = {"ux", "uy"};
    part.owner = own == 2 ? std::vector<std::int32_t>{0, 2} : std::vector<std::int32_t>{0, 0};
    for (int other = 0; other < 3; ++other) {
      if (other == own) continue;
      const bool both = own != 2 && other != 2;  // node 1 of the third part is its own
      part.shared.push_back({other, both ? std::vector<std::int32_t>{0, 1} : std::vector<std::int32_t>{0}});
    }
    sum_shared_nodes(processes, part, 0, fields[static_cast<std::size_t>(own)]);
  });
  EXPECT_EQ(fields[0].values[0], 111);
  EXPECT_EQ(fields[0].values[1], 22);
  EXPECT_EQ(fields[0].values[2], 110);
  EXPECT_TRUE(std::isnan(fields[0].values[3]));
  EXPECT_EQ(fields[1].values[0], 22);
  EXPECT_EQ(fields[1].values[1], 111);
  EXPECT_TRUE(std::isnan(fields[1].values[2]));
  EXPECT_EQ(fields[1].values[3], 110);
  EXPECT_EQ(fields[2].values[0], 111);
  EXPECT_EQ(fields[2].values[1], 7);
}

}  // namespace
}  // namespace voussoir
