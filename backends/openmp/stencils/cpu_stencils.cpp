#include <voussoir/backends/openmp/stencils/cpu_stencils.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <voussoir/backends/detail/stencil_iteration.hpp>
#include <voussoir/backends/host_memory.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/stencils/jacobi_tiles.hpp>
#include <voussoir/backends/openmp/stencils/long_vectors.hpp>

namespace voussoir::cpu {

namespace {

using detail::StencilLane;
using detail::StencilPass;
using detail::StencilPlanes;

/// The most iterations of a pass: more only repeat work.
constexpr int most_cpu_tile = 64;

/// Everything is done at once, in the order of the calls.
template <class Real>
class CpuStencilMachine final : public detail::StencilMachine<Real> {
 public:
  explicit CpuStencilMachine(const CpuBackend& backend) : threads_(backend.threads()) {
    for (int d = 0; d < backend.devices(); ++d) memories_.push_back(backend.memory(d));
    buffers_.resize(memories_.size());
  }
  int devices() const override { return static_cast<int>(memories_.size()); }
  int most_tile() const override { return most_cpu_tile; }

  int make_buffer(int device, std::int64_t entries) override {
    auto& buffers = buffers_[static_cast<std::size_t>(device)];
    buffers.emplace_back(memories_[static_cast<std::size_t>(device)], static_cast<std::size_t>(entries));
    const DeviceSection section(*memories_[static_cast<std::size_t>(device)]);
    (void)buffers.back().write_device();  // planes are written one by one, and those beyond sides never are
    return static_cast<int>(buffers.size()) - 1;
  }
  std::size_t free_bytes(int) const override {
    const double bytes = available_host_memory().bytes / static_cast<double>(devices());
    constexpr auto most = static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2);
    return static_cast<std::size_t>(std::min(bytes, most));
  }

  bool overlaps_copies() const override { return false; }

  void advance(int device, const StencilPass& pass) override {
    const DeviceSection section(*memories_[static_cast<std::size_t>(device)]);
    jacobi_tiles<Real>(pass, lent(device, pass.in, pass), changed(device, pass.out, pass), lent(device, pass.f, pass),
                       threads_);
  }
  void residual(int device, const StencilPass& pass, std::span<StencilNorms> planes) override {
    const DeviceSection section(*memories_[static_cast<std::size_t>(device)]);
    residual_planes<Real>(pass, lent(device, pass.in, pass), lent(device, pass.f, pass), planes, threads_);
  }
  void bring(int device, int buffer, std::int64_t at, const Real* host, std::int64_t entries) override {
    const DeviceSection section(*memories_[static_cast<std::size_t>(device)]);
    copy_numbers(array(device, buffer).update_device() + at, host, entries);
  }
  void fetch(int device, int buffer, std::int64_t at, Real* host, std::int64_t entries) override {
    const DeviceSection section(*memories_[static_cast<std::size_t>(device)]);
    copy_numbers(host, array(device, buffer).read_device() + at, entries);
  }
  void copy(int to, int to_buffer, std::int64_t to_at, int from, int from_buffer, std::int64_t from_at,
            std::int64_t entries) override {
    std::vector<Real> between(static_cast<std::size_t>(entries));  // devices do not see each other's memory
    fetch(from, from_buffer, from_at, between.data(), entries);
    bring(to, to_buffer, to_at, between.data(), entries);
  }
  void order(int, StencilLane, StencilLane) override {}
  void wait() override {}
  std::shared_ptr<Real> host_buffer(std::int64_t entries) override {
    return std::shared_ptr<Real>(new Real[static_cast<std::size_t>(entries)], std::default_delete<Real[]>());
  }
  bool pin(const Real*, std::int64_t) override { return true; }

 private:
  Array<Real>& array(int device, int buffer) {
    return buffers_[static_cast<std::size_t>(device)][static_cast<std::size_t>(buffer)];
  }
  PlanesAt<const Real> lent(int device, const StencilPlanes& planes, const StencilPass& pass) {
    if (planes.buffer < 0) return {};
    return {array(device, planes.buffer).read_device(), planes.first, planes.count,
            pass.problem->nodes[0] * pass.problem->nodes[1]};
  }
  PlanesAt<Real> changed(int device, const StencilPlanes& planes, const StencilPass& pass) {
    return {array(device, planes.buffer).update_device(), planes.first, planes.count,
            pass.problem->nodes[0] * pass.problem->nodes[1]};
  }
  void copy_numbers(Real* to, const Real* from, std::int64_t entries) const {
    constexpr std::int64_t piece = 1 << 16;
    const std::int64_t pieces = (entries + piece - 1) / piece;
#pragma omp parallel for num_threads(threads_) schedule(static) if (pieces > 4)
    for (std::int64_t p = 0; p < pieces; ++p)
      std::memcpy(to + p * piece, from + p * piece,
                  sizeof(Real) * static_cast<std::size_t>(std::min(piece, entries - p * piece)));
  }

  int threads_;
  std::vector<std::shared_ptr<DeviceMemory>> memories_;
  std::vector<std::vector<Array<Real>>> buffers_;
};

class CpuStencils final : public StencilServices {
 public:
  explicit CpuStencils(CpuBackend& backend) : backend_(backend) {}

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
    return detail::slab_bytes(problem, slab, height, default_tile(problem, source, real_bytes), source, real_bytes);
  }
  int default_tile(const StencilProblem& problem, bool, int real_bytes) const override {
    check_problem(problem);
    return cpu_stencil_tile(problem.nodes[0] * real_bytes);
  }
  std::unique_ptr<LongVectorHeat> make_long_vectors(std::int64_t n, double alpha, std::span<const double> u) override {
    detail::check_long_vectors(n, alpha, u.size());
    return cpu::make_long_vectors(backend_.memory(0), backend_.threads(), n, alpha, u);
  }

 private:
  template <class Real>
  std::unique_ptr<StencilIteration<Real>> make(const StencilProblem& problem, std::span<const Real> u,
                                               std::span<const Real> f, const StencilOptions& options) {
    return detail::make_memory_iteration<Real>(std::make_unique<CpuStencilMachine<Real>>(backend_), problem, u, f,
                                               options, default_tile(problem, !f.empty(), sizeof(Real)));
  }
  template <class Real>
  std::unique_ptr<StencilIteration<Real>> stream(const StencilProblem& problem, std::span<Real> u,
                                                 std::span<const Real> f, const StencilOptions& options) {
    return detail::make_streamed_iteration<Real>(std::make_unique<CpuStencilMachine<Real>>(backend_), problem, u, f,
                                                 options, default_tile(problem, !f.empty(), sizeof(Real)));
  }

  CpuBackend& backend_;
};

}  // namespace

std::unique_ptr<StencilServices> make_stencils(CpuBackend& backend) { return std::make_unique<CpuStencils>(backend); }

}  // namespace voussoir::cpu
