#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

// NVIDIA's run-time compiler, loaded when the first element needs it. Nothing here needs a GPU or CUDA's headers.

namespace voussoir::cuda {

/// A text that an #include finds by its name.
struct NamedText {
  std::string name;
  std::string text;
};

/// What is to be compiled.
struct CompileRequest {
  std::string text;                  ///< the main file
  std::vector<NamedText> headers;    ///< all that it may include
  std::vector<std::string> options;  ///< of the compiler
  std::string expression;            ///< C++ name of the kernel to instantiate
  bool machine_code = true;          ///< false: PTX, which the driver translates
};

/// What came of it.
struct CompiledKernel {
  std::string name;  ///< as the linker knows it
  std::string code;
  std::string messages;  ///< of the compiler; without code they say what is wrong
};

/// Shared libraries in which the compiler is looked for, best first. VOUSSOIR_NVRTC names the only one.
std::vector<std::string> compiler_libraries();

class RuntimeCompiler {
 public:
  /// The compiler of this machine; loaded once. Null where there is none, and then `why` says what to install.
  static const RuntimeCompiler* find(std::string& why);
  /// The compiler in a shared library; null where that cannot be loaded, and then `why` says so.
  static std::unique_ptr<RuntimeCompiler> load(const std::string& library, std::string& why);
  ~RuntimeCompiler();
  RuntimeCompiler(const RuntimeCompiler&) = delete;
  RuntimeCompiler& operator=(const RuntimeCompiler&) = delete;

  std::string version() const;
  /// Compute capabilities that it knows, as 90 for 9.0, ascending.
  std::span<const int> architectures() const;
  /// Has no code where the text is wrong. Throws Error (device) where the compiler itself fails.
  CompiledKernel compile(const CompileRequest& request) const;

 private:
  struct Library;
  explicit RuntimeCompiler(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace voussoir::cuda
