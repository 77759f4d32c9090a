// Grid kernels, heat and explicit schemes of users on every backend: the same values as on one thread.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/backends/sweep_services.hpp>
#include <voussoir/framework/grid/explicit_analysis.hpp>
#include <voussoir/framework/grid/grid_library.hpp>
#include <voussoir/framework/grid/heat_analysis.hpp>
#include <voussoir/solvers/stencil/stationary_heat.hpp>

#include "backends_under_test.hpp"
#include "support/expect_error.hpp"
#include "support/grid_kernels.hpp"

namespace voussoir::conformance {
namespace {

using voussoir::testing::AdvectionDiffusion;
using voussoir::testing::GridIgnition;
using voussoir::testing::MixedDerivative;
using voussoir::testing::OnTheHost;

class GridConformance : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<Backend> backend() const { return Backend::open(GetParam()); }
};

/// Grids of every dimension and every kind of sides, with sizes that do not divide by anything.
std::vector<Grid> grids() {
  std::vector<Grid> all;
  const auto add = [&](Grid grid) -> Grid& { return all.emplace_back(std::move(grid)); };
  add(Grid(7, 1.0)).periodic('x');
  add(Grid(300, 2.0)).side("x-", SideCondition::temperature(1)).side("x+", SideCondition::flux(0.5));
  add(Grid({5, 3}, {1, 1})).periodic('x').side("y-", SideCondition::flux(GridValue::of_place([](const GridPosition& x) {
                                                 return std::sin(x[0]);
                                               })));
  add(Grid({37, 11}, {1, 2})).periodic('x').periodic('y');
  add(Grid({4, 13}, {1, 2})).sides(SideCondition::temperature(GridValue::of_place([](const GridPosition& x) {
    return x[0] + x[1];
  })));
  add(Grid({3, 3, 3}, {1, 1, 1})).sides(SideCondition::periodic());
  add(Grid({9, 5, 4}, {1, 1, 1}))
      .periodic('z')
      .side("x-", SideCondition::temperature(2))
      .side("y+", SideCondition::flux(-1));
  add(Grid({6, 7, 8}, {1, 1.5, 1}))
      .side("z-", SideCondition::flux(GridValue::of_place([](const GridPosition& x) { return x[0] * x[1]; })))
      .side("z+", SideCondition::temperature(-1));
  return all;
}

std::vector<double> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = number(generator);
  return values;
}

GridSides sides_of(const GridSpace& space) {
  GridSides sides(space.grid().shape());
  for (int s = 0; s < 2 * space.grid().dimensions(); ++s) {
    const SideCondition& side = space.grid().side(s);
    if (side.kind == SideKind::periodic) continue;
    const auto kind = side.kind == SideKind::prescribed ? GridSideKind::prescribed : GridSideKind::slope;
    std::vector<double> values(static_cast<std::size_t>(side_nodes(space.grid().shape(), s)));
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = 0.3 * static_cast<double>(n % 5) - 0.7;
    if (side.value.uniform())
      sides.set(s, kind, 0.4);
    else
      sides.set(s, kind, space.layout(), values);
  }
  return sides;
}

template <class Kernel>
std::vector<double> applied(const Grid& grid, const std::shared_ptr<Backend>& backend,
                            const typename Kernel::Parameters& parameters) {
  const auto space = std::make_shared<const GridSpace>(grid, backend);
  GridField u(space), other(space), out(space);
  u.from_host(random_values(grid.node_count(), 1));
  other.from_host(random_values(grid.node_count(), 2));
  out.from_host(random_values(grid.node_count(), 3));
  GridArguments arguments;
  arguments.fields = {&u.vector(), &other.vector(), nullptr, nullptr};
  arguments.time = 0.6;
  arguments.step = 0.1;
  arguments.from_field = 0.5;
  arguments.factor = 0.25;
  arguments.keep = -2;
  arguments.parameters = &parameters;
  space->services().apply(GridLibrary::instance().find(Kernel::name), space->layout(), sides_of(*space), arguments,
                          out.vector());
  return out.to_host();
}

void expect_near(const std::vector<double>& one, const std::vector<double>& two, double tolerance) {
  ASSERT_EQ(one.size(), two.size());
  double largest = 0, worst = 0;
  for (std::size_t n = 0; n < one.size(); ++n) {
    largest = std::max(largest, std::abs(one[n]));
    worst = std::max(worst, std::abs(one[n] - two[n]));
  }
  EXPECT_LE(worst, tolerance * std::max(1.0, largest));
}

/// The value of a kernel's formula at a node, by plain loops over the whole grid: the reference.
double at_neighbour(const Grid& grid, const std::vector<double>& u, const GridSides& sides,
                    const std::vector<double>* side_lists, std::array<int, 3> node, std::array<int, 3> offset) {
  double more = 0;
  std::array<int, 3> to = node;
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    const int n = grid.nodes(a);
    if (n == 1 || offset[i] == 0) continue;
    to[i] = node[i] + offset[i];
    if (to[i] >= 0 && to[i] < n) continue;
    const int side = 2 * a + (to[i] < 0 ? 0 : 1);
    if (grid.is_periodic(a)) {
      to[i] = (to[i] + n) % n;
      continue;
    }
    to[i] = node[i] - offset[i];
    std::size_t place = 0, stride = 1;
    for (std::size_t b = 0; b < 3; ++b) {
      if (b == i) continue;
      place += stride * static_cast<std::size_t>(node[b]);
      stride *= static_cast<std::size_t>(grid.nodes(static_cast<int>(b)));
    }
    more += 2 * grid.spacing(a) * (side_lists[side].empty() ? sides.value(side) : side_lists[side][place]);
  }
  return u[static_cast<std::size_t>(to[0] + grid.nodes(0) * (to[1] + grid.nodes(1) * to[2]))] + more;
}

TEST_P(GridConformance, StencilsAgreeWithPlainLoops) {
  const auto own = backend();
  for (const Grid& grid : grids()) {
    const AdvectionDiffusion::Parameters p{{0.7, -0.4, 0.2}, 0.3};
    const auto space = std::make_shared<const GridSpace>(grid, own);
    const GridSides sides = sides_of(*space);
    std::vector<double> lists[6];
    for (int s = 0; s < 2 * grid.dimensions(); ++s)
      if (grid.side(s).kind != SideKind::periodic && !grid.side(s).value.uniform())
        for (std::int64_t n = 0; n < side_nodes(grid.shape(), s); ++n)
          lists[s].push_back(0.3 * static_cast<double>(n % 5) - 0.7);
    const auto u = random_values(grid.node_count(), 1), before = random_values(grid.node_count(), 3);
    std::vector<double> expected(u.size());
    for (int k = 0; k < grid.nodes(2); ++k)
      for (int j = 0; j < grid.nodes(1); ++j)
        for (int i = 0; i < grid.nodes(0); ++i) {
          const std::size_t n = static_cast<std::size_t>(i + grid.nodes(0) * (j + grid.nodes(1) * k));
          const auto at = [&](int di, int dj, int dk) {
            return at_neighbour(grid, u, sides, lists, {i, j, k}, {di, dj, dk});
          };
          const std::array<int, 3> node{i, j, k};
          bool prescribed = false;
          for (int a = 0; a < grid.dimensions(); ++a)
            for (const int end : {0, 1})
              prescribed = prescribed || (grid.side(2 * a + end).kind == SideKind::prescribed &&
                                          node[static_cast<std::size_t>(a)] == (end ? grid.nodes(a) - 1 : 0));
          const double hx = grid.spacing(0), hy = grid.spacing(1), hz = grid.spacing(2), here = at(0, 0, 0);
          double value = 0;
          if (!prescribed) {
            value = p.diffusivity * (at(1, 0, 0) + at(-1, 0, 0) - 2 * here) / (hx * hx);
            if (grid.nodes(1) > 1) value += p.diffusivity * (at(0, 1, 0) + at(0, -1, 0) - 2 * here) / (hy * hy);
            if (grid.nodes(2) > 1) value += p.diffusivity * (at(0, 0, 1) + at(0, 0, -1) - 2 * here) / (hz * hz);
            value -= p.velocity[0] * (at(1, 0, 0) - at(-1, 0, 0)) / (2 * hx) +
                     p.velocity[1] * (at(0, 1, 0) - at(0, -1, 0)) / (2 * hy) +
                     p.velocity[2] * (at(0, 0, 1) - at(0, 0, -1)) / (2 * hz);
          }
          expected[n] = 0.5 * u[n] + 0.25 * value - 2 * before[n];
        }
    expect_near(expected, applied<AdvectionDiffusion>(grid, own, p), 1e-13);
  }
}

TEST_P(GridConformance, KernelsAgreeWithOneThread) {
  const auto own = backend(), one = Backend::open(oracle);
  for (const Grid& grid : grids()) {
    expect_near(applied<MixedDerivative>(grid, one, {0.3}), applied<MixedDerivative>(grid, own, {0.3}), 1e-13);
    expect_near(applied<GridIgnition>(grid, one, {0.3, 2}), applied<GridIgnition>(grid, own, {0.3, 2}), 1e-13);
    expect_near(applied<OnTheHost>(grid, one, {}), applied<OnTheHost>(grid, own, {}), 1e-13);
  }
}

TEST_P(GridConformance, SumsHaveTheSameBitsEverywhere) {
  const auto own = backend(), one = Backend::open(oracle);
  for (const Grid& grid : grids()) {
    const auto summary = [&](const std::shared_ptr<Backend>& backend) {
      const auto space = std::make_shared<const GridSpace>(grid, backend);
      GridField u(space);
      u.from_host(random_values(grid.node_count(), 7));
      return u.summary();
    };
    const GridSummary a = summary(one), b = summary(own);
    if (grid.dimensions() > 1) {
      EXPECT_EQ(a.sum, b.sum);
    } else {
      EXPECT_NEAR(a.sum, b.sum, 1e-13);  // lines are cut where devices meet
    }
    EXPECT_EQ(a.least, b.least);
    EXPECT_EQ(a.greatest, b.greatest);
    EXPECT_EQ(a.least_at, b.least_at);
    EXPECT_EQ(a.greatest_at, b.greatest_at);
    const auto values = random_values(grid.node_count(), 7);
    EXPECT_EQ(values[static_cast<std::size_t>(a.greatest_at)], a.greatest);
  }
}

std::vector<double> heat_of(HeatScheme scheme, int dimensions, const std::shared_ptr<Backend>& backend,
                            bool layered = false) {
  Grid grid(dimensions, {20, 18, 7}, {1, 1.2, 0.8});  // every device gets eight lines and more
  grid.side("x-", SideCondition::temperature(GridValue::of_time([](double t) { return std::sin(4 * t); })));
  if (dimensions > 1)
    grid.side("y+", SideCondition::flux(
                        GridValue::of_place_and_time([](const GridPosition& x, double t) { return x[0] + 3 * t; })));
  if (dimensions > 2) grid.periodic('z');
  const HeatMaterial material{{1, 0.5, 0.8}, 1, 1};
  GridMaterials layers(grid, material);
  layers.fill([](const GridPosition& x) {
    return x[0] < 0.4 ? HeatMaterial{{3, 0.1, 1}, 2, 1} : HeatMaterial{{0.2, 1 + x[1], 0.5}, 1, 0.5 + x[2]};
  });
  const double limit =
      layered ? GridHeatAnalysis::explicit_limit(grid, layers) : GridHeatAnalysis::explicit_limit(grid, material);
  const GridHeatOptions options{scheme, scheme == HeatScheme::explicit_euler ? 0.5 * limit : 0.01};
  const auto made = layered ? std::make_unique<GridHeatAnalysis>(grid, layers, options, backend)
                            : std::make_unique<GridHeatAnalysis>(grid, material, options, backend);
  GridHeatAnalysis& heat = *made;
  const GridGaussianParameters bell{5, {0.5, 0.5, 0}, 0.3};
  heat.sources().add(GridTerm::of("grid.gaussian", &bell, sizeof bell));
  const GridBoxParameters box{2, {0.2, -1, -1}, {0.6, 2, 2}};
  GridTerm term = GridTerm::of("grid.box", &box, sizeof box);
  term.factor = [](double t) { return std::cos(t); };
  heat.sources().add(term);
  heat.temperature().fill([](const GridPosition& x) { return x[0] * x[1] - x[2]; });
  heat.run(6);
  auto values = heat.temperature().to_host();
  const HeatBalance balance = heat.balance();
  values.push_back(balance.content);
  values.push_back(balance.from_sources);
  values.push_back(balance.through_flux_sides);
  return values;
}

TEST_P(GridConformance, HeatAgreesWithOneThread) {
  const auto own = backend(), one = Backend::open(oracle);
  if (!own->find<SweepServices>()) GTEST_SKIP() << "the backend has no sweeps";
  for (const auto& [scheme, dimensions] :
       {std::pair{HeatScheme::douglas, 1}, std::pair{HeatScheme::douglas, 2}, std::pair{HeatScheme::douglas, 3},
        std::pair{HeatScheme::peaceman_rachford, 2}, std::pair{HeatScheme::explicit_euler, 2}})
    for (const bool layered : {false, true})
      expect_near(heat_of(scheme, dimensions, one, layered), heat_of(scheme, dimensions, own, layered), 1e-12);
}

TEST_P(GridConformance, ValuesHaveTheSameBitsForAnyNumberOfThreadsAndDevices) {
  const std::string name = GetParam();
  const auto own = backend();
  const std::string family = name.substr(0, name.find(':'));
  const auto other = Backend::open(family == "openmp" || family == "debug" ? oracle : family);
  for (const auto& [scheme, dimensions] :
       {std::pair{HeatScheme::douglas, 1}, std::pair{HeatScheme::douglas, 2}, std::pair{HeatScheme::douglas, 3},
        std::pair{HeatScheme::peaceman_rachford, 2}, std::pair{HeatScheme::explicit_euler, 3}}) {
    auto one = heat_of(scheme, dimensions, other), two = heat_of(scheme, dimensions, own);
    one.resize(one.size() - 3);  // without sums, which are cut where devices meet in one dimension
    two.resize(two.size() - 3);
    EXPECT_EQ(one, two) << to_string(scheme) << ' ' << dimensions;
  }
  for (const Grid& grid : grids()) {
    const AdvectionDiffusion::Parameters p{{0.7, -0.4, 0.2}, 0.3};
    EXPECT_EQ(applied<AdvectionDiffusion>(grid, other, p), applied<AdvectionDiffusion>(grid, own, p));
  }
}

TEST_P(GridConformance, LongVectorsAgreeWithTheExplicitScheme) {
  const auto run = [](HeatScheme scheme, const std::shared_ptr<Backend>& backend) {
    Grid grid({17, 17}, {1, 1});
    grid.sides(SideCondition::temperature(GridValue::of_place([](const GridPosition& x) { return x[0] - x[1]; })));
    GridHeatAnalysis heat(grid, {}, {scheme, 5e-4}, backend);
    heat.temperature().fill([](const GridPosition& x) { return std::sin(9 * x[0]) * x[1]; });
    heat.run(10);
    return heat.temperature().to_host();
  };
  const auto own = backend();
  if (!own->find<StencilServices>()) GTEST_SKIP() << "the backend has no stencils";
  expect_near(run(HeatScheme::explicit_euler, own), run(HeatScheme::long_vectors, own), 1e-13);
}

TEST_P(GridConformance, AUsersExplicitSchemeFollowsItsClosedForm) {
  // A wave that is carried along and decays: forward Euler multiplies it by 1 + Δt (D λ − i v μ).
  constexpr int n = 24;
  Grid grid({n, 5}, {1, 1});
  grid.periodic('x').periodic('y');
  const double step = 1e-3, wave = 2 * std::numbers::pi;
  ExplicitGridAnalysis analysis(grid, step, backend());
  analysis.add<AdvectionDiffusion>({{0.8, 0, 0}, 0.05});
  analysis.field().fill([&](const GridPosition& x) { return std::cos(wave * x[0]); });
  analysis.run(40);
  const double h = 1.0 / n, real = 1 - step * 0.05 * 4 * std::pow(std::sin(wave * h / 2) / h, 2),
               imaginary = -step * 0.8 * std::sin(wave * h) / h;
  const double size = std::pow(std::hypot(real, imaginary), 40), turn = 40 * std::atan2(imaginary, real);
  const auto values = analysis.field().to_host();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], size * std::cos(wave * grid.position(static_cast<std::int64_t>(i))[0] + turn), 1e-13);
}

TEST_P(GridConformance, StationaryHeatIsParabolic) {
  const auto own = backend();
  if (!own->find<StencilServices>()) GTEST_SKIP() << "the backend has no stencils";
  Grid grid({9, 4, 5}, {1, 1, 1});
  grid.side("x-", SideCondition::temperature(1)).side("x+", SideCondition::flux(3)).periodic('z');
  const auto space = std::make_shared<const GridSpace>(grid, own);
  GridField u(space);
  GridSources sources(space);
  const GridConstantParameters constant{4};
  sources.add(GridTerm::of("grid.constant", &constant, sizeof constant));
  JacobiOptions options;
  options.iterations = 2000;
  options.tolerance = 1e-11;
  options.damping = JacobiDamping::chebyshev;
  const StationaryReport report = solve_stationary(u, {{2, 2, 2}, 1, 1}, sources, options);
  EXPECT_TRUE(report.converged) << report.residual;
  // 2 u'' = −4, u(0) = 1, 2 u'(1) = 3.
  const auto values = u.to_host();
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double x = grid.position(static_cast<std::int64_t>(n))[0];
    EXPECT_NEAR(values[n], 1 + 3.5 * x - x * x, 1e-8);
  }
}

TEST_P(GridConformance, MisuseIsRefused) {
  const auto own = backend();
  const auto space = std::make_shared<const GridSpace>(Grid({5, 4}, {1, 1}), own),
             other = std::make_shared<const GridSpace>(Grid({6, 4}, {1, 1}), own);
  GridField u(space), v(other), out(space);
  const GridSides sides(space->grid().shape());
  const auto& program = GridLibrary::instance().find("test.advection_diffusion");
  const AdvectionDiffusion::Parameters parameters{};
  const auto apply = [&](const Vector* field, const void* p, Vector& to) {
    GridArguments arguments;
    arguments.fields[0] = field;
    arguments.parameters = p;
    space->services().apply(program, space->layout(), sides, arguments, to);
  };
  voussoir::testing::expect_error(ErrorCode::misuse, {"test.advection_diffusion", "first field"},
                                  [&] { apply(nullptr, &parameters, out.vector()); });
  voussoir::testing::expect_error(ErrorCode::misuse, {"24"}, [&] { apply(&v.vector(), &parameters, out.vector()); });
  voussoir::testing::expect_error(ErrorCode::misuse, {"another vector"},
                                  [&] { apply(&out.vector(), &parameters, out.vector()); });
  voussoir::testing::expect_error(ErrorCode::misuse, {"parameters"},
                                  [&] { apply(&u.vector(), nullptr, out.vector()); });
  const std::int64_t beyond = 20;
  voussoir::testing::expect_error(ErrorCode::misuse, {"no node 20"}, [&] { u.at(beyond); });
  const KernelSource* source = GridLibrary::instance().find_source(program);
  ASSERT_NE(source, nullptr);
  EXPECT_TRUE(source->file.ends_with("grid_kernels.hpp")) << source->file;
  EXPECT_EQ(source->type_expression, "voussoir::testing::AdvectionDiffusion");
}

TEST(GridKernels, SourcesOfUsersAreComputedAtEveryStep) {
  // u' = rate · cos(t), at every node: it is taken at the middle of each step although it was not declared as depending
  // on time.
  Grid grid({5, 4}, {1, 1});
  grid.periodic('x').periodic('y');
  GridHeatAnalysis heat(grid, {}, {HeatScheme::douglas, 0.1}, Backend::open(oracle));
  heat.sources().add(GridTerm::of<GridIgnition>({0.3, 0}));
  double u = 0;
  for (int n = 0; n < 20; ++n) u += 0.1 * 0.3 * std::exp(u) * std::cos(0.1 * n + 0.05);
  heat.run(20);
  EXPECT_NEAR(heat.temperature().at(7), u, 1e-13);
  const GridBoxParameters box{};
  EXPECT_EQ(GridTerm::of("grid.box", &box, sizeof box).kind, SourceKind::steady);
}

TEST(GridKernels, UnknownNamesAreAnswered) {
  voussoir::testing::expect_error(ErrorCode::not_found, {"grid.difusion", "grid.diffusion"},
                                  [] { GridLibrary::instance().find("grid.difusion"); });
  voussoir::testing::expect_error(ErrorCode::misuse, {"bytes"}, [] {
    const double one = 1;
    GridTerm::of("grid.box", &one, sizeof one);
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, GridConformance, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
