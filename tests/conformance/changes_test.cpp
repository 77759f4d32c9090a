#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "backends_under_test.hpp"

// An analysis whose domain changes between runs: each time it must give the answer of an analysis that is made anew,
// and it must do no more than the change asks for.

namespace voussoir::conformance {
namespace {

/// What a change costs.
enum class Cost {
  nothing,  ///< the matrix is the one that it was
  matrix,   ///< it is formed again, in the same pattern
  model     ///< the domain is numbered again
};

struct Change {
  std::string name;
  std::function<void(Domain&)> make;
  Cost cost;
};

struct Set {
  std::string solver, storage;
};

std::shared_ptr<Material> steel() {
  auto m = std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85e-3, 1.2e-5);
  m->set("conductivity", 50);
  return m;
}

void add_box(Domain& d, const std::string& type) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {5, 3, 2};
  mesh.upper = {5, 3, 2};
  mesh.distortion = 0.2;
  add_box_mesh(d, mesh).set_material(steel());
}

long stages(const Analysis& analysis, const std::string& name) {
  return std::count_if(analysis.stage_times().begin(), analysis.stage_times().end(),
                       [&](const StageTime& time) { return time.stage == name; });
}

void expect_same(const StepResult& changed, const StepResult& fresh, const std::string& what) {
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b, const char* field) {
    ASSERT_EQ(a.size(), b.size()) << what << ", " << field;
    double largest = 0;
    for (const double x : b)
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(std::isfinite(a[i]), std::isfinite(b[i])) << what << ", " << field;
      if (std::isfinite(a[i])) {
        ASSERT_NEAR(a[i], b[i], 1e-8 * largest) << what << ", " << field << " " << i;
      }
    }
  };
  compare(changed.unknowns.values, fresh.unknowns.values, "unknowns");
  compare(changed.reactions.values, fresh.reactions.values, "reactions");
  ASSERT_EQ(changed.points.size(), fresh.points.size()) << what;
  for (std::size_t b = 0; b < fresh.points.size(); ++b)
    compare(changed.points[b].values, fresh.points[b].values, "point values");
}

/// Backends on which every number is looked at, or a processor plays a GPU.
bool is_slow(const std::string& backend) { return backend.starts_with("debug:") || backend.starts_with("emulated"); }

/// Runs an analysis before and after each of the changes, which follow one another. On slow backends, the new analysis
/// is the oracle's.
void follow(const std::string& backend, const Set& set, Domain& d, const std::vector<Change>& changes) {
  StaticOptions options;
  options.solver = set.solver;
  options.storage = set.storage;
  options.relative_tolerance = 1e-12;
  const auto analysis = make_static_analysis(d, Backend::open(backend), options);
  analysis->run();
  const auto& soe = analysis->collaborators().soe;
  const bool stored = soe->sparse_matrix() != nullptr;
  for (const Change& change : changes) {
    const std::string what = change.name + " (" + set.solver + ", " + set.storage + ", " + backend + ")";
    const long numbered = stages(*analysis, "number"), patterns = stages(*analysis, "pattern");
    const std::uint64_t version = soe->version();
    change.make(d);
    const StepResult changed = analysis->run().back();
    EXPECT_EQ(stages(*analysis, "number") > numbered, change.cost == Cost::model) << what;
    EXPECT_EQ(stages(*analysis, "pattern") > patterns, change.cost == Cost::model) << what;
    // Element operators are made again when batches change, which costs nothing but their values.
    if (stored || change.cost != Cost::nothing) {
      EXPECT_EQ(soe->version() == version, change.cost == Cost::nothing) << what;
    }
    const auto anew = make_static_analysis(d, Backend::open(is_slow(backend) ? oracle : backend), options);
    const StepResult fresh = anew->run().back();
    expect_same(changed, fresh, what);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void clamp(Domain& d, double pull) {
  d.clear_supports();
  for (const char* u : {"ux", "uy", "uz"}) d.prescribe("xmin", u);
  d.prescribe("xmax", "ux", pull);
}

std::vector<Change> changes_of_solids(int devices) {
  return {
      {"nothing", [](Domain&) {}, Cost::nothing},
      {"a node set",
       [](Domain& d) {
         d.add_node_set("some", std::vector<Id>{1, 2, 3});
       },
       Cost::nothing},
      {"values of supports", [](Domain& d) { clamp(d, 0.02); }, Cost::nothing},
      {"a support more", [](Domain& d) { d.prescribe("ymin", "uy"); }, Cost::matrix},
      {"supports fewer", [](Domain& d) { clamp(d, -0.01); }, Cost::matrix},
      {"a nodal load more", [](Domain& d) { d.add_load_case("nodal").nodal("zmax", "uz", 2).nodal_at(7, "uy", -40); },
       Cost::nothing},
      {"other surface loads",
       [](Domain& d) {
         d.clear_loads();
         d.add_load_case("push").pressure("ymax", 3).traction("zmax", {1, -2, 0.5});
       },
       Cost::nothing},
      {"weight of a part",
       [](Domain& d) {
         d.add_element_set("half", std::vector<Id>{1, 2, 3, 4, 5, 6, 7});
         d.add_load_case("weight").gravity("half", {0, 0, -9810}).gravity("", {0, 100, 0});
       },
       Cost::nothing},
      {"faces more on a loaded surface",
       [](Domain& d) {
         d.add_surface("ymax", std::vector<ElementFace>{{1, 3}});
       },
       Cost::nothing},
      {"loads and supports at once",
       [](Domain& d) {
         d.clear_loads();
         d.add_load_case("push").pressure("xmax", 5).gravity("", {0, 0, -500});
         clamp(d, 0);
         d.prescribe_at(30, "uz", 0.01);
       },
       Cost::matrix},
      {"temperatures as a load", [](Domain& d) { d.add_load_case("warm").temperature("zmax", 80); }, Cost::nothing},
      {"other temperatures",
       [](Domain& d) {
         d.clear_loads();
         d.add_load_case("warm").temperature("zmax", 20);
       },
       Cost::nothing},
      {"a block between nodes that had nothing in common",
       [](Domain& d) {
         auto& bars = d.add_block("bars", "truss");
         bars.set_material(steel());
         bars.set_section("area", 3);
         bars.add(1001, {1, 72});
         bars.add(1002, {6, 67});
       },
       // A device has copies of the nodes that its elements needed, and may lack those of new ones.
       devices > 1 ? Cost::model : Cost::matrix},
      {"an element more in a block",
       [](Domain& d) {
         d.block("bars").add(1003, {12, 61});
       },
       Cost::model},
      {"another material", [](Domain& d) { d.block("bars").set_material(steel()); }, Cost::model},
      {"an equation",
       [](Domain& d) {
         d.add_equation({{70, "uy", 1}, {71, "uy", -1}}, 0.001);
       },
       Cost::model},
      {"other supports beside an equation", [](Domain& d) { clamp(d, 0.03); }, Cost::model},
      {"values of supports beside an equation", [](Domain& d) { clamp(d, 0.04); }, Cost::nothing},
      {"nodal loads beside an equation", [](Domain& d) { d.add_load_case("nodal").nodal("ymax", "uz", 2); },
       Cost::nothing},
      {"a node moved",
       [](Domain& d) {
         d.move_node(30, {2.1, 1.1, 1.05});
       },
       Cost::model},
  };
}

std::vector<Change> changes_of_heat() {
  return {
      {"values",
       [](Domain& d) {
         d.clear_supports();
         d.prescribe("xmin", "T", 35);
       },
       Cost::nothing},
      {"another film",
       [](Domain& d) {
         d.clear_loads();
         d.add_load_case("air").film("ymax", 2, 10).inflow("zmax", 4);
       },
       Cost::matrix},
      {"no film",
       [](Domain& d) {
         d.clear_loads();
         d.add_load_case("in").inflow("xmax", 30).source("", 2);
       },
       Cost::matrix},
      {"more inflow", [](Domain& d) { d.add_load_case("more").inflow("zmin", 3); }, Cost::nothing},
      {"a block more",
       [](Domain& d) {
         auto& twice = d.add_block("twice", "heat.hex8");
         twice.set_material(steel());
         std::vector<Id> nodes;
         for (const std::int32_t n : d.block(0).nodes(8)) nodes.push_back(d.node_id(n));
         twice.add(2000, nodes);
       },
       Cost::matrix},
  };
}

struct Changes : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Conformance, Changes, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

TEST_P(Changes, OfSolidsGiveTheAnswerOfANewAnalysis) {
  const int devices = Backend::open(GetParam())->devices();
  std::vector<Set> sets{{"direct", "csr"}, {"cg+jacobi", "matrix-free"}};
  if (!is_slow(GetParam()))
    for (const Set& more : {Set{"cg+block-jacobi", "bsr"}, Set{"cg+amg", "bsr"}, Set{"cg+jacobi", "element"}})
      sets.push_back(more);
  for (const Set& set : sets) {
    Domain d;
    add_box(d, "solid.hex8");
    clamp(d, 0.01);
    d.add_load_case("push").traction("ymax", {3, 1, -2});
    follow(GetParam(), set, d, changes_of_solids(devices));
    if (HasFatalFailure()) return;
  }
}

TEST_P(Changes, OfHeatGiveTheAnswerOfANewAnalysis) {
  for (const Set& set : {Set{"direct", "csr"}, Set{"cg+jacobi", "bsr"}, Set{"cg+jacobi", "matrix-free"}}) {
    Domain d;
    add_box(d, "heat.hex8");
    d.prescribe("xmin", "T", 20);
    d.add_load_case("air").film("xmax", 5, 80);
    follow(GetParam(), set, d, changes_of_heat());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Changes, OfTemperaturesGiveAnotherMatrixWhereStiffnessFollowsThem) {
  const std::vector<Change> changes{
      {"warmer",
       [](Domain& d) {
         d.clear_loads();
         d.add_load_case("warm").temperature("zmax", 90);
       },
       Cost::matrix},
      {"cold", [](Domain& d) { d.clear_loads(); }, Cost::matrix},
      {"pulled", [](Domain& d) { clamp(d, 0.02); }, Cost::nothing},
  };
  for (const Set& set : {Set{"direct", "csr"}, Set{"cg+jacobi", "matrix-free"}}) {
    Domain d;
    add_box(d, "solid.hex8");
    auto soft = std::make_shared<IsotropicMaterial>("soft", 210e3, 0.3, 7.85e-3, 1.2e-5);
    soft->set_table("young", {{0, 210e3}, {100, 100e3}});
    d.block(0).set_material(soft);
    clamp(d, 0.01);
    d.add_load_case("warm").temperature("zmax", 50);
    follow(GetParam(), set, d, changes);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Changes, OfAModelMakeItsOperatorsRefuse) {
  Domain d;
  add_box(d, "solid.hex8");
  clamp(d, 0);
  const auto analysis = make_static_analysis(d, Backend::open(GetParam()));
  const AnalysisModel& model = analysis->model();
  Backend& backend = model.backend();
  const auto elements = backend.make_element_operator(model.device_model(), ElementProduct::matrix_free);
  backend.assemble(model.device_model(), ElementState{}, MatrixTerms{}, *elements);
  Vector x = model.make_vector(), y = model.make_vector();
  backend.fill(x, 1.0);
  elements->apply(x, y);
  d.prescribe("ymin", "uy");
  ASSERT_EQ(&analysis->model(), &model);
  EXPECT_THROW(elements->apply(x, y), Error);
  EXPECT_THROW(backend.assemble(model.device_model(), ElementState{}, MatrixTerms{}, *elements), Error);
}

TEST_P(Changes, ThatAreWrongLeaveTheModelAsItWas) {
  Domain d;
  add_box(d, "solid.hex8");
  clamp(d, 0.01);
  const auto analysis = make_static_analysis(d, Backend::open(GetParam()));
  const StepResult before = analysis->run().back();
  d.add_load_case("wrong").nodal("zmax", "T", 3);
  EXPECT_THROW(analysis->run(), Error);
  EXPECT_THROW(analysis->run(), Error);  // not only once
  d.clear_loads();
  expect_same(analysis->run().back(), before, "wrong load taken off");
  d.prescribe("xmax", "ux", 0.5);  // contradicts the support that is there
  EXPECT_THROW(analysis->run(), Error);
  clamp(d, 0.01);
  expect_same(analysis->run().back(), before, "contradiction taken off");
  d.clear_supports();
  d.prescribe("xmin", "ux");
  EXPECT_THROW(analysis->run(), Error);  // free to move, which is found again although the model is known
  clamp(d, 0.01);
  expect_same(analysis->run().back(), before, "supports as before");
}

/// A spring whose stiffness nobody tells the framework of when it changes.
class SoftSpring : public HostElement {
 public:
  explicit SoftSpring(std::shared_ptr<double> stiffness) : stiffness_(std::move(stiffness)) {}
  int nodes() const override { return 1; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  void tangent(const HostElementData&, std::span<double> k) const override { k[0] = k[4] = k[8] = *stiffness_; }
  bool linear() const override { return true; }

 private:
  std::shared_ptr<double> stiffness_;
};

TEST_P(Changes, OfAHostElementAreSeenByTheNextRun) {
  const auto stiffness = std::make_shared<double>(100);
  const std::string type = "soft_spring_" + test_name(GetParam());
  register_host_element(type, "", std::make_shared<SoftSpring>(stiffness));
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_block("springs", type).add(1, {1});
  d.add_load_case("pull").nodal_at(1, "uy", 50);
  const auto analysis = make_static_analysis(d, Backend::open(GetParam()));
  EXPECT_NEAR(analysis->run().back().unknowns.values[1], 0.5, 1e-12);
  *stiffness = 25;
  EXPECT_NEAR(analysis->run().back().unknowns.values[1], 2.0, 1e-12);
}

}  // namespace
}  // namespace voussoir::conformance
