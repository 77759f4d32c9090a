// What a check finds in models that are wrong in known ways, and that it finds nothing in one that is right.

#include <voussoir/jobs/check_job.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using Severity = Finding::Severity;
using testing::expect_error;

/// A box of nx × ny × nz unit cubes, held at x = 0 and pulled at the other end.
Job box_job(std::array<int, 3> cells = {3, 2, 2}, const std::string& type = "solid.hex8") {
  Job job;
  job.name = "box";
  job.source = "box.inp";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  BoxMesh box;
  box.type = type;
  box.cells = cells;
  box.upper = {double(cells[0]), double(cells[1]), double(cells[2])};
  add_box_mesh(domain, box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  domain.add_load_case("pull").traction("xmax", {1e6, 0, 0});
  Supports supports;
  for (std::int32_t node : domain.node_set("xmin"))
    for (const char* unknown : {"ux", "uy", "uz"}) supports.values.push_back({node, unknown, 0.0});
  JobStep step;
  step.name = "pull";
  step.load_case = "pull";
  step.where = "box.inp:40";
  step.supports = std::make_shared<Supports>(supports);
  job.steps.push_back(step);
  return job;
}

const Finding* find(const CheckReport& report, const std::string& kind) {
  const auto found =
      std::find_if(report.findings.begin(), report.findings.end(), [&](const Finding& f) { return f.kind == kind; });
  return found == report.findings.end() ? nullptr : &*found;
}

TEST(CheckJob, FindsNothingInASoundModel) {
  Job job = box_job();
  const CheckReport report = check_job(job);
  EXPECT_TRUE(report.can_run());
  EXPECT_TRUE(report.findings.empty()) << report.findings.front().text;
  ASSERT_EQ(report.domains.size(), 1u);
  const DomainCheck& d = report.domains[0];
  EXPECT_EQ(d.nodes, 4 * 3 * 3);
  EXPECT_EQ(d.elements, 12);
  EXPECT_EQ(d.parts, 1);
  ASSERT_EQ(d.element_types.size(), 1u);
  EXPECT_EQ(d.element_types[0].name, "solid.hex8");
  EXPECT_EQ(d.element_types[0].count, 12);
  ASSERT_EQ(d.materials.size(), 1u);
  EXPECT_EQ(d.materials[0].name, "steel");
  EXPECT_EQ(d.upper, (std::array<double, 3>{3, 2, 2}));
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.steps[0].prescribed, 27);
  EXPECT_EQ(report.steps[0].unknowns, 3 * 27);
  EXPECT_EQ(report.steps[0].loads, "1 traction load");
}

TEST(CheckJob, NamesEveryElementThatIsInsideOut) {
  Job job = box_job();
  Domain& domain = *job.domains[0];
  ElementBlock& wrong = domain.add_block("wrong", "solid.hex8.full");
  wrong.set_material(domain.block(0).material());
  const auto at = [&](std::int32_t element) {
    std::vector<Id> ids;
    for (std::int32_t n : domain.block(0).nodes(element)) ids.push_back(domain.node_id(n));
    return ids;
  };
  // Upside down, the right way up, upside down.
  for (const int element : {0, 1, 2}) {
    auto nodes = at(element);
    if (element != 1) std::rotate(nodes.begin(), nodes.begin() + 4, nodes.end());
    wrong.add(100 + element, nodes);
  }
  const CheckReport report = check_job(job);
  EXPECT_FALSE(report.can_run());
  const Finding* finding = find(report, "inverted");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::error);
  EXPECT_EQ(finding->elements, (std::vector<Id>{100, 102}));
  EXPECT_NE(finding->where.find("wrong"), std::string::npos);
  const Finding* twice = find(report, "duplicate elements");
  ASSERT_NE(twice, nullptr) << "all three have the nodes of others";
  EXPECT_EQ(twice->severity, Severity::warning);
  EXPECT_EQ(twice->elements, (std::vector<Id>{100, 101, 102}));
  EXPECT_EQ(report.findings.front().severity, Severity::error) << "errors come first";
}

TEST(CheckJob, WithoutSupportsOfItsOwnAStepTakesThoseOfTheModel) {
  Job job = box_job();
  job.steps[0].supports->apply(*job.domains[0]);
  job.steps[0].supports = nullptr;
  EXPECT_EQ(find(check_job(job), "free motion"), nullptr);
  job.domains[0]->clear_supports();
  EXPECT_NE(find(check_job(job), "free motion"), nullptr);
}

TEST(CheckJob, SaysWhatMovesFreely) {
  Job job = box_job();
  Supports rollers;  // held along x alone: two translations and the turn about x are free
  for (std::int32_t node : job.domains[0]->node_set("xmin")) rollers.values.push_back({node, "ux", 0.0});
  job.steps[0].supports = std::make_shared<Supports>(rollers);
  const CheckReport report = check_job(job);
  EXPECT_FALSE(report.can_run());
  const auto count = std::count_if(report.findings.begin(), report.findings.end(),
                                   [](const Finding& f) { return f.kind == "free motion"; });
  EXPECT_EQ(count, 3);
  EXPECT_EQ(find(report, "free motion")->where, "box.inp:40");
}

TEST(CheckJob, CountsPartsAndSeesNodesThatLieUponEachOther) {
  Job job = box_job({2, 1, 1});
  Domain& domain = *job.domains[0];
  // A second cube at the end of the first bar, with nodes of its own.
  const Id first = domain.node_count() + 1;
  const double corners[8][3] = {{2, 0, 0}, {3, 0, 0}, {3, 1, 0}, {2, 1, 0}, {2, 0, 1}, {3, 0, 1}, {3, 1, 1}, {2, 1, 1}};
  std::vector<Id> nodes;
  for (const auto& c : corners) {
    nodes.push_back(first + static_cast<Id>(nodes.size()));
    domain.add_node(nodes.back(), c[0], c[1], c[2]);
  }
  domain.add_block("cube", "solid.hex8").set_material(domain.block(0).material()).add(50, nodes);
  domain.add_node(999, 10, 10, 10);
  const CheckReport report = check_job(job);
  EXPECT_EQ(report.domains[0].parts, 2);
  EXPECT_EQ(report.domains[0].unused_nodes, 1);
  const Finding* close = find(report, "coincident nodes");
  ASSERT_NE(close, nullptr);
  EXPECT_EQ(close->severity, Severity::hint);
  EXPECT_EQ(close->nodes.size(), 4u);
  EXPECT_NE(close->text.find("4 pairs"), std::string::npos) << close->text;
  const Finding* unused = find(report, "unused nodes");
  ASSERT_NE(unused, nullptr);
  EXPECT_EQ(unused->nodes, (std::vector<Id>{999}));
  EXPECT_NE(find(report, "free motion"), nullptr) << "the cube is held by nothing";

  // Tied together they are one part, and nothing is left to say.
  for (const Id node : {nodes[0], nodes[3], nodes[4], nodes[7]})
    for (std::int32_t other = 0; other < first - 1; ++other) {
      const auto p = domain.node(node).position, q = domain.node(domain.node_id(other)).position;
      if (p != q) continue;
      for (const char* unknown : {"ux", "uy", "uz"})
        domain.add_equation({{node, unknown, 1}, {domain.node_id(other), unknown, -1}});
    }
  const CheckReport tied = check_job(job);
  EXPECT_EQ(tied.domains[0].parts, 1);
  EXPECT_EQ(find(tied, "coincident nodes"), nullptr);
  EXPECT_TRUE(tied.can_run());
}

TEST(CheckJob, SaysWhatIsMissingOrMakesNoSense) {
  {
    Job job = box_job();
    job.domains[0]->add_block("bare", "solid.hex8.full").add(77, {1, 2, 6, 5, 13, 14, 18, 17});
    const CheckReport report = check_job(job);
    EXPECT_FALSE(report.can_run());
    const Finding* finding = find(report, "parameters");
    ASSERT_NE(finding, nullptr);
    EXPECT_NE((finding->where + finding->text).find("bare"), std::string::npos) << finding->text;
  }
  {
    Job job = box_job();
    job.domains[0]->block(0).set_material(std::make_shared<IsotropicMaterial>("odd", 210e9, 0.7));
    const CheckReport report = check_job(job);
    EXPECT_FALSE(report.can_run());
    ASSERT_NE(find(report, "parameters"), nullptr);
    EXPECT_NE(find(report, "parameters")->text.find("Poisson"), std::string::npos);
  }
  {
    Job job;
    job.domains.push_back(std::make_unique<Domain>());
    const CheckReport report = check_job(job);
    EXPECT_FALSE(report.can_run());
    EXPECT_NE(find(report, "no elements"), nullptr);
    EXPECT_NE(find(report, "no steps"), nullptr);
  }
}

TEST(CheckJob, AStepWithoutLoadsIsAHint) {
  Job job = box_job();
  job.steps[0].load_case.clear();
  const CheckReport report = check_job(job);
  EXPECT_TRUE(report.can_run());
  ASSERT_NE(find(report, "no loads"), nullptr);
  EXPECT_EQ(find(report, "no loads")->severity, Severity::hint);
}

TEST(CheckJob, ContradictingSupportsAreAnErrorOfTheModel) {
  Job job = box_job();
  Supports supports = *job.steps[0].supports;
  Prescribed other = supports.values.front();
  other.value = 1e-3;
  supports.values.push_back(other);
  job.steps[0].supports = std::make_shared<Supports>(supports);
  const CheckReport report = check_job(job);
  EXPECT_FALSE(report.can_run());
  ASSERT_NE(find(report, "model"), nullptr);
}

TEST(CheckJob, FoldedAndLongElementsAreWorthALook) {
  Job job = box_job({1, 1, 1}, "solid.hex8.full");
  Domain& domain = *job.domains[0];
  // A unit cube whose corner is pulled into it by d along the diagonal has the Jacobian 1 − 3 d there, and 1 − 1.87 d
  // at the nearest of its 2×2×2 points.
  const double p[8][3] = {{0.4, 0.4, 10.4}, {1, 0, 10}, {1, 1, 10}, {0, 1, 10},
                          {0, 0, 11},       {1, 0, 11}, {1, 1, 11}, {0, 1, 11}};
  std::vector<Id> nodes;
  for (const auto& c : p) {
    nodes.push_back(100 + static_cast<Id>(nodes.size()));
    domain.add_node(nodes.back(), c[0], c[1], c[2]);
  }
  domain.add_block("dented", "solid.hex8.full").set_material(domain.block(0).material()).add(7, nodes);
  const CheckReport report = check_job(job);
  EXPECT_EQ(find(report, "inverted"), nullptr) << "at its points it is fine";
  ASSERT_NE(find(report, "folded"), nullptr);
  EXPECT_EQ(find(report, "folded")->elements, (std::vector<Id>{7}));

  Job thin;
  {
    thin = box_job();
    Domain fresh;
    thin.domains[0] = std::make_unique<Domain>();
    BoxMesh box;
    box.type = "solid.hex8";
    box.cells = {2, 2, 2};
    box.upper = {1000, 1, 1};
    add_box_mesh(*thin.domains[0], box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3));
    thin.steps.clear();
  }
  ASSERT_NE(find(check_job(thin), "long"), nullptr);
}

TEST(CheckJob, StopsWhenAsked) {
  Job job = box_job();
  expect_error(ErrorCode::cancelled, {"stopped while checking"},
               [&] { check_job(job, [](const std::string&) { return false; }); });
}

TEST(CheckJob, JsonSaysTheSame) {
  Job job = box_job();
  job.title = "caf\xe9";  // Latin-1, as old decks have it
  const auto document = nlohmann::json::parse(to_json(check_job(job)));
  EXPECT_TRUE(document["can_run"].get<bool>());
  EXPECT_EQ(document["domains"][0]["nodes"], 36);
  EXPECT_EQ(document["domains"][0]["element_types"]["solid.hex8"], 12);
  EXPECT_EQ(document["domains"][0]["quality"]["scaled_jacobians"].size(), 11u);
  EXPECT_EQ(document["steps"][0]["prescribed_unknowns"], 27);
  EXPECT_TRUE(document["findings"].empty());
}

}  // namespace
}  // namespace voussoir
