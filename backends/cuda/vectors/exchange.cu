#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/detail/checks.hpp>

// Ghosts of vectors on several devices. Each device has its own stream, so streams wait for each other both ways: who
// reads waits for who wrote, and who wrote must not write again before it was read.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;

/// target_(i, c) = source_(index_i, c)
__global__ void __launch_bounds__(threads)
    gather_rows(std::int64_t count, int columns, const std::int32_t* index, const double* source, double* target) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (k >= count) return;
  if (columns == 1) {
    target[k] = source[index[k]];
  } else {
    const std::int64_t i = k / columns, c = k - i * columns;
    target[k] = source[static_cast<std::int64_t>(index[i]) * columns + c];
  }
}

/// One way of values between two devices.
struct Way {
  const CudaMemory& from;
  const CudaMemory& to;
  std::int64_t count;  // numbers, all columns
  const std::int32_t* send;
  const double* source;
  double* ghosts;
};

std::vector<Way> ways_of(const Vector& x) {
  const Layout& layout = *x.layout();
  std::vector<Way> ways;
  for (int to = 0; to < layout.devices(); ++to)
    for (const Layout::Exchange& exchange : layout.exchanges(to)) {
      if (exchange.send.empty()) continue;
      const auto& owner = layout.memory(exchange.from);
      const std::int32_t* send;
      const double* source;
      double* ghosts;
      {
        DeviceSection section(*owner);
        send = exchange.send.read_device();
        source = x.part(exchange.from).read_device();
      }
      {
        DeviceSection section(*layout.memory(to));
        ghosts = x.part_for_exchange(to).update_device() +
                 static_cast<std::size_t>(exchange.first_ghost) * static_cast<std::size_t>(x.columns());
      }
      const auto count = static_cast<std::int64_t>(exchange.send.size()) * x.columns();
      ways.push_back({cuda_memory(owner), cuda_memory(layout.memory(to)), count, send, source, ghosts});
    }
  return ways;
}

/// Where both lie on one GPU the receiver reads the owner's vector itself.
void fetch(const Way& way, int columns) {
  launch(gather_rows, grid_for(way.count, threads), way.to.stream(), way.count, columns, way.send, way.source,
         way.ghosts);
}

/// Between GPUs the owner packs what is sent, and sends it in one piece.
void send(const Way& way, int columns, const std::shared_ptr<DeviceMemory>& owner) {
  DeviceSection section(*owner);
  // Given back in the order of the owner's stream, on which the copy is too.
  Array<double> packed(owner, static_cast<std::size_t>(way.count));
  launch(gather_rows, grid_for(way.count, threads), way.from.stream(), way.count, columns, way.send, way.source,
         packed.write_device());
  copy_between(way.ghosts, way.to.ordinal(), packed.read_device(), way.from.ordinal(),
               static_cast<std::size_t>(way.count) * sizeof(double), way.from.stream());
}

}  // namespace

void exchange_ghosts(const Vector& x) {
  const Layout& layout = *x.layout();
  if (layout.devices() == 1) return;
  const std::vector<Way> ways = ways_of(x);
  // What was asked of both sides before, the values and older readings of the ghosts, comes first …
  for (const Way& way : ways) {
    wait_for(way.to, way.from);
    wait_for(way.from, way.to);
  }
  for (const Way& way : ways) {
    if (way.from.ordinal() == way.to.ordinal()) {
      DeviceSection section(*layout.memory(way.to.device()));
      fetch(way, x.columns());
    } else {
      send(way, x.columns(), layout.memory(way.from.device()));
    }
  }
  // … and what is asked of them after waits for it.
  for (const Way& way : ways) {
    wait_for(way.to, way.from);
    wait_for(way.from, way.to);
  }
}

void CudaBackend::exchange(const Vector& x) {
  voussoir::detail::require_own(*this, x, "exchange");
  exchange_ghosts(x);
}

}  // namespace voussoir::cuda
