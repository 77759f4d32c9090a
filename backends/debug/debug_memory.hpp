#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <voussoir/backends/debug/guarded_buffer.hpp>
#include <voussoir/backends/memory.hpp>

namespace voussoir {

/// The memory of a pseudo-device that catches accesses to the wrong side on any machine. It behaves as a GPU's memory
/// would, but a slip is a crash with an explanation rather than a wrong number:
///
///   - device memory can be touched only inside a section of its device, and only what that section asked for;
///   - a host mirror can be touched only outside sections, and only while it is current;
///   - what is asked for by read cannot be written; what is asked for by write is filled with NaN first;
///   - new memory is filled with NaN; an index outside an array hits a forbidden page.
///
/// One thread gives the orders; the threads that device work starts may touch what it asked for.
class DebugMemory final : public DeviceMemory {
 public:
  /// The memories of `devices` pseudo-devices that know of each other, so that work for two of them at once is noticed.
  static std::vector<std::shared_ptr<DeviceMemory>> make(int devices);

  ~DebugMemory() override;

  int device() const override { return device_; }
  bool shares_host_memory() const override { return false; }
  void* allocate(std::size_t bytes) override;
  void release(void* pointer, std::size_t bytes) noexcept override;
  void* allocate_host(std::size_t bytes) override;
  void release_host(void* pointer, std::size_t bytes) noexcept override;
  void copy_to_device(void* device, const void* host, std::size_t bytes) override;
  void copy_to_host(void* host, const void* device, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void clear(void* device, std::size_t first, std::size_t bytes) override;
  void enter() override;
  void leave() noexcept override;
  void lend_to_device(void* pointer, std::size_t bytes, Intent intent) override;
  void lend_to_host(void* pointer, std::size_t bytes, Intent intent, bool valid) override;

 private:
  using Buffer = detail::GuardedBuffer;
  using Access = Buffer::Access;

  /// A host mirror, and the access that host code has to it outside sections.
  struct Mirror {
    Buffer buffer;
    Access wanted = Access::none;
  };

  /// What the devices of one backend share.
  struct Company {
    std::mutex mutex;
    std::atomic<int> active_device{-1};  // whose section is open; −1: none
    int depth = 0;
    std::unordered_set<Mirror*> open_mirrors;  // those that host code may touch outside sections
  };

  DebugMemory(int device, std::shared_ptr<Company> company);

  Buffer& device_buffer(const void* pointer, std::size_t bytes);
  /// The buffer that has all of these bytes, which may begin inside it.
  Buffer& buffer_around(const void* pointer, std::size_t bytes);
  void check_end(const Buffer& buffer) const;
  void want(Mirror& mirror, Access access);

  int device_;
  std::shared_ptr<Company> company_;
  std::map<const void*, std::unique_ptr<Buffer>, std::less<>> buffers_;
  std::unordered_map<const void*, std::unique_ptr<Mirror>> mirrors_;
  std::vector<Buffer*> lent_;  // to the section that is open
};

}  // namespace voussoir
