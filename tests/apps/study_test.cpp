// `voussoir study` as a user runs it.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

TEST(Study, PrintsAndWritesATable) {
  const auto folder = fresh_folder("study");
  write_text(folder / "beam.inp", cantilever_deck(8, 2, 2));
  RunSettings settings;
  settings.folder = folder;
  const Outcome outcome =
      run_program({"study", "beam.inp", "--parts", "2,4", "--cut", "rcb,sfc", "--method", "schur,asm2,bddc,amg",
                   "--overlap", "1,2", "--contrast", "1,1e3", "--csv", "s.csv", "--plot", "s.svg"},
                  settings);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  for (const char* word : {"method", "condition", "bound", "undivided", "rcb", "sfc", "Wrote s.csv", "Wrote s.svg"})
    EXPECT_TRUE(contains(outcome.out, word)) << word << "\n" << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "did not converge")) << outcome.out;
  EXPECT_TRUE(contains(read_text(folder / "s.svg"), "<svg"));
  const std::string table = read_text(folder / "s.csv");
  // Two contrasts, cuts and numbers of parts: schur, asm2 with two overlaps, bddc; amg once, and by parts where
  // contrast makes a difference.
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 2 * 2 * 2 * 4 + 1 + 4);
  EXPECT_EQ(run_program({"study", "beam.inp", "--csv", "s.csv"}, settings).code, 5) << "files are not replaced unasked";

  const auto json = nlohmann::json::parse(
      run_program({"study", "beam.inp", "--parts", "2", "--method", "bddc", "--json"}, settings).out);
  ASSERT_EQ(json["rows"].size(), 1u);
  EXPECT_TRUE(json["rows"][0]["converged"]);
  EXPECT_LT(json["rows"][0]["error"], 1e-7);
  EXPECT_LT(json["rows"][0]["condition"], 10);
}

TEST(Study, ComparesTheGraphsThatMetisDivides) {
  const auto folder = fresh_folder("study_graphs");
  write_text(folder / "beam.inp", cantilever_deck(8, 2, 2));
  RunSettings settings;
  settings.folder = folder;
  const Outcome info = run_program({"study", "beam.inp", "--parts", "3", "--method", "bddc,asm2", "--json", "--cut",
                                    "metis,metis:graph=nodes:recursive"},
                                   settings);
  if (contains(info.error, "no METIS")) GTEST_SKIP() << "built without METIS";
  const auto json = nlohmann::json::parse(info.out);
  ASSERT_EQ(json["rows"].size(), 4u) << info.out;
  EXPECT_EQ(json["rows"][0]["cut"], "metis");
  // Columns stay in line whatever the names.
  const Outcome text = run_program(
      {"study", "beam.inp", "--parts", "3", "--method", "bddc,asm2", "--cut", "metis,metis:graph=nodes:recursive"},
      settings);
  std::istringstream lines(text.out.substr(text.out.find("method")));
  std::set<std::size_t> widths;
  for (std::string line; std::getline(lines, line);) widths.insert(line.size());
  EXPECT_EQ(widths.size(), 1u) << text.out;
  for (const int row : {2, 3}) {
    EXPECT_EQ(json["rows"][row]["cut"], "metis:graph=nodes:recursive");
    EXPECT_TRUE(json["rows"][row]["converged"]);
    EXPECT_LT(json["rows"][row]["error"], 1e-7);
  }
}

TEST(Study, BadInputIsAnErrorThatSaysWhat) {
  const auto folder = fresh_folder("study_bad");
  write_text(folder / "beam.inp", cantilever_deck(4, 1, 1));
  RunSettings settings;
  settings.folder = folder;
  const auto fails = [&](std::vector<std::string> arguments, const std::string& text) {
    arguments.insert(arguments.begin(), {"study", "beam.inp"});
    const Outcome outcome = run_program(arguments, settings);
    EXPECT_NE(outcome.code, 0) << text;
    EXPECT_TRUE(contains(outcome.error, text)) << text << "\n" << outcome.error;
    EXPECT_TRUE(outcome.out.empty() || contains(outcome.out, "4 elements")) << outcome.out;
  };
  fails({"--parts", "2,x"}, "'x' in '2,x'");
  fails({"--parts", "0"}, "'0'");
  fails({"--parts", ""}, "--parts");
  fails({"--parts", "5"}, "5 parts were requested");
  fails({"--method", "asn"}, "asm");
  fails({"--cut", "rbc"}, "rcb");
  fails({"--cut", "metis:graph=edges"}, "there is no graph 'edges'; there are dual (the default) and nodes");
  fails({"--contrast", "-1"}, "'-1'");
  fails({"--overlap", "1.5"}, "'1.5'");
  fails({"--tolerance", "0"}, "--tolerance");
  fails({"--csv", "beam.inp", "--force"}, "this file is read");
  EXPECT_EQ(read_text(folder / "beam.inp"), cantilever_deck(4, 1, 1));
  fails({"--csv", "s.out", "--plot", "./s.out"}, "two results");
  fails({"--method", "bddc", "--parts", "2", "--part-solver", "amg"}, "no method could be used");
  EXPECT_NE(run_program({"study", "none.inp"}, settings).code, 0);
}

}  // namespace
}  // namespace voussoir::testing
