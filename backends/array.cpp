#include <voussoir/backends/array.hpp>

#include <voussoir/backends/error.hpp>

namespace voussoir::detail {

using Intent = DeviceMemory::Intent;

ArrayBuffer::ArrayBuffer(std::shared_ptr<DeviceMemory> memory, std::size_t bytes)
    : memory_(std::move(memory)), bytes_(bytes) {
  if (!memory_) throw Error(ErrorCode::misuse, "an Array needs the memory of a device; get it from Backend::memory()");
  if (bytes_ > 0) device_ = memory_->allocate(bytes_);
}

ArrayBuffer::~ArrayBuffer() { release(); }

ArrayBuffer::ArrayBuffer(ArrayBuffer&& other) noexcept { *this = std::move(other); }

ArrayBuffer& ArrayBuffer::operator=(ArrayBuffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  memory_ = std::move(other.memory_);
  bytes_ = std::exchange(other.bytes_, 0);
  host_ = std::exchange(other.host_, nullptr);
  device_ = std::exchange(other.device_, nullptr);
  host_valid_ = std::exchange(other.host_valid_, false);
  device_valid_ = std::exchange(other.device_valid_, false);
  return *this;
}

void ArrayBuffer::release() noexcept {
  if (host_) memory_->release_host(host_, bytes_);
  if (device_) memory_->release(device_, bytes_);
  host_ = device_ = nullptr;
}

void* ArrayBuffer::host(Intent intent) {
  if (bytes_ == 0) return nullptr;
  if (memory_->shares_host_memory()) return device_;
  if (!host_) host_ = memory_->allocate_host(bytes_);
  memory_->lend_to_host(host_, bytes_, intent, true);
  if (intent != Intent::write && !host_valid_) {
    // Fresh arrays that nobody wrote hold whatever the backend fills new memory with, on either side.
    memory_->copy_to_host(host_, device_, bytes_);
  }
  host_valid_ = true;
  if (intent != Intent::read) device_valid_ = false;
  return host_;
}

void* ArrayBuffer::device(Intent intent) {
  if (bytes_ == 0) return nullptr;
  if (memory_->shares_host_memory()) return device_;
  memory_->lend_to_device(device_, bytes_, intent);
  if (intent != Intent::write && host_valid_ && !device_valid_) memory_->copy_to_device(device_, host_, bytes_);
  device_valid_ = true;
  if (host_) {
    if (intent != Intent::read) host_valid_ = false;
    memory_->lend_to_host(host_, bytes_, intent, false);
  }
  return device_;
}

ArrayBuffer ArrayBuffer::clone() const {
  if (!memory_) return {};
  ArrayBuffer result(memory_, bytes_);
  if (bytes_ == 0) return result;
  if (host_valid_ && !device_valid_)
    memory_->copy_to_device(result.device_, host_, bytes_);
  else
    memory_->copy(result.device_, device_, bytes_);
  result.device_valid_ = host_valid_ || device_valid_;
  return result;
}

void ArrayBuffer::clear_new_device(std::size_t first) {
  if (host_valid_ || device_valid_) throw Error(ErrorCode::misuse, "only a new Array can be cleared");
  if (first < bytes_) memory_->clear(device_, first, bytes_ - first);
}

void ArrayBuffer::drop_host_mirror() {
  if (!host_) return;
  if (host_valid_ && !device_valid_) {
    memory_->copy_to_device(device_, host_, bytes_);
    device_valid_ = true;
  }
  memory_->release_host(host_, bytes_);
  host_ = nullptr;
  host_valid_ = false;
}

}  // namespace voussoir::detail
