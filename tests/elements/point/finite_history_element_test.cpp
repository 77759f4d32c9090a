#include <gtest/gtest.h>
#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/elements/native_program.hpp>
#include <voussoir/elements/physics/finite_plasticity.hpp>
#include <voussoir/elements/physics/plastic_finite_solid.hpp>
#include <voussoir/elements/point/one_point_element.hpp>
#include <voussoir/framework/domain/plastic_material.hpp>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "elements/element_run.hpp"

// The library's elements of plastic solids with large strains, and hexahedra with one point.

namespace voussoir {
namespace {

using testing::ElementRun;

static_assert(PlasticFiniteSolid::parts == PlasticMaterial::most_points, "each point of a table begins a part");

const char* const plastic_types[] = {"plastic_finite_solid.tet4", "plastic_finite_solid.hex8",
                                     "plastic_finite_solid.hex8.reduced"};

/// A hexahedron without right angles, or a corner of it.
std::vector<std::array<double, 3>> crooked_cell(const std::string& type) {
  if (type.find("tet4") != std::string::npos) return {{0, 0, 0}, {1.1, 0.1, 0}, {-0.1, 0.9, 0}, {0.1, 0, 1}};
  return {{0, 0, 0},   {1.1, 0.1, 0},  {1, 1, 0.1},     {-0.1, 0.9, 0},
          {0.1, 0, 1}, {1, -0.1, 1.2}, {1.1, 1.1, 0.9}, {0, 1, 1}};
}

/// E = 200, ν = 0.3 and a table.
std::map<std::string, double> metal(const std::vector<HardeningPoint>& table) {
  const PlasticMaterial material("metal", table);
  std::map<std::string, double> numbers{{"young", 200}, {"poisson", 0.3}, {"density", 2}, {"large_strains", 1}};
  for (const std::string& name : material.parameter_names()) numbers[name] = material.value(name, 0);
  return numbers;
}

/// u = G x at all nodes.
void deform(ElementRun& run, const std::vector<std::array<double, 3>>& x, const double (&g)[3][3]) {
  for (std::size_t a = 0; a < x.size(); ++a)
    for (int i = 0; i < 3; ++i) {
      double u = 0;
      for (int k = 0; k < 3; ++k) u += g[i][k] * x[a][static_cast<std::size_t>(k)];
      run.unknowns(0)[3 * a + static_cast<std::size_t>(i)] = u;
    }
}

/// The Cauchy stress of uniaxial tension: with the lateral stretch that keeps σyy at zero, which is known in closed
/// form: τ = σ(εp) and ln λ = τ/E + εp, lateral ln λ = −ν τ/E − εp/2.
TEST(FiniteHistoryElement, TensionOverATableInOneStepHasItsClosedForm) {
  const std::vector<HardeningPoint> table = {{1, 0}, {2, 0.01}, {2.5, 0.03}, {2.5, 0.1}, {4, 0.2}};
  const struct { double strain, stress; } points[] = {{0.005, 1.5}, {0.02, 2.25}, {0.05, 2.5}, {0.15, 3.25}, {0.3, 4}};
  for (const char* type : plastic_types)
    for (const auto& [strain, stress] : points) {
      SCOPED_TRACE(std::string(type) + " " + std::to_string(strain));
      ElementRun run(type);
      const auto x = crooked_cell(type);
      run.add(x, metal(table));
      const double along = std::exp(stress / 200 + strain) - 1, across = std::exp(-0.3 * stress / 200 - strain / 2) - 1;
      deform(run, x, {{along, 0, 0}, {0, across, 0}, {0, 0, across}});
      const double volume = (1 + along) * (1 + across) * (1 + across);
      EXPECT_NEAR(run.recovered("peeq"), strain, 1e-12);
      EXPECT_NEAR(run.recovered("sxx"), stress / volume, 1e-10);
      EXPECT_NEAR(run.recovered("syy"), 0, 1e-10);
      EXPECT_NEAR(run.recovered("energy"), 0.5 * stress * stress / 200, 1e-10);
      EXPECT_NEAR(run.recovered("exx"), along + 0.5 * along * along, 1e-12);
    }
}

TEST(FiniteHistoryElement, ALinearTableIsLinearHardening) {
  const NativeProgram<OnePointElement<FinitePlasticity>> linear("linear");
  ElementRun is("plastic_finite_solid.hex8.reduced"), expected(linear);
  const auto x = crooked_cell("hex8");
  is.add(x, metal({{0.5, 0}, {20.5, 1}}));
  expected.add(x, {{"young", 200}, {"poisson", 0.3}, {"yield", 0.5}, {"hardening", 20}, {"density", 2}});
  for (int i = 0; i < 24; ++i) is.unknowns(0)[i] = expected.unknowns(0)[i] = 0.1 * std::sin(1.0 + 1.7 * i);
  EXPECT_GT(expected.recovered("peeq"), 0.01);
  EXPECT_NEAR(is.recovered("peeq"), expected.recovered("peeq"), 1e-15);
  EXPECT_LT((is.residual() - expected.residual()).norm(), 1e-14 * expected.residual().norm());
  EXPECT_LT((is.tangent() - expected.tangent()).norm(), 1e-13 * expected.tangent().norm());
}

TEST(FiniteHistoryElement, TangentsAreTheDerivativesOfResiduals) {
  const auto parameters_of = [](const ElementProgram& program, const std::map<std::string, double>& numbers) {
    std::vector<double> all;
    for (const std::string& name : program.parameter_names()) all.push_back(numbers.at(name));
    return all;
  };
  for (const char* type : plastic_types) {
    const ElementProgram& program = ElementLibrary::instance().find(type).program();
    std::vector<double> x, u;
    for (const auto& point : crooked_cell(type)) x.insert(x.end(), point.begin(), point.end());
    for (std::size_t i = 0; i < x.size(); ++i) u.push_back(0.05 * std::sin(1 + 1.7 * static_cast<double>(i)));
    // Elastic, in the first and in a later part of the table, and beyond its end.
    for (const std::vector<HardeningPoint>& table :
         {std::vector<HardeningPoint>{{1e4, 0}, {2e4, 1}}, std::vector<HardeningPoint>{{1, 0}, {9, 1}},
          std::vector<HardeningPoint>{{1, 0}, {1.2, 1e-3}, {1.5, 5e-3}, {40, 5}},
          std::vector<HardeningPoint>{{1, 0}, {1.2, 1e-4}}}) {
      const TangentReport report = check_tangent(program, x, parameters_of(program, metal(table)), u);
      EXPECT_TRUE(report.good(1e-7)) << type << ": " << report.text;
    }
  }
}

TEST(FiniteHistoryElement, InvertedElementsAreUnhealthy) {
  for (const std::string type : {"plastic_finite_solid.tet4", "plastic_finite_solid.hex8",
                                 "plastic_finite_solid.hex8.reduced", "finite_solid.hex8.reduced"}) {
    ElementRun run(type);
    const auto x = crooked_cell(type);
    run.add(x, metal({{1, 0}}));
    deform(run, x, {{-0.9, 0, 0}, {0, 0, 0}, {0, 0, 0}});
    run.residual();
    EXPECT_EQ(run.status.fault, ElementFault::none) << type;
    deform(run, x, {{-1.1, 0, 0}, {0, 0, 0}, {0, 0, 0}});
    run.residual();
    EXPECT_NE(run.status.fault, ElementFault::none) << type;
  }
}

TEST(FiniteOnePointElement, ForcesAreTheDerivativesOfItsEnergies) {
  // St Venant–Kirchhoff: volume · (energy + hourglass_energy) is a potential of the forces.
  ElementRun run("finite_solid.hex8.reduced");
  run.add(crooked_cell("hex8"), {{"young", 3}, {"poisson", 0.3}, {"density", 2}});
  for (int i = 0; i < 24; ++i) run.unknowns(0)[i] = 0.1 * std::sin(1.0 + 1.7 * i);
  const auto potential = [&] {
    return run.recovered("volume") * (run.recovered("energy") + run.recovered("hourglass_energy"));
  };
  const Eigen::VectorXd force = run.residual();
  EXPECT_GT(run.recovered("hourglass_energy"), 1e-4);
  for (int i = 0; i < 24; ++i) {
    const double u = run.unknowns(0)[i], h = 1e-5;
    run.unknowns(0)[i] = u + h;
    const double high = potential();
    run.unknowns(0)[i] = u - h;
    const double low = potential();
    run.unknowns(0)[i] = u;
    EXPECT_NEAR(force[i], (high - low) / (2 * h), 1e-9) << i;
  }
}

TEST(FiniteOnePointElement, UniformStrainIsThatOfEightPoints) {
  ElementRun is("finite_solid.hex8.reduced"), expected("finite_solid.hex8");
  const auto x = crooked_cell("hex8");
  for (ElementRun* run : {&is, &expected}) {
    run->add(x, {{"young", 3}, {"poisson", 0.3}, {"density", 2}, {"expansion", 1e-3}});
    run->set_temperature(120, 20);
    deform(*run, x, {{0.2, 0.1, 0}, {-0.05, -0.1, 0.03}, {0.1, 0, 0.04}});
  }
  EXPECT_LT((is.residual() - expected.residual()).norm(), 1e-13 * expected.residual().norm());
  for (const char* name : {"sxx", "szz", "sxy", "exy", "energy"})
    EXPECT_NEAR(is.recovered(name), expected.recovered(name), 1e-14) << name;
  EXPECT_NEAR(is.recovered("hourglass_energy"), 0, 1e-25);
}

}  // namespace
}  // namespace voussoir
