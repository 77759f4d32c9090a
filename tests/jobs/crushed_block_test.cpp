#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "column_deck.hpp"

// Blocks of soft metal that are crushed so fast that the stability limit falls within a few steps.

namespace voussoir {
namespace {

using testing::run_deck;

/// A unit cube of n³ elements, E = 1000, ν = 0.3, ρ = 1, yield stress 5 to 10, whose foot is held. Its top comes down
/// by 0.6 at a constant speed, or the cube hits the ground with this speed. The speed of dilatational waves is 37.
std::string crushed_block(const std::string& type, int n, double speed, bool pressed) {
  std::ostringstream text;
  const auto id = [n](int i, int j, int k) { return 1 + i + (n + 1) * (j + (n + 1) * k); };
  const auto over_nodes = [&](int first, int last, const auto& visit) {
    for (int k = first; k <= last; ++k)
      for (int j = 0; j <= n; ++j)
        for (int i = 0; i <= n; ++i) visit(i, j, k);
  };
  text.precision(17);
  text << "*NODE, NSET=NALL\n";
  over_nodes(0, n, [&](int i, int j, int k) {
    text << id(i, j, k) << ", " << double(i) / n << ", " << double(j) / n << ", " << double(k) / n << "\n";
  });
  text << "*ELEMENT, TYPE=" << type << ", ELSET=ALL\n";
  const int tets[5][4] = {{0, 1, 3, 4}, {1, 2, 3, 6}, {4, 6, 5, 1}, {4, 7, 6, 3}, {1, 6, 3, 4}};
  int element = 0;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const int c[8] = {id(i, j, k),     id(i + 1, j, k),     id(i + 1, j + 1, k),     id(i, j + 1, k),
                          id(i, j, k + 1), id(i + 1, j, k + 1), id(i + 1, j + 1, k + 1), id(i, j + 1, k + 1)};
        if (type == "C3D4") {
          for (const auto& t : tets)
            text << ++element << ", " << c[t[0]] << ", " << c[t[1]] << ", " << c[t[2]] << ", " << c[t[3]] << "\n";
          continue;
        }
        text << ++element;
        for (const int node : c) text << ", " << node;
        text << "\n";
      }
  const auto add_set = [&](const char* name, int first, int last) {
    text << "*NSET, NSET=" << name << "\n";
    over_nodes(first, last, [&](int i, int j, int k) { text << id(i, j, k) << "\n"; });
  };
  add_set("FOOT", 0, 0);
  add_set("TOP", n, n);
  add_set("BODY", 1, n);
  text << "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n*DENSITY\n1.\n*PLASTIC\n5., 0.\n10., 1.\n"
       << "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*BOUNDARY\nFOOT, 1, 3\n";
  const double period = 0.6 / speed;
  if (pressed)
    text << "*AMPLITUDE, NAME=DOWN\n0., 0., " << period << ", 1.\n";
  else
    text << "*INITIAL CONDITIONS, TYPE=VELOCITY\nBODY, 3, " << -speed << "\n";
  text << "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, " << period << "\n";
  if (pressed) text << "*BOUNDARY, AMPLITUDE=DOWN\nTOP, 1, 2\nTOP, 3, 3, -0.6\n";
  text << "*END STEP\n";
  return text.str();
}

TEST(CrushedBlock, EnergyIsInBalanceAtTheDefaultFactor) {
  for (const bool pressed : {true, false})
    for (const char* type : {"C3D8R", "C3D8", "C3D4"})
      for (const double speed : {1.0, 3.0, 8.0}) {
        // Tetrahedra of this mesh are pressed inside out at the highest speed, whatever the steps.
        if (std::string(type) == "C3D4" && speed > 5) continue;
        SCOPED_TRACE(std::string(type) + (pressed ? " pressed " : " thrown ") + std::to_string(speed));
        const auto ran = run_deck(crushed_block(type, 2, speed, pressed));
        const StepResponse& response = ran.kept.responses.at(0);
        std::map<std::string, double> count, total;
        for (const auto& [name, value] : response.counts) count[name] = value;
        for (const auto& [name, value] : response.totals) total[name] = value;
        for (const std::string& note : response.notes) EXPECT_EQ(note.find("from nothing"), std::string::npos) << note;
        // The largest at the beginning, when little energy has been supplied.
        EXPECT_LT(count.at("worst_balance"), 0.4);
        EXPECT_GT(total.at("plastic"), 0.05);
        // The work of the press and the initial kinetic energy, of a quarter or three quarters of the mass, are all
        // that there is.
        const double given = (pressed ? total.at("external") : 0.0) + 0.5 * (pressed ? 0.25 : 0.75) * speed * speed;
        EXPECT_LT(total.at("kinetic") + total.at("internal"), 1.05 * given);
        EXPECT_GT(total.at("kinetic") + total.at("internal"), 0.9 * given);
        EXPECT_GT(count.at("estimates"), pressed ? 10 : 1);  // about every 5 % of ln 2.5
      }
}

/// A block of 2 × 2 × 2 elements with one point that hits the ground.
struct ThrownBlock {
  Domain domain;
  NodalField velocity;

  ThrownBlock() {
    BoxMesh mesh;
    mesh.type = "finite_solid.hex8.reduced";
    mesh.cells = {2, 2, 2};
    auto metal = std::make_shared<PlasticMaterial>("metal", std::vector<HardeningPoint>{{5, 0}, {10, 1}});
    metal->set("young", 1000).set("poisson", 0.3).set("density", 1);
    add_box_mesh(domain, mesh).set_material(metal);
    std::vector<Id> foot;
    velocity = {"velocity", {"ux", "uy", "uz"}, {}};
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const bool low = domain.coordinates()[3 * static_cast<std::size_t>(n) + 2] < 1e-9;
      if (low) foot.push_back(domain.node_id(n));
      velocity.values.insert(velocity.values.end(), {0, 0, low ? 0.0 : -3.0});
    }
    domain.add_node_set("foot", foot);
    for (const char* u : {"ux", "uy", "uz"}) domain.prescribe("foot", u);
  }
  void set_up(ExplicitAnalysis& analysis) const {
    analysis.set_steps({.end = 0.2, .report_every = 7});
    analysis.set_initial_velocity(velocity);
  }
};

Analysis::Collaborators crushed_parts(const std::string& backend) {
  Analysis::Collaborators parts;
  parts.backend = Backend::open(backend);
  return parts;
}

TEST(CrushedBlock, ContinuesWithTheSameBits) {
  const ThrownBlock block;
  for (const char* backend : {"openmp:1", "openmp:2"})
    for (const int stop : {2, 11}) {
      ExplicitAnalysis whole(block.domain, crushed_parts(backend)), first(block.domain, crushed_parts(backend)),
          second(block.domain, crushed_parts(backend));
      for (ExplicitAnalysis* a : {&whole, &first, &second}) block.set_up(*a);
      const StepResult expected = whole.run().back();
      EXPECT_GT(whole.report().estimates, 4);
      first.start();
      first.advance(stop);
      std::stringstream saved;
      first.save(saved);
      second.restore(saved);
      const StepResult found = second.finish().back();
      EXPECT_EQ(found.unknowns.values, expected.unknowns.values) << backend << " " << stop;
      EXPECT_EQ(second.report().steps, whole.report().steps);
      EXPECT_EQ(second.report().estimates, whole.report().estimates);
      EXPECT_EQ(second.energies(), whole.energies());
    }
}

TEST(CrushedBlock, StepsThatAreTooLongAreRefusedAsElementsShrink) {
  const ThrownBlock block;
  ExplicitAnalysis a(block.domain, crushed_parts("openmp:1"));
  block.set_up(a);
  a.start();
  // Stable at the beginning, and not when the block is compressed.
  const double limit = a.report().limit;
  ExplicitAnalysis b(block.domain, crushed_parts("openmp:1"));
  b.set_initial_velocity(block.velocity);
  b.set_steps({.end = 0.2, .step = 0.98 * limit});
  EXPECT_THROW(b.run(), Error);
}

TEST(SuppliedEnergy, LeavesOutWhatWasCreated) {
  EnergyBalance e;
  e.initial = 2;
  e.external = -3;
  e.kinetic = 50;
  e.internal = 70;
  EXPECT_EQ(supplied_energy(e), 5);
  e.internal = -4;  // elements that push, as heated ones do
  EXPECT_EQ(supplied_energy(e), 9);
}

}  // namespace
}  // namespace voussoir
