#include <gtest/gtest.h>

#include <string>
#include <voussoir/framework/io/deck/detail/deck.hpp>

// What each card of a deck puts into a Deck.

namespace voussoir::deck {
namespace {

using Ids = std::vector<Id>;
using Numbers = std::vector<double>;

Deck parse(const std::string& text) { return parse_deck_text(text, "a.inp", {}, {}); }
const std::string mesh =
    "*NODE,NSET=N\n1\n2\n3\n4\n*ELEMENT,TYPE=C3D4,ELSET=E\n1,1,2,3,4\n*SURFACE,NAME=F\nE,S1\n*SURFACE,NAME=G\nE,S2\n";
Deck step(const std::string& cards) { return parse(mesh + "*STEP\n*STATIC\n" + cards + "*END STEP\n"); }

TEST(DeckCards, ElasticRowsAreAsLongAsTheirTypeAsks) {
  const Deck deck = parse(
      "*MATERIAL,NAME=a\n*ELASTIC\n210000., .3, 20.\n200000.,.31,100.\n*DENSITY\n7.8E-9,\n"
      "*MATERIAL,NAME=B\n*ELASTIC,TYPE=ORTHO\n1,2,3,4,5,6,7,8\n9,300.\n11,12,13,14,15,16,17,18,\n19\n"
      "*MATERIAL,NAME=C\n*ELASTIC,TYPE=ENGINEERING CONSTANTS\n1,2,3,.4,.5,.6,7,8,\n9,\n"
      "*MATERIAL,NAME=D\n*ELASTIC,TYPE=ANISOTROPIC\n1,2,3,4,5,6,7,8\n9,10,11,12,13,14,15,16\n17,18,19,20,21,99\n"
      "*EXPANSION,ZERO=20.,TYPE=ORTHO\n1e-5,2e-5,3e-5,0.\n*CONDUCTIVITY\n50.,0.\n40.,100.\n*SPECIFIC HEAT\n460.\n"
      "*PHYSICAL CONSTANTS,ABSOLUTE ZERO=-273.15,STEFAN BOLTZMANN=5.67E-8\n");
  const Property& a = *deck.materials.at("A").elastic;
  EXPECT_EQ(a.type, "ISO");
  ASSERT_EQ(a.rows.size(), 2u);
  EXPECT_EQ(a.rows[1].values, (Numbers{200000, .31}));
  EXPECT_EQ(a.rows[1].temperature, 100);
  EXPECT_EQ(a.place.line, 2);
  EXPECT_EQ(deck.materials.at("A").density->rows[0].values, (Numbers{7.8e-9}));
  const Property& b = *deck.materials.at("B").elastic;
  EXPECT_EQ(b.type, "ORTHO");
  ASSERT_EQ(b.rows.size(), 2u);
  EXPECT_EQ(b.rows[0].values, (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(b.rows[0].temperature, 300);
  EXPECT_EQ(b.rows[1].values.back(), 19);
  EXPECT_EQ(b.rows[1].temperature, 0);
  EXPECT_EQ(deck.materials.at("C").elastic->type, "ENGINEERING CONSTANTS");
  EXPECT_EQ(deck.materials.at("C").elastic->rows.at(0).values.size(), 9u);
  const MaterialCard& d = deck.materials.at("D");
  EXPECT_EQ(d.elastic->type, "ANISO");
  EXPECT_EQ(d.elastic->rows.at(0).values.size(), 21u);
  EXPECT_EQ(d.elastic->rows[0].temperature, 99);
  EXPECT_EQ(d.expansion->zero, 20);
  EXPECT_EQ(d.expansion->rows.at(0).values, (Numbers{1e-5, 2e-5, 3e-5}));
  EXPECT_EQ(d.conductivity->rows.at(1).temperature, 100);
  EXPECT_EQ(d.specific_heat->rows.at(0).values, (Numbers{460}));
  EXPECT_EQ(deck.absolute_zero, -273.15);
}

TEST(DeckCards, Sections) {
  const Deck deck = parse(mesh +
                          "*MATERIAL,NAME=M\n*ORIENTATION,NAME=O\n1,0,0,0,1,0\n"
                          "*SOLID SECTION,ELSET=E,MATERIAL=M,ORIENTATION=O,CONTROLS=EC-1\n,\n"
                          "*SOLID SECTION,ELSET=E,MATERIAL=LATER,OFFSET=0.\n.01\n*MATERIAL,NAME=LATER\n"
                          "*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=RECTANGULAR,OFFSET1=0.\n3.,1.\n0,0,-1\n"
                          "*BEAM GENERAL SECTION,SECTION=PIPE,ELSET=E,MATERIAL=M\n.11,.01\n"
                          "*BEAM SECTION,ELSET=E,MATERIAL=M,SECTION=BOX\n50,50,3,3,3,3\n1,0,0\n"
                          "*BEAM GENERAL SECTION,ELSET=E,DENSITY=7.8\n10,1,0,2,3\n\n0,1,0\n2.6,1.,1e-5\n"
                          "*ELEMENT,TYPE=MASS,ELSET=POINT\n2,1\n*MASS,ELSET=POINT\n12.5\n");
  ASSERT_EQ(deck.sections.size(), 7u);
  EXPECT_EQ(deck.sections[0].orientation, "O");
  EXPECT_TRUE(deck.sections[0].values.empty());
  EXPECT_EQ(deck.sections[1].values, (Numbers{.01}));
  EXPECT_EQ(deck.sections[2].shape, "RECT");
  EXPECT_EQ(deck.sections[2].values, (Numbers{3, 1}));
  EXPECT_EQ(deck.sections[2].direction, (std::array<double, 3>{0, 0, -1}));
  EXPECT_EQ(deck.sections[3].shape, "PIPE");
  EXPECT_FALSE(deck.sections[3].direction);
  EXPECT_EQ(deck.sections[4].values.size(), 6u);
  EXPECT_EQ(deck.sections[5].shape, "GENERAL");
  EXPECT_EQ(deck.sections[5].values, (Numbers{10, 1, 0, 2, 3}));
  // E = 2.6 and G = 1 make ν = E/2G − 1 = 0.3.
  const MaterialCard& own = deck.materials.at(deck.sections[5].material);
  EXPECT_NEAR(own.elastic->rows.at(0).values.at(1), 0.3, 1e-15);
  EXPECT_EQ(own.density->rows.at(0).values, (Numbers{7.8}));
  EXPECT_EQ(deck.sections[6].kind, SectionCard::Kind::mass);
  EXPECT_EQ(deck.sections[6].values, (Numbers{12.5}));
}

TEST(DeckCards, SpringsNameTheirDegreesOfFreedomUnlessTheyAreAxial) {
  const Deck deck = parse(
      "*NODE\n1\n2\n*ELEMENT,TYPE=SPRINGA,ELSET=A\n1,1,2\n*ELEMENT,TYPE=SPRING1,ELSET=B\n2,1\n"
      "*ELEMENT,TYPE=SPRING2,ELSET=C\n3,1,2\n"
      "*SPRING,ELSET=A\n\n10.\n*SPRING,ELSET=B\n3\n20.\n*SPRING,ELSET=C\n1,2\n30.,,293.\n"
      "*SPRING,ELSET=A,NONLINEAR\n-1.,-1.\n2.,1.\n");
  ASSERT_EQ(deck.sections.size(), 4u);
  EXPECT_EQ(deck.sections[0].spring, (std::vector<std::pair<double, double>>{{10, 0}}));
  EXPECT_TRUE(deck.sections[0].spring_dofs.empty());
  EXPECT_EQ(deck.sections[1].spring_dofs, (std::vector<int>{3}));
  EXPECT_EQ(deck.sections[1].spring[0].first, 20);
  EXPECT_EQ(deck.sections[2].spring_dofs, (std::vector<int>{1, 2}));
  EXPECT_TRUE(deck.sections[3].nonlinear);
  EXPECT_EQ(deck.sections[3].spring, (std::vector<std::pair<double, double>>{{-1, -1}, {2, 1}}));
}

TEST(DeckCards, SpringsOfAGeneratedSet) {
  const Deck deck = parse(
      "*NODE\n1\n2\n*ELEMENT,TYPE=SPRING2\n30,1,2\n*ELSET,ELSET=S,GENERATE\n10,100,10\n*SPRING,ELSET=S\n1,1\n5.\n");
  EXPECT_EQ(deck.sections.at(0).spring_dofs, (std::vector<int>{1, 1}));
}

TEST(DeckCards, AxesOfMaterialsAndNodes) {
  const Deck deck = parse(mesh +
                          "*ORIENTATION,NAME=A,SYSTEM=CYLINDRICAL\n0,0,0,0,0,1\n3,30.\n"
                          "*ORIENTATION,NAME=B,SYSTEM=R,DEFINITION=COORDINATES\n2,1,1,1,2,1,1,1,1\n3,0.\n"
                          "*TRANSFORM,NSET=N,TYPE=C\n1,2,3,4,5,6\n*TRANSFORM,NSET=N\n0,1,0,-1,0\n");
  const OrientationCard& a = deck.orientations.at("A");
  EXPECT_TRUE(a.cylindrical);
  EXPECT_EQ(a.turn_axis, 3);
  EXPECT_EQ(a.turn, 30);
  const OrientationCard& b = deck.orientations.at("B");
  EXPECT_EQ(b.a, (std::array<double, 3>{1, 0, 0}));  // from the third point, the origin
  EXPECT_EQ(b.b, (std::array<double, 3>{0, 1, 0}));
  EXPECT_EQ(b.turn_axis, 0);
  ASSERT_EQ(deck.transforms.size(), 2u);
  EXPECT_TRUE(deck.transforms[0].cylindrical);
  EXPECT_EQ(deck.transforms[0].b, (std::array<double, 3>{4, 5, 6}));
  EXPECT_FALSE(deck.transforms[1].cylindrical);
}

TEST(DeckCards, EquationsRigidBodiesAndTies) {
  const Deck deck =
      parse(mesh +
            "*EQUATION\n5\n1,1,1.,2,1,-1.,\n3,2,.5,N,3,-2.\n4,11,1\n2\n1,2,1.,3,2,-1.\n"
            "*NSET,NSET=REF\n4\n*RIGID BODY,NSET=N,REF NODE=3,ROT NODE=REF\n*RIGID BODY,ELSET=E,REF NODE=4\n"
            "*TIE,NAME=T,POSITION TOLERANCE=.1,ADJUST=NO\nF,G\n");
  ASSERT_EQ(deck.equations.size(), 2u);
  ASSERT_EQ(deck.equations[0].terms.size(), 5u);
  EXPECT_EQ(deck.equations[0].terms[3].node.set, "N");
  EXPECT_EQ(deck.equations[0].terms[3].coefficient, -2);
  EXPECT_EQ(deck.equations[0].terms[4].dof, 11);
  EXPECT_EQ(deck.equations[1].place.line, 17);
  ASSERT_EQ(deck.rigid_bodies.size(), 2u);
  EXPECT_EQ(deck.rigid_bodies[0].reference->id, 3);
  EXPECT_EQ(deck.rigid_bodies[0].rotation->set, "REF");
  EXPECT_EQ(deck.rigid_bodies[1].element_set, "E");
  EXPECT_FALSE(deck.rigid_bodies[1].rotation);
  EXPECT_EQ(deck.ties.at(0).slave, "F");
  EXPECT_EQ(deck.ties[0].master, "G");
  EXPECT_EQ(deck.ties[0].tolerance, .1);
}

TEST(DeckCards, SupportsAndLoads) {
  const Deck deck = parse(
      mesh +
      "*INITIAL CONDITIONS,TYPE=TEMPERATURE\nN,20.\n*AMPLITUDE,NAME=RAMP,TIME=TOTAL TIME,SHIFTY=1\n0,0,1,1,2,.5\n3,0\n"
      "*BOUNDARY\n1,1,3\nN,2,,.5\n"
      "*STEP\n*STATIC\n*BOUNDARY,OP=NEW,FIXED\n2,1\n*CLOAD,AMPLITUDE=ramp\nN,3,-5.D0\n"
      "*DLOAD\nE,P2,1.5\n1,CENTRIF,100.,0,0,0,0,0,1.\nE,GRAV,9.81,0.,0.,-1.\n*DSLOAD\nF,P,2\n*TEMPERATURE,OP=MOD\nN,"
      "100.,0.\n"
      "*CFLUX\n1,11,3.\n2,0,4.\n*DFLUX\nE,BF,5\nE,S1,6\n*FILM\nE,F2,20.,.5\n*SFILM\nF,F,10,2\n*DSFLUX\nG,S,7\n*END "
      "STEP\n");
  ASSERT_EQ(deck.actions.size(), 1u);
  const auto& held = std::get<BoundaryCard>(deck.actions[0].card);
  EXPECT_EQ(held.entries.at(0).last, 3);
  EXPECT_EQ(held.entries.at(1).node.set, "N");
  EXPECT_EQ(held.entries.at(1).value, .5);
  EXPECT_EQ(deck.initial_temperatures.at(0).entries.at(0).value, 20);
  const AmplitudeCard& ramp = deck.amplitudes.at("RAMP");
  EXPECT_TRUE(ramp.total_time);
  const auto points = ramp.curve.points();
  EXPECT_EQ(std::vector<Amplitude::Point>(points.begin(), points.end()),
            (std::vector<Amplitude::Point>{{0, 1}, {1, 2}, {2, 1.5}, {3, 1}}));

  const std::vector<Action>& actions = deck.steps.at(0).actions;
  ASSERT_EQ(actions.size(), 10u);
  EXPECT_TRUE(actions[0].op_new);
  EXPECT_TRUE(std::get<BoundaryCard>(actions[0].card).fixed);
  EXPECT_EQ(actions[1].amplitude, "RAMP");
  EXPECT_EQ(std::get<NodalLoadCard>(actions[1].card).entries.at(0).value, -5);
  const auto& loads = std::get<ElementLoadCard>(actions[2].card);
  EXPECT_EQ(loads.entries.at(0).label, "P2");
  EXPECT_EQ(loads.entries.at(1).values, (Numbers{100, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(loads.entries.at(1).element.id, 1);
  EXPECT_EQ(loads.entries.at(2).values, (Numbers{9.81, 0, 0, -1}));
  EXPECT_EQ(std::get<SurfaceLoadCard>(actions[3].card).entries.at(0).surface, "F");
  EXPECT_FALSE(actions[4].op_new);
  EXPECT_EQ(std::get<TemperatureCard>(actions[4].card).entries.at(0).value, 100);
  EXPECT_EQ(std::get<NodalLoadCard>(actions[5].card).entries.at(1).dof, 11);
  EXPECT_TRUE(std::get<ElementLoadCard>(actions[6].card).heat);
  const auto& film = std::get<FilmCard>(actions[7].card).entries.at(0);
  EXPECT_EQ(film.label, "F2");
  EXPECT_EQ(film.sink, 20);
  EXPECT_EQ(film.film, .5);
  EXPECT_EQ(std::get<FilmCard>(actions[8].card).entries.at(0).surface, "F");
  EXPECT_TRUE(std::get<SurfaceLoadCard>(actions[9].card).heat);
  EXPECT_EQ(deck.where(std::get<SurfaceLoadCard>(actions[9].card).entries.at(0).place), "a.inp:45");
}

TEST(DeckCards, NamesMayBeDefinedAfterTheirUse) {
  const Deck deck = parse(
      "*SOLID SECTION,ELSET=E,MATERIAL=M\n*BOUNDARY\nB,1\n*NODE\n1\n2\n3\n4\n*ELEMENT,TYPE=C3D4,ELSET=E\n1,1,2,3,4\n"
      "*NSET,NSET=B\n1\n*MATERIAL,NAME=M\n");
  EXPECT_EQ(deck.sections.at(0).set, "E");
}

TEST(DeckCards, SteadyHeatWithNlgeomIsLinearAllTheSame) {
  const Deck deck = parse(mesh + "*STEP,NLGEOM,INC=100\n*HEAT TRANSFER,STEADY STATE,DIRECT\n1.,2.\n*END STEP\n");
  ASSERT_EQ(deck.steps.size(), 1u);
  EXPECT_EQ(deck.steps[0].period, 2);
  EXPECT_EQ(deck.steps[0].procedure_place.line, 13);
  EXPECT_EQ(deck.steps[0].procedure, Procedure::steady_heat);
}

TEST(DeckCards, NlgeomActsInTheStepsThatFollow) {
  const Deck deck =
      parse(mesh +
            "*STEP,NLGEOM\n*STATIC,DIRECT\n0.1,2.\n*END STEP\n*STEP\n*STATIC\n0.5,1.,0.01,0.6\n*END STEP\n"
            "*STEP\n*STATIC\n*END STEP\n");
  ASSERT_EQ(deck.steps.size(), 3u);
  for (const StepCard& step : deck.steps) {
    EXPECT_TRUE(step.nlgeom);
    EXPECT_EQ(step.procedure, Procedure::nonlinear_statics);
  }
  EXPECT_FALSE(deck.steps[0].dynamic.times.automatic);
  EXPECT_EQ(deck.steps[0].dynamic.times.increment, 0.1);
  EXPECT_EQ(deck.steps[0].period, 2);
  EXPECT_TRUE(deck.steps[1].dynamic.times.automatic);
  EXPECT_EQ(deck.steps[1].dynamic.times.shortest, 0.01);
  EXPECT_EQ(deck.steps[1].dynamic.times.longest, 0.6);
  EXPECT_EQ(deck.steps[2].dynamic.times.increment, 1);
}

TEST(DeckCards, TitlesOfSteps) {
  const Deck deck = parse(mesh +
                          "*STEP\n*HEAT TRANSFER,STEADY STATE\n*END STEP\n"
                          "*STEP,PERTURBATION\nThe second one\nof two\n*STATIC,SOLVER=SPOOLES\n,0.\n*END STEP\n");
  ASSERT_EQ(deck.steps.size(), 2u);
  EXPECT_TRUE(deck.steps[1].perturbation);
  EXPECT_EQ(deck.steps[1].title, "The second one of two");
  EXPECT_EQ(deck.steps[1].period, 1);
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_NE(deck.notes[0].text.find("SOLVER"), std::string::npos);
}

TEST(DeckCards, PrintsLastUntilTheyAreAskedForAnew) {
  const Deck deck = parse(mesh +
                          "*STEP\n*STATIC\n*NODE PRINT,NSET=N,TOTALS=ONLY\nRF\n*NODE PRINT,NSET=N,GLOBAL=YES\nU,PE,RF\n"
                          "*EL PRINT,ELSET=E,TOTALS=YES\nS,EVOL,COORD\n*NODE FILE\nU,XYZ\n*EL FILE\nS\n*END STEP\n"
                          "*STEP\n*STATIC\n*EL PRINT,ELSET=E,FREQUENCY=0\nS\n*END STEP\n"
                          "*STEP\n*STATIC\n*NODE PRINT\nU\n*END STEP\n");
  ASSERT_EQ(deck.steps[0].prints.size(), 3u);
  const PrintRequest& totals = deck.steps[0].prints[0].request;
  EXPECT_EQ(totals.totals, PrintRequest::Totals::only);
  EXPECT_TRUE(totals.local);
  EXPECT_EQ(totals.where, "a.inp:14");
  const PrintRequest& u = deck.steps[0].prints[1].request;
  EXPECT_FALSE(u.local);
  EXPECT_EQ(u.quantities, (std::vector<std::string>{"U", "RF"}));
  EXPECT_EQ(deck.steps[0].prints[2].request.at, PrintRequest::At::elements);
  EXPECT_EQ(deck.steps[0].prints[2].request.quantities, (std::vector<std::string>{"S", "EVOL", "COORD"}));
  EXPECT_EQ(deck.steps[1].prints.size(), 2u);  // those at nodes stay
  ASSERT_EQ(deck.steps[2].prints.size(), 1u);
  EXPECT_TRUE(deck.steps[2].prints[0].request.set.empty());
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_EQ(deck.notes[0].where, "a.inp:17");
  EXPECT_NE(deck.notes[0].text.find("'PE' is not printed"), std::string::npos);
}

TEST(DeckCards, DampingBelongsToItsMaterial) {
  const Deck deck = parse(
      "*MATERIAL,NAME=A\n*DAMPING,ALPHA=0.4,BETA=1E-3\n*MATERIAL,NAME=B\n*DAMPING,BETA=2.,STRUCTURAL=0.1\n"
      "*MATERIAL,NAME=C\n*DENSITY\n1.\n");
  ASSERT_TRUE(deck.materials.at("A").damping);
  EXPECT_EQ(deck.materials.at("A").damping->alpha, 0.4);
  EXPECT_EQ(deck.materials.at("A").damping->beta, 1e-3);
  EXPECT_EQ(deck.materials.at("B").damping->beta, 2);
  EXPECT_FALSE(deck.materials.at("C").damping);
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_EQ(deck.notes[0].where, "a.inp:4");
  EXPECT_NE(deck.notes[0].text.find("STRUCTURAL"), std::string::npos);
  try {
    parse("*MATERIAL,NAME=A\n*DAMPING,ALPHA=1\n*DAMPING,BETA=1\n");
    FAIL() << "damping was defined twice";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a.inp:3"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("defined twice"), std::string::npos) << error.what();
  }
}

TEST(DeckCards, CardsThatCannotChangeTheAnswerBecomeOneNoteEach) {
  const Deck deck = step(
      "*CONTROLS,PARAMETERS=TIME INCREMENTATION\n1,2,3\n*FACE PRINT,SURFACE=F\nDRAG\n*FACE PRINT\n*OUTPUT,FIELD\n");
  ASSERT_EQ(deck.notes.size(), 1u);
  EXPECT_EQ(deck.notes[0].where, "a.inp:16");
  EXPECT_NE(deck.notes[0].text.find("*FACE PRINT is ignored"), std::string::npos);
  const Deck still = parse(mesh + "*INITIAL CONDITIONS,TYPE=VELOCITY\nN,1,5.\n*DAMPING,ALPHA=1.\n");
  EXPECT_EQ(still.notes.size(), 1u);
  EXPECT_TRUE(still.initial_motions.at(0).velocity);
}

}  // namespace
}  // namespace voussoir::deck
