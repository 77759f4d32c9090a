#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <voussoir/backends/cuda/runtime/shared_memory.hpp>
#include <voussoir/backends/error.hpp>

#if !defined(VSR_CUDA_EMULATED)
#include <cuda_runtime.h>
#endif

// The CUDA runtime as this folder uses it: every call checked, failures thrown as Error. Nothing else here calls the
// runtime but memory.cpp, for its pools. In the emulation (VSR_CUDA_EMULATED) the same functions act on the host.

namespace voussoir::cuda {

inline constexpr bool emulated =
#if defined(VSR_CUDA_EMULATED)
    true;
#else
    false;
#endif

/// Throws Error (device) where a call of the runtime failed.
void check(cudaError_t status, const char* what);

/// What the machine has.
struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::size_t total_bytes = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes_per_block = 0;  ///< with the limit raised
};
struct DriverFacts {
  int devices = 0;
  int driver = 0;      ///< CUDA version that the driver offers, e.g. 13000
  int runtime = 0;     ///< CUDA version that this library was built with
  std::string reason;  ///< why there are no devices; empty where there are
};
DriverFacts driver_facts();
DeviceFacts device_facts(int ordinal);

void set_device(int ordinal);
int current_device();
/// set_device() for places that must not throw.
void restore_device(int ordinal) noexcept;
/// Whether this library has code of a kernel for the current GPU.
bool has_code(const void* kernel);
/// True where the first may read the memory of the second; turns the access on.
bool enable_peer_access(int ordinal, int other);

cudaStream_t make_stream(int ordinal);
void destroy_stream(int ordinal, cudaStream_t stream) noexcept;
void synchronize(cudaStream_t stream);
/// Copies between the memories of two GPUs, in the order of the stream; through the host where they cannot reach each
/// other.
void copy_between(void* to, int to_ordinal, const void* from, int from_ordinal, std::size_t bytes, cudaStream_t stream);
/// Copies between any two places of one device, or a device and pinned memory of the host, in the order of the stream.
void copy_async(void* to, const void* from, std::size_t bytes, cudaStream_t stream);
void fill_bytes_async(void* to, int byte, std::size_t bytes, cudaStream_t stream);
/// What `waiting` is asked to do from now on comes after all that `other` was asked to do so far.
void wait_for(cudaStream_t waiting, cudaStream_t other);

/// Time on a device between two points of a stream, in seconds.
class DeviceTimer {
 public:
  explicit DeviceTimer(cudaStream_t stream);
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;
  void start();
  /// Waits for the device.
  double stop();

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  double host_start_ = 0;
};

/// A point of a stream that the host can wait for.
class StreamMark {
 public:
  StreamMark() = default;
  ~StreamMark();
  StreamMark(const StreamMark&) = delete;
  StreamMark& operator=(const StreamMark&) = delete;
  /// Here, after all that the stream was asked to do so far.
  void set(cudaStream_t stream);
  /// Until the stream has passed the mark; at once where it was never set.
  void wait() const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// Work on streams that is recorded once and replayed with one launch. In the emulation nothing is recorded.
class RecordedWork {
 public:
  RecordedWork() = default;
  ~RecordedWork();
  RecordedWork(const RecordedWork&) = delete;
  RecordedWork& operator=(const RecordedWork&) = delete;
  /// Records what `work` enqueues on the stream (and on streams that wait for it and that it waits for again). Returns
  /// false, and leaves nothing broken, where that work cannot be recorded, such as work that waits for the device.
  template <class Work>
  bool record(cudaStream_t stream, Work&& work) {
    if (!begin(stream)) return false;
    bool fine = true;
    try {
      work();
    } catch (...) {
      fine = false;
    }
    return end(stream, fine);
  }
  void replay(cudaStream_t stream) const;
  bool empty() const { return executable_ == nullptr; }

 private:
  bool begin(cudaStream_t stream);
  bool end(cudaStream_t stream, bool keep);
  void* executable_ = nullptr;
};

/// How the blocks of a kernel start.
enum class Start {
  in_order,  ///< when all work before it in the stream has ended
  early,     ///< while it ends; for kernels that call after_earlier_work() (early_start.hpp)
  together   ///< all of them at once, so that they may wait for each other; no more than most_blocks_together()
};

/// The size of a launch.
struct Grid {
  std::int64_t blocks = 0;  ///< nothing is launched where it is 0
  int threads = 256;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory
  Start start = Start::in_order;
};
/// A grid with at least one thread for each of `count` items.
inline Grid grid_for(std::int64_t count, int threads = 256) { return {(count + threads - 1) / threads, threads, 0}; }

namespace detail {
void launch_pointers(const void* kernel, const Grid& grid, cudaStream_t stream, void** arguments);
std::int64_t most_blocks_together(const void* kernel, int threads, std::size_t shared_bytes);
}  // namespace detail

/// How many blocks of a kernel the current device holds at the same time; 0: it cannot start them together.
template <class... Parameters>
std::int64_t most_blocks_together(void (*kernel)(Parameters...), int threads, std::size_t shared_bytes = 0) {
  return detail::most_blocks_together(reinterpret_cast<const void*>(kernel), threads, shared_bytes);
}

#if defined(VSR_CUDA_EMULATED)
namespace detail {
/// Runs a kernel on the CPU with these arguments, in clusters of so many blocks.
template <class... Parameters>
void run_emulated(void (*kernel)(Parameters...), std::tuple<std::remove_const_t<Parameters>...>& values,
                  const Grid& grid, int cluster) {
  struct Call {
    void (*kernel)(Parameters...);
    std::tuple<std::remove_const_t<Parameters>...>* values;
  } call{kernel, &values};
  emulation::run(
      dim3{static_cast<unsigned>(grid.blocks), 1, 1}, dim3{static_cast<unsigned>(grid.threads), 1, 1},
      grid.shared_bytes,
      [](void* argument) {
        auto& c = *static_cast<Call*>(argument);
        std::apply(c.kernel, *c.values);
      },
      &call, static_cast<unsigned>(cluster));
}
}  // namespace detail
#endif

/// Starts kernel(arguments…) on a stream. Arguments are converted to the kernel's parameters.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Grid& grid, cudaStream_t stream, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes a different number of arguments");
  if (grid.blocks <= 0) return;
  std::tuple<std::remove_const_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
#if defined(VSR_CUDA_EMULATED)
  (void)stream;
  detail::run_emulated(kernel, values, grid, 1);
#else
  std::apply(
      [&](auto&... value) {
        void* pointers[sizeof...(Parameters) + 1] = {static_cast<void*>(&value)..., nullptr};
        detail::launch_pointers(reinterpret_cast<const void*>(kernel), grid, stream, pointers);
      },
      values);
#endif
}

/// A kernel that was compiled at run time, loaded from its code (a cubin, or PTX that ends with 0). Good on every
/// device that the code is for.
class KernelModule {
 public:
  /// Why kernels cannot be loaded at run time; empty where they can.
  static std::string unavailable();
  KernelModule(const std::string& code, const std::string& kernel);
  ~KernelModule();
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;
  /// Starts kernel(arguments…) on a stream. Arguments are of the very types of the kernel's parameters.
  template <class... Arguments>
  void launch(const Grid& grid, cudaStream_t stream, Arguments... arguments) const {
    static_assert((std::is_trivially_copyable_v<Arguments> && ...));
    void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
    if (grid.blocks > 0) start(grid, stream, pointers);
  }

 private:
  void start(const Grid& grid, cudaStream_t stream, void** arguments) const;
  void* library_ = nullptr;
  const void* kernel_ = nullptr;
};

}  // namespace voussoir::cuda
