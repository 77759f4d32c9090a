#include <map>
#include <mutex>

#include <voussoir/backends/cuda/grid/device_grid_program.hpp>
#include <voussoir/backends/cuda/programs/jit_cache.hpp>
#include <voussoir/backends/cuda/programs/jit_text.hpp>
#include <voussoir/backends/version.hpp>

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
    if (!module) module = make(choose_target(architecture, compiler_.architectures()));
    return *module;
  }

  std::unique_ptr<KernelModule> make(const Target& target) const {
    const CompileRequest request = jit_grid_request(source_, target, kernel_headers());
    JitCache& cache = JitCache::of_user();
    const std::string key = cache_key(request, compiler_.version(), version());
    CompiledKernel kernel;
    if (cache.read(key, kernel)) {
      try {
        return std::make_unique<KernelModule>(kernel.code, kernel.name);
      } catch (const Error&) {
        // Another driver may reject old code: it is compiled again.
      }
    }
    kernel = compiler_.compile(request);
    if (kernel.code.empty()) throw jit_error(source_, kernel.messages);
    auto module = std::make_unique<KernelModule>(kernel.code, kernel.name);
    cache.write(key, kernel);
    return module;
  }

  const KernelSource& source_;
  const RuntimeCompiler& compiler_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<KernelModule> > modules_;
};

}  // namespace

const DeviceGridProgram* find_jit_grid_program(const GridProgram& program, std::string& why) {
  const KernelSource* source = program.source();
  if (!source) {
    why = "its source is not embedded; add its file to voussoir_add_elements()";
    return nullptr;
  }
  why = KernelModule::unavailable();
  if (!why.empty()) return nullptr;
  const RuntimeCompiler* compiler = RuntimeCompiler::find(why);
  if (!compiler) return nullptr;
  // Never destroyed: at the end of the process the driver may be gone already.
  static std::mutex* const mutex = new std::mutex;
  static auto* const programs = new std::map<const KernelSource*, std::unique_ptr<JitGridProgram> >;
  const std::lock_guard lock(*mutex);
  auto& made = (*programs)[source];
  if (!made) made = std::make_unique<JitGridProgram>(*source, *compiler);
  why = "compiled at run time from " + source->file + " by NVRTC " + compiler->version();
  if (const std::string trouble = JitCache::of_user().trouble(); !trouble.empty()) why += "; " + trouble;
  return made.get();
}

#endif

}  // namespace voussoir::cuda
