#include <gtest/gtest.h>

#include <string>
#include <vector>
#include <voussoir/framework/io/deck/detail/deck.hpp>

#include "support/expect_error.hpp"

// Every complaint about the grammar of a deck, with the deck that provokes it.

namespace voussoir::deck {
namespace {

/// A deck that is wrong, and what the message must say. Line numbers count from the first line of `text`.
struct Wrong {
  std::string text;
  std::vector<std::string> says;
  ErrorCode code = ErrorCode::bad_input;
};

void expect_all(const std::vector<Wrong>& list, const std::string& before = {}, const std::string& after = {}) {
  for (const Wrong& wrong : list) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, wrong.text);
    try {
      parse_deck_text(before + wrong.text + after, "a.inp", {}, {});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), wrong.code) << error.what();
      for (const std::string& piece : wrong.says)
        EXPECT_NE(std::string(error.what()).find(piece), std::string::npos)
            << "the message does not say '" << piece << "': " << error.what();
    }
  }
}

constexpr ErrorCode unknown = ErrorCode::not_found;

/// Line 1 to 11.
const std::string mesh =
    "*NODE,NSET=N\n1\n2\n3\n4\n*ELEMENT,TYPE=C3D4,ELSET=E\n1,1,2,3,4\n*SURFACE,NAME=F\nE,S1\n*MATERIAL,NAME=M\n*NSET,"
    "NSET="
    "ONE\n1\n";

TEST(DeckErrors, CardsAndParameters) {
  expect_all({
      {"*NODES\n1\n", {"a.inp:1", "'*NODES' is not known", "did you mean '*NODE'"}, unknown},
      {"*SOLID SECTON,ELSET=E\n", {"a.inp:1", "did you mean '*SOLID SECTION'"}, unknown},
      {"*XYLOPHONE\n", {"a.inp:1", "'*XYLOPHONE' is not known", "docs/decks.md"}, unknown},
      {"*\n", {"a.inp:1", "'*' is not known"}, unknown},
      {"*HEADING\n**\n*SHELL SECTION,ELSET=E\n", {"a.inp:3", "*SHELL SECTION is not supported yet: shells"}},
      {"*CONTACT PAIR\n", {"*CONTACT PAIR is not supported yet", "*TIE"}},
      {"*PLASTIC\n", {"*PLASTIC needs a *MATERIAL before it"}},
      {"*HYPERELASTIC\n", {"*HYPERELASTIC is not supported yet"}},
      {"*USER MATERIAL\n", {"*USER MATERIAL is not supported yet", "C++"}},
      {"*BUCKLE\n", {"*BUCKLE is not supported yet", "*STATIC"}},
      {"*FLUID SECTION\n", {"*FLUID SECTION is not supported yet", "fluids"}},
      {"*SUBMODEL\n", {"*SUBMODEL is not supported yet"}},
      {"*MPC\n", {"*MPC is not supported yet", "*EQUATION"}},
      {"*PRE-TENSION SECTION\n", {"*PRE-TENSION SECTION is not supported yet"}},
      {"*CYCLIC SYMMETRY MODEL\n", {"*CYCLIC SYMMETRY MODEL is not supported yet"}},
      {"*MODEL CHANGE\n", {"*MODEL CHANGE is not supported yet"}},
      {"*NODE,NSTE=A\n", {"a.inp:1", "*NODE has no parameter 'NSTE'", "did you mean 'NSET'"}, unknown},
      {"*NODE,FURNITURE=A\n", {"no parameter 'FURNITURE'", "INPUT, NSET, SYSTEM"}, unknown},
      {"*NODE,NSET\n", {"the parameter NSET needs a value"}},
      {"*NODE,NSET=\n1\n", {"the parameter NSET needs a value"}},
      {"*NSET\n1\n", {"*NSET needs the parameter NSET", "NSET=TOP"}},
      {"*NSET,NSET=A,GENERATE=MAYBE\n1\n", {"GENERATE='MAYBE'", "YES or NO"}},
      {"*NSET,NSET=" + std::string(300, 'a') + "\n", {"is too long", "256"}},
      {"*NODE,SYSTEM=T\n", {"SYSTEM='T' is not supported", "RECTANGULAR, CYLINDRICAL"}, unknown},
      {"*MATERIAL,NAME=A\n1,2\n", {"a.inp:2", "*MATERIAL (at a.inp:1)", "takes no data line here", "remove the line"}},
      {"*HEADING\rA cube\r*NODE\r1,0,0,0\r", {"a.inp", "the line ends are CR only"}},
      {"*MATERIAL,NAME=A\n*EXPANSION,ZERO=cold\n", {"ZERO='COLD' is not a number"}},
      {"*RESTARTS,WRITE\n", {"'*RESTARTS' is not known"}, unknown},
  });
}

TEST(DeckErrors, NodesAndNumbers) {
  expect_all({
      {"*NODE\n1.5,0,0,0\n", {"a.inp:2", "node number '1.5' is not an integer"}},
      {"*NODE\n,0,0,0\n", {"a.inp:2", "node number is missing"}},
      {"*NODE\n0,0,0,0\n", {"node number '0' is not allowed"}},
      {"*NODE\n-3,0,0,0\n", {"node number '-3' is not allowed"}},
      {"*NODE\n9223372036854775808,0,0,0\n", {"'9223372036854775808' is too large"}},
      {"*NODE\n1,0,0,0\n2,1.2.3,0,0\n", {"a.inp:3", "coordinate '1.2.3' is not a number"}},
      {"*NODE\n1,0x10,0,0\n", {"coordinate '0x10' is not a number"}},
      {"*NODE\n1,+-1,0,0\n", {"coordinate '+-1' is not a number"}},
      {"*NODE\n1,1e,0,0\n", {"coordinate '1e' is not a number"}},
      {"*NODE\n1,nan,0,0\n", {"coordinate 'nan' is not finite"}},
      {"*NODE\n1,-inf,0,0\n", {"coordinate '-inf' is not finite"}},
      {"*NODE\n1,1e999,0,0\n", {"coordinate '1e999' is too large"}},
      {"*NODE\n1,0,0,0,1.\n", {"node 1 has more than three coordinates"}},
      {std::string("*NODE\n1,0\0,0,0\n", 15), {"coordinate '0?' is not a number"}},
  });
}

TEST(DeckErrors, Elements) {
  expect_all({
      {"*ELEMENT\n1,1\n", {"*ELEMENT needs the parameter TYPE"}},
      {"*ELEMENT,TYPE=C3D9\n", {"a.inp:1", "no element type 'C3D9'", "did you mean 'C3D"}, unknown},
      {"*ELEMENT,TYPE=POTATO\n", {"no element type 'POTATO'", "docs/decks.md"}, unknown},
      {"*ELEMENT,TYPE=S8R\n", {"'S8R' are not supported yet: shells"}},
      {"*ELEMENT,TYPE=B33\n", {"'B33' are not supported yet", "B31"}},
      {"*ELEMENT,TYPE=B23\n", {"'B23' are not supported yet", "B21"}},
      {"*ELEMENT,TYPE=CPE4H\n", {"'CPE4H' are not supported yet: hybrid"}},
      {"*ELEMENT,TYPE=C3D8T\n", {"'C3D8T' are not supported yet: coupled"}},
      {"*ELEMENT,TYPE=C3D8E\n", {"'C3D8E' are not supported yet: electric"}},
      {"*ELEMENT,TYPE=C3D8P\n", {"'C3D8P' are not supported yet: pore"}},
      {"*ELEMENT,TYPE=C3D10M\n", {"'C3D10M' are not supported yet: modified"}},
      {"*ELEMENT,TYPE=C3D20S\n", {"'C3D20S' are not supported yet: this formulation"}},
      {"*ELEMENT,TYPE=D\n", {"'D' are not supported yet: fluid networks"}},
      {"*ELEMENT,TYPE=C3D4,OFFSET=3\n", {"the parameter OFFSET is not supported yet"}},
      {"*ELEMENT,TYPE=C3D8\n1,1,2,3,4\n2,5,6,7,8\n", {"a.inp:2", "element 1 has 4 nodes", "C3D8 has 8"}},
      {"*ELEMENT,TYPE=C3D8\n7,1,2,3,4,\n", {"a.inp:2", "element 7 has 4 nodes"}},
      {"*ELEMENT,TYPE=C3D4\n1,1,2,3,4,5\n", {"a.inp:2", "element 1 has more nodes than the 4"}},
      {"*ELEMENT,TYPE=C3D8I\n1,1,2,3,4,5,6,7,8,9,10,11,12\n", {"element 1 has more nodes than the 8"}},
      {"*ELEMENT,TYPE=C3D4\nx,1,2,3,4\n", {"element number 'x' is not an integer"}},
      {"*ELEMENT,TYPE=C3D4\n-1,1,2,3,4\n", {"element number '-1' is not allowed"}},
      {"*ELEMENT,TYPE=C3D4\n1,1,2,three,4\n", {"element 1: node number 'three' is not an integer"}},
      {"*ELEMENT,TYPE=C3D4\n1,1,,3,4\n", {"element 1: node number is missing"}},
      {"*ELEMENT,TYPE=C3D4\n1,1,0,3,4\n", {"element 1: node number '0' is not allowed"}},
  });
}

TEST(DeckErrors, SetsAndSurfaces) {
  expect_all(
      {
          {"*NSET,NSET=A\nFOOO\n*NSET,NSET=FOO\n", {"a.inp:14", "no node set (*NSET) 'FOOO'"}, unknown},
          {"*NSET,NSET=TOP\n1\n*NSET,NSET=A\nTOPP\n", {"a.inp:16", "'TOPP'", "did you mean 'TOP'"}, unknown},
          {"*ELSET,ELSET=A\nQUITE ANOTHER\n",
           {"no element set (*ELSET) 'QUITEANOTHER'", "there are 'A', 'E'"},
           unknown},
          {"*NSET,NSET=A\n1,2.5\n", {"node number '2.5' is not an integer"}},
          {"*NSET,NSET=A\n1,-2\n", {"node number '-2' is not allowed"}},
          {"*NSET,NSET=A\n1,0\n", {"node number '0' is not allowed"}},
          {"*NSET,NSET=A\n" + std::string(300, 'a') + "\n", {"name of a set", "too long"}},
          {"*NSET,NSET=A,ELSET=EE\n", {"no element set (*ELSET) 'EE'", "did you mean 'E'"}, unknown},
          {"*NSET,NSET=A,INSTANCE=I\n1\n", {"no instance 'I'", "no *INSTANCE"}, unknown},
          {"*NSET,NSET=A,GENERATE\n5,1\n", {"the last number 1 is smaller than the first, 5"}},
          {"*NSET,NSET=A,GENERATE\n1,5,0\n", {"the step 0 must be at least 1"}},
          {"*NSET,NSET=A,GENERATE\n1,5,1,1\n", {"has 4 fields", "first, last, step"}},
          {"*ELSET,ELSET=A,GENERATE\nx\n", {"element number 'x' is not an integer"}},
          {"*SURFACE\nE,S1\n", {"*SURFACE needs the parameter NAME"}},
          {"*SURFACE,NAME=F\nE,S1\n", {"a.inp:13", "'F' is defined twice", "a.inp:8"}},
          {"*SURFACE,NAME=G,TYPE=CYLINDER\n", {"TYPE='CYLINDER' is not supported", "ELEMENT, NODE"}, unknown},
          {"*SURFACE,NAME=G,COMBINE=UNION\n", {"the parameter COMBINE is not supported yet"}},
          {"*SURFACE,NAME=G,CROP\n", {"the parameter CROP is not supported yet"}},
          {"*SURFACE,NAME=G\nE,S7\n", {"a.inp:14", "face 'S7' is not supported", "S1 to S6"}, unknown},
          {"*SURFACE,NAME=G\nE,SPOS\n", {"face 'SPOS' is not supported"}, unknown},
          {"*SURFACE,NAME=G\nE,S1,2\n", {"has 3 fields"}},
          {"*SURFACE,NAME=G,TYPE=NODE\nN,1,2\n", {"has 3 fields", "node or set"}},
          {"*SURFACE,NAME=G\nEE,S1\n", {"a.inp:14", "'EE'", "did you mean 'E'"}, unknown},
          {"*SURFACE,NAME=G\n,S1\n", {"element or set is missing"}},
      },
      mesh);
  // Sets that are named everywhere, and surfaces of nodes alike: refused before they fill the memory.
  std::string text = "*NODE\n";
  for (int i = 1; i <= 4000; ++i) text += std::to_string(i) + "\n";
  text += "*NSET,NSET=A,GENERATE\n1,4000\n";
  std::string sets = text, surfaces = text;
  for (int i = 0; i < 1600; ++i) {
    sets += "*NSET,NSET=S" + std::to_string(i) + ",GENERATE\n1,4000\n";
    surfaces += "*SURFACE,TYPE=NODE,NAME=S" + std::to_string(i) + "\nA\n";
  }
  expect_all({{sets, {"more than 5800000 members"}}, {surfaces, {"a.inp:", "far more nodes than the model"}}});
}

TEST(DeckErrors, PartsAndAssemblies) {
  const std::string part = "*PART,NAME=P\n*NODE\n1\n*END PART\n";
  const std::string two = part +
                          "*ASSEMBLY\n*INSTANCE,NAME=I,PART=P\n*END INSTANCE\n*INSTANCE,NAME=J,PART=P\n"
                          "*END INSTANCE\n";
  expect_all({
      {"*PART\n", {"*PART needs the parameter NAME"}},
      {part + "*PART,NAME=P\n", {"a.inp:5", "the part 'P' is defined twice; the first definition is at a.inp:1"}},
      {"*PART,NAME=P\n*NODE\n1\n", {"a.inp:1", "*END PART"}},
      {part, {"a.inp:1", "no instances of them"}},
      {part + "*NODE\n1\n", {"a.inp:5", "outside the parts"}},
      {"*NODE\n1\n*PART,NAME=P\n", {"a.inp:3", "follows nodes of the model"}},
      {"*END PART\n", {"*END PART without *PART"}},
      {"*ASSEMBLY,NAME=A\n", {"*ASSEMBLY needs a *PART before it"}},
      {"*PART,NAME=P\n*ASSEMBLY\n", {"a.inp:2", "*ASSEMBLY within the card at a.inp:1"}},
      {part + "*INSTANCE,NAME=I,PART=P\n", {"*INSTANCE belongs within *ASSEMBLY"}},
      {part + "*ASSEMBLY\n*INSTANCE,NAME=I\n", {"*INSTANCE needs the parameter PART"}},
      {part + "*ASSEMBLY\n*INSTANCE,NAME=I,PART=PP\n", {"no *PART 'PP'", "did you mean 'P'"}, unknown},
      {part + "*ASSEMBLY\n*INSTANCE,LIBRARY=L,NAME=I\n", {"LIBRARY is not supported yet"}},
      {part + "*ASSEMBLY\n*INSTANCE,NAME=I,PART=P\n0,0,1\n0,0,0\n", {"a.inp:8", "at most two data lines"}},
      {part + "*ASSEMBLY\n*INSTANCE,NAME=I,PART=P\n0,0,1,0,0,1,90\n", {"a.inp:7", "axis of rotation are the same"}},
      {part + "*ASSEMBLY\n*INSTANCE,NAME=I,PART=P\n*END INSTANCE\n*INSTANCE,NAME=I,PART=P\n",
       {"a.inp:8", "there is an instance 'I' already"}},
      {two + "*NSET,NSET=A\n1\n", {"a.inp:11", "without an instance", "I.1"}},
      {two + "*NSET,NSET=A,INSTANCE=J\n2\n", {"a.inp:11", "instance 'J' has no node 2; its numbers end at 1"}, unknown},
      {two + "*NSET,NSET=A\nI.7\n", {"a.inp:11", "instance 'I' has no node 7"}, unknown},
      {two + "*END ASSEMBLY\n*BOUNDARY\n1,1\n", {"a.inp:12", "without an instance"}},
      {two + "*END ASSEMBLY\n*BOUNDARY\nI.X,1\n", {"a.inp:12", "no node set (*NSET) 'I.X'"}, unknown},
      {part + "*ASSEMBLY\n*INSTANCE,NAME=I,PART=P\n*END INSTANCE\n*NSET,NSET=A,INSTANCE=J\n",
       {"no instance 'J'", "there is 'I'"},
       unknown},
      {part + "*ASSEMBLY\n*END INSTANCE\n", {"*END INSTANCE without *INSTANCE"}},
      {part + "*END ASSEMBLY\n", {"*END ASSEMBLY without *ASSEMBLY"}},
      {part + "*ASSEMBLY\n*STEP\n", {"a.inp:6", "*STEP within the card at a.inp:5"}},
      {part + "*ASSEMBLY\n", {"a.inp:5", "this card is not ended"}},
  });
}

TEST(DeckErrors, Materials) {
  expect_all({{"*ELASTIC\n1,2\n", {"a.inp:1", "*ELASTIC needs a *MATERIAL before it"}},
              {"*MATERIAL\n", {"*MATERIAL needs the parameter NAME"}},
              {"*MATERIAL,NAME=A\n*MATERIAL,NAME=a\n", {"a.inp:2", "'A' is defined twice", "a.inp:1"}}});
  expect_all(
      {
          {"*ELASTIC\n", {"a.inp:2", "*ELASTIC needs a data line: 2 numbers"}},
          {"*ELASTIC\n1.\n", {"a.inp:3", "this row has 1 values; expected: 2 numbers"}},
          {"*ELASTIC\n1.,.3,20.,5\n", {"a.inp:3", "too many values"}},
          {"*ELASTIC\n1.,x\n", {"*ELASTIC: number 'x' is not a number"}},
          {"*ELASTIC\n,.3\n", {"*ELASTIC: number is missing"}},
          {"*ELASTIC\n1,.3,hot\n", {"*ELASTIC: temperature 'hot'"}},
          {"*ELASTIC,TYPE=LAMINA\n1,.3\n", {"TYPE='LAMINA' is not supported", "ISOTROPIC, ORTHOTROPIC"}, unknown},
          {"*ELASTIC,TYPE=ORTHO\n1,2,3,4,5,6,7,8\n", {"this row has 8 values; expected: 9 numbers"}},
          {"*ELASTIC,DEPENDENCIES=1\n1,.3\n", {"the parameter DEPENDENCIES is not supported yet"}},
          {"*ELASTIC\n1,.3\n*ELASTIC\n1,.3\n", {"a.inp:4", "*ELASTIC is defined twice", "a.inp:2"}},
          {"*DENSITY\n1,2,3\n", {"too many values", "1 number and"}},
          {"*DENSITY,DEPENDENCIES=1\n1\n", {"the parameter DEPENDENCIES is not supported yet"}},
          {"*EXPANSION,TYPE=SHORT\n1\n", {"TYPE='SHORT' is not supported"}, unknown},
          {"*EXPANSION,USER\n", {"the parameter USER is not supported yet"}},
          {"*CONDUCTIVITY,DEPENDENCIES=2\n1\n", {"the parameter DEPENDENCIES is not supported yet"}},
      },
      "*MATERIAL,NAME=M\n");
}

TEST(DeckErrors, Sections) {
  expect_all(
      {
          {"*SOLID SECTION,MATERIAL=M\n", {"*SOLID SECTION needs the parameter ELSET"}},
          {"*SOLID SECTION,ELSET=E\n", {"*SOLID SECTION needs the parameter MATERIAL"}},
          {"*SOLID SECTION,ELSET=EE,MATERIAL=M\n", {"a.inp:13", "'EE'", "did you mean 'E'"}, unknown},
          {"*SOLID SECTION,ELSET=E,MATERIAL=MM\n", {"a.inp:13", "no *MATERIAL 'MM'", "did you mean 'M'"}, unknown},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M,ORIENTATION=O\n", {"no *ORIENTATION 'O'", "defines none"}, unknown},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M,OFFSET=1.\n", {"OFFSET is not supported yet"}},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M,COMPOSITE\n", {"COMPOSITE is not supported yet"}},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M,NODAL THICKNESS\n", {"NODAL THICKNESS is not supported yet"}},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M\n1.\n2.\n", {"a.inp:15", "has one data line"}},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M\n1.,2.\n", {"has 2 fields", "a thickness or an area"}},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M\n-1.\n", {"'-1.' must be positive"}},
          {"*SOLID SECTION,ELSET=E,MATERIAL=M\nthin\n", {"thickness or area 'thin' is not a number"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M\n", {"*BEAM SECTION needs the parameter SECTION"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=I\n", {"SECTION='I' is not supported", "PIPE"}, unknown},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECT,OFFSET2=.5\n1,1\n", {"OFFSET2 is not supported yet"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECT\n", {"needs a line with the dimensions"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECT\n1.\n", {"SECTION=RECT needs 2 dimensions, not 1"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECT\n1.,0.\n", {"dimension '0.' of a section"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=CIRC\nx\n", {"dimension of a section 'x'"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECT\n1,1\n0,0,0\n", {"axis 1 is zero"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECT\n1,1\n0,0,1,1\n", {"has 4 fields", "axis 1"}},
          {"*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECT,NODAL THICKNESS\n", {"NODAL THICKNESS is not supported"}},
          {"*BEAM GENERAL SECTION,ELSET=E,MATERIAL=M\n", {"needs a data line: area"}},
          {"*BEAM GENERAL SECTION,ELSET=E,MATERIAL=M\n1,2,3\n", {"expected: area"}},
          {"*BEAM GENERAL SECTION,ELSET=E,MATERIAL=M\n1,2,3,4,5,6,7,8\n", {"has 8 fields"}},
          {"*BEAM GENERAL SECTION,ELSET=E,MATERIAL=M,OFFSET1=1\n1,1,1,1\n", {"OFFSET1 is not supported yet"}},
          {"*BEAM GENERAL SECTION,ELSET=E\n1,1,0,1,1\n0,0,1\n", {"needs MATERIAL=, or a third line"}},
          {"*BEAM GENERAL SECTION,ELSET=E\n1,1,0,1,1\n0,0,1\n1,0\n", {"shear modulus must be positive"}},
          {"*SPRING\n", {"*SPRING needs the parameter ELSET"}},
          {"*SPRING,ELSET=X\n", {"no element set (*ELSET) 'X'"}, unknown},
          {"*SPRING,ELSET=E\n10.\n", {"the set 'E' has no springs"}},
          {"*SPRING,ELSET=E,COMPLEX STIFFNESS\n", {"COMPLEX STIFFNESS is not supported yet"}},
          {"*SPRING,ELSET=E,DEPENDENCIES=1\n", {"DEPENDENCIES is not supported yet"}},
          {"*ELEMENT,TYPE=SPRING1,ELSET=S\n9,1\n*SPRING,ELSET=S\n", {"a.inp:15", "a line with degrees of freedom"}},
          {"*ELEMENT,TYPE=SPRING1,ELSET=S\n9,1\n*SPRING,ELSET=S\n1,2\n3.\n", {"has 2 fields", "one degree of freedom"}},
          {"*ELEMENT,TYPE=SPRING2,ELSET=S\n9,1,2\n*SPRING,ELSET=S\n1\n3.\n", {"degree of freedom is missing"}},
          {"*ELEMENT,TYPE=SPRING1,ELSET=S\n9,1\n*SPRING,ELSET=S\n1\n", {"needs a line with the stiffness"}},
          {"*ELEMENT,TYPE=SPRINGA,ELSET=S\n9,1,2\n*SPRING,ELSET=S\n\n1.\n2.\n", {"depends on the temperature"}},
          {"*ELEMENT,TYPE=SPRINGA,ELSET=S\n9,1,2\n*SPRING,ELSET=S\nstiff\n", {"stiffness of a spring 'stiff'"}},
          {"*ELEMENT,TYPE=SPRINGA,ELSET=S\n9,1,2\n*SPRING,ELSET=S\n1,2,3,4\n", {"has 4 fields"}},
          {"*MASS,ELSET=E\n", {"*MASS needs a line with the mass"}},
          {"*MASS,ELSET=E\n-1.\n", {"mass '-1.' is negative"}},
          {"*MASS,ELSET=E\n1.,2.\n", {"has 2 fields"}},
          {"*MASS,ELSET=E,ORIENTATION=O\n", {"ORIENTATION is not supported yet"}},
          {"*ORIENTATION\n", {"*ORIENTATION needs the parameter NAME"}},
          {"*ORIENTATION,NAME=O\n", {"*ORIENTATION needs a data line: six"}},
          {"*ORIENTATION,NAME=O,SYSTEM=Z RECTANGULAR\n", {"SYSTEM='ZRECTANGULAR' is not supported"}, unknown},
          {"*ORIENTATION,NAME=O,DEFINITION=NODES\n",
           {"DEFINITION='NODES' is not supported", "there is COORD"},
           unknown},
          {"*ORIENTATION,NAME=O\n1,0,0,0,1,0,0,0,0,5\n", {"has 10 fields"}},
          {"*ORIENTATION,NAME=O\n1,0,0,0,1,0\n4,30.\n", {"axis '4' of the rotation must be 1, 2 or 3"}},
          {"*ORIENTATION,NAME=O\n1,0,0,0,1,0\n3,30,1\n", {"has 3 fields", "angle in degrees"}},
          {"*ORIENTATION,NAME=O\n1,0,0,0,1,0\n*ORIENTATION,NAME=O\n", {"a.inp:15", "'O' is defined twice"}},
          {"*TRANSFORM\n", {"*TRANSFORM needs the parameter NSET"}},
          {"*TRANSFORM,NSET=N,TYPE=S\n", {"TYPE='S' is not supported"}, unknown},
          {"*TRANSFORM,NSET=N\n1,0,0,0,1,0,7\n", {"has 7 fields"}},
          {"*TRANSFORM,NSET=NN\n1,0,0,0,1,0\n", {"a.inp:13", "'NN'", "did you mean 'N'"}, unknown},
      },
      mesh);
}

TEST(DeckErrors, Constraints) {
  expect_all(
      {
          {"*EQUATION\ntwo\n", {"a.inp:14", "number of terms 'two' is not an integer"}},
          {"*EQUATION\n0\n", {"at least one term, not '0'"}},
          {"*EQUATION\n2,1\n", {"contains the number of its terms"}},
          {"*EQUATION\n2\n1,1,1.\n", {"a.inp:14", "has 1 of its 2 terms"}},
          {"*EQUATION\n9223372036854775807\n1,1,1.\n", {"has 1 of its 9223372036854775807 terms"}},
          {"*EQUATION\n2\n1,1,1.,2\n", {"a.inp:15", "groups of three fields", "not 4"}},
          {"*EQUATION\n1\n1,1,1.,2,1,-1.\n", {"a.inp:15", "more than the 1 terms"}},
          {"*EQUATION\n1\n1,7,1.\n", {"degree of freedom '7' is not supported", "11 is the temperature"}},
          {"*EQUATION\n1\n1,1,x\n", {"coefficient 'x' is not a number"}},
          {"*EQUATION,REMOVE\n", {"the parameter REMOVE is not supported yet"}},
          {"*EQUATION,REMOVE ALL\n", {"the parameter REMOVE ALL is not supported yet"}},
          {"*RIGID BODY,REF NODE=1\n", {"needs either NSET= or ELSET="}},
          {"*RIGID BODY,NSET=N,ELSET=E,REF NODE=1\n", {"needs either NSET= or ELSET="}},
          {"*RIGID BODY,NSET=N,REF NODE=-1\n", {"REF NODE='-1' is not the number of a node"}},
          {"*RIGID BODY,NSET=N,REF NODE=1,ROT NODE=ONCE\n",
           {"no node set (*NSET) 'ONCE'", "did you mean 'ONE'"},
           unknown},
          {"*RIGID BODY,PIN NSET=N,REF NODE=1\n", {"PIN NSET is not supported yet"}},
          {"*RIGID BODY,TIE NSET=N,REF NODE=1\n", {"TIE NSET is not supported yet"}},
          {"*RIGID BODY,ANALYTICAL SURFACE=F,REF NODE=1\n", {"ANALYTICAL SURFACE is not supported yet"}},
          {"*RIGID BODY,NSET=N,REF NODE=1,POSITION=CENTER OF MASS\n", {"POSITION='CENTEROFMASS'"}, unknown},
          {"*TIE\nF,F\n", {"*TIE needs the parameter NAME"}},
          {"*TIE,NAME=T\n", {"*TIE needs a data line: slave"}},
          {"*TIE,NAME=T\nF\n", {"master surface is missing"}},
          {"*TIE,NAME=T\nF,F,F\n", {"has 3 fields"}},
          {"*TIE,NAME=T\nF,F\nF,F\n", {"a.inp:15", "has one data line"}},
          {"*TIE,NAME=T\nF,FF\n", {"a.inp:14", "no *SURFACE 'FF'", "did you mean 'F'"}, unknown},
          {"*TIE,NAME=T,POSITION TOLERANCE=-1.\nF,F\n", {"POSITION TOLERANCE is negative"}},
          {"*TIE,NAME=T,CYCLIC SYMMETRY\nF,F\n", {"CYCLIC SYMMETRY is not supported yet"}},
          {"*TIE,NAME=T,MULTISTAGE\nF,F\n", {"MULTISTAGE is not supported yet"}},
          {"*TIE,NAME=T,FLUID CYCLIC\nF,F\n", {"FLUID CYCLIC is not supported yet"}},
          {"*TIE,NAME=T,FLUID PERIODIC\nF,F\n", {"FLUID PERIODIC is not supported yet"}},
          {"*TIE,NAME=T,CONSTRAINT RATIO=1\nF,F\n", {"CONSTRAINT RATIO is not supported yet"}},
      },
      mesh);
}

TEST(DeckErrors, SupportsAndLoads) {
  expect_all(
      {
          {"*BOUNDARY\n1\n", {"a.inp:16", "degree of freedom is missing"}},
          {"*BOUNDARY\n1,7\n", {"degree of freedom '7' is not supported"}},
          {"*BOUNDARY\n1,3,1\n", {"degrees of freedom 3 to 1 are not a range"}},
          {"*BOUNDARY\n1,1,11\n", {"degrees of freedom 1 to 11 are not a range"}},
          {"*BOUNDARY\n1,1,1,x\n", {"value of a support 'x' is not a number"}},
          {"*BOUNDARY\n1,1,1,0,0\n", {"has 5 fields"}},
          {"*BOUNDARY\n1,XSYM\n", {"'XSYM' is not supported", "did you mean 'XSYMM'"}, unknown},
          {"*BOUNDARY\n1,WAREHOUSE\n", {"'WAREHOUSE' is not supported", "ENCASTRE, PINNED"}, unknown},
          {"*BOUNDARY\n1,PINNED,0\n", {"has 3 fields"}},
          {"*BOUNDARY\n1.5,1\n", {"node number '1.5' is not an integer"}},
          {"*BOUNDARY\n-1,1\n", {"node number '-1' is not allowed"}},
          {"*BOUNDARY\nNN,1\n", {"a.inp:16", "no node set (*NSET) 'NN'", "did you mean 'N'"}, unknown},
          {"*BOUNDARY,OP=OLD\n", {"OP='OLD' is not supported", "MOD, NEW"}, unknown},
          {"*BOUNDARY,TYPE=VELOCITY\n", {"TYPE='VELOCITY' is not supported"}, unknown},
          {"*BOUNDARY,AMPLITUDE=A\n1,1\n", {"a.inp:15", "no *AMPLITUDE 'A'", "defines none"}, unknown},
          {"*BOUNDARY,USER\n", {"the parameter USER is not supported yet"}},
          {"*BOUNDARY,SUBMODEL,STEP=1\n", {"the parameter SUBMODEL is not supported yet"}},
          {"*BOUNDARY,MASS FLOW\n", {"the parameter MASS FLOW is not supported yet"}},
          {"*BOUNDARY,PRESSURE\n", {"the parameter PRESSURE is not supported yet"}},
          {"*BOUNDARY,TEMPERATURE\n", {"the parameter TEMPERATURE is not supported yet", "11"}},
          {"*BOUNDARY,TIME DELAY=1\n", {"the parameter TIME DELAY is not supported yet"}},
          {"*BOUNDARY,REGION TYPE=EULERIAN\n", {"the parameter REGION TYPE is not supported yet"}},
          {"*CLOAD,LOAD CASE=3\n", {"LOAD CASE is 1 (real part) or 2"}},
          {"*CLOAD,SECTOR=3\n", {"the parameter SECTOR is not supported yet"}},
          {"*CLOAD,OMEGA0=3\n", {"the parameter OMEGA0 is not supported yet"}},
          {"*CLOAD,FOLLOWER\n", {"the parameter FOLLOWER is not supported yet"}},
          {"*CLOAD\n1,1\n", {"force is missing"}},
          {"*CLOAD\n1,11,3.\n", {"degrees of freedom 1 to 6", "*CFLUX"}},
          {"*CLOAD\n1,1,1.,2\n", {"has 4 fields"}},
          {"*CFLUX\n1,1,3.\n", {"*CFLUX acts on degree of freedom 11"}},
          {"*DLOAD\nE\n", {"the load type is missing"}},
          {"*DLOAD\nE,P1\n", {"*DLOAD, P1: the value is missing"}},
          {"*DLOAD\nE,P1,1.,2.\n", {"has 4 fields", "kind, value"}},
          {"*DLOAD\nE,GRAV,1,0,0,-1,5\n", {"has 7 fields", "magnitude, direction"}},
          {"*DLOAD\nE,CENTRIF,1,0,0,0,0,0,1,7\n", {"has 10 fields", "angular speed"}},
          {"*DLOAD\nE,P1,much\n", {"value of a load 'much'"}},
          {"*DLOAD\nE,P1NU,1\n", {"'P1NU' is not supported yet", "subroutine"}},
          {"*DLOAD\nEE,P1,1\n", {"no element set (*ELSET) 'EE'"}, unknown},
          {"*DLOAD\n1.5,P1,1\n", {"element number '1.5'"}},
          {"*DSLOAD\nF,TRVEC,1.\n", {"'TRVEC' is not supported yet", "P, a pressure"}, unknown},
          {"*DSLOAD\nF,P\n", {"pressure is missing"}},
          {"*DSLOAD\nF,P,1.,0\n", {"has 4 fields"}},
          {"*DSLOAD\nFF,P,1.\n", {"no *SURFACE 'FF'"}, unknown},
          {"*DSLOAD\n,P,1.\n", {"surface is missing"}},
          {"*DSLOAD,FOLLOWER=YES\n", {"the parameter FOLLOWER is not supported yet"}},
          {"*DSLOAD,CONSTANT RESULTANT=YES\n", {"the parameter CONSTANT RESULTANT is not supported yet"}},
          {"*DSFLUX\nF,Q,1.\n", {"'Q' is not supported yet", "S, a flux"}, unknown},
          {"*FILM\nE,F1,20.\n", {"film coefficient is missing"}},
          {"*FILM\nE,R1,20.,1\n", {"'R1' is not a film", "F1 to F6"}},
          {"*FILM\nE,F1FC,20.,1\n", {"'F1FC' is not supported: fluid networks"}},
          {"*FILM\nE,F1,20.,1,2\n", {"has 5 fields"}},
          {"*FILM,FILM TIME DELAY=A\n", {"the parameter FILM TIME DELAY is not supported yet"}},
          {"*TEMPERATURE\nN\n", {"temperature is missing"}},
          {"*TEMPERATURE\nN,20.,1.\n", {"gradients through a section are not supported yet"}},
          {"*TEMPERATURE,FILE=x\n", {"FILE='x' has no folder to search"}},
          {"*TEMPERATURE,BSTEP=1\n", {"BSTEP= needs FILE="}},
          {"*TEMPERATURE,FILE=x,ESTEP=2\n", {"the parameter ESTEP is not supported yet"}},
          {"*TEMPERATURE,STEP=1\n", {"the parameter STEP is not supported yet"}},
      },
      mesh + "*STEP\n*STATIC\n", "*END STEP\n");
  expect_all(
      {
          {"*BOUNDARY,FIXED\n1,1\n", {"a.inp:13", "*BOUNDARY, FIXED must be inside a step"}},
          {"*INITIAL CONDITIONS\n", {"needs the parameter TYPE"}},
          {"*INITIAL CONDITIONS,TYPE=STRESS\n", {"TYPE='STRESS' is not supported yet"}},
          {"*INITIAL CONDITIONS,TYPE=TEMPERATURE,USER\n", {"the parameter USER is not supported yet"}},
          {"*INITIAL CONDITIONS,TYPE=TEMPERATURE,FILE=x\n", {"the parameter FILE is not supported yet"}},
          {"*INITIAL CONDITIONS,TYPE=TEMPERATURE\nN,20.,1.\n", {"gradients through a section"}},
          {"*INITIAL CONDITIONS,TYPE=TEMPERATURE\nN,warm\n", {"temperature 'warm' is not a number"}},
          {"*AMPLITUDE\n", {"*AMPLITUDE needs the parameter NAME"}},
          {"*AMPLITUDE,NAME=A\n", {"*AMPLITUDE needs a data line"}},
          {"*AMPLITUDE,NAME=A\n0,0,1\n", {"a.inp:14", "the value at the time '1' is missing"}},
          {"*AMPLITUDE,NAME=A\n1,0,0,1\n", {"times must increase; '0'"}},
          {"*AMPLITUDE,NAME=A\nx,0\n", {"time 'x' is not a number"}},
          {"*AMPLITUDE,NAME=A\n0,x\n", {"value of an amplitude 'x'"}},
          {"*AMPLITUDE,NAME=A,TIME=TEA TIME\n", {"TIME='TEATIME' is not supported"}, unknown},
          {"*AMPLITUDE,NAME=A,DEFINITION=PERIODIC\n", {"DEFINITION='PERIODIC' is not supported"}, unknown},
          {"*AMPLITUDE,NAME=A,VALUE=SMALL\n", {"VALUE='SMALL' is not supported"}, unknown},
          {"*AMPLITUDE,NAME=A,USER\n", {"the parameter USER is not supported yet"}},
          {"*AMPLITUDE,NAME=A,SMOOTH=.1\n0,0\n", {"SMOOTH is not supported yet"}},
          {"*AMPLITUDE,NAME=A\n0,0\n*AMPLITUDE,NAME=a\n", {"a.inp:15", "'A' is defined twice"}},
      },
      mesh);
}

TEST(DeckErrors, Steps) {
  expect_all(
      {
          {"*CLOAD\n1,1,1.\n", {"a.inp:13", "*CLOAD must be inside a step, between *STEP and *END STEP"}},
          {"*STATIC\n", {"*STATIC must be inside a step"}},
          {"*NODE PRINT\nU\n", {"*NODE PRINT must be inside a step"}},
          {"*END STEP\n", {"*END STEP without *STEP"}},
          {"*STEP\n*NODE\n1\n",
           {"a.inp:14", "*NODE describes the model", "begun at a.inp:13", "before the first *STEP"}},
          {"*STEP\n*STATIC\n*STEP\n", {"a.inp:15", "*STEP within the step that begins at a.inp:13"}},
          {"*STEP\n*STATIC\n", {"a.inp:13", "no *END STEP before the end of the file"}},
          {"*STEP\n*END STEP\n", {"a.inp:13", "this step has no procedure", "*STATIC"}},
          {"*STEP\n*STATIC\n*STATIC\n", {"a.inp:15", "has a procedure already, at a.inp:14"}},
          {"*STEP\n*STATIC\n*END STEP\n*MATERIAL,NAME=X\n",
           {"a.inp:16", "move it before the first *STEP (at a.inp:13)"}},
          {"*STEP\n*STATIC\n*END STEP\n*BOUNDARY\n", {"a.inp:16", "*BOUNDARY is between two steps"}},
          {"*STEP,NLGEOM\n*FREQUENCY\n3\n*END STEP\n", {"a.inp:13", "*FREQUENCY with NLGEOM"}},
          {"*STEP,NLGEOM=YES\n*STATIC\n*END STEP\n*STEP\n*FREQUENCY\n3\n*END STEP\n",
           {"a.inp:16", "*FREQUENCY with NLGEOM, here or in a step before"}},
          {"*STEP,NLGEOM,AMPLITUDE=STEP\n*STATIC\n", {"a.inp:13", "AMPLITUDE=STEP with NLGEOM"}},
          {"*STEP,AMPLITUDE=LEAP\n", {"AMPLITUDE='LEAP' is not supported"}, unknown},
          {"*STEP,TURBULENCE MODEL=KE\n", {"TURBULENCE MODEL is not supported yet"}},
          {"*STEP\n*STATIC\n1.,-2.\n", {"a.inp:15", "the period '-2.' of a step is negative"}},
          {"*STEP\n*STATIC\nsoon\n", {"time 'soon' is not a number"}},
          {"*STEP\n*STATIC\n1,1\n1,1\n", {"a.inp:16", "has one data line: increment, period"}},
          {"*STEP\n*STATIC,RIKS\n", {"the parameter RIKS is not supported yet"}},
          {"*STEP\n*STATIC,TOTAL TIME AT START=5\n", {"TOTAL TIME AT START is not supported yet"}},
          {"*STEP\n*HEAT TRANSFER\n", {"a.inp:14", "*HEAT TRANSFER needs a data line: increment, period"}},
          {"*STEP\n*HEAT TRANSFER,FREQUENCY\n", {"the parameter FREQUENCY is not supported yet"}},
          {"*STEP\n*HEAT TRANSFER,MODAL DYNAMIC\n", {"the parameter MODAL DYNAMIC is not supported yet"}},
          {"*STEP\n*STATIC\n*NODE PRINT,NSET=NN\nU\n*END STEP\n", {"a.inp:15", "'NN'", "did you mean 'N'"}, unknown},
          {"*STEP\n*STATIC\n*EL PRINT,ELSET=EE\nS\n*END STEP\n", {"a.inp:15", "'EE'", "did you mean 'E'"}, unknown},
          {"*STEP\n*STATIC\n*EL PRINT,TOTALS=SOME\n", {"TOTALS='SOME' is not supported", "NO, YES, ONLY"}, unknown},
          {"*STEP\n*STATIC\n*EL PRINT,FREQUENCY=OFTEN\n", {"FREQUENCY='OFTEN' is not a number"}},
      },
      mesh);
  // A request lasts from step to step, so that few lines can ask for very many tables.
  std::string text = mesh + "*STEP\n*STATIC\n";
  for (int i = 0; i < 2000; ++i) text += "*NODE PRINT,NSET=N\nU\n";
  text += "*END STEP\n";
  for (int i = 0; i < 600; ++i) text += "*STEP\n*STATIC\n*END STEP\n";
  expect_all({{text, {"more than 1000000 tables", "FREQUENCY=0"}}});
}

}  // namespace
}  // namespace voussoir::deck
