// The whole tangent of any element type by differences of its residual, against dual numbers.

#include <voussoir/framework/model/detail/full_tangent_program.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/elements/native_program.hpp>
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/full_tangent.hpp>

namespace voussoir {
namespace {

using detail::FullTangentProgram;

/// A law that reads the temperature, in its flux and in its source.
struct Hot {
  static constexpr const char* name = "hot";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"T"};
  static constexpr const char* parameters[] = {"k", "b"};
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[0] * (R(1.0) + p[1] * p.temperature * p.temperature) * grad;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>& value, const Mat<R, 1, 3>&) {
    return {{value[0] * p.temperature * p[1]}};
  }
};

/// Quadrilaterals in a row, more than are computed at once, with two materials and temperatures that differ.
struct Row {
  static constexpr int elements = 70;
  std::vector<int> nodes, first_unknown, record;
  std::vector<double> coordinates, unknowns, initial, table;
  ElementView view;

  explicit Row(double offset = 1) {
    for (int i = 0; i <= elements; ++i)
      for (int j = 0; j < 2; ++j) {
        first_unknown.push_back(2 * i + j + 3);  // as if other unknowns came first
        coordinates.insert(coordinates.end(), {offset + i + 0.2 * j, j + 0.1 * std::sin(i), 0});
        initial.push_back(20 + std::cos(i + j));
      }
    unknowns.resize(first_unknown.size() + 3);
    for (std::size_t i = 0; i < unknowns.size(); ++i) unknowns[i] = 50 + 40 * std::sin(1 + 2.3 * double(i));
    for (int e = 0; e < elements; ++e) {
      nodes.insert(nodes.end(), {2 * e, 2 * e + 2, 2 * e + 3, 2 * e + 1});
      record.push_back(e % 2);
    }
    temperature.assign(unknowns.begin() + 3, unknowns.end());
    // Rows of temperature, conductivity, density and specific heat; two records.
    table = {0, 2, 1, 1, 30, 3, 1, 1, 100, 9, 1, 1, 0, 7, 2, 2, 30, 6, 2, 2, 100, 1, 2, 2};
    view.element_count = elements;
    view.nodes = nodes.data();
    view.first_unknown = first_unknown.data();
    view.coordinates = coordinates.data();
    view.unknowns = unknowns.data();
    view.temperature = temperature.data();
    view.initial_temperature = initial.data();
    view.parameters = table.data();
    view.record = record.data();
    view.table_rows = 3;
  }
  std::vector<double> temperature;
};

/// `values` numbers of `count` elements, element by element.
template <class Compute>
std::vector<double> of_elements(const ElementProgram& program, int count, int values, const Compute& compute) {
  const int lanes = program.lanes(), groups = (count + lanes - 1) / lanes;
  std::vector<double> packed(static_cast<std::size_t>(groups) * lanes * values), result;
  EXPECT_EQ(compute(packed.data()).fault, ElementFault::none);
  for (int e = 0; e < count; ++e)
    for (int k = 0; k < values; ++k) result.push_back(packed[((e / lanes) * values + k) * lanes + e % lanes]);
  return result;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const double x : b) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * largest) << i;
}

TEST(FullTangentProgram, IsThatByDualNumbers) {
  const Row row;
  const auto plain = std::make_shared<NativeProgram<PointElement<AxisymmetricHeat, Quad4, Full>>>("plain");
  const NativeProgram<FullTangentElement<AxisymmetricHeat, Quad4, Full>> exact("exact");
  const FullTangentProgram full(plain);
  EXPECT_EQ(full.name(), "plain.full_tangent");
  EXPECT_FALSE(full.symmetric());
  EXPECT_EQ(full.matrix_entries(), 16);
  std::vector<double> direction(row.unknowns.size());
  for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = i < 9 ? 0 : 1e3 * std::cos(double(i));
  const auto tangents = [&](const ElementProgram& p, int first, int count) {
    return of_elements(p, count, 16, [&](double* out) { return p.tangent(row.view, first, count, out); });
  };
  const auto actions = [&](const ElementProgram& p, int first, int count) {
    return of_elements(p, count, 4,
                       [&](double* out) { return p.action(row.view, direction.data(), first, count, out); });
  };
  const int first = full.lanes(), rest = Row::elements - first;
  expect_near(tangents(full, 0, Row::elements), tangents(exact, 0, Row::elements), 1e-9);
  expect_near(tangents(full, first, rest), tangents(exact, first, rest), 1e-9);
  expect_near(actions(full, first, rest), actions(exact, first, rest), 1e-9);
  // The rest is the same work.
  const auto residuals = [&](const ElementProgram& p) {
    return of_elements(p, 70, 4, [&](double* out) { return p.residual(row.view, 0, 70, out); });
  };
  EXPECT_EQ(residuals(full), residuals(*plain));
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped})
    expect_near(of_elements(full, 70, 16, [&](double* out) { return full.mass(row.view, kind, 0, 70, out); }),
                of_elements(exact, 70, 16, [&](double* out) { return exact.mass(row.view, kind, 0, 70, out); }), 1e-15);
}

TEST(FullTangentProgram, ReportsTheElementThatIsWrong) {
  Row row;
  for (const int node : {2 * 65, 2 * 66}) row.coordinates[3 * node + 1] = 2;  // above the upper edge
  const FullTangentProgram full(std::make_shared<NativeProgram<PointElement<AxisymmetricHeat, Quad4, Full>>>("plain"));
  std::vector<double> out(80 * 16);
  const ElementStatus status = full.tangent(row.view, 0, Row::elements, out.data());
  EXPECT_EQ(status.fault, ElementFault::inverted);
  EXPECT_EQ(status.element, 64);
}

TEST(FullTangentProgram, AppliesWhereSomethingDependsOnTheUnknownTemperature) {
  const NativeProgram<PointElement<Heat, Tet4, Full>> heat("heat");
  const NativeProgram<FullTangentElement<Heat, Tet4, Full>> exact("exact");
  const NativeProgram<PointElement<Hot, Tet4, Full>> hot("hot");
  const std::vector<double> constant{0, 5, 1, 1}, varying{0, 5, 1, 1, 9, 6, 1, 1}, capacity{0, 5, 1, 1, 9, 5, 2, 3};
  const std::vector<double> two_records{0, 5, 1, 1, 9, 5, 1, 1, 0, 7, 1, 1, 9, 8, 1, 1};
  EXPECT_TRUE(FullTangentProgram::applies(heat, varying, 2));
  EXPECT_TRUE(FullTangentProgram::applies(heat, two_records, 2));
  EXPECT_FALSE(FullTangentProgram::applies(heat, constant, 1));
  EXPECT_FALSE(FullTangentProgram::applies(heat, capacity, 2));
  EXPECT_FALSE(FullTangentProgram::applies(exact, varying, 2));
  EXPECT_TRUE(FullTangentProgram::applies(hot, std::vector<double>{0, 1, 1}, 1));
}

TEST(FullTangentProgram, PassesTheCheckOfTangents) {
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 0, 1, 0, 0.1, 0.2, 1}, p{2, 0.01}, u{3, 1, 4, 2};
  const auto plain = std::make_shared<NativeProgram<PointElement<Hot, Tet4, Full>>>("hot");
  const TangentReport full = check_tangent(FullTangentProgram(plain), x, p, u);
  EXPECT_TRUE(full.good()) << full.text;
  EXPECT_TRUE(full.contains_temperature_change);
  EXPECT_NE(full.text.find("change of p.temperature included"), std::string::npos) << full.text;
  // By dual numbers, and without the change.
  const TangentReport exact = check_tangent<FullTangentElement<Hot, Tet4, Full>>(x, p, u);
  EXPECT_TRUE(exact.good(1e-10)) << exact.text;
  EXPECT_TRUE(exact.contains_temperature_change);
  const TangentReport symmetric = check_tangent(*plain, x, p, u);
  EXPECT_TRUE(symmetric.good(1e-10)) << symmetric.text;
  EXPECT_FALSE(symmetric.contains_temperature_change);
}

}  // namespace
}  // namespace voussoir
