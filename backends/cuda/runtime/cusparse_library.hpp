#pragma once
#if !defined(VSR_CUDA_EMULATED) && __has_include(<cusparse.h>)
#define VSR_HAS_CUSPARSE 1
#include <cusparse.h>
#include <dlfcn.h>

#include <memory>
#include <string>
#include <type_traits>

#include <voussoir/backends/cuda/runtime/memory.hpp>

// cuSPARSE, which benchmarks compare with. The backend is not linked with it: the library is looked for when a
// benchmark first asks, and its functions are taken by their names.

namespace voussoir::cuda {

/// The library and the functions that every use of it needs.
class CusparseLibrary {
 public:
  /// Opened at the first call.
  static const CusparseLibrary& instance() {
    static const CusparseLibrary library;
    return library;
  }
  /// False where the machine has no cuSPARSE.
  bool found() const { return found_; }
  /// Looks a function up; false, and null, where this version does not have it.
  template <class Function>
  bool take(Function& function, const char* name) const {
    function = library_ ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
    return function != nullptr;
  }
  /// Throws Error (device) where a call failed.
  void check(cusparseStatus_t status, const char* what) const {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    throw Error(ErrorCode::device, std::string("cuSPARSE: ") + what + " failed: " + error_string(status));
  }

  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseDestroy) destroy = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseGetErrorString) error_string = nullptr;

 private:
  CusparseLibrary() {
    const std::string numbered = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
    for (const std::string& name : {numbered, std::string("libcusparse.so"), "/usr/local/cuda/lib64/" + numbered}) {
      library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library_) break;
    }
    found_ = take(create, "cusparseCreate") && take(destroy, "cusparseDestroy") &&
             take(set_stream, "cusparseSetStream") && take(error_string, "cusparseGetErrorString");
  }

  void* library_ = nullptr;
  bool found_ = false;
};

/// A handle of the library, bound to a device's stream.
class CusparseHandle {
 public:
  explicit CusparseHandle(DeviceMemory& memory) : memory_(memory) {
    const CusparseLibrary& library = CusparseLibrary::instance();
    const DeviceSection section(memory);
    library.check(library.create(&handle_), "starting");
    library.check(library.set_stream(handle_, cuda_memory(memory).stream()), "choosing a stream");
  }
  ~CusparseHandle() {
    restore_device(cuda_memory(memory_).ordinal());
    (void)CusparseLibrary::instance().destroy(handle_);
  }
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;
  operator cusparseHandle_t() const { return handle_; }

 private:
  DeviceMemory& memory_;
  cusparseHandle_t handle_ = nullptr;
};

}  // namespace voussoir::cuda

#endif
