#pragma once
#include <cstddef>

namespace voussoir::cuda {

/// Pins memory of the caller while this object exists, so that copies to and from it run at full speed and beside other
/// work. Where the system refuses (memory that may not be locked, or is mapped for reading alone), or the memory has
/// been pinned by somebody else, nothing changes.
class HostRegistration {
 public:
  HostRegistration(const void* memory, std::size_t bytes);
  ~HostRegistration();
  HostRegistration(HostRegistration&& other) noexcept : memory_(other.memory_), pinned_(other.pinned_) {
    other.memory_ = nullptr;
  }
  HostRegistration& operator=(HostRegistration&&) = delete;
  bool pinned() const { return pinned_; }  ///< whether the memory is pinned, by this object or before

 private:
  void* memory_ = nullptr;  ///< what is to be released
  bool pinned_ = false;
};

}  // namespace voussoir::cuda
