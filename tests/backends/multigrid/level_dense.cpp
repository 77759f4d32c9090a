#include "level_dense.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/toy_elements.hpp"

namespace voussoir::levels {

using toy::numbers;

LevelMatrix level_matrix(const Backend& backend, const Dense& dense, int height, int width) {
  LevelMatrix a;
  a.rows = static_cast<std::int32_t>(dense.rows()) / height;
  a.columns = static_cast<std::int32_t>(dense.cols()) / width;
  a.height = height;
  a.width = width;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;
  for (int i = 0; i < a.rows; ++i) {
    std::vector<int> kept;
    for (int j = 0; j < a.columns; ++j)
      if (!dense.block(i * height, j * width, height, width).isZero(0)) kept.push_back(j);
    column.insert(column.end(), kept.begin(), kept.end());
    start.push_back(static_cast<std::int64_t>(column.size()));
    for (int r = 0; r < height; ++r)
      for (const int j : kept)
        for (int c = 0; c < width; ++c) value.push_back(dense(i * height + r, j * width + c));
  }
  a.start = Array<std::int64_t>(backend.memory(0), std::span<const std::int64_t>(start));
  a.column = Array<std::int32_t>(backend.memory(0), std::span<const std::int32_t>(column));
  a.value = Array<double>(backend.memory(0), std::span<const double>(value));
  return a;
}

Dense dense_of(const LevelMatrix& a) {
  Dense dense = Dense::Zero(a.rows * a.height, a.columns * a.width);
  const auto start = a.start.read_host();
  const auto column = a.column.read_host();
  const std::vector<double> value = numbers_of(a);
  for (int i = 0; i < a.rows; ++i) {
    const auto first = static_cast<std::size_t>(start[static_cast<std::size_t>(i)]);
    const std::size_t n = static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1]) - first;
    for (std::size_t k = 0; k < n; ++k) {
      if (k > 0) {
        EXPECT_LT(column[first + k - 1], column[first + k]) << "row " << i;
      }
      for (int r = 0; r < a.height; ++r)
        for (int c = 0; c < a.width; ++c)
          dense(i * a.height + r, column[first + k] * a.width + c) =
              value[(first * static_cast<std::size_t>(a.height) + static_cast<std::size_t>(r) * n + k) *
                        static_cast<std::size_t>(a.width) +
                    static_cast<std::size_t>(c)];
    }
  }
  return dense;
}

Dense dense_of(const LevelDiagonal& d) {
  const std::vector<double> value = numbers_of(d);
  const int n = d.size, rows = static_cast<int>(value.size()) / (n * n);
  Dense dense = Dense::Zero(rows * n, rows * n);
  for (int i = 0; i < rows; ++i)
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) dense(i * n + r, i * n + c) = value[static_cast<std::size_t>((i * n + r) * n + c)];
  return dense;
}

Dense dense_of(const DenseInverse& d) {
  using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const std::vector<double> value = numbers_of(d);
  return Eigen::Map<const ByRows>(value.data(), d.size, d.size);
}

LevelVector level_vector(const Backend& backend, const Dense& dense, bool single) {
  LevelVector x;
  x.columns = static_cast<int>(dense.cols());
  std::vector<double> value;
  for (int i = 0; i < dense.rows(); ++i)
    for (int c = 0; c < dense.cols(); ++c) value.push_back(dense(i, c));
  if (single) {
    const std::vector<float> rounded(value.begin(), value.end());
    x.single_value = Array<float>(backend.memory(0), std::span<const float>(rounded));
  } else {
    x.value = Array<double>(backend.memory(0), std::span<const double>(value));
  }
  return x;
}

LevelVector empty_vector(const Backend& backend, int rows, int columns, bool single) {
  LevelVector x;
  x.columns = columns;
  const auto size = static_cast<std::size_t>(rows * columns);
  if (single)
    x.single_value = Array<float>(backend.memory(0), size);
  else
    x.value = Array<double>(backend.memory(0), size);
  return x;
}

Dense dense_of(const LevelVector& x) {
  const std::vector<double> value = numbers_of(x);
  Dense dense(static_cast<int>(value.size()) / x.columns, x.columns);
  for (int i = 0; i < dense.rows(); ++i)
    for (int c = 0; c < x.columns; ++c) dense(i, c) = value[static_cast<std::size_t>(i * x.columns + c)];
  return dense;
}

void expect_near(const Dense& found, const Dense& expected, double tolerance) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  if (found.size() == 0) return;
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), tolerance * std::max(1.0, expected.cwiseAbs().maxCoeff()))
      << "found\n"
      << found.topLeftCorner(std::min<int>(8, found.rows()), std::min<int>(8, found.cols())) << "\nexpected\n"
      << expected.topLeftCorner(std::min<int>(8, found.rows()), std::min<int>(8, found.cols()));
}

Dense sparse_blocks(int rows, int columns, int height, int width, double share, unsigned seed) {
  const auto chance = numbers(static_cast<std::size_t>(rows * columns), seed);
  const auto value = numbers(static_cast<std::size_t>(rows * columns * height * width), seed + 1);
  Dense dense = Dense::Zero(rows * height, columns * width);
  std::size_t next = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      if ((chance[static_cast<std::size_t>(i * columns + j)] + 1) / 2 < share)
        for (int r = 0; r < height; ++r)
          for (int c = 0; c < width; ++c) dense(i * height + r, j * width + c) = value[next++];
  return dense;
}

Dense positive_blocks(int rows, int size, double share, unsigned seed) {
  const Dense half = sparse_blocks(rows, rows, size, size, share, seed);
  Dense a = half + half.transpose();
  for (int i = 0; i < a.rows(); ++i) a(i, i) = 1 + a.row(i).cwiseAbs().sum();
  return a;
}

Dense random_dense(int rows, int columns, unsigned seed) {
  const auto value = numbers(static_cast<std::size_t>(rows * columns), seed);
  return Eigen::Map<const Dense>(value.data(), rows, columns);
}

Dense path(int nodes) {
  Dense a = 2 * Dense::Identity(nodes, nodes);
  for (int i = 0; i + 1 < nodes; ++i) a(i, i + 1) = a(i + 1, i) = -1;
  return a;
}

}  // namespace voussoir::levels
