// Taylor's impact test: a copper rod hits a rigid wall without friction, against the range of shapes that is commonly
// tabulated.
#include <gtest/gtest.h>
#include <voussoir/elements/physics/finite_plasticity.hpp>
#include <voussoir/elements/point/one_point_element.hpp>
#include <voussoir/elements/register.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>

#include <algorithm>
#include <cmath>

#include "support/taylor_bar.hpp"

namespace voussoir {
namespace {

const RegisterKernel<OnePointElement<FinitePlasticity>> registered_one_point{"finite_plastic.hex8.reduced", "hex8",
                                                                             VSR_KERNEL_FILE_OR_NULL};

}  // namespace
}  // namespace voussoir

namespace voussoir::validation {
namespace {

using testing::TaylorBar;
const std::string rod_type = "finite_plastic.hex8.reduced";

/// The shape at the end.
struct TaylorShape {
  double length = 0, radius = 0, strain = 0;
  EnergyBalance energies;
  ExplicitReport report;
};

TaylorShape impact(TaylorBar& bar, const BulkViscosity& viscosity, const std::string& backend,
                   double until = TaylorBar::end) {
  Analysis::Collaborators parts;
  parts.backend = Backend::open(backend);
  ExplicitAnalysis a(bar.domain, std::move(parts));
  a.set_bulk_viscosity(viscosity);
  NodalField v0{"velocity", a.model().unknown_names(), {}};
  v0.values.assign(3 * static_cast<std::size_t>(bar.domain.node_count()), 0.0);
  const auto at = [&](std::int32_t n) { return bar.domain.coordinates().subspan(3 * static_cast<std::size_t>(n), 3); };
  for (std::int32_t n = 0; n < bar.domain.node_count(); ++n)
    if (at(n)[2] > 1e-9) v0.values[3 * static_cast<std::size_t>(n) + 2] = -TaylorBar::velocity;
  a.set_initial_velocity(v0);
  a.set_steps({.end = until, .estimate_every = 50, .report_every = 50, .balance_tolerance = 0.02});
  const StepResult end = a.run().back();
  TaylorShape shape;
  shape.energies = a.energies();
  shape.report = a.report();
  for (std::int32_t n = 0; n < bar.domain.node_count(); ++n) {
    const auto x = at(n);
    if (std::abs(x[2] - TaylorBar::length) < 1e-9 && x[0] < 1e-9 && x[1] < 1e-9)
      shape.length = x[2] + end.unknowns.at(n, "uz");
    if (x[2] < 1e-9)
      shape.radius =
          std::max(shape.radius, std::hypot(x[0] + end.unknowns.at(n, "ux"), x[1] + end.unknowns.at(n, "uy")));
  }
  const PointField& points = end.points.at(0);
  const auto peeq =
      static_cast<std::size_t>(std::find(points.names.begin(), points.names.end(), "peeq") - points.names.begin());
  for (std::size_t p = peeq; p < points.values.size(); p += points.names.size())
    shape.strain = std::max(shape.strain, points.values[p]);
  return shape;
}

/// Copper: E = 117 GPa, ν = 0.35, ρ = 8930 kg/m³, σy = 400 MPa, H = 100 MPa, 227 m/s, 80 µs. Final length, radius of
/// the foot and largest equivalent plastic strain by others:
///   Kamoulakos 1990          21.47 – 21.66 mm   7.02 – 7.12 mm   2.47 – 3.24
///   Zhu and Cescotto 1995    21.26 – 21.49      6.89 – 7.18      2.75 – 3.03
///   Camacho and Ortiz 1997   21.42 – 21.44      7.21 – 7.24      2.97 – 3.25
TEST(TaylorBar, HasTheTabulatedShape) {
  TaylorBar bar(3, 3, 20, rod_type);
  const TaylorShape shape = impact(bar, {0.06, 1.2}, "openmp");
  // 540 elements. Radius and strain grow towards the tabulated ones as the mesh is refined (docs/validation.md).
  EXPECT_NEAR(shape.length, 21.46, 0.2);
  EXPECT_GT(shape.radius, 6.6);
  EXPECT_LT(shape.radius, 7.24);
  EXPECT_GT(shape.strain, 2.3);
  EXPECT_LT(shape.strain, 3.3);
  // All kinetic energy has become plastic work, but for some per cent.
  const EnergyBalance& e = shape.energies;
  EXPECT_LT(e.kinetic, 0.01 * e.initial);
  EXPECT_GT(e.plastic, 0.95 * e.initial);
  EXPECT_LT(e.hourglass, 0.03 * e.initial);
  EXPECT_GT(e.hourglass, 0);
  EXPECT_GT(e.viscous, 0);
  EXPECT_LT(e.viscous, 0.02 * e.initial);
  EXPECT_LT(e.plastic + e.hourglass, e.internal);
  EXPECT_LT(shape.report.worst_balance, 1e-3);
}

TEST(TaylorBar, IsTheSameOnEveryBackend) {
  const auto run = [](const std::string& backend) {
    TaylorBar bar(2, 1, 7, rod_type);
    return impact(bar, {0.06, 1.2}, backend, 0.01);
  };
  const TaylorShape expected = run("openmp:1");
  EXPECT_GT(expected.strain, 0.2);
  for (const char* backend : {"openmp", "debug", "debug:2"}) {
    const TaylorShape found = run(backend), again = run(backend);
    EXPECT_EQ(found.report.steps, expected.report.steps) << backend;
    EXPECT_NEAR(found.length, expected.length, 1e-10 * expected.length) << backend;
    EXPECT_NEAR(found.radius, expected.radius, 1e-10 * expected.radius) << backend;
    EXPECT_NEAR(found.strain, expected.strain, 1e-9 * expected.strain) << backend;
    EXPECT_NEAR(found.energies.plastic, expected.energies.plastic, 1e-9 * expected.energies.initial) << backend;
    EXPECT_EQ(found.length, again.length) << backend;
    EXPECT_EQ(found.energies, again.energies) << backend;
  }
}

}  // namespace
}  // namespace voussoir::validation
