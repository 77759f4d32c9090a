#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "column_deck.hpp"

// Explicit dynamics of plastic C3D10, C3D20 and C3D20R.

namespace voussoir {
namespace {

using testing::KeptSteps;
using testing::run_deck;

/// A bar along z of nx × nx × nz cells, each a hexahedron or six tetrahedra. Sets: NALL, FOOT (z = 0), TOP (z =
/// height), X0 and Y0 (x = 0, y = 0), EALL.
std::string bar_mesh(const std::string& type, int nx, int nz, double width, double height) {
  using Grid = std::array<int, 3>;  // twice the number of cells
  std::map<Grid, int> number;
  std::vector<Grid> nodes;
  const auto node = [&](const Grid& at) {
    const auto [found, added] = number.try_emplace(at, static_cast<int>(nodes.size()) + 1);
    if (added) nodes.push_back(at);
    return found->second;
  };
  std::vector<std::vector<int>> elements;
  const auto add = [&](const std::vector<Grid>& corners, const std::vector<std::array<int, 2>>& edges) {
    std::vector<int> own;
    for (const Grid& corner : corners) own.push_back(node(corner));
    for (const auto& [a, b] : edges) {
      const Grid &from = corners[static_cast<std::size_t>(a)], &to = corners[static_cast<std::size_t>(b)];
      own.push_back(node({(from[0] + to[0]) / 2, (from[1] + to[1]) / 2, (from[2] + to[2]) / 2}));
    }
    elements.push_back(own);
  };
  const std::vector<std::array<int, 2>> of_hex = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                                  {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const std::vector<std::array<int, 2>> of_tet = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  const int tets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < nx; ++j)
      for (int i = 0; i < nx; ++i) {
        std::vector<Grid> c;
        for (const int up : {0, 2})
          for (const auto& [x, y] : {std::array{0, 0}, {2, 0}, {2, 2}, {0, 2}})
            c.push_back({2 * i + x, 2 * j + y, 2 * k + up});
        if (type == "C3D10")
          for (const auto& tet : tets) {
            std::vector<Grid> corners;
            for (const int n : tet) corners.push_back(c[static_cast<std::size_t>(n)]);
            add(corners, of_tet);
          }
        else
          add(c, type.starts_with("C3D20") ? of_hex : std::vector<std::array<int, 2>>());
      }
  std::ostringstream text;
  text.precision(17);
  text << "*NODE, NSET=NALL\n";
  for (std::size_t n = 0; n < nodes.size(); ++n)
    text << n + 1 << ", " << nodes[n][0] * width / (2 * nx) << ", " << nodes[n][1] * width / (2 * nx) << ", "
         << nodes[n][2] * height / (2 * nz) << "\n";
  text << "*ELEMENT, TYPE=" << type << ", ELSET=EALL\n";
  for (std::size_t e = 0; e < elements.size(); ++e) {
    text << e + 1;
    for (std::size_t a = 0; a < elements[e].size(); ++a) text << (a == 11 ? ",\n" : ", ") << elements[e][a];
    text << "\n";
  }
  const auto set = [&](const char* name, auto&& has) {
    text << "*NSET, NSET=" << name << "\n";
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (has(nodes[n])) text << n + 1 << ",\n";
  };
  set("FOOT", [](const Grid& at) { return at[2] == 0; });
  set("TOP", [&](const Grid& at) { return at[2] == 2 * nz; });
  set("X0", [](const Grid& at) { return at[0] == 0; });
  set("Y0", [](const Grid& at) { return at[1] == 0; });
  return text.str();
}

std::string material(double young, double poisson, double density, const std::string& plastic) {
  std::ostringstream text;
  text << "*MATERIAL, NAME=M\n*ELASTIC\n"
       << young << ", " << poisson << "\n*DENSITY\n"
       << density << "\n*PLASTIC\n"
       << plastic << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  return text.str();
}

std::vector<double> at_points(const KeptSteps& kept, const std::string& name) {
  std::vector<double> all;
  for (const PointField& field : kept.states.at(0).back().result.points)
    if (field.has(name))
      for (std::size_t p = static_cast<std::size_t>(field.name_index(name)); p < field.values.size();
           p += field.names.size())
        all.push_back(field.values[p]);
  return all;
}
double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
double total_of(const KeptSteps& kept, const std::string& name) {
  for (const auto& [known, value] : kept.responses.at(0).totals)
    if (known == name) return value;
  return std::nan("");
}

/// Perfect plasticity with λ along z and nothing across: σz − σx = σy = 2μ ln λ − 3μ α (Kirchhoff stresses). A second
/// bar of one element is free, so that there is something to integrate.
TEST(QuadraticPlasticSteps, UniaxialStrainHasItsClosedForm) {
  constexpr double mu = 400, yield = 10, stretch = 1.2;
  const double flow = (2 * mu * std::log(stretch) - yield) / (3 * mu);
  for (const char* type : {"C3D10", "C3D20", "C3D20R"}) {
    SCOPED_TRACE(type);
    std::string free = "*ELEMENT, TYPE=C3D8, ELSET=FREE\n1001, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008\n";
    std::ostringstream corners;
    corners << "*NODE\n";
    for (int i = 0; i < 8; ++i)
      corners << 1001 + i << ", " << 5 + (i % 4 == 1 || i % 4 == 2) << ", " << (i % 4 > 1) << ", " << i / 4 << "\n";
    const auto ran = run_deck(bar_mesh(type, 1, 1, 1, 1) + corners.str() + free + material(1000, 0.25, 1, "10., 0.\n") +
                              "*MATERIAL, NAME=F\n*ELASTIC\n1000., 0.25\n*DENSITY\n1.\n*SOLID SECTION, ELSET=FREE, "
                              "MATERIAL=F\n*AMPLITUDE, NAME=COURSE\n0., 0., 1., 1.\n*NSET, NSET=MIDDLE\n" +
                              [&] {  // nodes between the ends move half as far
                                std::string set;
                                std::istringstream lines(bar_mesh(type, 1, 1, 1, 1));
                                for (std::string line; std::getline(lines, line) && !line.starts_with("*ELEMENT");)
                                  if (line.ends_with(", 0.5")) set += line.substr(0, line.find(',')) + ",\n";
                                return set;
                              }() +
                              "*BOUNDARY\nNALL, 1, 2\nFOOT, 3\n*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 1.\n"
                              "*BOUNDARY, AMPLITUDE=COURSE\nTOP, 3, 3, 0.2\nMIDDLE, 3, 3, 0.1\n*END STEP\n");
    const std::vector<double> strains = at_points(ran.kept, "peeq");
    ASSERT_FALSE(strains.empty());
    for (const double strain : strains) EXPECT_NEAR(strain, flow, 1e-10);
    EXPECT_NEAR(total_of(ran.kept, "plastic"), yield * flow, 1e-9 * yield * flow);
  }
}

/// A bar that is bent and shortened by its ends and brought back: masses are lumped in explicit steps and consistent in
/// implicit ones.
TEST(QuadraticPlasticSteps, AgreeWithImplicitOnes) {
  for (const char* type : {"C3D10", "C3D20"}) {
    SCOPED_TRACE(type);
    std::ostringstream course;
    for (int i = 0; i <= 20; ++i) course << 0.05 * i << ", " << (1 - std::cos(std::acos(-1.0) * 0.1 * i)) / 2 << "\n";
    const std::string model = bar_mesh(type, 1, 3, 1, 3) + material(1000, 0.25, 2, "30., 0.\n45., 0.1\n") +
                              "*BOUNDARY\nFOOT, 1, 3\n*AMPLITUDE, NAME=COURSE\n" + course.str();
    const std::string motion = "*BOUNDARY, AMPLITUDE=COURSE\nTOP, 3, 3, -0.3\nTOP, 1, 1, 0.3\n*END STEP\n";
    const auto is = run_deck(model + "*STEP, NLGEOM, INC=10000\n*DYNAMIC, EXPLICIT, SCALE FACTOR=0.5\n, 1.\n" + motion);
    const auto expected = run_deck(model + "*STEP, NLGEOM, INC=10000\n*DYNAMIC, DIRECT, ALPHA=0\n0.01, 1.\n" + motion);
    const double work = total_of(expected.kept, "external");
    EXPECT_GT(work, 10);
    EXPECT_NEAR(total_of(is.kept, "external"), work, 0.02 * work);
    EXPECT_NEAR(total_of(is.kept, "internal"), total_of(expected.kept, "internal"), 0.02 * work);
    EXPECT_GT(total_of(is.kept, "plastic"), 0.8 * work);
    EXPECT_LT(std::abs(total_of(is.kept, "numerical")), 1e-3 * work);
    const double strain = mean(at_points(expected.kept, "peeq"));
    EXPECT_GT(strain, 0.05);
    EXPECT_NEAR(mean(at_points(is.kept, "peeq")), strain, 0.03 * strain);
  }
}

/// A quarter of a copper rod of square section that hits a wall at 227 m/s (mm, ms, g).
TEST(QuadraticPlasticSteps, AnImpactIsThatOfOnePointElements) {
  constexpr double height = 32.4;
  const auto impact = [&](const std::string& type, int nx, int nz) {
    auto ran = run_deck(bar_mesh(type, nx, nz, 3.2, height) + material(117e3, 0.35, 8.93e-3, "400., 0.\n800., 4.\n") +
                        "*BOUNDARY\nFOOT, 3\nX0, 1\nY0, 2\n*INITIAL CONDITIONS, "
                        "TYPE=VELOCITY\nNALL, 3, -227.\n*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 0.02\n*END STEP\n");
    const StepResult& end = ran.kept.states.at(0).back().result;
    double shortened = 0, initial = total_of(ran.kept, "kinetic") + total_of(ran.kept, "internal");
    for (std::int32_t n = 0; n < ran.job.domains[0]->node_count(); ++n)
      shortened = std::min(shortened, end.unknowns.at(n, "uz"));
    return std::array{-shortened, total_of(ran.kept, "plastic") / initial, total_of(ran.kept, "numerical") / initial};
  };
  const auto expected = impact("C3D8R", 2, 16);
  EXPECT_GT(expected[0], 3);
  for (const char* type : {"C3D10", "C3D20", "C3D20R"}) {
    const auto found = impact(type, 1, 8);
    EXPECT_NEAR(found[0], expected[0], 0.02 * expected[0]) << type;
    EXPECT_NEAR(found[1], expected[1], 0.03) << type;
    EXPECT_LT(std::abs(found[2]), 1e-3) << type;
  }
}

}  // namespace
}  // namespace voussoir
