#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <voussoir/framework/io/deck/detail/element_types.hpp>
#include <voussoir/framework/io/detail/id_index.hpp>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// Mesh, sections and materials of decks.

namespace voussoir {
namespace {

using namespace voussoir::testing;

TEST(DeckElements, EveryNameMeansTypesWithAsManyNodes) {
  for (const deck::ElementMeaning& meaning : deck::element_meanings())
    for (std::string_view type : {meaning.calculix, meaning.abaqus, meaning.heat, meaning.planar}) {
      if (type.empty()) continue;
      const ElementType* found = ElementLibrary::instance().find_if(type);
      ASSERT_NE(found, nullptr) << meaning.name << " means " << type;
      EXPECT_EQ(found->program().nodes(), meaning.nodes) << meaning.name;
    }
}

TEST(DeckElements, NamesMeanWhatTheDialectMeans) {
  EXPECT_EQ(job_of(cube_model("C3D8")).domains[0]->block(0).type_name(), "solid.hex8.full");
  EXPECT_EQ(job_of(cube_model("C3D8"), Dialect::abaqus).domains[0]->block(0).type_name(), "solid.hex8.bbar");
  EXPECT_EQ(job_of(cube_model("C3D8I")).domains[0]->block(0).type_name(), "solid.hex8.incompatible");
  EXPECT_EQ(job_of(cube_model("C3D8R")).domains[0]->block(0).type_name(), "solid.hex8.reduced");
  EXPECT_EQ(job_of(square_model("CPE4")).domains[0]->block(0).type_name(), "plane_strain.quad4.full");
  EXPECT_EQ(job_of(square_model("CPE4"), Dialect::abaqus).domains[0]->block(0).type_name(), "plane_strain.quad4.bbar");
  EXPECT_EQ(job_of(square_model("CPS4"), Dialect::abaqus).domains[0]->block(0).type_name(), "plane_stress.quad4.full");
  EXPECT_EQ(job_of(square_model("CAX4R")).domains[0]->block(0).type_name(), "axisymmetric.quad4.reduced");
}

TEST(DeckElements, TheProcedureDecidesThePhysics) {
  const Job heat = job_of(cube_model() + heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n"));
  ASSERT_EQ(heat.domains.size(), 1u);
  EXPECT_EQ(heat.domains[0]->block(0).type_name(), "heat.hex8");
  const Job plane = job_of(square_model("CPS4", "0.25") + heat_step("*BOUNDARY\nLEFT, 11, 11, 3.\n"));
  EXPECT_EQ(plane.domains[0]->block(0).type_name(), "plane_heat.quad4");
  EXPECT_EQ(plane.domains[0]->block(0).section().at("thickness"), 0.25);
  const Job both = job_of(cube_model() + heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n") + static_step(clamped));
  ASSERT_EQ(both.domains.size(), 2u);
  EXPECT_EQ(both.domains[0]->block(0).type_name(), "heat.hex8");
  EXPECT_EQ(both.domains[1]->block(0).type_name(), "solid.hex8.full");
  EXPECT_EQ(both.steps[0].domain, 0u);
  EXPECT_EQ(both.steps[1].domain, 1u);
  // Without steps, what the elements and materials can do decides.
  EXPECT_EQ(job_of(cube_of("DC3D8") + steel + solid_section).domains[0]->block(0).type_name(), "heat.hex8");
  EXPECT_EQ(job_of(cube_of("C3D8") + "*MATERIAL, NAME=STEEL\n*CONDUCTIVITY\n5.\n" + solid_section)
                .domains[0]
                ->block(0)
                .type_name(),
            "heat.hex8");
  EXPECT_TRUE(job_of(cube_model()).steps.empty());
}

TEST(DeckElements, DiffusionElementsHaveNoPartInStatics) {
  const Job job = job_of(cube_model() +
                         "*NODE\n9, 0, 0, 2\n10, 1, 0, 2\n11, 1, 1, 2\n12, 0, 1, 2\n"
                         "*ELEMENT, TYPE=DC3D8, ELSET=HOT\n2, 5, 6, 7, 8, 9, 10, 11, 12\n"
                         "*SOLID SECTION, ELSET=HOT, MATERIAL=STEEL\n" +
                         heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n") + static_step(clamped));
  EXPECT_EQ(job.domains[0]->element_count(), 2);
  EXPECT_EQ(job.domains[1]->element_count(), 1);
  EXPECT_EQ(job.domains[0]->node_count(), job.domains[1]->node_count());
  ASSERT_FALSE(job.notes.empty());
  EXPECT_NE(job.notes[0].text.find("DC3D8 only conduct heat"), std::string::npos);
}

TEST(DeckMesh, NodesAreSortedAndTheLastOfTwoCounts) {
  const Job job = job_of(
      "*NODE\n7, 1, 1, 1\n3, 0, 0, 0\n7, 2, 0, 0\n100000000000, 0, 1, 0\n3, 0, 0, 0\n12, 0, 0, 1\n"
      "*ELEMENT, TYPE=C3D4, ELSET=EALL\n5, 3, 7, 100000000000, 12\n" +
      steel + solid_section);
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.node_count(), 4);
  EXPECT_EQ(d.node_id(0), 3);
  EXPECT_EQ(d.node_id(3), 100000000000);
  EXPECT_EQ(d.node(7).position[0], 2.0);
  ASSERT_EQ(job.notes.size(), 1u);  // of node 7 alone: node 3 says the same twice
  EXPECT_NE(job.notes[0].text.find("node 7 is defined more than once"), std::string::npos);
}

TEST(DeckMesh, NodesThatAreGivenAgainElsewhereAreOneNote) {
  const Job job = job_of(cube_model() + "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.125\n*NODE\n3, 1., 1., 0.125\n");
  ASSERT_EQ(job.notes.size(), 1u);
  EXPECT_NE(job.notes[0].text.find("node 2 is defined more than once"), std::string::npos) << job.notes[0].text;
  EXPECT_NE(job.notes[0].text.find("2 times in all"), std::string::npos) << job.notes[0].text;
}

TEST(DeckMesh, BlocksAreTypesTimesSections) {
  const Job job = job_of(
      "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,1,1\n6,2,0,0\n"
      "*ELEMENT, TYPE=C3D4, ELSET=A\n1,1,2,3,4\n2,2,3,4,5\n*ELEMENT, TYPE=C3D4, ELSET=B\n3,2,3,4,6\n"
      "*ELEMENT, TYPE=T3D2, ELSET=A\n4,2,6\n*ELSET, ELSET=ALL\nA, B\n"
      "*MATERIAL, NAME=M\n*ELASTIC\n1.,0.\n*MATERIAL, NAME=N\n*ELASTIC\n2.,0.\n"
      "*SOLID SECTION, ELSET=A, MATERIAL=M\n3.\n*SOLID SECTION, ELSET=B, MATERIAL=N\n");
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.block_count(), 3u);
  EXPECT_EQ(d.block(0).name(), "A");
  EXPECT_EQ(d.block(0).size(), 2);
  EXPECT_EQ(d.block(1).name(), "B");
  EXPECT_EQ(d.block(1).material()->name(), "N");
  EXPECT_EQ(d.block(2).name(), "A T3D2");
  EXPECT_EQ(d.block(2).type_name(), "truss");
  EXPECT_EQ(d.block(2).section().at("area"), 3.0);
  EXPECT_EQ(d.element_set("ALL").size(), 4u);
  EXPECT_EQ(d.element(3).block->name(), "B");
}

TEST(DeckMesh, TheLastSectionOfAnElementCounts) {
  const Job job = job_of(cube_model() +
                         "*MATERIAL, NAME=OTHER\n*ELASTIC\n7.,0.\n"
                         "*SOLID SECTION, ELSET=EALL, MATERIAL=OTHER\n");
  ASSERT_EQ(job.domains[0]->block_count(), 1u);
  EXPECT_EQ(job.domains[0]->block(0).material()->value("young", 0), 7.0);
}

TEST(DeckMesh, ScatteredSectionsMakeOneBlockEach) {
  std::string text = "*NODE\n1,0,0,0\n2,0,1,0\n";
  std::string a, b;
  for (int i = 0; i < 50; ++i) {
    text += std::to_string(10 + i) + ", 1, " + std::to_string(i) + ", 0\n";
    (i % 2 ? a : b) += std::to_string(100 + i) + ",\n";
  }
  text += "*ELEMENT, TYPE=T3D2\n";
  for (int i = 0; i < 50; ++i) text += std::to_string(100 + i) + ", " + std::to_string(10 + i) + ", 1\n";
  text += "*ELSET, ELSET=A\n" + a + "*ELSET, ELSET=B\n" + b + steel +
          "*SOLID SECTION, ELSET=A, MATERIAL=STEEL\n1.\n*SOLID SECTION, ELSET=B, MATERIAL=STEEL\n2.\n";
  const Job job = job_of(text);
  const Domain& d = *job.domains[0];
  ASSERT_EQ(d.block_count(), 2u);
  EXPECT_EQ(d.block("A").size(), 25);
  EXPECT_EQ(d.element(107).block->section().at("area"), 1.0);
  EXPECT_EQ(d.element(108).nodes[0], 18);
}

TEST(DeckMesh, SurfacesNameFacesAndFreeFaces) {
  const std::string two =
      "*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n"
      "9,0,0,2\n10,1,0,2\n11,1,1,2\n12,0,1,2\n"
      "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n2,5,6,7,8,9,10,11,12\n"
      "*ELSET, ELSET=UPPER\n2\n";
  const Job job = job_of(two + steel + solid_section +
                         "*SURFACE, NAME=FRONT\nEALL, S3\n*SURFACE, NAME=LID\n2, S2\n"
                         "*SURFACE, NAME=SKIN\nUPPER,\n");
  const Domain& d = *job.domains[0];
  EXPECT_EQ(d.surface("FRONT").size(), 2u);
  ASSERT_EQ(d.surface("LID").size(), 1u);
  EXPECT_EQ(d.surface("LID")[0], (FaceRef{0, 1, 1}));
  EXPECT_EQ(d.surface("SKIN").size(), 5u);  // all but the one that it shares
}

TEST(DeckMesh, SetsLeaveOutWhatDoesNotExist) {
  const Job job = job_of(cube_model() + "*NSET, NSET=SOME\n1, 2, 99\n");
  EXPECT_EQ(job.domains[0]->node_set("SOME").size(), 2u);
}

TEST(DeckMesh, IdIndexFindsTheLastOfEqualIdsNearAndFar) {
  const std::vector<Id> near{5, 3, 5, 9}, far{5, -4000000000000000000, 5, 9000000000000000000};
  for (const auto& ids : {near, far}) {
    const IdIndex index(ids);
    EXPECT_EQ(index.find(5), 2);
    EXPECT_EQ(index.find(ids[1]), 1);
    EXPECT_EQ(index.find(ids[3]), 3);
    EXPECT_EQ(index.find(4), -1);
    EXPECT_EQ(index.find(ids[3] + 1), -1);
    EXPECT_EQ(index.find(ids[1] - 1), -1);
    EXPECT_EQ(index.duplicate(), 5);
  }
  EXPECT_EQ(IdIndex().find(0), -1);
  EXPECT_FALSE(IdIndex(std::vector<Id>{1, 1000000000000}).duplicate());
}

// --- materials -------------------------------------------------------------------------------------------------------

TEST(DeckMaterials, TablesOverTemperature) {
  const Job job =
      job_of(cube_of("C3D8") + "*MATERIAL, NAME=STEEL\n*ELASTIC\n200., 0.3, 0.\n100., 0.2, 50.\n" + solid_section);
  const Material& m = *job.domains[0]->block(0).material();
  EXPECT_DOUBLE_EQ(m.value("young", 25), 150.0);
  EXPECT_DOUBLE_EQ(m.value("poisson", 60), 0.2);
}

TEST(DeckMaterials, NineStiffnessesBecomeEngineeringConstants) {
  // An isotropic material (E = 260, ν = 0.3: λ = 150, μ = 100) in the words of ORTHO, with one shear modulus changed.
  const Job job =
      job_of(cube_of("C3D8") +
             "*MATERIAL, NAME=STEEL\n*ELASTIC, TYPE=ORTHO\n350., 150., 350., 150., 150., 350., 100., 100.,\n"
             "77., 0.\n" +
             solid_section);
  const ElementBlock& block = job.domains[0]->block(0);
  EXPECT_EQ(block.type().name(), "orthotropic_solid.hex8.full");
  const Material& m = *block.material();
  EXPECT_NEAR(m.value("E1", 0), 260, 1e-10);
  EXPECT_NEAR(m.value("E3", 0), 260, 1e-10);
  EXPECT_NEAR(m.value("nu12", 0), 0.3, 1e-12);
  EXPECT_NEAR(m.value("nu23", 0), 0.3, 1e-12);
  EXPECT_EQ(m.value("G12", 0), 100);
  EXPECT_EQ(m.value("G23", 0), 77);
}

TEST(DeckMaterials, OrthotropicExpansionMakesAnIsotropicBodyOrthotropic) {
  const Job job = job_of(cube_of("C3D8") +
                         "*MATERIAL, NAME=STEEL\n*ELASTIC\n260., 0.3\n*EXPANSION, TYPE=ORTHO\n1.e-5, 2.e-5, 3.e-5\n" +
                         solid_section);
  const Material& m = *job.domains[0]->block(0).material();
  EXPECT_EQ(m.law(), "orthotropic");
  EXPECT_EQ(m.value("E2", 0), 260);
  EXPECT_DOUBLE_EQ(m.value("G13", 0), 100);
  EXPECT_EQ(m.value("expansion3", 0), 3e-5);
}

TEST(DeckMaterials, ExpansionCountsFromItsZero) {
  const std::string material =
      "*MATERIAL, NAME=STEEL\n*ELASTIC\n260., 0.3\n*EXPANSION, ZERO=20.\n1.e-5, 0.\n2.e-5, 100.\n";
  const Job job = job_of(cube_of("C3D8") + material + solid_section +
                         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 50.\nTOP, 70.\n" +
                         static_step("*TEMPERATURE\nNALL, 450.\n"));
  const Domain& d = *job.domains[0];
  const Material& m = *d.block(0).material();
  ASSERT_TRUE(m.expansion_reference());
  EXPECT_EQ(*m.expansion_reference(), 20);
  EXPECT_EQ(m.temperatures(), (std::vector<double>{0, 100}));
  EXPECT_DOUBLE_EQ(m.value("expansion", 50), 1.5e-5);
  EXPECT_EQ(d.initial_temperatures(), (std::vector<double>{50, 50, 50, 50, 70, 70, 70, 70}));
}

TEST(DeckMaterials, ConductivityAlongAxesIsOrthotropicInHeatAlone) {
  const Job job =
      job_of(cube_of("C3D8") +
             "*MATERIAL, NAME=STEEL\n*ELASTIC\n260., 0.3\n*CONDUCTIVITY, TYPE=ORTHO\n1., 2., 3.\n*SPECIFIC HEAT\n4.\n" +
             solid_section + heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n") + static_step(clamped));
  EXPECT_EQ(job.domains[0]->block(0).type().name(), "orthotropic_heat.hex8");
  EXPECT_EQ(job.domains[0]->block(0).material()->value("k2", 0), 2);
  EXPECT_EQ(job.domains[0]->block(0).material()->value("specific_heat", 0), 4);
  EXPECT_EQ(job.domains[1]->block(0).type().name(), "solid.hex8.full");
}

TEST(DeckMaterials, OrientationsTurnAboutTheirOwnAxes) {
  const std::string ortho =
      "*MATERIAL, NAME=STEEL\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1., 2., 3., 0.1, 0.1, 0.1, 1., 1.,\n1.\n";
  const auto axes = [&](const std::string& card) {
    const Job job =
        job_of(cube_of("C3D8") + ortho + card + "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL, ORIENTATION=O\n");
    return job.domains[0]->block(0).orientation().at({0, 2, 0.5});
  };
  const auto expect_axis = [](const Orientation::Axes& a, int axis, std::array<double, 3> right) {
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(a[3 * axis + k], right[k], 1e-14);
  };
  const auto plain = axes("*ORIENTATION, NAME=O\n0., 1., 0., -1., 0., 0.\n");
  expect_axis(plain, 0, {0, 1, 0});
  expect_axis(plain, 1, {-1, 0, 0});
  // 90° about the local axis 3 carries the first axis to the second.
  const auto turned = axes("*ORIENTATION, NAME=O\n0., 1., 0., -1., 0., 0.\n3, 90.\n");
  expect_axis(turned, 0, {-1, 0, 0});
  expect_axis(turned, 1, {0, -1, 0});
  const auto cylinder = axes("*ORIENTATION, NAME=O, SYSTEM=CYLINDRICAL\n0., 0., 0., 0., 0., 1.\n1, 90.\n");
  expect_axis(cylinder, 0, {0, 1, 0});  // radial at (0, 2)
  expect_axis(cylinder, 1, {0, 0, 1});  // axial where circumferential was
  expect_axis(cylinder, 2, {1, 0, 0});
}

TEST(DeckMaterials, AnOrientationHasThreeAxesToTurnAbout) {
  expect_error(ErrorCode::bad_input, {"there is no axis 4", "1, 2 or 3"}, [] { Orientation().turned(4, 10); });
}

// --- sections -------------------------------------------------------------------------------------------------------

std::map<std::string, double, std::less<>> beam_section(const std::string& shape, const std::string& numbers,
                                                        Dialect dialect = Dialect::calculix) {
  const Job job = job_of(
      "*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT, TYPE=B31, ELSET=EALL\n1,1,2\n"
      "*MATERIAL, NAME=STEEL\n*ELASTIC\n1000., 0.\n*BEAM SECTION, ELSET=EALL, MATERIAL=STEEL, SECTION=" +
          shape + "\n" + numbers + "\n0., 1., 0.\n",
      dialect);
  EXPECT_EQ(job.domains[0]->block(0).type_name(), "beam");
  return job.domains[0]->block(0).section();
}

TEST(DeckSections, RectangularBeam) {
  const auto s = beam_section("RECT", "2., 1.");  // 2 along axis 1
  EXPECT_DOUBLE_EQ(s.at("area"), 2);
  EXPECT_DOUBLE_EQ(s.at("inertia_y"), 2.0 / 12);
  EXPECT_DOUBLE_EQ(s.at("inertia_z"), 8.0 / 12);
  EXPECT_NEAR(s.at("torsion"), 0.2287 * 2, 1e-4);  // Timoshenko and Goodier, table of β for a/b = 2: 0.229
  EXPECT_DOUBLE_EQ(s.at("shear_area_y"), 5.0 / 6 * 2);
  EXPECT_EQ(s.at("orientation_y"), 1);
  EXPECT_NEAR(beam_section("RECT", "1., 1.").at("torsion"), 0.140577, 1e-6);
}

TEST(DeckSections, RoundBeams) {
  using std::numbers::pi;
  const auto circle = beam_section("CIRC", "2., 2.");
  EXPECT_DOUBLE_EQ(circle.at("area"), pi);
  EXPECT_DOUBLE_EQ(circle.at("inertia_y"), pi / 4);
  EXPECT_DOUBLE_EQ(circle.at("torsion"), pi / 2);
  EXPECT_DOUBLE_EQ(circle.at("shear_area_z"), 6.0 / 7 * pi);
  // One number is a radius in Abaqus.
  EXPECT_DOUBLE_EQ(beam_section("CIRC", "2.", Dialect::abaqus).at("area"), 4 * pi);
  EXPECT_DOUBLE_EQ(beam_section("CIRC", "2.").at("area"), pi);
  const auto pipe = beam_section("PIPE", "2., 1.");
  EXPECT_DOUBLE_EQ(pipe.at("area"), 3 * pi);
  EXPECT_DOUBLE_EQ(pipe.at("inertia_z"), 15 * pi / 4);
  EXPECT_DOUBLE_EQ(pipe.at("torsion"), 15 * pi / 2);
  // Half of the area carries shear in a thin tube, by Cowper.
  const auto thin = beam_section("PIPE", "1., 0.0001");
  EXPECT_NEAR(thin.at("shear_area_y") / thin.at("area"), 0.5, 1e-6);
}

TEST(DeckSections, BoxAndGeneralBeams) {
  const auto box = beam_section("BOX", "4., 3., 0.1, 0.2, 0.1, 0.2");
  EXPECT_NEAR(box.at("area"), 12 - 3.8 * 2.6, 1e-12);
  EXPECT_NEAR(box.at("inertia_y"), (4 * 27 - 3.8 * std::pow(2.6, 3)) / 12, 1e-12);
  EXPECT_NEAR(box.at("torsion"), 4 * std::pow(3.9 * 2.8, 2) / (2 * 3.9 / 0.2 + 2 * 2.8 / 0.1), 1e-12);  // Bredt
  const Job job = job_of("*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT, TYPE=B31, ELSET=EALL\n1,1,2\n" + steel +
                         "*BEAM GENERAL SECTION, ELSET=EALL, MATERIAL=STEEL, SECTION=GENERAL\n"
                         "3., 4., 0., 5., 6.\n0., 1., 0.\n");
  const auto& general = job.domains[0]->block(0).section();
  EXPECT_EQ(general.at("inertia_y"), 4);
  EXPECT_EQ(general.at("inertia_z"), 5);
  EXPECT_EQ(general.at("torsion"), 6);
}

TEST(DeckSections, SpringsAndMasses) {
  const Job job =
      job_of(cube_model() +
             "*ELEMENT, TYPE=SPRINGA, ELSET=S\n2,1,7\n*ELEMENT, TYPE=SPRING1, ELSET=G\n3,5\n"
             "*ELEMENT, TYPE=SPRING2, ELSET=R\n4,5,6\n*ELEMENT, TYPE=MASS, ELSET=M\n5,7\n"
             "*SPRING, ELSET=S\n\n10.\n*SPRING, ELSET=G\n2\n20.\n*SPRING, ELSET=R\n6,6\n30.\n*MASS, ELSET=M\n40.\n");
  const Domain& d = *job.domains[0];
  EXPECT_EQ(d.block("S").section().at("stiffness"), 10);
  EXPECT_EQ(d.block("G").type_name(), "spring_to_ground");
  EXPECT_EQ(d.block("G").section().at("ky"), 20);
  EXPECT_EQ(d.block("G").section().at("kx"), 0);
  EXPECT_EQ(d.block("R").type_name(), "spring_rotary");
  EXPECT_EQ(d.block("R").section().at("krz"), 30);
  EXPECT_EQ(d.block("M").section().at("mass"), 40);
  // In a plane model they are plane too.
  const Job plane = job_of(square_model("CPS4") + "*ELEMENT, TYPE=SPRINGA, ELSET=S\n2,1,3\n*SPRING, ELSET=S\n\n10.\n");
  EXPECT_EQ(plane.domains[0]->block("S").type_name(), "plane_spring_axial");
}

}  // namespace
}  // namespace voussoir
