#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <voussoir/elements/physics/finite_plasticity.hpp>
#include <voussoir/elements/point/one_point_element.hpp>
#include <voussoir/elements/register.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/io/job/job_file.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"
#include "support/taylor_bar.hpp"

// Explicit dynamics with large strains and plastic flow, from decks and job files.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::KeptSteps;
using testing::plainly;
using testing::run_deck;
using testing::TaylorBar;

const RegisterKernel<OnePointElement<FinitePlasticity>> registered_rod{"test_rod.hex8.reduced", "hex8",
                                                                       VSR_KERNEL_FILE_OR_NULL};

/// The largest or the only value of a quantity at the points of the last state.
double largest_at_points(const KeptSteps& kept, const std::string& name, std::size_t step = 0) {
  double largest = -1e300;
  for (const PointField& field : kept.states.at(step).back().result.points) {
    if (!field.has(name)) continue;
    for (std::size_t p = static_cast<std::size_t>(field.name_index(name)); p < field.values.size();
         p += field.names.size())
      largest = std::max(largest, field.values[p]);
  }
  return largest;
}
double total_of(const KeptSteps& kept, const std::string& name) {
  for (const auto& [known, value] : kept.responses.at(0).totals)
    if (known == name) return value;
  return std::nan("");
}
double count_of(const KeptSteps& kept, const std::string& name) {
  for (const auto& [known, value] : kept.responses.at(0).counts)
    if (known == name) return value;
  return std::nan("");
}

// ---- Uniaxial strain -----------------------------------------------------------------------------------------------

/// J2 plasticity under ln λ along x while y and z are held: σx − σy = σy(α) = 2μ ln λ − 3μ α (Kirchhoff stresses), with
/// flow that keeps the volume.
struct HeldBar {
  double mu, bulk;
  std::vector<HardeningPoint> table;

  double yield(double strain) const {
    for (std::size_t k = 1; k < table.size(); ++k)
      if (strain <= table[k].strain)
        return table[k - 1].stress + (table[k].stress - table[k - 1].stress) * (strain - table[k - 1].strain) /
                                         (table[k].strain - table[k - 1].strain);
    return table.back().stress;
  }
  /// By bisection.
  double plastic_strain(double log_stretch) const {
    double low = 0, high = log_stretch;
    if (2 * mu * log_stretch <= table[0].stress) return 0;
    for (int i = 0; i < 200; ++i) {
      const double mid = 0.5 * (low + high);
      (2 * mu * log_stretch - 3 * mu * mid > yield(mid) ? low : high) = mid;
    }
    return 0.5 * (low + high);
  }
  /// The Cauchy stress along x at `log_stretch`, after the bar was stretched to `most`.
  double stress(double log_stretch, double most) const {
    const double difference = 2 * mu * log_stretch - 3 * mu * plastic_strain(most);
    return (2.0 / 3.0 * difference + bulk * log_stretch) / std::exp(log_stretch);
  }
};

/// A cube of a type whose nodes all have prescribed motions, and a cube of elastic C3D8 that is free, so that there is
/// something to integrate. E = 1000, ν = 0.25.
std::string held_cube(const std::string& type, const std::string& table, double stretch, const std::string& course) {
  std::ostringstream text;
  text << "*NODE\n";
  const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  for (int i = 0; i < 16; ++i)
    text << i + 1 << ", " << corner[i % 8][0] + 5 * (i / 8) << ", " << corner[i % 8][1] << ", " << corner[i % 8][2]
         << "\n";
  text << "*ELEMENT, TYPE=" << type << ", ELSET=CUBE\n";
  if (type == "C3D4")
    text << "1, 1, 2, 4, 5\n2, 2, 3, 4, 7\n3, 5, 7, 6, 2\n4, 5, 8, 7, 4\n5, 2, 7, 4, 5\n";
  else
    text << "1, 1, 2, 3, 4, 5, 6, 7, 8\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=FREE\n9, 9, 10, 11, 12, 13, 14, 15, 16\n*NSET, NSET=N1, GENERATE\n1, 8\n"
       << "*NSET, NSET=FAR\n2, 3, 6, 7\n*NSET, NSET=NEAR\n1, 4, 5, 8\n"
       << "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n*DENSITY\n1.\n"
       << table << "*MATERIAL, NAME=F\n*ELASTIC\n1000., 0.25\n*DENSITY\n1.\n"
       << "*SOLID SECTION, ELSET=CUBE, MATERIAL=M\n*SOLID SECTION, ELSET=FREE, MATERIAL=F\n"
       << "*BOUNDARY\nNEAR, 1\nN1, 2, 3\n*AMPLITUDE, NAME=COURSE\n"
       << course << "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 1.\n*BOUNDARY, AMPLITUDE=COURSE\nFAR, 1, 1, " << stretch - 1
       << "\n*EL PRINT, ELSET=CUBE\nS, PEEQ, ENER\n*END STEP\n";
  return text.str();
}

TEST(PlasticSteps, UniaxialStrainHasItsClosedForm) {
  const HeldBar bar{400, 2000.0 / 3.0, {{10, 0}, {20, 0.02}, {26, 0.1}}};
  const std::string table = "*PLASTIC\n10., 0.\n20., 0.02\n26., 0.1\n";
  for (const char* type : {"C3D8", "C3D8R", "C3D4"})
    for (const double stretch : {1.01, 1.03, 1.1, 1.3}) {
      SCOPED_TRACE(std::string(type) + " " + std::to_string(stretch));
      const auto ran = run_deck(held_cube(type, table, stretch, "0., 0., 1., 1.\n"));
      const double strain = std::log(stretch);
      EXPECT_NEAR(largest_at_points(ran.kept, "sxx"), bar.stress(strain, strain), 1e-9 * bar.stress(strain, strain));
      EXPECT_NEAR(largest_at_points(ran.kept, "peeq"), bar.plastic_strain(strain), 1e-10);
      EXPECT_NEAR(largest_at_points(ran.kept, "exx"), 0.5 * (stretch * stretch - 1), 1e-12);
      const bool beyond = bar.plastic_strain(strain) > 0.1;
      std::string notes;
      for (const std::string& note : ran.kept.responses.at(0).notes) notes += note;
      EXPECT_EQ(notes.find("beyond the end of its hardening table at 0.1") != std::string::npos, beyond) << notes;
    }
}

TEST(PlasticSteps, UnloadingIsElastic) {
  const HeldBar bar{400, 2000.0 / 3.0, {{10, 0}, {20, 0.02}, {26, 0.1}}};
  const std::string table = "*PLASTIC, HARDENING=ISOTROPIC\n10., 0., 20.\n20., 0.02, 20.\n26., 0.1, 20.\n";
  const double most = std::log(1.1), end = std::log(1.08);
  for (const char* type : {"C3D8", "C3D8R", "C3D4"}) {
    const auto ran = run_deck(held_cube(type, table, 1.1, "0., 0., 0.5, 1., 1., 0.8\n"));
    // The largest stretch falls between two increments.
    EXPECT_NEAR(largest_at_points(ran.kept, "sxx"), bar.stress(end, most), 0.05) << type;
    EXPECT_NEAR(largest_at_points(ran.kept, "peeq"), bar.plastic_strain(most), 2e-4) << type;
    EXPECT_GT(bar.stress(end, end), bar.stress(end, most) + 5);
  }
}

/// Stretched in one step and released in the next one, which begins with the hardening of the first.
TEST(PlasticSteps, StepsBeginWithTheHistoryOfTheStepBefore) {
  const HeldBar bar{400, 2000.0 / 3.0, {{10, 0}, {20, 0.02}, {26, 0.1}}};
  const std::string table = "*PLASTIC\n10., 0.\n20., 0.02\n26., 0.1\n";
  const double most = std::log(1.1), end = std::log(1.08);
  const std::string back =
      "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 1.\n*BOUNDARY, AMPLITUDE=BACK\nFAR, 1, 1, 0.1\n*EL PRINT, ELSET=CUBE\nS, "
      "PEEQ, ENER\n*END STEP\n";
  for (const char* type : {"C3D8", "C3D8R", "C3D4"}) {
    SCOPED_TRACE(type);
    const auto ran =
        run_deck(held_cube(type, table, 1.1, "0., 0., 1., 1.\n*AMPLITUDE, NAME=BACK\n0., 1., 1., 0.8\n") + back);
    const StepResult& last = ran.kept.states.at(1).back().result;
    double stress = 0, strain = 0;
    for (const PointField& field : last.points)
      for (std::size_t c = 0; c < field.names.size(); ++c)
        for (std::size_t i = c; i < field.values.size(); i += field.names.size()) {
          if (field.names[c] == "sxx") stress = std::max(stress, field.values[i]);
          if (field.names[c] == "peeq") strain = std::max(strain, field.values[i]);
        }
    EXPECT_NEAR(stress, bar.stress(end, most), 1e-9 * bar.stress(most, most));
    EXPECT_NEAR(strain, bar.plastic_strain(most), 1e-10);
    // Energies are those since the beginning of the step: the body gives back what it has stored, and nothing yields.
    int energies = 0;
    for (const auto& [name, values] : ran.kept.responses.at(1).energies) {
      if (name != "internal" && name != "plastic") continue;
      ++energies;
      EXPECT_NEAR(values.front(), 0, 1e-12) << name;
      if (name == "plastic") {
        EXPECT_NEAR(values.back(), 0, 1e-12);
      } else {
        EXPECT_LT(values.back(), -0.1);
      }
    }
    EXPECT_EQ(energies, 2);
  }
}

TEST(PlasticSteps, EnergiesOfAHeldBar) {
  // Perfect plasticity: the plastic work is σy α, the stored energy ½ σy²/(3μ) + ½ K ln² λ.
  const HeldBar bar{400, 2000.0 / 3.0, {{10, 0}}};
  const auto ran = run_deck(held_cube("C3D8R", "*PLASTIC\n10.\n", 1.2, "0., 0., 1., 1.\n"));
  const double strain = std::log(1.2), flow = bar.plastic_strain(strain);
  EXPECT_NEAR(flow, (2 * 400 * strain - 10) / (3 * 400), 1e-12);
  EXPECT_NEAR(total_of(ran.kept, "plastic"), 10 * flow, 1e-9 * 10 * flow);
  EXPECT_NEAR(largest_at_points(ran.kept, "energy"), 0.5 * 100 / 1200 + 0.5 * bar.bulk * strain * strain, 1e-8);
  EXPECT_NEAR(total_of(ran.kept, "hourglass"), 0, 1e-12);
  // A table of one row has no end that could be passed.
  for (const std::string& note : ran.kept.responses.at(0).notes) EXPECT_EQ(note.find("hardening"), std::string::npos);
}

// ---- Taylor's bar ---------------------------------------------------------------------------------------------------

/// The rod as a deck of C3D8R in mm, ms and g.
std::string taylor_deck(const TaylorBar& bar, double until, const std::string& plastic) {
  std::ostringstream text;
  text.precision(17);
  const Domain& d = bar.domain;
  text << "*NODE, NSET=NALL\n";
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    text << d.node_id(n);
    for (int k = 0; k < 3; ++k) text << ", " << d.coordinates()[3 * static_cast<std::size_t>(n) + k];
    text << "\n";
  }
  text << "*ELEMENT, TYPE=C3D8R, ELSET=ROD\n";
  const ElementBlock& block = d.block(std::size_t{0});
  for (std::int32_t e = 0; e < block.size(); ++e) {
    text << block.id(e);
    for (const std::int32_t n : block.nodes(e)) text << ", " << d.node_id(n);
    text << "\n";
  }
  for (const char* set : {"wall", "x0", "y0"}) {
    text << "*NSET, NSET=" << set << "\n";
    for (const std::int32_t n : d.node_set(set)) text << d.node_id(n) << "\n";
  }
  text << "*NSET, NSET=FLIES\n";
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    if (d.coordinates()[3 * static_cast<std::size_t>(n) + 2] > 1e-9) text << d.node_id(n) << "\n";
  text << "*MATERIAL, NAME=COPPER\n*ELASTIC\n117e3, 0.35\n*DENSITY\n8.93e-3\n"
       << plastic << "*SOLID SECTION, ELSET=ROD, MATERIAL=COPPER\n*BOUNDARY\nWALL, 3\nX0, 1\nY0, 2\n"
       << "*INITIAL CONDITIONS, TYPE=VELOCITY\nFLIES, 3, " << -TaylorBar::velocity
       << "\n*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, " << until << "\n*BULK VISCOSITY\n0.06, 1.2\n*END STEP\n";
  return text.str();
}

TEST(PlasticSteps, TaylorsBarIsThatOfTheAnalysis) {
  constexpr double until = 0.01;
  TaylorBar bar(2, 1, 7, "test_rod.hex8.reduced");
  Analysis::Collaborators parts;
  parts.backend = Backend::open("openmp:1");
  ExplicitAnalysis analysis(bar.domain, std::move(parts));
  analysis.set_bulk_viscosity({0.06, 1.2});
  NodalField v0{"velocity", analysis.model().unknown_names(), {}};
  v0.values.assign(3 * static_cast<std::size_t>(bar.domain.node_count()), 0.0);
  for (std::int32_t n = 0; n < bar.domain.node_count(); ++n)
    if (bar.domain.coordinates()[3 * static_cast<std::size_t>(n) + 2] > 1e-9)
      v0.values[3 * static_cast<std::size_t>(n) + 2] = -TaylorBar::velocity;
  analysis.set_initial_velocity(v0);
  analysis.set_steps({.end = until, .estimate_every = 50});
  const StepResult end = analysis.run().back();
  const EnergyBalance& e = analysis.energies();
  // The law is linear up to a plastic strain of 10, which is far beyond what happens here.
  const auto ran = run_deck(taylor_deck(bar, until, "*PLASTIC\n400., 0.\n1400., 10.\n"));
  const StepResult& deck = ran.kept.states.at(0).back().result;
  EXPECT_EQ(count_of(ran.kept, "increments"), static_cast<double>(analysis.report().steps));
  EXPECT_GT(analysis.report().estimates, 1);
  double largest = 0, difference = 0;
  for (std::int32_t n = 0; n < bar.domain.node_count(); ++n)
    for (const char* u : {"ux", "uy", "uz"}) {
      largest = std::max(largest, std::abs(end.unknowns.at(n, u)));
      difference = std::max(difference, std::abs(end.unknowns.at(n, u) - deck.unknowns.at(n, u)));
    }
  EXPECT_GT(largest, 1);
  EXPECT_LT(difference, 1e-9 * largest);
  EXPECT_GT(largest_at_points(ran.kept, "peeq"), 0.2);
  for (const auto& [name, value] : {std::pair{"kinetic", e.kinetic}, std::pair{"plastic", e.plastic},
                                    std::pair{"hourglass", e.hourglass}, std::pair{"viscous", e.viscous}}) {
    EXPECT_NEAR(total_of(ran.kept, name), value, 1e-8 * e.initial) << name;
    EXPECT_GT(value, 0) << name;
  }
  // The same curve with more points, and stresses that are at most the yield stress.
  const auto more =
      run_deck(taylor_deck(bar, until, "*PLASTIC\n400., 0.\n405., 0.05\n420., 0.2\n450., 0.5\n600., 2.\n"));
  EXPECT_NEAR(total_of(more.kept, "plastic"), e.plastic, 1e-8 * e.initial);
}

// ---- Large displacements of elastic bodies --------------------------------------------------------------------------

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
  return text;
}

/// A pulse that bends the column by two thirds of its height.
const std::string hard_push =
    "*CLOAD, AMPLITUDE=PULSE\n13, 1, 15.\n14, 1, 15.\n15, 1, 15.\n16, 1, 15.\n*NODE PRINT, NSET=TIP\nU\n*END STEP\n";

TEST(PlasticSteps, ElasticNlgeomAgreesWithImplicitDynamics) {
  const auto is = run_deck(column_deck() + "*STEP, NLGEOM, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n" + hard_push);
  const auto expected =
      run_deck(column_deck() + "*STEP, NLGEOM, INC=100000\n*DYNAMIC, DIRECT, ALPHA=0\n0.002, 0.4\n" + hard_push);
  const auto small = run_deck(column_deck() + "*STEP, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n" + hard_push);
  const auto tip = [](const auto& ran, const char* u) {
    return ran.kept.states.at(0).back().result.unknowns.at(12, u);
  };
  // Lumped masses of three elements against consistent ones.
  for (const char* u : {"ux", "uz"}) EXPECT_NEAR(tip(is, u), tip(expected, u), 0.05 * 3) << u;
  EXPECT_GT(std::abs(tip(small, "uz") - tip(is, "uz")), 0.4);
  // A yield stress that is never reached: nearly the same motion, with logarithmic strains in place of Green's.
  const auto stiff = run_deck(column_deck("*PLASTIC\n1e6, 0.\n") +
                              "*STEP, NLGEOM, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n" + hard_push);
  EXPECT_EQ(largest_at_points(stiff.kept, "peeq"), 0);
  EXPECT_NEAR(tip(stiff, "ux"), tip(is, "ux"), 0.1 * std::abs(tip(is, "ux")));
}

TEST(PlasticSteps, ASpinningBodyKeepsItsShape) {
  // A free column that turns about y through its centre with ω = 1: after π/2 it lies, stretched by ρ ω² L² / 8 E.
  std::ostringstream spin;
  spin << "*INITIAL CONDITIONS, TYPE=VELOCITY\n";
  const double corner[4] = {0, 1, 1, 0};
  for (int n = 0; n < 16; ++n)
    spin << n + 1 << ", 1, " << n / 4 - 1.5 << "\n" << n + 1 << ", 3, " << -(corner[n % 4] - 0.5) << "\n";
  for (const char* plastic : {"", "*PLASTIC\n500., 0.\n600., 0.1\n"})
    for (const char* type : {"C3D8", "C3D8R"}) {
      SCOPED_TRACE(std::string(type) + " " + plastic);
      const std::string deck =
          replaced(replaced(column_deck(plastic, spin.str()), "*BOUNDARY\nFOOT, 1, 3\n", ""), "C3D8", type);
      const auto ran = run_deck(deck + "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 1.5707963267948966\n*END STEP\n");
      const NodalField& u = ran.kept.states.at(0).back().result.unknowns;
      for (int n = 0; n < 16; ++n) {
        const double x = corner[n % 4] - 0.5, z = n / 4 - 1.5;
        EXPECT_NEAR(x + u.at(n, "ux"), z, 0.015) << n;
        EXPECT_NEAR(z + u.at(n, "uz"), -x, 0.015) << n;
      }
      EXPECT_NEAR(total_of(ran.kept, "kinetic") + total_of(ran.kept, "internal"),
                  ran.kept.responses.at(0).energies.front().second.front(), 1e-2)
          << ran.kept.responses.at(0).energies.front().first;
    }
}

TEST(PlasticSteps, ElasticStepsWithNlgeomContinueEachOther) {
  const std::string half = "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT, DIRECT\n0.002, 0.2\n*NODE PRINT, NSET=TIP\nU, V\n";
  const std::string load = "*CLOAD\n13, 1, 30.\n*END STEP\n";
  const auto whole = run_deck(column_deck() + replaced(half, "0.2\n", "0.4\n") + load);
  const auto both = run_deck(column_deck() + half + load + half + "*END STEP\n");
  const NodalField& u = whole.kept.states.at(0).back().result.unknowns;
  EXPECT_GT(std::abs(u.at(12, "ux")), 0.3);
  // The second step begins with the velocity at a time, the first one had those between steps.
  for (const char* name : {"ux", "uz"})
    EXPECT_NEAR(both.kept.states.at(1).back().result.unknowns.at(12, name), u.at(12, name), 2e-4) << name;
}

TEST(PlasticSteps, OnePointElementsReportTheirHourglasses) {
  const std::string deck = replaced(column_deck(), "C3D8", "C3D8R");
  const auto is = run_deck(deck + "*STEP, NLGEOM, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n" + hard_push);
  EXPECT_GT(total_of(is.kept, "hourglass"), 0);
  EXPECT_LT(total_of(is.kept, "hourglass"), total_of(is.kept, "internal"));
  // Small displacements: the law is that of the linear element, whose hourglass energy is known in another way.
  const std::string soft = "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 1e-4\n*NODE PRINT, NSET=TIP\nU\n*END STEP\n";
  const auto large = run_deck(deck + "*STEP, NLGEOM, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n" + soft);
  const auto small = run_deck(deck + "*STEP, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n" + soft);
  for (const char* energy : {"kinetic", "internal", "hourglass"})
    EXPECT_NEAR(total_of(large.kept, energy), total_of(small.kept, energy), 1e-3 * total_of(small.kept, "external"))
        << energy;
  EXPECT_GT(total_of(small.kept, "hourglass"), 0.01 * total_of(small.kept, "external"));
}

// ---- Job files ------------------------------------------------------------------------------------------------------

class PlasticJob : public testing::FolderTest {
 protected:
  std::string physics_ = "finite_solid";

  /// The column of column_deck().
  Job read(const std::string& material, const std::string& section, const std::string& step) {
    std::ofstream mesh(folder_ / "column.msh");
    mesh << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n0 1 \"tip\"\n2 2 \"foot\"\n3 3 \"column\"\n"
         << "$EndPhysicalNames\n$Nodes\n16\n";
    const double corner[4][2] = {{0, 0}, {1, 0}, {1, .8}, {0, .8}};
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < 4; ++i)
        mesh << 4 * k + i + 1 << " " << corner[i][0] << " " << corner[i][1] << " " << k << "\n";
    mesh << "$EndNodes\n$Elements\n8\n1 5 2 3 3 1 2 3 4 5 6 7 8\n2 5 2 3 3 5 6 7 8 9 10 11 12\n"
         << "3 5 2 3 3 9 10 11 12 13 14 15 16\n4 15 2 1 1 13\n5 15 2 1 1 14\n6 15 2 1 1 15\n7 15 2 1 1 16\n"
         << "8 3 2 2 2 1 2 3 4\n$EndElements\n";
    mesh.close();
    std::ofstream(folder_ / "column.json")
        << R"({"mesh": "column.msh", "materials": {"M": {"young": 1000, "poisson": 0.25, "density": 2)" << material
        << R"(}}, "sections": [{"group": "column", "physics": ")" << physics_ << R"(", "material": "M")" << section
        << R"(}], "supports": [{"name": "foot", "group": "foot", "ux": 0, "uy": 0, "uz": 0}],
 "loads": [{"name": "push", "group": "tip", "nodal_force": [15, 0, 0]}],
 "steps": [{"name": "blow", "period": 0.4, "loads": ["push"], "amplitudes": {"push": [[0, 0], [0.2, 1], [0.4, 0]]}, )"
        << step << "}]}";
    return read_job_file(folder_ / "column.json");
  }
};

const std::string plastic_rows = R"(, "plastic": [[50, 0], [60, 0.01], [70, 0.05]])";
const std::string explicit_words = R"("analysis": "dynamic", "method": "explicit")";

TEST_F(PlasticJob, HasTheBitsOfTheDeck) {
  for (const auto& [type, formulation, elements] :
       {std::tuple{"C3D8", "", "full"}, std::tuple{"C3D8R", R"(, "formulation": "reduced")", "one point"}}) {
    SCOPED_TRACE(elements);
    const auto deck = run_deck(replaced(column_deck("*PLASTIC\n50., 0.\n60., 0.01\n70., 0.05\n"), "C3D8", type) +
                               "*STEP\n*DYNAMIC, EXPLICIT\n, 0.4\n" + hard_push);
    Job job = read(plastic_rows, formulation,
                   explicit_words + R"(, "print": [{"at": "elements", "values": ["stress", "plastic_strain"]}])");
    KeptSteps kept;
    run_job(job, plainly(), {}, kept);
    EXPECT_GT(largest_at_points(kept, "peeq"), 0.01);
    EXPECT_EQ(kept.states.at(0).back().result.unknowns.values, deck.kept.states.at(0).back().result.unknowns.values);
    EXPECT_EQ(largest_at_points(kept, "peeq"), largest_at_points(deck.kept, "peeq"));
    EXPECT_EQ(total_of(kept, "plastic"), total_of(deck.kept, "plastic"));
    std::string notes;
    for (const auto& note : deck.job.notes) notes += note.text + "\n";
    EXPECT_NE(notes.find("*PLASTIC: displacements and strains are large"), std::string::npos) << notes;
  }
}

TEST_F(PlasticJob, SmallStrainsHaveTheBitsOfTheDeck) {
  physics_ = "solid";
  const auto deck = run_deck(column_deck("*PLASTIC\n300., 0.\n600., 0.5\n900., 2.\n") +
                             "*STEP\n*STATIC, DIRECT\n0.05, 0.4\n" + hard_push);
  Job job = read(R"(, "plastic": [[300, 0], [600, 0.5], [900, 2]])", R"(, "formulation": "full")",
                 R"("analysis": "nonlinear_static", "increment": 0.05, "automatic": "no")");
  KeptSteps kept;
  run_job(job, plainly(), {}, kept);
  EXPECT_EQ(kept.states.at(0).back().result.unknowns.values, deck.kept.states.at(0).back().result.unknowns.values);
  EXPECT_GT(largest_at_points(kept, "peeq"), 0.01);
  EXPECT_EQ(largest_at_points(kept, "peeq"), largest_at_points(deck.kept, "peeq"));
}

/// Statics leave a bent column at rest. An explicit step without loads does not move it: a body that had forgotten its
/// plastic strains would spring back.
TEST_F(PlasticJob, ExplicitStepsContinueStatics) {
  const std::string print = R"(, "print": [{"at": "elements", "values": ["stress", "plastic_strain"]}])";
  Job job = read(R"(, "plastic": [[300, 0], [600, 0.5], [900, 2]])", "",
                 R"("analysis": "nonlinear_static", "increment": 0.02, "automatic": "no")" + print +
                     R"(}, {"name": "rest", "analysis": "dynamic", "method": "explicit", "continue": "yes",
 "period": 0.4)" + print);
  KeptSteps kept;
  run_job(job, plainly(), {}, kept);
  const StepResult& bent = kept.states.at(0).back().result;
  const StepResult& rest = kept.states.at(1).back().result;
  double largest = 0, moved = 0;
  for (std::size_t i = 0; i < bent.unknowns.values.size(); ++i) {
    largest = std::max(largest, std::abs(bent.unknowns.values[i]));
    moved = std::max(moved, std::abs(rest.unknowns.values[i] - bent.unknowns.values[i]));
  }
  EXPECT_GT(largest, 0.01);
  EXPECT_LT(moved, 1e-6 * largest);
  const double strain = largest_at_points(kept, "peeq");
  EXPECT_GT(strain, 0.01);
  EXPECT_NEAR(largest_at_points(kept, "peeq", 1), strain, 1e-9);
  int energies = 0;
  for (const auto& [name, values] : kept.responses.at(1).energies)
    if (name == "plastic") {
      ++energies;
      EXPECT_NEAR(values.back(), 0, 1e-12);
    }
  EXPECT_EQ(energies, 1);
}

TEST_F(PlasticJob, FilesAndHistoriesHaveThePlasticStrain) {
  Job job = read(plastic_rows, R"(, "formulation": "reduced")",
                 explicit_words + R"(, "print": [{"at": "elements", "values": ["stress", "plastic_strain"]}],
                  "histories": [{"at": "elements", "values": "plastic_strain", "number": 10}])");
  job.name = "blow";
  OutputOptions options;
  options.folder = folder_ / "out";
  ResultFiles files(job, options);
  files.finish(run_job(job, plainly(), {}, files), {});
  std::string vtu, csv = testing::read_all(options.folder / "blow_PEEQ_EALL.csv");
  for (const auto& entry : std::filesystem::directory_iterator(options.folder))
    if (entry.path().extension() == ".vtu") vtu = std::max(vtu, testing::read_all(entry.path()));
  EXPECT_NE(vtu.find("Name=\"peeq\""), std::string::npos);
  EXPECT_NE(csv.find("element,point,x,y,z,peeq"), std::string::npos) << csv.substr(0, 200);
  KeptSteps kept;
  run_job(job, plainly(), {}, kept);
  ASSERT_EQ(kept.responses.at(0).recorded.size(), 1u);
  const auto& curves = kept.responses.at(0).recorded[0].curves;
  ASSERT_EQ(curves.size(), 3u);
  EXPECT_EQ(curves[0].first, "element 1 point 1 peeq");
  double largest = 0;
  for (const auto& [name, values] : curves) {
    EXPECT_EQ(values.front(), 0) << name;
    for (std::size_t k = 1; k < values.size(); ++k) EXPECT_GE(values[k], values[k - 1] - 1e-12) << name;
    largest = std::max(largest, values.back());
  }
  EXPECT_EQ(largest, largest_at_points(kept, "peeq"));
}

TEST_F(PlasticJob, RefusesWhatIsNotSupported) {
  const auto refuse = [&](const std::string& material, const std::string& section, const std::string& step,
                          std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read(material, section, step); });
  };
  refuse(R"(, "plastic": [[0, 0]])", "", explicit_words, {"column.json", "plastic", "must be positive"});
  refuse(R"(, "plastic": [[5, 0.1]])", "", explicit_words, {"column.json", "plastic strain 0"});
  refuse(R"(, "plastic": [[5, 0], [6, 0.1], [7, 0.1]])", "", explicit_words, {"column.json", "row 3", "must increase"});
  refuse(R"(, "plastic": [[5, 0], [4, 0.1]])", "", explicit_words, {"column.json", "row 2", "softening"});
  refuse(R"(, "plastic": [])", "", explicit_words, {"column.json", "empty"});
  refuse(R"(, "plastic": [[5, 0, 0]])", "", explicit_words, {"column.json", "[yield stress, plastic strain]"});
  refuse(R"(, "plastic": [[5, 0]], "expansion": 1e-5)", "", explicit_words, {"column.json", "expansion"});
  refuse(plastic_rows, R"(, "formulation": "reduced")", R"("analysis": "nonlinear_static", "increment": 0.1)",
         {"column.json", "finite_solid.hex8.reduced", "explicit dynamics"});
  refuse("", R"(, "formulation": "reduced")", R"("analysis": "dynamic", "increment": 0.1)",
         {"column.json", "finite_solid.hex8.reduced", "explicit dynamics"});
  physics_ = "solid";
  const std::string statics = R"("analysis": "nonlinear_static", "increment": 0.1)";
  refuse(plastic_rows, "", statics, {"column.json", "incompatible modes", "\"full\""});
  refuse(plastic_rows, R"(, "formulation": "reduced")", statics, {"column.json", "solid.hex8.reduced", "'full'"});
  refuse("", R"(, "formulation": "full")", statics, {"column.json", "solid.hex8.full", "small displacements"});
  refuse(plastic_rows, R"(, "formulation": "full")", explicit_words, {"column.json", "large strains in explicit"});
}

// ---- What decks may not have ----------------------------------------------------------------------------------------

TEST(PlasticSteps, RefuseWhatIsNotSupported) {
  const std::string step = "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 0.1\n*END STEP\n";
  const auto refuse = [&](const std::string& card, const std::string& steps,
                          std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { run_deck(column_deck(card) + steps); });
  };
  refuse("*PLASTIC\n0., 0.\n", step, {"test.inp:31", "'M'", "must be positive"});
  refuse("*PLASTIC\n-5., 0.\n", step, {"test.inp:31", "must be positive"});
  refuse("*PLASTIC\n5., 0.1\n", step, {"test.inp:31", "plastic strain 0"});
  refuse("*PLASTIC\n5., 0.\n6., 0.1\n7., 0.1\n", step, {"test.inp:31", "row 3", "must increase"});
  refuse("*PLASTIC\n5., 0.\n4., 0.1\n", step, {"test.inp:31", "row 2", "softening"});
  refuse("*PLASTIC\n", step, {"test.inp:31", "data lines"});
  refuse("*PLASTIC\n5., 0.\n*PLASTIC\n5., 0.\n", step, {"test.inp:33", "twice"});
  refuse("*PLASTIC\n5., 0., 20.\n6., 0.1, 100.\n", step, {"test.inp:33", "temperature"});
  refuse("*PLASTIC, HARDENING=KINEMATIC\n5., 0.\n", step, {"test.inp:31", "KINEMATIC", "isotropic"});
  refuse("*PLASTIC, HARDENING=JOHNSON COOK\n5., 0.\n", step, {"test.inp:31", "JOHNSON"});
  refuse("*PLASTIC, RATE=10.\n5., 0.\n", step, {"test.inp:31", "RATE"});
  refuse("*PLASTIC, EXTRAPOLATION=LINEAR\n5., 0.\n", step, {"test.inp:31", "EXTRAPOLATION"});
  refuse("*PLASTIC\n5., 0.\n*RATE DEPENDENT\n1., 2.\n", step, {"test.inp:33", "RATE DEPENDENT"});
  refuse("*PLASTIC\n5., 0.\n*EXPANSION\n1e-5\n", step, {"test.inp:31", "*EXPANSION"});
  std::string long_table = "*PLASTIC\n";
  for (int k = 0; k < 17; ++k) long_table += std::to_string(5 + k) + "., " + std::to_string(0.01 * k) + "\n";
  refuse(long_table, step, {"test.inp:31", "17 rows", "16"});
  const std::string flows = "*PLASTIC\n5., 0.\n6., 0.1\n";
  refuse(flows, "*STEP\n*FREQUENCY\n2\n*END STEP\n",
         {"test.inp:31", "*PLASTIC is not supported in steps other than *STATIC and *DYNAMIC"});
  refuse(flows, "*STEP, NLGEOM\n*STATIC\n0.1, 1.\n*END STEP\n" + step, {"test.inp:", "cannot be combined"});
  expect_error(ErrorCode::bad_input, {"test.inp:18", "C3D8R", "one integration point"}, [&] {
    run_deck(replaced(column_deck(), "C3D8", "C3D8R") + "*STEP, NLGEOM\n*STATIC\n0.1, 1.\n*END STEP\n");
  });
  // The element exists for elastic bodies, not for plastic ones.
  std::string wedges = replaced(column_deck(flows), "C3D8", "C3D6");
  wedges = replaced(wedges, "1, 1, 2, 3, 4, 5, 6, 7, 8", "1, 1, 2, 3, 5, 6, 7");
  wedges = replaced(wedges, "2, 5, 6, 7, 8, 9, 10, 11, 12", "2, 5, 6, 7, 9, 10, 11");
  wedges = replaced(wedges, "3, 9, 10, 11, 12, 13, 14, 15, 16", "3, 9, 10, 11, 13, 14, 15");
  expect_error(ErrorCode::bad_input, {"test.inp:18", "C3D6", "*PLASTIC"}, [&] { run_deck(wedges + step); });
  DeckOptions abaqus;
  abaqus.dialect = Dialect::abaqus;
  expect_error(ErrorCode::bad_input, {"test.inp:18", "averaged change of volume", "*PLASTIC", "C3D8R"},
               [&] { read_deck_text(column_deck(flows) + step, "test.inp", abaqus); });
}

TEST(PlasticMaterials, HaveTheirTable) {
  const PlasticMaterial material("m", {{5, 0}, {6, 0.01}, {6, 0.05}});
  EXPECT_EQ(material.law(), "plastic");
  EXPECT_EQ(material.value("yield1", 0), 5);
  EXPECT_NEAR(material.value("hardening1", 0), 100, 1e-12);
  EXPECT_EQ(material.value("hardening2", 0), 0);
  EXPECT_EQ(material.value("strain2", 0), 0.01);
  EXPECT_EQ(material.value("strain3", 0), 0.05);
  EXPECT_EQ(material.value("strain16", 0), 0.05);
  EXPECT_EQ(material.value("hardening16", 0), 0);
  expect_error(ErrorCode::bad_input, {"material 'm'", "positive"}, [] { PlasticMaterial("m", {{0, 0}}); });
  expect_error(ErrorCode::bad_input, {"material 'm'", "must increase"}, [] {
    PlasticMaterial("m", {{1, 0}, {2, std::nan("")}});
  });
  expect_error(ErrorCode::bad_input, {"finite"}, [] { PlasticMaterial("m", {{1, 0}, {1e308 * 10, 1}}); });
}

}  // namespace
}  // namespace voussoir
