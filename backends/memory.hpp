#pragma once
#include <atomic>
#include <cstddef>

namespace voussoir {

/// The memory of one device. Arrays are built on it; only authors of backends use it directly.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  virtual int device() const = 0;  ///< number of the device within its backend
  /// True where device memory is host memory: an Array then keeps one buffer and never copies.
  virtual bool shares_host_memory() const = 0;

  /// Allocates device memory. Failure is an Error (out_of_memory) that states the requested size and the memory in use.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* pointer, std::size_t bytes) noexcept = 0;  ///< frees what allocate(bytes) returned
  /// Allocates a host mirror: pinned where that speeds up copies, guarded where accesses are checked.
  virtual void* allocate_host(std::size_t bytes) = 0;
  /// Frees what allocate_host(bytes) returned.
  virtual void release_host(void* pointer, std::size_t bytes) noexcept = 0;

  /// Copies to the device in stream order. The host buffer may be modified as soon as the call returns.
  virtual void copy_to_device(void* device, const void* host, std::size_t bytes) = 0;
  /// Copies to the host after all enqueued device work, and returns when the data is there.
  virtual void copy_to_host(void* host, const void* device, std::size_t bytes) = 0;
  /// Copies between two buffers of this device, in stream order.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Zeros `bytes` bytes of a buffer, from `first` bytes after its start, in stream order.
  virtual void clear(void* device, std::size_t first, std::size_t bytes) = 0;

  virtual void enter() {}           ///< called at the start of a DeviceSection
  virtual void leave() noexcept {}  ///< called at the end of a DeviceSection

  /// How an array is accessed.
  enum class Intent {
    read,   ///< values are read and not changed
    write,  ///< all values are written; earlier ones are not needed
    update  ///< values are read and changed
  };
  /// Called when device work requests a buffer. A checking backend opens the buffer for the current section, poisons it
  /// if everything is to be written, and throws Error (misuse) outside a section of this device.
  virtual void lend_to_device(void*, std::size_t, Intent) {}
  /// Called when host code requests a mirror (`valid`), and when the device requests the buffer (`!valid`): for write
  /// or update, the mirror becomes stale; for read, later writes of host code to the mirror would be lost.
  virtual void lend_to_host(void*, std::size_t, Intent, bool /*valid*/) {}

  std::size_t bytes_in_use() const { return in_use_; }  ///< device memory allocated now
  std::size_t bytes_peak() const { return peak_; }      ///< the most device memory that was allocated at any time

 protected:
  /// Implementations call it for each allocation, so that bytes_in_use() and bytes_peak() are right.
  void count_allocation(std::size_t bytes) {
    const std::size_t now = in_use_ += bytes;
    std::size_t peak = peak_;
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
    }
  }
  void count_release(std::size_t bytes) { in_use_ -= bytes; }  ///< called for each release

 private:
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
};

/// The scope of work on a device: while it exists, the device side of arrays on that device may be requested.
class DeviceSection {
 public:
  /// Begins work on the device of this memory.
  explicit DeviceSection(DeviceMemory& memory) : memory_(memory) { memory_.enter(); }
  ~DeviceSection() { memory_.leave(); }
  DeviceSection(const DeviceSection&) = delete;
  DeviceSection& operator=(const DeviceSection&) = delete;

 private:
  DeviceMemory& memory_;
};

}  // namespace voussoir
