#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <voussoir/backends/projection_services.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

#include "answers.hpp"
#include "backends_under_test.hpp"
#include "models.hpp"
#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

// XᵀAX on every backend, against products of single vectors whose dot products are taken here.

namespace voussoir::conformance {
namespace {

/// Entry i of column c: numbers that repeat late, and no column like another.
double entry(std::size_t i, int c) {
  return std::sin(0.37 * static_cast<double>(i) + 1.3 * c) + 0.1 * std::cos(2.0 * c);
}

std::vector<double> block_of(const AnalysisModel& model, int columns) {
  const auto n = static_cast<std::size_t>(model.equation_count()), width = static_cast<std::size_t>(columns);
  std::vector<double> block(n * width);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < columns; ++c) block[i * width + static_cast<std::size_t>(c)] = entry(i, c);
  return block;
}

/// XᵀAX from products of A with one column at a time, for the columns that `which` names.
std::vector<double> naive(const AnalysisModel& model, const Operator& a, const std::vector<double>& block,
                          int columns) {
  const auto n = static_cast<std::size_t>(model.equation_count()), width = static_cast<std::size_t>(columns);
  std::vector<double> result(width * width, 0.0), one(n);
  Vector x = model.make_vector(), y = model.make_vector();
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t i = 0; i < n; ++i) one[i] = block[i * width + c];
    x.from_host(one);
    a.apply(x, y);
    const std::vector<double> product = y.to_host();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t b = 0; b < width; ++b) result[b * width + c] += block[i * width + b] * product[i];
  }
  return result;
}

void expect_close(const std::vector<double>& found, const std::vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    difference = std::isfinite(found[k]) ? std::max(difference, std::abs(found[k] - expected[k])) : HUGE_VAL;
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(difference, tolerance * largest);
}

void expect_symmetric(const std::vector<double>& matrix, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      ASSERT_EQ(matrix[static_cast<std::size_t>(i * n + j)], matrix[static_cast<std::size_t>(j * n + i)]);
}

std::vector<double> projected(Backend& backend, const Operator& a, const Vector& x) {
  std::vector<double> result(static_cast<std::size_t>(x.columns() * x.columns()), NAN);
  backend.service<ProjectionServices>().project(a, x, result);
  return result;
}

/// The projection of an operator is right, symmetric and the same in a second run.
void expect_projection(const AnalysisModel& model, const Operator& a, int columns, bool symmetric = true) {
  SCOPED_TRACE(a.describe() + ", " + std::to_string(columns) + " columns");
  const std::vector<double> block = block_of(model, columns);
  Vector x = model.make_vector(columns);
  x.from_host(block);
  const std::vector<double> found = projected(model.backend(), a, x);
  expect_close(found, naive(model, a, block, columns));
  if (symmetric) expect_symmetric(found, columns);
  EXPECT_EQ(found, projected(model.backend(), a, x));
}

/// A distorted box, clamped at one end.
void build_box(const std::string& type, std::array<int, 3> cells, Domain& domain) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = cells;
  mesh.upper = {2, 1, 1.5};
  mesh.distortion = 0.15;
  auto material = std::make_shared<IsotropicMaterial>("material", 1000, 0.3);
  material->set("density", 2).set("conductivity", 50).set("specific_heat", 3);
  add_box_mesh(domain, mesh).set_material(material);
  domain.prescribe("xmin", "all");
}

void add_conditions(Domain& domain) {
  const auto end = domain.node_set("xmax");
  const auto id = [&](std::size_t k) { return domain.node_id(end[k]); };
  domain.add_equation({{id(0), "ux", 1}, {id(3), "ux", -0.5}, {id(5), "uy", -0.25}});
  domain.add_equation({{id(1), "uz", 1}, {id(6), "uz", -1}});
  domain.prescribe_along(id(2), {1, 2, 0.5});
  domain.prescribe_along(id(7), {0, 1, -1});
}

std::unique_ptr<ElementOperator> stored(const AnalysisModel& model, ElementProduct product, const MatrixTerms& terms,
                                        OperatorEquations equations = OperatorEquations::free) {
  auto matrix = model.backend().make_element_operator(model.device_model(), product, equations);
  model.backend().assemble(model.device_model(), nullptr, terms, *matrix);
  return matrix;
}

/// A source that forgets all but its first group.
class FirstGroup final : public ElementMatrixSource {
 public:
  FirstGroup(Backend& backend, const DeviceModel& model) : store_(backend, model, nullptr, {}, 1) {}
  void rewind() override {
    store_.rewind();
    given_ = false;
  }
  bool next(ElementMatrixGroup& group) override { return !std::exchange(given_, true) && store_.next(group); }
  std::int64_t largest_group_bytes() const override { return store_.largest_group_bytes(); }

 private:
  ElementMatrixStore store_;
  bool given_ = false;
};

struct Projection : ::testing::TestWithParam<std::string> {
  std::shared_ptr<Backend> backend = Backend::open(GetParam());
  /// Whether the device is one that computes by itself, so that models may be large.
  bool is_device() const { return GetParam().starts_with("cuda"); }
};

TEST_P(Projection, OfElementMatricesIsThatOfSingleVectors) {
  for (const char* type :
       {"solid.hex8.full", "solid.hex20", "solid.tet10", "solid.tet4", "heat.hex8", "solid.wedge6"}) {
    SCOPED_TRACE(type);
    Domain domain;
    build_box(type, {4, 3, 3}, domain);
    const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
    const auto gather = stored(model, ElementProduct::gather, {});
    for (const int columns : {1, 5, 27}) expect_projection(model, *gather, columns);
    expect_projection(model, *stored(model, ElementProduct::scatter, {}), 5);
  }
}

TEST_P(Projection, OfManyColumnsIsThatOfSingleVectors) {
  Domain domain;
  build_box("solid.hex8.full", {5, 3, 3}, domain);
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const auto gather = stored(model, ElementProduct::gather, {});
  for (const int columns : {32, 33, 70}) expect_projection(model, *gather, columns);
  Domain quadratic;
  build_box("solid.tet10", {2, 2, 2}, quadratic);
  const AnalysisModel second(quadratic, backend, TransformationHandler(), PlainNumberer());
  expect_projection(second, *stored(second, ElementProduct::gather, {}), 70);
}

TEST_P(Projection, OfEveryModelIsThatOfSingleVectors) {
  MatrixTerms mixture;
  mixture.stiffness = 0.5;
  mixture.mass = 10;
  for (const TestModel& test : test_models()) {
    SCOPED_TRACE(test.name);
    Domain domain;
    test.build(domain);
    const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
    for (const OperatorEquations equations : {OperatorEquations::free, OperatorEquations::all})
      expect_projection(model, *stored(model, ElementProduct::gather, mixture, equations), 5,
                        model.device_model().symmetric());
    expect_projection(model, *stored(model, ElementProduct::scatter, mixture), 5, model.device_model().symmetric());
    expect_projection(model, *stored(model, ElementProduct::matrix_free, mixture), 5, model.device_model().symmetric());
    expect_projection(model, *stored(model, ElementProduct::points, {}), 3, model.device_model().symmetric());
    const auto csr = backend->make_matrix(model.device_model(), 1);
    backend->assemble(model.device_model(), nullptr, mixture, *csr);
    expect_projection(model, *csr, 5, model.device_model().symmetric());
  }
}

TEST_P(Projection, OfStoredMatricesIsThatOfSingleVectors) {
  Domain domain;
  if (is_device())  // GPUs store halves of large matrices only, each device by itself
    build_box("solid.hex8.full", {38 * backend->devices(), 31, 31}, domain);
  else
    build_box("solid.hex8.full", {9, 5, 5}, domain);
  add_conditions(domain);
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const auto matrix = backend->make_matrix(model.device_model(), 3);
  backend->assemble(model.device_model(), nullptr, {}, *matrix);
  // Devices that share a mesh may be better off with whole rows.
  if (backend->devices() == 1 || !is_device()) {
    EXPECT_NE(matrix->describe().find("symmetric half"), std::string::npos) << matrix->describe();
  }
  for (const int columns : {1, 5, 27, 33, 70}) expect_projection(model, *matrix, columns);
}

TEST_P(Projection, OfStoredMatricesOfOtherBlocksIsThatOfSingleVectors) {
  for (const TestModel& test : test_models()) {
    if (!test.uniform) continue;
    SCOPED_TRACE(test.name);
    Domain domain;
    test.build(domain);
    const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
    const auto matrix = backend->make_matrix(model.device_model(), model.device_model().uniform_components());
    backend->assemble(model.device_model(), nullptr, {}, *matrix);
    expect_projection(model, *matrix, 11, model.device_model().symmetric());
  }
}

/// A matrix that nobody knows to be symmetric, since it is not.
TEST_P(Projection, OfAnUnsymmetricMatrixIsNotMadeSymmetric) {
  Domain domain;
  build_box("heat.hex8", {3, 2, 2}, domain);
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const auto symmetric = backend->make_matrix(model.device_model(), 1);
  backend->assemble(model.device_model(), nullptr, {}, *symmetric);
  HostMatrix rows = symmetric->to_host();
  for (std::size_t k = 0; k < rows.value.size(); ++k) rows.value[k] += 0.3 * std::sin(1.7 * static_cast<double>(k));
  const auto matrix = backend->make_matrix(model.device_model().layout(), rows);
  expect_projection(model, *matrix, 6, false);
  Vector x = model.make_vector(2);
  x.from_host(block_of(model, 2));
  const std::vector<double> found = projected(*backend, *matrix, x);
  EXPECT_GT(std::abs(found[1] - found[2]), 1e-6 * std::abs(found[0]));
}

/// With equations and inclined supports, raw element matrices are projected where X is that of all equations.
TEST_P(Projection, OfStreamedMatricesIsThatOfTheOperator) {
  Domain domain;
  build_box("solid.hex8.full", {5, 4, 3}, domain);
  add_conditions(domain);
  auto& other = domain.add_block("second", "solid.tet4");
  other.set_material(std::make_shared<IsotropicMaterial>("other", 500, 0.2));
  const auto end = domain.node_set("xmax");
  domain.add_node(90001, 3, 0.4, 0.5);
  other.add(90001, {domain.node_id(end[0]), domain.node_id(end[5]), domain.node_id(end[1]), 90001});
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  auto& service = backend->service<ProjectionServices>();
  const auto free = stored(model, ElementProduct::gather, {}),
             all = stored(model, ElementProduct::gather, {}, OperatorEquations::all);
  const std::string path = (testing::scratch_folder() / ("matrices_" + test_name(GetParam()))).string();
  write_element_matrices(*backend, model.device_model(), nullptr, {}, path);
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  ElementMatrixFile whole_file(path), file(path, 10000);
  ElementMatrixStore store(*backend, model.device_model(), nullptr, {}, 1),
      large(*backend, model.device_model(), nullptr, {});
  for (const int columns : {1, 5, 33}) {
    SCOPED_TRACE(columns);
    std::vector<double> block = block_of(model, columns);
    Vector x = model.make_vector(columns);
    x.from_host(block);
    backend->clear_constrained(model.device_model(), x);
    block = x.to_host();
    const std::vector<double> expected = naive(model, *free, block, columns);
    Vector one = model.make_vector();
    for (int c = 0; c < columns; ++c) {
      backend->copy_columns(x, c, 1, one, 0);
      backend->expand_dependencies(model.device_model(), one);
      backend->copy_columns(one, 0, 1, x, c);
    }
    expect_close(naive(model, *all, x.to_host(), columns), expected);
    for (ElementMatrixSource* source :
         {static_cast<ElementMatrixSource*>(&whole_file), static_cast<ElementMatrixSource*>(&file),
          static_cast<ElementMatrixSource*>(&store), static_cast<ElementMatrixSource*>(&large)}) {
      std::vector<double> found(expected.size(), NAN), again(expected.size());
      service.project(model.device_model(), *source, x, found);
      expect_close(found, expected);
      expect_symmetric(found, columns);
      service.project(model.device_model(), *source, x, again);
      EXPECT_EQ(found, again);
    }
  }
}

TEST_P(Projection, RefusesWhatDoesNotFit) {
  Domain domain, other_domain;
  build_box("solid.hex8.full", {3, 2, 2}, domain);
  build_box("solid.hex8.full", {4, 2, 2}, other_domain);
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const AnalysisModel other(other_domain, backend, TransformationHandler(), PlainNumberer());
  auto& service = backend->service<ProjectionServices>();
  const auto matrix = stored(model, ElementProduct::gather, {});
  Vector x = model.make_vector(3), foreign = other.make_vector(3);
  std::vector<double> result(9), short_result(8);
  testing::expect_error(ErrorCode::misuse, {"project", "8", "3 × 3"},
                        [&] { service.project(*matrix, x, short_result); });
  testing::expect_error(ErrorCode::misuse, {"project"}, [&] { service.project(*matrix, foreign, result); });
  testing::expect_error(ErrorCode::misuse, {"assemble"}, [&] {
    service.project(*backend->make_element_operator(model.device_model(), ElementProduct::gather), x, result);
  });
  ElementMatrixStore theirs(*backend, other.device_model(), nullptr, {});
  testing::expect_error(ErrorCode::misuse, {"batch 0", "12"},
                        [&] { service.project(model.device_model(), theirs, x, result); });
  ElementMatrixStore ours(*backend, model.device_model(), nullptr, {});
  testing::expect_error(ErrorCode::misuse, {"batch 0", "12 elements", "32"},
                        [&] { service.project(other.device_model(), ours, foreign, result); });
  Domain larger;
  build_box("solid.hex8.full", {5, 4, 3}, larger);
  const AnalysisModel third(larger, backend, TransformationHandler(), PlainNumberer());
  FirstGroup first(*backend, third.device_model());
  Vector y = third.make_vector(3);
  testing::expect_error(ErrorCode::misuse, {"batch 0", "ends behind element 31", "60"},
                        [&] { service.project(third.device_model(), first, y, result); });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Projection, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

/// The number of threads changes no bit.
TEST(ProjectionThreads, ChangeNoBit) {
  Domain domain;
  build_box("solid.hex8.full", {8, 5, 5}, domain);
  std::vector<std::vector<double>> found;
  for (const char* name : {"openmp:1", "openmp:2", "openmp:3"}) {
    const auto backend = Backend::open(name);
    const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
    Vector x = model.make_vector(9);
    x.from_host(block_of(model, 9));
    found.push_back(projected(*backend, *stored(model, ElementProduct::gather, {}), x));
    const auto matrix = backend->make_matrix(model.device_model(), 3);
    backend->assemble(model.device_model(), nullptr, {}, *matrix);
    const std::vector<double> half = projected(*backend, *matrix, x);
    found.back().insert(found.back().end(), half.begin(), half.end());
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(ElementMatrixFile, RefusesDamagedFilesByName) {
  Domain domain;
  build_box("solid.hex8.full", {3, 2, 2}, domain);
  const auto backend = Backend::open(oracle);
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const std::string path = (testing::scratch_folder() / "damaged").string();
  const auto refuses = [&](const std::string& piece) {
    testing::expect_error(ErrorCode::io, {path, piece}, [&] { ElementMatrixFile file(path); });
  };
  refuses("cannot be read");
  const auto change = [&](std::streamoff at, unsigned char byte) {
    write_element_matrices(*backend, model.device_model(), nullptr, {}, path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(static_cast<char>(byte));
  };
  change(0, 'X');
  refuses("not a file of element matrices");
  change(8, 99);
  refuses("version");
  change(12, 1);
  refuses("order of bytes");
  change(23, 200);  // batches
  refuses("damaged");
  change(24, 200);  // elements
  refuses("too short");
  change(24, 0);
  refuses("bytes where its header implies");
  change(31, 200);
  refuses("impossible sizes");
  change(0, 'V');  // as it was
  EXPECT_NO_THROW(ElementMatrixFile file(path));
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 8);
  refuses("too short");
  std::filesystem::resize_file(path, size + 8);
  refuses("bytes where its header implies");
  std::filesystem::resize_file(path, 10);
  refuses("too short");
  testing::expect_error(ErrorCode::io, {"/nowhere/matrices"}, [&] {
    write_element_matrices(*backend, model.device_model(), nullptr, {}, "/nowhere/matrices");
  });
}

}  // namespace
}  // namespace voussoir::conformance
