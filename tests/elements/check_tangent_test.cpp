#include <gtest/gtest.h>
#include <voussoir/backends/error.hpp>
#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

#include <array>
#include <cmath>
#include <map>

namespace voussoir {
namespace {

/// A spring whose force grows with the cube of its elongation; `wrong` plants a mistake.
template <int wrong>
struct CubicSpring {
  static constexpr int nodes = 2, components = 1;
  static constexpr const char* unknowns[] = {"q"};
  static constexpr const char* parameters[] = {"k"};
  template <class R>
  VSR_FN static R stiffness(const ElementInput<R, 2, 1, 1>& e) {
    R k;
    e.parameters_at(R(0.0), &k);
    const R d = e.u[1] - e.u[0];
    return k + R(3.0) * d * d;
  }
  template <class R>
  VSR_FN static R tangent(const ElementInput<R, 2, 1, 1>& e, R* upper) {
    upper[0] = stiffness(e);
    upper[1] = -upper[0];
    upper[2] = wrong == 1 ? R(1.01) * upper[0] : upper[0];
    return R(1.0);
  }
  template <class R>
  VSR_FN static R action(const ElementInput<R, 2, 1, 1>& e, const R* du, R* r) {
    r[1] = stiffness(e) * (du[1] - du[0]) * R(wrong == 2 ? 0.99 : 1.0);
    r[0] = -r[1];
    return R(1.0);
  }
  template <class R>
  VSR_FN static R residual(const ElementInput<R, 2, 1, 1>& e, R* r) {
    R k;
    e.parameters_at(R(0.0), &k);
    const R d = e.u[1] - e.u[0];
    r[1] = k * d + d * d * d;
    r[0] = -r[1];
    return R(1.0);
  }
};

const double line[] = {0, 0, 0, 1, 0, 0};
const double stiffness[] = {2};
const double stretched[] = {0.1, 0.9};

TEST(CheckTangent, AcceptsACorrectNonlinearElement) {
  const TangentReport report = check_tangent<CubicSpring<0>>(line, stiffness, stretched);
  EXPECT_LT(report.tangent_error, 1e-10) << report.text;
  EXPECT_LT(report.action_error, 1e-14) << report.text;
  EXPECT_TRUE(report.good());
}

TEST(CheckTangent, FindsAWrongEntryAndNamesIt) {
  const TangentReport report = check_tangent<CubicSpring<1>>(line, stiffness, stretched);
  EXPECT_FALSE(report.good());
  EXPECT_EQ(report.row, 1);
  EXPECT_EQ(report.column, 1);
  EXPECT_NEAR(report.tangent_error, 0.01 / 1.01, 1e-6);
  EXPECT_NEAR(report.by_differences, 2 + 3 * 0.64, 1e-9);
  EXPECT_NE(report.text.find("q of node 2"), std::string::npos) << report.text;
}

TEST(CheckTangent, FindsAWrongAction) {
  const TangentReport report = check_tangent<CubicSpring<2>>(line, stiffness, stretched);
  EXPECT_LT(report.tangent_error, 1e-10);
  EXPECT_GT(report.action_error, 1e-3);
  EXPECT_FALSE(report.good());
}

TEST(CheckTangent, RefusesWrongSizes) {
  const double two[] = {1, 2};
  EXPECT_THROW(check_tangent<CubicSpring<0>>(line, two), Error);
  EXPECT_THROW(check_tangent<CubicSpring<0>>(two, stiffness), Error);
  EXPECT_THROW(check_tangent<CubicSpring<0>>(line, stiffness, stiffness), Error);
}

/// A number for every parameter of the stock elements; of order one, so that every term counts.
double sensible(const std::string& name) {
  static const std::map<std::string, double> numbers = {{"young", 2.1},
                                                        {"poisson", 0.3},
                                                        {"density", 1.3},
                                                        {"expansion", 0.02},
                                                        {"thickness", 0.7},
                                                        {"conductivity", 1.7},
                                                        {"specific_heat", 0.9},
                                                        {"E1", 3.0},
                                                        {"E2", 1.5},
                                                        {"E3", 1.1},
                                                        {"nu12", 0.25},
                                                        {"nu13", 0.2},
                                                        {"nu23", 0.15},
                                                        {"G12", 0.8},
                                                        {"G13", 0.7},
                                                        {"G23", 0.6},
                                                        {"expansion1", 0.02},
                                                        {"expansion2", 0.01},
                                                        {"expansion3", 0.03},
                                                        {"k1", 1.0},
                                                        {"k2", 2.0},
                                                        {"k3", 3.0},
                                                        {"shear_modulus", 0.8},
                                                        {"area", 0.4},
                                                        {"inertia_y", 0.02},
                                                        {"inertia_z", 0.05},
                                                        {"torsion", 0.03},
                                                        {"shear_area_y", 0.3},
                                                        {"shear_area_z", 0.25},
                                                        {"orientation_x", 0.2},
                                                        {"orientation_y", 0.9},
                                                        {"orientation_z", 0.4}};
  // Axes of a material: a turn by 30° about the third.
  const double turn[3][3] = {{0.8660254037844387, 0.5, 0}, {-0.5, 0.8660254037844387, 0}, {0, 0, 1}};
  if (name.size() == 6 && name.starts_with("axis")) return turn[name[4] - '1'][name[5] - '1'];
  // Stiffnesses D1111 … D2323 of a body without symmetry.
  if (name.size() == 5 && name[0] == 'D') return name.substr(1, 2) == name.substr(3, 2) ? 3.0 : 0.3;
  const auto found = numbers.find(name);
  return found == numbers.end() ? 1.1 : found->second;
}

/// Node positions of a bent, stretched cell away from the axis x = 0. A type in the plane stays there.
std::vector<double> bent_geometry(const ElementType& type) {
  const int nodes = type.program().nodes();
  std::vector<std::array<double, 3>> reference(nodes, {0, 0, 0});
  int dim = 3;
  if (!type.shape().empty()) {
    const ShapeTopology& topology = shape_topology(type.shape());
    reference = topology.reference_nodes;
    dim = topology.dim;
  }
  const std::string& name = type.name();
  const bool in_plane = name.find("plane") != std::string::npos || name.find("axisymmetric") != std::string::npos ||
                        (dim == 2 && name.find("pressure") == std::string::npos &&
                         name.find("traction") == std::string::npos && name.find("flux") == std::string::npos &&
                         name.find("convection") == std::string::npos && name.find("radiation") == std::string::npos);
  std::vector<double> x;
  for (const auto& p : reference) {
    x.push_back(3 + p[0] + 0.1 * p[1] - 0.05 * p[0] * p[1] + 0.04 * p[2] * p[1]);
    x.push_back(1.2 * p[1] + 0.2 * p[0] + 0.04 * p[0] * p[0] - 0.03 * p[2]);
    x.push_back(in_plane ? 0 : 0.9 * p[2] + 0.15 * p[0] + 0.06 * p[0] * p[1]);
  }
  return x;
}

TEST(CheckTangent, EveryRegisteredTypeIsConsistent) {
  int checked = 0;
  for (const ElementType* type : ElementLibrary::instance().all()) {
    if (type->name() == "test_clash" || type->name().starts_with("contract_")) continue;
    // The tangent of these is the symmetric part of the derivative alone (finite_element_test.cpp).
    if (type->name().starts_with("follower_pressure.")) continue;
    const ElementProgram& program = type->program();
    std::vector<double> parameters, unknowns, temperature;
    const double large_strains = type->name().find("finite") != std::string::npos ? 1 : 0;
    for (const std::string& name : program.parameter_names())
      parameters.push_back(name == "large_strains" ? large_strains : sensible(name));
    for (int i = 0; i < program.dofs(); ++i) unknowns.push_back(0.02 * std::sin(1 + 1.7 * i));
    for (int a = 0; a < program.nodes(); ++a) temperature.push_back(20 + 3 * std::cos(a));
    TangentCheckOptions options;
    options.temperature = temperature;
    options.reference_temperature = 15;
    TangentReport report;
    ASSERT_NO_THROW(report = check_tangent(program, bent_geometry(*type), parameters, unknowns, options))
        << type->name();
    EXPECT_TRUE(report.good(1e-8)) << report.text;
    ++checked;
  }
  EXPECT_GE(checked, 14 + 32);  // structural elements and loads on faces alone
}

}  // namespace
}  // namespace voussoir
