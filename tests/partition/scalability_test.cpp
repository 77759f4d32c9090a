// Condition numbers and iterations as the textbooks predict them (Toselli and Widlund, Domain Decomposition Methods).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/decomposition_study.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// A square, clamped at one side and loaded at the other: `across` × `across` parts of `refinement` × `refinement`
/// elements if it is bisected along coordinates.
void add_square(Domain& domain, int across, int refinement, const char* type = "plane_stress.quad4") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {across * refinement, across * refinement, 1};
  ElementBlock& block = add_box_mesh(domain, mesh);
  auto material = std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3);
  material->set("conductivity", 3.0);
  block.set_material(material);
  const bool heat = std::string(type).starts_with("plane_heat");
  block.set_section("thickness", 1.0);
  domain.prescribe("xmin", heat ? "T" : "all");
  if (heat)
    domain.add_load_case("load").heat_flux("xmax", 2.0);
  else
    domain.add_load_case("load").traction("xmax", {1, 0.5, 0});
}

StudyRow row_of(const std::string& method, int across, int refinement, double contrast = 1, int overlap = 1,
                const char* type = "plane_stress.quad4") {
  Domain domain;
  add_square(domain, across, refinement, type);
  StudyOptions options;
  options.parts = {across * across};
  options.cuts = {"rcb"};
  options.methods = {method};
  options.contrasts = {contrast};
  options.overlaps = {overlap};
  options.relative_tolerance = 1e-10;
  const auto rows = run_study(domain, Backend::open("openmp:2"), options);
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].converged) << method << ": " << rows[0].failure;
  EXPECT_LT(rows[0].error, 1e-7) << method;
  return rows[0];
}

/// The folder for the pictures of docs/decomposition.md; null if they are not to be drawn.
const char* drawing_folder() { return std::getenv("VOUSSOIR_DRAW"); }

TEST(Scalability, IterationsOfTwoLevelsAreBoundedWhileThoseOfOneLevelGrow) {
  LinePlot plot("Parts of 6 × 6 elements", "parts along each side of the square");
  // More parts for the picture than the test needs.
  const auto rows_of = [](LinePlot::Panel& panel, const std::string& method) {
    std::vector<StudyRow> rows;
    LinePlot::Points points;
    for (const int across : drawing_folder() ? std::vector{2, 4, 8, 16} : std::vector{2, 8}) {
      const StudyRow row = row_of(method, across, 6);
      points.emplace_back(across, row.iterations);
      if (across == 2 || across == 8) rows.push_back(row);
      if (drawing_folder())
        std::printf("%s, %d parts: %d iterations, condition %.3g\n", method.c_str(), row.parts, row.iterations,
                    row.condition);
    }
    panel.curve(method, points).dots(method, points);
    return rows;
  };
  auto& one_level = plot.panel("iterations, one level");
  for (const char* one : {"asm", "msm", "schur"}) {
    const auto rows = rows_of(one_level, one);
    EXPECT_GT(rows[1].iterations, 1.9 * rows[0].iterations) << one;
    EXPECT_GT(rows[1].condition, 4 * rows[0].condition) << one << ": 1/H² or 1/H";
  }
  auto& two_levels = plot.panel("iterations, two levels");
  for (const char* two : {"asm2", "msm2", "bddc", "nn", "feti-dp"}) {
    const auto rows = rows_of(two_levels, two);
    EXPECT_EQ(rows[1].parts, 64);
    EXPECT_LT(rows[1].iterations, 1.9 * rows[0].iterations + 4) << two;
    EXPECT_LT(rows[1].condition, 3 * rows[0].condition + 4) << two;
  }
  if (const char* folder = drawing_folder()) std::ofstream(std::string(folder) + "/scalability.svg") << plot.svg();
}

TEST(Scalability, ConditionOfBddcGrowsLikeTheSquareOfALogarithm) {
  LinePlot plot("BDDC on 4 × 4 parts, H/h = 4, 8, 16, 32", "(1 + log H/h)²");
  auto& panel = plot.panel("condition number");
  panel.curve("0.4 (1 + log H/h)²", {{0, 0}, {20, 8}});
  for (const char* type : {"plane_stress.quad4", "plane_heat.quad4"}) {
    double least = 1e300, most = 0;
    LinePlot::Points points;
    for (const int refinement : {4, 8, 16, 32}) {
      const StudyRow row = row_of("bddc", 4, refinement, 1, 1, type);
      const double logarithm = 1 + std::log(refinement);
      EXPECT_DOUBLE_EQ(row.bound, logarithm * logarithm);
      EXPECT_LT(row.condition, 0.4 * row.bound) << type << ", H/h " << refinement;
      least = std::min(least, row.condition / row.bound);
      most = std::max(most, row.condition / row.bound);
      points.emplace_back(row.bound, row.condition);
    }
    EXPECT_LT(most, 2.5 * least) << type << ": neither faster nor slower than the bound";
    const std::string name = std::string(type).starts_with("plane_heat") ? "heat conduction" : "elasticity";
    panel.curve(name, points).dots(name, points);
  }
  if (const char* folder = drawing_folder()) std::ofstream(std::string(folder) + "/bddc_condition.svg") << plot.svg();
}

TEST(Scalability, ConditionOfBddcAndBalancingIgnoresContrastBetweenParts) {
  for (const char* method : {"bddc", "nn", "feti-dp"}) {
    const double even = row_of(method, 4, 6).condition;
    for (const double contrast : {1e-6, 1e3, 1e6})
      EXPECT_LT(row_of(method, 4, 6, contrast).condition, 2.5 * even + 2) << method << ", contrast " << contrast;
  }
}

// J. Li, O. Widlund: FETI-DP, BDDC, and block Cholesky methods. Int. J. Numer. Meth. Engng. 66 (2006): with the same
// primal unknowns, both have the same eigenvalues except for some that are 0 and 1.
TEST(Scalability, FetiDpHasTheConditionOfBddc) {
  for (const int refinement : {4, 12}) {
    const double dual = row_of("feti-dp", 4, refinement).condition, primal = row_of("bddc", 4, refinement).condition;
    EXPECT_NEAR(dual, primal, 0.03 * primal);
  }
}

TEST(Scalability, MoreOverlapHelpsAdditiveSchwarz) {
  EXPECT_LT(row_of("asm2", 4, 8, 1, 3).condition, 0.8 * row_of("asm2", 4, 8, 1, 1).condition);
  EXPECT_LT(row_of("ras2", 4, 8, 1, 1).iterations, row_of("asm2", 4, 8, 1, 1).iterations);
}

TEST(DecompositionStudy, ComparesMethodsAndRejectsWrongOptions) {
  Domain domain;
  add_square(domain, 2, 3);
  const auto backend = Backend::open("openmp:2");
  StudyOptions options;
  options.parts = {2, 4};
  options.cuts = {"rcb", "rcm", "sfc"};
  options.methods = {"schur", "asm2", "ras", "bddc", "amg", "block-jacobi"};
  options.relative_tolerance = 1e-10;
  const auto rows = run_study(domain, backend, options);
  EXPECT_EQ(rows.size(), 2u * 3 * 4 + 2) << "undivided systems once";
  for (const StudyRow& row : rows) {
    EXPECT_TRUE(row.converged) << row.method << " " << row.failure;
    EXPECT_LT(row.error, 1e-8) << row.method;
    EXPECT_EQ(row.unknowns, 2 * 7 * 6);
  }
  const std::string text = study_text(rows), table = study_table(rows).text(), plot = study_plot(rows, "square");
  EXPECT_NE(text.find("undivided"), std::string::npos);
  EXPECT_NE(table.find("interface_unknowns"), std::string::npos);
  EXPECT_NE(plot.find("bddc, sfc"), std::string::npos);

  const auto wrong = [&](auto change, ErrorCode code, std::initializer_list<std::string> words) {
    StudyOptions bad;
    bad.cuts = {"rcb"};
    change(bad);
    expect_error(code, words, [&] { run_study(domain, backend, bad); });
  };
  wrong([](StudyOptions& o) { o.parts = {0}; }, ErrorCode::bad_input, {"parts"});
  wrong([](StudyOptions& o) { o.parts = {37}; }, ErrorCode::bad_input, {"37", "36 elements"});
  wrong([](StudyOptions& o) { o.methods = {"asn"}; }, ErrorCode::not_found, {"asm"});
  wrong([](StudyOptions& o) { o.cuts = {"rbc"}; }, ErrorCode::not_found, {"rcb"});
  wrong([](StudyOptions& o) { o.contrasts = {0}; }, ErrorCode::bad_input, {"contrast"});
  wrong([](StudyOptions& o) { o.overlaps = {-1}; }, ErrorCode::bad_input, {"overlap"});
  wrong([](StudyOptions& o) { o.methods = {}; }, ErrorCode::bad_input, {"method"});
}

TEST(DecompositionStudy, EveryElementMayBeAPart) {
  Domain domain;
  add_square(domain, 2, 2);
  StudyOptions options;
  options.parts = {1, 16};
  options.cuts = {"rcb"};
  options.methods = {"schur", "asm", "asm2", "ras2", "msm2", "nn", "bddc", "feti-dp"};
  options.overlaps = {0, 1, 9};
  options.relative_tolerance = 1e-11;
  for (const StudyRow& row : run_study(domain, Backend::open("debug:2"), options)) {
    EXPECT_TRUE(row.converged) << row.method << " " << row.parts << " " << row.failure;
    EXPECT_LT(row.error, 1e-8) << row.method << ", " << row.parts << " parts, overlap " << row.overlap;
  }
}

}  // namespace
}  // namespace voussoir
