#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Plastic flow in statics and implicit dynamics with NLGEOM. Numbers of CalculiX are those of version 2.20.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::RanDeck;
using testing::run_deck;

constexpr double plastic_young = 1000, plastic_poisson = 0.25;
const std::vector<HardeningPoint> plastic_table{{10, 0}, {20, 0.02}, {26, 0.1}};
const std::string plastic_rows = "*PLASTIC\n10., 0.\n20., 0.02\n26., 0.1\n";

double yield_of(double strain) {
  for (std::size_t k = 1; k < plastic_table.size(); ++k) {
    const HardeningPoint &a = plastic_table[k - 1], &b = plastic_table[k];
    if (strain <= b.strain) return a.stress + (b.stress - a.stress) * (strain - a.strain) / (b.strain - a.strain);
  }
  return plastic_table.back().stress;
}

/// A bar under uniaxial stress with logarithmic strains: ln λ = τ/E + εp with the Kirchhoff stress |τ| ≤ σy(α). It is
/// led to one stretch after the other.
struct UniaxialBar {
  double plastic = 0, peeq = 0, stress = 0;  // εp, α, the Cauchy stress
  void go_to(double stretch) {
    const double strain = std::log(stretch), trial = plastic_young * (strain - plastic);
    if (std::abs(trial) > yield_of(peeq)) {
      double low = 0, high = std::abs(trial) / plastic_young;
      for (int i = 0; i < 200; ++i) {
        const double mid = 0.5 * (low + high);
        (std::abs(trial) - plastic_young * mid > yield_of(peeq + mid) ? low : high) = mid;
      }
      peeq += low;
      plastic += trial > 0 ? low : -low;
    }
    const double kirchhoff = plastic_young * (strain - plastic);
    stress = kirchhoff / std::exp((1 - 2 * plastic_poisson) * kirchhoff / plastic_young);
  }
};

/// A unit cube that stretches along z: steps lead the face z = 1 to these stretches.
std::string stretched_cube(const std::string& type, const std::vector<double>& stretches, const std::string& procedure,
                           const std::string& plastic = plastic_rows, const std::string& more = "") {
  static const double corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  std::ostringstream text;
  text.precision(17);
  text << "*NODE, NSET=NALL\n";
  for (int n = 0; n < 8; ++n)
    text << n + 1 << ", " << corners[n][0] << ", " << corners[n][1] << ", " << corners[n][2] << "\n";
  text << "*ELEMENT, TYPE=" << type << ", ELSET=EALL\n";
  if (type == "C3D4")
    text << "1, 1, 2, 4, 5\n2, 2, 3, 4, 7\n3, 5, 7, 6, 2\n4, 5, 8, 7, 4\n5, 2, 7, 4, 5\n";
  else
    text << "1, 1, 2, 3, 4, 5, 6, 7, 8\n";
  text << "*NSET, NSET=X0\n1, 4, 5, 8\n*NSET, NSET=Y0\n1, 2, 5, 6\n*NSET, NSET=Z0\n1, 2, 3, 4\n*NSET, NSET=Z1\n"
       << "5, 6, 7, 8\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n*DENSITY\n1e-6\n"
       << plastic << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
       << more << "*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n";
  for (const double stretch : stretches)
    text << procedure << "*BOUNDARY\nZ1, 3, 3, " << stretch - 1
         << "\n*NODE PRINT, NSET=Z1\nRF\n*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n";
  return text.str();
}

const std::string statics_of_increments = "*STEP, NLGEOM, INC=1000\n*STATIC\n0.25, 1.\n";

double point_value(const RanDeck& ran, std::size_t step, const std::string& name, bool largest = true) {
  double found = largest ? -1e300 : 1e300;
  for (const PointField& field : ran.kept.states.at(step).back().result.points)
    for (std::size_t p = static_cast<std::size_t>(field.name_index(name)); p < field.values.size();
         p += field.names.size())
      found = largest ? std::max(found, field.values[p]) : std::min(found, field.values[p]);
  return found;
}

TEST(PlasticStatics, LoadingUnloadingAndReverseLoadingOfABar) {
  // Loading over all rows of the table and beyond, elastic unloading, yielding in compression, and back.
  const std::vector<double> course{1.005, 1.03, 1.2, 1.19, 1.15, 1.3};
  for (const char* type : {"C3D8", "C3D4"}) {
    const RanDeck ran = run_deck(stretched_cube(type, course, statics_of_increments));
    UniaxialBar bar;
    for (std::size_t step = 0; step < course.size(); ++step) {
      SCOPED_TRACE(std::string(type) + " step " + std::to_string(step + 1));
      bar.go_to(course[step]);
      for (const bool largest : {true, false}) {
        EXPECT_NEAR(point_value(ran, step, "szz", largest), bar.stress, 1e-6 * 26);
        EXPECT_NEAR(point_value(ran, step, "sxx", largest), 0, 1e-6 * 26);
        EXPECT_NEAR(point_value(ran, step, "peeq", largest), bar.peeq, 1e-8);
      }
    }
    EXPECT_LT(bar.stress, 27);
    EXPECT_GT(bar.peeq, 0.2);
    std::string notes;
    for (const std::string& note : ran.kept.responses.at(5).notes) notes += note;
    EXPECT_NE(notes.find("beyond the end of its hardening table at 0.1"), std::string::npos) << notes;
  }
}

TEST(PlasticStatics, ElasticAsLongAsNothingYields) {
  const RanDeck ran = run_deck(stretched_cube("C3D8", {1.005}, statics_of_increments, "*PLASTIC\n10.\n"));
  EXPECT_EQ(point_value(ran, 0, "peeq"), 0);
  EXPECT_NEAR(point_value(ran, 0, "szz"), 1000 * std::log(1.005) * (1 - 0.5 * std::log(1.005)), 1e-4);
}

TEST(PlasticStatics, ForcesUnloadToALastingDeformation) {
  // A force of 21 yields: A = J / λ, the force is σ A = τ / λ. Without it, the plastic stretch stays.
  std::string deck = stretched_cube("C3D8", {}, "");
  const std::string step = "*STEP, NLGEOM, INC=1000\n*STATIC\n0.2, 1.\n";
  deck += step + "*CLOAD\nZ1, 3, 5.25\n*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n" + step +
          "*CLOAD\nZ1, 3, 0.\n*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n";
  const RanDeck ran = run_deck(deck);
  double low = 1, high = 1.1;  // the stretch at which the bar carries the force
  for (int i = 0; i < 100; ++i) {
    const double mid = 0.5 * (low + high);
    UniaxialBar bar;
    bar.go_to(mid);
    const double kirchhoff = plastic_young * (std::log(mid) - bar.plastic);
    (kirchhoff / mid < 21 ? low : high) = mid;
  }
  UniaxialBar bar;
  bar.go_to(low);
  const auto stretch = [&](std::size_t at) { return 1 + ran.kept.states.at(at).back().result.unknowns.at(6, "uz"); };
  EXPECT_NEAR(stretch(0), low, 1e-6);
  EXPECT_NEAR(point_value(ran, 0, "peeq"), bar.peeq, 1e-6);
  EXPECT_GT(bar.peeq, 0.02);
  EXPECT_NEAR(stretch(1), std::exp(bar.plastic), 1e-6);
  EXPECT_NEAR(point_value(ran, 1, "szz"), 0, 1e-5);
  EXPECT_NEAR(point_value(ran, 1, "peeq"), bar.peeq, 1e-6);
}

// ---- A block between plates -----------------------------------------------------------------------------------------

/// A block of 2 × 2 × 3 elements whose ends are held by plates, of steel with a table. `course` has displacements of
/// the upper plate along z and x.
std::string plated_block(const std::vector<std::pair<double, double>>& course, const std::string& procedure) {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const auto id = [](int i, int j, int k) { return 1 + i + 3 * (j + 3 * k); };
  for (int k = 0; k <= 3; ++k)
    for (int j = 0; j <= 2; ++j)
      for (int i = 0; i <= 2; ++i) text << id(i, j, k) << ", " << 0.5 * i << ", " << 0.5 * j << ", " << 0.5 * k << "\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i)
        text << 1 + i + 2 * (j + 2 * k) << ", " << id(i, j, k) << ", " << id(i + 1, j, k) << ", " << id(i + 1, j + 1, k)
             << ", " << id(i, j + 1, k) << ", " << id(i, j, k + 1) << ", " << id(i + 1, j, k + 1) << ", "
             << id(i + 1, j + 1, k + 1) << ", " << id(i, j + 1, k + 1) << "\n";
  text << "*NSET, NSET=BOTTOM, GENERATE\n1, 9\n*NSET, NSET=TOP, GENERATE\n28, 36\n*MATERIAL, NAME=M\n*ELASTIC\n"
       << "200000., 0.3\n*DENSITY\n7.8e-9\n*PLASTIC\n250., 0.\n300., 0.01\n400., 0.1\n500., 0.5\n"
       << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\nBOTTOM, 1, 3\n";
  for (const auto& [along, across] : course)
    text << procedure << "*BOUNDARY\nTOP, 1, 1, " << across << "\nTOP, 2, 2\nTOP, 3, 3, " << along
         << "\n*NODE PRINT, NSET=TOP\nRF\n*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n";
  return text.str();
}

double plate_force(const RanDeck& ran, std::size_t step, const char* unknown) {
  double force = 0;
  const StepResult& result = ran.kept.states.at(step).back().result;
  for (const std::int32_t n : ran.job.domains[0]->node_set("TOP")) force += result.reactions.at(n, unknown);
  return force;
}

const std::vector<std::pair<double, double>> plate_course{{0.004, 0}, {0.0033, 0.0007}, {-0.0027, 0.0013}};

TEST(PlasticStatics, ABlockBetweenPlatesAsInCalculiX) {
  const RanDeck ran = run_deck(plated_block(plate_course, "*STEP, NLGEOM, INC=1000\n*STATIC\n0.1, 1., 1e-6, 0.1\n"));
  const double forces[3][2] = {{0, 306.71361}, {22.618172, 206.34904}, {14.600504, -299.88644}};
  const double strains[3][2] = {{4.965901e-4, 2.342123e-3}, {4.965901e-4, 2.342123e-3}, {9.067762e-4, 5.705047e-3}};
  // The elastic parts of the laws differ: logarithmic strains here, a neo-Hookean energy there.
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_NEAR(plate_force(ran, step, "ux"), forces[step][0], 1e-3 * 307) << step;
    EXPECT_NEAR(plate_force(ran, step, "uz"), forces[step][1], 1e-3 * 307) << step;
    EXPECT_NEAR(point_value(ran, step, "peeq", false), strains[step][0], 2e-3 * strains[step][1]) << step;
    EXPECT_NEAR(point_value(ran, step, "peeq"), strains[step][1], 2e-3 * strains[step][1]) << step;
  }
}

// ---- Newton's method, histories and restarts ------------------------------------------------------------------------

/// A bent bar of 4 × 2 × 2 distorted elements: its end moves across.
struct BentBar {
  Domain domain;

  explicit BentBar(const std::string& type, double distortion = 0.1) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {4, 2, 2};
    mesh.upper = {4, 1, 1};
    mesh.distortion = distortion;
    auto metal = std::make_shared<PlasticMaterial>("metal", plastic_table);
    metal->set("young", plastic_young).set("poisson", plastic_poisson).set("density", 1);
    add_box_mesh(domain, mesh).set_material(metal);
    for (const char* u : {"ux", "uy", "uz"}) domain.prescribe("xmin", u);
    domain.prescribe("xmax", "uz", 0.8);
  }
  std::unique_ptr<TransientAnalysis> analysis(const std::string& backend, bool automatic = false) const {
    TransientOptions options;
    options.method = "static";
    options.solver = "direct";
    options.backend = backend;
    auto made = make_transient_analysis(domain, options);
    made->loads().move_supports(SupportMotion::by_displacement(Amplitude({{0, 0}, {1, 1}, {2, -0.5}})));
    made->set_steps({.end = 2, .step = 0.125, .automatic = automatic});
    made->set_results_every(1);
    return made;
  }
};

TEST(PlasticStatics, NewtonsMethodConvergesQuadratically) {
  for (const char* type : {"finite_solid.hex8", "finite_solid.tet4", "finite_solid.hex20.reduced", "solid.tet10"}) {
    const BentBar bar(type);
    const std::vector<StepResult> results = bar.analysis("openmp")->run();
    ASSERT_EQ(results.size(), 16u);
    int judged = 0, quadratic = 0;
    for (std::size_t k = 1; k < results.size(); ++k) {
      const std::vector<double>& r = results[k].report.history;
      SCOPED_TRACE(std::string(type) + " increment " + std::to_string(k + 1));
      EXPECT_LE(r.size(), 9u);
      // The exponent of the last iteration whose residual is not rounding: log r(n+1)/r(n) over log r(n)/r(n−1). It is
      // smaller than 2 where a point has just begun to yield or to unload.
      for (std::size_t i = r.size() - 1; i >= 3; --i) {
        if (r[i] < 1e-12) continue;
        const double exponent = std::log(r[i] / r[i - 1]) / std::log(r[i - 1] / r[i - 2]);
        EXPECT_GT(exponent, 1.1) << r[i];
        ++judged;
        quadratic += exponent > 1.6;
        break;
      }
    }
    EXPECT_GT(judged, 5);
    EXPECT_GE(quadratic, 0.7 * judged);
  }
}

TEST(PlasticStatics, BackendsAgree) {
  const BentBar bar("finite_solid.hex8");
  const StepResult expected = bar.analysis("openmp:1")->run().back();
  double largest = 0;
  for (const double u : expected.unknowns.values) largest = std::max(largest, std::abs(u));
  EXPECT_GT(largest, 0.39);
  for (const char* backend : {"openmp", "debug:2"}) {
    const StepResult found = bar.analysis(backend)->run().back();
    for (std::size_t i = 0; i < found.unknowns.values.size(); ++i)
      EXPECT_NEAR(found.unknowns.values[i], expected.unknowns.values[i], 1e-8 * largest) << backend << " " << i;
  }
}

TEST(PlasticStatics, ASavedStateContinuesWithTheSameBits) {
  const BentBar bar("finite_solid.hex8");
  const StepResult expected = bar.analysis("openmp")->run().back();
  for (const int stop : {1, 7, 9}) {
    const auto first = bar.analysis("openmp"), second = bar.analysis("openmp");
    first->start();
    for (int k = 0; k < stop; ++k) first->advance(0.125);
    std::stringstream bytes;
    first->save(bytes);
    second->restore(bytes);
    EXPECT_EQ(second->finish().back().unknowns.values, expected.unknowns.values) << stop;
  }
}

TEST(PlasticStatics, IncrementsThatAreCutBackLoseNoHistory) {
  // One increment over the whole way back does not converge at once; the end is that of many increments.
  const BentBar bar("finite_solid.hex8");
  const auto fine = bar.analysis("openmp");
  fine->set_steps({.end = 2, .step = 1.0 / 64});
  const auto coarse = bar.analysis("openmp");
  coarse->set_steps({.end = 2, .step = 1, .automatic = true});
  const StepResult expected = fine->run().back(), found = coarse->run().back();
  EXPECT_GT(coarse->report().failed + coarse->report().rejected, 0);
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < found.unknowns.values.size(); ++i) {
    largest = std::max(largest, std::abs(expected.unknowns.values[i]));
    difference = std::max(difference, std::abs(found.unknowns.values[i] - expected.unknowns.values[i]));
  }
  EXPECT_LT(difference, 0.02 * largest);
}

TEST(PlasticStatics, PatchTest) {
  // A distorted mesh whose surface has an affine motion: one stress everywhere, and nodes inside that follow.
  for (const char* type : {"finite_solid.hex8", "finite_solid.tet4", "finite_solid.tet10", "finite_solid.hex20",
                           "finite_solid.hex20.reduced", "solid.tet4", "solid.hex8.full", "solid.tet10", "solid.hex20",
                           "solid.hex20.reduced"}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 2, 2};
    mesh.distortion = 0.2;
    auto metal = std::make_shared<PlasticMaterial>("metal", plastic_table);
    metal->set("young", plastic_young).set("poisson", plastic_poisson);
    add_box_mesh(domain, mesh).set_material(metal);
    const double h[3][3] = {{0.04, 0.01, 0}, {-0.02, -0.01, 0.03}, {0.01, 0, -0.02}};
    const auto x = domain.coordinates();
    const auto affine = [&](std::int32_t n, std::size_t i) {
      double u = 0;
      for (std::size_t k = 0; k < 3; ++k) u += h[i][k] * x[3 * static_cast<std::size_t>(n) + k];
      return u;
    };
    const char* const names[3] = {"ux", "uy", "uz"};
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      bool outside = false;
      for (std::size_t k = 0; k < 3; ++k) {
        const double place = x[3 * static_cast<std::size_t>(n) + k];
        outside = outside || place < 1e-9 || place > 1 - 1e-9;
      }
      if (!outside) continue;
      const std::string set = "n" + std::to_string(n);
      domain.add_node_set(set, {domain.node_id(n)});
      for (std::size_t i = 0; i < 3; ++i) domain.prescribe(set, names[i], affine(n, i));
    }
    TransientOptions options;
    options.method = "static";
    options.backend = "openmp";
    const auto analysis = make_transient_analysis(domain, options);
    analysis->loads().move_supports(SupportMotion::by_displacement(Amplitude({{0, 0}, {1, 1}})));
    analysis->set_steps({.end = 1, .step = 0.25});
    const StepResult result = analysis->run().back();
    for (std::int32_t n = 0; n < domain.node_count(); ++n)
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(result.unknowns.at(n, names[i]), affine(n, i), 1e-8);
    for (const PointField& field : result.points)
      for (const char* name : {"sxx", "syy", "szz", "sxy", "syz", "sxz", "peeq"}) {
        const auto at = static_cast<std::size_t>(field.name_index(name));
        for (std::size_t p = at; p < field.values.size(); p += field.names.size())
          EXPECT_NEAR(field.values[p], field.values[at], 1e-6) << type << " " << name;
      }
    EXPECT_GT(result.points.at(0).at(0, 0, "peeq"), 0.02);
  }
}

// ---- Dynamics -------------------------------------------------------------------------------------------------------

TEST(PlasticStatics, SlowImplicitDynamicsIsStatics) {
  // The speed of waves is 3e4; the face moves by 0.1 within 1.
  std::string deck = stretched_cube("C3D8", {}, "", plastic_rows, "*AMPLITUDE, NAME=SLOW\n0., 0., 1., 1.\n");
  deck +=
      "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT, ALPHA=-0.3\n0.05, 1.\n*BOUNDARY, AMPLITUDE=SLOW\nZ1, 3, 3, 0.1\n"
      "*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n";
  const RanDeck ran = run_deck(deck);
  UniaxialBar bar;
  bar.go_to(1.1);
  EXPECT_NEAR(point_value(ran, 0, "szz"), bar.stress, 5e-3);
  EXPECT_NEAR(point_value(ran, 0, "peeq"), bar.peeq, 1e-5);
}

TEST(PlasticStatics, DynamicsContinuesStatics) {
  const std::string hold = "*AMPLITUDE, NAME=HOLD\n0., 1., 1., 1.\n";
  const RanDeck ran = run_deck(stretched_cube("C3D8", {1.05}, statics_of_increments, plastic_rows, hold) +
                               "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT, ALPHA=-0.3\n0.05, 1.\n*BOUNDARY, "
                               "AMPLITUDE=HOLD\nZ1, 3, 3, 0.05\n*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n");
  UniaxialBar bar;
  bar.go_to(1.05);
  EXPECT_NEAR(point_value(ran, 1, "szz"), bar.stress, 1e-5);
  EXPECT_NEAR(point_value(ran, 1, "peeq"), bar.peeq, 1e-8);
}

TEST(PlasticStatics, WhatIsNotSupportedIsRefused) {
  const auto read = [](const std::string& deck) { read_deck_text(deck, "test.inp"); };
  expect_error(ErrorCode::bad_input, {"HARDENING=KINEMATIC"}, [&] {
    read(stretched_cube("C3D8", {1.1}, statics_of_increments, "*PLASTIC, HARDENING=KINEMATIC\n10., 0.\n20., 0.1\n"));
  });
  expect_error(ErrorCode::bad_input, {"depends on the temperature"}, [&] {
    read(stretched_cube("C3D8", {1.1}, statics_of_increments, "*PLASTIC\n10., 0., 20.\n8., 0., 100.\n"));
  });
  expect_error(ErrorCode::bad_input, {"C3D8R", "*PLASTIC"},
               [&] { read(stretched_cube("C3D8R", {1.1}, statics_of_increments)); });
  expect_error(ErrorCode::bad_input, {"C3D8I", "*PLASTIC"},
               [&] { read(stretched_cube("C3D8I", {1.1}, statics_of_increments)); });
}

}  // namespace
}  // namespace voussoir
