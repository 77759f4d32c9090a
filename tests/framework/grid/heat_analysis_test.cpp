// Heat on grids against closed forms: eigenfunctions of the differences, orders in space and time, conservation, and
// steady states.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/framework/grid/heat_analysis.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
constexpr double pi = std::numbers::pi;

std::shared_ptr<Backend> cpu() {
  static const auto backend = Backend::open("openmp:2");
  return backend;
}

double largest_difference(const GridField& field, const std::function<double(const GridPosition&)>& exact) {
  const auto values = field.to_host();
  double worst = 0;
  for (std::size_t n = 0; n < values.size(); ++n)
    worst = std::max(worst, std::abs(values[n] - exact(field.grid().position(static_cast<std::int64_t>(n)))));
  return worst;
}

Grid periodic_grid(int dimensions, std::array<int, 3> nodes, std::array<double, 3> lengths = {1, 1, 1}) {
  Grid grid(dimensions, nodes, lengths);
  grid.sides(SideCondition::periodic());
  return grid;
}

/// The eigenvalue of a second difference for a wave of `wave` periods over n nodes, h apart.
double eigenvalue(int wave, int n, double h) { return -4 * std::pow(std::sin(pi * wave / n) / h, 2); }

struct SchemeCase {
  HeatScheme scheme;
  int dimensions;
};

TEST(GridHeat, PeriodicWavesDecayByTheDiscreteFactorExactly) {
  for (const SchemeCase& c : {SchemeCase{HeatScheme::douglas, 1}, SchemeCase{HeatScheme::douglas, 2},
                              SchemeCase{HeatScheme::douglas, 3}, SchemeCase{HeatScheme::peaceman_rachford, 2},
                              SchemeCase{HeatScheme::explicit_euler, 1}, SchemeCase{HeatScheme::explicit_euler, 3}}) {
    const std::array<int, 3> nodes{16, 9, 7}, waves{2, 1, 3};
    const std::array<double, 3> lengths{2, 0.9, 1.3};
    const Grid grid = periodic_grid(c.dimensions, nodes, lengths);
    HeatMaterial material{{1.5, 0.7, 0.3}, 2, 0.8};
    const double step =
        c.scheme == HeatScheme::explicit_euler ? 0.9 * GridHeatAnalysis::explicit_limit(grid, material) : 0.05;
    GridHeatAnalysis heat(grid, material, {c.scheme, step}, cpu());
    const auto wave = [&](const GridPosition& x) {
      double product = 1;
      for (std::size_t a = 0; a < static_cast<std::size_t>(c.dimensions); ++a)
        product *= std::cos(2 * pi * waves[a] * x[a] / lengths[a] + 0.3);
      return product;
    };
    heat.temperature().fill(wave);
    heat.run(7);
    double sum = 0, implicit = 1, changed = 1;
    for (int a = 0; a < c.dimensions; ++a) {
      const auto i = static_cast<std::size_t>(a);
      const double z = step * material.diffusivity(a) * eigenvalue(waves[i], nodes[i], grid.spacing(a));
      sum += z;
      implicit *= 1 - z / 2;
      changed *= 1 + z / 2;
    }
    // Douglas: Π (1 − z/2) (u' − u) = Σ z u. Peaceman and Rachford: Π (1 + z/2) / Π (1 − z/2).
    const double factor = c.scheme == HeatScheme::explicit_euler ? 1 + sum
                          : c.scheme == HeatScheme::douglas      ? 1 + sum / implicit
                                                                 : changed / implicit;
    EXPECT_LT(
        largest_difference(heat.temperature(), [&](const GridPosition& x) { return std::pow(factor, 7) * wave(x); }),
        1e-13)
        << to_string(c.scheme) << " in " << c.dimensions << " dimensions";
  }
}

TEST(GridHeat, NeumannAndDirichletEigenfunctionsDecayByTheDiscreteFactor) {
  Grid grid({11, 14}, {1, 2});
  grid.side("x-", SideCondition::temperature(0)).side("x+", SideCondition::temperature(0));
  for (const HeatScheme scheme : {HeatScheme::douglas, HeatScheme::peaceman_rachford, HeatScheme::explicit_euler}) {
    const HeatMaterial material{{1, 2, 1}, 1, 1};
    const double step = 0.9 * GridHeatAnalysis::explicit_limit(grid, material);
    GridHeatAnalysis heat(grid, material, {scheme, step}, cpu());
    const auto shape = [](const GridPosition& x) { return std::sin(2 * pi * x[0]) * std::cos(3 * pi * x[1] / 2); };
    heat.temperature().fill(shape);
    heat.run(5);
    const double zx = -step * 4 * std::pow(std::sin(2 * pi / 20) / 0.1, 2);
    const double zy = -2 * step * 4 * std::pow(std::sin(3 * pi / 26) / grid.spacing(1), 2);
    const double factor = scheme == HeatScheme::explicit_euler
                              ? 1 + zx + zy
                              : (1 + zx / 2) * (1 + zy / 2) / ((1 - zx / 2) * (1 - zy / 2));
    EXPECT_LT(
        largest_difference(heat.temperature(), [&](const GridPosition& x) { return std::pow(factor, 5) * shape(x); }),
        1e-13)
        << to_string(scheme);
  }
}

/// Error at time 0.1 of a plate whose exact solution has boundary values that change with time, and a source.
double error_of(HeatScheme scheme, int nodes, int steps, int dimensions) {
  const HeatMaterial material{{0.5, 0.3, 0.2}, 1, 1};
  // u = e^{−t} cos(x + 0.2) cos(2 y + t) cos(z − 0.4 t): everything depends on time, at all sides and at the corners.
  const auto exact = [dimensions](const GridPosition& x, double t) {
    double u = std::exp(-t) * std::cos(x[0] + 0.2);
    if (dimensions > 1) u *= std::cos(2 * x[1] + t);
    if (dimensions > 2) u *= std::cos(x[2] - 0.4 * t);
    return u;
  };
  Grid grid(dimensions, {nodes, nodes, nodes}, {1, 1, 1});
  for (int s = 0; s < 2 * dimensions; ++s)
    grid.side(s, SideCondition::temperature(GridValue::of_place_and_time(exact)));
  GridHeatAnalysis heat(grid, material, {scheme, 0.1 / steps}, cpu());
  heat.temperature().fill([&](const GridPosition& x) { return exact(x, 0); });
  // f = u_t − Σ k u_aa, taken by the host: a field that changes with time is a source of its own at every step.
  GridField source(heat.space());
  for (int n = 0; n < steps; ++n) {
    const double t = heat.time() + (scheme == HeatScheme::explicit_euler ? 0.0 : 0.05 / steps);
    const auto rate = [&](const GridPosition& x) {
      const double e = std::exp(-t), cx = std::cos(x[0] + 0.2);
      const double cy = dimensions > 1 ? std::cos(2 * x[1] + t) : 1, sy = dimensions > 1 ? std::sin(2 * x[1] + t) : 0;
      const double cz = dimensions > 2 ? std::cos(x[2] - 0.4 * t) : 1,
                   sz = dimensions > 2 ? std::sin(x[2] - 0.4 * t) : 0;
      const double u = e * cx * cy * cz;
      double f = -u - e * cx * sy * cz + 0.4 * e * cx * cy * sz + 0.5 * u;
      if (dimensions > 1) f += 0.3 * 4 * u;
      if (dimensions > 2) f += 0.2 * u;
      return f;
    };
    GridField change(heat.space());
    change.fill(rate);
    if (n > 0) heat.space()->backend().axpy(-1, source.vector(), change.vector());
    heat.sources().add(change);
    source.fill(rate);
    heat.step();
  }
  heat.check();
  return largest_difference(heat.temperature(), [&](const GridPosition& x) { return exact(x, 0.1); });
}

TEST(GridHeat, SecondOrderInSpaceAndTimeWithSidesThatChange) {
  for (const SchemeCase& c : {SchemeCase{HeatScheme::douglas, 1}, SchemeCase{HeatScheme::douglas, 2},
                              SchemeCase{HeatScheme::peaceman_rachford, 2}}) {
    const double coarse = error_of(c.scheme, 17, 8, c.dimensions), fine = error_of(c.scheme, 33, 16, c.dimensions),
                 finer = error_of(c.scheme, 65, 32, c.dimensions);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.15) << to_string(c.scheme) << ' ' << c.dimensions;
    EXPECT_NEAR(std::log2(fine / finer), 2, 0.1) << to_string(c.scheme) << ' ' << c.dimensions;
  }
  const double coarse = error_of(HeatScheme::douglas, 9, 4, 3), fine = error_of(HeatScheme::douglas, 17, 8, 3),
               finer = error_of(HeatScheme::douglas, 33, 16, 3);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.25);
  EXPECT_NEAR(std::log2(fine / finer), 2, 0.15);
}

TEST(GridHeat, TimeErrorsFallByFourAtAFixedGrid) {
  // Against the same grid with many more steps, so that only the error in time is left. Large steps: up to τ κ / h²
  // = 50.
  for (const SchemeCase& c : {SchemeCase{HeatScheme::douglas, 2}, SchemeCase{HeatScheme::peaceman_rachford, 2}}) {
    const auto at = [&](int steps) {
      Grid grid({41, 31}, {1, 1});
      grid.side("x-", SideCondition::temperature(GridValue::of_time([](double t) { return std::sin(3 * t); })));
      grid.side("x+", SideCondition::temperature(GridValue::of_time([](double t) { return 1 - std::cos(4 * t); })));
      grid.side("y-", SideCondition::flux(GridValue::of_time([](double t) { return t * t; })));
      GridHeatAnalysis heat(grid, {{1, 1, 1}, 1, 1}, {c.scheme, 1.0 / steps}, cpu());
      heat.run(steps);
      return heat.temperature().to_host();
    };
    const auto reference = at(1280), coarse = at(40), fine = at(80);
    double first = 0, second = 0;
    for (std::size_t n = 0; n < reference.size(); ++n) {
      first = std::max(first, std::abs(coarse[n] - reference[n]));
      second = std::max(second, std::abs(fine[n] - reference[n]));
    }
    EXPECT_NEAR(std::log2(first / second), 2, 0.15) << to_string(c.scheme);
    EXPECT_LT(second, 1e-3);
  }
}

TEST(GridHeat, ValuesThatChangeAlongASideKeepOrderAndAccuracy) {
  // The intermediate fields of split schemes need values of their own at the sides: with those of the temperature,
  // errors are four to seven times larger here. Fine grids, so that steps are long against h².
  for (const int dimensions : {2, 3}) {
    const auto at = [&](int steps) {
      Grid grid(dimensions, {dimensions == 2 ? 81 : 41, 17, 9}, {1, 1, 1});
      const auto wave = GridValue::of_place_and_time([](const GridPosition& x, double t) {
        return std::sin(3 * t) * std::cos(2 * pi * x[1]) * std::cos(pi * x[2]);
      });
      grid.side("x-", SideCondition::temperature(wave)).side("x+", SideCondition::temperature(wave));
      GridHeatAnalysis heat(grid, {{0.2, 1, 1}, 1, 1}, {HeatScheme::douglas, 0.5 / steps}, cpu());
      heat.run(steps);
      return heat.temperature().to_host();
    };
    const auto reference = at(640), coarse = at(20), fine = at(40);
    double first = 0, second = 0;
    for (std::size_t n = 0; n < reference.size(); ++n) {
      first = std::max(first, std::abs(coarse[n] - reference[n]));
      second = std::max(second, std::abs(fine[n] - reference[n]));
    }
    EXPECT_NEAR(std::log2(first / second), 2.1, 0.2) << dimensions << ": " << first << ' ' << second;
    EXPECT_LT(first, 4e-4);
  }
}

TEST(GridHeat, ExplicitStepsAreOfFirstOrderInTime) {
  // Steps that are a fixed part of h²: the error falls by four when h is halved.
  const double coarse = error_of(HeatScheme::explicit_euler, 9, 20, 2),
               fine = error_of(HeatScheme::explicit_euler, 17, 80, 2);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2);
  // At a fixed grid the difference to the limit of small steps halves.
  const auto at = [](int steps) {
    GridHeatAnalysis heat(periodic_grid(1, {16, 1, 1}), {}, {HeatScheme::explicit_euler, 0.01 / steps}, cpu());
    heat.temperature().fill([](const GridPosition& x) { return std::sin(2 * pi * x[0]); });
    heat.run(steps);
    return heat.temperature().at(4);
  };
  const double limit = std::exp(0.01 * eigenvalue(1, 16, 1.0 / 16));
  EXPECT_NEAR((at(20) - limit) / (at(40) - limit), 2, 0.05);
}

TEST(GridHeat, PeacemanRachfordAndDouglasGiveTheSameInTwoDimensions) {
  const auto run = [](HeatScheme scheme) {
    Grid grid({23, 19}, {1, 1.5});
    grid.side("x-", SideCondition::temperature(GridValue::of_place_and_time(
                        [](const GridPosition& x, double t) { return std::sin(5 * t) * x[1] * (1.5 - x[1]); })));
    grid.side("x+", SideCondition::flux(GridValue::of_place([](const GridPosition& x) { return x[1]; })));
    grid.side("y-", SideCondition::flux(GridValue::of_time([](double t) { return std::cos(7 * t); })));
    grid.side("y+", SideCondition::flux(-0.5));
    GridHeatAnalysis heat(grid, {{1, 0.4, 1}, 1.3, 1}, {scheme, 0.02}, cpu());
    heat.temperature().fill([](const GridPosition& x) { return x[0] * std::cos(x[1]); });
    heat.run(20);
    return heat.temperature().to_host();
  };
  const auto one = run(HeatScheme::douglas), two = run(HeatScheme::peaceman_rachford);
  for (std::size_t n = 0; n < one.size(); ++n) EXPECT_NEAR(one[n], two[n], 1e-12);
}

TEST(GridHeat, HeatIsConservedToRounding) {
  for (const SchemeCase& c :
       {SchemeCase{HeatScheme::douglas, 1}, SchemeCase{HeatScheme::douglas, 2}, SchemeCase{HeatScheme::douglas, 3},
        SchemeCase{HeatScheme::peaceman_rachford, 2}, SchemeCase{HeatScheme::explicit_euler, 2}}) {
    Grid grid(c.dimensions, {12, 10, 9}, {1, 1, 1});
    grid.periodic('x');
    if (c.dimensions > 1) {
      grid.side("y-", SideCondition::flux(GridValue::of_time([](double t) { return 2 * std::cos(9 * t); })));
      grid.side("y+",
                SideCondition::flux(GridValue::of_place([](const GridPosition& x) { return std::sin(3 * x[0]); })));
    }
    if (c.dimensions > 2)
      grid.side("z+", SideCondition::flux(GridValue::of_place_and_time(
                          [](const GridPosition& x, double t) { return t + x[0] * x[1]; })));
    const HeatMaterial material{{1, 0.5, 2}, 3, 0.7};
    const double step =
        c.scheme == HeatScheme::explicit_euler ? GridHeatAnalysis::explicit_limit(grid, material) : 0.03;
    GridHeatAnalysis heat(grid, material, {c.scheme, step}, cpu());
    const GridBoxParameters box{4.0, {0.2, 0, 0}, {0.6, 0.5, 0.5}};
    GridTerm term = GridTerm::of("grid.box", &box, sizeof box);
    term.factor = [](double t) { return 1 + t; };
    heat.sources().add(term);
    heat.temperature().fill([](const GridPosition& x) { return 5 + std::sin(40 * x[0]) * x[1]; });
    heat.run(50);
    const HeatBalance balance = heat.balance();
    EXPECT_GT(std::abs(balance.from_sources), 0.01);
    if (c.dimensions > 1) {
      EXPECT_GT(std::abs(balance.through_flux_sides), 1e-3);
    }
    EXPECT_LT(std::abs(balance.remainder()), 1e-12 * balance.content) << to_string(c.scheme) << ' ' << c.dimensions;
  }
}

TEST(GridHeat, SteadyStatesAreLinearAndParabolic) {
  Grid grid({9, 5, 6}, {2, 1, 1});
  grid.side("x-", SideCondition::temperature(10)).side("x+", SideCondition::flux(6)).periodic('y');
  GridHeatAnalysis heat(grid, {{3, 3, 3}, 1, 1}, {HeatScheme::douglas, 0.02}, cpu());
  heat.run(1000);
  EXPECT_LT(largest_difference(heat.temperature(), [](const GridPosition& x) { return 10 + 2 * x[0]; }), 1e-9);

  Grid bar(21, 1.0);
  bar.sides(SideCondition::temperature(0));
  GridHeatAnalysis heated(bar, {{2, 1, 1}, 1, 1}, {HeatScheme::douglas, 0.002}, cpu());
  const GridConstantParameters constant{4};
  heated.sources().add(GridTerm::of("grid.constant", &constant, sizeof constant));
  heated.run(1500);
  EXPECT_LT(largest_difference(heated.temperature(), [](const GridPosition& x) { return x[0] * (1 - x[0]); }), 1e-12);
}

TEST(GridHeat, WrongInputIsRefused) {
  const HeatMaterial material;
  expect_error(ErrorCode::bad_input, {"time step", "greater than zero"}, [&] {
    GridHeatAnalysis(Grid({5, 5}, {1, 1}), material, {HeatScheme::douglas, 0}, cpu());
  });
  expect_error(ErrorCode::bad_input, {"two dimensions", "douglas"}, [&] {
    GridHeatAnalysis(Grid({5, 5, 5}, {1, 1, 1}), material, {HeatScheme::peaceman_rachford, 1}, cpu());
  });
  expect_error(ErrorCode::bad_input, {"larger than explicit schemes allow", "0.015625"}, [&] {
    GridHeatAnalysis(Grid({5, 5}, {1, 1}), material, {HeatScheme::explicit_euler, 0.02}, cpu());
  });
  expect_error(ErrorCode::bad_input, {"conductivity", "-1"}, [&] {
    GridHeatAnalysis(Grid({5, 5}, {1, 1}), {{-1, 1, 1}, 1, 1}, {HeatScheme::douglas, 1}, cpu());
  });
  expect_error(ErrorCode::bad_input, {"square plates", "side x-"}, [&] {
    GridHeatAnalysis(Grid({5, 5}, {1, 1}), material, {HeatScheme::long_vectors, 1e-3}, cpu());
  });
  expect_error(ErrorCode::bad_input, {"2 nodes along y"}, [] { Grid({5, 2}, {1, 1}); });
  expect_error(ErrorCode::bad_input, {"length", "along x", "0"}, [] { Grid({5, 5}, {0, 1}); });
  expect_error(ErrorCode::bad_input, {"no side 'left'"}, [] {
    Grid({5, 5}, {1, 1}).side("left", SideCondition::insulated());
  });
  expect_error(ErrorCode::bad_input, {"no side z-"}, [] {
    Grid({5, 5}, {1, 1}).side("z-", SideCondition::insulated());
  });
  expect_error(ErrorCode::bad_input, {"'duglas'", "'douglas'"}, [] { heat_scheme("duglas"); });
  expect_error(ErrorCode::bad_input, {"outside the grid"}, [] { Grid(5, 1.0).nearest_node({1.2, 0, 0}); });

  Grid grid({5, 5}, {1, 1});
  grid.side("y+", SideCondition::temperature(GridValue::of_time([](double t) { return 1 / (t - 1); })));
  GridHeatAnalysis heat(grid, material, {HeatScheme::douglas, 0.5}, cpu());
  expect_error(ErrorCode::bad_input, {"side y+", "time 1"}, [&] { heat.run(3); });

  GridHeatAnalysis spoiled(Grid({5, 5}, {1, 1}), material, {HeatScheme::explicit_euler, 0.01}, cpu());
  spoiled.temperature().fill([](const GridPosition& x) { return x[0] > 0.9 ? std::nan("") : 1.0; });
  expect_error(ErrorCode::not_finite, {"node 4"}, [&] { spoiled.balance(); });
}

TEST(GridHeat, RestartGivesTheSameBits) {
  for (const HeatScheme scheme : {HeatScheme::douglas, HeatScheme::peaceman_rachford, HeatScheme::explicit_euler}) {
    const auto make = [&] {
      Grid grid({13, 8}, {1, 1});
      grid.side("x-", SideCondition::temperature(GridValue::of_time([](double t) { return std::sin(t); })));
      grid.side("y+", SideCondition::flux(GridValue::of_time([](double t) { return std::cos(t); })));
      auto heat = std::make_unique<GridHeatAnalysis>(grid, HeatMaterial{}, GridHeatOptions{scheme, 1e-3}, cpu());
      const GridGaussianParameters bell{3, {0.5, 0.5, 0}, 0.2};
      GridTerm term = GridTerm::of("grid.gaussian", &bell, sizeof bell);
      term.factor = [](double t) { return 1 + t; };
      heat->sources().add(term);
      heat->temperature().fill([](const GridPosition& x) { return x[0] - x[1] * x[1]; });
      return heat;
    };
    const auto whole = make(), first = make(), second = make();
    whole->run(20);
    first->run(8);
    second->restore(first->state());
    EXPECT_EQ(second->step_count(), 8);
    second->run(12);
    EXPECT_EQ(whole->temperature().to_host(), second->temperature().to_host()) << to_string(scheme);
    EXPECT_EQ(whole->balance().through_flux_sides, second->balance().through_flux_sides);
    EXPECT_EQ(whole->balance().from_sources, second->balance().from_sources);
    EXPECT_EQ(whole->time(), second->time());
  }
}

TEST(GridHeat, ScalesOfZeroAndOneNodeAway) {
  // The smallest grids, all kinds of sides: a constant field stays as it is.
  for (const HeatScheme scheme : {HeatScheme::douglas, HeatScheme::explicit_euler}) {
    for (const SideCondition& side :
         {SideCondition::periodic(), SideCondition::insulated(), SideCondition::temperature(7)}) {
      Grid grid({3, 3, 3}, {1, 1, 1});
      grid.sides(side);
      GridHeatAnalysis heat(grid, {}, {scheme, 0.01}, cpu());
      heat.temperature().fill(7);
      heat.run(3);
      EXPECT_LT(largest_difference(heat.temperature(), [](const GridPosition&) { return 7; }), 1e-13);
    }
  }
}

}  // namespace
}  // namespace voussoir
