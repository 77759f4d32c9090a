#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <voussoir/framework/io/deck/deck_writer.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::scratch_file;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Step> as_steps(const std::vector<SampleStep>& steps) {
  std::vector<Step> result;
  for (const SampleStep& s : steps) result.push_back({s.name, s.load_cases, 1});
  return result;
}

std::vector<std::int32_t> as_vector(std::span<const std::int32_t> list) { return {list.begin(), list.end()}; }

class EveryDeckElement : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(EveryDeckElement, IsCalledByItsNameAndReadBack) {
  const auto [type, name] = GetParam();
  BoxMesh box;
  box.type = type;
  box.cells = {2, 2, 2};
  box.distortion = 0.2;
  Domain domain;
  const auto steel = std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850);
  steel->set_damping({0.4, 1e-4});
  add_box_mesh(domain, box).set_material(steel);
  domain.prescribe("xmin", "ux");
  domain.prescribe("ymin", "uy", 0.5e-3);
  domain.add_load_case("press").pressure("xmax", 2e5);
  const auto path = scratch_file("element.inp");
  write_deck(domain, {{"press", {{"press", 2}}, 1}}, path);
  EXPECT_NE(contents(path).find(std::string("*ELEMENT, TYPE=") + name + ", ELSET=BOX\n"), std::string::npos);

  const Job job = read_deck(path);
  ASSERT_EQ(job.domains.size(), 1u);
  const Domain& back = *job.domains[0];
  ASSERT_EQ(back.node_count(), domain.node_count());
  for (std::size_t i = 0; i < domain.coordinates().size(); ++i)
    EXPECT_NEAR(back.coordinates()[i], domain.coordinates()[i], 1e-14);
  ASSERT_EQ(back.block_count(), 1u);
  EXPECT_EQ(back.block(std::size_t{0}).type().kernel(), domain.block("box").type().kernel())
      << back.block(std::size_t{0}).type_name();
  const auto expected = domain.block("box").connectivity(), found = back.block(std::size_t{0}).connectivity();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin(), found.end()));
  EXPECT_EQ(back.block(std::size_t{0}).material()->value("young", 20), 210e9);
  EXPECT_EQ(back.block(std::size_t{0}).material()->value("density", 20), 7850);
  EXPECT_EQ(back.block(std::size_t{0}).material()->damping(), (RayleighDamping{0.4, 1e-4}));
  EXPECT_EQ(as_vector(back.node_set("XMAX")), as_vector(domain.node_set("xmax")));
  const auto faces = domain.surface("xmax"), faces_back = back.surface("XMAX");
  EXPECT_TRUE(std::equal(faces.begin(), faces.end(), faces_back.begin(), faces_back.end()));
  ASSERT_EQ(job.steps.size(), 1u);
  double held = 0;
  for (const Prescribed& p : job.steps[0].supports->values) held += p.value;
  EXPECT_NEAR(held, 0.5e-3 * static_cast<double>(domain.node_set("ymin").size()), 1e-12);
  EXPECT_EQ(job.steps[0].supports->values.size(), domain.node_set("xmin").size() + domain.node_set("ymin").size());
  double pressed = 0;
  for (const auto& load : back.load_case(job.steps[0].load_case).surface_loads())
    pressed += load.values[0] * static_cast<double>(back.surface(load.surface).size());
  EXPECT_NEAR(pressed * job.steps[0].load_factor, 4e5 * static_cast<double>(faces.size()), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Names, EveryDeckElement,
                         ::testing::Values(std::pair{"solid.hex8", "C3D8I"}, std::pair{"solid.hex8.full", "C3D8"},
                                           std::pair{"solid.hex8.reduced", "C3D8R"}, std::pair{"solid.hex20", "C3D20"},
                                           std::pair{"solid.hex20.reduced", "C3D20R"}, std::pair{"solid.tet4", "C3D4"},
                                           std::pair{"solid.tet10", "C3D10"}, std::pair{"solid.wedge6.reduced", "C3D6"},
                                           std::pair{"solid.wedge15", "C3D15"},
                                           std::pair{"plane_stress.quad4.full", "CPS4"},
                                           std::pair{"plane_stress.quad8", "CPS8"},
                                           std::pair{"plane_stress.tri6", "CPS6"},
                                           std::pair{"plane_strain.quad8.reduced", "CPE8R"},
                                           std::pair{"axisymmetric.quad4.reduced", "CAX4R"}),
                         [](const auto& info) { return std::string(info.param.second); });

TEST(DeckWriter, WritesThePumpWithBothItsSteps) {
  PumpModel model;
  model.fineness = {0, 10000};
  Domain domain;
  const auto steps = as_steps(add_pump_model(domain, model));
  const auto path = scratch_file("pump.inp");
  DeckWriteOptions options;
  options.title = "A pump";
  options.print_nodes = {"nozzle"};
  write_deck(domain, steps, path, options);
  const Job job = read_deck(path);
  EXPECT_EQ(job.title, "A pump");
  ASSERT_EQ(job.steps.size(), 2u);
  EXPECT_EQ(job.steps[0].supports, job.steps[1].supports) << "both steps have one matrix";
  EXPECT_EQ(job.steps[0].supports->values.size(), 3 * domain.node_set("feet").size());
  ASSERT_EQ(job.steps[0].prints.size(), 1u);
  EXPECT_EQ(job.steps[0].prints[0].set, "NOZZLE");
  // Weight and push are one acceleration in the second step.
  const Domain& back = *job.domains[0];
  std::array<double, 3> sum{};
  for (const auto& body : back.load_case(job.steps[1].load_case).body_loads())
    for (int k = 0; k < 3; ++k) sum[k] += body.load.acceleration[k];
  EXPECT_NEAR(sum[0], 0, 1e-12);
  EXPECT_NEAR(sum[1], 0.4 * 9.81, 1e-9);
  EXPECT_NEAR(sum[2], -9.81, 1e-9);
  EXPECT_EQ(back.block(std::size_t{1}).material()->value("density", 0), 4800);
}

TEST(DeckWriter, KeepsToWhatCalculixReads) {
  BoxMesh box;
  box.type = "solid.hex20";
  box.cells = {3, 3, 3};
  box.lower = {-1e-5 / 3, 0, 0};
  box.distortion = 0.2;
  Domain domain;
  add_box_mesh(domain, box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9 / 7, 0.3, 7850));
  const auto path = scratch_file("digits.inp");
  write_deck(domain, {}, path);
  std::istringstream text(contents(path));
  for (std::string line; std::getline(text, line);) {
    if (line[0] == '*' || line.starts_with("A model")) continue;
    std::istringstream fields(line);
    int count = 0;
    for (std::string field; std::getline(fields, field, ','); ++count)
      EXPECT_LE(field.size() - field.find_first_not_of(' '), 20u) << line;
    EXPECT_LE(count, 16) << line;
  }
}

TEST(DeckWriter, WritesMaterialsSectionsEquationsAndSprings) {
  BoxMesh box;
  box.cells = {1, 1, 1};
  Domain domain;
  auto wood = std::make_shared<OrthotropicMaterial>("my wood");
  const char* names[] = {"E1", "E2", "E3", "nu12", "nu13", "nu23", "G12", "G13", "G23"};
  for (int i = 0; i < 9; ++i) wood->set(names[i], i < 3 ? 1e9 * (3 - i) : i < 6 ? 0.1 : 4e8);
  add_box_mesh(domain, box).set_material(wood).set_orientation(Orientation::rectangular({0, 1, 0}, {0, 0, 1}));
  auto steel = std::make_shared<Material>("steel");
  steel->set_table("young", {{0, 2e11}, {100, 1.9e11}}).set_table("poisson", {{0, 0.3}, {100, 0.31}});
  steel->set("density", 7850).set("expansion", 1e-5);
  domain.add_node(100, 3, 0, 0);
  domain.add_block("bar", "truss").set_material(steel).set_section("area", 1e-4).add(50, {2, 100});
  domain.add_block("soft", "spring_axial").set_section("stiffness", 1e6).add(51, {4, 100});
  domain.add_block("lump", "mass").set_section("mass", 12).add(52, {100});
  domain.add_equation({{3, "ux", 1}, {7, "ux", -1}, {100, "uy", 0.5}});
  domain.set_reference_temperature(20);
  domain.set_initial_temperature_at(100, 35);
  steel->set_expansion_reference(-5);
  domain.add_node_set("end", {100});
  domain.prescribe("xmin", "all");
  domain.prescribe("end", "uz");
  LoadCase& warm = domain.add_load_case("warm");
  warm.temperature("xmax", 50).nodal("end", "ux", 10).centrifugal("", 3, {0, 0, 0}, {0, 0, 1});
  const auto path = scratch_file("many.inp");
  write_deck(domain, {{"warm", {{"warm", 1}}, 1}, {"cold", {}, 1}}, path);
  const std::string text = contents(path);
  for (const char* piece :
       {"*ELASTIC, TYPE=ENGINEERING CONSTANTS", "*ORIENTATION, NAME=AXES_BOX, SYSTEM=RECTANGULAR\n0, 1, 0, 0, 0, 1\n",
        "*SOLID SECTION, ELSET=BOX, MATERIAL=MY_WOOD, ORIENTATION=AXES_BOX",
        "*ELASTIC\n2e+11, 0.3, 0\n1.9e+11, 0.31, 100\n", "*EXPANSION, ZERO=-5\n",
        "*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL\n1e-04\n", "*SPRING, ELSET=SOFT\n\n1e+06\n",
        "*MASS, ELSET=LUMP\n12\n", "*EQUATION\n3\n3, 1, 1, 7, 1, -1, 100, 2, 0.5\n",
        "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20\n100, 35\n", "*BOUNDARY\nXMIN, 1, 2\n",
        ", CENTRIF, 9, 0, 0, 0, 0, 0, 1\n", "*CLOAD\n100, 1, 10\n", "*TEMPERATURE\n5, 50\n",
        "*CLOAD, OP=NEW\n*DLOAD, OP=NEW\n*TEMPERATURE, OP=NEW\n"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n is not in\n" << text;
}

TEST(DeckWriter, WritesHeat) {
  BoxMesh box;
  box.type = "heat.hex8";
  Domain domain;
  auto steel = std::make_shared<Material>("steel");
  steel->set("conductivity", 50);
  add_box_mesh(domain, box).set_material(steel);
  domain.prescribe("xmin", "T", 100);
  domain.add_load_case("cool")
      .convection("xmax", 750, 20)
      .heat_flux("ymax", 5)
      .heat_source("", 3)
      .nodal("zmin", "T", 2);
  const auto path = scratch_file("heat.inp");
  write_deck(domain, {{"cool", {{"cool", 1}}, 1}}, path);
  const std::string text = contents(path);
  for (const char* piece :
       {"TYPE=DC3D8", "*HEAT TRANSFER, STEADY STATE", "*BOUNDARY\nXMIN, 11, 11, 100\n", "*CFLUX\nZMIN, 11, 2\n",
        "YMAX_S5, S5, 5\n", "EALL, BF, 3\n", "*FILM\nXMAX_S4, F4, 20, 750\n"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n is not in\n" << text;
  const Job job = read_deck(path);
  EXPECT_EQ(job.steps.at(0).procedure, Procedure::steady_heat);
}

TEST(DeckWriter, AddsLoadsThatMeetOnAFace) {
  BoxModel model;
  model.fineness = {1, 0};
  model.extent = {2, 1, 1};
  Domain domain;
  add_box_model(domain, model);
  domain.add_surface("part", {{1, 2}});
  domain.add_load_case("more").pressure("part", 7).pressure("zmax", 1);
  const auto path = scratch_file("meet.inp");
  write_deck(domain, {{"both", {{"press", 1e-5}, {"more", 2}}, 1}}, path);
  // Element 1 has 1 + 2 · 1 and 2 · 7 on its upper side, element 2 only the first.
  const std::string text = contents(path);
  EXPECT_NE(text.find("*DLOAD\n1, P2, 17\n2, P2, 3\n"), std::string::npos) << text;
}

TEST(DeckWriter, SaysWhatADeckCannotSay) {
  const auto path = scratch_file("refused.inp");
  const auto refuse = [&](std::initializer_list<std::string> pieces, auto prepare,
                          ErrorCode code = ErrorCode::bad_input) {
    Domain domain;
    BoxMesh box;
    ElementBlock& block = add_box_mesh(domain, box);
    block.set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3));
    std::vector<Step> steps;
    DeckWriteOptions options;
    prepare(domain, block, steps, options);
    expect_error(code, pieces, [&] { write_deck(domain, steps, path, options); });
    EXPECT_FALSE(std::filesystem::exists(path)) << "nothing is left behind";
  };
  using S = std::vector<Step>;
  using O = DeckWriteOptions;
  refuse({"traction", "surface 'xmax'", "pressures"}, [](Domain& d, ElementBlock&, S& s, O&) {
    d.add_load_case("pull").traction("xmax", {1, 0, 0});
    s = {{"pull", {{"pull", 1}}, 1}};
  });
  refuse({"no element type", "solid.wedge6.reduced is called C3D6"}, [](Domain& d, ElementBlock&, S&, O&) {
    d.add_block("w", "solid.wedge6").add(9, {1, 2, 3, 4, 5, 6});
  });
  refuse({"no element type", "block 'frame'"}, [](Domain& d, ElementBlock&, S&, O&) {
    d.add_block("frame", "beam").add(9, {1, 2});
  });
  refuse({"two decks"}, [](Domain& d, ElementBlock&, S&, O&) {
    d.add_block("hot", "heat.hex8").add(9, {1, 2, 3, 4, 5, 6, 7, 8});
  });
  refuse({"constant"}, [](Domain& d, ElementBlock&, S&, O&) { d.add_equation({{1, "ux", 1}}, 0.5, "gap"); });
  refuse({"inclined"}, [](Domain& d, ElementBlock&, S&, O&) { d.prescribe_along(1, {1, 1, 0}, 0.5); });
  refuse({"'XMIN'", "'xmin'", "rename one"}, [](Domain& d, ElementBlock&, S&, O&) { d.add_node_set("XMIN", {1}); });
  refuse({"80 characters"}, [](Domain& d, ElementBlock&, S&, O&) { d.add_node_set(std::string(90, 'x'), {1}); });
  refuse({"element set 'box'", "other elements"}, [](Domain& d, ElementBlock& b, S&, O&) {
    b.add(7, {1, 2, 3, 4, 5, 6, 7, 8});
    d.add_element_set("box", std::vector<Id>{7});
  });
  refuse({"two materials", "'steel'"}, [](Domain& d, ElementBlock&, S&, O&) {
    ElementBlock& other = d.add_block("other", "solid.hex8");
    other.set_material(std::make_shared<IsotropicMaterial>("steel", 1, 0));
    other.add(9, {1, 2, 3, 4, 5, 6, 7, 8});
  });
  refuse({"'young'", "material"}, [](Domain&, ElementBlock& b, S&, O&) { b.set_section("young", 1); });
  refuse({"'density'", "each element"}, [](Domain&, ElementBlock& b, S&, O&) { b.set_per_element("density", {1}); });
  refuse({"no material", "set_material"}, [](Domain& d, ElementBlock&, S&, O&) {
    d.add_block("other", "solid.hex8").add(9, {1, 2, 3, 4, 5, 6, 7, 8});
  });
  refuse({"'area'", "set_section"}, [](Domain& d, ElementBlock& b, S&, O&) {
    d.add_block("bar", "truss").set_material(b.material()).add(9, {1, 2});
  });
  refuse({"cylindrical", "rotated cylindrical"}, [](Domain&, ElementBlock& b, S&, O&) {
    auto wood = std::make_shared<OrthotropicMaterial>("wood");
    b.set_material(wood).set_orientation(Orientation::cylindrical({0, 0, 0}, {0, 0, 1}).turned(1, 30));
  });
  refuse({"material 'odd'", "law"}, [](Domain&, ElementBlock& b, S&, O&) {
    struct Odd : Material {
      Odd() : Material("odd") {}
      std::string law() const override { return "law"; }
    };
    b.set_material(std::make_shared<Odd>());
  });
  refuse({"material 'bar'", "'young'", "further properties"}, [](Domain& d, ElementBlock&, S&, O&) {
    auto bar = std::make_shared<Material>("bar");
    bar->set("young", 1);
    d.add_block("bar", "truss").set_material(bar).set_section("area", 1).add(9, {1, 2});
  });
  refuse({"one centrifugal load"}, [](Domain& d, ElementBlock&, S& s, O&) {
    d.add_load_case("spin").centrifugal("", 1, {0, 0, 0}, {0, 0, 1}).centrifugal("", 1, {0, 0, 0}, {1, 0, 0});
    s = {{"spin", {{"spin", 1}}, 1}};
  });
  refuse({"temperatures", "factor 1"}, [](Domain& d, ElementBlock&, S& s, O&) {
    d.add_load_case("warm").temperature("xmin", 5);
    s = {{"warm", {{"warm", 2}}, 1}};
  });
  refuse({"unknown 'head'"}, [](Domain& d, ElementBlock&, S&, O&) { d.prescribe("xmin", "head"); });
  refuse(
      {"nowhere"},
      [](Domain&, ElementBlock&, S& s, O& o) {
        o.print_nodes = {"nowhere"};
        s = {{"step", {}, 1}};
      },
      ErrorCode::not_found);
  Domain empty;
  expect_error(ErrorCode::bad_input, {"no elements"}, [&] { write_deck(empty, {}, path); });
}

TEST(DeckWriter, ReplacesAFileOnlyIfItMay) {
  BoxModel model;
  Domain domain;
  const auto steps = as_steps(add_box_model(domain, model));
  const auto path = scratch_file("twice.inp");
  write_deck(domain, steps, path);
  expect_error(ErrorCode::io, {"twice.inp"}, [&] { write_deck(domain, steps, path); });
  DeckWriteOptions options;
  options.overwrite = true;
  write_deck(domain, steps, path, options);
}

/// Displacements of the last table of a .dat file, by node.
std::map<Id, std::array<double, 3>> last_displacements(const std::filesystem::path& path) {
  std::map<Id, std::array<double, 3>> table;
  std::ifstream file(path);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find("displacements") != std::string::npos) {
      table.clear();
      inside = true;
    } else if (line.find("forces") != std::string::npos) {
      inside = false;
    } else if (std::istringstream fields(line); inside) {
      Id id = 0;
      std::array<double, 3> u{};
      if (fields >> id >> u[0] >> u[1] >> u[2]) table[id] = u;
    }
  }
  return table;
}

TEST(DeckWriter, CalculixFindsTheSameDisplacements) {
  if (std::system("command -v ccx > /dev/null 2>&1") != 0) GTEST_SKIP() << "CalculiX (ccx) is not installed";
  const auto path = scratch_file("ccx.inp");
  for (const char* type : {"solid.hex8.full", "solid.hex20.reduced", "solid.tet4"}) {
    PumpModel model;
    model.type = type;
    model.fineness = {0, 8000};
    Domain domain;
    const auto steps = as_steps(add_pump_model(domain, model));
    DeckWriteOptions options;
    options.overwrite = true;
    options.print_nodes = {"nozzle"};
    write_deck(domain, steps, path, options);
    const auto stem = std::filesystem::path(path).replace_extension();
    // It leaves files where it is started, and with several threads its equation solver has given wrong answers.
    const std::string there = "cd '" + stem.parent_path().string() + "' && CCX_NPROC_EQUATION_SOLVER=1 ";
    ASSERT_EQ(std::system((there + "ccx '" + stem.string() + "' > '" + stem.string() + ".log' 2>&1").c_str()), 0)
        << type;
    const auto theirs = last_displacements(stem.string() + ".dat");
    ASSERT_EQ(theirs.size(), domain.node_set("nozzle").size());
    auto analysis = make_static_analysis(domain, {.backend = "openmp"});
    for (const Step& step : steps) analysis->add_step(step);
    const StepResult ours = analysis->run().back();
    double largest = 0, difference = 0;
    for (const auto& [id, u] : theirs)
      for (int k = 0; k < 3; ++k) {
        largest = std::max(largest, std::abs(u[k]));
        difference = std::max(difference, std::abs(u[k] - ours.unknowns.at(domain.node_index(id), k)));
      }
    EXPECT_LT(difference, 2e-6 * largest) << type << ": seven digits are printed";
  }
}

}  // namespace
}  // namespace voussoir
