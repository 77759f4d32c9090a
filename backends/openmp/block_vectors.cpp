#include <algorithm>
#include <vector>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Products of tall, narrow matrices: blocks of vectors, entries of one equation side by side. Both products are made of
// tiles of `height` × `width` results that stay in registers; what is narrower than a tile is filled up with zeros.

namespace voussoir {

namespace {

// A tile, the row that it is multiplied by and the factors of its rows must fit into the registers together: one that
// is spilled costs a third of the rate. The eigen-solvers' blocks have multiples of four columns.
#if defined(__AVX__)
constexpr int height = 6, width = 8, lanes = 4;
#else
constexpr int height = 8, width = 4, lanes = 2;
#endif
constexpr std::ptrdiff_t strip_rows = 64;  // rows that stay in cache while all tiles pass over them
constexpr std::ptrdiff_t most_parts = 128;

int tiles_of(int columns, int size) { return (columns + size - 1) / size; }

using Tile = double[height][width];

/// Neighbouring numbers in one register. Compilers keep a tile of such in registers, which they do not with an array of
/// numbers.
typedef double Lanes __attribute__((vector_size(lanes * sizeof(double)), aligned(sizeof(double)), may_alias));
static_assert(width % lanes == 0 && height % 2 == 0);

/// tile_ij += Σ_k a_(i,k) b_(k,j), where `height` numbers of a stand side by side, and `width` of b.
inline void add_products(const double* a, std::ptrdiff_t along_k, const double* b, std::ptrdiff_t count, Tile& tile) {
  constexpr int registers = width / lanes;
  Lanes sum[height][registers] = {};
  for (std::ptrdiff_t k = 0; k < count; ++k, a += along_k, b += width) {
    Lanes row[registers];
#pragma GCC unroll 8
    for (int j = 0; j < registers; ++j) row[j] = *reinterpret_cast<const Lanes*>(b + j * lanes);
#pragma GCC unroll 8
    for (int i = 0; i < height; i += 2) {
      double factor[2] = {a[i], a[i + 1]};
      if constexpr (lanes == 2) {  // one load for two factors
        const Lanes both = *reinterpret_cast<const Lanes*>(a + i);
        factor[0] = both[0];
        factor[1] = both[1];
      }
#pragma GCC unroll 8
      for (int j = 0; j < registers; ++j) {
        sum[i][j] += factor[0] * row[j];
        sum[i + 1][j] += factor[1] * row[j];
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < height; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < registers; ++j) *reinterpret_cast<Lanes*>(&tile[i][j * lanes]) += sum[i][j];
}

/// Copies rows of a block to panels of `size` columns: entry (r, c) at ((c / size) · rows + r) · size + c % size.
void pack(const double* x, int columns, std::ptrdiff_t rows, int size, double* panels) {
  for (int first = 0; first < columns; first += size, panels += rows * size) {
    const int taken = std::min(size, columns - first);
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      for (int c = 0; c < taken; ++c) panels[r * size + c] = x[r * columns + first + c];
      for (int c = taken; c < size; ++c) panels[r * size + c] = 0;
    }
  }
}

/// Copies the columns from `first` on, fewer than a tile has, to rows of `height` numbers.
void pack_last(const double* x, int columns, int first, std::ptrdiff_t rows, double* panel) {
  for (std::ptrdiff_t r = 0; r < rows; ++r, panel += height)
    for (int c = 0; c < height; ++c) panel[c] = first + c < columns ? x[r * columns + first + c] : 0;
}

/// Room for what a thread packs, and for its tiles. Columns of X are read where they are, but for those that do not
/// fill a tile.
struct DotRoom {
  DotRoom(int m, int n)
      : x(m % height > 0 ? static_cast<std::size_t>(height) * strip_rows : 0),
        y(static_cast<std::size_t>(tiles_of(n, width) * width) * strip_rows),
        sums(static_cast<std::size_t>(tiles_of(m, height) * tiles_of(n, width)) * (height * width)) {}
  std::vector<double> x, y, sums;
};

/// result += Xᵀ Y over some rows.
void add_dots(const double* x, int m, const double* y, int n, std::ptrdiff_t rows, DotRoom& room, double* result) {
  const int down = tiles_of(m, height), across = tiles_of(n, width), whole = m / height;
  auto& [xs, ys, sums] = room;
  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::ptrdiff_t first = 0; first < rows; first += strip_rows) {
    const std::ptrdiff_t count = std::min(strip_rows, rows - first);
    const double* rows_of_x = x + first * m;
    if (whole < down) pack_last(rows_of_x, m, whole * height, count, xs.data());
    pack(y + first * n, n, count, width, ys.data());
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j)
        add_products(
            i < whole ? rows_of_x + i * height : xs.data(), i < whole ? m : height, ys.data() + j * count * width,
            count,
            *reinterpret_cast<Tile*>(sums.data() + static_cast<std::ptrdiff_t>(i * across + j) * height * width));
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      result[i * n + j] +=
          sums[static_cast<std::size_t>((i / height * across + j / width) * height + i % height) * width + j % width];
}

/// Copies up to `height` rows of m numbers so that those of a column stand side by side, and zeros for rows that are
/// not there.
void pack_rows(const double* x, int m, std::ptrdiff_t rows, double* panel) {
  for (std::ptrdiff_t r = 0; r < rows; ++r)
    for (int i = 0; i < m; ++i) panel[static_cast<std::ptrdiff_t>(i) * height + r] = x[r * m + i];
  for (std::ptrdiff_t r = rows; r < height; ++r)
    for (int i = 0; i < m; ++i) panel[static_cast<std::ptrdiff_t>(i) * height + r] = 0;
}

/// Y += X C for some rows, with C in panels. `room` has space for `height` rows of X.
void add_combinations(const double* x, int m, const double* panels, double* y, int n, std::ptrdiff_t rows,
                      std::vector<double>& room) {
  for (std::ptrdiff_t first = 0; first < rows; first += height) {
    const std::ptrdiff_t count = std::min<std::ptrdiff_t>(height, rows - first);
    pack_rows(x + first * m, m, count, room.data());
    for (int j = 0; j < n; j += width) {
      Tile tile = {};
      add_products(room.data(), height, panels + static_cast<std::ptrdiff_t>(j) * m, m, tile);
      const int taken = std::min(width, n - j);
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        double* to = y + (first + i) * n + j;
        if (taken == width)
          for (int k = 0; k < width; ++k) to[k] += tile[i][k];
        else
          for (int k = 0; k < taken; ++k) to[k] += tile[i][k];
      }
    }
  }
}

}  // namespace

void CpuBackend::block_dot(const Vector& x, const Vector& y, std::span<double> result) {
  cpu::require_own(*this, x, "block_dot");
  cpu::require_layout(*x.layout(), y, "block_dot");
  const int m = x.columns(), n = y.columns();
  const auto entries = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  if (result.size() != entries)
    throw Error(ErrorCode::misuse,
                "block_dot: " + std::to_string(result.size()) + " places for " + std::to_string(entries) + " products");
  std::fill(result.begin(), result.end(), 0.0);
  for (int d = 0; d < devices(); ++d) {
    const std::ptrdiff_t rows = x.layout()->owned(d);
    // How many parts there are depends on the length alone, so the order of additions does too.
    const std::ptrdiff_t per_part = std::max(strip_rows, (rows + most_parts - 1) / most_parts);
    const std::ptrdiff_t parts = (rows + per_part - 1) / per_part;
    std::vector<double> partial(static_cast<std::size_t>(parts) * entries, 0.0);
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
    cpu::ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads_) schedule(static) if (parts > 1)
    for (std::ptrdiff_t p = 0; p < parts; ++p)
      keeper.guard([&] {
        DotRoom room(m, n);
        const std::ptrdiff_t first = p * per_part;
        add_dots(px + first * m, m, py + first * n, n, std::min(per_part, rows - first), room,
                 partial.data() + static_cast<std::size_t>(p) * entries);
      });
    keeper.rethrow();
    for (std::ptrdiff_t p = 0; p < parts; ++p)
      for (std::size_t k = 0; k < entries; ++k) result[k] += partial[static_cast<std::size_t>(p) * entries + k];
  }
}

void CpuBackend::block_axpy(const Vector& x, std::span<const double> c, Vector& y) {
  cpu::require_own(*this, x, "block_axpy");
  cpu::require_layout(*x.layout(), y, "block_axpy");
  const int m = x.columns(), n = y.columns();
  if (&x == &y) throw Error(ErrorCode::misuse, "block_axpy: the two blocks of vectors must be different objects");
  if (c.size() != static_cast<std::size_t>(m) * static_cast<std::size_t>(n))
    throw Error(ErrorCode::misuse, "block_axpy: " + std::to_string(c.size()) + " factors where " + std::to_string(m) +
                                       " × " + std::to_string(n) + " are needed");
  std::vector<double> panels(static_cast<std::size_t>(tiles_of(n, width) * width) * static_cast<std::size_t>(m));
  pack(c.data(), n, m, width, panels.data());
  for (int d = 0; d < devices(); ++d) {
    const std::ptrdiff_t rows = x.layout()->owned(d);
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    double* py = y.part(d).update_device();
    constexpr std::ptrdiff_t strip = 64 * height;  // whole tiles
    const std::ptrdiff_t strips = (rows + strip - 1) / strip;
    cpu::ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads_) schedule(static) if (strips > 1)
    for (std::ptrdiff_t s = 0; s < strips; ++s)
      keeper.guard([&] {
        std::vector<double> room(static_cast<std::size_t>(m) * height);
        add_combinations(px + s * strip * m, m, panels.data(), py + s * strip * n, n, std::min(strip, rows - s * strip),
                         room);
      });
    keeper.rethrow();
  }
}

}  // namespace voussoir
