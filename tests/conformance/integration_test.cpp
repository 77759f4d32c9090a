#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "backends_under_test.hpp"
#include "support/expect_error.hpp"

// Ways of integrating element matrices: where a backend has several, they give the same matrices and name the same
// faults.

namespace voussoir::conformance {
namespace {

using voussoir::testing::expect_error;

/// The ways that a backend has; `automatic` is not among them.
std::vector<Integration> ways_of(Backend& backend) {
  std::vector<Integration> ways;
  for (const Integration way : {Integration::thread, Integration::block, Integration::blocks, Integration::pairs}) {
    WorkChoices choices;
    choices.integration = way;
    try {
      backend.choose(choices);
      ways.push_back(way);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable) << error.what();
    }
  }
  return ways;
}
void choose(Backend& backend, Integration way) {
  WorkChoices choices;
  choices.integration = way;
  backend.choose(choices);
}

/// Of every shape, formulation and kind of law at least one.
constexpr const char* element_types[] = {"solid.hex8",
                                         "solid.hex8.full",
                                         "solid.hex8.reduced",
                                         "solid.hex8.bbar",
                                         "solid.hex20",
                                         "solid.hex20.reduced",
                                         "solid.tet4",
                                         "solid.tet10",
                                         "solid.wedge6",
                                         "solid.wedge15",
                                         "orthotropic_solid.hex8",
                                         "orthotropic_solid.hex8.bbar",
                                         "polar_orthotropic_solid.hex8.full",
                                         "heat.hex8",
                                         "orthotropic_heat.tet10",
                                         "plane_stress.tri3",
                                         "plane_stress.tri6",
                                         "plane_stress.quad4",
                                         "plane_stress.quad4.full",
                                         "orthotropic_plane_stress.quad8",
                                         "plane_strain.quad4.bbar",
                                         "plane_heat.quad4",
                                         "axisymmetric.quad4",
                                         "axisymmetric.quad4.full",
                                         "axisymmetric.quad4.reduced",
                                         "axisymmetric.quad4.bbar",
                                         "orthotropic_axisymmetric.quad8",
                                         "axisymmetric_heat.quad8"};

std::shared_ptr<Material> everything(bool varies) {
  auto m = std::make_shared<Material>("everything");
  m->set("young", 210e3).set("poisson", 0.3).set("density", 7.85).set("expansion", 1e-5).set("conductivity", 50);
  m->set("E1", 10e3).set("E2", 140e3).set("E3", 12e3).set("specific_heat", 460);
  m->set("nu12", 0.02).set("nu13", 0.3).set("nu23", 0.25).set("G12", 5e3).set("G13", 4e3).set("G23", 5e3);
  m->set("expansion1", 3e-5).set("expansion2", 1e-6).set("expansion3", 2e-5).set("k1", 1).set("k2", 20).set("k3", 3);
  if (varies)
    m->set_table("young", {{0, 210e3}, {200, 100e3}})
        .set_table("E2", {{0, 140e3}, {200, 100e3}})
        .set_table("conductivity", {{0, 50}, {300, 40}})
        .set_table("k2", {{0, 20}, {300, 10}});
  return m;
}

/// A box of one element type; where cells are whole elements, of more than stand side by side on a device.
void build(Domain& d, const std::string& type, bool varies) {
  BoxMesh mesh;
  mesh.type = type;
  const bool plane = type.find("plane") != std::string::npos || type.find("axisymmetric") != std::string::npos;
  const bool many = type.find("hex8") != std::string::npos;
  mesh.cells = plane ? std::array<int, 3>{7, 5, 1} : std::array<int, 3>{many ? 35 : 2, 1, 1};
  mesh.lower = {1, 0, 0};
  mesh.upper = {many ? 8.0 : 4.0, 2, 1};
  mesh.distortion = 0.15;
  auto& block = add_box_mesh(d, mesh);
  block.set_material(everything(varies));
  block.set_orientation(plane ? Orientation::rectangular({1, 0.5, 0}, {0, 1, 0})
                              : Orientation::cylindrical({0, -1, 0}, {0, -1, 1}));
  d.prescribe("xmin", "all");
}

/// 0.5 K + 1000 M of a model, assembled as often as asked for in the way that its backend was last told.
class Mixture {
 public:
  Mixture(const Domain& d, const std::shared_ptr<Backend>& backend)
      : model_(d, backend, TransformationHandler(), PlainNumberer()),
        unknowns_(model_.make_vector()),
        csr_(backend->make_matrix(model_.device_model(), 1)) {
    backend->fill(unknowns_, 0);
    if (!model_.is_thermal()) return;
    std::vector<double> values(static_cast<std::size_t>(model_.equation_count()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 150 + 100 * std::sin(static_cast<double>(i));
    unknowns_.from_host(values);
    temperature_ = model_.temperatures_from(unknowns_);
  }
  std::vector<double> assembled() {
    MatrixTerms terms;
    terms.stiffness = 0.5;
    terms.mass = 1000;
    ElementState state(unknowns_);
    state.temperature = temperature_;
    model_.translating([&] { model_.backend().assemble(model_.device_model(), state, terms, *csr_); });
    return csr_->to_host().value;
  }

 private:
  AnalysisModel model_;
  Vector unknowns_;
  std::shared_ptr<const NodalValues> temperature_;
  std::unique_ptr<SparseMatrix> csr_;
};

void expect_alike(const std::vector<double>& values, const std::vector<double>& reference) {
  ASSERT_EQ(values.size(), reference.size());
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(reference[i]));
    const double d = std::abs(values[i] - reference[i]);
    difference = std::isnan(d) ? d : std::max(difference, d);
  }
  EXPECT_LE(difference, 1e-12 * largest);
}

struct Integrations : ::testing::TestWithParam<std::string> {
  std::shared_ptr<Backend> backend = Backend::open(GetParam());
  std::vector<Integration> ways = ways_of(*backend);
};

#define VSR_SKIP_WITHOUT_WAYS() \
  if (ways.empty()) GTEST_SKIP() << GetParam() << " integrates in one way"

TEST_P(Integrations, AllWaysGiveTheSameMatrices) {
  VSR_SKIP_WITHOUT_WAYS();
  ways.push_back(Integration::automatic);
  const auto one = Backend::open(oracle);
  for (const char* type : element_types) {
    SCOPED_TRACE(type);
    Domain d;
    build(d, type, false);
    const std::vector<double> reference = Mixture(d, one).assembled();
    Mixture mixture(d, backend);
    for (const Integration way : ways) {
      SCOPED_TRACE(to_string(way));
      choose(*backend, way);
      expect_alike(mixture.assembled(), reference);
    }
  }
}

TEST_P(Integrations, AllWaysFollowAMaterialThatVaries) {
  VSR_SKIP_WITHOUT_WAYS();
  ways.push_back(Integration::automatic);
  const auto one = Backend::open(oracle);
  for (const char* type : {"solid.hex8", "solid.hex8.full", "solid.hex8.bbar", "orthotropic_solid.tet10",
                           "plane_stress.quad4.full", "axisymmetric.quad8", "heat.hex20", "plane_heat.tri3"}) {
    SCOPED_TRACE(type);
    Domain d;
    build(d, type, true);
    std::vector<double> t;
    for (std::int32_t n = 0; n < d.node_count(); ++n)
      t.push_back(30 * d.coordinates()[3 * n] + 50 * d.coordinates()[3 * n + 1]);
    if (std::string(type).find("heat") == std::string::npos) d.add_load_case("warm").temperature_field(t);
    const std::vector<double> reference = Mixture(d, one).assembled();
    Mixture mixture(d, backend);
    for (const Integration way : ways) {
      SCOPED_TRACE(to_string(way));
      choose(*backend, way);
      expect_alike(mixture.assembled(), reference);
    }
  }
}

struct IntegrationsAgain : Integrations {};

TEST_P(IntegrationsAgain, AllWaysGiveTheSameBits) {
  VSR_SKIP_WITHOUT_WAYS();
  for (const char* type : {"solid.hex8", "solid.hex8.full", "solid.hex20", "plane_stress.quad4.full"}) {
    SCOPED_TRACE(type);
    Domain d;
    build(d, type, false);
    Mixture mixture(d, backend);
    for (const Integration way : ways) {
      SCOPED_TRACE(to_string(way));
      choose(*backend, way);
      const std::vector<double> first = mixture.assembled();
      EXPECT_EQ(mixture.assembled(), first);
    }
  }
}

TEST_P(Integrations, AllWaysNameTheLowestFaultyElement) {
  VSR_SKIP_WITHOUT_WAYS();
  for (const std::string type : {"solid.hex8", "solid.hex8.full", "solid.hex8.bbar", "solid.hex8.reduced"}) {
    SCOPED_TRACE(type);
    Domain d;
    build(d, type, false);
    const auto count = static_cast<std::size_t>(d.block(0).size());
    std::vector<double> young(count, 1000.0), density(count, 1.0);
    young[33] = young[34] = -1;
    d.block(0).set_per_element("young", young);
    density[34] = 1e308;
    d.block(0).set_per_element("density", density);
    Mixture mixture(d, backend);
    for (const Integration way : ways) {
      SCOPED_TRACE(to_string(way));
      choose(*backend, way);
      const std::string first = "element 34 (block 'box', " + type + ")";
      expect_error(ErrorCode::bad_input, {first}, [&] { mixture.assembled(); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, Integrations, ::testing::ValuesIn(single_emulated_backend()),
                         [](const auto& info) { return test_name(info.param); });
INSTANTIATE_TEST_SUITE_P(Conformance, IntegrationsAgain, ::testing::ValuesIn(backends_that_run_at_once()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
