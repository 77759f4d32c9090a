#include <gtest/gtest.h>

#include "cpu_backends.hpp"
#include "toy_elements.hpp"

namespace voussoir {
namespace {

using toy::Case;
using toy::numbers;
using toy::vector_of;

constexpr ElementProduct products[] = {ElementProduct::gather, ElementProduct::scatter, ElementProduct::points,
                                       ElementProduct::matrix_free};

TEST(ElementOperator, AllFormsGiveTheProductOfTheDenseMatrix) {
  for (const Route route : {Route::native, Route::host})
    for (const int lanes : {1, 4, 8})
      for (const bool dependencies : {false, true}) {
        if (route == Route::host && lanes != 4) continue;
        const Case c(6, 5, 3, lanes, dependencies, route);
        const auto n = static_cast<std::size_t>(c.equations());
        const auto u0 = numbers(n, 51), x0 = numbers(2 * n, 52);
        const std::vector<double> factors{1, 0.5};
        const MatrixTerms both{2, 0.25, MassKind::consistent, factors};
        const auto stiffness = c.reduced(c.full(1, 0, MassKind::consistent, &u0));
        const auto mixed = c.reduced(c.full(2, 0.25, MassKind::consistent, &u0, 0.5));
        for (const auto& backend : toy::all_backends()) {
          const auto model = backend->make_model(c.description());
          const Vector u = vector_of(model->layout(), u0), x = vector_of(model->layout(), x0, 2);
          for (const ElementProduct product : products) {
            SCOPED_TRACE(backend->describe() + ", lanes " + std::to_string(lanes) + ", form " +
                         std::to_string(static_cast<int>(product)));
            const auto op = backend->make_element_operator(*model, product);
            for (const bool mass : {false, true}) {
              backend->assemble(*model, &u, mass ? both : MatrixTerms{}, *op);
              Vector y(model->layout(), 2);
              op->apply(x, y);
              const auto found = y.to_host();
              for (std::size_t column = 0; column < 2; ++column) {
                std::vector<double> one(n);
                for (std::size_t i = 0; i < n; ++i) one[i] = x0[2 * i + column];
                const auto expected = toy::multiply(mass ? mixed : stiffness, one);
                for (std::size_t i = 0; i < n; ++i)
                  ASSERT_NEAR(found[2 * i + column], c.is_free(static_cast<int>(i)) ? expected[i] : one[i], 5e-13)
                      << "equation " << i;
              }
            }
          }
        }
      }
}

TEST(ElementOperator, OnAllEquationsItIsTheSumOfItsElements) {
  for (const Route route : {Route::native, Route::host})
    for (const bool dependencies : {false, true}) {
      const Case c(6, 5, 3, 4, dependencies, route);
      const auto n = static_cast<std::size_t>(c.equations());
      const auto u0 = numbers(n, 61), x0 = numbers(2 * n, 62);
      const std::vector<double> factors{1, 0.5};
      const MatrixTerms both{2, 0.25, MassKind::consistent, factors};
      const auto mixed = c.full(2, 0.25, MassKind::consistent, &u0, 0.5);
      for (const auto& backend : toy::all_backends()) {
        const auto model = backend->make_model(c.description());
        const Vector u = vector_of(model->layout(), u0), x = vector_of(model->layout(), x0, 2);
        for (const ElementProduct product : products) {
          SCOPED_TRACE(backend->describe() + ", form " + std::to_string(static_cast<int>(product)));
          const auto op = backend->make_element_operator(*model, product, OperatorEquations::all);
          backend->assemble(*model, &u, both, *op);
          Vector y(model->layout(), 2);
          op->apply(x, y);
          const auto found = y.to_host();
          for (std::size_t column = 0; column < 2; ++column) {
            std::vector<double> one(n);
            for (std::size_t i = 0; i < n; ++i) one[i] = x0[2 * i + column];
            const auto expected = toy::multiply(mixed, one);
            for (std::size_t i = 0; i < n; ++i)
              ASSERT_NEAR(found[2 * i + column], expected[i], 5e-13) << "equation " << i;
          }
          EXPECT_THROW(backend->block_diagonal(*model, *op, 1), Error);
        }
      }
    }
}

TEST(ElementOperator, AgreesWithTheAssembledMatrixOnFreeEquations) {
  const Case c(40, 31, 3, 4, true);
  const auto n = static_cast<std::size_t>(c.equations());
  for (const auto& backend : toy::all_backends()) {
    const auto model = backend->make_model(c.description());
    Vector x = vector_of(model->layout(), numbers(n, 53)), y(model->layout()), z(model->layout());
    backend->clear_constrained(*model, x);
    const auto matrix = backend->make_matrix(*model, 3);
    backend->assemble(*model, nullptr, {}, *matrix);
    const double x_a_x = matrix->apply_dot(x, y);
    for (const ElementProduct product : products) {
      const auto op = backend->make_element_operator(*model, product);
      backend->assemble(*model, nullptr, {}, *op);
      EXPECT_NEAR(op->apply_dot(x, z), x_a_x, 1e-13 * x_a_x);
      const auto a = y.to_host(), b = z.to_host();
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(a[i], b[i], 1e-12);  // entries are of size 100
    }
  }
}

TEST(ElementOperator, ProductsAreTheSameBitsForAnyNumberOfThreads) {
  const Case c(90, 70, 3, 4, true);
  const auto x0 = numbers(static_cast<std::size_t>(c.equations()), 54);
  for (const ElementProduct product : products) {
    std::vector<double> first;
    for (const int threads : {1, 2, 3}) {
      const auto backend = make_openmp_backend(threads);
      const auto model = backend->make_model(c.description());
      const auto op = backend->make_element_operator(*model, product);
      backend->assemble(*model, nullptr, {}, *op);
      Vector y(model->layout());
      op->apply(vector_of(model->layout(), x0), y);
      if (first.empty()) first = y.to_host();
      EXPECT_EQ(y.to_host(), first);
    }
  }
}

TEST(ElementOperator, BlockDiagonalIsThatOfTheDenseMatrix) {
  const Case c(7, 6, 3, 4, true);
  const auto u0 = numbers(static_cast<std::size_t>(c.equations()), 55);
  const auto dense = c.reduced(c.full(1, 0, MassKind::consistent, &u0));
  for (const auto& backend : toy::all_backends()) {
    const auto model = backend->make_model(c.description());
    const Vector u = vector_of(model->layout(), u0);
    for (const ElementProduct product : products)
      for (const int b : {1, 3}) {
        SCOPED_TRACE(backend->describe() + ", block size " + std::to_string(b));
        const auto op = backend->make_element_operator(*model, product);
        backend->assemble(*model, &u, {}, *op);
        const BlockDiagonal diagonal = backend->block_diagonal(*model, *op, b);
        for (int d = 0; d < backend->devices(); ++d) {
          const auto blocks = diagonal.blocks[static_cast<std::size_t>(d)].read_host();
          for (std::int32_t i = 0; i < model->layout()->owned(d); ++i)
            for (int j = 0; j < b; ++j) {
              const auto row = static_cast<std::size_t>(model->layout()->first(d) + i);
              const std::size_t column =
                  row / static_cast<std::size_t>(b) * static_cast<std::size_t>(b) + static_cast<std::size_t>(j);
              double expected = dense[row][column];
              if (row == column && !c.is_free(static_cast<int>(row))) expected = 1;
              EXPECT_NEAR(blocks[static_cast<std::size_t>(i * b + j)], expected, 1e-12);
            }
        }
      }
  }
}

TEST(ElementOperator, FaultsOfAProductNameTheLowestElement) {
  Case c(20, 20, 1, 4, false);
  c.parameters[2 * 1 + 1] = -1;
  for (const auto& backend : toy::all_backends()) {
    const auto model = backend->make_model(c.description());
    const auto op = backend->make_element_operator(*model, ElementProduct::matrix_free);
    backend->assemble(*model, nullptr, {}, *op);
    Vector x(model->layout()), y(model->layout());
    backend->fill(x, 1);
    try {
      op->apply(x, y);
      ADD_FAILURE() << "an inverted element was not found";
    } catch (const ElementError& error) {
      EXPECT_EQ(error.element(), 1);
    }
  }
}

TEST(ElementOperator, WantsToBeAssembledFirst) {
  const Case c(3, 3, 1, 1, false);
  const auto backend = make_openmp_backend(1);
  const auto model = backend->make_model(c.description());
  const auto op = backend->make_element_operator(*model, ElementProduct::gather);
  Vector x(model->layout()), y(model->layout());
  EXPECT_THROW(op->apply(x, y), Error);
}

}  // namespace
}  // namespace voussoir
