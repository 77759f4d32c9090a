// Parts that are solved by iterations, and what methods accept of them.
#include <gtest/gtest.h>

#include <voussoir/partition/decomposition_options.hpp>
#include <voussoir/partition/decomposition_study.hpp>
#include <voussoir/partition/interface_preconditioner.hpp>
#include <voussoir/partition/part_solver.hpp>

#include "loaded_bar.hpp"
#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_close;
using testing::expect_error;
using testing::solved;

TEST(PartSolvers, ExactOnesGiveEveryMethodTheDirectAnswer) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  const StepResult direct = solved(domain, "direct");
  for (const std::string& method : testing::decomposition_methods()) {
    SCOPED_TRACE(method + ", parts by cg+amg");
    expect_close(solved(domain, method + ":parts=3,cut=rcb,solver=cg+amg").unknowns, direct.unknowns, 1e-8);
  }
  for (const char* parts : {"cg+fsai", "cg+amg:k-cycle", "direct:eigen", "direct:band"}) {
    SCOPED_TRACE(parts);
    expect_close(solved(domain, std::string("cg+bddc:parts=3,solver=") + parts).unknowns, direct.unknowns, 1e-8);
    expect_close(solved(domain, std::string("cg+asm2:parts=3,solver=") + parts).unknowns, direct.unknowns, 1e-8);
  }
  expect_close(solved(domain, "cg+asm2:parts=3,solver=gmres+block-jacobi").unknowns, direct.unknowns, 1e-8);
  expect_close(solved(domain, "feti-dp:parts=3,solver=cg+amg", "debug:2").unknowns, direct.unknowns, 1e-8);
}

TEST(PartSolvers, FindTheFreeMotionsOfFloatingParts) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  const AnalysisModel model(domain, Backend::open("openmp:2"), TransformationHandler(), PlainNumberer());
  DecompositionOptions options;
  options.parts = 4;
  options.cut = "rcb";
  const Decomposition decomposition(model, make_partition(model, options));
  const PartMatrices matrices = PartMatrices::at_rest(decomposition);
  for (int p = 0; p < 4; ++p) {
    const NeumannSolver factorised(matrices, p), iterated(matrices, p, "cg+amg");
    EXPECT_EQ(factorised.kernel().size(), p == 0 ? 0u : 6u) << "part " << p;
    ASSERT_EQ(iterated.kernel().size(), factorised.kernel().size()) << "part " << p;
    // A load that is orthogonal to the kernel: A⁺ b differs between both by a free motion only, and A A⁺ b is b.
    const auto n = static_cast<std::size_t>(matrices.neumann(p).n);
    std::vector<double> x(n), b(n), again(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i * i % 17) - 8;
    multiply(matrices.neumann(p), x, b);
    std::vector<double> solution = b;
    iterated.solve(solution);
    multiply(matrices.neumann(p), solution, again);
    double largest = 0;
    for (const double value : b) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(again[i], b[i], 1e-8 * largest) << "part " << p;
  }
}

TEST(PartSolvers, InexactOnesServeSchwarzMethodsOnly) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  const StepResult direct = solved(domain, "direct");
  for (const char* solver :
       {"cg+asm2:parts=4,solver=amg", "cg+asm:parts=4,solver=amg:k-cycle", "cg+msm2:parts=4,solver=amg",
        "cg+asm2:parts=4,solver=fsai", "gmres+ras2:parts=4,solver=amg", "cg+asm2:parts=4,solver=amg:full/steps=3"}) {
    SCOPED_TRACE(solver);
    expect_close(solved(domain, solver).unknowns, direct.unknowns, 1e-8);
  }
  for (const char* method : {"cg+bddc", "cg+nn", "schur", "feti-dp"})
    expect_error(ErrorCode::bad_input, {"part solver 'amg'", "approximately", "cg+amg"},
                 [&] { solved(domain, std::string(method) + ":parts=4,solver=amg"); });
  expect_error(ErrorCode::bad_input, {"part solver 'ras'", "not symmetric"},
               [&] { solved(domain, "cg+asm:parts=4,solver=ras"); });
  expect_error(ErrorCode::bad_input, {"part solver 'none'"}, [&] { solved(domain, "cg+asm:parts=4,solver=none"); });
  expect_error(ErrorCode::not_found, {"cg+agm", "amg"}, [&] { solved(domain, "cg+asm:parts=4,solver=cg+agm"); });
}

TEST(PartSolvers, ThatVaryAreRefusedBeforeTheFirstSolve) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  const std::string option = ":parts=4,solver=amg:k-cycle";
  for (const std::string solver : {"gmres+asm", "gmres+ras", "gmres+msm2", "bicgstab+asm2", "bicgstab+ras2"})
    expect_error(ErrorCode::bad_input,
                 {"solver '" + solver + ":solver=amg:k-cycle'", "varies from step to step", "an exact part solver"},
                 [&] { solved(domain, solver + option); });
  expect_error(ErrorCode::bad_input, {"varies from step to step"},
               [&] { solved(domain, "gmres+asm2:coarse=geneo,parts=4,solver=amg:k-cycle"); });
  expect_error(ErrorCode::bad_input, {"varies between iterations", "use cg+asm:solver=amg:k-cycle"},
               [&] { solved(domain, "cg:reductions=1+asm" + option); });
}

TEST(PartSolvers, NestedSubstructuresAreRejectedWithTheirPart) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  expect_error(ErrorCode::bad_input, {"part solver 'schur'", "part 0"},
               [&] { solved(domain, "cg+asm:parts=4,solver=schur"); });
}

TEST(PartSolvers, OfAStudyChangeTimesAndNotIterations) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  StudyOptions options;
  options.parts = {4};
  options.cuts = {"rcb"};
  options.methods = {"asm2", "msm", "schur", "nn", "bddc", "feti-dp", "geneo"};
  options.relative_tolerance = 1e-9;
  const auto direct = run_study(domain, Backend::open("openmp:2"), options);
  options.part_solver = "cg+amg";
  const auto iterated = run_study(domain, Backend::open("openmp:2"), options);
  ASSERT_EQ(direct.size(), iterated.size());
  for (std::size_t i = 0; i < direct.size(); ++i) {
    EXPECT_TRUE(iterated[i].converged) << iterated[i].method << iterated[i].failure;
    EXPECT_LE(std::abs(direct[i].iterations - iterated[i].iterations), 1) << direct[i].method;
    EXPECT_NEAR(direct[i].condition, iterated[i].condition, 0.02 * direct[i].condition) << direct[i].method;
    EXPECT_LT(iterated[i].error, 1e-7) << direct[i].method;
  }
  options.part_solver = "amg";
  for (const StudyRow& row : run_study(domain, Backend::open("openmp:2"), options)) {
    const bool schwarz = row.method == "asm2" || row.method == "msm" || row.method == "geneo";
    EXPECT_EQ(row.failure.empty(), schwarz) << row.method << ": " << row.failure;
  }
  options.part_solver = "dirct";
  expect_error(ErrorCode::not_found, {"dirct", "direct"},
               [&] { run_study(domain, Backend::open("openmp:2"), options); });
}

}  // namespace
}  // namespace voussoir
