#include <gtest/gtest.h>

#include <string>
#include <vector>
#include <voussoir/framework/io/deck/detail/deck.hpp>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// Parts, instances and assemblies, as Abaqus/CAE writes them.

namespace voussoir::deck {
namespace {

using Ids = std::vector<Id>;

Deck parse(const std::string& text) { return parse_deck_text(text, "a.inp", {}, {}); }

/// The unit cube, as a part.
std::string cube_part(const std::string& name = "Cube") {
  return "*Part, name=" + name + "\n" + testing::cube_of("C3D8") +
         "*Surface, type=ELEMENT, name=Lower\nEall, S1\n*Surface, type=ELEMENT, name=Upper\nEall, S2\n"
         "*Solid Section, elset=Eall, material=STEEL\n,\n*End Part\n";
}

const std::string material = "*Material, name=STEEL\n*Elastic\n1000., 0.25\n";

/// Two cubes on top of each other.
const std::string tower = cube_part() +
                          "*Assembly, name=Tower\n*Instance, name=Low-1, part=Cube\n*End Instance\n"
                          "*Instance, name=High-1, part=Cube\n0., 0., 1.\n*End Instance\n";

TEST(DeckAssembly, NumbersOfFurtherInstancesBeginBehindARoundNumber) {
  const Deck deck =
      parse(tower +
            "*Node\n1, 0.5, 0.5, 2.5\n*Nset, nset=RP\n1,\n*Nset, nset=_PickedSet5, internal, instance=High-1\n"
            "5, 6\n*Elset, elset=Both\nLow-1.Eall, High-1.1\n*Nset, nset=Mixed\nLow-1.5, RP\n"
            "*Nset, nset=Wide, instance=Low-1, generate\n3, 100, 2\n*End Assembly\n" +
            material);
  EXPECT_EQ(deck.nodes.ids, (Ids{1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18, 21}));
  EXPECT_EQ(deck.nodes.coordinates[3 * 8 + 2], 1);
  EXPECT_EQ(deck.nodes.coordinates[3 * 16 + 2], 2.5);
  ASSERT_EQ(deck.elements.size(), 2u);
  EXPECT_EQ(deck.elements[1].ids, (Ids{11}));
  EXPECT_EQ(deck.elements[1].nodes, (Ids{11, 12, 13, 14, 15, 16, 17, 18}));
  EXPECT_EQ(deck.node_sets.at("LOW-1.TOP"), (Ids{5, 6, 7, 8}));
  EXPECT_EQ(deck.node_sets.at("HIGH-1.TOP"), (Ids{15, 16, 17, 18}));
  EXPECT_EQ(deck.node_sets.at("_PICKEDSET5"), (Ids{15, 16}));
  EXPECT_EQ(deck.node_sets.at("RP"), (Ids{21}));
  EXPECT_EQ(deck.node_sets.at("MIXED"), (Ids{5, 21}));
  EXPECT_EQ(deck.node_sets.at("WIDE"), (Ids{3, 5, 7})) << "a wide range does not reach into the next instance";
  EXPECT_EQ(deck.element_sets.at("BOTH"), (Ids{1, 11}));
  EXPECT_EQ(deck.sections.at(1).set, "HIGH-1.EALL");
  EXPECT_TRUE(deck.surfaces.contains("HIGH-1.LOWER"));
  EXPECT_EQ(deck.instances.node(5), "LOW-1.5");
  EXPECT_EQ(deck.instances.node(15), "HIGH-1.5");
  EXPECT_EQ(deck.instances.node(21), "TOWER.1");
  EXPECT_EQ(deck.instances.element(11), "HIGH-1.1");
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_NE(deck.notes[0].text.find("10 (HIGH-1)"), std::string::npos) << deck.notes[0].text;
}

TEST(DeckAssembly, AllFormsOfANameMeanTheSame) {
  for (const char* name :
       {"High-1.Top", "Tower.High-1.Top", "TOWER.HIGH-1.TOP", "\"High-1\".\"Top\"", "Tower.TOPSET", "topset"}) {
    const Deck deck = parse(tower + "*Nset, nset=TopSet, instance=High-1\nTop\n*End Assembly\n*Boundary\n" +
                            std::string(name) + ", 1\n" + material);
    const auto& held = std::get<BoundaryCard>(deck.actions.at(0).card);
    EXPECT_EQ(deck.node_sets.at(held.entries.at(0).node.set), (Ids{15, 16, 17, 18})) << name;
  }
  for (const char* node : {"High-1.5", "Tower.High-1.5"}) {
    const Deck deck = parse(tower + "*End Assembly\n*Boundary\n" + std::string(node) + ", 1\n" + material);
    EXPECT_EQ(std::get<BoundaryCard>(deck.actions.at(0).card).entries.at(0).node.id, 15) << node;
  }
}

TEST(DeckAssembly, InstancesAreMovedAndThenTurned) {
  const Deck deck = parse(
      "*PART, NAME=P\n*NODE\n1, 1., 0., 0.\n2, 2., 0., 0.\n*ELEMENT, TYPE=B31, ELSET=E\n1, 1, 2\n"
      "*ORIENTATION, NAME=O, SYSTEM=CYLINDRICAL\n0,0,0, 0,0,1\n*ORIENTATION, NAME=R\n1,0,0, 0,1,0\n"
      "*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=RECT, ORIENTATION=R\n1., 2.\n0., 1., 0.\n"
      "*TRANSFORM, NSET=N, TYPE=C\n0,0,0, 0,0,1\n*NSET, NSET=N\n1\n*END PART\n"
      "*ASSEMBLY\n*INSTANCE, NAME=A, PART=P\n*END INSTANCE\n*INSTANCE, NAME=B, PART=P\n 0., 0., 10.\n"
      " 0., 0., 0., 0., 0., 5., 90.\n*END INSTANCE\n*END ASSEMBLY\n*MATERIAL, NAME=M\n");
  const std::vector<double>& x = deck.nodes.coordinates;
  EXPECT_EQ(std::vector<double>(x.begin(), x.begin() + 6), (std::vector<double>{1, 0, 0, 2, 0, 0}));
  EXPECT_EQ(std::vector<double>(x.begin() + 6, x.end()), (std::vector<double>{0, 1, 10, 0, 2, 10}));
  EXPECT_EQ(deck.sections.at(0).direction, (std::array<double, 3>{0, 1, 0}));
  EXPECT_EQ(deck.sections.at(1).direction, (std::array<double, 3>{-1, 0, 0}));
  EXPECT_EQ(deck.sections.at(1).orientation, "B.R");
  EXPECT_EQ(deck.orientations.at("B.R").a, (std::array<double, 3>{0, 1, 0}));
  EXPECT_EQ(deck.orientations.at("B.O").b, (std::array<double, 3>{0, 0, 11}));
  EXPECT_EQ(deck.transforms.at(1).a, (std::array<double, 3>{0, 0, 10}));
  EXPECT_EQ(deck.transforms.at(1).set, "B.N");
}

TEST(DeckAssembly, MeshesMayStandInTheInstance) {
  const Deck deck = parse("*PART, NAME=P\n*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n1., 0., 0.\n" +
                          testing::cube_of("C3D8") + "*END INSTANCE\n*INSTANCE, NAME=J, PART=P\n" +
                          testing::cube_of("C3D8") + "*END INSTANCE\n*END ASSEMBLY\n");
  EXPECT_EQ(deck.nodes.ids.size(), 16u);
  EXPECT_EQ(deck.nodes.coordinates[0], 1);
  EXPECT_EQ(deck.node_sets.at("J.TOP"), (Ids{15, 16, 17, 18}));
}

TEST(DeckAssembly, ElementsAndConstraintsOfTheAssemblyNameNodesOfInstances) {
  const Deck deck =
      parse(tower +
            "*Element, type=SPRINGA, elset=Springs\n1, Low-1.5, High-1.1\n*Spring, elset=Springs\n\n100.\n"
            "*Equation\n2\nLow-1.6, 1, 1., High-1.Bottom, 1, -1.\n*Node\n1, 0., 0., 3.\n*Nset, nset=Ref\n1\n"
            "*Rigid Body, ref node=Ref, nset=High-1.Top\n"
            "*Tie, name=Joint\nHigh-1.Lower, Tower.Low-1.Upper\n*End Assembly\n" +
            material);
  EXPECT_EQ(deck.elements.at(2).ids, (Ids{21}));
  EXPECT_EQ(deck.elements[2].nodes, (Ids{5, 11}));
  EXPECT_EQ(deck.sections.at(2).spring.at(0).first, 100);
  EXPECT_EQ(deck.equations.at(0).terms.at(0).node.id, 6);
  EXPECT_EQ(deck.equations[0].terms.at(1).node.set, "HIGH-1.BOTTOM");
  EXPECT_EQ(deck.rigid_bodies.at(0).reference->set, "REF");
  EXPECT_EQ(deck.ties.at(0).slave, "HIGH-1.LOWER");
  EXPECT_EQ(deck.ties[0].master, "LOW-1.UPPER");
}

TEST(DeckAssembly, ATiedTowerHasTheShortnessOfAFlatOne) {
  const Job job =
      testing::job_of(tower + "*Tie, name=Joint\nHigh-1.Lower, Low-1.Upper\n*End Assembly\n" + material +
                      "*Boundary\nLow-1.Bottom, 1, 3\n*Step\n*Static\n*Dsload\nHigh-1.Upper, P, 2.\n*End Step\n");
  EXPECT_EQ(job.domains.at(0)->node_count(), 16);
  EXPECT_EQ(job.domains[0]->block_count(), 2u);
  EXPECT_TRUE(job.domains[0]->has_block("HIGH-1.EALL"));
  EXPECT_EQ(job.instances.node(15), "HIGH-1.5");
  // Only Abaqus reads parts, so C3D8 is Abaqus's.
  EXPECT_EQ(job.domains[0]->block(0).type_name(), "solid.hex8.bbar");
}

TEST(DeckAssembly, MessagesNameNodesAsTheirAuthorDoes) {
  testing::expect_error(ErrorCode::bad_input, {"node HIGH-1.1 "}, [] {
    testing::job_of(tower + "*End Assembly\n" + material + "*Step\n*Static\n*Cload\nHigh-1.1, 5, 2.\n*End Step\n");
  });
}

TEST(DeckAssembly, PartsThatAreNotPlacedAreLeftOut) {
  const Deck deck = parse(cube_part("A") + cube_part("B") +
                          "*Assembly, name=X\n*Instance, name=A-1, part=A\n*End Instance\n*End Assembly\n" + material);
  EXPECT_EQ(deck.nodes.ids.size(), 8u);
  ASSERT_EQ(deck.notes.size(), 2u);
  EXPECT_NE(deck.notes[0].text.find("no *INSTANCE uses the part 'B'"), std::string::npos);
}

TEST(DeckAssembly, InstancesThatRepeatTooMuchTextAreRefused) {
  std::string deck = "*PART,NAME=P\n*NODE\n1\n** " + std::string(60'000'000, 'x') + "\n*END PART\n*ASSEMBLY\n";
  for (int i = 0; i < 50; ++i) deck += "*INSTANCE,NAME=I" + std::to_string(i) + ",PART=P\n*END INSTANCE\n";
  testing::expect_error(ErrorCode::bad_input, {"2 GiB", "a.inp:"}, [&] { parse(deck + "*END ASSEMBLY\n"); });
}

TEST(DeckAssembly, WhatIsNotSupportedInAPartIsListedOnce) {
  try {
    parse(
        "*PART,NAME=P\n*NODE\n1\n*ORIENTATION,NAME=O,SYSTEM=SPHERICAL\n0,0,0,1,0,0\n*END PART\n*ASSEMBLY\n"
        "*INSTANCE,NAME=I,PART=P\n*END INSTANCE\n*INSTANCE,NAME=J,PART=P\n*END INSTANCE\n*END ASSEMBLY\n");
    FAIL() << "nothing was thrown";
  } catch (const UnsupportedDeck& deck) {
    EXPECT_EQ(deck.places(), 1u);
    EXPECT_EQ(deck.where(), "a.inp:4");
  }
}

}  // namespace
}  // namespace voussoir::deck
