#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>

#include "calculix_elements.hpp"
#include "job_models.hpp"

namespace voussoir {
namespace {

using detail::calculix_text;
using detail::print_tables;
using detail::PrintTable;
using testing::plainly;

PrintRequest request_of(PrintRequest::At at, const std::string& set, std::vector<std::string> quantities) {
  PrintRequest request;
  request.at = at;
  request.set = set;
  request.quantities = std::move(quantities);
  request.where = "bar.inp:7";
  return request;
}

/// The tables of a job's only step (or its last) after solving it.
std::vector<PrintTable> tables_of(Job& job, std::vector<std::string>& notes) {
  const JobResult result = run_job(job, plainly());
  return print_tables(job, job.steps.back(), result.steps.back(), {}, notes);
}
std::vector<PrintTable> tables_of(Job& job) {
  std::vector<std::string> notes;
  auto tables = tables_of(job, notes);
  EXPECT_TRUE(notes.empty()) << notes.front();
  return tables;
}

std::vector<double> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> list;
  for (double value; in >> value;) list.push_back(value);
  return list;
}

TEST(CalculixText, HasTheLinesOfCalculixTwoPointTwenty) {
  PrintTable table;
  table.quantity = "RF";
  table.set = "NALL";
  table.heading = "forces (fx,fy,fz)";
  table.total_heading = "total force (fx,fy,fz)";
  table.columns = {"fx", "fy", "fz"};
  table.calculix_columns = 3;
  table.wants_totals = true;
  table.ids = {1, 2};
  table.values = {-75.0, -100.0, 0.0, 1234567.89, 100.0, -0.0};
  EXPECT_EQ(calculix_text(table, 1.0),
            "\n forces (fx,fy,fz) for set NALL and time  0.1000000E+01\n\n"
            "         1 -7.500000E+01 -1.000000E+02  0.000000E+00\n"
            "         2  1.234568E+06  1.000000E+02  0.000000E+00\n"
            "\n total force (fx,fy,fz) for set NALL and time  0.1000000E+01\n\n"
            "        1.234493E+06  0.000000E+00  0.000000E+00\n");
}

TEST(CalculixText, NamesHaveNoControlCharacters) {
  PrintTable table;
  table.set = "A\x1b[2J\xc2\x9b\nB";
  table.heading = "temperatures";
  table.columns = {"temperature"};
  table.calculix_columns = 1;
  EXPECT_EQ(calculix_text(table, 1.0), "\n temperatures for set A\\x1b[2J\\u009b\\x0aB and time  0.1000000E+01\n\n");
}

TEST(CalculixText, HasPointsInThreeColumns) {
  PrintTable table;
  table.set = "EALL";
  table.heading = "internal energy density (elem, integ.pnt.,energy)";
  table.columns = {"energy"};
  table.calculix_columns = 1;
  table.of_nodes = false;
  table.has_points = true;
  table.ids = {7, 123456};
  table.points = {1, 27};
  table.values = {2.225644, 1e-7};
  EXPECT_EQ(calculix_text(table, 25.0),
            "\n internal energy density (elem, integ.pnt.,energy) for set EALL and time  0.2500000E+02\n\n"
            "         7   1  2.225644E+00\n"
            "    123456  27  1.000000E-07\n");
}

TEST(CalculixText, WritesNumbersAsFortranDoes) {
  PrintTable table;
  table.set = "S";
  table.heading = "h";
  table.columns = {"a", "b", "c"};
  table.calculix_columns = 3;
  table.ids = {1};
  table.values = {-1.5e-123, 2.5e200, std::nan("")};
  // Three digits of an exponent leave no room for its letter.
  EXPECT_EQ(calculix_text(table, 0.001),
            "\n h for set S and time  0.1000000E-02\n\n"
            "         1 -1.500000-123  2.500000+200  0.000000E+00\n");
  table.values = {1, 1, 1};
  EXPECT_NE(calculix_text(table, 0.0).find("and time  0.0000000E+00\n"), std::string::npos);
  EXPECT_NE(calculix_text(table, 0.99999999).find("and time  0.1000000E+01\n"), std::string::npos);
}

/// One element whose nodes are all displaced, as calculix_elements.hpp says.
Job displaced_element(const testing::CalculixElement& element) {
  Job job;
  job.name = element.name;
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  const ShapeTopology& shape = shape_topology(element.shape);
  std::vector<Id> ids;
  auto supports = std::make_shared<Supports>();
  for (int a = 0; a < shape.nodes; ++a) {
    const auto& r = shape.reference_nodes[a];
    domain.add_node(a + 1, r[0] + 0.1 * r[1], r[1] - 0.2 * r[0], r[2] + 0.3 * r[0]);
    ids.push_back(a + 1);
    const char* const unknowns[] = {"ux", "uy", "uz"};
    for (int k = 0; k < 3; ++k)
      supports->values.push_back({a, unknowns[k], 1e-3 * (r[0] * r[1] + (k + 1) * r[k] + 0.3 * r[2] * r[0])});
  }
  ElementBlock& block = domain.add_block("one", element.type);
  block.set_material(std::make_shared<IsotropicMaterial>("steel", 210000.0, 0.3));
  block.add(7, ids);
  JobStep step;
  step.name = "step 1";
  step.supports = supports;
  step.prints.push_back(request_of(PrintRequest::At::elements, "", {"S"}));
  job.steps.push_back(step);
  return job;
}

TEST(CalculixText, StressesOfEveryShapeStandWhereCalculixHasThem) {
  for (const auto& element : testing::calculix_elements) {
    SCOPED_TRACE(element.name);
    Job job = displaced_element(element);
    const auto tables = tables_of(job);
    ASSERT_EQ(tables.size(), 1u);
    const std::string text = calculix_text(tables[0], 1.0);
    const std::string heading =
        "\n stresses (elem, integ.pnt.,sxx,syy,szz,sxy,sxz,syz) for set EALL and time  0.1000000E+01\n\n";
    ASSERT_EQ(text.substr(0, heading.size()), heading);
    const auto ours = numbers(text.substr(heading.size())), theirs = numbers(element.stresses);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 2e-3) << "number " << i;
  }
}

TEST(PrintTables, ForcesAreThoseOfSupportsAndLoadsTogether) {
  // CalculiX's RF is what the elements resist with: the load where one acts, the reaction where the body is held.
  Job job = testing::pulled_bar(10.0);
  job.steps[0].prints = {request_of(PrintRequest::At::nodes, "xmax", {"RF"}),
                         request_of(PrintRequest::At::nodes, "xmin", {"RF"})};
  job.steps[0].prints[0].totals = PrintRequest::Totals::also;
  job.steps[0].prints[1].totals = PrintRequest::Totals::only;
  const auto tables = tables_of(job);
  ASSERT_EQ(tables.size(), 2u);
  ASSERT_EQ(tables[0].ids.size(), 4u);
  for (std::size_t row = 0; row < 4; ++row) EXPECT_NEAR(tables[0].at(row, 0), 2.5, 1e-10);
  EXPECT_TRUE(tables[0].wants_rows && tables[0].wants_totals);
  EXPECT_FALSE(tables[1].wants_rows);
  const std::string text = calculix_text(tables[1], 1.0);
  EXPECT_EQ(text.find("\n total force (fx,fy,fz) for set xmin and time  0.1000000E+01\n\n       -1.000000E+01"), 0u)
      << text;
}

TEST(PrintTables, RowsRiseWithTheNumbersOfNodesAndElements) {
  Job job;
  job.name = "two";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  domain.add_node(30, 0, 0, 0);
  domain.add_node(10, 3, 4, 0);
  domain.add_node(20, 6, 8, 0);
  ElementBlock& bars = domain.add_block("bars", "truss");
  bars.set_material(std::make_shared<IsotropicMaterial>("steel", 100.0, 0.3)).set_section("area", 2.0);
  bars.add(5, {10, 20});
  bars.add(2, {30, 10});
  auto supports = std::make_shared<Supports>();
  for (std::int32_t n = 0; n < 3; ++n)
    for (const char* u : {"ux", "uy", "uz"}) supports->values.push_back({n, u, 0.0});
  supports->values[6].value = 0.06, supports->values[7].value = 0.08;  // node 20, along the bar
  JobStep step;
  step.name = "step 1";
  step.supports = supports;
  step.prints = {request_of(PrintRequest::At::nodes, "", {"U"}),
                 request_of(PrintRequest::At::elements, "", {"S", "ENER", "ELSE", "EVOL", "SF"})};
  job.steps.push_back(step);
  const auto tables = tables_of(job);
  ASSERT_EQ(tables.size(), 6u);
  EXPECT_EQ(tables[0].ids, (std::vector<Id>{10, 20, 30}));
  EXPECT_NEAR(tables[0].at(1, 1), 0.08, 1e-15);
  EXPECT_EQ(tables[1].ids, (std::vector<Id>{2, 5}));
  // Strain 0.1 / 5, stress 2 along (0.6, 0.8, 0).
  const double expected[] = {2 * 0.36, 2 * 0.64, 0, 2 * 0.48, 0, 0};
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(tables[1].at(1, k), expected[k], 1e-12);
  EXPECT_NEAR(tables[2].at(1, 0), 0.5 * 2 * 0.02, 1e-14);
  EXPECT_NEAR(tables[3].at(1, 0), 0.5 * 2 * 0.02 * 10, 1e-13);
  EXPECT_NEAR(tables[4].at(1, 0), 10.0, 1e-12);
  EXPECT_NEAR(tables[5].at(1, 0), 4.0, 1e-12);  // the normal force
  EXPECT_TRUE(std::isnan(tables[5].at(1, 1)));  // a bar has no shear force
}

TEST(PrintTables, LocalVectorsAndTensorsAreTurned) {
  Job job = testing::pulled_bar(10.0);
  job.node_axes.systems.push_back(Orientation::rectangular({0, 1, 0}, {-1, 0, 0}));  // axis 1 is y, axis 2 is −x
  job.node_axes.system_of.assign(job.domains[0]->node_count(), -1);
  for (const std::int32_t n : job.domains[0]->node_set("xmax")) job.node_axes.system_of[n] = 0;
  job.domains[0]->block(0).set_orientation(Orientation::rectangular({0, 1, 0}, {-1, 0, 0}));
  job.steps[0].prints = {request_of(PrintRequest::At::nodes, "xmax", {"U"}),
                         request_of(PrintRequest::At::elements, "", {"S"})};
  for (auto& p : job.steps[0].prints) p.local = true;
  const auto tables = tables_of(job);
  EXPECT_NEAR(tables[0].at(0, 0), 0.0, 1e-12);
  EXPECT_NEAR(tables[0].at(0, 1), -0.2, 1e-12);
  EXPECT_NEAR(tables[1].at(0, 0), 0.0, 1e-10);
  EXPECT_NEAR(tables[1].at(0, 1), 10.0, 1e-10);  // σ11 of the body stands along axis 2
}

TEST(PrintTables, ForcesOfRingsAreThoseOfTwoDegreesInCalculix) {
  // CalculiX models a slice of two degrees: 360 on the whole ring stand in its table as 2.
  Job job;
  job.name = "ring";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  BoxMesh mesh;
  mesh.type = "axisymmetric.quad4.full";
  mesh.lower = {1, 0, 0};
  mesh.upper = {2, 1, 0};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210000.0, 0.3));
  auto supports = std::make_shared<Supports>();
  supports->values = testing::hold(domain, "ymin", "uy");
  domain.add_load_case("pull").nodal_at(domain.node_id(domain.node_set("ymax")[0]), "uy", 360.0);
  JobStep step;
  step.name = "step 1";
  step.load_case = "pull";
  step.supports = supports;
  step.prints = {request_of(PrintRequest::At::nodes, "ymin", {"RF"}),
                 request_of(PrintRequest::At::elements, "", {"EVOL"})};
  step.prints[0].totals = PrintRequest::Totals::only;
  job.steps.push_back(step);
  const auto tables = tables_of(job);
  const auto total = numbers(calculix_text(tables[0], 1.0).substr(calculix_text(tables[0], 1.0).find("E+01\n\n") + 6));
  ASSERT_EQ(total.size(), 3u);
  EXPECT_NEAR(total[1], -2.0, 1e-6);
  EXPECT_NEAR(tables[0].at(0, 1) + tables[0].at(1, 1), -360.0, 1e-8);  // ours is the whole ring
  const double volume = 3.14159265358979 * 3.0;
  EXPECT_NEAR(tables[1].at(0, 0), volume, 1e-10);
  EXPECT_NE(calculix_text(tables[1], 1.0).find(" 5.235988E-02"), std::string::npos);  // π 3 / 180
}

TEST(PrintTables, HeatHasTemperaturesFlowsAndFluxes) {
  Job job = testing::heated_bar();
  job.steps.pop_back();
  job.steps[0].prints = {request_of(PrintRequest::At::nodes, "xmax", {"NT", "RFL"}),
                         request_of(PrintRequest::At::elements, "", {"HFL"})};
  const auto tables = tables_of(job);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].heading, "temperatures");
  EXPECT_NEAR(tables[0].at(0, 0), 100.0, 1e-10);
  double flow = 0;
  for (std::size_t row = 0; row < 4; ++row) flow += tables[1].at(row, 0);
  EXPECT_NEAR(flow, 50.0 * 100.0 / 4.0, 1e-8);  // k ΔT / L through an area of 1, into the hot end
  EXPECT_NEAR(tables[2].at(0, 0), -1250.0, 1e-8);
}

TEST(PrintTables, AStepOfStaticsPrintsTheTemperaturesThatAct) {
  Job job = testing::pulled_bar();
  job.domains[0]->set_reference_temperature(20.0);
  job.steps[0].prints = {request_of(PrintRequest::At::nodes, "xmax", {"NT"})};
  const JobResult result = run_job(job, plainly());
  std::vector<std::string> notes;
  auto tables = print_tables(job, job.steps[0], result.steps[0], {}, notes);
  EXPECT_EQ(tables.at(0).at(0, 0), 20.0);
  std::vector<double> acting(job.domains[0]->node_count(), 33.0);
  tables = print_tables(job, job.steps[0], result.steps[0], acting, notes);
  EXPECT_EQ(tables.at(0).at(0, 0), 33.0);
}

TEST(PrintTables, RotationsStandBesidesWhatCalculixPrints) {
  Job job;
  job.name = "beam";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  domain.add_node(1, 0, 0, 0);
  domain.add_node(2, 2, 0, 0);
  ElementBlock& beam = domain.add_block("beam", "beam");
  auto steel = std::make_shared<Material>("steel");
  steel->set("young", 100.0).set("shear_modulus", 40.0);
  beam.set_material(steel).set_section("area", 1.0).set_section("inertia_y", 2.0).set_section("inertia_z", 2.0);
  beam.set_section("torsion", 1.0).set_section("shear_area_y", 0.0).set_section("shear_area_z", 0.0);
  beam.set_section("orientation_x", 0.0).set_section("orientation_y", 1.0).set_section("orientation_z", 0.0);
  beam.add(1, {1, 2});
  auto supports = std::make_shared<Supports>();
  for (const char* u : {"ux", "uy", "uz", "rx", "ry", "rz"}) supports->values.push_back({0, u, 0.0});
  domain.add_load_case("tip").nodal_at(2, "uy", 3.0);
  JobStep step;
  step.name = "step 1";
  step.load_case = "tip";
  step.supports = supports;
  step.prints = {request_of(PrintRequest::At::nodes, "", {"U", "RF"}),
                 request_of(PrintRequest::At::elements, "", {"SF", "S"})};
  job.steps.push_back(step);
  std::vector<std::string> notes;
  const auto tables = tables_of(job, notes);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].columns, (std::vector<std::string>{"ux", "uy", "uz", "rx", "ry", "rz"}));
  EXPECT_NEAR(tables[0].at(1, 1), 3.0 * 8 / (3 * 100.0 * 2.0), 1e-12);  // P L³ / 3 E I
  EXPECT_NEAR(tables[1].at(0, 5), -6.0, 1e-10);                         // the moment at the wall, P L
  EXPECT_EQ(numbers(calculix_text(tables[0], 1).substr(calculix_text(tables[0], 1).find("E+01\n\n") + 6)).size(), 8u);
  EXPECT_NEAR(std::abs(tables[2].at(0, 5)), 6.0, 1e-10);  // Mz at the wall
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "bar.inp:7: S is not printed for 1 elements of block 'beam' (beam), which do not have it");
}

TEST(PrintTables, SayWhatTheyCannotGive) {
  Job job = testing::heated_bar();
  job.steps.pop_back();
  job.steps[0].prints = {request_of(PrintRequest::At::nodes, "xmax", {"U", "XYZ"}),
                         request_of(PrintRequest::At::elements, "", {"CEEQ", "S"})};
  std::vector<std::string> notes;
  EXPECT_TRUE(tables_of(job, notes).empty());
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[0], "bar.inp:7: U is not printed in heat steps, which do not have it");
  EXPECT_EQ(notes[1], "bar.inp:7: XYZ is not printed: it is not a nodal quantity; available are U, V, RF, NT, RFL");
  EXPECT_EQ(notes[2],
            "bar.inp:7: CEEQ is not printed: it is not an element quantity; available are S, E, PEEQ, HFL, ENER, ELSE, "
            "EVOL, COORD, SF");
  EXPECT_EQ(notes[3], "bar.inp:7: S is not printed for 4 elements of block 'bar' (heat.hex8), which do not have it");

  Job statics = testing::pulled_bar();
  statics.steps[0].prints = {request_of(PrintRequest::At::nodes, "xmax", {"RFL"})};
  notes.clear();
  EXPECT_TRUE(tables_of(statics, notes).empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "bar.inp:7: RFL is printed in heat steps only");
}

}  // namespace
}  // namespace voussoir
