#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace voussoir::detail {

struct FaultRecord;

/// A buffer on pages of its own whose access can be taken away and given back, with forbidden pages on both sides. It
/// lies as far to the right as 64-byte alignment allows, so that running past its end hits a forbidden page at once or,
/// within the last few bytes, leaves a trace that intact() finds.
///
/// A forbidden access is a segmentation fault; before the process dies of it, one line on stderr says what was touched.
class GuardedBuffer {
 public:
  enum class Side { device, host };
  enum class Access { none, read, read_write };

  /// Readable and writable at first, and poisoned. `active_device` says on whose behalf code runs when a fault happens:
  /// a device's number, or −1 for the host. It must live as long as the buffer. Throws std::bad_alloc.
  GuardedBuffer(std::size_t bytes, Side side, int device, const std::atomic<int>& active_device);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Access access() const { return access_; }
  void set_access(Access access) noexcept;

  /// Fills the buffer with numbers that are NaN as double and as float, and absurd as an index. Needs read_write
  /// access.
  void poison();
  /// False where something was written between the end of the buffer and the forbidden page. Needs access.
  bool intact() const;

 private:
  std::size_t bytes_ = 0;
  std::byte* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::byte* pages_ = nullptr;
  std::size_t page_bytes_ = 0;
  std::byte* data_ = nullptr;
  Access access_ = Access::read_write;
  FaultRecord* record_ = nullptr;
};

/// Gives access for the time of its life, and then what was before.
class Opened {
 public:
  Opened(GuardedBuffer& buffer, GuardedBuffer::Access access) : buffer_(buffer), before_(buffer.access()) {
    if (access > before_) buffer_.set_access(access);
  }
  ~Opened() { buffer_.set_access(before_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  GuardedBuffer& buffer_;
  GuardedBuffer::Access before_;
};

}  // namespace voussoir::detail
