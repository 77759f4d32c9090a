#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>

// Vectors on the levels of a multigrid hierarchy, in either precision. Sums are in double precision throughout.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;
constexpr int per_thread = 4;
/// Columns whose products are taken in one pass, and the partial sums of a block of threads.
constexpr int columns_at_once = 32;
constexpr int most_column_blocks = CudaMemory::partial_sums / columns_at_once;

/// Calls work(i) for the numbers of a thread, which are a block's width apart.
template <class Work>
__device__ void for_own(std::int64_t count, Work work) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (threads * per_thread) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < per_thread; ++k)
    if (first + k * threads < count) work(first + k * threads);
}

Grid grid_of_numbers(std::size_t count) {
  return {grid_for(static_cast<std::int64_t>(count), threads * per_thread).blocks, threads, 0};
}

__global__ void __launch_bounds__(threads) round_numbers(std::int64_t count, const double* from, float* to) {
  for_own(count, [&](std::int64_t i) { to[i] = static_cast<float>(from[i]); });
}

template <class Number>
__global__ void __launch_bounds__(threads) fill_numbers(std::int64_t count, Number value, Number* x) {
  for_own(count, [&](std::int64_t i) { x[i] = value; });
}

template <class Number>
__global__ void __launch_bounds__(threads) fill_noise(std::int64_t count, Number* x) {
  for_own(count,
          [&](std::int64_t i) { x[i] = static_cast<Number>(voussoir::detail::noise(static_cast<std::uint64_t>(i))); });
}

template <class Number>
__global__ void __launch_bounds__(threads) scale_numbers(std::int64_t count, Number a, const Number* x, Number* y) {
  for_own(count, [&](std::int64_t i) { y[i] = a * x[i]; });
}

/// What two vectors are multiplied by before they are added.
struct Factors {
  double first, second;
};
struct GivenFactors {
  double first, second;
  __device__ Factors operator()(int) const { return {first, second}; }
};
/// From the scalars that a K-cycle left on the device: see MultigridServices.
struct ResidualFactors {
  const double* scalars;
  int columns;
  __device__ Factors operator()(int column) const {
    return {1.0, -voussoir::detail::k_first_step(scalars[column], scalars[columns + column])};
  }
};
struct CombinationFactors {
  const double* scalars;
  int columns;
  __device__ Factors operator()(int column) const {
    const double* s = scalars + column;
    const auto steps = voussoir::detail::k_steps(s[0], s[columns], s[2 * columns], s[3 * columns], s[4 * columns]);
    return {steps.c, steps.d};
  }
};

/// y = first · u + second · v, with factors for each column. The inputs may be y itself: all are read before the first
/// is written.
template <class Number, class Source>
__global__ void __launch_bounds__(threads)
    combine(std::int64_t count, int columns, Source source, const Number* u, const Number* v, Number* y) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (threads * per_thread) + threadIdx.x;
  Number a[per_thread] = {}, b[per_thread] = {};
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const std::int64_t i = first + k * threads;
    if (i >= count) continue;
    a[k] = u[i];
    b[k] = v[i];
  }
  Factors factors = source(0);
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const std::int64_t i = first + k * threads;
    if (i >= count) continue;
    if (columns > 1) factors = source(static_cast<int>(i % columns));
    y[i] = static_cast<Number>(factors.first) * a[k] + static_cast<Number>(factors.second) * b[k];
  }
}

template <class Number>
__global__ void __launch_bounds__(sum_threads) dot_numbers(std::int64_t count, const Number* u, const Number* v,
                                                           double* partials, unsigned* counter, double* result) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  double sum = 0;
#pragma unroll 4
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; i < count; i += step)
    sum += static_cast<double>(u[i]) * static_cast<double>(v[i]);
  finish_sum<sum_threads>(sum, partials, counter, result);
}

/// Adds the values of all threads whose number leaves the same rest by `lanes`, a power of two; the first `lanes`
/// threads get the sums. All threads call.
__device__ double sum_strided(double value, int lanes) {
  VSR_SHARED double sums[sum_threads];
  const int rank = static_cast<int>(threadIdx.x);
  sums[rank] = value;
  __syncthreads();
  for (int step = sum_threads / 2; step >= lanes; step /= 2) {
    if (rank < step) sums[rank] += sums[rank + step];
    __syncthreads();
  }
  const double sum = sums[rank];
  __syncthreads();
  return sum;
}

/// result_c = Σ u_(i, c) v_(i, c) for `taken` columns from `first` on; `lanes` is a power of two of at least as many.
template <class Number>
__global__ void __launch_bounds__(sum_threads)
    dot_columns(std::int64_t rows, int columns, int first, int taken, int lanes, const Number* u, const Number* v,
                double* partials, unsigned* counter, double* result) {
  const int rank = static_cast<int>(threadIdx.x), column = rank % lanes, rows_at_once = sum_threads / lanes;
  const bool own = column < taken;
  double sum = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_at_once + rank / lanes; own && i < rows;
       i += static_cast<std::int64_t>(gridDim.x) * rows_at_once) {
    const std::int64_t at = i * columns + first + column;
    sum += static_cast<double>(u[at]) * static_cast<double>(v[at]);
  }
  sum = sum_strided(sum, lanes);
  if (rank < taken) partials[blockIdx.x * columns_at_once + threadIdx.x] = sum;
  if (!is_last_block(counter)) return;
  double total = 0;
  for (int block = rank / lanes; own && block < static_cast<int>(gridDim.x); block += rows_at_once)
    total += partials[block * columns_at_once + column];
  total = sum_strided(total, lanes);
  if (rank < taken) result[first + rank] = total;
}

/// Length of x in the precision of Number; all others must have it too.
template <class Number, class... Others>
std::size_t common_size(const LevelVector& x, const Others&... others) {
  const std::size_t size = numbers<Number>(x).size();
  (require_numbers<Number>(others, static_cast<std::int64_t>(size), "a vector"), ...);
  if (((others.columns != x.columns) || ...))
    throw Error(ErrorCode::misuse, "multigrid: the vectors have different numbers of columns");
  return size;
}

template <class Number>
void enqueue_dot(const LevelVector& x, const LevelVector& y, std::size_t size, double* result,
                 const CudaMemory& memory) {
  const Number* px = numbers<Number>(x).read_device();
  const Number* py = numbers<Number>(y).read_device();
  launch(dot_numbers<Number>, grid_for_sum(static_cast<std::int64_t>(size), 4), memory.stream(), size, px, py,
         memory.partials(), memory.counter(), result);
}

template <class Number>
void enqueue_dots(const LevelVector& x, const LevelVector& y, std::size_t size, double* result,
                  const CudaMemory& memory) {
  const Number* px = numbers<Number>(x).read_device();
  const Number* py = numbers<Number>(y).read_device();
  const std::int64_t rows = static_cast<std::int64_t>(size) / x.columns;
  for (int first = 0; first < x.columns; first += columns_at_once) {
    const int taken = x.columns - first < columns_at_once ? x.columns - first : columns_at_once;
    int lanes = 1;
    while (lanes < taken) lanes *= 2;
    const std::int64_t blocks = grid_for(rows, 4 * sum_threads / lanes).blocks;
    const Grid grid{blocks < 1 ? 1 : blocks > most_column_blocks ? most_column_blocks : blocks, sum_threads, 0};
    launch(dot_columns<Number>, grid, memory.stream(), rows, x.columns, first, taken, lanes, px, py, memory.partials(),
           memory.counter(), result);
  }
}

void require_slots(const Array<double>& scalars, int slots, int columns) {
  if (slots < 1 || scalars.size() < static_cast<std::size_t>(slots) * static_cast<std::size_t>(columns))
    throw Error(ErrorCode::misuse, "multigrid: there is no slot " + std::to_string(slots - 1) + " for products of " +
                                       std::to_string(columns) + " columns among " + std::to_string(scalars.size()) +
                                       " scalars");
}

}  // namespace

template <class Holder>
void CudaMultigrid::round(Holder& holder) const {
  if (holder.value.empty()) return;
  Array<float> rounded(memory(), holder.value.size());
  DeviceSection section(*memory());
  launch(round_numbers, grid_of_numbers(rounded.size()), stream(), rounded.size(), holder.value.read_device(),
         rounded.write_device());
  holder.single_value = std::move(rounded);
  holder.value = Array<double>();
}

void CudaMultigrid::to_single(LevelMatrix& a) { round(a); }
void CudaMultigrid::to_single(LevelDiagonal& d) { round(d); }
void CudaMultigrid::to_single(DenseInverse& d) { round(d); }

void CudaMultigrid::fill_with_noise(LevelVector& x) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    DeviceSection section(*memory());
    auto& values = numbers<Number>(x);
    launch(fill_noise<Number>, grid_of_numbers(values.size()), stream(), values.size(), values.write_device());
  });
}

void CudaMultigrid::fill(LevelVector& x, double value) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    DeviceSection section(*memory());
    auto& values = numbers<Number>(x);
    launch(fill_numbers<Number>, grid_of_numbers(values.size()), stream(), values.size(), static_cast<Number>(value),
           values.write_device());
  });
}

void CudaMultigrid::axpby(double a, const LevelVector& x, double b, LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(x, y);
    DeviceSection section(*memory());
    const Number* px = numbers<Number>(x).read_device();
    if (b == 0) {  // the old y does not matter, be it NaN
      launch(scale_numbers<Number>, grid_of_numbers(size), stream(), size, static_cast<Number>(a), px,
             target_of<Number>(y, x));
    } else {
      Number* py = numbers<Number>(y).update_device();
      launch(combine<Number, GivenFactors>, grid_of_numbers(size), stream(), size, 1, GivenFactors{a, b}, px, py, py);
    }
  });
}

double CudaMultigrid::dot(const LevelVector& x, const LevelVector& y) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(x, y);
    DeviceSection section(*memory());
    enqueue_dot<Number>(x, y, size, cuda().results(), cuda());
  });
  cuda().wait();
  return cuda().results()[0];
}

void CudaMultigrid::dot(const LevelVector& x, const LevelVector& y, Array<double>& scalars, int slot) {
  with_precision(x, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(x, y);
    require_slots(scalars, slot + 1, x.columns);
    DeviceSection section(*memory());
    double* result = scalars.update_device() + static_cast<std::ptrdiff_t>(slot) * x.columns;
    if (x.columns == 1)
      enqueue_dot<Number>(x, y, size, result, cuda());
    else
      enqueue_dots<Number>(x, y, size, result, cuda());
  });
}

void CudaMultigrid::k_residual(const Array<double>& scalars, const LevelVector& b, const LevelVector& v,
                               LevelVector& r) {
  with_precision(b, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(b, v, r);
    require_slots(scalars, 2, b.columns);
    DeviceSection section(*memory());
    const ResidualFactors factors{scalars.read_device(), b.columns};
    const Number* pb = numbers<Number>(b).read_device();
    const Number* pv = numbers<Number>(v).read_device();
    launch(combine<Number, ResidualFactors>, grid_of_numbers(size), stream(), size, b.columns, factors, pb, pv,
           target_of<Number>(r, b, v));
  });
}

void CudaMultigrid::k_combine(const Array<double>& scalars, const LevelVector& c, const LevelVector& d,
                              LevelVector& x) {
  with_precision(c, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = common_size<Number>(c, d, x);
    require_slots(scalars, 5, c.columns);
    DeviceSection section(*memory());
    const CombinationFactors factors{scalars.read_device(), c.columns};
    const Number* pc = numbers<Number>(c).read_device();
    const Number* pd = numbers<Number>(d).read_device();
    launch(combine<Number, CombinationFactors>, grid_of_numbers(size), stream(), size, c.columns, factors, pc, pd,
           target_of<Number>(x, c, d));
  });
}

}  // namespace voussoir::cuda
