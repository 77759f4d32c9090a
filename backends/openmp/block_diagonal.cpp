#include <algorithm>
#include <cmath>
#include <string>

#include <voussoir/backends/detail/invert_block.hpp>
#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/cpu_matrix.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Diagonals of matrices by blocks, their inverses, and products with them.

namespace voussoir {

namespace cpu {

namespace {

/// z = D r for block rows begin … end.
template <int B, class Number>
void multiply_blocks(const Number* blocks, std::size_t begin, std::size_t end, std::size_t columns, const double* r,
                     double* z) {
  for (std::size_t row = begin; row < end; ++row) {
    const Number* block = blocks + row * B * B;
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

template <class Number>
void multiply_blocks(int size, const Number* blocks, std::size_t begin, std::size_t end, std::size_t columns,
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

/// Calls `work` with the numbers of a device's blocks, in the precision in which they are kept; inside a section.
template <class Work>
void with_blocks(const BlockDiagonal& diagonal, int device, const Work& work) {
  if (diagonal.single_blocks.empty())
    work(diagonal.blocks[static_cast<std::size_t>(device)].read_device());
  else
    work(diagonal.single_blocks[static_cast<std::size_t>(device)].read_device());
}

/// Block rows that a thread takes at once: at most block_entries equations, whatever the block size.
std::size_t rows_at_once(int block_size) { return block_entries / static_cast<std::size_t>(block_size); }

void require_diagonal(const BlockDiagonal& diagonal, const Vector& r, const Vector& z) {
  if (!diagonal.layout)
    throw Error(ErrorCode::misuse, "block diagonal: it has no layout; get it from block_diagonal()");
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
  if (!diagonal.single_blocks.empty())
    throw Error(ErrorCode::misuse, "block diagonal: invert it before converting it to single precision");
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
    detail::Inversion reason = detail::Inversion::fine;
    {
      DeviceSection section(*memory(d));
      double* blocks = part.update_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
      for (std::int64_t row = 0; row < rows; ++row) {
        int at = 0;
        const detail::Inversion result =
            detail::invert_block(blocks + static_cast<std::size_t>(row) * entries, b, tiny, at);
        if (result == detail::Inversion::fine) continue;
#pragma omp critical(voussoir_invert)
        if (row < worst) {
          worst = row;
          worst_row = at;
          reason = result;
        }
      }
    }
    if (reason == detail::Inversion::fine) continue;
    const std::string where = "equation " + std::to_string(diagonal.layout->first(d) + worst * b + worst_row);
    if (reason == detail::Inversion::not_finite)
      throw Error(ErrorCode::not_finite, "the matrix has a diagonal entry that is not finite", where);
    throw Error(ErrorCode::singular,
                "the matrix has no stiffness here; prescribe the unknown or connect its node to stiff elements", where);
  }
}

void CpuBackend::to_single(BlockDiagonal& diagonal) {
  if (!diagonal.single_blocks.empty()) return;
  std::vector<Array<float>> all;
  for (int d = 0; d < devices(); ++d) {
    const Array<double>& from = diagonal.blocks[static_cast<std::size_t>(d)];
    Array<float> to(memory(d), from.size());
    DeviceSection section(*memory(d));
    const double* source = from.read_device();
    float* target = to.write_device();
    for (std::size_t k = 0; k < from.size(); ++k) target[k] = static_cast<float>(source[k]);
    all.push_back(std::move(to));
  }
  diagonal.single_blocks = std::move(all);
  diagonal.blocks.clear();
}

void CpuBackend::apply(const BlockDiagonal& diagonal, const Vector& r, Vector& z) {
  cpu::require_diagonal(diagonal, r, z);
  const auto columns = static_cast<std::size_t>(r.columns());
  const int b = diagonal.block_size;
  for (int d = 0; d < devices(); ++d) {
    const auto rows = static_cast<std::size_t>(r.layout()->owned(d)) / static_cast<std::size_t>(b);
    DeviceSection section(*memory(d));
    const double* pr = r.part(d).read_device();
    double* pz = &r == &z ? z.part(d).update_device() : z.part(d).write_device();
    const std::size_t step = cpu::rows_at_once(b);
    const auto pieces = static_cast<std::ptrdiff_t>((rows + step - 1) / step);
    cpu::with_blocks(diagonal, d, [&](const auto* blocks) {
#pragma omp parallel for num_threads(threads_) schedule(static) if (pieces >= cpu::fewest_blocks)
      for (std::ptrdiff_t p = 0; p < pieces; ++p)
        cpu::multiply_blocks(b, blocks, static_cast<std::size_t>(p) * step,
                             std::min(rows, static_cast<std::size_t>(p + 1) * step), columns, pr, pz);
    });
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
    const double* pr = r.part(d).read_device();
    double* pz = z.part(d).write_device();
    const std::size_t step = cpu::rows_at_once(b);
    const auto pieces = static_cast<std::ptrdiff_t>((rows + step - 1) / step);
    std::vector<double> sums(static_cast<std::size_t>(pieces));
    cpu::with_blocks(diagonal, d, [&](const auto* blocks) {
#pragma omp parallel for num_threads(threads_) schedule(static) if (pieces >= cpu::fewest_blocks)
      for (std::ptrdiff_t p = 0; p < pieces; ++p) {
        const std::size_t begin = static_cast<std::size_t>(p) * step, end = std::min(rows, begin + step);
        cpu::multiply_blocks(b, blocks, begin, end, columns, pr, pz);
        const std::size_t width = static_cast<std::size_t>(b) * columns;
        sums[static_cast<std::size_t>(p)] =
            cpu::dot_stretch(pr + begin * width, pz + begin * width, (end - begin) * width);
      }
    });
    total += cpu::sum_pairwise(sums);
  }
  return total;
}

}  // namespace voussoir
