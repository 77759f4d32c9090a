// `voussoir solve` as a user runs it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

/// −1, 2, −1, or unsymmetric with −1.5 and −0.5.
std::string tridiagonal_file(int n, bool symmetric) {
  std::string text = symmetric ? "%%MatrixMarket matrix coordinate real symmetric\n"
                               : "%%MatrixMarket matrix coordinate real general\n";
  text += std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(symmetric ? 2 * n - 1 : 3 * n - 2) + "\n";
  for (int i = 1; i <= n; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " 2\n";
    if (i > 1) text += std::to_string(i) + " " + std::to_string(i - 1) + (symmetric ? " -1\n" : " -1.5\n");
    if (i < n && !symmetric) text += std::to_string(i) + " " + std::to_string(i + 1) + " -0.5\n";
  }
  return text;
}

TEST(Solve, SolvesAndWrites) {
  const auto folder = fresh_folder("solve");
  write_text(folder / "a.mtx", tridiagonal_file(50, true));
  write_text(folder / "u.mtx", tridiagonal_file(50, false));
  std::string b = "%%MatrixMarket matrix array real general\n50 2\n";
  for (int i = 0; i < 100; ++i) b += i == 0 || i == 99 ? "1\n" : "0\n";
  write_text(folder / "b.mtx", b);
  RunSettings settings;
  settings.folder = folder;
  const Outcome outcome = run_program({"solve", "a.mtx", "--rhs", "b.mtx", "--output", "x.mtx"}, settings);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  for (const char* word : {"50 rows", "148 entries", "symmetric", "direct", "true residual", "Wrote x.mtx"})
    EXPECT_TRUE(contains(outcome.out, word)) << word << "\n" << outcome.out;
  // The first column of the inverse is (51 − i) / 51.
  const std::string x = read_text(folder / "x.mtx");
  EXPECT_TRUE(x.starts_with("%%MatrixMarket matrix array real general\n%"));
  double first = 0;
  EXPECT_EQ(std::sscanf(x.c_str() + x.find("50 2\n") + 5, "%lf", &first), 1);
  EXPECT_NEAR(first, 50.0 / 51, 1e-12);
  EXPECT_EQ(run_program({"solve", "a.mtx", "--output", "x.mtx"}, settings).code, 5) << "files are not replaced unasked";

  for (const char* solver : {"cg+amg", "cg+jacobi", "gmres+none", "bicgstab", "direct:eigen"})
    for (const char* backend : {"openmp:2", "debug:2"}) {
      const Outcome json =
          run_program({"solve", "a.mtx", "--solver", solver, "--backend", backend, "--json"}, settings);
      ASSERT_EQ(json.code, 0) << solver << json.error;
      const auto document = nlohmann::json::parse(json.out);
      EXPECT_TRUE(document["converged"]) << solver;
      EXPECT_LT(document["error_of_ones"], 1e-5) << solver;
      EXPECT_EQ(document["rows"], 50);
    }
  const Outcome unsymmetric =
      run_program({"solve", "u.mtx", "--solver", "gmres+jacobi", "--tolerance", "1e-10"}, settings);
  EXPECT_EQ(unsymmetric.code, 0) << unsymmetric.error;
  EXPECT_TRUE(contains(unsymmetric.out, "not symmetric")) << unsymmetric.out;
  for (const char* solver : {"gmres+asm:parts=4", "gmres+ras2:parts=5", "bicgstab+msm:parts=3"}) {
    const Outcome json =
        run_program({"solve", "u.mtx", "--solver", solver, "--tolerance", "1e-11", "--json"}, settings);
    ASSERT_EQ(json.code, 0) << solver << json.error;
    EXPECT_LT(nlohmann::json::parse(json.out)["error_of_ones"], 1e-6) << solver;
  }
}

TEST(Solve, SaysWhatIsWrong) {
  const auto folder = fresh_folder("solve_bad");
  write_text(folder / "a.mtx", tridiagonal_file(5, true));
  write_text(folder / "u.mtx", tridiagonal_file(5, false));
  write_text(folder / "broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n");
  write_text(folder / "wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  write_text(folder / "short.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
  write_text(folder / "zero.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 0\n");
  RunSettings settings;
  settings.folder = folder;
  const auto fails = [&](std::vector<std::string> arguments, int code, const std::string& text) {
    arguments.insert(arguments.begin(), "solve");
    const Outcome outcome = run_program(arguments, settings);
    EXPECT_EQ(outcome.code, code) << text << outcome.error;
    EXPECT_TRUE(contains(outcome.error, text)) << text << "\n" << outcome.error;
  };
  fails({"broken.mtx"}, 1, "broken.mtx:3");
  fails({"wide.mtx"}, 1, "2 rows and 3 columns");
  fails({"a.mtx", "--rhs", "short.mtx"}, 1, "3 rows");
  fails({"none.mtx"}, 5, "none.mtx");
  fails({"u.mtx", "--solver", "cg"}, 1, "not symmetric");
  fails({"u.mtx", "--solver", "cg+asm"}, 1, "not symmetric");
  fails({"u.mtx", "--solver", "gmres+bddc"}, 1, "'bddc' is made for symmetric matrices");
  fails({"u.mtx", "--solver", "gmres+asm2:coarse=geneo"}, 1, "'asm2:coarse=geneo' is made for symmetric matrices");
  fails({"u.mtx", "--solver", "schur"}, 1, "solver 'schur");
  fails({"a.mtx", "--solver", "cg+agm"}, 2, "amg");
  fails({"a.mtx", "--solver", "cg+bddc"}, 1, "needs the elements of a model");
  const std::string help = run_program({"solve", "--help"}).out;
  EXPECT_TRUE(contains(help, "asm2") && contains(help, "direct|")) << help;
  for (const char* name : {"bddc", "schur", "feti-dp", "geneo", "|direct|"}) EXPECT_FALSE(contains(help, name)) << name;
  fails({"a.mtx", "--solver", "gmres+none", "--max-iterations", "1", "--output", "x.mtx"}, 3,
        "no solution was written");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.mtx"));
  fails({"a.mtx", "--output", "./a.mtx", "--force"}, 5, "this file is read");
  EXPECT_EQ(read_text(folder / "a.mtx"), tridiagonal_file(5, true));
  fails({"zero.mtx", "--solver", "cg"}, 3, "row 2");
  fails({"zero.mtx"}, 3, "zero.mtx");
}

TEST(Study, ExistingFilesAreFoundBeforeAnythingIsComputed) {
  const auto folder = fresh_folder("study_files");
  write_text(folder / "s.svg", "kept");
  RunSettings settings;
  settings.folder = folder;
  // The model does not even exist: the file is looked at first.
  const Outcome outcome = run_program({"study", "none.inp", "--plot", "s.svg"}, settings);
  EXPECT_EQ(outcome.code, 5);
  EXPECT_TRUE(contains(outcome.error, "s.svg")) << outcome.error;
  EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  EXPECT_EQ(read_text(folder / "s.svg"), "kept");
}

TEST(Names, OfSolversLeaveOutWhatIsRejected) {
  const auto info = nlohmann::json::parse(run_program({"info", "--json"}).out);
  const auto names = info["solvers"].get<std::vector<std::string>>();
  const auto has = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  EXPECT_FALSE(has("cg+ras"));
  EXPECT_FALSE(has("cg+ras2"));
  EXPECT_TRUE(has("gmres+ras"));
  EXPECT_TRUE(has("bicgstab+ras2"));
  EXPECT_TRUE(has("cg+asm2:coarse=geneo"));
}

}  // namespace
}  // namespace voussoir::testing
