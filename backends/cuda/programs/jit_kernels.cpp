#include <voussoir/backends/cuda/programs/jit_kernels.hpp>

#include <voussoir/backends/cuda/programs/jit_cache.hpp>
#include <voussoir/backends/version.hpp>

namespace voussoir::cuda {

#if !defined(VSR_CUDA_EMULATED)

std::unique_ptr<KernelModule> load_kernel(const KernelSource& source, const CompileRequest& request,
                                          const RuntimeCompiler& compiler) {
  JitCache& cache = JitCache::of_user();
  const std::string key = cache_key(request, compiler.version(), version());
  CompiledKernel kernel;
  if (cache.read(key, kernel)) {
    try {
      return std::make_unique<KernelModule>(kernel.code, kernel.name);
    } catch (const Error&) {
      // Another driver may reject old code: it is compiled again.
    }
  }
  kernel = compiler.compile(request);
  if (kernel.code.empty()) throw jit_error(source, kernel.messages);
  auto module = std::make_unique<KernelModule>(kernel.code, kernel.name);
  cache.write(key, kernel);
  return module;
}

const RuntimeCompiler* find_compiler(const KernelSource* source, std::string& why) {
  if (!source) {
    why = "its source is not embedded; add its file to voussoir_add_elements()";
    return nullptr;
  }
  why = KernelModule::unavailable();
  return why.empty() ? RuntimeCompiler::find(why) : nullptr;
}

std::string compiled_from(const KernelSource& source, const RuntimeCompiler& compiler) {
  std::string text = "compiled at run time from " + source.file + " by NVRTC " + compiler.version();
  if (const std::string trouble = JitCache::of_user().trouble(); !trouble.empty()) text += "; " + trouble;
  return text;
}

#endif

}  // namespace voussoir::cuda
