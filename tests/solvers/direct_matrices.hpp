#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Matrices of which everything is known.

namespace voussoir::test {

/// Collects entries (added up) and gives the upper triangle by rows.
class Builder {
 public:
  explicit Builder(std::int64_t n) : n_(n) {
    for (std::int64_t i = 0; i < n; ++i) entry_[{i, i}] += 0;
  }
  /// Adds to (i, j) and, by symmetry, to (j, i).
  void add(std::int64_t i, std::int64_t j, double value) { entry_[{std::min(i, j), std::max(i, j)}] += value; }
  SymmetricCsr matrix() const {
    SymmetricCsr a;
    a.n = n_;
    a.row_start.assign(static_cast<std::size_t>(n_ + 1), 0);
    for (const auto& [place, value] : entry_) {
      ++a.row_start[place[0] + 1];
      a.column.push_back(static_cast<std::int32_t>(place[1]));
      a.value.push_back(value);
    }
    for (std::int64_t i = 0; i < n_; ++i) a.row_start[i + 1] += a.row_start[i];
    return a;
  }

 private:
  std::int64_t n_;
  std::map<std::array<std::int64_t, 2>, double> entry_;
};

/// The (2·dimension + 1)-point Laplacian on m^dimension inner points, zero at the rim, without the factor 1/h².
inline SymmetricCsr laplacian(int dimension, std::int64_t m) {
  std::int64_t n = 1;
  for (int d = 0; d < dimension; ++d) n *= m;
  Builder builder(n);
  for (std::int64_t i = 0; i < n; ++i) {
    builder.add(i, i, 2.0 * dimension);
    std::int64_t stride = 1;
    for (int d = 0; d < dimension; ++d, stride *= m) {
      if (i / stride % m + 1 < m) builder.add(i, i + stride, -1);
    }
  }
  return builder.matrix();
}

/// Eigenvalues of that matrix: sums of 4 sin²(kπ / 2(m+1)).
inline double laplacian_eigenvalue(std::int64_t m, std::array<int, 3> k) {
  double sum = 0;
  for (int number : k) {
    if (number == 0) continue;
    const double s = std::sin(number * M_PI / (2.0 * static_cast<double>(m + 1)));
    sum += 4 * s * s;
  }
  return sum;
}

/// A bar of unit springs that nothing holds.
inline SymmetricCsr free_bar(std::int64_t nodes, double stiffness = 1) {
  Builder builder(nodes);
  for (std::int64_t e = 0; e + 1 < nodes; ++e) {
    builder.add(e, e, stiffness);
    builder.add(e + 1, e + 1, stiffness);
    builder.add(e, e + 1, -stiffness);
  }
  return builder.matrix();
}

struct Point {
  double x, y;
};

/// A plane truss of bars with EA = `stiffness`; unknowns (u, v) of each joint.
inline SymmetricCsr plane_truss(const std::vector<Point>& joints, const std::vector<std::array<int, 2>>& bars,
                                double stiffness) {
  Builder builder(2 * static_cast<std::int64_t>(joints.size()));
  for (const auto& [a, b] : bars) {
    const double dx = joints[b].x - joints[a].x, dy = joints[b].y - joints[a].y, length = std::hypot(dx, dy);
    const double along[4] = {-dx / length, -dy / length, dx / length, dy / length};
    const int equation[4] = {2 * a, 2 * a + 1, 2 * b, 2 * b + 1};
    for (int i = 0; i < 4; ++i) {
      for (int j = i; j < 4; ++j) builder.add(equation[i], equation[j], stiffness / length * along[i] * along[j]);
    }
  }
  return builder.matrix();
}

/// A braced grid of unequal spacing, width × height joints, both diagonals in every cell: rigid in itself, held
/// nowhere.
inline void braced_grid(int width, int height, std::vector<Point>& joints, std::vector<std::array<int, 2>>& bars,
                        Point at = {0, 0}) {
  const int base = static_cast<int>(joints.size());
  for (int j = 0; j < height; ++j) {
    for (int i = 0; i < width; ++i) joints.push_back({at.x + 1.3 * i + 0.1 * (j % 3), at.y + 0.9 * j + 0.07 * (i % 4)});
  }
  const auto name = [&](int i, int j) { return base + j * width + i; };
  for (int j = 0; j < height; ++j) {
    for (int i = 0; i < width; ++i) {
      if (i + 1 < width) bars.push_back({name(i, j), name(i + 1, j)});
      if (j + 1 < height) bars.push_back({name(i, j), name(i, j + 1)});
      if (i + 1 < width && j + 1 < height) {
        bars.push_back({name(i, j), name(i + 1, j + 1)});
        bars.push_back({name(i + 1, j), name(i, j + 1)});
      }
    }
  }
}

/// A straight plane beam of Euler-Bernoulli elements, unknowns (deflection, rotation) of each node.
inline SymmetricCsr free_beam(int elements, double length, double bending_stiffness) {
  Builder builder(2 * (elements + 1));
  const double h = length / elements, c = bending_stiffness / (h * h * h);
  const double k[4][4] = {{12, 6 * h, -12, 6 * h},
                          {6 * h, 4 * h * h, -6 * h, 2 * h * h},
                          {-12, -6 * h, 12, -6 * h},
                          {6 * h, 2 * h * h, -6 * h, 4 * h * h}};
  for (int e = 0; e < elements; ++e) {
    for (int i = 0; i < 4; ++i) {
      for (int j = i; j < 4; ++j) builder.add(2 * e + i, 2 * e + j, c * k[i][j]);
    }
  }
  return builder.matrix();
}

/// The matrix without its first `count` equations: they are held.
inline SymmetricCsr without_first(const SymmetricCsr& a, std::int64_t count) {
  Builder builder(a.n - count);
  for (std::int64_t i = count; i < a.n; ++i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      builder.add(i - count, a.column[k] - count, a.value[k]);
    }
  }
  return builder.matrix();
}

/// The matrix with `shift` taken from the diagonal.
inline SymmetricCsr shifted(SymmetricCsr a, double shift) {
  for (std::int64_t i = 0; i < a.n; ++i) a.value[a.row_start[i]] -= shift;
  return a;
}

}  // namespace voussoir::test
