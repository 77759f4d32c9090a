#include <voussoir/backends/cuda/stencils/cuda_stencils.hpp>

#include <algorithm>
#include <vector>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/runtime/host_registration.hpp>
#include <voussoir/backends/cuda/stencils/jacobi_launch.hpp>
#include <voussoir/backends/detail/stencil_iteration.hpp>

namespace voussoir::cuda {

namespace {

using voussoir::detail::StencilLane;
using voussoir::detail::StencilPass;
using voussoir::detail::StencilPlanes;

/// A stream for each lane of each device: copies in, copies out, and the device's own stream for kernels.
template <class Real>
class CudaStencilMachine final : public voussoir::detail::StencilMachine<Real> {
 public:
  explicit CudaStencilMachine(const CudaBackend& backend) {
    parts_.resize(static_cast<std::size_t>(backend.devices()));
    for (int d = 0; d < backend.devices(); ++d) {
      Part& part = parts_[static_cast<std::size_t>(d)];
      part.memory = backend.memory(d);
      part.in = make_stream(part.cuda().ordinal());
      part.out = make_stream(part.cuda().ordinal());
    }
  }
  ~CudaStencilMachine() override {
    try {
      wait();
    } catch (const Error&) {  // reported to whoever asked for the results
    }
    pins_.clear();
    for (Part& part : parts_) {
      const int ordinal = part.cuda().ordinal();
      part.buffers.clear();
      if (part.in || emulated) destroy_stream(ordinal, part.in);
      if (part.out || emulated) destroy_stream(ordinal, part.out);
    }
  }
  CudaStencilMachine(const CudaStencilMachine&) = delete;
  CudaStencilMachine& operator=(const CudaStencilMachine&) = delete;

  int devices() const override { return static_cast<int>(parts_.size()); }
  int most_tile() const override { return most_jacobi_levels; }
  int make_buffer(int device, std::int64_t entries) override {
    Part& part = at(device);
    const DeviceSection section(*part.memory);
    part.buffers.emplace_back(part.memory, static_cast<std::size_t>(entries));
    (void)part.buffers.back().write_device();  // planes are written one by one
    // Memory of the pool is free in the order of the device's stream.
    order(device, StencilLane::in, StencilLane::compute);
    order(device, StencilLane::out, StencilLane::compute);
    return static_cast<int>(part.buffers.size()) - 1;
  }
  std::size_t free_bytes(int device) const override {
    const Part& part = parts_[static_cast<std::size_t>(device)];
    const auto sharing = std::count_if(parts_.begin(), parts_.end(), [&](const Part& other) {
      return other.cuda().ordinal() == part.cuda().ordinal();
    });
    return part.cuda().free() / static_cast<std::size_t>(sharing);
  }

  bool overlaps_copies() const override { return true; }

  void advance(int device, const StencilPass& pass) override {
    const DeviceSection section(*at(device).memory);
    launch_jacobi<Real>(pass, lent(device, pass.in), changed(device, pass.out), lent(device, pass.f),
                        at(device).cuda());
  }
  void residual(int device, const StencilPass& pass, std::span<StencilNorms> planes) override {
    Array<double> norms(at(device).memory, 2 * planes.size());
    {
      const DeviceSection section(*at(device).memory);
      launch_residual<Real>(pass, lent(device, pass.in), lent(device, pass.f), norms.write_device(), at(device).cuda());
    }
    const auto values = norms.read_host();
    for (std::size_t i = 0; i < planes.size(); ++i) planes[i] = {values[2 * i], values[2 * i + 1]};
  }
  void bring(int device, int buffer, std::int64_t place, const Real* host, std::int64_t entries) override {
    const DeviceSection section(*at(device).memory);
    copy_async(array(device, buffer).update_device() + place, host, bytes(entries), at(device).in);
  }
  void fetch(int device, int buffer, std::int64_t place, Real* host, std::int64_t entries) override {
    const DeviceSection section(*at(device).memory);
    copy_async(host, array(device, buffer).read_device() + place, bytes(entries), at(device).out);
  }
  void copy(int to, int to_buffer, std::int64_t to_place, int from, int from_buffer, std::int64_t from_place,
            std::int64_t entries) override {
    const CudaMemory &target = at(to).cuda(), &source = at(from).cuda();
    const DeviceSection sender(*at(from).memory);
    const DeviceSection section(*at(to).memory);
    const Real* const numbers = array(from, from_buffer).read_device() + from_place;
    Real* const place = array(to, to_buffer).update_device() + to_place;
    if (to != from) wait_for(target, source);
    set_device(target.ordinal());
    copy_between(place, target.ordinal(), numbers, source.ordinal(), bytes(entries), target.stream());
    if (to != from) wait_for(source, target);
  }
  void order(int device, StencilLane waiting, StencilLane other) override {
    const DeviceSection section(*at(device).memory);
    wait_for(stream(device, waiting), stream(device, other));
  }
  void wait() override {
    for (Part& part : parts_) {
      set_device(part.cuda().ordinal());
      synchronize(part.in);
      part.cuda().wait();
      synchronize(part.out);
    }
  }
  std::shared_ptr<Real> host_buffer(std::int64_t entries) override {
    const std::shared_ptr<DeviceMemory> memory = at(0).memory;
    const std::size_t size = bytes(entries);
    return std::shared_ptr<Real>(static_cast<Real*>(memory->allocate_host(size)),
                                 [memory, size](Real* pointer) { memory->release_host(pointer, size); });
  }
  bool pin(const Real* host, std::int64_t entries) override {
    set_device(at(0).cuda().ordinal());
    pins_.emplace_back(host, bytes(entries));
    return pins_.back().pinned();
  }

 private:
  struct Part {
    std::shared_ptr<DeviceMemory> memory;
    cudaStream_t in = nullptr, out = nullptr;
    std::vector<Array<Real>> buffers;
    const CudaMemory& cuda() const { return cuda_memory(memory); }
  };
  Part& at(int device) { return parts_[static_cast<std::size_t>(device)]; }
  Array<Real>& array(int device, int buffer) { return at(device).buffers[static_cast<std::size_t>(buffer)]; }
  cudaStream_t stream(int device, StencilLane lane) {
    Part& part = at(device);
    return lane == StencilLane::in ? part.in : lane == StencilLane::out ? part.out : part.cuda().stream();
  }
  static std::size_t bytes(std::int64_t entries) { return static_cast<std::size_t>(entries) * sizeof(Real); }
  DevicePlanes<const Real> lent(int device, const StencilPlanes& planes) {
    if (planes.buffer < 0) return {};
    return {array(device, planes.buffer).read_device(), planes.first, planes.count};
  }
  DevicePlanes<Real> changed(int device, const StencilPlanes& planes) {
    return {array(device, planes.buffer).update_device(), planes.first, planes.count};
  }

  std::vector<Part> parts_;
  std::vector<HostRegistration> pins_;
};

class CudaStencils final : public StencilServices {
 public:
  explicit CudaStencils(CudaBackend& backend) : backend_(backend) {}

  std::unique_ptr<StencilIteration<double>> make_jacobi(const StencilProblem& problem, std::span<const double> u,
                                                        std::span<const double> f,
                                                        const StencilOptions& options) override {
    return make<double>(problem, u, f, options);
  }
  std::unique_ptr<StencilIteration<float>> make_jacobi(const StencilProblem& problem, std::span<const float> u,
                                                       std::span<const float> f,
                                                       const StencilOptions& options) override {
    return make<float>(problem, u, f, options);
  }
  std::unique_ptr<StencilIteration<double>> stream_jacobi(const StencilProblem& problem, std::span<double> u,
                                                          std::span<const double> f,
                                                          const StencilOptions& options) override {
    return stream<double>(problem, u, f, options);
  }
  std::unique_ptr<StencilIteration<float>> stream_jacobi(const StencilProblem& problem, std::span<float> u,
                                                         std::span<const float> f,
                                                         const StencilOptions& options) override {
    return stream<float>(problem, u, f, options);
  }
  std::size_t slab_bytes(const StencilProblem& problem, std::int64_t slab, int height, bool source,
                         int real_bytes) const override {
    return voussoir::detail::slab_bytes(problem, slab, height, default_tile(problem, source, real_bytes), source,
                                        real_bytes);
  }
  int default_tile(const StencilProblem& problem, bool source, int real_bytes) const override {
    check_problem(problem);
    int least = most_jacobi_levels;
    for (int d = 0; d < backend_.devices(); ++d)
      least = std::min(least, default_jacobi_levels(source, real_bytes,
                                                    cuda_memory(backend_.memory(d)).facts().shared_bytes_per_block));
    return least;
  }
  std::unique_ptr<LongVectorHeat> make_long_vectors(std::int64_t n, double alpha, std::span<const double> u) override {
    voussoir::detail::check_long_vectors(n, alpha, u.size());
    return make_cuda_long_vectors(backend_.memory(0), n, alpha, u);
  }

 private:
  template <class Real>
  std::unique_ptr<StencilIteration<Real>> make(const StencilProblem& problem, std::span<const Real> u,
                                               std::span<const Real> f, const StencilOptions& options) {
    return voussoir::detail::make_memory_iteration<Real>(std::make_unique<CudaStencilMachine<Real>>(backend_), problem,
                                                         u, f, options,
                                                         default_tile(problem, !f.empty(), sizeof(Real)));
  }
  template <class Real>
  std::unique_ptr<StencilIteration<Real>> stream(const StencilProblem& problem, std::span<Real> u,
                                                 std::span<const Real> f, const StencilOptions& options) {
    return voussoir::detail::make_streamed_iteration<Real>(std::make_unique<CudaStencilMachine<Real>>(backend_),
                                                           problem, u, f, options,
                                                           default_tile(problem, !f.empty(), sizeof(Real)));
  }

  CudaBackend& backend_;
};

}  // namespace

std::unique_ptr<StencilServices> make_stencils(CudaBackend& backend) { return std::make_unique<CudaStencils>(backend); }

}  // namespace voussoir::cuda
