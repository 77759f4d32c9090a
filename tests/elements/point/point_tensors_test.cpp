#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <voussoir/elements/native_program.hpp>
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/full_tangent.hpp>
#include <voussoir/elements/point/point_element.hpp>

#include "elements/element_run.hpp"
#include "support/finite_strain_laws.hpp"
#include "support/general_laws.hpp"

// Products of tangents that are stored at the points are those of the element's matrix.

namespace voussoir {
namespace {

using testing::ElementRun;

double parameter(const std::string& name) {
  if (name == "poisson") return 0.3;
  if (name == "yield") return 0.5;  // much below the stress of the strains here
  if (name == "young" || name == "lambda" || name == "mu") return 90.0 + name.back();
  return 0.5 + 0.01 * name.back();
}

/// Elements with their nodes moved about, 3 to the right of the reference cell, with unknowns and a history that are
/// not zero. As many as do not fill the last group.
template <class Law, class Shape, class Formulation = Full>
struct Sample {
  using K = PointElement<Law, Shape, Formulation>;
  NativeProgram<K> program{"sample"};
  ElementRun run{program};
  int count = program.lanes() + program.lanes() / 2 + 1;

  Sample() {
    std::mt19937 generator(7);
    std::uniform_real_distribution<double> move(-0.06, 0.06);
    std::map<std::string, double> parameters;
    for (const std::string& name : program.parameter_names()) parameters[name] = parameter(name);
    for (int e = 0; e < count; ++e) {
      std::vector<std::array<double, 3>> x(Shape::nodes);
      for (int a = 0; a < Shape::nodes; ++a)
        for (int k = 0; k < 3; ++k)
          x[a][k] = k < Shape::dim ? Shape::node(a, k) + move(generator) + (k == 0 ? 3.0 : 0.0) : 0.0;
      for (auto& [name, value] : parameters) value = parameter(name) * (1 + 0.01 * e);
      run.add(x, parameters);
    }
    const auto displace = [&] {
      for (int e = 0; e < count; ++e)
        for (int i = 0; i < program.dofs(); ++i) run.unknowns(e)[i] = move(generator);
    };
    displace();
    if (program.history_count() > 0) {
      // A history that the law itself has made: not every list of numbers is one.
      const int lanes = program.lanes(), padded = (count + lanes - 1) / lanes * lanes;
      std::vector<double> before(static_cast<std::size_t>(padded) * program.history_count(), 0.0), after = before;
      run.set_history(before);
      program.history(run.view(), 0, count, after.data());
      run.set_history(after);
      displace();
    }
  }
};

void expect_products(const ElementProgram& program, ElementRun& run, int count) {
  ASSERT_GT(program.point_numbers(), 0);
  const ElementView view = run.view();
  const int lanes = program.lanes(), dofs = program.dofs(), padded = (count + lanes - 1) / lanes * lanes;
  std::vector<double> tensors(static_cast<std::size_t>(padded) * program.point_numbers());
  ASSERT_EQ(program.point_tensors(view, 0, count, tensors.data()).fault, ElementFault::none);
  for (const int columns : {1, 3}) {
    std::vector<double> directions(static_cast<std::size_t>(count) * dofs * columns);
    for (std::size_t i = 0; i < directions.size(); ++i) directions[i] = std::sin(1.0 + 1.3 * static_cast<double>(i));
    std::vector<double> out(static_cast<std::size_t>(padded) * dofs * columns);
    // In two pieces: tensors are those from the first element of a piece on.
    const auto multiply = [&](int first, int many) {
      return program.point_products(view, tensors.data() + std::ptrdiff_t{first} * program.point_numbers(),
                                    directions.data(), columns, first, many,
                                    out.data() + std::ptrdiff_t{first} * dofs * columns);
    };
    ASSERT_EQ(multiply(0, lanes).fault, ElementFault::none);
    ASSERT_EQ(multiply(lanes, count - lanes).fault, ElementFault::none);
    for (int e = 0; e < count; ++e) {
      const Eigen::MatrixXd tangent = run.tangent(e);
      for (int w = 0; w < columns; ++w) {
        Eigen::VectorXd direction(dofs), found(dofs);
        for (int i = 0; i < dofs; ++i) {
          direction[i] = directions[(static_cast<std::size_t>(e) * dofs + i) * columns + w];
          found[i] = out[((static_cast<std::size_t>(e / lanes) * dofs + i) * columns + w) * lanes + e % lanes];
        }
        const Eigen::VectorXd expected = tangent * direction;
        EXPECT_LE((found - expected).norm(), 1e-13 * tangent.norm() * direction.norm())
            << program.name() << ", element " << e << ", column " << w << " of " << columns;
      }
    }
  }
}

template <class Law, class... Shapes>
void expect_shapes() {
  (
      [] {
        Sample<Law, Shapes> sample;
        SCOPED_TRACE(std::string(Law::name) + " " + Shapes::name);
        expect_products(sample.program, sample.run, sample.count);
      }(),
      ...);
}

TEST(PointTensors, ProductsOfLinearLaws) {
  expect_shapes<Solid, Hex8, Hex20, Tet4, Tet10, Wedge6>();
  expect_shapes<PlaneStress, Quad4, Tri6>();
  expect_shapes<Heat, Hex8, Tet10>();
  expect_shapes<AxisymmetricHeat, Quad8>();
  expect_shapes<testing::PlainSolid, Hex8, Tet10>();
}

TEST(PointTensors, ProductsOfGeneralLaws) {
  expect_shapes<testing::NeoHookeFlux, Hex8, Tet10, Hex20>();
  expect_shapes<testing::NeoHookeEnergy, Hex8, Tet4>();
  expect_shapes<testing::J2Plasticity, Hex8, Tet10>();
  expect_shapes<testing::ThermoElastic, Hex8, Tet10>();
  expect_shapes<testing::ReactionDiffusion, Hex8, Tri3>();
  expect_shapes<testing::ConvectionDiffusion, Hex8, Tet4>();
  expect_shapes<testing::Plume, Hex8, Quad4>();
}

TEST(PointTensors, FollowTheTemperature) {
  Sample<Solid, Hex20> sample;
  std::vector<double> temperatures;
  for (int i = 0; i < sample.count * Hex20::nodes; ++i) temperatures.push_back(100 * std::abs(std::sin(0.4 * i)));
  sample.run.set_temperatures(temperatures, 0);
  // Young's modulus falls to a third over the temperatures here.
  std::vector<double> table;
  for (const double t : {0.0, 100.0}) {
    table.push_back(t);
    for (const std::string& name : sample.program.parameter_names())
      table.push_back(name == "young" ? 300 - 2 * t : parameter(name));
  }
  sample.run.set_table(table, 2);
  expect_products(sample.program, sample.run, sample.count);
}

TEST(PointTensors, FaultsAreThoseOfTheTangent) {
  Sample<Solid, Hex8> sample;
  std::vector<std::array<double, 3>> inside_out(8);
  for (int a = 0; a < 8; ++a)
    for (int k = 0; k < 3; ++k) inside_out[a][k] = (k == 0 ? -1 : 1) * Hex8::node(a, k);
  const int bad = sample.run.add(inside_out, {{"young", 1.0}, {"poisson", 0.3}});
  const int count = bad + 1, lanes = sample.program.lanes();
  std::vector<double> out(static_cast<std::size_t>((count + lanes - 1) / lanes * lanes) *
                          sample.program.point_numbers());
  const ElementStatus status = sample.program.point_tensors(sample.run.view(), 0, count, out.data());
  EXPECT_EQ(status.fault, ElementFault::inverted);
  EXPECT_EQ(status.element, bad);
}

TEST(PointTensors, ElementsThatTieTheirPointsTogetherHaveNone) {
  EXPECT_EQ((NativeProgram<PointElement<Solid, Hex8, BBar>>("s").point_numbers()), 0);
  EXPECT_EQ((NativeProgram<PointElement<Solid, Hex8, Incompatible>>("s").point_numbers()), 0);
  EXPECT_EQ((NativeProgram<PointElement<Solid, Hex8, Reduced>>("s").point_numbers()), 0);
  EXPECT_EQ((NativeProgram<PointElement<Axisymmetric, Quad8, Full>>("s").point_numbers()), 0);
  EXPECT_EQ((NativeProgram<PointElement<testing::J2Plasticity, Hex8, BBar>>("s").point_numbers()), 0);
  EXPECT_EQ((NativeProgram<FullTangentElement<Heat, Hex8, Full>>("s").point_numbers()), 0);
}

TEST(PointTensors, AreTheUpperTriangleOfSymmetricLaws) {
  EXPECT_EQ((NativeProgram<PointElement<Solid, Hex8, Full>>("s").point_numbers()), 8 * 45);
  EXPECT_EQ((NativeProgram<PointElement<Solid, Tet10, Full>>("s").point_numbers()), 4 * 45);
  EXPECT_EQ((NativeProgram<PointElement<Heat, Hex8, Full>>("s").point_numbers()), 8 * 6);
  EXPECT_EQ((NativeProgram<PointElement<testing::ThermoElastic, Hex8, Full>>("s").point_numbers()), 8 * 16 * 16);
}

}  // namespace
}  // namespace voussoir
