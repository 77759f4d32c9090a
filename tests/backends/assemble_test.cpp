#include <gtest/gtest.h>

#include <cmath>

#include "cpu_backends.hpp"
#include "toy_elements.hpp"

namespace voussoir {
namespace {

using toy::Case;
using toy::numbers;
using toy::vector_of;

/// Compares a stored matrix with the dense reference: free rows and columns as in Tᵀ A T; rows and columns that are not
/// free empty but for a positive diagonal.
void expect_equal(const HostMatrix& m, const Case::Dense& expected, const Case& c) {
  const int b = m.block_size;
  Case::Dense found(expected.size(), std::vector<double>(expected.size(), 0.0));
  for (std::int64_t row = 0; row < m.block_rows(); ++row)
    for (std::int64_t k = m.row_start[row]; k < m.row_start[row + 1]; ++k)
      for (int i = 0; i < b; ++i)
        for (int j = 0; j < b; ++j) found[row * b + i][m.column[k] * b + j] = m.value[k * b * b + i * b + j];
  for (int i = 0; i < c.equations(); ++i)
    for (int j = 0; j < c.equations(); ++j) {
      if (i == j && !c.is_free(i))
        EXPECT_GT(found[i][i], 0) << "diagonal of equation " << i;
      else
        ASSERT_NEAR(found[i][j], expected[i][j], 1e-11) << "entry " << i << ", " << j;
    }
}

struct Setting {
  int components, block_size, lanes;
  bool dependencies;
  Route route;
};

class Assemble : public ::testing::TestWithParam<Setting> {};

TEST_P(Assemble, IsTheSumOfTheElements) {
  const Setting s = GetParam();
  const Case c(6, 5, s.components, s.lanes, s.dependencies, s.route);
  const auto u0 = numbers(static_cast<std::size_t>(c.equations()), 41);
  const auto stiffness = c.reduced(c.full(1, 0, MassKind::consistent, &u0));
  const auto mixed = c.reduced(c.full(2, 0.5, MassKind::consistent, nullptr));
  const auto lumped = c.reduced(c.full(0, 3, MassKind::lumped, nullptr, 0.25));
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, s.block_size);
    const Vector u = vector_of(model->layout(), u0);
    backend->assemble(*model, &u, {}, *matrix);
    expect_equal(matrix->to_host(), stiffness, c);
    // Again, with other terms: nothing of the first time remains.
    backend->assemble(*model, nullptr, {2, 0.5, MassKind::consistent, {}}, *matrix);
    expect_equal(matrix->to_host(), mixed, c);
    const std::vector<double> factors{1, 0.25};
    backend->assemble(*model, nullptr, {0, 3, MassKind::lumped, factors}, *matrix);
    expect_equal(matrix->to_host(), lumped, c);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Assemble,
    ::testing::Values(Setting{1, 1, 1, false, Route::native}, Setting{1, 1, 4, true, Route::native},
                      Setting{2, 2, 4, false, Route::native}, Setting{2, 1, 4, true, Route::native},
                      Setting{3, 3, 4, false, Route::native}, Setting{3, 3, 4, true, Route::native},
                      Setting{3, 1, 8, true, Route::native}, Setting{4, 4, 2, true, Route::native},
                      Setting{5, 5, 4, false, Route::native}, Setting{6, 6, 8, true, Route::native},
                      Setting{3, 3, 4, true, Route::host}, Setting{2, 1, 1, false, Route::host}));

TEST(AssembleNodes, MayHaveDifferentNumbersOfEquations) {
  Case c(6, 5, 2, 4, false);
  c.add_spare_equations();
  const auto n = static_cast<std::size_t>(c.equations());
  const auto dense = c.reduced(c.full(1, 0, MassKind::consistent, nullptr));
  const auto x0 = numbers(n, 47);
  const auto expected = toy::multiply(dense, x0);
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    EXPECT_THROW(backend->make_matrix(*model, 2), Error);
    const auto matrix = backend->make_matrix(*model, 1);
    backend->assemble(*model, nullptr, {}, *matrix);
    expect_equal(matrix->to_host(), dense, c);
    for (const auto product :
         {ElementProduct::gather, ElementProduct::scatter, ElementProduct::points, ElementProduct::matrix_free}) {
      const auto op = backend->make_element_operator(*model, product);
      backend->assemble(*model, nullptr, {}, *op);
      Vector y(model->layout());
      op->apply(vector_of(model->layout(), x0), y);
      const auto found = y.to_host();
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_NEAR(found[i], c.is_free(static_cast<int>(i)) ? expected[i] : x0[i], 1e-12);
    }
  }
}

TEST(AssembleNodes, MayHaveVeryManyNeighbours) {
  Case c(19, 17, 1, 4, false);
  c.lines.clear();
  for (std::int32_t n = 1; n < 18 * 20; ++n) c.lines.insert(c.lines.end(), {50, n == 50 ? 0 : n});
  const auto dense = c.reduced(c.full(1, 0, MassKind::consistent, nullptr));
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, 1);
    backend->assemble(*model, nullptr, {}, *matrix);
    expect_equal(matrix->to_host(), dense, c);
  }
}

/// Three corners of one quad and a node elsewhere depend on most of the others.
Case with_long_dependencies(int cells, int components) {
  Case c(cells, cells, components, 4, true);
  const int n = c.equations();
  std::vector<char> depends(static_cast<std::size_t>(n), 0);
  for (const Dependency& d : c.dependencies) depends[static_cast<std::size_t>(d.equation)] = 1;
  const std::vector<std::int32_t> nodes{100, 101, 101 + cells + 1, 300};
  for (const std::int32_t node : nodes) depends[static_cast<std::size_t>(node * components)] = 1;
  const std::vector<double> values = numbers(static_cast<std::size_t>(n), 53);
  for (const std::int32_t node : nodes) {
    Dependency d{node * components, {}, {}};
    for (std::int32_t e = node % 2; e < n; e += node == 300 ? 2 : 1)
      if (!depends[static_cast<std::size_t>(e)] && !c.prescribed[static_cast<std::size_t>(e)]) {
        d.others.push_back(e);
        d.coefficients.push_back(values[static_cast<std::size_t>(e)] / (1 + node % 7));
      }
    c.dependencies.push_back(d);
  }
  return c;
}

TEST(AssembleDependencies, MayBeLong) {
  for (const int components : {1, 2}) {
    const Case c = with_long_dependencies(17, components);
    const auto dense = c.reduced(c.full(1, 0.5, MassKind::consistent, nullptr));
    double largest = 0;
    for (const auto& line : dense)
      for (const double value : line) largest = std::max(largest, std::abs(value));
    ASSERT_LT(largest, 1e4);  // of what expect_equal() compares
    for (const auto& backend : toy::all_backends()) {
      SCOPED_TRACE(backend->describe());
      const auto model = backend->make_model(c.description());
      for (const int block_size : {1, components}) {
        const auto matrix = backend->make_matrix(*model, block_size);
        backend->assemble(*model, nullptr, {1, 0.5, MassKind::consistent, {}}, *matrix);
        expect_equal(matrix->to_host(), dense, c);
      }
    }
  }
}

TEST(AssembleBits, DoNotDependOnThreads) {
  const Case c(70, 60, 3, 4, true);  // several chunks for any number of threads
  std::vector<double> first;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make_openmp_backend(threads);
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, 3);
    backend->assemble(*model, nullptr, {1, 0.125, MassKind::consistent, {}}, *matrix);
    const auto values = matrix->to_host().value;
    if (first.empty()) first = values;
    EXPECT_EQ(values, first) << threads << " threads";
  }
}

TEST(AssembleFaults, NameTheLowestElement) {
  Case c(20, 20, 2, 4, false);
  c.parameters[2 * 2 + 1] = -1;  // record 2: first at element 2
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, 2);
    try {
      backend->assemble(*model, nullptr, {}, *matrix);
      ADD_FAILURE() << "an inverted element was assembled";
    } catch (const ElementError& error) {
      EXPECT_EQ(error.fault(), ElementFault::inverted);
      EXPECT_EQ(error.batch(), 0);
      EXPECT_EQ(error.element(), 2);
    }
  }
}

TEST(AssembleMisuse, IsRefused) {
  const Case c(3, 3, 2, 1, false);
  const auto backend = make_openmp_backend(1);
  const auto model = backend->make_model(c.description()), other = backend->make_model(c.description());
  EXPECT_THROW(backend->make_matrix(*model, 3), Error);
  const auto matrix = backend->make_matrix(*other, 2);
  EXPECT_THROW(backend->assemble(*model, nullptr, {}, *matrix), Error);
}

TEST(Residual, IsTheSumOfElementVectors) {
  for (const bool dependencies : {false, true})
    for (const Route route : {Route::native, Route::host}) {
      const Case c(9, 7, 3, 4, dependencies, route);
      const auto n = static_cast<std::size_t>(c.equations());
      const auto u0 = numbers(n, 42), r0 = numbers(n, 43);
      // Element e pulls with its parameter on each of its entries.
      std::vector<double> pull(n, 0.0);
      for (std::size_t k = 0; k < c.quads.size(); ++k)
        for (int i = 0; i < 3; ++i)
          pull[static_cast<std::size_t>(c.quads[k] * 3 + i)] +=
              c.parameters[2 * static_cast<std::size_t>(c.record[k / 4]) + 1];
      for (const std::int32_t node : c.lines)
        for (int i = 0; i < 3; ++i) pull[static_cast<std::size_t>(node * 3 + i)] += 2 * 3.0;
      auto expected = toy::multiply(c.full(1, 0, MassKind::consistent, &u0, 2), u0);
      for (std::size_t i = 0; i < n; ++i) expected[i] -= pull[i];
      auto handed_on = expected;
      for (const Dependency& d : c.dependencies) {
        for (std::size_t k = 0; k < d.others.size(); ++k)
          handed_on[static_cast<std::size_t>(d.others[k])] +=
              d.coefficients[k] * expected[static_cast<std::size_t>(d.equation)];
        handed_on[static_cast<std::size_t>(d.equation)] = 0;
      }
      for (const auto& backend : toy::all_backends()) {
        SCOPED_TRACE(backend->describe());
        const auto model = backend->make_model(c.description());
        const Vector u = vector_of(model->layout(), u0);
        const std::vector<double> factors{1, 2};
        for (const bool through : {false, true}) {
          Vector r = vector_of(model->layout(), r0);
          backend->residual(*model, u, factors, through, r);
          const auto found = r.to_host();
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_NEAR(found[i], r0[i] + (through ? handed_on : expected)[i], 1e-11) << "equation " << i;
        }
        // The same hand-over, asked for by itself.
        Vector x = vector_of(model->layout(), expected);
        backend->reduce_dependencies(*model, x);
        const auto reduced = x.to_host();
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(reduced[i], handed_on[i], 1e-11);
      }
    }
}

TEST(Residual, IsTheSameBitsForAnyNumberOfThreads) {
  const Case c(90, 80, 2, 4, true);
  const auto u0 = numbers(static_cast<std::size_t>(c.equations()), 44);
  std::vector<double> first;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make_openmp_backend(threads);
    const auto model = backend->make_model(c.description());
    Vector r(model->layout());
    backend->residual(*model, vector_of(model->layout(), u0), {}, true, r);
    if (first.empty()) first = r.to_host();
    EXPECT_EQ(r.to_host(), first);
  }
}

TEST(BodyLoad, IsTheSumOfElementVectors) {
  const Case c(8, 6, 2, 4, false);
  std::vector<double> expected(static_cast<std::size_t>(c.equations()), 0.0);
  for (std::size_t k = 0; k < c.quads.size(); ++k) {
    const std::size_t e = k / 4;
    const double w = c.parameters[2 * static_cast<std::size_t>(c.record[e]) + 1] *
                     (1 + c.coordinates[3 * static_cast<std::size_t>(c.quads[4 * e])]);
    for (int i = 0; i < 2; ++i) expected[static_cast<std::size_t>(c.quads[k] * 2 + i)] += 9.81 * w;
  }
  for (const auto& backend : toy::all_backends()) {
    const auto model = backend->make_model(c.description());
    Vector f(model->layout());
    backend->fill(f, 0);
    BodyLoad load;
    load.acceleration[0] = 9.81;
    backend->body_load(*model, 0, {}, load, f);
    const auto found = f.to_host();
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12);
  }
}

TEST(Recover, GivesEveryElementOnceInOrder) {
  for (const Route route : {Route::native, Route::host}) {
    const Case c(13, 11, 2, 4, true, route);
    const auto u0 = numbers(static_cast<std::size_t>(c.equations()), 45);
    for (const auto& backend : toy::all_backends()) {
      SCOPED_TRACE(backend->describe());
      const auto model = backend->make_model(c.description());
      const auto values = backend->recover(*model, 0, vector_of(model->layout(), u0));
      ASSERT_EQ(values.size(), c.record.size() * 4);
      for (std::size_t e = 0; e < c.record.size(); ++e)
        for (std::size_t k = 0; k < 4; ++k)
          ASSERT_EQ(values[4 * e + k], u0[static_cast<std::size_t>(c.quads[4 * e] * 2)] +
                                           10.0 * static_cast<double>(k) +
                                           1000 * c.parameters[2 * static_cast<std::size_t>(c.record[e]) + 1]);
    }
  }
}

TEST(Dependencies, ExpandAndClear) {
  const Case c(6, 5, 2, 4, true);
  const auto x0 = numbers(static_cast<std::size_t>(c.equations()), 46);
  auto expected = x0;
  for (const Dependency& d : c.dependencies) {
    double sum = 0;
    for (std::size_t k = 0; k < d.others.size(); ++k)
      sum += d.coefficients[k] * x0[static_cast<std::size_t>(d.others[k])];
    expected[static_cast<std::size_t>(d.equation)] = sum;
  }
  for (const auto& backend : toy::all_backends()) {
    const auto model = backend->make_model(c.description());
    Vector x = vector_of(model->layout(), x0);
    backend->expand_dependencies(*model, x);
    const auto found = x.to_host();
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-14);
    backend->clear_constrained(*model, x);
    const auto cleared = x.to_host();
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(cleared[i], c.is_free(static_cast<int>(i)) ? found[i] : 0.0);
  }
}

}  // namespace
}  // namespace voussoir
