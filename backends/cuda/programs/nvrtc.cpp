#include <voussoir/backends/cuda/programs/nvrtc.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <type_traits>
#include <utility>

#include <voussoir/backends/error.hpp>

namespace voussoir::cuda {

std::vector<std::string> compiler_libraries() {
  if (const char* chosen = ::secure_getenv("VOUSSOIR_NVRTC"); chosen && *chosen) return {chosen};
  // By the linker's search path first; toolkits are often installed without being added to it.
  std::vector<std::string> folders{""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = ::secure_getenv(variable); folder && *folder)
      folders.push_back(std::string(folder) + "/lib64/");
  folders.push_back("/usr/local/cuda/lib64/");
  std::vector<std::string> names;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    for (const std::string& folder : folders) names.push_back(folder + name);
  return names;
}

// The part of NVRTC's interface in C that is used here. It has been the same since CUDA 8 (architectures: 11.2).
struct RuntimeCompiler::Library {
  using Program = struct OpaqueProgram*;
  using Result = int;
  static constexpr Result success = 0, compilation_failed = 6;

  void* handle = nullptr;
  const char* (*error_text)(Result) = nullptr;
  Result (*get_version)(int*, int*) = nullptr;
  Result (*count_architectures)(int*) = nullptr;
  Result (*get_architectures)(int*) = nullptr;
  Result (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*compile)(Program, int, const char* const*) = nullptr;
  Result (*cubin_size)(Program, std::size_t*) = nullptr;
  Result (*cubin)(Program, char*) = nullptr;
  Result (*ptx_size)(Program, std::size_t*) = nullptr;
  Result (*ptx)(Program, char*) = nullptr;
  Result (*log_size)(Program, std::size_t*) = nullptr;
  Result (*log)(Program, char*) = nullptr;
  Result (*add_expression)(Program, const char*) = nullptr;
  Result (*lowered_name)(Program, const char*, const char**) = nullptr;

  int major = 0, minor = 0;
  std::vector<int> architectures;

  Library() = default;
  ~Library() {
    if (handle) dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Takes the functions out of the library; returns the name of one that is missing, or null.
  const char* resolve() {
    const char* missing = nullptr;
    const auto take = [&](const char* name, auto& function) {
      void* symbol = dlsym(handle, name);
      if (!symbol && !missing) missing = name;
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    };
    take("nvrtcGetErrorString", error_text);
    take("nvrtcVersion", get_version);
    take("nvrtcGetNumSupportedArchs", count_architectures);
    take("nvrtcGetSupportedArchs", get_architectures);
    take("nvrtcCreateProgram", create);
    take("nvrtcDestroyProgram", destroy);
    take("nvrtcCompileProgram", compile);
    take("nvrtcGetCUBINSize", cubin_size);
    take("nvrtcGetCUBIN", cubin);
    take("nvrtcGetPTXSize", ptx_size);
    take("nvrtcGetPTX", ptx);
    take("nvrtcGetProgramLogSize", log_size);
    take("nvrtcGetProgramLog", log);
    take("nvrtcAddNameExpression", add_expression);
    take("nvrtcGetLoweredName", lowered_name);
    return missing;
  }

  void check(Result result, const char* what) const {
    if (result != success)
      throw Error(ErrorCode::device, std::string("NVIDIA's run-time compiler (NVRTC ") + std::to_string(major) + "." +
                                         std::to_string(minor) + ") failed at " + what + ": " + error_text(result));
  }
  std::string text(Program program, Result (*size_of)(Program, std::size_t*), Result (*get)(Program, char*),
                   const char* what) const {
    std::size_t size = 0;
    check(size_of(program, &size), what);
    std::string text(size, '\0');
    if (size > 0) check(get(program, text.data()), what);
    return text;
  }
};

RuntimeCompiler::RuntimeCompiler(std::unique_ptr<Library> library) : library_(std::move(library)) {}
RuntimeCompiler::~RuntimeCompiler() = default;

std::unique_ptr<RuntimeCompiler> RuntimeCompiler::load(const std::string& name, std::string& why) {
  auto library = std::make_unique<Library>();
  library->handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    const char* error = dlerror();
    why = error ? error : name + " cannot be loaded";
    return nullptr;
  }
  if (const char* missing = library->resolve()) {
    why = name + " has no function " + missing + "; it is too old, CUDA 12 or newer is needed";
    return nullptr;
  }
  int count = 0;
  bool fine = library->get_version(&library->major, &library->minor) == Library::success &&
              library->count_architectures(&count) == Library::success;
  library->architectures.resize(static_cast<std::size_t>(std::max(0, count)));
  fine = fine && library->get_architectures(library->architectures.data()) == Library::success;
  if (!fine || library->major < 12) {
    why = name + (fine ? " is of CUDA " + std::to_string(library->major) + "; CUDA 12 or newer is needed"
                       : std::string(" does not work"));
    return nullptr;
  }
  std::sort(library->architectures.begin(), library->architectures.end());
  return std::unique_ptr<RuntimeCompiler>(new RuntimeCompiler(std::move(library)));
}

const RuntimeCompiler* RuntimeCompiler::find(std::string& why) {
  // Never destroyed: programs that outlive static destruction may still ask.
  static std::mutex* const mutex = new std::mutex;
  static const RuntimeCompiler* found = nullptr;
  static std::string* const reason = new std::string;
  const std::lock_guard lock(*mutex);
  if (found) return found;
  if (reason->empty()) {
    std::string last;
    for (const std::string& name : compiler_libraries()) {
      found = load(name, last).release();
      if (found) return found;
    }
    const char* chosen = ::secure_getenv("VOUSSOIR_NVRTC");
    *reason = chosen && *chosen
                  ? "VOUSSOIR_NVRTC names " + std::string(chosen) + ", which cannot be used: " + last
                  : "NVIDIA's run-time compiler is not installed (libnvrtc.so.13 or libnvrtc.so.12; package "
                    "cuda-nvrtc or nvidia-cuda-nvrtc; if it is installed elsewhere, set VOUSSOIR_NVRTC to the file)";
  }
  why = *reason;
  return nullptr;
}

std::string RuntimeCompiler::version() const {
  return std::to_string(library_->major) + "." + std::to_string(library_->minor);
}

std::span<const int> RuntimeCompiler::architectures() const { return library_->architectures; }

CompiledKernel RuntimeCompiler::compile(const CompileRequest& request) const {
  const Library& nvrtc = *library_;
  std::vector<const char*> names, texts, options;
  for (const NamedText& header : request.headers) {
    names.push_back(header.name.c_str());
    texts.push_back(header.text.c_str());
  }
  for (const std::string& option : request.options) options.push_back(option.c_str());

  struct Holder {
    const Library& nvrtc;
    Library::Program program = nullptr;
    ~Holder() {
      if (program) (void)nvrtc.destroy(&program);
    }
  } holder{nvrtc};
  nvrtc.check(nvrtc.create(&holder.program, request.text.c_str(), "voussoir_kernel.cu", static_cast<int>(names.size()),
                           texts.data(), names.data()),
              "taking a text");
  nvrtc.check(nvrtc.add_expression(holder.program, request.expression.c_str()), "taking the name of a kernel");
  const Library::Result result = nvrtc.compile(holder.program, static_cast<int>(options.size()), options.data());
  CompiledKernel kernel;
  kernel.messages = nvrtc.text(holder.program, nvrtc.log_size, nvrtc.log, "giving its messages");
  while (!kernel.messages.empty() && kernel.messages.back() == '\0') kernel.messages.pop_back();
  if (result == Library::compilation_failed) return kernel;
  nvrtc.check(result, "compiling");

  const char* lowered = nullptr;
  nvrtc.check(nvrtc.lowered_name(holder.program, request.expression.c_str(), &lowered), "naming a kernel");
  kernel.name = lowered;
  kernel.code = request.machine_code ? nvrtc.text(holder.program, nvrtc.cubin_size, nvrtc.cubin, "giving the code")
                                     : nvrtc.text(holder.program, nvrtc.ptx_size, nvrtc.ptx, "giving the code");
  return kernel;
}

}  // namespace voussoir::cuda
