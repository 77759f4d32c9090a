#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <voussoir/backends/memory.hpp>

namespace voussoir {

namespace detail {

/// The untyped part of Array: one buffer on a device, one mirror on the host, and which of them is current.
class ArrayBuffer {
 public:
  ArrayBuffer() = default;
  ArrayBuffer(std::shared_ptr<DeviceMemory> memory, std::size_t bytes);
  ~ArrayBuffer();
  ArrayBuffer(ArrayBuffer&& other) noexcept;
  ArrayBuffer& operator=(ArrayBuffer&& other) noexcept;

  void* host(DeviceMemory::Intent intent);
  void* device(DeviceMemory::Intent intent);
  void drop_host_mirror();
  ArrayBuffer clone() const;
  void clear_new_device(std::size_t first);
  std::size_t bytes() const { return bytes_; }  ///< size in bytes
  const std::shared_ptr<DeviceMemory>& memory() const { return memory_; }

 private:
  void release() noexcept;

  std::shared_ptr<DeviceMemory> memory_;
  std::size_t bytes_ = 0;
  void* host_ = nullptr;
  void* device_ = nullptr;
  bool host_valid_ = false;
  bool device_valid_ = false;
};

}  // namespace detail

/// An array on a device. Move-only; knows its device; accessed by intent, on one side at a time:
///
///   a.write_host()      the caller will write everything; old contents are lost
///   a.update_host()     read and write
///   a.read_host()       read
///
/// and the same with `device` inside a DeviceSection. Data is copied between the sides only here, and only
/// if the requested side is stale. A span or pointer is valid until the other side is requested for writing or
/// updating; one for writing, until the other side is requested at all.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  /// `size` entries with undefined values.
  Array(std::shared_ptr<DeviceMemory> memory, std::size_t size) : buffer_(std::move(memory), size * sizeof(T)) {}
  /// An array with these values.
  Array(std::shared_ptr<DeviceMemory> memory, std::span<const T> values) : Array(std::move(memory), values.size()) {
    auto target = write_host();
    for (std::size_t i = 0; i < values.size(); ++i) target[i] = values[i];
  }

  std::size_t size() const { return buffer_.bytes() / sizeof(T); }  ///< number of entries
  bool empty() const { return size() == 0; }                        ///< true if there are no entries
  std::size_t bytes() const { return buffer_.bytes(); }             ///< size of all entries on one side, in bytes

  /// The values on the host; copies them from the device if that side is newer.
  std::span<const T> read_host() const { return {static_cast<const T*>(buffer_.host(Intent::read)), size()}; }
  /// Host memory into which the caller writes all entries; earlier values are lost and the device side becomes stale.
  std::span<T> write_host() { return {static_cast<T*>(buffer_.host(Intent::write)), size()}; }
  /// The current values on the host, for reading and writing; the device side becomes stale.
  std::span<T> update_host() { return {static_cast<T*>(buffer_.host(Intent::update)), size()}; }

  /// As read_host(), on the device. Outside a DeviceSection it is an Error (misuse) on backends that check this.
  const T* read_device() const { return static_cast<const T*>(buffer_.device(Intent::read)); }
  T* write_device() { return static_cast<T*>(buffer_.device(Intent::write)); }    ///< as write_host(), on the device
  T* update_device() { return static_cast<T*>(buffer_.device(Intent::update)); }  ///< as update_host(), on the device

  /// A second array with the same contents on the same device, copied on the device.
  Array clone() const { return Array(buffer_.clone()); }
  /// Frees the host mirror after updating the device side. Does nothing if both sides share memory.
  void drop_host_mirror() { buffer_.drop_host_mirror(); }
  /// Zeros the entries from `first` on in a newly created array, for entries that are only sometimes written. After a
  /// request for writing, the contents are undefined again.
  void clear_new_from(std::size_t first) { buffer_.clear_new_device(first * sizeof(T)); }

 private:
  using Intent = DeviceMemory::Intent;
  explicit Array(detail::ArrayBuffer buffer) : buffer_(std::move(buffer)) {}
  mutable detail::ArrayBuffer buffer_;  // reading may bring a stale side up to date
};

}  // namespace voussoir
