// Parts of a job for several processes: their numbers, and the sums of their systems of equations.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/partitioners.hpp>

#include "../loaded_bar.hpp"
#include "../reduced_beam.hpp"
#include "part_systems.hpp"
#include "support/expect_error.hpp"
#include "support/random_model.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::expect_same_system;
using testing::job_of;

constexpr int counts[] = {1, 2, 3, 5, 8};

std::unique_ptr<Domain> bar(int across = 2) {
  auto domain = std::make_unique<Domain>();
  testing::add_loaded_bar(*domain, across);
  return domain;
}

TEST(ProcessPart, NumbersAreContiguousAndAgreeOnBothSides) {
  const Job job = job_of(bar());
  for (const int count : counts) {
    SCOPED_TRACE(count);
    const JobDivision division(job, count, "coordinate");
    std::vector<ProcessPart> parts;
    for (int p = 0; p < count; ++p) parts.push_back(division.part(p));
    std::set<std::int64_t> owned_nodes, owned_unknowns;
    std::int64_t elements = 0;
    for (const ProcessPart& part : parts) {
      elements += part.job.domains[0]->element_count();
      for (std::int32_t n = 0; n < part.node_count(); ++n) {
        const auto at = static_cast<std::size_t>(n);
        EXPECT_EQ(part.job.domains[0]->node_id(n), job.domains[0]->node_id(static_cast<std::int32_t>(part.whole[at])));
        const auto owner = static_cast<std::size_t>(part.owner[at]);
        EXPECT_GE(part.global_node[at], part.ownership[owner]);
        EXPECT_LT(part.global_node[at], part.ownership[owner + 1]);
        if (!part.owns(n)) continue;
        EXPECT_TRUE(owned_nodes.insert(part.global_node[at]).second);
        for (int k = 0; k < 3; ++k) EXPECT_TRUE(owned_unknowns.insert(part.domains[0].first_unknown[at] + k).second);
      }
      EXPECT_EQ(part.domains[0].nodal_unknowns, 3);
      for (const SharedNodes& shared : part.shared) {
        const ProcessPart& other = parts[static_cast<std::size_t>(shared.part)];
        const auto back = std::find_if(other.shared.begin(), other.shared.end(),
                                       [&](const SharedNodes& s) { return s.part == part.part; });
        ASSERT_NE(back, other.shared.end());
        ASSERT_EQ(back->nodes.size(), shared.nodes.size());
        for (std::size_t k = 0; k < shared.nodes.size(); ++k)
          EXPECT_EQ(part.global_node[static_cast<std::size_t>(shared.nodes[k])],
                    other.global_node[static_cast<std::size_t>(back->nodes[k])]);
      }
    }
    EXPECT_EQ(elements, job.domains[0]->element_count());
    EXPECT_EQ(static_cast<std::int32_t>(owned_nodes.size()), job.domains[0]->node_count());
    EXPECT_EQ(*owned_nodes.rbegin(), job.domains[0]->node_count() - 1);
    EXPECT_EQ(*owned_unknowns.rbegin(), 3 * job.domains[0]->node_count() - 1);
    EXPECT_EQ(parts[0].domains[0].unknown_count(), 3 * job.domains[0]->node_count());
  }
}

TEST(ProcessPart, SystemsOfSolidsWithObliqueSupportsAddUp) {
  auto domain = bar();
  testing::support_edge_obliquely(*domain);
  domain->prescribe_along(domain->node_id(domain->node_set("edge")[3]), {1, -0.2, 0.4});
  LoadCase& at_nodes = domain->add_load_case("at nodes");
  for (std::int32_t n = 0; n < domain->node_count(); ++n) at_nodes.nodal_at(domain->node_id(n), "uz", 0.01 * (n % 7));
  const Job job = job_of(std::move(domain));
  for (const int count : counts) {
    SCOPED_TRACE(count);
    expect_same_system(job, count);
  }
  expect_same_system(job, 3, "metis", "debug:2");
}

TEST(ProcessPart, SystemsOfRandomModelsWithEquationsAndRigidBodiesAddUp) {
  for (const std::uint32_t seed : {1u, 2u, 3u, 5u, 8u, 13u, 21u, 34u}) {
    auto domain = std::make_unique<Domain>();
    const std::string text = testing::RandomModel(seed).build(*domain);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    const Job job = job_of(std::move(domain));
    for (const int count : {1, 2, 3, 5}) {
      SCOPED_TRACE(count);
      expect_same_system(job, count);
    }
  }
}

TEST(ProcessPart, SystemsWithThermalStrainAndTablesAddUp) {
  auto domain = bar();
  auto steel = std::make_shared<Material>("steel");
  steel->set_table("young", {{0, 1000}, {100, 700}}).set("poisson", 0.3).set("density", 2);
  steel->set_table("expansion", {{20, 1e-3}, {60, 2e-3}}).set_expansion_reference(10);
  domain->block(std::size_t{0}).set_material(steel);
  domain->set_reference_temperature(5);
  LoadCase& hot = domain->add_load_case("hot");
  for (std::int32_t n = 0; n < domain->node_count(); ++n) {
    hot.temperature_at(domain->node_id(n), 20 + n % 50);
    if (n % 3 == 0) domain->set_initial_temperature_at(domain->node_id(n), 12 + n % 5);
  }
  const Job job = job_of(std::move(domain));
  for (const int count : counts) {
    SCOPED_TRACE(count);
    expect_same_system(job, count);
  }
}

TEST(ProcessPart, SystemsOfHeatWithFilmsAddUp) {
  auto domain = std::make_unique<Domain>();
  BoxMesh mesh;
  mesh.cells = {5, 3, 2};
  mesh.upper = {3, 2, 1};
  mesh.type = "heat.hex8";
  auto copper = std::make_shared<Material>("copper");
  copper->set("conductivity", 400).set("density", 9).set("specific_heat", 4);
  add_box_mesh(*domain, mesh).set_material(copper);
  domain->prescribe("xmin", "T", 300);
  domain->add_load_case("heat")
      .convection("xmax", 25, 20)
      .heat_flux("ymax", 7)
      .heat_source("", 3)
      .nodal("zmin", "T", 2);
  const Job job = job_of(std::move(domain));
  for (const int count : counts) {
    SCOPED_TRACE(count);
    expect_same_system(job, count);
  }
}

/// Bricks with beams that start at their nodes: nodes with three unknowns, nodes with six, and both at the joints.
std::unique_ptr<Domain> bricks_with_beams() {
  auto domain = bar(1);
  ElementBlock& beams = domain->add_block("beams", "beam");
  auto iron = std::make_shared<Material>("iron");
  iron->set("young", 5000).set("shear_modulus", 2000).set("density", 3).set("expansion", 1e-3);
  beams.set_material(iron).set_section(CrossSection::rectangle(0.1, 0.2));
  beams.set_section("orientation_x", 0.3).set_section("orientation_y", 0.2).set_section("orientation_z", 1);
  Id node = 5001, element = 5001;
  std::vector<Id> ends;
  for (int i = 0; i <= 8; ++i) {
    const std::int32_t at = i;  // nodes along x at y = z = 0
    const double* const x = &domain->coordinates()[3 * static_cast<std::size_t>(at)];
    const std::array<double, 3> foot{x[0], x[1], x[2]};
    domain->add_node(node, foot[0], foot[1] - 1, foot[2]);
    beams.add(element++, {domain->node_id(at), node});
    if (!ends.empty()) beams.add(element++, {ends.back(), node});
    ends.push_back(node++);
  }
  domain->add_node_set("feet", ends);
  domain->prescribe_at(ends.front(), "all");
  domain->prescribe_at(domain->node_id(4), "ry", 0.01);  // a rotation where beams meet bricks
  domain->add_load_case("twist").nodal("feet", "rx", 0.3).nodal_at(domain->node_id(3), "rz", 0.2);
  return domain;
}

TEST(ProcessPart, SystemsOfBeamsOnBricksAddUp) {
  auto domain = bricks_with_beams();
  const Job job = job_of(std::move(domain));
  for (const int count : {1, 2, 3, 5, 8, 20}) {
    SCOPED_TRACE(count);
    expect_same_system(job, count);
    expect_same_system(job, count, "metis");
  }
  const ProcessPart part = JobDivision(job, 3).part(0);
  EXPECT_EQ(part.domains[0].nodal_unknowns, 0);  // not the same number everywhere
}

TEST(ProcessPart, SystemsWithSuperelementsAddUp) {
  const Job job = job_of(testing::beam_with_superelement());
  for (const int count : counts) {
    SCOPED_TRACE(count);
    expect_same_system(job, count);
  }
  expect_same_system(job, 3, "metis", "debug:2");
}

TEST(ProcessPart, WeightActsWhereThereIsADensity) {
  auto domain = std::make_unique<Domain>();
  for (Id n = 1; n <= 5; ++n) domain->add_node(n, static_cast<double>(n), 0, 0);
  for (const char* name : {"light", "heavy"}) {
    auto material = std::make_shared<Material>(name);
    material->set("young", 1000);
    if (std::string(name) == "heavy") material->set("density", 2);
    const Id first = std::string(name) == "heavy" ? 3 : 1;
    ElementBlock& block = domain->add_block(name, "truss").set_material(material).set_section("area", 0.1);
    for (Id e = first; e < first + 2; ++e) block.add(e, {e, e + 1});
  }
  domain->add_node_set("all", {Id{1}, Id{2}, Id{3}, Id{4}, Id{5}});
  domain->prescribe("all", "uy");
  domain->prescribe("all", "uz");
  domain->add_node_set("left", {Id{1}});
  domain->prescribe("left", "ux");
  domain->add_load_case("weight").gravity("", {-9.81, 0, 0});
  const Job job = job_of(std::move(domain));
  for (const int count : {2, 4}) {
    SCOPED_TRACE(count);
    expect_same_system(job, count);
  }
}

TEST(ProcessPart, OnlyOnePartHasTheMatricesOfASuperelement) {
  const Job job = job_of(testing::beam_with_superelement());
  const auto superelement = superelements_of(*job.domains[0]).at(0);
  const std::size_t recovery = superelement->part().recovery.size() * sizeof(double);
  const JobDivision division(job, 4);
  int with = 0;
  for (int p = 0; p < 4; ++p) {
    const std::string bytes = encode(division.part(p));
    EXPECT_LT(bytes.size(), recovery);  // which stays where the whole model is
    const ProcessPart part = decode(bytes, "part");
    EXPECT_TRUE(encode(part) == bytes);
    const ElementBlock& block = std::as_const(*part.job.domains[0]).block(superelement->name());
    with += block.size() > 0;
    EXPECT_TRUE(is_superelement_type(block.type_name()));
    const auto reduced = reduced_part_of(block.type());
    ASSERT_NE(reduced, nullptr);
    EXPECT_EQ(reduced->unknowns, superelement->part().unknowns);
    EXPECT_EQ(reduced->stiffness.size() == superelement->part().stiffness.size(), block.size() > 0);
  }
  EXPECT_EQ(with, 1);
}

TEST(ProcessPart, TwoFieldsOnTheSameNodesKeepAllTheirSupports) {
  auto domain = bar(1);
  domain->block(std::size_t{0}).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  ElementBlock& heat = domain->add_block("heat", "heat.hex8");
  auto copper = std::make_shared<Material>("copper");
  copper->set("conductivity", 400);
  heat.set_material(copper);
  const ElementBlock& solid = domain->block(std::size_t{0});
  for (std::int32_t e = 0; e < solid.size(); ++e) {
    std::vector<Id> nodes;
    for (const std::int32_t n : solid.nodes(e)) nodes.push_back(domain->node_id(n));
    heat.add(1000 + e, nodes);
  }
  domain->clear_loads();
  domain->add_load_case("both").nodal("xmax", "uy", 1).nodal("xmax", "T", 3);
  for (std::int32_t n = 0; n < domain->node_count(); n += 4) domain->prescribe_at(domain->node_id(n), "T", n);
  const Job job = job_of(std::move(domain));
  for (const int count : {1, 2, 3, 5}) {
    SCOPED_TRACE(count);
    expect_same_system(job, count, "metis");
  }
  // A solid that follows the unknown temperature needs it in its own part.
  job.domains[0]
      ->block(std::size_t{0})
      .set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0, 1e-3));
  expect_error(ErrorCode::unavailable, {"block 'box'", "temperature"}, [&] { JobDivision(job, 2); });
}

TEST(ProcessPart, MorePartsThanElementsLeaveEmptyOnes) {
  auto domain = std::make_unique<Domain>();
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  add_box_mesh(*domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  domain->prescribe("xmin", "all");
  domain->add_load_case("push").traction("xmax", {1, 0, 0}).gravity("", {0, 0, -1});
  const Job job = job_of(std::move(domain));
  const JobDivision division(job, 7);
  EXPECT_EQ(division.parts(), 7);
  EXPECT_EQ(division.filled_parts(), 2);
  for (int p = 0; p < 7; ++p) {
    const ProcessPart part = decode(encode(division.part(p)), "part");
    EXPECT_EQ(part.has_elements(0), p < 2);
    EXPECT_EQ(part.node_count(), p < 2 ? 8 : 0);
    EXPECT_EQ(part.job.domains[0]->block_count(), 1u);
    EXPECT_EQ(part.job.steps.size(), 1u);
    EXPECT_EQ(part.ownership.size(), 8u);
  }
  expect_same_system(job, 7);
}

/// The cost of each part, and its largest value relative to the mean: entries of the matrices of elements.
double imbalance_by_cost(const Job& job, const std::vector<const Partition*>& partitions) {
  std::vector<double> cost(static_cast<std::size_t>(partitions.front()->parts()), 0.0);
  for (std::size_t d = 0; d < partitions.size(); ++d)
    for (int p = 0; p < partitions[d]->parts(); ++p)
      for (const ElementRef& element : partitions[d]->elements(p)) {
        const int unknowns =
            std::as_const(*job.domains[d]).block(static_cast<std::size_t>(element.block)).type().program().dofs();
        cost[static_cast<std::size_t>(p)] += unknowns * unknowns;
      }
  return *std::max_element(cost.begin(), cost.end()) * static_cast<double>(cost.size()) /
         std::accumulate(cost.begin(), cost.end(), 0.0);
}

TEST(JobDivision, BalancesTheCostOfMixedElements) {
  // C3D20R on the left, C3D8 on the right, and a lattice of beams: costs of 3600, 576 and 144 entries.
  auto domain = std::make_unique<Domain>();
  auto steel = std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0);
  steel->set("shear_modulus", 385.0);
  BoxMesh fine;
  fine.type = "solid.hex20.reduced";
  fine.cells = {6, 4, 4};
  fine.upper = {6, 4, 4};
  fine.block = "fine";
  add_box_mesh(*domain, fine).set_material(steel);
  BoxMesh coarse;
  coarse.cells = {18, 4, 4};
  coarse.lower = {8, 0, 0};
  coarse.upper = {26, 4, 4};
  coarse.block = "coarse";
  coarse.set_prefix = "coarse_";
  add_box_mesh(*domain, coarse).set_material(steel);
  ElementBlock& beams = domain->add_block("beams", "beam");
  beams.set_material(steel);
  for (const char* name : {"area", "inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z"})
    beams.set_section(name, 0.01);
  for (const auto& [name, value] : {std::pair{"orientation_x", 0.3}, {"orientation_y", 1.0}, {"orientation_z", 0.2}})
    beams.set_section(name, value);
  Id id = 100000;
  const auto from = domain->node_set("coarse_xmin"), to = domain->node_set("xmax");
  for (const std::int32_t a : from)
    for (std::size_t k = 0; k < to.size(); k += 3) beams.add(id++, {domain->node_id(a), domain->node_id(to[k])});
  domain->prescribe("xmin", "all");
  domain->add_load_case("push").traction("coarse_xmax", {1, 0, 0});
  const Job job = job_of(std::move(domain));
  for (const std::string method : {"auto", "coordinate", "metis:graph=nodes"}) {
    if (method == "metis:graph=nodes" && !MetisPartitioner::available()) continue;
    for (const int parts : {2, 4, 6}) {
      SCOPED_TRACE(method + ", " + std::to_string(parts) + " parts");
      const JobDivision division(job, parts, method);
      const Partition by_number = DomainPartitioner(*job.domains[0]).partition(*make_partitioner(method), parts);
      EXPECT_LT(imbalance_by_cost(job, {&division.partition(0)}), 1.15);
      EXPECT_GT(imbalance_by_cost(job, {&by_number}), 1.3);
      EXPECT_NEAR(division.partition(0).balance(), imbalance_by_cost(job, {&division.partition(0)}), 1e-12);
    }
  }
  expect_same_system(job, 4);
}

TEST(JobDivision, CountsTheCostOfBothModels) {
  // The left half of a bar of 40 elements is in a thermal model, too: there an element costs 3600 + 400, and on the
  // right 3600. Half of that are 19 elements on the left, 19 · 4000 = 4000 + 20 · 3600.
  auto domain = std::make_unique<Domain>();
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {40, 1, 1};
  mesh.upper = {40, 1, 1};
  add_box_mesh(*domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  domain->prescribe("xmin", "all");
  auto heat = std::make_unique<Domain>();
  for (std::int32_t n = 0; n < domain->node_count(); ++n) {
    const double* const x = domain->coordinates().data() + 3 * static_cast<std::size_t>(n);
    heat->add_node(domain->node_id(n), x[0], x[1], x[2]);
  }
  ElementBlock& block = heat->add_block("heat", "heat.hex20");
  auto copper = std::make_shared<Material>("copper");
  copper->set("conductivity", 400);
  block.set_material(copper);
  const ElementBlock& solid = std::as_const(*domain).block(0);
  for (std::int32_t e = 0; e < 20; ++e) {
    std::vector<Id> nodes;
    for (const std::int32_t n : solid.nodes(e)) nodes.push_back(domain->node_id(n));
    block.add(solid.id(e), nodes);
  }
  Job job = job_of(std::move(domain));
  for (const std::int64_t left : {20, 19}) {
    const JobDivision division(job, 2, "coordinate");
    EXPECT_EQ(std::min(division.partition(0).element_count(0), division.partition(0).element_count(1)), left);
    EXPECT_NEAR(division.partition(0).balance(), 1, 1e-12) << "of what was balanced";
    if (left == 20) job.domains.push_back(std::move(heat));
  }
}

TEST(ProcessPart, MemoryOfAPartFallsWithTheNumberOfParts) {
  auto domain = std::make_unique<Domain>();
  BoxMesh mesh;
  mesh.cells = {24, 12, 12};
  add_box_mesh(*domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  domain->prescribe("xmin", "all");
  domain->add_load_case("push").traction("xmax", {1, 0, 0});
  const Job job = job_of(std::move(domain));
  const std::size_t whole = encode(JobDivision(job, 1).part(0)).size();
  for (const int count : {2, 4, 8}) {
    const JobDivision division(job, count, "coordinate");
    std::size_t largest = 0;
    for (int p = 0; p < count; ++p) largest = std::max(largest, encode(division.part(p)).size());
    EXPECT_LT(static_cast<double>(largest), 1.3 * static_cast<double>(whole) / count) << count << " parts";
  }
}

TEST(ProcessPart, RefusesWhatCannotBeDivided) {
  Job job = job_of(bar(1));
  job.steps[0].procedure = Procedure::harmonic;
  job.steps[0].modal = HarmonicStep{};
  job.steps[0].where = "a.inp:7";
  // Modes are superposed where the whole model is: parts know of the step, and not what it asks for.
  const ProcessPart part = decode(encode(JobDivision(job, 2).part(1)), "part");
  EXPECT_EQ(part.job.steps[0].procedure, Procedure::harmonic);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(part.job.steps[0].modal));
  job.steps[0] = JobStep{};
  job.steps[0].procedure_name = "mine";
  expect_error(ErrorCode::unavailable, {"the procedure 'mine'"}, [&] { JobDivision(job, 2); });
  job.steps[0] = JobStep{};
  DynamicStep dynamic;
  dynamic.loads.emplace_back().course = [](double) { return 1.0; };
  job.steps[0].procedure = Procedure::dynamic;
  job.steps[0].modal = dynamic;
  expect_error(ErrorCode::unavailable, {"radiation"}, [&] { JobDivision(job, 2); });
  job.steps[0] = JobStep{};
  expect_error(ErrorCode::bad_input, {"0 parts"}, [&] { JobDivision(job, 0); });
  auto supports = std::make_shared<Supports>();
  supports->values.push_back({3, "rx", 0});
  job.steps[0].supports = supports;
  expect_error(ErrorCode::bad_input, {"node 4", "no unknown 'rx'", "ux, uy, uz"}, [&] { JobDivision(job, 2); });
  job.steps[0].supports = nullptr;
  job.mesh_only = true;
  expect_error(ErrorCode::bad_input, {"without sections"}, [&] { JobDivision(job, 2); });
}

}  // namespace
}  // namespace voussoir
