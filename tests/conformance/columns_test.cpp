#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

#include "answers.hpp"
#include "backends_under_test.hpp"
#include "models.hpp"

namespace voussoir::conformance {
namespace {

// Blocks of vectors where nothing is stored: backends take several columns at once, as many as suit them and the
// element, and every column must come out as if it were alone.

/// Entry i of column c: numbers that repeat late, and no column like another.
double entry(std::size_t i, int c) { return std::sin(0.37 * static_cast<double>(i) + 1.3 * c) + 0.1 * c; }

void expect_columns_alone(const AnalysisModel& model, const Operator& matrix, int columns) {
  SCOPED_TRACE(std::to_string(columns) + " columns");
  const auto n = static_cast<std::size_t>(model.equation_count());
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> block(n * width);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < columns; ++c) block[i * width + static_cast<std::size_t>(c)] = entry(i, c);
  Vector xs = model.make_vector(columns), ys = model.make_vector(columns), again = model.make_vector(columns);
  xs.from_host(block);
  matrix.apply(xs, ys);
  const double dot = matrix.apply_dot(xs, again);
  Answers together, alone;
  together.numbers["with x·y"] = again.to_host();
  alone.numbers["with x·y"] = ys.to_host();
  const std::vector<double> found = ys.to_host();
  Vector x = model.make_vector(), y = model.make_vector();
  std::vector<double> one(n);
  double sum = 0;
  for (int c = 0; c < columns; ++c) {
    for (std::size_t i = 0; i < n; ++i) one[i] = entry(i, c);
    x.from_host(one);
    sum += matrix.apply_dot(x, y);
    const std::string name = "column " + std::to_string(c);
    alone.numbers[name] = y.to_host();
    for (std::size_t i = 0; i < n; ++i)
      together.numbers[name].push_back(found[i * width + static_cast<std::size_t>(c)]);
  }
  together.numbers["sum"] = {dot};
  alone.numbers["sum"] = {sum};
  expect_alike(together, alone, 1e-13);
}

/// The stiffness alone, and with some mass, which some backends treat otherwise.
void expect_columns_alone(const Domain& domain, const std::shared_ptr<Backend>& backend) {
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  MatrixTerms stiffness, mixture;
  mixture.stiffness = 0.5;
  mixture.mass = 10;
  for (const MatrixTerms& terms : {stiffness, mixture}) {
    SCOPED_TRACE(terms.mass == 0 ? "stiffness" : "stiffness and mass");
    const auto matrix = backend->make_element_operator(model.device_model(), ElementProduct::matrix_free);
    backend->assemble(model.device_model(), nullptr, terms, *matrix);
    for (const int columns : {2, 3, 4, 6}) expect_columns_alone(model, *matrix, columns);
  }
}

/// A distorted box, clamped at one end, of more elements than a GPU does in one block of threads.
void build_box(const std::string& type, Domain& domain) {
  const bool plane = type.find("plane") != std::string::npos || type.find("axisymmetric") != std::string::npos;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {plane ? 13 : 7, plane ? 11 : 5, plane ? 1 : 4};
  mesh.lower = {1, 0, 0};
  mesh.upper = {3, 1, 1.5};
  mesh.distortion = 0.15;
  auto material = std::make_shared<IsotropicMaterial>("material", 1000, 0.3);
  material->set("density", 2).set("conductivity", 50).set("specific_heat", 3);
  add_box_mesh(domain, mesh).set_material(material);
  domain.prescribe("xmin", "all");
}

struct Columns : ::testing::TestWithParam<std::string> {};

TEST_P(Columns, OfEveryModelAreThoseOfSingleVectors) {
  const auto backend = Backend::open(GetParam());
  for (const TestModel& model : test_models()) {
    SCOPED_TRACE(model.name);
    Domain domain;
    model.build(domain);
    expect_columns_alone(domain, backend);
  }
}

TEST_P(Columns, OfEveryFormulationAreThoseOfSingleVectors) {
  const auto backend = Backend::open(GetParam());
  for (const char* type : {"solid.hex8.full", "solid.hex8", "solid.hex8.bbar", "solid.hex8.reduced", "solid.tet4",
                           "solid.tet10", "solid.wedge6", "solid.hex20", "heat.hex8", "heat.tet4",
                           "plane_stress.quad4.full", "plane_strain.quad8", "axisymmetric.quad4.full"}) {
    SCOPED_TRACE(type);
    Domain domain;
    build_box(type, domain);
    expect_columns_alone(domain, backend);
  }
}

TEST_P(Columns, SummedInAnyOrderAreThoseOfSingleVectors) {
  const auto backend = Backend::open(GetParam());
  WorkChoices any_order;
  any_order.deterministic = false;
  try {
    backend->choose(any_order);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    GTEST_SKIP() << "this backend sums in one order";
  }
  for (const char* type : {"solid.hex8.full", "solid.tet10", "plane_stress.quad4"}) {
    SCOPED_TRACE(type);
    Domain domain;
    build_box(type, domain);
    expect_columns_alone(domain, backend);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, Columns, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
