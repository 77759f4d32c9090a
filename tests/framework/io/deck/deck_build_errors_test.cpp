#include <gtest/gtest.h>

#include <functional>

#include <voussoir/framework/io/deck/detail/deck.hpp>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// Every message of the part of the deck reader that knows mechanics, with the deck that provokes it. Where the grammar
// would find the mistake first, the cards are changed after they were read.

namespace voussoir {
namespace {

using namespace voussoir::testing;
using Pieces = std::initializer_list<std::string>;

void wrong(const std::string& text, Pieces pieces, const std::source_location& here = std::source_location::current()) {
  expect_error(
      ErrorCode::bad_input, pieces, [&] { job_of(text); }, here);
}
void missing(const std::string& text, Pieces pieces,
             const std::source_location& here = std::source_location::current()) {
  expect_error(
      ErrorCode::not_found, pieces, [&] { job_of(text); }, here);
}
/// The same for cards that are changed after reading.
void changed(const std::string& text, const std::function<void(deck::Deck&)>& change, Pieces pieces,
             ErrorCode code = ErrorCode::bad_input,
             const std::source_location& here = std::source_location::current()) {
  deck::Deck cards = deck::parse_deck_text(text, "test.inp", {}, {});
  change(cards);
  expect_error(
      code, pieces, [&] { deck::build_job(std::move(cards), {}); }, here);
}

std::string with_material(const std::string& cards) {
  return cube_of("C3D8") + "*MATERIAL, NAME=STEEL\n" + cards + solid_section;
}
const std::string held_heat = "*BOUNDARY\nBOTTOM, 11, 11, 3.\n";
const std::string beam_mesh = "*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT, TYPE=B31, ELSET=EALL\n1,1,2\n";
std::string beam(const std::string& shape, const std::string& numbers) {
  return beam_mesh + steel + "*BEAM SECTION, ELSET=EALL, MATERIAL=STEEL, SECTION=" + shape + "\n" + numbers + "\n";
}

TEST(DeckErrors, Mesh) {
  changed(cube_model(), [](deck::Deck& d) { d.nodes = {}; }, {"test.inp", "no nodes"});
  changed(cube_model(), [](deck::Deck& d) { d.elements.clear(); }, {"test.inp", "no elements"});
  changed(
      cube_model(), [](deck::Deck& d) { d.elements[0].type = "C3D9"; }, {"test.inp:14", "C3D9", "did you mean 'C3D"},
      ErrorCode::not_found);
  wrong(cube_model() + "*ELEMENT, TYPE=T3D2, ELSET=BAR\n1, 1, 2\n*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL\n1.\n",
        {"test.inp:25", "element 1 is already defined, at test.inp:15"});
  missing(cube_nodes + "*ELEMENT, TYPE=C3D4, ELSET=EALL\n7, 1, 2, 3, 5\n8, 1, 2, 3, 99\n" + steel + solid_section,
          {"test.inp:16", "node 99 of element 8 (C3D4) does not exist"});
  wrong(cube_nodes + "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1, 1, 2, 3, 3, 5, 6, 7, 7\n" + steel + solid_section,
        {"test.inp:15", "element 1 (C3D8) has node 3 twice", "fewer nodes"});
  wrong("*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0.5\n4,0,1,0\n*ELEMENT, TYPE=CPS4, ELSET=EALL\n1,1,2,3,4\n" + steel +
            solid_section,
        {"test.inp:7", "plane z = constant", "node 3 of element 1"});
}

TEST(DeckErrors, Sections) {
  wrong(cube_of("C3D8") + steel, {"test.inp:15", "element 1 (C3D8) has no section", "*SOLID SECTION"});
  wrong(cube_of("C3D8") + "*ELEMENT, TYPE=T3D2, ELSET=BARS\n2,1,2\n3,2,3\n4,3,4\n" + steel + solid_section,
        {"test.inp:17", "element 2 (T3D2) has no section, and 2 more"});
  wrong(beam_mesh + "*ELEMENT, TYPE=T3D2, ELSET=EALL\n2,1,2\n" + steel + solid_section + "1.\n",
        {"element 1 (B31) has no section", "*BEAM SECTION", "*SOLID SECTION at test.inp:15 is not for beams"});
  wrong(beam_mesh + steel + solid_section,
        {"test.inp:13", "*SOLID SECTION cannot be the section of element 1", "a beam", "use *BEAM SECTION"});
  changed(
      cube_model(), [](deck::Deck& d) { d.sections[0].set = "EAL"; },
      {"test.inp:23", "no element set 'EAL'", "did you mean 'EALL'"}, ErrorCode::not_found);
  changed(cube_model(), [](deck::Deck& d) { d.element_sets["EALL"].clear(); }, {"element set 'EALL' is empty"});
  changed(cube_model(), [](deck::Deck& d) { d.sections[0].material.clear(); }, {"test.inp:23", "MATERIAL="});
  changed(
      cube_model(), [](deck::Deck& d) { d.sections[0].material = "STEAL"; },
      {"test.inp:23", "no material 'STEAL'", "did you mean 'STEEL'"}, ErrorCode::not_found);
  changed(
      cube_model(), [](deck::Deck& d) { d.sections[0].orientation = "AXES"; },
      {"test.inp:23", "no orientation 'AXES'", "there is none"}, ErrorCode::not_found);
  wrong(cube_of("C3D8") + steel +
            "*ORIENTATION, NAME=O\n1,0,0, 2,0,0\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL, ORIENTATION=O\n",
        {"test.inp:23", "*ORIENTATION", "parallel"});
  changed(square_model("CPS4", "1."), [](deck::Deck& d) { d.sections[0].values[0] = -1; }, {"thickness is negative"});
  wrong("*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT, TYPE=T3D2, ELSET=EALL\n1,1,2\n" + steel + solid_section,
        {"test.inp:13", "area above zero"});
  wrong(
      "*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT, TYPE=T3D2, ELSET=EALL\n1,1,2\n*MATERIAL, NAME=STEEL\n"
      "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1.,1.,1.,0.,0.,0.,1.,1.,\n1.\n" +
          solid_section + "1.\n",
      {"trusses need an isotropic material, and 'STEEL' is not"});
}

TEST(DeckErrors, Beams) {
  wrong(beam_mesh +
            "*MATERIAL, NAME=STEEL\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1.,1.,1.,0.,0.,0.,1.,1.,\n1.\n"
            "*BEAM SECTION, ELSET=EALL, MATERIAL=STEEL, SECTION=RECT\n1.,1.\n",
        {"beams need an isotropic material, and 'STEEL' is not"});
  wrong(beam("RECT", "1., 1.\n3., 0., 0."), {"test.inp:13", "beam element 1", "parallel to the direction n1"});
  wrong(beam("PIPE", "1., 2."), {"wall of the pipe is thicker"});
  wrong(beam("BOX", "4., 3., 0.1, 0.2, 0.3, 0.2"), {"opposite walls", "*BEAM GENERAL SECTION"});
  wrong(beam("BOX", "4., 3., 2., 0.2, 2., 0.2"), {"walls of the box are thicker"});
  const std::string general =
      beam_mesh + steel + "*BEAM GENERAL SECTION, ELSET=EALL, MATERIAL=STEEL, SECTION=GENERAL\n";
  wrong(general + "1., 1., 0.5, 1., 1.\n", {"test.inp:13", "I12", "principal axes"});
  wrong(general + "1., 1., 0., 0., 1.\n", {"inertia I22 of the beam's section is not positive"});
  wrong(general + "1., 1., 0., 1.\n", {"needs its torsion constant J", "only 4 numbers"});
  changed(
      beam("RECT", "1., 1."), [](deck::Deck& d) { d.sections[0].shape = "RACT"; },
      {"SECTION=RACT is not supported", "did you mean 'RECT'"}, ErrorCode::not_found);
  changed(beam("RECT", "1., 1."), [](deck::Deck& d) { d.sections[0].direction = {{0, 0, 0}}; }, {"n1", "is zero"});
}

TEST(DeckErrors, SpringsAndMasses) {
  const auto spring = [](const std::string& type, const std::string& nodes, const std::string& lines) {
    return cube_model() + "*ELEMENT, TYPE=" + type + ", ELSET=S\n2, " + nodes + "\n*SPRING, ELSET=S" + lines;
  };
  wrong(spring("SPRINGA", "1, 7", ", NONLINEAR\n\n1., 1.\n2., 2.\n"), {"test.inp:26", "NONLINEAR is not supported"});
  wrong(spring("SPRINGA", "1, 7", "\n\n-1.\n"), {"stiffness of the spring is negative"});
  wrong(spring("SPRING2", "1, 7", "\n1, 2\n1.\n"), {"different degrees of freedom (1 and 2)", "*EQUATION"});
  wrong("*ORIENTATION, NAME=O\n0,1,0, 1,0,0\n" + spring("SPRING1", "7", ", ORIENTATION=O\n1\n1.\n"),
        {"ORIENTATION is not supported", "SPRINGA"});
  wrong(square_model("CPS4") + "*ELEMENT, TYPE=SPRING1, ELSET=S\n2, 1\n*SPRING, ELSET=S\n3\n1.\n",
        {"degree of freedom 3 of the spring", "1 and 2"});
  const std::string good = spring("SPRING1", "7", "\n1\n1.\n");
  changed(good, [](deck::Deck& d) { d.sections[1].spring_dofs.clear(); }, {"SPRING1", "first line"});
  changed(good, [](deck::Deck& d) { d.sections[1].spring.clear(); }, {"*SPRING has no stiffness"});
  const std::string mass = cube_model() + "*ELEMENT, TYPE=MASS, ELSET=M\n2, 7\n*MASS, ELSET=M\n1.\n";
  changed(mass, [](deck::Deck& d) { d.sections[1].values.clear(); }, {"*MASS has no mass"});
  changed(mass, [](deck::Deck& d) { d.sections[1].values[0] = -1; }, {"the mass is negative"});
}

TEST(DeckErrors, Materials) {
  wrong(with_material("*DENSITY\n1.\n") + static_step(clamped),
        {"test.inp:19", "'STEEL' (test.inp:16)", "no *ELASTIC"});
  wrong(with_material("*ELASTIC\n1., 0.\n") + heat_step(held_heat), {"test.inp:19", "no *CONDUCTIVITY"});
  wrong(with_material("*ELASTIC\n-1., 0.\n"), {"test.inp:17", "Young's modulus of material 'STEEL' is not positive"});
  wrong(with_material("*ELASTIC\n1., 0.5\n"), {"test.inp:17", "Poisson's ratio", "0.5"});
  wrong(with_material("*ELASTIC\n1., 0.\n*DENSITY\n-1.\n"), {"test.inp:19", "density of material 'STEEL' is negative"});
  wrong(with_material("*ELASTIC, TYPE=ORTHO\n1., 2., 1., 0., 0., 1., 1., 1.,\n1.\n"),
        {"test.inp:17", "not positive definite", "nine values"});
  wrong(with_material("*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1., 1., 1., 0., 0., 0., 1., 1.,\n1., 0.\n"
                      "1., 1., 1., 0.9, 0.9, 0.9, 1., 1.,\n1., 10.\n"),
        {"not positive definite in row 2"});
  wrong(with_material("*CONDUCTIVITY\n-1.\n") + heat_step(held_heat),
        {"conductivity of material 'STEEL' is not positive"});
  wrong(with_material("*CONDUCTIVITY\n1.\n*SPECIFIC HEAT\n-1.\n") + heat_step(held_heat),
        {"specific heat of material 'STEEL' is negative"});
  wrong(with_material("*ELASTIC, TYPE=ANISO\n1.,0.,1.,0.,0.,1.,0.,0.\n2.,1.,0.,0.,0.,0.,1.,0.\n0.,0.,0.,0.,1.,0.\n"),
        {"the stiffness of material 'STEEL' is not positive definite", "order of the 21 values"});
  changed(with_material("*ELASTIC\n1., 0.\n"), [](deck::Deck& d) { d.materials["STEEL"].elastic->type = "COUPLED"; },
          {"TYPE=COUPLED of material 'STEEL' is not supported", "ENGINEERING CONSTANTS and ANISO"});
  changed(with_material("*ELASTIC\n1., 0.\n*EXPANSION\n1.\n"),
          [](deck::Deck& d) { d.materials["STEEL"].expansion->type = "ANISO"; },
          {"*EXPANSION, TYPE=ANISO", "ISO and ORTHO"});
  const auto elastic = [](const std::function<void(deck::Property&)>& change) {
    return [change](deck::Deck& d) { change(*d.materials["STEEL"].elastic); };
  };
  changed(cube_model(), elastic([](auto& p) { p.rows.clear(); }), {"*ELASTIC of material 'STEEL' has no data"});
  changed(cube_model(), elastic([](auto& p) { p.rows[0].values.pop_back(); }),
          {"needs 2 numbers in row 1", "it has 1"});
  changed(cube_model(), elastic([](auto& p) { p.rows.push_back(p.rows[0]); }), {"must increase, but row 2"});
}

TEST(DeckErrors, Procedures) {
  changed(cube_model() + static_step(clamped), [](deck::Deck& d) { d.steps[0].procedure.reset(); },
          {"test.inp:24", "*STATIC or *HEAT TRANSFER"});
  wrong(cube_of("DC3D8") + steel + solid_section + static_step(clamped), {"no structural element"});
  wrong(cube_model() + "*ELEMENT, TYPE=T3D2, ELSET=BAR\n2,1,2\n*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL\n1.\n" +
            heat_step(held_heat),
        {"test.inp:24", "T3D2 do not conduct heat"});
  wrong(cube_nodes + "*ELEMENT, TYPE=MASS, ELSET=EALL\n1, 1\n*MASS, ELSET=EALL\n1.\n" + heat_step(held_heat),
        {"no element that conducts heat"});
  const Job reduced = job_of(cube_model("C3D8R") + heat_step(held_heat));
  ASSERT_EQ(reduced.notes.size(), 1u);
  EXPECT_NE(reduced.notes[0].text.find("C3D8R elements use full integration for heat conduction"), std::string::npos);
}

TEST(DeckErrors, Surfaces) {
  wrong(square_model("CPS4") + "*SURFACE, NAME=SIDE\n1, S5\n",
        {"element 1 (CPS4, test.inp:9) has no face 'S5'", "S1 to S4"});
  changed(
      cube_model() + "*SURFACE, NAME=LID\n1, S2\n", [](deck::Deck& d) { d.surfaces["LID"].faces[0].element = 9; },
      {"test.inp:25", "there is no element 9"}, ErrorCode::not_found);
}

TEST(DeckErrors, Axes) {
  wrong(cube_model() + "*TRANSFORM, NSET=TOP\n1,0,0, 2,0,0\n", {"test.inp:24", "*TRANSFORM", "parallel"});
  wrong(cube_model() + "*TRANSFORM, NSET=TOP, TYPE=C\n0,0,0, 0,0,1\n",
        {"test.inp:24", "node 5 is on the axis", "set 'TOP'"});
  wrong(square_model("CPS4") + "*TRANSFORM, NSET=LEFT\n1,0,1, 0,1,0\n" + static_step("*BOUNDARY\nLEFT, 1, 1\n"),
        {"*TRANSFORM of node 1 rotates it out of the plane"});
  wrong(square_model("CPS4") + "*TRANSFORM, NSET=LEFT\n1,0,1, 0,1,0\n" + static_step("*CLOAD\nLEFT, 1, 1.\n"),
        {"load of node 1 acts out of the plane"});
}

TEST(DeckErrors, Supports) {
  changed(
      cube_model() + static_step(clamped),
      [](deck::Deck& d) { std::get<deck::BoundaryCard>(d.steps[0].actions[0].card).entries[0].node.set = "BOTTON"; },
      {"test.inp:27", "no node set 'BOTTON'", "did you mean 'BOTTOM'"}, ErrorCode::not_found);
  changed(
      cube_model() + static_step(clamped),
      [](deck::Deck& d) {
        std::get<deck::BoundaryCard>(d.steps[0].actions[0].card).entries[0].node = {"", 99};
      },
      {"test.inp:27", "there is no node 99"}, ErrorCode::not_found);
  changed(cube_model() + static_step(clamped), [](deck::Deck& d) { d.node_sets["BOTTOM"].clear(); },
          {"test.inp:27", "node set 'BOTTOM' is empty"});
  const auto dofs = [](int first, int last) {
    return [=](deck::Deck& d) {
      auto& e = std::get<deck::BoundaryCard>(d.steps[0].actions[0].card).entries[0];
      e.first = first, e.last = last;
    };
  };
  changed(cube_model() + static_step(clamped), dofs(3, 1), {"degrees of freedom 3 to 1 are not a range"});
  changed(cube_model() + static_step(clamped), dofs(8, 8),
          {"degree of freedom 8 is not supported", "11 for temperature"});
  wrong(cube_model() + static_step("*BOUNDARY\n5, 4, 4, 0.1\n"), {"test.inp:27", "node 5 has no degree of freedom 4"});
  wrong(square_model("CPE4") + static_step("*BOUNDARY\n1, 3, 3, 0.1\n"), {"node 1 has no degree of freedom 3"});
  changed(
      cube_model() + static_step(clamped), [](deck::Deck& d) { d.steps[0].actions[0].amplitude = "RAMP"; },
      {"test.inp:26", "no amplitude 'RAMP'"}, ErrorCode::not_found);
}

TEST(DeckErrors, SupportsOfTheOtherPhysicsAreNoted) {
  EXPECT_NE(job_of(cube_model() + static_step(clamped + held_heat)).notes.at(0).text.find("use *TEMPERATURE"),
            std::string::npos);
  EXPECT_NE(job_of(cube_model() + clamped + heat_step(held_heat)).notes.at(0).text.find("not used in *HEAT TRANSFER"),
            std::string::npos);
}

TEST(DeckErrors, NodalLoads) {
  wrong(cube_model() + "*NODE\n99, 5, 5, 5\n" + static_step("*CLOAD\n99, 1, 1.\n"), {"node 99 belongs to no element"});
  wrong(cube_model() + static_step("*CLOAD\n5, 4, 1.\n"), {"test.inp:27", "node 5 has no degree of freedom 4 to load"});
  wrong(cube_model() + static_step("*CFLUX\n5, 11, 1.\n"), {"*CFLUX acts in *HEAT TRANSFER steps", "*STATIC"});
  wrong(cube_model() + heat_step("*CLOAD\n5, 1, 1.\n"), {"*CLOAD acts in *STATIC steps"});
  const auto dof = [](int d) {
    return [=](deck::Deck& cards) { std::get<deck::NodalLoadCard>(cards.steps[0].actions[0].card).entries[0].dof = d; };
  };
  changed(cube_model() + static_step("*CLOAD\n5, 1, 1.\n"), dof(7), {"*CLOAD has no degree of freedom 7", "4 to 6"});
  changed(cube_model() + heat_step("*CFLUX\n5, 11, 1.\n"), dof(7), {"*CFLUX has no degree of freedom 7; use 11"});
}

TEST(DeckErrors, ElementLoads) {
  wrong(cube_model() + static_step("*DLOAD\nEALL, P7, 1.\n"), {"test.inp:27", "no face 'P7'", "P1 to P6"});
  wrong(beam("RECT", "1., 1.") + static_step("*DLOAD\n1, P1, 1.\n"), {"no face 'P1'", "only nodes can be loaded"});
  wrong(cube_model() + static_step("*DLOAD\nEALL, P, 1.\n"), {"P does not name a face", "P1"});
  missing(cube_model() + static_step("*DLOAD\nEALL, GRAF, 1.\n"), {"the load 'GRAF'", "did you mean 'GRAV'"});
  wrong(cube_model() + static_step("*DLOAD\nEALL, GRAV, 1., 0., 0., 0.\n"), {"direction of GRAV has no length"});
  wrong(cube_model() + static_step("*DLOAD\nEALL, CENTRIF, -1., 0., 0., 0., 0., 0., 1.\n"), {"cannot be negative"});
  wrong(cube_model() + heat_step("*DLOAD\nEALL, P1, 1.\n"), {"*DLOAD acts in *STATIC steps"});
  missing(cube_model() + heat_step("*DFLUX\nEALL, Q1, 1.\n"), {"*DFLUX does not support the load 'Q1'", "S1"});
  missing(cube_model() + heat_step("*DFLUX\nEALL, S, 1.\n"), {"*DFLUX does not support the load 'S'"});
  wrong(with_material("*ELASTIC\n1., 0.\n") + static_step("*DLOAD\nEALL, GRAV, 1., 0., 0., 1.\n"),
        {"material 'STEEL' of element 1", "no *DENSITY, which GRAV needs"});
  wrong(cube_model() + "*ELEMENT, TYPE=SPRINGA, ELSET=S\n2, 1, 7\n*SPRING, ELSET=S\n\n1.\n" +
            static_step("*DLOAD\nS, GRAV, 1., 0., 0., 1.\n"),
        {"GRAV needs elements with mass"});
  wrong(square_model("CPS4") + static_step("*DLOAD\nEALL, GRAV, 1., 0., 0., 1.\n"), {"GRAV along z", "xy plane"});
  wrong(square_model("CAX4") + static_step("*DLOAD\nEALL, GRAV, 1., 1., 0., 0.\n"), {"GRAV", "along y"});
  wrong(square_model("CAX4") + static_step("*DLOAD\nEALL, CENTRIF, 1., 0., 0., 0., 0., 0., 1.\n"),
        {"CENTRIF", "about y"});
  wrong(cube_model() + "*AMPLITUDE, NAME=A\n0., -1.\n" +
            static_step("*DLOAD, AMPLITUDE=A\nEALL, CENTRIF, 1., 0., 0., 0., 0., 0., 1.\n"),
        {"amplitude makes the square", "negative"});
  const auto entry = [](const std::function<void(deck::ElementLoadCard::Entry&)>& change) {
    return [change](deck::Deck& d) { change(std::get<deck::ElementLoadCard>(d.steps[0].actions[0].card).entries[0]); };
  };
  changed(cube_model() + static_step("*DLOAD\nEALL, P1, 1.\n"), entry([](auto& e) { e.values.clear(); }),
          {"load P1 has no magnitude"});
  changed(cube_model() + static_step("*DLOAD\nEALL, GRAV, 1., 0., 0., 1.\n"),
          entry([](auto& e) { e.values.resize(2); }), {"GRAV needs 4 numbers", "it has 2"});
  changed(cube_model() + static_step("*DLOAD\nEALL, CENTRIF, 1., 0., 0., 0., 0., 0., 1.\n"),
          entry([](auto& e) { e.values.resize(2); }), {"CENTRIF needs 7 numbers"});
  const std::string hot = cube_model() +
                          "*NODE\n9,0,0,2\n10,1,0,2\n11,1,1,2\n12,0,1,2\n"
                          "*ELEMENT, TYPE=DC3D8, ELSET=HOT\n2,5,6,7,8,9,10,11,12\n"
                          "*SOLID SECTION, ELSET=HOT, MATERIAL=STEEL\n";
  wrong(hot + static_step("*DLOAD\nHOT, P1, 1.\n"), {"only conduct heat"});
  wrong(cube_model() + "*ELEMENT, TYPE=SPRINGA, ELSET=S\n2, 1, 7\n*SPRING, ELSET=S\n\n1.\n" +
            heat_step("*DFLUX\nS, BF, 1.\n"),
        {"none of these elements conducts heat"});
}

TEST(DeckErrors, SurfaceLoadsAndFilms) {
  const std::string lid = cube_model() + "*SURFACE, NAME=LID\nEALL, S2\n*SURFACE, NAME=DOTS, TYPE=NODE\nTOP\n";
  wrong(lid + static_step("*DSLOAD\nDOTS, P, 1.\n"), {"'DOTS' consists of nodes", "TYPE=ELEMENT"});
  wrong(lid + heat_step("*DSLOAD\nLID, P, 1.\n"), {"*DSLOAD acts in *STATIC steps"});
  const auto entry = [](const std::function<void(deck::SurfaceLoadCard::Entry&)>& change) {
    return [change](deck::Deck& d) { change(std::get<deck::SurfaceLoadCard>(d.steps[0].actions[0].card).entries[0]); };
  };
  const std::string loaded = lid + static_step("*DSLOAD\nLID, P, 1.\n");
  changed(loaded, entry([](auto& e) { e.surface = "LIT"; }), {"no surface 'LIT'", "did you mean 'LID'"},
          ErrorCode::not_found);
  changed(loaded, entry([](auto& e) { e.label = "Q"; }), {"the load 'Q'; use P"}, ErrorCode::not_found);
  changed(loaded, [](deck::Deck& d) { d.surfaces["LID"].faces.clear(); }, {"surface 'LID' is empty"});
  wrong(cube_model() + heat_step("*FILM\n1, F2, 10., -1.\n"), {"film coefficient is negative"});
  wrong(cube_model() + static_step("*FILM\n1, F2, 10., 1.\n"), {"*FILM acts in *HEAT TRANSFER steps"});
  wrong(cube_model() + heat_step("*FILM\n1, F8, 10., 1.\n"), {"no face 'F8'", "F1 to F6"});
  changed(
      cube_model() + heat_step("*FILM\n1, F2, 10., 1.\n"),
      [](deck::Deck& d) { std::get<deck::FilmCard>(d.steps[0].actions[0].card).entries[0].label = "G2"; },
      {"*FILM does not support the label 'G2'; use F1 to F6"}, ErrorCode::not_found);
}

TEST(DeckErrors, Temperatures) {
  wrong(cube_model() + heat_step("*TEMPERATURE\nTOP, 1.\n"), {"*TEMPERATURE acts in *STATIC steps"});
}

TEST(DeckErrors, Prints) {
  const auto set = [](deck::Deck& d) { d.steps[0].prints[0].request.set = "TOPP"; };
  changed(cube_model() + static_step(clamped + "*NODE PRINT, NSET=TOP\nU\n"), set, {"no node set 'TOPP'", "'TOP'"},
          ErrorCode::not_found);
  changed(cube_model() + static_step(clamped + "*EL PRINT, ELSET=EALL\nS\n"), set, {"no element set 'TOPP'"},
          ErrorCode::not_found);
  const Job job = job_of(cube_model() + "*ELEMENT, TYPE=SPRINGA, ELSET=S\n2, 1, 7\n*SPRING, ELSET=S\n\n1.\n" +
                         heat_step(held_heat + "*EL PRINT, ELSET=S\nHFL\n"));
  EXPECT_TRUE(job.steps[0].prints.empty());
  ASSERT_FALSE(job.notes.empty());
  EXPECT_NE(job.notes.back().text.find("'S' does not exist in this step"), std::string::npos);
}

TEST(DeckErrors, Equations) {
  const std::string model = cube_model();
  wrong(model + "*EQUATION\n2\n5, 1, 1., 6, 11, -1.\n", {"test.inp:25", "mixes temperatures"});
  changed(model + "*EQUATION\n2\n5, 1, 1., 6, 1, -1.\n", [](deck::Deck& d) { d.equations[0].terms[1].dof = 7; },
          {"degree of freedom 7 does not exist"});
  wrong(model + "*NSET, NSET=A\n5, 6\n*NSET, NSET=B\n1, 2, 3\n*EQUATION\n2\nA, 1, 1., B, 1, -1.\n",
        {"differ in length (2 and 3 nodes)"});
  wrong(model + "*EQUATION\n2\n5, 5, 1., 6, 5, -1.\n", {"node 5 has no degree of freedom 5"});
  changed(model + "*EQUATION\n2\n5, 1, 1., 6, 1, -1.\n",
          [](deck::Deck& d) {
            d.equations[0].terms[1].node.id = 5;
            d.equations[0].constant = 1;
          },
          {"terms of the equation cancel"});
}

TEST(DeckErrors, RigidBodies) {
  const std::string model = cube_model() + "*NODE\n20, 0, 0, 1\n21, 0, 0, 1\n*NSET, NSET=LOOSE\n20, 21\n";
  wrong(model + "*RIGID BODY, NSET=LOOSE, REF NODE=20\n", {"no node that an element uses"});
  wrong(model + "*RIGID BODY, NSET=TOP, REF NODE=TOP\n", {"REF NODE: the set 'TOP' must have one node, and has 4"});
  wrong(model + "*RIGID BODY, NSET=TOP, REF NODE=20, ROT NODE=1\n", {"ROT NODE 1 belongs to an element"});
  wrong(square_model("CPE4") +
            "*NODE, NSET=R\n20, 0, 0\n*TRANSFORM, NSET=R\n0,0,1, 1,0,0\n"
            "*RIGID BODY, ELSET=EALL, REF NODE=1, ROT NODE=20\n",
        {"*TRANSFORM of ROT NODE 20", "away from z"});
  changed(model + "*RIGID BODY, NSET=TOP, REF NODE=20\n", [](deck::Deck& d) { d.rigid_bodies[0].node_set.clear(); },
          {"has no nodes", "NSET="});
  changed(
      model + "*RIGID BODY, NSET=TOP, REF NODE=20\n",
      [](deck::Deck& d) {
        d.rigid_bodies[0].reference = deck::Target{{}, 77};
      },
      {"there is no node 77"}, ErrorCode::not_found);
  changed(model + "*RIGID BODY, NSET=TOP, REF NODE=20\n", [](deck::Deck& d) { d.nodes.ids.back() = INT64_MAX; },
          {"too large", "rotation of a rigid body"});
}

TEST(DeckErrors, Ties) {
  const std::string model = cube_model() +
                            "*NODE\n15,0,0,1\n16,1,0,1\n17,1,1,1.3\n18,0,1,1\n19,0,0,2\n20,1,0,2\n21,1,1,2\n22,0,1,2\n"
                            "*ELEMENT, TYPE=C3D8, ELSET=EALL\n2, 15,16,17,18,19,20,21,22\n"
                            "*SURFACE, NAME=BELOW\n1, S2\n*SURFACE, NAME=ABOVE\n2, S1\n";
  wrong(model + "*SURFACE, NAME=SIDE\n1, S3\n*TIE, NAME=GLUE\nSIDE, ABOVE\n*SURFACE, NAME=FAR, TYPE=NODE\n21\n" +
            "*TIE, NAME=FAR\nFAR, BELOW\n",
        {"test.inp:45", "*TIE 'FAR': the node of slave surface 'FAR' is too far", "node 21 is 1 away"});
  changed(
      model + "*TIE, NAME=GLUE\nABOVE, BELOW\n", [](deck::Deck& d) { d.ties[0].master = "BELLOW"; },
      {"no surface 'BELLOW'", "did you mean 'BELOW'"}, ErrorCode::not_found);
  changed(model + "*TIE, NAME=GLUE\nABOVE, BELOW\n", [](deck::Deck& d) { d.surfaces["ABOVE"].faces.clear(); },
          {"surface 'ABOVE' of *TIE is empty"});
}

}  // namespace
}  // namespace voussoir
