#pragma once
#if !defined(VSR_CUDA_EMULATED) && __has_include(<cublas_v2.h>)
#define VSR_HAS_CUBLAS 1
#include <cublas_v2.h>
#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <voussoir/backends/cuda/runtime/memory.hpp>

// cuBLAS, for products of large matrices. The backend is not linked with it: the library is looked for when it is first
// needed, and its functions are taken by their names. Where there is none, kernels of the backend do the same.

namespace voussoir::cuda {

/// The library and its functions.
class CublasLibrary {
 public:
  /// Opened at the first call.
  static const CublasLibrary& instance() {
    static const CublasLibrary library;
    return library;
  }
  /// False where the machine has no cuBLAS.
  bool found() const { return found_; }
  /// Throws Error (device) where a call failed.
  void check(cublasStatus_t status, const char* what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw Error(ErrorCode::device,
                std::string("cuBLAS: ") + what + " failed with status " + std::to_string(static_cast<int>(status)));
  }
  /// Looks a function up; false, and null, where this version does not have it.
  template <class Function>
  bool take(Function& function, const char* name) const {
    function = library_ ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
    return function != nullptr;
  }

  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasDgemmStridedBatched) products = nullptr;

 private:
  CublasLibrary() {
    const std::string numbered = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    for (const std::string& name : {numbered, std::string("libcublas.so"), "/usr/local/cuda/lib64/" + numbered}) {
      library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library_) break;
    }
    found_ = take(create, "cublasCreate_v2") && take(destroy, "cublasDestroy_v2") &&
             take(set_stream, "cublasSetStream_v2") && take(products, "cublasDgemmStridedBatched");
  }

  void* library_ = nullptr;
  bool found_ = false;
};

/// A handle of the library, bound to the stream of a device.
class CublasHandle {
 public:
  explicit CublasHandle(CudaMemory& memory) : ordinal_(memory.ordinal()) {
    const CublasLibrary& library = CublasLibrary::instance();
    const DeviceSection section(memory);
    library.check(library.create(&handle_), "starting");
    library.check(library.set_stream(handle_, memory.stream()), "choosing a stream");
  }
  ~CublasHandle() {
    restore_device(ordinal_);
    (void)CublasLibrary::instance().destroy(handle_);
  }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  operator cublasHandle_t() const { return handle_; }

  /// The handle of a memory, made at the first call and kept as long as the memory lives: making one takes longer than
  /// most products. Null where there is no cuBLAS.
  static std::shared_ptr<CublasHandle> of(const std::shared_ptr<DeviceMemory>& memory) {
    if (!CublasLibrary::instance().found()) return nullptr;
    struct Entry {
      std::weak_ptr<DeviceMemory> memory;
      std::shared_ptr<CublasHandle> handle;
    };
    static std::mutex mutex;
    static auto* const entries = new std::vector<Entry>;  // no destructor after that of the driver
    const std::lock_guard lock(mutex);
    std::erase_if(*entries, [](const Entry& entry) { return entry.memory.expired(); });
    for (const Entry& entry : *entries)
      if (entry.memory.lock() == memory) return entry.handle;
    return entries->emplace_back(memory, std::make_shared<CublasHandle>(cuda_memory(memory))).handle;
  }

 private:
  int ordinal_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace voussoir::cuda

#endif
