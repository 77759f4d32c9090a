#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

#include "answers.hpp"
#include "backends_under_test.hpp"
#include "models.hpp"

// Stored matrices where they are special: very long rows, halves of symmetric ones, blocks of many vectors, and ways of
// assembling that a user may insist on.

namespace voussoir::conformance {
namespace {

std::vector<double> wave(std::size_t count, double step) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(step * static_cast<double>(i + 1));
  return values;
}

/// Bars from hubs to as many nodes as `sizes` says, and from hub to hub.
void fans(Domain& d, std::initializer_list<int> sizes) {
  Id id = 1, element = 1;
  std::vector<Id> hubs;
  auto& bars = d.add_block("bars", "truss");
  bars.set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3)).set_section("area", 0.5);
  for (const int size : sizes) {
    const double x = 10.0 * static_cast<double>(hubs.size());
    hubs.push_back(id);
    d.add_node(id++, x, 0, 5);
    for (int i = 0; i < size; ++i) {
      d.add_node(id, x + std::cos(0.01 * i), std::sin(0.01 * i), 0.1 * (i % 7));
      bars.add(element++, {hubs.back(), id++});
    }
  }
  for (std::size_t i = 1; i < hubs.size(); ++i) bars.add(element++, {hubs[i - 1], hubs[i]});
  d.add_node_set("held", {2, 3, 4});
  d.prescribe("held", "all");
}

Answers matrix_answers(const Domain& domain, const std::shared_ptr<Backend>& backend, int block_size,
                       std::initializer_list<int> columns) {
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const std::vector<double> cases(domain.load_case_count(), 1.0), factors = model.batch_factors(cases);
  const DeviceModel& device = model.device_model();
  auto matrix = backend->make_matrix(device, block_size == 0 ? device.uniform_components() : block_size);
  MatrixTerms terms;
  terms.batch_factors = factors;
  backend->assemble(device, nullptr, terms, *matrix);
  const HostMatrix host = matrix->to_host();
  Answers a;
  a.numbers["rows"].assign(host.row_start.begin(), host.row_start.end());
  a.numbers["columns"].assign(host.column.begin(), host.column.end());
  a.numbers["values"] = host.value;
  for (const int count : columns) {
    const std::string name = std::to_string(count) + " columns";
    Vector x = model.make_vector(count), y = model.make_vector(count);
    x.from_host(wave(static_cast<std::size_t>(x.size()) * static_cast<std::size_t>(count), 0.7));
    matrix->apply(x, y);
    a.numbers[name] = y.to_host();
    a.numbers[name + ", x·Ax"] = {matrix->apply_dot(x, y)};
  }
  return a;
}

struct MatrixOn : ::testing::TestWithParam<std::string> {};

void expect_oracles_matrix(const std::string& specification, const Domain& domain, std::initializer_list<int> columns) {
  for (const int block_size : {1, 3}) {
    SCOPED_TRACE(block_size);
    const auto ask = [&](const std::string& one) {
      return matrix_answers(domain, Backend::open(one), block_size, columns);
    };
    expect_alike(ask(specification), ask(oracle), 1e-12);
  }
}

TEST_P(MatrixOn, LongRows) {
  Domain domain;
  fans(domain, {4200, 300, 40, 700});
  expect_oracles_matrix(GetParam(), domain, {1, 4});
}

TEST_P(MatrixOn, ManyColumns) {
  Domain domain;
  fans(domain, {100, 40, 70});
  expect_oracles_matrix(GetParam(), domain, {1, 2, 4, 7, 13, 45});
}

/// Of a symmetric matrix half is enough, on a GPU where it is large.
TEST_P(MatrixOn, HalfIsStoredOfLargeOnes) {
  const bool gpu = GetParam().starts_with("cuda");
  struct Mesh {
    const char* type;
    std::array<int, 3> cells, many_cells;
  };
  for (const Mesh& m : {Mesh{"solid.hex8", {13, 9, 7}, {45, 41, 40}}, Mesh{"solid.hex20", {5, 5, 4}, {30, 24, 24}},
                        Mesh{"plane_stress.quad4", {30, 27, 1}, {700, 500, 1}}}) {
    SCOPED_TRACE(m.type);
    Domain domain;
    BoxMesh mesh;
    mesh.type = m.type;
    mesh.cells = gpu ? m.many_cells : m.cells;
    mesh.distortion = 0.2;
    auto& block = add_box_mesh(domain, mesh);
    block.set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
    if (mesh.cells[2] == 1) block.set_section("thickness", 0.1);
    domain.prescribe("xmin", "all");
    const auto end = domain.node_set("xmax");  // a part of the end stays plane
    for (std::size_t i = 1; i < std::min<std::size_t>(end.size(), 8); ++i)
      domain.add_equation({{end[i] + 1, "ux", 1.0}, {end[0] + 1, "ux", -1.0}}, 0.0);
    const auto ask = [&](const std::string& specification) {
      return matrix_answers(domain, Backend::open(specification), 0, {1, 3, 4, 7});
    };
    expect_alike(ask(GetParam()), ask(oracle), 1e-12);
    const AnalysisModel model(domain, Backend::open(GetParam()), TransformationHandler(), PlainNumberer());
    const auto matrix = model.backend().make_matrix(model.device_model(), model.device_model().uniform_components());
    // Of large plane meshes too much would be handed over: whole rows are faster there.
    if (gpu && mesh.cells[2] == 1) continue;
    EXPECT_NE(matrix->describe().find("symmetric half"), std::string::npos) << matrix->describe();
  }
}

TEST_P(MatrixOn, EveryWayOfAssemblingGivesTheSame) {
  const auto backend = Backend::open(GetParam());
  WorkChoices any_order, on_host;
  any_order.deterministic = false;
  on_host.assembly = Assembly::host;
  int ways = 0;
  for (const WorkChoices& choices : {any_order, on_host}) {
    try {
      backend->choose(choices);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      continue;
    }
    ++ways;
    for (const TestModel& model : test_models()) {
      SCOPED_TRACE(model.name);
      Domain domain;
      model.build(domain);
      const int block_size = model.uniform ? 0 : 1;
      backend->choose(choices);
      const Answers chosen = matrix_answers(domain, backend, block_size, {1});
      backend->choose({});
      expect_alike(chosen, matrix_answers(domain, backend, block_size, {1}), 1e-12);
    }
  }
  if (ways == 0) GTEST_SKIP() << "this backend has one way of assembling";
}

TEST_P(MatrixOn, SumsInAnyOrderMultiplyAlike) {
  const auto backend = Backend::open(GetParam());
  WorkChoices any_order;
  any_order.deterministic = false;
  try {
    backend->choose(any_order);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    GTEST_SKIP() << "this backend sums in one order";
  }
  const auto compare = [&](const Domain& domain) {
    backend->choose(any_order);
    const Answers chosen = element_products(domain, backend);
    backend->choose({});
    expect_alike(chosen, element_products(domain, backend), 1e-12);
  };
  for (const TestModel& model : test_models()) {
    SCOPED_TRACE(model.name);
    Domain domain;
    model.build(domain);
    compare(domain);
  }
  // Of more elements than one block of threads does: nodes between them are where the order is open.
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex8.full";
  mesh.cells = {9, 8, 4};
  mesh.distortion = 0.2;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
  domain.prescribe("xmin", "all");
  domain.prescribe("ymin", "uy");
  compare(domain);
}

INSTANTIATE_TEST_SUITE_P(Conformance, MatrixOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
