// Elements whose tangent contains the change of their law with the unknown temperature, against differences.

#include <voussoir/elements/point/full_tangent.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include <voussoir/elements/native_program.hpp>
#include <voussoir/elements/physics/heat.hpp>

namespace voussoir {
namespace {

/// A law that reads the temperature, in its flux and in its source.
struct Hot {
  static constexpr const char* name = "hot";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"T"};
  static constexpr const char* parameters[] = {"k", "b"};
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[0] * (R(1.0) + p[1] * p.temperature) * grad;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>& value, const Mat<R, 1, 3>&) {
    return {{value[0] * p.temperature * p[1]}};
  }
};

const std::vector<double> hexahedron{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1.1, 1, 1, 0, 1, 1};
const std::vector<double> quadrilateral{1, 0, 0, 2, 0, 0, 2.2, 1, 0, 1, 1, 0};

/// One element, whose temperatures are its unknowns.
template <class Kernel>
class One {
 public:
  One(std::vector<double> coordinates, std::vector<double> table, int rows)
      : coordinates_(std::move(coordinates)), table_(std::move(table)), nodes_(program.nodes()), u(program.dofs()) {
    std::iota(nodes_.begin(), nodes_.end(), 0);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = 50 + 40 * std::sin(1 + 2.3 * static_cast<double>(i));
    view_.element_count = 1;
    view_.nodes = view_.first_unknown = nodes_.data();
    view_.coordinates = coordinates_.data();
    view_.unknowns = view_.temperature = u.data();
    view_.start_temperature = view_.expansion_reference = 0;
    view_.parameters = table_.data();
    view_.table_rows = rows;
  }
  std::vector<double> residual() const {
    return call(program.dofs(), [&](double* out) { return program.residual(view_, 0, 1, out); });
  }
  std::vector<double> tangent() const {
    return call(program.matrix_entries(), [&](double* out) { return program.tangent(view_, 0, 1, out); });
  }
  std::vector<double> action(const std::vector<double>& du) const {
    return call(program.dofs(), [&](double* out) { return program.action(view_, du.data(), 0, 1, out); });
  }

  NativeProgram<Kernel> program{"one"};

 private:
  template <class Compute>
  std::vector<double> call(int values, const Compute& compute) const {
    const int lanes = program.lanes();
    std::vector<double> group(static_cast<std::size_t>(values * lanes)), result(static_cast<std::size_t>(values));
    EXPECT_EQ(compute(group.data()).fault, ElementFault::none);
    for (int k = 0; k < values; ++k) result[k] = group[k * lanes];
    return result;
  }
  std::vector<double> coordinates_, table_;
  std::vector<std::int32_t> nodes_;
  ElementView view_;

 public:
  std::vector<double> u;
};

template <class Kernel>
void expect_derivative(const std::vector<double>& coordinates, const std::vector<double>& table, int rows) {
  One<Kernel> one(coordinates, table, rows);
  ASSERT_FALSE(one.program.symmetric());
  ASSERT_FALSE(one.program.linear());
  const std::vector<double> tangent = one.tangent();
  const std::size_t n = one.u.size();
  double largest = 0, skew = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      largest = std::max(largest, std::abs(tangent[i * n + j]));
      skew = std::max(skew, std::abs(tangent[i * n + j] - tangent[j * n + i]));
    }
  EXPECT_GT(skew, 0.01 * largest);
  for (std::size_t j = 0; j < n; ++j) {
    const double at = one.u[j], step = 1e-4;
    one.u[j] = at + step;
    const std::vector<double> up = one.residual();
    one.u[j] = at - step;
    const std::vector<double> down = one.residual();
    one.u[j] = at;
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(tangent[i * n + j], (up[i] - down[i]) / (2 * step), 1e-8 * largest) << i << ", " << j;
  }
  std::vector<double> du(n), product(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) du[i] = std::cos(static_cast<double>(i));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) product[i] += tangent[i * n + j] * du[j];
  const std::vector<double> action = one.action(du);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(action[i], product[i], 1e-13 * largest);
}

TEST(FullTangentElement, IsTheDerivativeOfTheResidual) {
  expect_derivative<FullTangentElement<Heat, Hex8, Full>>(hexahedron, {0, 2, 0, 0, 30, 3, 0, 0, 100, 9, 0, 0}, 3);
  expect_derivative<FullTangentElement<AxisymmetricHeat, Quad4, Full>>(quadrilateral, {0, 2, 0, 0, 100, 9, 0, 0}, 2);
  std::vector<double> turned;  // conductivities along turned axes, and the thickness
  for (const double t : {0.0, 100.0})
    for (const double v :
         {t, 1 + 0.05 * t, 2 + 0.01 * t, 3.0, 0.0, 0.0, 0.6, 0.8, 0.0, -0.8, 0.6, 0.0, 0.0, 0.0, 1.0, 0.5})
      turned.push_back(v);
  expect_derivative<FullTangentElement<OrthotropicPlaneHeat, Quad4, Full>>(quadrilateral, turned, 2);
  expect_derivative<FullTangentElement<Hot, Hex8, Full>>(hexahedron, {0, 2, 0.01}, 1);
}

TEST(FullTangentElement, IsThatOfPointElementWhereNothingDependsOnTemperature) {
  const std::vector<double> table{0, 2, 0, 0};
  const One<FullTangentElement<Heat, Hex8, Full>> full(hexahedron, table, 1);
  const One<PointElement<Heat, Hex8, Full>> plain(hexahedron, table, 1);
  const std::vector<double> whole = full.tangent(), upper = plain.tangent();
  std::size_t k = 0;
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = i; j < 8; ++j, ++k) {
      EXPECT_EQ(whole[8 * i + j], upper[k]);
      EXPECT_EQ(whole[8 * j + i], upper[k]);
    }
  EXPECT_EQ(full.residual(), plain.residual());
}

}  // namespace
}  // namespace voussoir
