#include <voussoir/backends/cuda/multigrid/device_copies.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>

// Vectors of equations, spread over all devices, to and from the finest level, which is on the first.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;

/// to_(i, c) = from_(equation_i, c), 0 where a row is no equation. No `equation`: rows are the equations.
template <class Number>
__global__ void __launch_bounds__(threads)
    take_rows(std::int64_t count, int columns, const std::int32_t* equation, const double* from, Number* to) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (k >= count) return;
  if (!equation) {
    to[k] = static_cast<Number>(from[k]);
    return;
  }
  const std::int64_t row = columns == 1 ? k : k / columns, column = k - row * columns;
  const std::int32_t number = equation[row];
  to[k] = number < 0 ? Number{0} : static_cast<Number>(from[static_cast<std::int64_t>(number) * columns + column]);
}

template <class Number>
__global__ void __launch_bounds__(threads)
    give_rows(std::int64_t count, int columns, const std::int32_t* equation, const Number* from, double* to) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (k >= count) return;
  if (!equation) {
    to[k] = static_cast<double>(from[k]);
    return;
  }
  const std::int64_t row = columns == 1 ? k : k / columns, column = k - row * columns;
  const std::int32_t number = equation[row];
  if (number >= 0) to[static_cast<std::int64_t>(number) * columns + column] = static_cast<double>(from[k]);
}

void require_fitting(const Vector& whole, const Array<std::int32_t>& equation, const LevelVector& rows,
                     std::size_t size) {
  if (!whole.layout()) throw Error(ErrorCode::misuse, "multigrid: the vector has no layout");
  const auto columns = static_cast<std::size_t>(whole.columns());
  const std::size_t needed = (equation.empty() ? static_cast<std::size_t>(whole.size()) : equation.size()) * columns;
  if (rows.columns != whole.columns() || size != needed)
    throw Error(ErrorCode::misuse, "multigrid: a vector of " + std::to_string(whole.size()) + " equations and " +
                                       std::to_string(columns) + " columns does not match " + std::to_string(size) +
                                       " numbers of " + std::to_string(rows.columns) + " columns on the finest level");
}

/// Owned numbers of a device in a vector: where they begin among all, and how many there are.
struct Share {
  std::size_t first, count;
  Share(const Vector& x, int device)
      : first(static_cast<std::size_t>(x.layout()->first(device)) * static_cast<std::size_t>(x.columns())),
        count(static_cast<std::size_t>(x.layout()->owned(device)) * static_cast<std::size_t>(x.columns())) {}
};

/// All owned numbers of a vector, in the order of the equations, to the first device.
void gather(const Vector& x, Array<double>& all) {
  const Layout& layout = *x.layout();
  double* target;
  {
    DeviceSection section(*layout.memory(0));
    target = all.write_device();
  }
  for (int d = 0; d < layout.devices(); ++d) {
    const Share share(x, d);
    DeviceSection section(*layout.memory(d));
    send_to_first(layout, d, x.part(d).read_device(), share.count, target + share.first);
  }
}

/// The way back: each device fetches its own, and the first does not touch them again before.
void scatter(const Array<double>& all, Vector& x) {
  const Layout& layout = *x.layout();
  const CudaMemory& first = cuda_memory(layout.memory(0));
  const double* source;
  {
    DeviceSection section(*layout.memory(0));
    source = all.read_device();
  }
  for (int d = 0; d < layout.devices(); ++d) {
    const CudaMemory& own = cuda_memory(layout.memory(d));
    const Share share(x, d);
    if (d > 0) wait_for(own, first);
    {
      DeviceSection section(*layout.memory(d));
      copy_over(x.part(d).write_device(), own, source + share.first, first, share.count, own);
    }
    if (d > 0) wait_for(first, own);
  }
}

}  // namespace

void CudaMultigrid::take(const Vector& from, const Array<std::int32_t>& equation, LevelVector& to) {
  with_precision(to, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = numbers<Number>(to).size();
    require_fitting(from, equation, to, size);
    Array<double> all;  // not needed, and so not made, where there is one device: nothing may be allocated there
    if (from.layout()->devices() > 1) {
      all = array<double>(from.size() * from.columns());
      gather(from, all);
    }
    DeviceSection section(*memory());
    launch(take_rows<Number>, grid_for(static_cast<std::int64_t>(size), threads), stream(), size, from.columns(),
           equation.read_device(), (all.empty() ? from.part(0) : all).read_device(),
           numbers<Number>(to).write_device());
  });
}

void CudaMultigrid::give(const LevelVector& from, const Array<std::int32_t>& equation, Vector& to) {
  with_precision(from, [&](auto zero) {
    using Number = decltype(zero);
    const std::size_t size = numbers<Number>(from).size();
    require_fitting(to, equation, from, size);
    const bool several = to.layout()->devices() > 1;
    Array<double> all;
    if (several) all = array<double>(to.size() * to.columns());
    {
      DeviceSection section(*memory());
      launch(give_rows<Number>, grid_for(static_cast<std::int64_t>(size), threads), stream(), size, to.columns(),
             equation.read_device(), numbers<Number>(from).read_device(), (several ? all : to.part(0)).write_device());
    }
    if (several) scatter(all, to);
  });
}

}  // namespace voussoir::cuda
