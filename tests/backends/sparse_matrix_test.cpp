#include <gtest/gtest.h>

#include "cpu_backends.hpp"
#include "toy_elements.hpp"

namespace voussoir {
namespace {

using toy::numbers;
using toy::vector_of;

/// A matrix that is not symmetric, with rows of different lengths, one of them empty but for its diagonal.
HostMatrix sample(int blocks, int block_size) {
  HostMatrix m;
  m.block_size = block_size;
  m.row_start.push_back(0);
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j)
      if (i == j || (i % 7 != 3 && (i * 5 + j * 3) % 11 < 2)) m.column.push_back(j);
    m.row_start.push_back(static_cast<std::int64_t>(m.column.size()));
  }
  m.value =
      numbers(m.column.size() * static_cast<std::size_t>(block_size * block_size), static_cast<unsigned>(block_size));
  return m;
}

std::vector<double> dense_product(const HostMatrix& m, const std::vector<double>& x, int columns) {
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

TEST(SparseMatrix, ProductsOfAllBlockSizesAreThoseOfTheEntries) {
  constexpr int blocks = 301;
  for (const auto& backend : toy::all_backends())
    for (int b = 1; b <= 6; ++b) {
      SCOPED_TRACE(backend->describe() + ", block size " + std::to_string(b));
      const HostMatrix host = sample(blocks, b);
      const auto layout = toy::full_layout(*backend, blocks * b, b);
      const auto matrix = backend->make_matrix(layout, host);
      EXPECT_EQ(matrix->block_size(), b);
      EXPECT_EQ(matrix->stored_blocks(), host.row_start.back());
      for (const int columns : {1, 2, 5, 13}) {
        const auto x0 = numbers(static_cast<std::size_t>(blocks * b * columns), 21);
        const Vector x = vector_of(layout, x0, columns);
        Vector y(layout, columns);
        matrix->apply(x, y);
        const auto expected = dense_product(host, x0, columns), found = y.to_host();
        double expected_dot = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_NEAR(found[i], expected[i], 1e-12) << "column count " << columns << ", entry " << i;
          expected_dot += x0[i] * expected[i];
        }
        Vector z(layout, columns);
        EXPECT_NEAR(matrix->apply_dot(x, z), expected_dot, 1e-10);
        EXPECT_EQ(z.to_host(), found);
      }
    }
}

TEST(SparseMatrix, ComesBackAsItWasGiven) {
  for (const auto& backend : toy::all_backends())
    for (int b = 1; b <= 6; ++b) {
      const HostMatrix host = sample(37, b);
      const HostMatrix back = backend->make_matrix(toy::full_layout(*backend, 37 * b, b), host)->to_host();
      EXPECT_EQ(back.block_size, b);
      EXPECT_EQ(back.row_start, host.row_start);
      EXPECT_EQ(back.column, host.column);
      EXPECT_EQ(back.value, host.value);
    }
}

TEST(SparseMatrix, ProductsAreTheSameBitsForAnyNumberOfThreads) {
  const HostMatrix host = sample(1000, 3);
  const auto x0 = numbers(3000, 22);
  std::vector<double> first;
  double first_dot = 0;
  for (const int threads : {1, 2, 3, 7}) {
    const auto backend = make_openmp_backend(threads);
    const auto layout = toy::plain_layout(*backend, 3000, 3);
    const auto matrix = backend->make_matrix(layout, host);
    Vector y(layout);
    const double dot = matrix->apply_dot(vector_of(layout, x0), y);
    if (first.empty()) {
      first = y.to_host();
      first_dot = dot;
    }
    EXPECT_EQ(y.to_host(), first);
    EXPECT_EQ(dot, first_dot);
  }
}

TEST(SparseMatrix, MovesEachNumberOnce) {
  const auto backend = make_openmp_backend(1);
  const HostMatrix host = sample(50, 3);
  const auto matrix = backend->make_matrix(toy::plain_layout(*backend, 150, 3), host);
  const std::size_t blocks = host.column.size();
  EXPECT_EQ(matrix->bytes_moved(), blocks * (9 * 8 + 4) + 51 * 8 + 2 * 150 * 8);
}

TEST(SparseMatrix, ColumnsThatAreNotLocalAreAMisuse) {
  const auto backend = make_debug_backend(2);
  HostMatrix host;
  host.row_start = {0, 1, 2};
  host.column = {1, 0};
  host.value = {1, 1};
  EXPECT_THROW(backend->make_matrix(toy::plain_layout(*backend, 2), host), Error);
}

TEST(BlockDiagonal, InverseTimesBlockIsIdentity) {
  for (const auto& backend : toy::all_backends())
    for (int b = 1; b <= 6; ++b)
      for (const int stored : {1, b}) {
        constexpr int blocks = 40;
        SCOPED_TRACE(backend->describe() + ", block size " + std::to_string(b));
        // Block diagonal alone: then D⁻¹ A = I.
        HostMatrix host;
        host.block_size = stored;
        host.row_start.push_back(0);
        const auto random = numbers(static_cast<std::size_t>(blocks * b * b), 31);
        const auto entry = [&](int block, int i, int j) {
          return random[static_cast<std::size_t>((block * b + i) * b + j)] + (i == j ? 3.0 * b : 0.0);
        };
        for (int block = 0; block < blocks; ++block) {
          if (stored == b) {
            host.column.push_back(block);
            for (int i = 0; i < b; ++i)
              for (int j = 0; j < b; ++j) host.value.push_back(entry(block, i, j));
            host.row_start.push_back(static_cast<std::int64_t>(host.column.size()));
            continue;
          }
          for (int i = 0; i < b; ++i) {
            for (int j = 0; j < b; ++j) {
              host.column.push_back(block * b + j);
              host.value.push_back(entry(block, i, j));
            }
            host.row_start.push_back(static_cast<std::int64_t>(host.column.size()));
          }
        }
        const auto layout = toy::full_layout(*backend, blocks * b, b);
        const auto matrix = backend->make_matrix(layout, host);
        BlockDiagonal diagonal = backend->block_diagonal(*matrix, b);
        backend->invert(diagonal);
        const auto x0 = numbers(static_cast<std::size_t>(blocks * b * 2), 32);
        const Vector x = vector_of(layout, x0, 2);
        Vector y(layout, 2), z(layout, 2);
        matrix->apply(x, y);
        backend->apply(diagonal, y, z);
        const auto back = z.to_host();
        for (std::size_t i = 0; i < x0.size(); ++i) ASSERT_NEAR(back[i], x0[i], 1e-13);
        Vector w(layout, 2);
        EXPECT_NEAR(backend->apply_dot(diagonal, y, w), backend->dot(y, z), 1e-10);
        EXPECT_EQ(w.to_host(), back);
      }
}

TEST(BlockDiagonal, SingularBlockIsNamed) {
  for (const auto& backend : toy::all_backends()) {
    // Blocks of two; the third (equations 4 and 5) has dependent rows.
    HostMatrix host;
    host.block_size = 2;
    host.row_start = {0, 1, 2, 3, 4};
    host.column = {0, 1, 2, 3};
    host.value = {2, 1, 1, 2, 1e9, 0, 0, 1e-3, 4, 2, 2, 1, 1, 0, 0, 1};
    const auto matrix = backend->make_matrix(toy::full_layout(*backend, 8, 2), host);
    BlockDiagonal diagonal = backend->block_diagonal(*matrix, 2);
    try {
      backend->invert(diagonal);
      ADD_FAILURE() << "a singular block was inverted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::singular);
      EXPECT_EQ(error.where(), "equation 5");
    }
  }
}

}  // namespace
}  // namespace voussoir
