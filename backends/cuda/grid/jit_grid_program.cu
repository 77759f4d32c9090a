#include <map>
#include <mutex>

#include <voussoir/backends/cuda/grid/device_grid_program.hpp>
#include <voussoir/backends/cuda/programs/jit_kernels.hpp>
#include <voussoir/backends/cuda/programs/jit_text.hpp>

// Grid kernels of route jit: their text is compiled for the GPU at hand when they are first used.

namespace voussoir::cuda {

#if defined(VSR_CUDA_EMULATED)

const DeviceGridProgram* find_jit_grid_program(const GridProgram&, std::string& why) {
  why = KernelModule::unavailable();
  return nullptr;
}

#else

namespace {

class JitGridProgram final : public DeviceGridProgram {
 public:
  JitGridProgram(const KernelSource& source, const RuntimeCompiler& compiler) : source_(source), compiler_(compiler) {}
  Route route() const override { return Route::jit; }
  void run(const GridJob& job, const CudaMemory& memory) const override {
    kernel(memory).launch(grid_of_rows(job.grid), memory.stream(), job);
  }

 private:
  const KernelModule& kernel(const CudaMemory& memory) const {
    const int architecture = 10 * memory.facts().major + memory.facts().minor;
    const std::lock_guard lock(mutex_);
    auto& module = modules_[architecture];
    if (!module)
      module = load_kernel(
          source_, jit_grid_request(source_, choose_target(architecture, compiler_.architectures()), kernel_headers()),
          compiler_);
    return *module;
  }

  const KernelSource& source_;
  const RuntimeCompiler& compiler_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<KernelModule> > modules_;
};

}  // namespace

const DeviceGridProgram* find_jit_grid_program(const GridProgram& program, std::string& why) {
  return find_jit<JitGridProgram>(program.source(), why);
}

#endif

}  // namespace voussoir::cuda
