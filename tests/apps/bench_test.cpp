// `voussoir bench` at sizes that take no time: every workload runs, checks what it times and says what it cannot do.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

using Json = nlohmann::json;

class BenchOn : public ::testing::TestWithParam<const char*> {};

TEST_P(BenchOn, EveryWorkloadChecksWhatItTimes) {
  const auto folder = fresh_folder("bench_" + std::string(GetParam()).substr(0, 5));
  const std::string file = (folder / "numbers.json").string();
  const Outcome outcome = run_program({"bench", "--backend", GetParam(), "--size", "3", "--json", file, "spmv",
                                       "matrix-free", "ebe", "modes", "cg", "integrate", "assemble", "stencils"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
  EXPECT_FALSE(contains(outcome.out, "FAILED")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "WRONG")) << outcome.out;
  const Json document = Json::parse(read_text(file));
  EXPECT_EQ(document["backend"], GetParam());
  EXPECT_GT(document["copy_bytes_per_second"].get<double>(), 0);
  std::set<std::string> workloads;
  int checked = 0;
  for (const Json& row : document["rows"]) {
    workloads.insert(row["workload"].get<std::string>());
    EXPECT_TRUE(row.contains("seconds") || row.contains("unavailable")) << row;
    EXPECT_TRUE(contains(outcome.out, row["what"].get<std::string>())) << row;
    if (row.contains("difference")) ++checked;
  }
  EXPECT_EQ(workloads.size(), 8u);
  EXPECT_GE(checked, 20);
}

INSTANTIATE_TEST_SUITE_P(Backends, BenchOn, ::testing::Values("openmp:1", "debug:2"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find(':'));
});

TEST(Bench, SchurComplementsAreCheckedWithThoseOfTheHost) {
  const auto folder = fresh_folder("bench_schur");
  const std::string file = (folder / "numbers.json").string();
  const Outcome outcome = run_program({"bench", "--backend", "debug", "--quick", "schur", "--json", file});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
  EXPECT_FALSE(contains(outcome.out, "FAILED")) << outcome.out;
  const Json document = Json::parse(read_text(file));
  int checked = 0;
  for (const Json& row : document["rows"])
    if (row.contains("difference")) {
      EXPECT_LT(row["difference"].get<double>(), 1e-11) << row;
      ++checked;
    }
  EXPECT_EQ(checked, 3);
}

TEST(Bench, SweepsAreCheckedByTheirResiduals) {
  for (const char* backend : {"openmp:2", "debug"}) {
    const std::string file = (fresh_folder("bench_sweeps") / "numbers.json").string();
    const Outcome outcome = run_program({"bench", "--backend", backend, "--quick", "sweeps", "--json", file});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
    const Json rows = Json::parse(read_text(file))["rows"];
    EXPECT_EQ(rows.size(), 11u);
    int steps = 0;
    for (const Json& row : rows) {
      EXPECT_EQ(row["workload"], "sweeps");
      EXPECT_GT(row["seconds"].get<double>(), 0) << row;
      const bool step = row["what"].get<std::string>().rfind("ADI step", 0) == 0;
      steps += step;
      EXPECT_LE(row["difference"].get<double>(), step ? 1e-10 : 1e-12) << row;
    }
    EXPECT_EQ(steps, 2);
  }
}

TEST(Bench, PaperTablesStandBesideOurs) {
  const auto folder = fresh_folder("bench_paper");
  const std::string page = (folder / "tables.md").string(), numbers = (folder / "tables.json").string();
  const Outcome outcome = run_program(
      {"bench", "--backend", "openmp:1", "--size", "6", "paper-tables", "--markdown", page, "--json", numbers});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
  const std::string text = read_text(page);
  for (const char* word : {"Table 1", "Table 2", "Tables 3 and 4", "2758.000 s", "hexahedra, 5·10⁵", "matrix-free",
                           "Table 5", "Flan_1565"})
    EXPECT_TRUE(contains(text, word)) << word;
  const Json tables = Json::parse(read_text(numbers))["tables"];
  EXPECT_EQ(tables["newmark"].size(), 5u);
  EXPECT_EQ(tables["integration"].size(), 7u);
  EXPECT_EQ(tables["cg"].size(), 12u);
  for (const Json& row : tables["cg"]) {
    EXPECT_GT(row["ours"].get<double>(), 0);
    EXPECT_GT(row["iterations"].get<int>(), 0);
  }
  EXPECT_EQ(tables["devices"].size(), 8u);  // four matrices on one device and on one core
  for (const Json& row : tables["devices"]) EXPECT_GT(row["ours"].get<double>(), 0) << row;
}

TEST(Bench, OverlapIsMeasuredForEveryStorageOnSeveralDevices) {
  const std::string file = (fresh_folder("bench_overlap") / "numbers.json").string();
  const Outcome outcome =
      run_program({"bench", "--backend", "debug", "--quick", "--size", "5", "overlap", "--json", file});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
  const Json rows = Json::parse(read_text(file))["rows"];
  EXPECT_EQ(rows.size(), 12u);  // four storages: on one device, and on two with and without overlap
  int with = 0, compared = 0;
  for (const Json& row : rows) {
    EXPECT_GT(row["seconds"].get<double>(), 0) << row;
    EXPECT_EQ(row["iterations"].get<int>(), 10) << row;
    with += contains(row["what"].get<std::string>(), ", with overlap");
    if (row["devices"].get<double>() == 1) continue;
    ++compared;
    EXPECT_LE(row["difference"].get<double>(), 1e-10) << row;
  }
  EXPECT_EQ(with, 4);
  EXPECT_EQ(compared, 8);
}

TEST(Bench, SaysThatTheCpusTableIsNotWrittenToAFile) {
  const std::string file = (fresh_folder("bench_json") / "numbers.json").string();
  const Outcome outcome = run_program({"bench", "--json", file});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.error, "name another workload, such as spmv")) << outcome.error;
}

TEST(Bench, LooksAtItsFilesBeforeItMeasures) {
  const auto folder = fresh_folder("bench_files");
  for (const char* option : {"--json", "--markdown"}) {
    const Outcome outcome = run_program({"bench", "paper-tables", option, (folder / "not/there").string()});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(contains(outcome.error, option) && contains(outcome.error, "cannot write")) << outcome.error;
  }
  const Outcome page = run_program({"bench", "spmv", "--markdown", (folder / "page.md").string()});
  EXPECT_EQ(page.code, 2);
  EXPECT_TRUE(contains(page.error, "paper-tables")) << page.error;
}

TEST(Bench, NamesItsWorkloads) {
  const Outcome outcome = run_program({"bench", "spmw"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.error, "there is no workload 'spmw'")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "spmv, matrix-free")) << outcome.error;
}

TEST(WorkOptions, AreCheckedAndRefusedWhereABackendHasOneWay) {
  const auto folder = fresh_folder("work_options");
  write_text(folder / "beam.inp", cantilever_deck(2, 1, 1));
  RunSettings here;
  here.folder = folder;
  const Outcome unknown = run_program({"run", "beam.inp", "--no-files", "--integration", "III"}, here);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.error, "auto, thread (I), block (II), blocks (IIa) or pairs")) << unknown.error;
  EXPECT_EQ(run_program({"run", "beam.inp", "--no-files", "--assembly", "nowhere"}, here).code, 2);
  for (const std::vector<std::string>& choice :
       {std::vector<std::string>{"--integration", "IIa"}, {"--integration", "pairs"}, {"--assembly", "host"}}) {
    const Outcome refused =
        run_program({"run", "beam.inp", "--no-files", "--backend", "openmp", choice[0], choice[1]}, here);
    EXPECT_EQ(refused.code, 4) << refused.error;
    EXPECT_TRUE(contains(refused.error, "--backend cuda")) << refused.error;
  }
  const Outcome any =
      run_program({"run", "beam.inp", "--no-files", "--backend", "openmp", "--any-order", "--json"}, here);
  EXPECT_EQ(any.code, 0) << any.error;
  const Json asked = Json::parse(any.out)["options"];
  EXPECT_EQ(asked["deterministic"], false);
  EXPECT_EQ(asked["integration"], "auto");
  EXPECT_EQ(asked["assembly"], "auto");
}

}  // namespace
}  // namespace voussoir::testing
