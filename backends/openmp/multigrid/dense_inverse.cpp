#include <algorithm>
#include <cmath>

#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// The inverse of a whole small matrix by Cholesky, in square tiles: A = L Lᵀ, X = L⁻¹, A⁻¹ = Xᵀ X. A tile belongs to
// one thread at a time, and its sums are taken in the order of the tiles.

namespace voussoir::cpu {

namespace {

constexpr int tile = 64;
constexpr std::ptrdiff_t tile_numbers = tile * tile;

/// The lower triangle of a matrix in tiles, each by rows. What is beyond the last row is that of a unit matrix.
class Tiles {
 public:
  explicit Tiles(std::int64_t size)
      : count_(static_cast<int>((size + tile - 1) / tile)),
        value_(static_cast<std::size_t>(static_cast<std::ptrdiff_t>(count_) * (count_ + 1) / 2 * tile_numbers), 0.0) {}
  int count() const { return count_; }
  double* at(int row, int column) {
    return value_.data() + (static_cast<std::ptrdiff_t>(row) * (row + 1) / 2 + column) * tile_numbers;
  }
  double& entry(std::int64_t row, std::int64_t column) {
    return at(static_cast<int>(row / tile), static_cast<int>(column / tile))[row % tile * tile + column % tile];
  }

 private:
  int count_;
  std::vector<double> value_;
};

/// C += sign · op(A) B for tiles, where entry (i, k) of op(A) stands at a[i · across + k · down]. Four rows by eight
/// columns of C are in registers at a time.
template <int Across, int Down>
void add_tile_product(const double* a, const double* b, double sign, double* c) {
  constexpr int rows = 4, columns = 8;
  for (int i = 0; i < tile; i += rows)
    for (int j = 0; j < tile; j += columns) {
      double sum[rows][columns] = {};
      for (int k = 0; k < tile; ++k)
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
          const double factor = a[(i + r) * Across + k * Down];
#pragma GCC unroll 8
          for (int s = 0; s < columns; ++s) sum[r][s] += factor * b[k * tile + j + s];
        }
      for (int r = 0; r < rows; ++r)
        for (int s = 0; s < columns; ++s) c[(i + r) * tile + j + s] += sign * sum[r][s];
    }
}

void transpose(const double* from, double* to) {
  for (int i = 0; i < tile; ++i)
    for (int j = 0; j < tile; ++j) to[j * tile + i] = from[i * tile + j];
}

/// Factors a tile on the diagonal. A pivot of at most `least[j]` means that row j all but follows from those before it:
/// it is left out, and a unit row stands in for it.
void factor_tile(double* a, const double* least, std::uint8_t* left_out) {
  for (int j = 0; j < tile; ++j) {
    const double pivot = a[j * tile + j];
    if (!(pivot > least[j])) {
      left_out[j] = 1;
      for (int k = 0; k < tile; ++k) a[j * tile + k] = 0;
      for (int i = j + 1; i < tile; ++i) a[i * tile + j] = 0;
      a[j * tile + j] = 1;
      continue;
    }
    const double root = std::sqrt(pivot), inverse = 1 / root;
    a[j * tile + j] = root;
    for (int i = j + 1; i < tile; ++i) a[i * tile + j] *= inverse;
    for (int i = j + 1; i < tile; ++i)
      for (int k = j + 1; k <= i; ++k) a[i * tile + k] -= a[i * tile + j] * a[k * tile + j];
  }
  for (int i = 0; i < tile; ++i) std::fill(a + i * tile + i + 1, a + (i + 1) * tile, 0.0);
}

/// The inverse of a lower triangular tile.
void invert_triangle(const double* l, double* x) {
  std::fill(x, x + tile_numbers, 0.0);
  for (int i = 0; i < tile; ++i) {
    double* row = x + i * tile;
    row[i] = 1;
    for (int k = 0; k < i; ++k) {
      const double share = l[i * tile + k];
      for (int j = 0; j <= k; ++j) row[j] -= share * x[k * tile + j];
    }
    const double inverse = 1 / l[i * tile + i];
    for (int j = 0; j <= i; ++j) row[j] *= inverse;
  }
}

/// A factor L in place of the lower triangle, and the inverses of its tiles on the diagonal.
struct Factor {
  std::vector<double> diagonal_inverse;
  std::vector<std::uint8_t> left_out;
};

Factor factorise(Tiles& a, int threads) {
  const int count = a.count();
  const auto numbers = static_cast<std::size_t>(count) * tile_numbers;
  Factor factor{std::vector<double>(numbers), std::vector<std::uint8_t>(static_cast<std::size_t>(count) * tile, 0)};
  std::vector<double> least(static_cast<std::size_t>(count) * tile);
  for (std::size_t i = 0; i < least.size(); ++i)
    least[i] = 1e-13 * std::fabs(a.entry(static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)));
  std::vector<double> panel(numbers), scratch(numbers);  // tiles of the current column, transposed; and as they were
  for (int k = 0; k < count; ++k) {
    double* inverse = factor.diagonal_inverse.data() + k * tile_numbers;
    factor_tile(a.at(k, k), least.data() + k * tile, factor.left_out.data() + k * tile);
    invert_triangle(a.at(k, k), inverse);
    std::vector<double> inverse_transposed(tile_numbers);
    transpose(inverse, inverse_transposed.data());
    for (int r = 0; r < tile; ++r)
      if (factor.left_out[static_cast<std::size_t>(k * tile + r)])
        for (int m = 0; m < k; ++m) std::fill_n(a.at(k, m) + r * tile, tile, 0.0);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
      for (int i = k + 1; i < count; ++i) {
        double* source = scratch.data() + i * tile_numbers;
        std::copy_n(a.at(i, k), tile_numbers, source);
        // The columns of rows that are left out do not count.
        for (int c = 0; c < tile; ++c)
          if (factor.left_out[static_cast<std::size_t>(k * tile + c)])
            for (int r = 0; r < tile; ++r) source[r * tile + c] = 0;
        std::fill_n(a.at(i, k), tile_numbers, 0.0);
        add_tile_product<tile, 1>(source, inverse_transposed.data(), 1, a.at(i, k));
        transpose(a.at(i, k), panel.data() + i * tile_numbers);
      }
      // Tiles of the rest, row by row of the triangle.
#pragma omp for schedule(dynamic, 1)
      for (int i = k + 1; i < count; ++i)
        for (int j = k + 1; j <= i; ++j)
          add_tile_product<tile, 1>(a.at(i, k), panel.data() + j * tile_numbers, -1, a.at(i, j));
    }
  }
  return factor;
}

/// The inverse of the factor, in its place.
void invert_factor(Tiles& l, const Factor& factor, int threads) {
  const int count = l.count();
  Tiles x(static_cast<std::int64_t>(count) * tile);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int j = 0; j < count; ++j) {
    std::copy_n(factor.diagonal_inverse.data() + j * tile_numbers, tile_numbers, x.at(j, j));
    double sum[tile_numbers];
    for (int i = j + 1; i < count; ++i) {
      std::fill_n(sum, tile_numbers, 0.0);
      for (int k = j; k < i; ++k) add_tile_product<tile, 1>(l.at(i, k), x.at(k, j), -1, sum);
      add_tile_product<tile, 1>(factor.diagonal_inverse.data() + i * tile_numbers, sum, 1, x.at(i, j));
    }
  }
  l = std::move(x);
}

}  // namespace

DenseInverse CpuMultigrid::invert(const LevelMatrix& a) {
  if (!a.is_square()) throw Error(ErrorCode::misuse, "multigrid: only a square matrix has an inverse");
  require_numbers<double>(a, a.entries(), "a matrix to be inverted");
  DenseInverse inverse;
  inverse.size = a.rows * a.height;
  const std::int64_t n = inverse.size, size = a.height;
  inverse.value = array<double>(n * n);
  DeviceSection section(*memory());
  const LevelRows<const double> rows = read_rows(a);
  Tiles tiles(n);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < rows.length(i); ++k) {
      const std::int64_t j = rows.column[rows.start[i] + k];
      const double* block = rows.value + (rows.start[i] * size + k) * size;
      for (std::int64_t r = 0; r < size; ++r)
        for (std::int64_t c = 0; c < size; ++c)
          if (j * size + c <= i * size + r)
            tiles.entry(i * size + r, j * size + c) = block[r * rows.length(i) * size + c];
    }
  for (std::int64_t i = n; i < static_cast<std::int64_t>(tiles.count()) * tile; ++i) tiles.entry(i, i) = 1;
  const Factor factor = factorise(tiles, threads_);
  invert_factor(tiles, factor, threads_);

  double* target = inverse.value.write_device();
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 1)
  for (int i = 0; i < tiles.count(); ++i)
    for (int j = 0; j <= i; ++j) {
      double sum[tile_numbers] = {};
      for (int k = i; k < tiles.count(); ++k) add_tile_product<1, tile>(tiles.at(k, i), tiles.at(k, j), 1, sum);
      for (std::int64_t r = 0; r < tile && i * tile + r < n; ++r)
        for (std::int64_t c = 0; c < tile && j * tile + c <= i * tile + r; ++c) {
          const std::int64_t row = i * tile + r, column = j * tile + c;
          const bool out =
              factor.left_out[static_cast<std::size_t>(row)] || factor.left_out[static_cast<std::size_t>(column)];
          target[row * n + column] = target[column * n + row] = out ? 0 : sum[r * tile + c];
        }
    }
  return inverse;
}

}  // namespace voussoir::cpu
