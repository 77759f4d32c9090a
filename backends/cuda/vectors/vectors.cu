#include <algorithm>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/runtime/streaming.hpp>
#include <voussoir/backends/cuda/vectors/cuda_grouped_dots.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/grouped_dot_checks.hpp>

// Operations on whole vectors. They touch owned entries; ghosts are copies that products refresh.

namespace voussoir::cuda {

using voussoir::detail::owned_entries;
using voussoir::detail::require_alike;
using voussoir::detail::require_own;

namespace {

constexpr int width = 256;  // threads per block
constexpr int pairs_per_thread = 2;

struct Constant {
  static constexpr int inputs = 0;
  double value;
  __device__ double operator()(double, double) const { return value; }
};
struct Copy {
  static constexpr int inputs = 1;
  __device__ double operator()(double u, double) const { return u; }
};
struct Scaled {
  static constexpr int inputs = 1;
  double a;
  __device__ double operator()(double u, double) const { return a * u; }
};
struct Combination {
  static constexpr int inputs = 2;
  double a, b;
  __device__ double operator()(double u, double v) const { return a * u + b * v; }
};
struct Sum {
  static constexpr int inputs = 2;
  double a;
  __device__ double operator()(double u, double v) const { return a * u + v; }
};
struct Product {
  static constexpr int inputs = 2;
  __device__ double operator()(double u, double v) const { return u * v; }
};

/// y_i = f(u_i, v_i). A thread's pairs are a block's width apart, and all are read before the first is written. The
/// inputs may be y itself.
template <class Function>
__global__ void __launch_bounds__(width)
    map_pairs(std::int64_t count, Function f, const double* u, const double* v, double* y) {
  const std::int64_t pairs = count / 2;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (width * pairs_per_thread) + threadIdx.x;
  Pair a[pairs_per_thread] = {}, b[pairs_per_thread] = {};
#pragma unroll
  for (int k = 0; k < pairs_per_thread; ++k) {
    const std::int64_t pair = first + k * width;
    if (pair >= pairs) continue;
    if constexpr (Function::inputs > 0) a[k] = load_pair(u, pair);
    if constexpr (Function::inputs > 1) b[k] = load_pair(v, pair);
  }
#pragma unroll
  for (int k = 0; k < pairs_per_thread; ++k) {
    const std::int64_t pair = first + k * width;
    if (pair < pairs) store_pair(y, pair, {f(a[k].first, b[k].first), f(a[k].second, b[k].second)});
  }
  if (count % 2 == 1 && first == 0) {
    const std::int64_t last = count - 1;
    y[last] = f(Function::inputs > 0 ? u[last] : 0.0, Function::inputs > 1 ? v[last] : 0.0);
  }
}

template <class Function>
void enqueue_map(const std::shared_ptr<DeviceMemory>& memory, std::size_t count, Function f, const double* u,
                 const double* v, double* y) {
  const Grid grid = grid_for((static_cast<std::int64_t>(count) + 1) / 2, width * pairs_per_thread);
  launch(map_pairs<Function>, Grid{grid.blocks, width, 0}, stream_of(memory), count, f, u, v, y);
}

/// y_i = d_(i / columns) x_i. Index holds the number of entries.
template <class Index>
__global__ void __launch_bounds__(width)
    multiply_rows(Index count, Index columns, const double* d, const double* x, double* y) {
  const Index i = static_cast<Index>(blockIdx.x) * width + static_cast<Index>(threadIdx.x);
  if (i < count) y[i] = d[i / columns] * x[i];
}

/// Σ u_i v_i
__global__ void __launch_bounds__(sum_threads) dot_pairs(std::int64_t count, const double* u, const double* v,
                                                         double* partials, unsigned* counter, double* result) {
  const std::int64_t pairs = count / 2, step = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x;
  double sum = 0;
#pragma unroll 4
  for (std::int64_t pair = first; pair < pairs; pair += step) {
    const Pair a = load_pair(u, pair), b = load_pair(v, pair);
    sum += a.first * b.first + a.second * b.second;
  }
  if (count % 2 == 1 && first == 0) sum += u[count - 1] * v[count - 1];
  finish_sum<sum_threads>(sum, partials, counter, result);
}

/// x += a p, r −= a q, Σ r_i²
__global__ void __launch_bounds__(sum_threads)
    update_pairs(std::int64_t count, double a, const double* p, const double* q, double* x, double* r, double* partials,
                 unsigned* counter, double* result) {
  const std::int64_t pairs = count / 2, step = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x;
  double sum = 0;
#pragma unroll 2
  for (std::int64_t pair = first; pair < pairs; pair += step) {
    const Pair dp = load_pair(p, pair), dq = load_pair(q, pair), ox = load_pair(x, pair), old = load_pair(r, pair);
    const Pair left = {old.first - a * dq.first, old.second - a * dq.second};
    store_pair(x, pair, {ox.first + a * dp.first, ox.second + a * dp.second});
    store_pair(r, pair, left);
    sum += left.first * left.first + left.second * left.second;
  }
  if (count % 2 == 1 && first == 0) {
    const std::int64_t last = count - 1;
    x[last] += a * p[last];
    const double left = r[last] - a * q[last];
    r[last] = left;
    sum += left * left;
  }
  finish_sum<sum_threads>(sum, partials, counter, result);
}

/// The device side of y for results, where x is an input that may be the same vector.
double* target_of(const Vector& x, Vector& y, int device) {
  return &x == &y ? y.part(device).update_device() : y.part(device).write_device();
}

/// Waits for each device's sum, which a kernel leaves in the first of its results, and adds them in order.
double collect(const std::vector<std::shared_ptr<DeviceMemory>>& memories) {
  double sum = 0;
  for (const auto& memory : memories) {
    const CudaMemory& cuda = cuda_memory(memory);
    cuda.wait();
    sum += cuda.results()[0];
  }
  return sum;
}

/// The kernel of dot() for each pair, and one wait per device for all of them.
class CudaGroupedDots final : public GroupedDots {
 public:
  explicit CudaGroupedDots(Backend& backend) : backend_(backend) {}

  void dots(std::span<const Pair> pairs, std::span<double> results) override {
    static_assert(most_pairs <= CudaMemory::result_doubles);
    voussoir::detail::require_pairs(backend_, pairs, results);
    for (int d = 0; d < backend_.devices(); ++d) {
      DeviceSection section(*backend_.memory(d));
      const CudaMemory& cuda = cuda_memory(backend_.memory(d));
      const auto count = static_cast<std::int64_t>(owned_entries(pairs.front().x, d));
      for (std::size_t k = 0; k < pairs.size(); ++k)
        launch(dot_pairs, grid_for_sum(count), cuda.stream(), count, pairs[k].x.part(d).read_device(),
               pairs[k].y.part(d).read_device(), cuda.partials(), cuda.counter(), cuda.results() + k);
    }
    std::fill(results.begin(), results.end(), 0.0);
    for (int d = 0; d < backend_.devices(); ++d) {
      const CudaMemory& cuda = cuda_memory(backend_.memory(d));
      cuda.wait();
      for (std::size_t k = 0; k < results.size(); ++k) results[k] += cuda.results()[k];
    }
  }

 private:
  Backend& backend_;
};

}  // namespace

std::unique_ptr<GroupedDots> make_grouped_dots(Backend& backend) { return std::make_unique<CudaGroupedDots>(backend); }

const void* any_kernel() { return reinterpret_cast<const void*>(&map_pairs<Copy>); }

void CudaBackend::fill(Vector& x, double value) {
  require_own(*this, x, "fill");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    enqueue_map(memory(d), x.part(d).size(), Constant{value}, nullptr, nullptr, x.part(d).write_device());
  }
}

void CudaBackend::copy(const Vector& x, Vector& y) {
  require_own(*this, x, "copy");
  require_alike(x, y, "copy");
  if (&x == &y) return;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    enqueue_map(memory(d), owned_entries(x, d), Copy{}, px, nullptr, y.part(d).write_device());
  }
}

void CudaBackend::scale(double a, Vector& x) {
  require_own(*this, x, "scale");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    double* px = x.part(d).update_device();
    enqueue_map(memory(d), owned_entries(x, d), Scaled{a}, px, nullptr, px);
  }
}

void CudaBackend::axpy(double a, const Vector& x, Vector& y) {
  require_own(*this, x, "axpy");
  require_alike(x, y, "axpy");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    double* py = y.part(d).update_device();
    enqueue_map(memory(d), owned_entries(x, d), Sum{a}, px, py, py);
  }
}

void CudaBackend::axpby(double a, const Vector& x, double b, Vector& y) {
  require_own(*this, x, "axpby");
  require_alike(x, y, "axpby");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    const std::size_t count = owned_entries(x, d);
    if (b == 0) {  // the old y does not matter, be it NaN
      enqueue_map(memory(d), count, Scaled{a}, px, nullptr, target_of(x, y, d));
    } else {
      double* py = y.part(d).update_device();
      enqueue_map(memory(d), count, Combination{a, b}, px, py, py);
    }
  }
}

void CudaBackend::multiply(const Vector& d, const Vector& x, Vector& y) {
  require_own(*this, x, "multiply");
  require_alike(x, y, "multiply");
  voussoir::detail::require_layout(*x.layout(), d, "multiply");
  if (d.columns() != 1 && d.columns() != x.columns())
    throw Error(ErrorCode::misuse, "multiply: the factors have " + std::to_string(d.columns()) +
                                       " columns; use one column, or as many as the vector has");
  const bool spread = d.columns() == 1 && x.columns() > 1;
  for (int device = 0; device < devices(); ++device) {
    DeviceSection section(*memory(device));
    const double* pd = d.part(device).read_device();
    const double* px = x.part(device).read_device();
    double* py = &d == &y ? y.part(device).update_device() : target_of(x, y, device);
    const std::size_t count = owned_entries(x, device);
    const Grid grid = grid_for(static_cast<std::int64_t>(count), width);
    if (!spread)
      enqueue_map(memory(device), count, Product{}, pd, px, py);
    else if (count < (std::size_t{1} << 31))
      launch(multiply_rows<std::uint32_t>, grid, stream_of(memory(device)), count, x.columns(), pd, px, py);
    else
      launch(multiply_rows<std::uint64_t>, grid, stream_of(memory(device)), count, x.columns(), pd, px, py);
  }
}

double CudaBackend::dot(const Vector& x, const Vector& y) {
  require_own(*this, x, "dot");
  require_alike(x, y, "dot");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const CudaMemory& cuda = cuda_memory(memory(d));
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
    const auto count = static_cast<std::int64_t>(owned_entries(x, d));
    launch(dot_pairs, grid_for_sum(count), cuda.stream(), count, px, py, cuda.partials(), cuda.counter(),
           cuda.results());
  }
  return collect(memories_);
}

double CudaBackend::cg_update(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
  require_own(*this, p, "cg_update");
  require_alike(p, q, "cg_update");
  require_alike(p, x, "cg_update");
  require_alike(p, r, "cg_update");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const CudaMemory& cuda = cuda_memory(memory(d));
    const double* pp = p.part(d).read_device();
    const double* pq = q.part(d).read_device();
    double* px = x.part(d).update_device();
    double* pr = r.part(d).update_device();
    const auto count = static_cast<std::int64_t>(owned_entries(p, d));
    launch(update_pairs, grid_for_sum(count), cuda.stream(), count, a, pp, pq, px, pr, cuda.partials(), cuda.counter(),
           cuda.results());
  }
  return collect(memories_);
}

}  // namespace voussoir::cuda
