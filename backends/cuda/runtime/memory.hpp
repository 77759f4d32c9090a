#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <voussoir/backends/cuda/runtime/runtime.hpp>
#include <voussoir/backends/memory.hpp>

namespace voussoir::cuda {

/// The memory of one logical device, and the stream on which all its work is enqueued, in order. Two logical devices
/// may share one GPU. Freed memory is kept in a pool and given out again in the order of the stream, so that an array
/// may be freed while work that uses it is still under way.
class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(int device, int ordinal);
  ~CudaMemory() override;

  int device() const override { return device_; }
  int ordinal() const { return ordinal_; }
  cudaStream_t stream() const { return stream_; }
  const DeviceFacts& facts() const { return facts_; }
  bool shares_host_memory() const override { return false; }

  void* allocate(std::size_t bytes) override;
  void release(void* pointer, std::size_t bytes) noexcept override;
  /// Pinned memory from a pool.
  void* allocate_host(std::size_t bytes) override;
  void release_host(void* pointer, std::size_t bytes) noexcept override;
  /// Both wait until the copy is done.
  void copy_to_device(void* device, const void* host, std::size_t bytes) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void clear(void* device, std::size_t first, std::size_t bytes) override;
  /// Sections may be nested, also of different devices: leave() makes the GPU current that was so before.
  void enter() override;
  void leave() noexcept override;
  /// Lets kernels on another GPU, which has peer access to this one, read and write what this pool gives out.
  void admit(int ordinal);

  /// What this pool could still give out.
  std::size_t free() const;
  /// Waits for all work of the stream.
  void wait() const {
    set_device(ordinal_);
    synchronize(stream_);
  }
  /// The same for destructors, which tell nobody that the work has failed.
  void wait_to_end() const noexcept;
  /// Room on the device for the partial sums of one reduction at a time: `partial_sums` doubles, and a counter that is
  /// 0 between kernels.
  static constexpr int partial_sums = 8192;
  double* partials() const { return partials_; }
  unsigned* counter() const { return reinterpret_cast<unsigned*>(partials_ + partial_sums); }
  /// A few pinned doubles for results on their way to the host.
  static constexpr int result_doubles = 64;
  double* results() const { return results_; }

 private:
  /// From the pool; null where the GPU has no room, even after all pools on it were emptied.
  void* take(std::size_t bytes);
  [[noreturn]] void refuse(std::size_t bytes) const;
  void trim_host_pool(std::size_t limit) noexcept;

  int device_;
  int ordinal_;
  DeviceFacts facts_;
  cudaStream_t stream_ = nullptr;
  void* pool_ = nullptr;
  double* partials_ = nullptr;
  double* results_ = nullptr;
  std::mutex host_mutex_;
  std::unordered_multimap<std::size_t, void*> host_pool_;
  std::size_t host_pool_bytes_ = 0;
};

/// The CUDA side of a memory that this backend made.
inline CudaMemory& cuda_memory(DeviceMemory& memory) { return static_cast<CudaMemory&>(memory); }
inline CudaMemory& cuda_memory(const std::shared_ptr<DeviceMemory>& memory) { return cuda_memory(*memory); }
inline cudaStream_t stream_of(const std::shared_ptr<DeviceMemory>& memory) { return cuda_memory(memory).stream(); }
/// What `waiting` is asked to do from now on comes after all that `other` was asked to do so far. Leaves the device of
/// `other` chosen.
inline void wait_for(const CudaMemory& waiting, const CudaMemory& other) {
  set_device(other.ordinal());  // an event belongs to the device of its stream
  wait_for(waiting.stream(), other.stream());
}

}  // namespace voussoir::cuda
