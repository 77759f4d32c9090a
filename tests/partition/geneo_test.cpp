// The coarse space of generalised eigenproblems: eigenpairs, and robustness for channels of another material.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/decomposition_study.hpp>
#include <voussoir/partition/geneo.hpp>

#include "loaded_bar.hpp"
#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_close;
using testing::expect_error;
using testing::solved;

/// A square of 4 × 4 parts of 6 × 6 elements; two rows of elements in each row of parts are channels, `contrast` times
/// as stiff as the rest, which cross the parts and most of their interfaces.
void add_channels(Domain& domain, double contrast, const std::string& type) {
  const int n = 24;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) domain.add_node(1 + i + (n + 1) * j, i, j);
  const bool heat = type.starts_with("plane_heat");
  ElementBlock* blocks[2];
  for (int k = 0; k < 2; ++k) {
    blocks[k] = &domain.add_block(k == 0 ? "soft" : "stiff", type);
    auto material = std::make_shared<IsotropicMaterial>(k == 0 ? "soft" : "stiff", k == 0 ? 1.0 : contrast, 0.3);
    material->set("conductivity", k == 0 ? 1.0 : contrast);
    blocks[k]->set_material(material);
    blocks[k]->set_section("thickness", 1.0);
  }
  Id id = 1;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const Id a = 1 + i + (n + 1) * j;
      const bool channel = (j % 6 == 1 || j % 6 == 4) && i > 0;
      blocks[channel]->add(id++, {a, a + 1, a + n + 2, a + n + 1});
    }
  domain.add_node_set_where("left", [](double x, double, double) { return x == 0; });
  domain.add_node_set_where("right", [](double x, double, double) { return x == 24; });
  domain.prescribe("left", heat ? "T" : "all");
  domain.add_load_case("pull").nodal("right", heat ? "T" : "ux", 1.0);
}

StudyRow row_of(const std::string& method, double contrast, const std::string& type, int overlap = 1,
                double threshold = 0.1) {
  Domain domain;
  add_channels(domain, contrast, type);
  StudyOptions options;
  options.parts = {16};
  options.cuts = {"rcb"};
  options.methods = {method};
  options.overlaps = {overlap};
  options.geneo_threshold = threshold;
  options.relative_tolerance = 1e-10;
  const auto rows = run_study(domain, Backend::open("openmp:2"), options);
  EXPECT_TRUE(rows.at(0).converged) << method << ": " << rows[0].failure;
  EXPECT_LT(rows[0].error, 1e-5) << method << " with a matrix of condition 1e9 and more";
  return rows[0];
}

TEST(Geneo, StaysBoundedWherePlainCoarseSpacesDegrade) {
  for (const char* type : {"plane_stress.quad4", "plane_heat.quad4"}) {
    SCOPED_TRACE(type);
    const StudyRow even = row_of("geneo", 1, type), jump = row_of("geneo", 1e6, type);
    const StudyRow plain_even = row_of("asm2", 1, type), plain = row_of("asm2", 1e6, type);
    EXPECT_GT(plain.condition, 1e3 * plain_even.condition);
    EXPECT_GT(plain.iterations, 2 * plain_even.iterations);
    EXPECT_LT(jump.condition, 3 * even.condition + 10);
    EXPECT_LT(jump.iterations, 1.5 * even.iterations + 10);
    EXPECT_LT(10 * jump.condition, plain.condition);
    for (const StudyRow& row : {even, jump}) {
      EXPECT_GT(row.coarse_unknowns, 0);
      EXPECT_LT(row.condition, row.bound) << "the theorem";
    }
  }
}

TEST(Geneo, ConditionOverContrastAsDrawnInTheDocs) {
  LinePlot plot("16 parts with channels of another material", "log10 of the contrast");
  auto& panel = plot.panel("log10 of the condition number");
  for (const char* method : {"asm2", "geneo"}) {
    LinePlot::Points points;
    double least = 1e300, most = 0;
    for (int power = 0; power <= 6; power += std::getenv("VOUSSOIR_DRAW") ? 1 : 3) {
      const StudyRow row = row_of(method, std::pow(10.0, power), "plane_stress.quad4");
      points.emplace_back(power, std::log10(row.condition));
      least = std::min(least, row.condition);
      most = std::max(most, row.condition);
      if (std::getenv("VOUSSOIR_DRAW"))
        std::printf("| 1e%d | %s | %lld | %d | %.3g | %.3g |\n", power, method,
                    static_cast<long long>(row.coarse_unknowns), row.iterations, row.condition, row.bound);
    }
    if (std::string(method) == "geneo")
      EXPECT_LT(most, 3 * least + 10);
    else
      EXPECT_GT(most, 1e3 * least);
    panel.curve(method, points);
  }
  if (const char* folder = std::getenv("VOUSSOIR_DRAW"))
    std::ofstream(std::string(folder) + "/geneo.svg") << plot.svg();
}

TEST(Geneo, TakesMoreVectorsForAHigherThreshold) {
  const StudyRow few = row_of("geneo", 1e6, "plane_stress.quad4", 1, 0.02),
                 many = row_of("geneo", 1e6, "plane_stress.quad4", 1, 0.5);
  EXPECT_LT(few.coarse_unknowns, many.coarse_unknowns);
  EXPECT_GT(few.condition, many.condition);
  EXPECT_LT(many.condition, many.bound);
  const StudyRow touching = row_of("geneo", 1e6, "plane_stress.quad4", 0);
  EXPECT_LT(touching.condition, touching.bound) << "without overlap the parts share interface nodes";
}

TEST(Geneo, GivesTheDirectAnswerByEveryTwoLevelMethod) {
  Domain domain;
  testing::add_loaded_bar(domain, 3);
  const StepResult direct = solved(domain, "direct");
  for (const char* method : {"cg+asm2", "gmres+ras2", "cg+msm2"}) {
    SCOPED_TRACE(method);
    for (const char* more : {"", ",overlap=0", ",overlap=2,threshold=0.5", ",cut=sfc,solver=cg+amg"})
      expect_close(solved(domain, std::string(method) + ":parts=4,coarse=geneo" + more).unknowns, direct.unknowns,
                   1e-8);
  }
  expect_close(solved(domain, "cg+asm2:parts=4,coarse=geneo", "debug:2").unknowns, direct.unknowns, 1e-8);
  expect_error(ErrorCode::bad_input, {"coarse=genoe", "rigid, geneo"}, [&] { solved(domain, "cg+asm2:coarse=genoe"); });
  expect_error(ErrorCode::bad_input, {"threshold=0"}, [&] { solved(domain, "cg+asm2:coarse=geneo,threshold=0"); });
  expect_error(ErrorCode::bad_input, {"threshold=nan"}, [&] { solved(domain, "cg+asm2:coarse=geneo,threshold=nan"); });
  expect_error(ErrorCode::bad_input, {"coarse=geneo"}, [&] { solved(domain, "cg+asm:coarse=geneo"); });
}

SymmetricCsr tridiagonal(std::int64_t n, double diagonal, double beside, bool free_ends) {
  SymmetricCsr matrix;
  matrix.n = n;
  matrix.row_start.push_back(0);
  for (std::int64_t i = 0; i < n; ++i) {
    matrix.column.push_back(static_cast<std::int32_t>(i));
    matrix.value.push_back(free_ends && (i == 0 || i == n - 1) ? diagonal + beside : diagonal);
    if (i + 1 < n) {
      matrix.column.push_back(static_cast<std::int32_t>(i + 1));
      matrix.value.push_back(beside);
    }
    matrix.row_start.push_back(static_cast<std::int64_t>(matrix.column.size()));
  }
  return matrix;
}

TEST(LowEigenpairs, AreThoseOfAFreeChain) {
  // A chain of n equal springs and masses with free ends: λ_k = 4 sin²(π k / 2n) / m, k = 0, 1, …
  for (const std::int64_t n : {1, 2, 7, 299, 300, 301, 900}) {
    SCOPED_TRACE(n);
    SymmetricCsr stiffness = tridiagonal(n, n == 1 ? 0 : 2, n == 1 ? 0 : -1, n > 1);
    const SymmetricCsr mass = tridiagonal(n, 2.0, 0.0, false);
    const double threshold = 0.003;
    const LowEigenpairs pairs = low_eigenpairs(stiffness, mass, threshold);
    std::size_t expected = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const double exact = 2 * std::pow(std::sin(M_PI * static_cast<double>(k) / (2.0 * static_cast<double>(n))), 2);
      if (exact >= threshold) break;
      ASSERT_LT(expected, pairs.values.size());
      EXPECT_NEAR(pairs.values[expected++], exact, 1e-8 * threshold);
    }
    EXPECT_EQ(pairs.values.size(), expected);
    for (std::size_t k = 0; k < pairs.values.size(); ++k) {
      std::vector<double> force(static_cast<std::size_t>(n));
      multiply(stiffness, pairs.vectors[k], force);
      for (std::size_t i = 0; i < force.size(); ++i)
        EXPECT_NEAR(force[i], pairs.values[k] * 2 * pairs.vectors[k][i], 1e-7);
    }
  }
}

TEST(LowEigenpairs, FindEqualEigenvaluesAndRejectWhatIsNotOne) {
  // Forty separate chains: every eigenvalue forty times, more often than a block of the iteration is wide.
  const std::int64_t chains = 40, length = 12, n = chains * length;
  SymmetricCsr stiffness = tridiagonal(n, 2, -1, false);
  for (std::int64_t c = 0; c < chains; ++c)
    for (const std::int64_t end : {c * length, (c + 1) * length - 1}) {
      const auto row = static_cast<std::size_t>(stiffness.row_start[static_cast<std::size_t>(end)]);
      stiffness.value[row] = 1;
      if (end == (c + 1) * length - 1 && end + 1 < n) stiffness.value[row + 1] = 0;
    }
  const SymmetricCsr mass = tridiagonal(n, 1.0, 0.0, false);
  const LowEigenpairs pairs = low_eigenpairs(stiffness, mass, 0.2);
  ASSERT_EQ(pairs.values.size(), 80u) << "0 and 4 sin²(π/24) = 0.068; 4 sin²(π/12) = 0.268 is above";
  for (std::size_t k = 0; k < 80; ++k)
    EXPECT_NEAR(pairs.values[k], k < 40 ? 0.0 : 4 * std::pow(std::sin(M_PI / 24), 2), 1e-9);
  expect_error(ErrorCode::misuse, {}, [&] { low_eigenpairs(stiffness, tridiagonal(3, 1, 0, false), 0.1); });
  expect_error(ErrorCode::bad_input, {"threshold"}, [&] { low_eigenpairs(stiffness, mass, -1); });
  expect_error(ErrorCode::singular, {"positive definite"},
               [&] { low_eigenpairs(tridiagonal(5, 2, -1, true), tridiagonal(5, -1, 0, false), 0.1); });
}

}  // namespace
}  // namespace voussoir
