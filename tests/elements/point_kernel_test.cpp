#include <gtest/gtest.h>

#include <cmath>
#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/elements/point/point_element.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

// Kernels as a user may write them, with as little or as much as the contract of point_kernel.hpp allows.

namespace voussoir {
namespace {

/// Conduction that grows with the gradient: flux = (1 + g·g) g. No parameters, no density, nothing optional.
struct Bare {
  static constexpr const char* name = "bare";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"phi"};

  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>&, const Mat<R, 1, 3>& g) {
    return (R(1.0) + square(g, g)) * g;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>&, const Mat<R, 1, 3>& g, const Mat<R, 1, 3>& d) {
    return (R(1.0) + square(g, g)) * d + (R(2.0) * square(g, d)) * g;
  }
  template <class R>
  VSR_FN static R square(const Mat<R, 1, 3>& a, const Mat<R, 1, 3>& b) {
    return a(0, 0) * b(0, 0) + a(0, 1) * b(0, 1) + a(0, 2) * b(0, 2);
  }
};

/// Two species that drag each other along, in a plane, graded in x; the law branches, so it takes plain numbers.
struct TwoSpecies {
  static constexpr const char* name = "two_species";
  static constexpr int components = 2;
  static constexpr const char* unknowns[] = {"a", "b"};
  static constexpr const char* parameters[] = {"diffusion", "drag"};
  static constexpr bool scalar = true;

  template <class R>
  VSR_FN static Mat<R, 2, 3> flux(const Point<R>& p, const Mat<R, 2, 3>& g) {
    const R d = p.x[0] > 0.5 ? 2 * p[0] : p[0];
    Mat<R, 2, 3> f;
    for (int k = 0; k < 3; ++k) {
      f(0, k) = d * g(0, k) + p[1] * g(1, k);
      f(1, k) = p[1] * g(0, k) + d * g(1, k);
    }
    return f;
  }
  template <class R>
  VSR_FN static Mat<R, 2, 3> dflux(const Point<R>& p, const Mat<R, 2, 3>&, const Mat<R, 2, 3>& d) {
    return flux(p, d);
  }
};

std::vector<double> crooked(const char* shape) {
  const ShapeTopology& t = shape_topology(shape);
  std::vector<double> x;
  for (int a = 0; a < t.nodes; ++a)
    for (int k = 0; k < 3; ++k) x.push_back(t.reference_nodes[a][k] + (k < t.dim ? 0.05 * std::sin(4.0 * a + k) : 0.0));
  return x;
}

TEST(PointKernel, ABareNonlinearKernelMakesAnElement) {
  using Element = PointElement<Bare, Tet10>;
  static_assert(ElementKernel<Element>);
  const NativeProgram<Element> program("bare.tet10");
  EXPECT_FALSE(program.has_mass());
  EXPECT_TRUE(program.takes_body_load());  // a source needs no density
  EXPECT_TRUE(program.parameter_names().empty());
  std::vector<double> u;
  for (int i = 0; i < 10; ++i) u.push_back(std::sin(3.0 * i));
  const TangentReport report = check_tangent<Element>(crooked("tet10"), {}, u);
  EXPECT_TRUE(report.good()) << report.text;
}

TEST(PointKernel, SeveralComponentsInAPlaneHaveAThicknessAndNumberedResults) {
  using Element = PointElement<TwoSpecies, Quad8>;
  const NativeProgram<Element> program("two_species.quad8");
  EXPECT_EQ(program.lanes(), 1);
  EXPECT_FALSE(program.takes_body_load());
  ASSERT_EQ(program.parameter_names().size(), 3u);
  EXPECT_EQ(program.parameter_names()[2], "thickness");
  const std::vector<std::string> expected = {"x",   "y",   "z",   "volume", "g1x", "g1y", "g1z", "g2x",
                                             "g2y", "g2z", "q1x", "q1y",    "q1z", "q2x", "q2y", "q2z"};
  ASSERT_EQ(program.recovered_names().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(program.recovered_names()[i], expected[i]);
  std::vector<double> u;
  for (int i = 0; i < 16; ++i) u.push_back(std::cos(2.0 * i));
  const double parameters[] = {3, 0.5, 0.25};
  const TangentReport report = check_tangent<Element>(crooked("quad8"), parameters, u);
  EXPECT_TRUE(report.good()) << report.text;
}

}  // namespace
}  // namespace voussoir
