// Materials that differ from node to node: layers in closed form, a fine reference in one dimension, conservation.

#include <voussoir/framework/grid/grid_materials.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/framework/grid/heat_analysis.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

std::shared_ptr<Backend> two_threads() {
  static const auto backend = Backend::open("openmp:2");
  return backend;
}

HeatMaterial isotropic(double conductivity, double capacity) {
  return {{conductivity, conductivity, conductivity}, capacity, 1};
}

/// A wall of three layers along x, 41 nodes over a length of 1: interfaces lie between the nodes 13 and 14, 25 and 26.
constexpr double layer_conductivity[] = {1, 0.05, 2};
constexpr double layer_thickness[] = {13.5 / 40, 12.0 / 40, 14.5 / 40};

GridMaterials wall_of(const Grid& grid) {
  GridMaterials materials(grid, isotropic(layer_conductivity[0], 1));
  materials.box({14.0 / 40, 0, 0}, {25.0 / 40, 1, 1}, isotropic(layer_conductivity[1], 0.5));
  materials.box({26.0 / 40, 0, 0}, {1, 1, 1}, isotropic(layer_conductivity[2], 2));
  return materials;
}

/// ΔT / Σ d/k.
double series_flux(double difference) {
  double resistance = 0;
  for (int l = 0; l < 3; ++l) resistance += layer_thickness[l] / layer_conductivity[l];
  return difference / resistance;
}

/// The steady temperature of the wall between 100 at x = 0 and 20 at x = 1.
double steady_wall(double x) {
  double u = 100, from = 0;
  for (int l = 0; l < 3; ++l) {
    const double inside = std::min(std::max(x - from, 0.0), layer_thickness[l]);
    u -= series_flux(80) * inside / layer_conductivity[l];
    from += layer_thickness[l];
  }
  return u;
}

TEST(GridMaterials, LayeredWallHasTheFluxOfResistancesInSeries) {
  Grid grid(41, 1.0);
  grid.side("x-", SideCondition::temperature(100)).side("x+", SideCondition::temperature(20));
  GridHeatAnalysis heat(grid, wall_of(grid), {HeatScheme::douglas, 0.02}, two_threads());
  heat.temperature().fill(50);
  heat.run(6000);
  const auto u = heat.temperature().to_host();
  const GridMaterials materials = wall_of(grid);
  for (std::int64_t i = 0; i < 40; ++i) {
    const double k = face_conductivity(materials.conductivity(0, i), materials.conductivity(0, i + 1));
    const auto n = static_cast<std::size_t>(i);
    EXPECT_NEAR(k * (u[n] - u[n + 1]) * 40, series_flux(80), 1e-8) << i;
    EXPECT_NEAR(u[n], steady_wall(static_cast<double>(i) / 40), 1e-8) << i;
  }
}

TEST(GridMaterials, SteadyLayersStayWithEverySchemeAndDimension) {
  struct Case {
    HeatScheme scheme;
    int dimensions;
  };
  for (const Case& c : {Case{HeatScheme::douglas, 1}, Case{HeatScheme::douglas, 2}, Case{HeatScheme::douglas, 3},
                        Case{HeatScheme::peaceman_rachford, 2}, Case{HeatScheme::explicit_euler, 2},
                        Case{HeatScheme::explicit_euler, 3}}) {
    Grid grid(c.dimensions, {41, 5, 4}, {1, 1, 1});
    // The heat flow that holds the wall in its state leaves at x+; the layers are insulated along y and z.
    grid.side("x-", SideCondition::temperature(100)).side("x+", SideCondition::flux(-series_flux(80)));
    if (c.dimensions > 2) grid.periodic('z');
    const GridMaterials materials = wall_of(grid);
    const double step =
        c.scheme == HeatScheme::explicit_euler ? GridHeatAnalysis::explicit_limit(grid, materials) : 0.3;
    GridHeatAnalysis heat(grid, materials, {c.scheme, step}, two_threads());
    heat.temperature().fill([](const GridPosition& x) { return steady_wall(x[0]); });
    heat.run(50);
    const auto u = heat.temperature().to_host();
    for (std::size_t n = 0; n < u.size(); ++n)
      ASSERT_NEAR(u[n], steady_wall(grid.position(static_cast<std::int64_t>(n))[0]), 1e-9)
          << to_string(c.scheme) << " in " << c.dimensions << " dimensions, node " << n;
  }
}

/// Temperatures of a bar of two layers with cells of its own: implicit, small steps, many cells. Both ends are held at
/// 0, the bar begins at 1. Values in the middles of `samples` equal pieces.
std::vector<double> fine_reference(double k1, double c1, double k2, double c2, double end, int cells, int steps) {
  const double h = 1.0 / cells, step = end / steps;
  std::vector<double> u(static_cast<std::size_t>(cells), 1.0), upper(u.size()), right(u.size());
  const auto k = [&](int i) { return i < cells / 2 ? k1 : k2; };
  for (int s = 0; s < steps; ++s) {
    // Crank and Nicolson by Thomas' algorithm; faces at the ends are half a cell away.
    const auto face = [&](int i) {  // between the cells i − 1 and i
      if (i == 0) return 2 * k1 / h;
      if (i == cells) return 2 * k2 / h;
      return 2 / (h / k(i - 1) + h / k(i));
    };
    for (int i = 0; i < cells; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const double low = face(i), high = face(i + 1), c = (i < cells / 2 ? c1 : c2) * h / step;
      const double below = i > 0 ? u[n - 1] : 0, above = i + 1 < cells ? u[n + 1] : 0;
      right[n] = c * u[n] + 0.5 * (low * (below - u[n]) + high * (above - u[n]));
    }
    double pivot = 0;
    for (int i = 0; i < cells; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const double low = 0.5 * face(i), high = 0.5 * face(i + 1), c = (i < cells / 2 ? c1 : c2) * h / step;
      pivot = c + low + high - (i > 0 ? low * upper[n - 1] : 0);
      right[n] = (right[n] + (i > 0 ? low * right[n - 1] : 0)) / pivot;
      upper[n] = high / pivot;
    }
    for (int i = cells - 1; i >= 0; --i) {
      const auto n = static_cast<std::size_t>(i);
      u[n] = right[n] + (i + 1 < cells ? upper[n] * u[n + 1] : 0);
    }
  }
  return u;
}

TEST(GridMaterials, TwoLayersFollowAFineReferenceWithEveryScheme) {
  constexpr double k1 = 1, c1 = 1, k2 = 0.2, c2 = 3, end = 0.08;
  constexpr int cells = 2400;
  const auto reference = fine_reference(k1, c1, k2, c2, end, cells, 1600);
  const auto at = [&](double x) {  // between the middles of cells
    const double place = x * cells - 0.5;
    const auto n = static_cast<std::size_t>(std::clamp(place, 0.0, cells - 2.0));
    return reference[n] + (place - static_cast<double>(n)) * (reference[n + 1] - reference[n]);
  };
  for (const HeatScheme scheme : {HeatScheme::douglas, HeatScheme::peaceman_rachford, HeatScheme::explicit_euler}) {
    std::vector<double> errors;
    for (const int nodes : {16, 32, 64}) {  // the interface lies between the two nodes in the middle
      Grid grid({nodes, 4}, {1, 1});
      grid.side("x-", SideCondition::temperature(0)).side("x+", SideCondition::temperature(0));
      GridMaterials materials(grid, isotropic(k1, c1));
      materials.fill([&](const GridPosition& x) { return x[0] < 0.5 ? isotropic(k1, c1) : isotropic(k2, c2); });
      const int steps = scheme == HeatScheme::explicit_euler ? 4 * nodes * nodes : 10 * nodes;
      GridHeatAnalysis heat(grid, materials, {scheme, end / steps}, two_threads());
      heat.temperature().fill(1);
      heat.run(steps);
      const auto u = heat.temperature().to_host();
      double worst = 0;
      for (int i = nodes / 8; i < nodes - nodes / 8; ++i)
        worst = std::max(worst, std::abs(u[static_cast<std::size_t>(i)] - at(grid.spacing(0) * i)));
      errors.push_back(worst);
    }
    // Second order: 63/31 times smaller distances, 4.1 times smaller errors.
    EXPECT_LT(errors[2], 1e-3) << to_string(scheme);
    EXPECT_GT(errors[1] / errors[2], 3.7)
        << to_string(scheme) << " " << errors[0] << " " << errors[1] << " " << errors[2];
  }
}

GridMaterials random_materials(const Grid& grid, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-2, 2);
  GridMaterials materials(grid, isotropic(1, 1));
  for (int a = 0; a < grid.dimensions(); ++a) {
    std::vector<double> k(static_cast<std::size_t>(grid.node_count()));
    for (double& each : k) each = std::pow(10, exponent(random));
    materials.conductivities(a, k);
  }
  std::vector<double> c(static_cast<std::size_t>(grid.node_count()));
  for (double& each : c) each = std::pow(10, 0.5 * exponent(random));
  return materials.capacities(c);
}

TEST(GridMaterials, HeatIsConservedBetweenPeriodicAndFluxSides) {
  for (const HeatScheme scheme : {HeatScheme::douglas, HeatScheme::peaceman_rachford, HeatScheme::explicit_euler})
    for (const int dimensions : {2, 3}) {
      if (scheme == HeatScheme::peaceman_rachford && dimensions == 3) continue;
      Grid grid(dimensions, {13, 9, 7}, {1, 2, 1});
      grid.periodic('x');
      grid.side("y-", SideCondition::flux(GridValue::of_place_and_time(
                          [](const GridPosition& x, double t) { return std::sin(5 * x[0]) + 20 * t; })));
      if (dimensions == 3) grid.side("z+", SideCondition::flux(-0.7));
      const GridMaterials materials = random_materials(grid, 3);
      const double step =
          scheme == HeatScheme::explicit_euler ? 0.9 * GridHeatAnalysis::explicit_limit(grid, materials) : 0.01;
      GridHeatAnalysis heat(grid, materials, {scheme, step}, two_threads());
      heat.temperature().fill([](const GridPosition& x) { return 1 + x[0] * x[1] - x[2]; });
      const GridBoxParameters box{3, {0.2, 0.5, -1}, {0.6, 1.5, 2}};
      heat.sources().add(GridTerm::of("grid.box", &box, sizeof box));
      heat.run(25);
      const HeatBalance balance = heat.balance();
      EXPECT_GT(std::abs(balance.from_sources) + std::abs(balance.through_flux_sides), 1e-6);
      EXPECT_NEAR(balance.remainder(), 0, 2e-12 * std::abs(balance.content)) << to_string(scheme) << dimensions;
    }
}

TEST(GridMaterials, OneMaterialGivesTheSameNumbersBothWays) {
  for (const HeatScheme scheme : {HeatScheme::douglas, HeatScheme::peaceman_rachford, HeatScheme::explicit_euler}) {
    Grid grid({14, 11}, {1, 1.5});
    const auto wave = [](const GridPosition& x, double t) { return std::cos(3 * x[0] + x[1] - 9 * t); };
    grid.side("x-", SideCondition::temperature(GridValue::of_place_and_time(wave)));
    grid.side("x+", SideCondition::flux(GridValue::of_time([](double t) { return 2 + 30 * t; })));
    grid.side("y-", SideCondition::temperature(GridValue::of_place_and_time(wave)));
    grid.side("y+", SideCondition::flux(GridValue::of_time([](double t) { return std::sin(40 * t); })));
    const HeatMaterial material{{0.7, 1.9, 1}, 2, 0.6};
    const double step =
        scheme == HeatScheme::explicit_euler ? 0.8 * GridHeatAnalysis::explicit_limit(grid, material) : 0.01;
    const GridGaussianParameters bell{5, {0.5, 0.5, 0}, 0.3};
    const auto run = [&](GridHeatAnalysis& heat) {
      heat.sources().add(GridTerm::of("grid.gaussian", &bell, sizeof bell));
      heat.temperature().fill([](const GridPosition& x) { return x[0] - x[1]; });
      heat.run(20);
      return heat.temperature().to_host();
    };
    GridHeatAnalysis one(grid, material, {scheme, step}, two_threads());
    GridHeatAnalysis several(grid, GridMaterials(grid, material), {scheme, step}, two_threads());
    EXPECT_FALSE(one.has_several_materials());
    EXPECT_TRUE(several.has_several_materials());
    EXPECT_NEAR(GridHeatAnalysis::explicit_limit(grid, GridMaterials(grid, material)),
                GridHeatAnalysis::explicit_limit(grid, material), 1e-15);
    const auto a = run(one), b = run(several);
    for (std::size_t n = 0; n < a.size(); ++n) ASSERT_NEAR(a[n], b[n], 1e-11) << to_string(scheme) << " " << n;
  }
}

TEST(GridMaterials, SplitSchemesAreOfSecondOrderInTime) {
  for (const HeatScheme scheme : {HeatScheme::douglas, HeatScheme::peaceman_rachford}) {
    Grid grid({13, 12}, {1, 1});
    grid.side("x-", SideCondition::temperature(GridValue::of_place_and_time(
                        [](const GridPosition& x, double t) { return std::sin(3 * x[1] + 4 * t); })));
    grid.side("y+", SideCondition::flux(GridValue::of_time([](double t) { return std::cos(5 * t); })));
    const auto run = [&](int steps) {
      GridMaterials materials(grid, isotropic(1, 1));
      materials.fill([](const GridPosition& x) { return isotropic(0.3 + x[0] * x[1], 1 + x[1]); });
      GridHeatAnalysis heat(grid, materials, {scheme, 0.4 / steps}, two_threads());
      heat.temperature().fill([](const GridPosition& x) { return std::sin(3 * x[1]) * (1 - x[0]); });
      heat.run(steps);
      return heat.temperature().to_host();
    };
    const auto fine = run(1280);
    const auto error = [&](int steps) {
      const auto u = run(steps);
      double worst = 0;
      for (std::size_t n = 0; n < u.size(); ++n) worst = std::max(worst, std::abs(u[n] - fine[n]));
      return worst;
    };
    const double ratio = error(40) / error(80);
    EXPECT_GT(ratio, 3.3) << to_string(scheme);
    EXPECT_LT(ratio, 5) << to_string(scheme);
  }
}

TEST(GridMaterials, RestoredRunsHaveTheSameBits) {
  Grid grid({12, 10}, {1, 1});
  grid.side("x-", SideCondition::temperature(GridValue::of_time([](double t) { return 10 * t; })));
  const GridMaterials materials = random_materials(grid, 8);
  const auto make = [&] {
    return std::make_unique<GridHeatAnalysis>(grid, materials, GridHeatOptions{HeatScheme::douglas, 0.02},
                                              two_threads());
  };
  const auto whole = make(), first = make(), second = make();
  whole->run(9);
  first->run(4);
  second->restore(first->state());
  second->run(5);
  EXPECT_EQ(whole->temperature().to_host(), second->temperature().to_host());
  EXPECT_EQ(whole->balance().content, second->balance().content);
}

TEST(GridMaterials, BadNumbersAreRefusedWithTheirPlace) {
  Grid grid({5, 4}, {1, 1});
  const HeatMaterial good;
  GridMaterials materials(grid, good);
  expect_error(ErrorCode::bad_input, {"conductivity", "node 0", "greater than zero"},
               [&] { GridMaterials(grid, isotropic(0, 1)); });
  expect_error(ErrorCode::bad_input, {"no node", "along y"}, [&] { materials.box({0, 0.4, 0}, {1, 0.6, 0}, good); });
  expect_error(ErrorCode::bad_input, {"no node", "along x"}, [&] { materials.box({2, 0, 0}, {3, 1, 0}, good); });
  std::vector<double> k(20, 1.0);
  k[7] = std::nan("");
  expect_error(ErrorCode::bad_input, {"conductivity", "node 7"}, [&] { materials.conductivities(k); });
  k[7] = -1;
  expect_error(ErrorCode::bad_input, {"capacity", "node 7"}, [&] { materials.capacities(k); });
  expect_error(ErrorCode::bad_input, {"3 values", "20 nodes"}, [&] { materials.capacities({1, 2, 3}); });
  expect_error(ErrorCode::misuse, {"no axis 2"}, [&] { materials.conductivities(2, std::vector<double>(20, 1.0)); });
  expect_error(ErrorCode::bad_input, {"long-vectors", "one material"}, [&] {
    GridHeatAnalysis(grid, materials, {HeatScheme::long_vectors, 1e-3}, two_threads());
  });
  expect_error(ErrorCode::bad_input, {"20 nodes", "has 30"}, [&] {
    GridHeatAnalysis(Grid({5, 6}, {1, 1}), materials, {HeatScheme::douglas, 1e-3}, two_threads());
  });
  const double limit = GridHeatAnalysis::explicit_limit(grid, materials);
  expect_error(ErrorCode::bad_input, {"larger than explicit schemes allow"}, [&] {
    GridHeatAnalysis(grid, materials, {HeatScheme::explicit_euler, 1.01 * limit}, two_threads());
  });
}

TEST(GridMaterials, StepsFarTooLargeNameStepAndPlace) {
  Grid grid({9, 8}, {1, 1});
  expect_error(ErrorCode::bad_input, {"time step 1e+300", "rho c h^2 / k along x", "smaller step"}, [&] {
    GridHeatAnalysis(grid, HeatMaterial{}, {HeatScheme::douglas, 1e300}, two_threads());
  });
  // Values that overflow while steps are taken.
  GridHeatAnalysis heat(grid, GridMaterials(grid, isotropic(1, 1)), {HeatScheme::douglas, 1}, two_threads());
  heat.temperature().fill([](const GridPosition& x) { return x[0] > 0.4 && x[0] < 0.6 ? 1e308 : -1e308; });
  expect_error(ErrorCode::not_finite, {"x = ", "time step 1", "smaller step"}, [&] { heat.run(3); });
}

}  // namespace
}  // namespace voussoir
