#include <voussoir/backends/cuda/cuda_backend.hpp>

#include <chrono>
#include <cstdio>

#include <voussoir/backends/cuda/dense/cuda_condensation.hpp>
#include <voussoir/backends/cuda/dense/cuda_dense_blocks.hpp>
#include <voussoir/backends/cuda/explicit/cuda_explicit.hpp>
#include <voussoir/backends/cuda/grid/cuda_grid.hpp>
#include <voussoir/backends/cuda/multigrid/cuda_divided_multigrid.hpp>
#include <voussoir/backends/cuda/multigrid/cuda_multigrid.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/cuda/projection/cuda_projection.hpp>
#include <voussoir/backends/cuda/stencils/cuda_stencils.hpp>
#include <voussoir/backends/cuda/sweeps/cuda_sweeps.hpp>
#include <voussoir/backends/cuda/vectors/cuda_grouped_dots.hpp>

namespace voussoir::cuda {

CudaBackend::CudaBackend(std::string name, const std::vector<int>& ordinals) : name_(std::move(name)) {
  for (std::size_t d = 0; d < ordinals.size(); ++d) {
    set_device(ordinals[d]);
    if (has_code(any_kernel())) continue;
    const DeviceFacts facts = device_facts(ordinals[d]);
    const std::string capability = std::to_string(facts.major) + std::to_string(facts.minor);
    throw Error(ErrorCode::unavailable, "libvoussoir_cuda.so was built for other GPUs than GPU " +
                                            std::to_string(ordinals[d]) + " (" + facts.name + "); build it with " +
                                            "-DVOUSSOIR_CUDA_ARCHITECTURES=" + capability);
  }
  for (std::size_t d = 0; d < ordinals.size(); ++d)
    memories_.push_back(std::make_shared<CudaMemory>(static_cast<int>(d), ordinals[d]));
  for (const auto& m : memories_)
    for (const int other : ordinals)  // where a GPU cannot reach another, copies go through the host
      if (enable_peer_access(other, cuda_memory(m).ordinal())) cuda_memory(m).admit(other);
  multigrid_ = make_multigrid(memories_);
  provide(*multigrid_);
  divided_multigrid_ = make_divided_multigrid(memories_);
  provide(*divided_multigrid_);
  grouped_dots_ = make_grouped_dots(*this);
  provide(*grouped_dots_);
  projection_ = make_projection(*this);
  provide(*projection_);
  grids_ = make_grid_services(*this);
  provide(*grids_);
  stencils_ = make_stencils(*this);
  provide(*stencils_);
  sweeps_ = make_sweeps(memories_);
  provide(*sweeps_);
  provide(dense_block_services());
  provide(condensation_services());
  explicit_ = make_explicit_services(*this);
  provide(*explicit_);
}

CudaBackend::~CudaBackend() = default;

const std::shared_ptr<DeviceMemory>& CudaBackend::memory(int device) const {
  if (device < 0 || device >= devices())
    throw Error(ErrorCode::misuse, "there is no device " + std::to_string(device) + " in backend " + name_ +
                                       ", which has " + std::to_string(devices()));
  return memories_[static_cast<std::size_t>(device)];
}

std::string CudaBackend::describe() const {
  std::string text = name_ + ": ";
  for (int d = 0; d < devices(); ++d) {
    const CudaMemory& m = cuda_memory(memory(d));
    char size[32];
    std::snprintf(size, sizeof size, "%.0f GB", static_cast<double>(m.facts().total_bytes) * 1e-9);
    text += (d ? ", " : "") + m.facts().name + " (GPU " + std::to_string(m.ordinal()) + ", " + size +
            ", compute capability " + std::to_string(m.facts().major) + "." + std::to_string(m.facts().minor) + ")";
  }
  return text;
}

Route CudaBackend::route(const ElementProgram& program) const { return device_program(program).route(); }

std::string CudaBackend::route_reason(const ElementProgram& program) const {
  std::string why;
  (void)device_program(program, &why);
  return why;
}

void CudaBackend::wait() {
  for (const auto& m : memories_) cuda_memory(m).wait();
}

double CudaBackend::time(const std::function<void()>& work) {
  wait();
  if (devices() > 1) {  // several clocks: the host's is the one they share
    const auto start = std::chrono::steady_clock::now();
    work();
    wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  const CudaMemory& m = cuda_memory(memory(0));
  set_device(m.ordinal());
  DeviceTimer timer(m.stream());
  timer.start();
  work();
  return timer.stop();
}

}  // namespace voussoir::cuda
