#include <gtest/gtest.h>

#include <cmath>

#include "cpu_backends.hpp"
#include "toy_elements.hpp"

// Matrices of models are stored by half, in tiles. Products are compared with those of the same matrix written out in
// full and multiplied on the host, entry by entry.

namespace voussoir {
namespace {

using toy::Case;
using toy::numbers;
using toy::vector_of;

std::vector<double> host_product(const HostMatrix& m, const std::vector<double>& x, int columns) {
  const int b = m.block_size;
  std::vector<double> y(x.size(), 0.0);
  for (std::int64_t row = 0; row < m.block_rows(); ++row)
    for (std::int64_t k = m.row_start[row]; k < m.row_start[row + 1]; ++k)
      for (int i = 0; i < b; ++i)
        for (int j = 0; j < b; ++j)
          for (int c = 0; c < columns; ++c)
            y[(row * b + i) * columns + c] += m.value[k * b * b + i * b + j] * x[(m.column[k] * b + j) * columns + c];
  return y;
}

double entry(const HostMatrix& m, std::int64_t row, std::int64_t column) {
  const int b = m.block_size;
  for (std::int64_t k = m.row_start[row / b]; k < m.row_start[row / b + 1]; ++k)
    if (m.column[k] == column / b) return m.value[k * b * b + (row % b) * b + column % b];
  return 0;
}

struct Setting {
  int components, block_size;
  bool dependencies;
};

class SymmetricMatrix : public ::testing::TestWithParam<Setting> {};

TEST_P(SymmetricMatrix, MultipliesLikeTheFullOne) {
  const Setting s = GetParam();
  // Wide enough for several tiles on every device, and for tiles whose neighbours are not only the next one.
  const Case c(50, 31, s.components, 4, s.dependencies);
  const auto n = static_cast<std::size_t>(c.equations());
  HostMatrix first;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, s.block_size);
    backend->assemble(*model, nullptr, {}, *matrix);
    const HostMatrix host = matrix->to_host();
    if (first.row_start.empty()) first = host;
    ASSERT_EQ(host.row_start, first.row_start);
    ASSERT_EQ(host.column, first.column);
    for (const int columns : {1, 2, 3, 7}) {
      const auto x0 = numbers(n * static_cast<std::size_t>(columns), 50 + columns);
      const Vector x = vector_of(model->layout(), x0, columns);
      Vector y(model->layout(), columns);
      matrix->apply(x, y);
      const auto found = y.to_host(), expected = host_product(host, x0, columns);
      double dot = 0, size = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], 1e-11) << "entry " << i << " of " << columns << " columns";
        dot += x0[i] * expected[i];
        size += std::fabs(x0[i] * expected[i]);
      }
      EXPECT_NEAR(matrix->apply_dot(x, y), dot, 1e-13 * size);
      EXPECT_EQ(y.to_host(), found);
    }
    const BlockDiagonal diagonal = backend->block_diagonal(*matrix, s.components);
    for (int d = 0; d < backend->devices(); ++d) {
      const auto blocks = diagonal.blocks[static_cast<std::size_t>(d)].read_host();
      for (std::int32_t r = 0; r < model->layout()->owned(d); ++r)
        for (int j = 0; j < s.components; ++j) {
          const std::int64_t row = model->layout()->first(d) + r;
          ASSERT_EQ(blocks[static_cast<std::size_t>(r * s.components + j)],
                    entry(host, row, row / s.components * s.components + j));
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SymmetricMatrix,
                         ::testing::Values(Setting{1, 1, true}, Setting{2, 2, false}, Setting{3, 1, true},
                                           Setting{3, 3, true}, Setting{4, 4, false}, Setting{5, 5, true},
                                           Setting{6, 6, false}));

TEST(SymmetricMatrixBits, DoNotDependOnThreadsAndAreSymmetric) {
  const Case c(70, 60, 3, 4, true);
  const auto x0 = numbers(static_cast<std::size_t>(c.equations()), 60);
  std::vector<double> first;
  double first_dot = 0;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make_openmp_backend(threads);
    const auto model = backend->make_model(c.description());
    const auto matrix = backend->make_matrix(*model, 3);
    backend->assemble(*model, nullptr, {}, *matrix);
    Vector y(model->layout());
    const double dot = matrix->apply_dot(vector_of(model->layout(), x0), y);
    if (first.empty()) {
      first = y.to_host();
      first_dot = dot;
      const HostMatrix host = matrix->to_host();
      for (std::int64_t row = 0; row < host.block_rows(); ++row)
        for (std::int64_t k = host.row_start[row]; k < host.row_start[row + 1]; ++k)
          for (int i = 0; i < 9; ++i)
            ASSERT_EQ(host.value[k * 9 + i], entry(host, host.column[k] * 3 + i % 3, row * 3 + i / 3));
    }
    EXPECT_EQ(y.to_host(), first) << threads << " threads";
    EXPECT_EQ(dot, first_dot) << threads << " threads";
  }
}

TEST(SymmetricMatrixSize, IsHalfOfTheFullOne) {
  const Case c(40, 30, 3, 4, false);
  const auto backend = make_openmp_backend(2);
  const auto model = backend->make_model(c.description());
  const auto matrix = backend->make_matrix(*model, 3);
  backend->assemble(*model, nullptr, {}, *matrix);
  const HostMatrix host = matrix->to_host();
  // Every block off the diagonal once instead of twice.
  EXPECT_EQ(matrix->stored_blocks(), (host.row_start.back() + host.block_rows()) / 2);
  EXPECT_NE(matrix->describe().find("symmetric half"), std::string::npos) << matrix->describe();
  EXPECT_LT(matrix->bytes_moved(), backend->make_matrix(model->layout(), host)->bytes_moved() * 3 / 4);
}

}  // namespace
}  // namespace voussoir
