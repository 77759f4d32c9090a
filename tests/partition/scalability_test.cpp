// Condition numbers and iterations as the textbooks predict them (Toselli and Widlund, Domain Decomposition Methods).
#include <gtest/gtest.h>

#include <cmath>

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

TEST(Scalability, IterationsOfTwoLevelsAreBoundedWhileThoseOfOneLevelGrow) {
  for (const char* two : {"asm2", "msm2", "bddc", "nn", "feti-dp"}) {
    const StudyRow few = row_of(two, 2, 6), many = row_of(two, 8, 6);
    EXPECT_EQ(many.parts, 64);
    EXPECT_LT(many.iterations, 1.9 * few.iterations + 4) << two;
    EXPECT_LT(many.condition, 3 * few.condition + 4) << two;
  }
  for (const char* one : {"asm", "msm", "schur"}) {
    const StudyRow few = row_of(one, 2, 6), many = row_of(one, 8, 6);
    EXPECT_GT(many.iterations, 1.9 * few.iterations) << one;
    EXPECT_GT(many.condition, 4 * few.condition) << one << ": 1/H² or 1/H";
  }
}

TEST(Scalability, ConditionOfBddcGrowsLikeTheSquareOfALogarithm) {
  for (const char* type : {"plane_stress.quad4", "plane_heat.quad4"}) {
    double least = 1e300, most = 0;
    for (const int refinement : {4, 8, 16, 32}) {
      const StudyRow row = row_of("bddc", 4, refinement, 1, 1, type);
      const double logarithm = 1 + std::log(refinement);
      EXPECT_DOUBLE_EQ(row.bound, logarithm * logarithm);
      EXPECT_LT(row.condition, 0.4 * row.bound) << type << ", H/h " << refinement;
      least = std::min(least, row.condition / row.bound);
      most = std::max(most, row.condition / row.bound);
    }
    EXPECT_LT(most, 2.5 * least) << type << ": neither faster nor slower than the bound";
  }
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
