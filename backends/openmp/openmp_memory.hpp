#pragma once
#include <voussoir/backends/memory.hpp>

namespace voussoir {

/// Main memory, as the memory of a device: arrays are aligned to cache lines, start as zeros, and each page is first
/// touched by the thread that will work on it.
class OpenMpMemory : public DeviceMemory {
 public:
  explicit OpenMpMemory(int threads, int device = 0) : threads_(threads), device_(device) {}

  int device() const override { return device_; }
  bool shares_host_memory() const override { return true; }
  void* allocate(std::size_t bytes) override;
  void release(void* pointer, std::size_t bytes) noexcept override;
  void* allocate_host(std::size_t bytes) override;
  void release_host(void* pointer, std::size_t bytes) noexcept override;
  void copy_to_device(void* device, const void* host, std::size_t bytes) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void clear(void* device, std::size_t first, std::size_t bytes) override;

 private:
  int threads_;
  int device_;
};

}  // namespace voussoir
