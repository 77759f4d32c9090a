#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <voussoir/backends/cuda/programs/jit_text.hpp>
#include <voussoir/backends/cuda/programs/nvrtc.hpp>
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// What programs of route jit have in common, of elements and of grids.

namespace voussoir::cuda {

/// A kernel of a user's text, ready to be started: from the user's cache, or compiled and kept there. Throws
/// jit_error().
std::unique_ptr<KernelModule> load_kernel(const KernelSource& source, const CompileRequest& request,
                                          const RuntimeCompiler& compiler);

/// The compiler for a text, or null with the reason in `why`: the text is null, or kernels cannot be compiled here.
const RuntimeCompiler* find_compiler(const KernelSource* source, std::string& why);
/// How a text is compiled, for people who ask for the route.
std::string compiled_from(const KernelSource& source, const RuntimeCompiler& compiler);

/// The program of a text, made when it is first asked for: one for all who ask. Null with the reason in `why` where
/// there is none, else `why` says how it is compiled.
template <class Program>
const Program* find_jit(const KernelSource* source, std::string& why) {
  const RuntimeCompiler* compiler = find_compiler(source, why);
  if (!compiler) return nullptr;
  // Never destroyed: at the end of the process the driver may be gone already.
  static std::mutex* const mutex = new std::mutex;
  static auto* const programs = new std::map<const KernelSource*, std::unique_ptr<Program> >;
  const std::lock_guard lock(*mutex);
  auto& made = (*programs)[source];
  if (!made) made = std::make_unique<Program>(*source, *compiler);
  why = compiled_from(*source, *compiler);
  return made.get();
}

}  // namespace voussoir::cuda
