#include <cstdlib>
#include <utility>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/vectors/overlapped_exchange.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/overlap.hpp>
#include <voussoir/backends/halo_traffic.hpp>

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
void fetch(const Way& way, int columns, cudaStream_t stream) {
  launch(gather_rows, grid_for(way.count, threads), stream, way.count, columns, way.send, way.source, way.ghosts);
}

/// Between GPUs the owner packs what is sent, and sends it in one piece.
void pack_and_send(const Way& way, int columns, double* packed, cudaStream_t stream) {
  launch(gather_rows, grid_for(way.count, threads), stream, way.count, columns, way.send, way.source, packed);
  copy_between(way.ghosts, way.to.ordinal(), packed, way.from.ordinal(),
               static_cast<std::size_t>(way.count) * sizeof(double), stream);
}

std::int64_t bytes_of(const Way& way) { return way.count * static_cast<std::int64_t>(sizeof(double)); }

bool same_gpu(const CudaMemory& one, const CudaMemory& two) { return one.ordinal() == two.ordinal(); }

}  // namespace

void exchange_ghosts(const Vector& x) {
  const Layout& layout = *x.layout();
  if (layout.devices() == 1) return;
  const std::vector<Way> ways = ways_of(x);
  // What was asked of both sides before, the values and older readings of the ghosts, comes first. A receiver that
  // fetches on its own stream has read its ghosts before …
  for (const Way& way : ways) {
    if (same_gpu(way.from, way.to))
      wait_for(way.to, way.from);
    else
      wait_for(way.from, way.to);
  }
  HaloTraffic traffic{1, 0};
  for (const Way& way : ways) {
    traffic.bytes += bytes_of(way);
    const auto& worker = layout.memory(same_gpu(way.from, way.to) ? way.to.device() : way.from.device());
    DeviceSection section(*worker);
    if (same_gpu(way.from, way.to)) {
      fetch(way, x.columns(), way.to.stream());
    } else {
      // Given back in the order of the owner's stream, on which the copy is too.
      Array<double> packed(worker, static_cast<std::size_t>(way.count));
      pack_and_send(way, x.columns(), packed.write_device(), way.from.stream());
    }
  }
  // … and what is asked of the other side afterwards waits for it.
  for (const Way& way : ways) {
    if (same_gpu(way.from, way.to))
      wait_for(way.from, way.to);
    else
      wait_for(way.to, way.from);
  }
  if (traffic.bytes > 0) count_halo_traffic(traffic);
}

// --- beside other work -----------------------------------------------------------------------------------------------

OverlappedExchange::OverlappedExchange(std::shared_ptr<const Layout> shared, int columns)
    : shared_layout_(std::move(shared)), layout_(*shared_layout_), columns_(columns) {
  const Layout& layout = layout_;
  for (int d = 0; d < layout.devices(); ++d) streams_.push_back(make_stream(cuda_memory(layout.memory(d)).ordinal()));
  for (int to = 0; to < layout.devices(); ++to)
    for (const Layout::Exchange& exchange : layout.exchanges(to)) {
      if (exchange.send.empty()) continue;
      const bool together = same_gpu(cuda_memory(layout.memory(exchange.from)), cuda_memory(layout.memory(to)));
      Carrier carrier{exchange.from, to, together ? to : exchange.from, {}};
      if (!together)
        carrier.packed =
            Array<double>(layout.memory(exchange.from), exchange.send.size() * static_cast<std::size_t>(columns));
      carriers_.push_back(std::move(carrier));
    }
}

OverlappedExchange::~OverlappedExchange() {
  for (int d = 0; d < layout_.devices(); ++d)
    destroy_stream(cuda_memory(layout_.memory(d)).ordinal(), streams_[static_cast<std::size_t>(d)]);
}

bool OverlappedExchange::is_wanted(const Layout& layout, int fewest) {
  if (layout.devices() == 1) return false;
  if (const char* one = std::getenv("VOUSSOIR_CUDA_ONE_BY_ONE"); one && *one && std::string(one) != "0") return false;
  if (const auto requested = voussoir::detail::requested_overlap()) return *requested;
  for (int d = 1; d < layout.devices() && layout.devices() >= fewest; ++d)
    if (!same_gpu(cuda_memory(layout.memory(0)), cuda_memory(layout.memory(d)))) return true;
  return false;
}

void OverlappedExchange::follow_device(int worker, int device) const {
  const CudaMemory& memory = cuda_memory(layout_.memory(device));
  set_device(memory.ordinal());  // an event belongs to the device of its stream
  wait_for(streams_[static_cast<std::size_t>(worker)], memory.stream());
}

void OverlappedExchange::device_follows(int device, int worker) const {
  set_device(cuda_memory(layout_.memory(worker)).ordinal());
  wait_for(cuda_memory(layout_.memory(device)).stream(), streams_[static_cast<std::size_t>(worker)]);
}

void OverlappedExchange::begin(const Vector& x) {
  const std::vector<Way> ways = ways_of(x);
  // The values have been written, and ghosts have been read for the last time.
  for (const Carrier& carrier : carriers_) {
    follow_device(carrier.worker, carrier.from);
    follow_device(carrier.worker, carrier.to);
  }
  HaloTraffic traffic{1, 0};
  for (std::size_t k = 0; k < ways.size(); ++k) {
    traffic.bytes += bytes_of(ways[k]);
    Carrier& carrier = carriers_[k];
    const auto carry = [this, &carrier, way = ways[k], columns = x.columns()] {
      DeviceSection section(*layout_.memory(carrier.worker));
      const cudaStream_t stream = streams_[static_cast<std::size_t>(carrier.worker)];
      if (carrier.packed.empty())
        fetch(way, columns, stream);
      else
        pack_and_send(way, columns, carrier.packed.write_device(), stream);
    };
#if defined(VSR_CUDA_EMULATED)
    // Values arrive as late as they may: until then, whoever reads ghosts reads no numbers.
    fill_bytes_async(ways[k].ghosts, 0xff, static_cast<std::size_t>(bytes_of(ways[k])), nullptr);
    late_.emplace_back(carry);
#else
    carry();
#endif
  }
  if (traffic.bytes > 0) count_halo_traffic(traffic);
}

void OverlappedExchange::finish() {
  for (const auto& arrive : late_) arrive();
  late_.clear();
  // Receivers read the ghosts from here on, and owners may change what was sent.
  for (const Carrier& carrier : carriers_) {
    device_follows(carrier.to, carrier.worker);
    device_follows(carrier.from, carrier.worker);
  }
}

void CudaBackend::exchange(const Vector& x) {
  voussoir::detail::require_own(*this, x, "exchange");
  exchange_ghosts(x);
}

}  // namespace voussoir::cuda
