#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/multigrid/trouble_word.hpp>
#include <voussoir/backends/detail/invert_positive.hpp>

// The diagonal of a level, its inverse, and the steps of smoothers that need nothing else.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

/// A thread per block row.
template <int Size>
__global__ void __launch_bounds__(128)
    invert_blocks(LevelPattern rows, int size, const double* value, double* inverse, unsigned long long* trouble) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * 128 + threadIdx.x;
  if (row >= rows.rows) return;
  const std::int32_t n = rows.length(row);
  const std::int32_t k = find_block(rows.columns_of(row), n, static_cast<std::int32_t>(row));
  double* target = inverse + row * (size * size);
  const double* block = value + (rows.start[row] * size + k) * size;
  const int bad =
      k < 0 ? 0 : voussoir::detail::invert_positive<Size>(block, static_cast<std::int64_t>(n) * size, size, target);
  if (bad < 0) return;
  for (int e = 0; e < size * size; ++e) target[e] = 0;
  note_trouble(trouble, row * size + bad);
}

/// A warp per block row.
__global__ void __launch_bounds__(threads)
    invert_sums(LevelPattern rows, int size, const double* value, double* inverse) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= rows.rows) return;  // whole warps
  const std::int32_t stretch = rows.length(row) * size;
  double* target = inverse + row * (size * size);
  for (int e = lane; e < size * size; e += 32)
    if (e % size != e / size) target[e] = 0;
  for (int r = 0; r < size; ++r) {
    const double* own = value + rows.start[row] * (size * size) + static_cast<std::int64_t>(r) * stretch;
    double sum = 0;
    for (std::int32_t k = lane; k < stretch; k += 32) sum += own[k] < 0 ? -own[k] : own[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) target[r * size + r] = sum > 0 ? 1 / sum : 0;
  }
}

/// A warp per block row.
__global__ void __launch_bounds__(threads)
    hold_rows(LevelPattern rows, int size, double* value, unsigned long long* trouble) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= rows.rows) return;  // whole warps
  const std::int32_t n = rows.length(row), stretch = n * size;
  for (int r = 0; r < size; ++r) {
    double* own = value + rows.start[row] * (size * size) + static_cast<std::int64_t>(r) * stretch;
    bool filled = false;
    for (std::int32_t k = lane; k < stretch; k += 32) filled = filled || own[k] != 0;
    if (__any_sync(0xffffffffu, filled ? 1 : 0) || lane != 0) continue;
    const std::int32_t k = find_block(rows.columns_of(row), n, static_cast<std::int32_t>(row));
    if (k < 0)
      note_trouble(trouble, row);
    else
      own[k * size + r] = 1;
  }
}

/// What becomes of D r.
template <class Number>
struct DiagonalWork {
  std::int64_t count = 0;  // numbers of the vectors
  int size = 1, columns = 1;
  const Number* inverse = nullptr;
  const Number* r = nullptr;
  Number* y = nullptr;  // y = D r, unless null
  Number alpha = 0, beta = 0;
  Number* d = nullptr;  // d = beta d + alpha D r, unless null
  Number* x = nullptr;  // x = d (`fresh`) or x += d
  bool fresh = false;
};

/// A thread per number.
template <class Number>
__global__ void __launch_bounds__(threads) apply_diagonal(DiagonalWork<Number> work) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= work.count) return;
  const std::int64_t entry = work.columns == 1 ? i : i / work.columns, column = i - entry * work.columns;
  const std::int64_t first = entry / work.size * work.size;
  Number sum = 0;
  for (int s = 0; s < work.size; ++s)
    sum += work.inverse[entry * work.size + s] * work.r[(first + s) * work.columns + column];
  if (work.y) {
    work.y[i] = sum;
    return;
  }
  Number moved = work.alpha * sum;
  if (work.beta != Number{0}) moved += work.beta * work.d[i];
  work.d[i] = moved;
  work.x[i] = work.fresh ? moved : work.x[i] + moved;
}

/// The diagonal and a vector that fit each other, inside a section.
template <class Number>
DiagonalWork<Number> work_of(const LevelDiagonal& d, const LevelVector& r) {
  DiagonalWork<Number> work;
  work.count = static_cast<std::int64_t>(numbers<Number>(r).size());
  require_numbers<Number>(d, work.count / r.columns * d.size, "the inverse of a diagonal");
  work.size = d.size;
  work.columns = r.columns;
  work.inverse = numbers<Number>(d).read_device();
  work.r = numbers<Number>(r).read_device();
  return work;
}

template <class Number>
void require_alike(const LevelVector& x, const LevelVector& y) {
  require_numbers<Number>(y, static_cast<std::int64_t>(numbers<Number>(x).size()), "a vector");
  if (x.columns != y.columns)
    throw Error(ErrorCode::misuse, "multigrid: the vectors have different numbers of columns");
  if (&x == &y) throw Error(ErrorCode::misuse, "multigrid: a diagonal's product needs two different vectors");
}

template <class Number>
void enqueue(const DiagonalWork<Number>& work, cudaStream_t stream) {
  launch(apply_diagonal<Number>, grid_for(work.count, threads), stream, work);
}

}  // namespace

void CudaMultigrid::set_unit_diagonal_of_empty_rows(LevelMatrix& a) {
  require_own_rows(a, "set_unit_diagonal_of_empty_rows");
  DeviceSection section(*memory());
  TroubleWord trouble(memory());
  launch(hold_rows, grid_of_warps(a.rows, warps), stream(), pattern_of(a), a.height, a.value.update_device(),
         trouble.device());
  if (const std::int64_t row = trouble.read(); row >= 0)
    throw Error(ErrorCode::misuse,
                "set_unit_diagonal_of_empty_rows: block row " + std::to_string(row) + " has no diagonal block");
}

std::int64_t CudaMultigrid::invert_diagonal(const LevelMatrix& a, LevelDiagonal& inverse) {
  require_own_rows(a, "invert_diagonal");
  require_small_blocks(a.height, a.width);
  const int size = inverse.size = a.height;
  DeviceSection section(*memory());
  double* target = fresh_numbers(inverse, static_cast<std::int64_t>(a.rows) * size * size);
  TroubleWord trouble(memory());
  const auto kernel = size == 1   ? invert_blocks<1>
                      : size == 2 ? invert_blocks<2>
                      : size == 3 ? invert_blocks<3>
                      : size == 6 ? invert_blocks<6>
                                  : invert_blocks<0>;
  launch(kernel, grid_for(a.rows, 128), stream(), pattern_of(a), size, a.value.read_device(), target, trouble.device());
  return trouble.read();
}

void CudaMultigrid::invert_row_sums(const LevelMatrix& a, LevelDiagonal& inverse) {
  require_own_rows(a, "invert_row_sums");
  inverse.size = a.height;
  DeviceSection section(*memory());
  double* target = fresh_numbers(inverse, static_cast<std::int64_t>(a.rows) * a.height * a.height);
  launch(invert_sums, grid_of_warps(a.rows, warps), stream(), pattern_of(a), a.height, a.value.read_device(), target);
}

void CudaMultigrid::apply(const LevelDiagonal& d, const LevelVector& x, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    require_alike<Number>(x, y);
    DeviceSection section(*memory());
    DiagonalWork<Number> work = work_of<Number>(d, x);
    work.y = numbers<Number>(y).write_device();
    enqueue(work, stream());
  });
}

void CudaMultigrid::first_step(const LevelDiagonal& inverse, const LevelVector& b, double alpha, LevelVector& d,
                               LevelVector& x) {
  with_precision(b, [&](auto zero) {
    using Number = decltype(zero);
    require_alike<Number>(b, d);
    require_alike<Number>(b, x);
    DeviceSection section(*memory());
    DiagonalWork<Number> work = work_of<Number>(inverse, b);
    work.alpha = static_cast<Number>(alpha);
    work.d = numbers<Number>(d).write_device();
    work.x = numbers<Number>(x).write_device();
    work.fresh = true;
    enqueue(work, stream());
  });
}

void CudaMultigrid::step(const LevelDiagonal& inverse, const LevelVector& residual, double alpha, double beta,
                         LevelVector& d, LevelVector& x) {
  with_precision(residual, [&](auto zero) {
    using Number = decltype(zero);
    require_alike<Number>(residual, d);
    require_alike<Number>(residual, x);
    DeviceSection section(*memory());
    DiagonalWork<Number> work = work_of<Number>(inverse, residual);
    work.alpha = static_cast<Number>(alpha);
    work.beta = static_cast<Number>(beta);
    work.d = beta == 0 ? numbers<Number>(d).write_device() : numbers<Number>(d).update_device();
    work.x = numbers<Number>(x).update_device();
    enqueue(work, stream());
  });
}

}  // namespace voussoir::cuda
