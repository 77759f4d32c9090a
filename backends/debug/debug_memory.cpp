#include <voussoir/backends/debug/debug_memory.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir {

namespace {

std::string array_of(std::size_t bytes, int device) {
  return "array of " + std::to_string(bytes) + " bytes of debug device " + std::to_string(device);
}

}  // namespace

std::vector<std::shared_ptr<DeviceMemory>> DebugMemory::make(int devices) {
  auto company = std::make_shared<Company>();
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  for (int d = 0; d < devices; ++d) memories.push_back(std::shared_ptr<DeviceMemory>(new DebugMemory(d, company)));
  return memories;
}

DebugMemory::DebugMemory(int device, std::shared_ptr<Company> company)
    : device_(device), company_(std::move(company)) {}

DebugMemory::~DebugMemory() = default;

void* DebugMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(company_->mutex);
  try {
    auto buffer = std::make_unique<Buffer>(bytes, Buffer::Side::device, device_, company_->active_device);
    buffer->set_access(Access::none);
    void* pointer = buffer->data();
    buffers_.emplace(pointer, std::move(buffer));
    count_allocation(bytes);
    return pointer;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "out of memory on debug device " + std::to_string(device_) + ": " +
                                              std::to_string(bytes) + " bytes were requested; " +
                                              std::to_string(bytes_in_use()) + " are in use");
  }
}

void DebugMemory::release(void* pointer, std::size_t bytes) noexcept {
  const std::lock_guard lock(company_->mutex);
  const auto it = buffers_.find(pointer);
  if (it == buffers_.end()) return;
  lent_.erase(std::remove(lent_.begin(), lent_.end(), it->second.get()), lent_.end());
  buffers_.erase(it);
  count_release(bytes);
}

void* DebugMemory::allocate_host(std::size_t bytes) {
  const std::lock_guard lock(company_->mutex);
  try {
    std::unique_ptr<Mirror> mirror(
        new Mirror{{bytes, Buffer::Side::host, device_, company_->active_device}, Access::none});
    mirror->buffer.set_access(Access::none);
    void* pointer = mirror->buffer.data();
    mirrors_.emplace(pointer, std::move(mirror));
    return pointer;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "out of memory for a host mirror of " + std::to_string(bytes) +
                                              " bytes of debug device " + std::to_string(device_));
  }
}

void DebugMemory::release_host(void* pointer, std::size_t) noexcept {
  const std::lock_guard lock(company_->mutex);
  const auto it = mirrors_.find(pointer);
  if (it == mirrors_.end()) return;
  company_->open_mirrors.erase(it->second.get());
  mirrors_.erase(it);
}

DebugMemory::Buffer& DebugMemory::device_buffer(const void* pointer, std::size_t bytes) {
  const auto it = buffers_.find(pointer);
  if (it == buffers_.end() || bytes > it->second->bytes())
    throw Error(ErrorCode::misuse, "debug device " + std::to_string(device_) + " has no array of " +
                                       std::to_string(bytes) + " bytes at this address");
  return *it->second;
}

DebugMemory::Buffer& DebugMemory::buffer_around(const void* pointer, std::size_t bytes) {
  auto it = buffers_.upper_bound(pointer);
  if (it != buffers_.begin()) {
    --it;
    const auto before =
        static_cast<std::size_t>(static_cast<const char*>(pointer) - static_cast<const char*>(it->first));
    if (before + bytes <= it->second->bytes()) return *it->second;
  }
  throw Error(ErrorCode::misuse, "debug device " + std::to_string(device_) + " has no array around these " +
                                     std::to_string(bytes) + " bytes");
}

void DebugMemory::check_end(const Buffer& buffer) const {
  if (!buffer.intact())
    throw Error(ErrorCode::misuse,
                "something wrote just past the end of an " + array_of(buffer.bytes(), device_) + "; check the index");
}

void DebugMemory::copy_to_device(void* device, const void* host, std::size_t bytes) {
  const std::lock_guard lock(company_->mutex);
  Buffer& to = device_buffer(device, bytes);
  const detail::Opened open_device(to, Access::read_write);
  std::optional<detail::Opened> open_host;
  if (const auto it = mirrors_.find(host); it != mirrors_.end()) {
    open_host.emplace(it->second->buffer, Access::read);
    check_end(it->second->buffer);
  }
  std::memcpy(device, host, bytes);
}

void DebugMemory::copy_to_host(void* host, const void* device, std::size_t bytes) {
  const std::lock_guard lock(company_->mutex);
  Buffer& from = device_buffer(device, bytes);
  const detail::Opened open_device(from, Access::read);
  check_end(from);
  std::optional<detail::Opened> open_host;
  if (const auto it = mirrors_.find(host); it != mirrors_.end())
    open_host.emplace(it->second->buffer, Access::read_write);
  std::memcpy(host, device, bytes);
}

void DebugMemory::copy(void* to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(company_->mutex);
  Buffer& source = buffer_around(from, bytes);
  const detail::Opened open_source(source, Access::read);
  check_end(source);
  const detail::Opened open_target(buffer_around(to, bytes), Access::read_write);
  std::memcpy(to, from, bytes);
}

void DebugMemory::clear(void* device, std::size_t first, std::size_t bytes) {
  const std::lock_guard lock(company_->mutex);
  Buffer& buffer = device_buffer(device, first + bytes);
  const detail::Opened open(buffer, Access::read_write);
  std::memset(static_cast<char*>(device) + first, 0, bytes);
}

void DebugMemory::enter() {
  const std::lock_guard lock(company_->mutex);
  const int active = company_->active_device;
  if (active >= 0 && active != device_)
    throw Error(ErrorCode::misuse,
                "a section of debug device " + std::to_string(device_) + " begins while one of device " +
                    std::to_string(active) +
                    " is open; close that one first: sections of different devices must not overlap");
  if (company_->depth++ > 0) return;
  company_->active_device = device_;
  for (Mirror* mirror : company_->open_mirrors) mirror->buffer.set_access(Access::none);
}

void DebugMemory::leave() noexcept {
  const std::lock_guard lock(company_->mutex);
  if (--company_->depth > 0) return;
  for (Buffer* buffer : lent_) buffer->set_access(Access::none);
  lent_.clear();
  company_->active_device = -1;
  for (Mirror* mirror : company_->open_mirrors) mirror->buffer.set_access(mirror->wanted);
}

void DebugMemory::lend_to_device(void* pointer, std::size_t bytes, Intent intent) {
  const std::lock_guard lock(company_->mutex);
  const int active = company_->active_device;
  if (active != device_)
    throw Error(ErrorCode::misuse, "the device side of an " + array_of(bytes, device_) + " was requested " +
                                       (active < 0 ? std::string("outside a DeviceSection")
                                                   : "inside a DeviceSection of device " + std::to_string(active)) +
                                       "; open a DeviceSection of device " + std::to_string(device_) +
                                       " around the work");
  Buffer& buffer = device_buffer(pointer, bytes);
  if (buffer.access() == Access::none) lent_.push_back(&buffer);
  if (intent != Intent::read)
    buffer.set_access(Access::read_write);
  else if (buffer.access() == Access::none)  // who asked by write or update in this section may go on writing
    buffer.set_access(Access::read);
  check_end(buffer);
  if (intent == Intent::write) buffer.poison();
}

void DebugMemory::want(Mirror& mirror, Access access) {
  mirror.wanted = access;
  if (access == Access::none)
    company_->open_mirrors.erase(&mirror);
  else
    company_->open_mirrors.insert(&mirror);
  mirror.buffer.set_access(company_->active_device >= 0 ? Access::none : access);
}

void DebugMemory::lend_to_host(void* pointer, std::size_t bytes, Intent intent, bool valid) {
  const std::lock_guard lock(company_->mutex);
  const auto it = mirrors_.find(pointer);
  if (it == mirrors_.end())
    throw Error(ErrorCode::misuse, "debug device " + std::to_string(device_) + " has no host mirror at this address");
  Mirror& mirror = *it->second;
  if (!valid) {
    // The device has read: what host code writes from now on would be lost. It has written: the mirror is stale.
    want(mirror, intent == Intent::read ? std::min(mirror.wanted, Access::read) : Access::none);
    return;
  }
  if (company_->active_device >= 0)
    throw Error(ErrorCode::misuse,
                "the host side of an " + array_of(bytes, device_) + " was requested inside a DeviceSection of device " +
                    std::to_string(company_->active_device) + "; request it before or after the section");
  want(mirror, intent == Intent::read ? std::max(mirror.wanted, Access::read) : Access::read_write);
  check_end(mirror.buffer);
  if (intent == Intent::write) mirror.buffer.poison();
}

}  // namespace voussoir
