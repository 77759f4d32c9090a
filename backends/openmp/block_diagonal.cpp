#include <algorithm>
#include <cmath>
#include <string>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/cpu_matrix.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Diagonals of matrices by blocks, their inverses, and products with them.

namespace voussoir {

namespace cpu {

namespace {

constexpr int most = 6;

enum class Inversion { fine, singular, not_finite };

/// Inverts a block in place by Gauss and Jordan with row pivoting, after scaling rows and columns so that the diagonal
/// is one: rotations and displacements have different units. `at` is the row where it failed.
Inversion invert_block(double* block, int n, double tiny, int& at) {
  double scale[most];
  double a[most][2 * most];
  for (int i = 0; i < n; ++i) {
    const double diagonal = std::fabs(block[i * n + i]);
    at = i;
    if (!std::isfinite(diagonal)) return Inversion::not_finite;
    if (diagonal <= tiny) return Inversion::singular;
    scale[i] = 1 / std::sqrt(diagonal);
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      a[i][j] = block[i * n + j] * scale[i] * scale[j];
      a[i][n + j] = i == j;
      at = i;
      if (!std::isfinite(a[i][j])) return Inversion::not_finite;
    }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    at = k;
    if (std::fabs(a[pivot][k]) < 1e-13) return Inversion::singular;
    if (pivot != k)
      for (int j = 0; j < 2 * n; ++j) std::swap(a[pivot][j], a[k][j]);
    const double factor = 1 / a[k][k];
    for (int j = 0; j < 2 * n; ++j) a[k][j] *= factor;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double share = a[i][k];
      for (int j = 0; j < 2 * n; ++j) a[i][j] -= share * a[k][j];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) block[i * n + j] = a[i][n + j] * scale[i] * scale[j];
  return Inversion::fine;
}

/// z = D r for block rows begin … end.
template <int B>
void multiply_blocks(const double* blocks, std::size_t begin, std::size_t end, std::size_t columns, const double* r,
                     double* z) {
  for (std::size_t row = begin; row < end; ++row) {
    const double* block = blocks + row * B * B;
    for (std::size_t c = 0; c < columns; ++c) {
      double in[B];
      for (int j = 0; j < B; ++j) in[j] = r[(row * B + static_cast<std::size_t>(j)) * columns + c];
      for (int i = 0; i < B; ++i) {
        double sum = 0;
        for (int j = 0; j < B; ++j) sum += block[i * B + j] * in[j];
        z[(row * B + static_cast<std::size_t>(i)) * columns + c] = sum;
      }
    }
  }
}

void multiply_blocks(int size, const double* blocks, std::size_t begin, std::size_t end, std::size_t columns,
                     const double* r, double* z) {
  switch (size) {
    case 1:
      return multiply_blocks<1>(blocks, begin, end, columns, r, z);
    case 2:
      return multiply_blocks<2>(blocks, begin, end, columns, r, z);
    case 3:
      return multiply_blocks<3>(blocks, begin, end, columns, r, z);
    case 4:
      return multiply_blocks<4>(blocks, begin, end, columns, r, z);
    case 5:
      return multiply_blocks<5>(blocks, begin, end, columns, r, z);
    default:
      return multiply_blocks<6>(blocks, begin, end, columns, r, z);
  }
}

/// Block rows that a thread takes at once: at most block_entries equations, whatever the block size.
std::size_t rows_at_once(int block_size) { return block_entries / static_cast<std::size_t>(block_size); }

void require_diagonal(const BlockDiagonal& diagonal, const Vector& r, const Vector& z) {
  if (!diagonal.layout)
    throw Error(ErrorCode::misuse, "block diagonal: it has no layout; take it from block_diagonal()");
  require_layout(*diagonal.layout, r, "block diagonal");
  require_alike(r, z, "block diagonal");
}

}  // namespace

}  // namespace cpu

BlockDiagonal CpuBackend::block_diagonal(const SparseMatrix& source, int block_size) {
  const auto* matrix = dynamic_cast<const cpu::CpuMatrix*>(&source);
  if (!matrix) throw Error(ErrorCode::misuse, "block_diagonal: the matrix was not made by this backend");
  const Layout& layout = *matrix->layout();
  for (int d = 0; d < layout.devices(); ++d)
    if (block_size < 1 || block_size > 6 || layout.owned(d) % block_size != 0)
      throw Error(ErrorCode::misuse, "block_diagonal: the " + std::to_string(layout.owned(d)) +
                                         " equations of device " + std::to_string(d) + " do not fall into blocks of " +
                                         std::to_string(block_size));
  BlockDiagonal diagonal{block_size, matrix->layout(), {}};
  for (int d = 0; d < layout.devices(); ++d) {
    const std::int32_t owned = layout.owned(d);
    Array<double> blocks(memory(d), static_cast<std::size_t>(owned) * static_cast<std::size_t>(block_size));
    {
      DeviceSection section(*memory(d));
      matrix->copy_diagonal(d, block_size, blocks.write_device());
    }
    diagonal.blocks.push_back(std::move(blocks));
  }
  return diagonal;
}

void CpuBackend::invert(BlockDiagonal& diagonal) {
  const int b = diagonal.block_size;
  const auto entries = static_cast<std::size_t>(b * b);
  // "Tiny" is meant against the largest entry on the diagonal: a node that only rounding holds is not held.
  double largest = 0;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const Array<double>& part = diagonal.blocks[static_cast<std::size_t>(d)];
    const double* blocks = part.read_device();
    for (std::size_t k = 0; k < part.size(); ++k)
      if (std::isfinite(blocks[k])) largest = std::max(largest, std::fabs(blocks[k]));
  }
  const double tiny = 1e-20 * largest;
  for (int d = 0; d < devices(); ++d) {
    Array<double>& part = diagonal.blocks[static_cast<std::size_t>(d)];
    const auto rows = static_cast<std::int64_t>(part.size() / entries);
    std::int64_t worst = rows;
    int worst_row = 0;
    cpu::Inversion reason = cpu::Inversion::fine;
    {
      DeviceSection section(*memory(d));
      double* blocks = part.update_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
      for (std::int64_t row = 0; row < rows; ++row) {
        int at = 0;
        const cpu::Inversion result = cpu::invert_block(blocks + static_cast<std::size_t>(row) * entries, b, tiny, at);
        if (result == cpu::Inversion::fine) continue;
#pragma omp critical(voussoir_invert)
        if (row < worst) {
          worst = row;
          worst_row = at;
          reason = result;
        }
      }
    }
    if (reason == cpu::Inversion::fine) continue;
    const std::string where = "equation " + std::to_string(diagonal.layout->first(d) + worst * b + worst_row);
    if (reason == cpu::Inversion::not_finite)
      throw Error(ErrorCode::not_finite, "the matrix has an entry that is not a number on its diagonal", where);
    throw Error(ErrorCode::singular,
                "the matrix has no stiffness of its own here; hold the equation or connect its node to stiff elements",
                where);
  }
}

void CpuBackend::apply(const BlockDiagonal& diagonal, const Vector& r, Vector& z) {
  cpu::require_diagonal(diagonal, r, z);
  const auto columns = static_cast<std::size_t>(r.columns());
  const int b = diagonal.block_size;
  for (int d = 0; d < devices(); ++d) {
    const auto rows = static_cast<std::size_t>(r.layout()->owned(d)) / static_cast<std::size_t>(b);
    DeviceSection section(*memory(d));
    const double* blocks = diagonal.blocks[static_cast<std::size_t>(d)].read_device();
    const double* pr = r.part(d).read_device();
    double* pz = &r == &z ? z.part(d).update_device() : z.part(d).write_device();
    const std::size_t step = cpu::rows_at_once(b);
    const auto pieces = static_cast<std::ptrdiff_t>((rows + step - 1) / step);
#pragma omp parallel for num_threads(threads_) schedule(static) if (pieces >= cpu::fewest_blocks)
    for (std::ptrdiff_t p = 0; p < pieces; ++p)
      cpu::multiply_blocks(b, blocks, static_cast<std::size_t>(p) * step,
                           std::min(rows, static_cast<std::size_t>(p + 1) * step), columns, pr, pz);
  }
}

double CpuBackend::apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) {
  cpu::require_diagonal(diagonal, r, z);
  if (&r == &z) throw Error(ErrorCode::misuse, "block diagonal: r·z needs two different vectors");
  const auto columns = static_cast<std::size_t>(r.columns());
  const int b = diagonal.block_size;
  double total = 0;
  for (int d = 0; d < devices(); ++d) {
    const auto rows = static_cast<std::size_t>(r.layout()->owned(d)) / static_cast<std::size_t>(b);
    DeviceSection section(*memory(d));
    const double* blocks = diagonal.blocks[static_cast<std::size_t>(d)].read_device();
    const double* pr = r.part(d).read_device();
    double* pz = z.part(d).write_device();
    const std::size_t step = cpu::rows_at_once(b);
    const auto pieces = static_cast<std::ptrdiff_t>((rows + step - 1) / step);
    std::vector<double> sums(static_cast<std::size_t>(pieces));
#pragma omp parallel for num_threads(threads_) schedule(static) if (pieces >= cpu::fewest_blocks)
    for (std::ptrdiff_t p = 0; p < pieces; ++p) {
      const std::size_t begin = static_cast<std::size_t>(p) * step, end = std::min(rows, begin + step);
      cpu::multiply_blocks(b, blocks, begin, end, columns, pr, pz);
      const std::size_t width = static_cast<std::size_t>(b) * columns;
      sums[static_cast<std::size_t>(p)] =
          cpu::dot_stretch(pr + begin * width, pz + begin * width, (end - begin) * width);
    }
    total += cpu::sum_pairwise(sums);
  }
  return total;
}

}  // namespace voussoir
