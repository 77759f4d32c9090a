#include <gtest/gtest.h>

#include <memory>

#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "answers.hpp"
#include "backends_under_test.hpp"

namespace voussoir::conformance {
namespace {

/// Every element type of the library that fills a box, under every kind of number that it may ask for.
std::vector<std::string> box_types() {
  std::vector<std::string> names;
  for (const ElementType* type : ElementLibrary::instance().all()) {
    const std::string& name = type->name();
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || ElementLibrary::instance().origin(name) != "built in") continue;
    const std::string physics = name.substr(0, dot);
    bool load = false;
    for (const char* kind : {"pressure", "traction", "flux", "convection", "radiation"})
      load = load || physics.ends_with(kind);
    if (!load) names.push_back(name);
  }
  return names;
}

std::shared_ptr<Material> everything() {
  auto m = std::make_shared<Material>("everything");
  m->set_table("young", {{0, 210e3}, {100, 200e3}, {500, 150e3}}).set("poisson", 0.3).set("density", 7.85);
  m->set_table("expansion", {{0, 1e-5}, {500, 1.5e-5}})
      .set_table("conductivity", {{0, 50}, {300, 40}})
      .set("specific_heat", 460);
  m->set("E1", 10e3).set_table("E2", {{0, 140e3}, {200, 100e3}}).set("E3", 12e3);
  m->set("nu12", 0.02).set("nu13", 0.3).set("nu23", 0.25).set("G12", 5e3).set("G13", 4e3).set("G23", 5e3);
  const char* const pairs[] = {"11", "22", "33", "12", "13", "23"};
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i <= j; ++i)
      m->set(std::string("D") + pairs[i] + pairs[j], i == j ? 60e3 + 7e3 * i : 2e3 * (i + 1) - 1e3 * j);
  m->set("yield1", 900);  // which the largest displacements of finite_ types exceed at some points
  for (int k = 1; k <= 16; ++k) {
    m->set("hardening" + std::to_string(k), 2e4 / k);
    if (k > 1) m->set("strain" + std::to_string(k), 1e-3 * (k - 1));
  }
  m->set("expansion1", 3e-5).set("expansion2", 1e-6).set("expansion3", 2e-5).set("k1", 1).set("k2", 20).set("k3", 3);
  return m;
}

/// A box of six elements of a type, under loads of all kinds.
void build_box(const std::string& type, Domain& d) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {3, 2, 1};
  mesh.lower = {1, 0, 0};
  mesh.upper = {4, 2, 1};
  mesh.distortion = 0.15;
  auto& block = add_box_mesh(d, mesh);
  block.set_material(everything());
  const bool solid = type.find("plane") == std::string::npos && type.find("axisymmetric") == std::string::npos;
  block.set_orientation(solid ? Orientation::cylindrical({0, -1, 0}, {0, -1, 1})
                              : Orientation::rectangular({1, 0.5, 0}, {0, 1, 0}));
  const bool heat = type.find("heat") != std::string::npos;
  d.prescribe("xmin", "all");
  auto& load_case = d.add_load_case("all");
  if (heat) {
    load_case.heat_flux("xmax", 3).convection("ymax", 5, 20).heat_source("", 7);
  } else {
    std::vector<double> t;
    for (std::int32_t n = 0; n < d.node_count(); ++n)
      t.push_back(30 * d.coordinates()[3 * n] + 50 * d.coordinates()[3 * n + 1]);
    load_case.temperature_field(t).pressure("xmax", 3).traction("ymax", {1, 2, 0}).gravity("", {0, -9.81, 0});
  }
}

/// Backends, and element types on each.
struct ElementTypes : ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ElementTypes, AgreeWithTheOracle) {
  const auto& [backend, type] = GetParam();
  Domain d;
  build_box(type, d);
  const double largest = type.find("finite_") != std::string::npos ? 0.05 : 1;
  expect_alike(services(d, Backend::open(backend), true, largest), services(d, Backend::open(oracle), true, largest),
               1e-12);
}

// 7 physics and their orthotropic twins, on 4 plane or 6 solid shapes, some in several formulations.
TEST(ElementTypesUnderTest, AreAllOfTheLibrary) { EXPECT_GE(box_types().size(), 80u); }

INSTANTIATE_TEST_SUITE_P(Conformance, ElementTypes,
                         ::testing::Combine(::testing::ValuesIn(single_emulated_backend()),
                                            ::testing::ValuesIn(box_types())),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + "_" + test_name(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace voussoir::conformance
