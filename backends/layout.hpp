#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/array.hpp>

namespace voussoir {

/// How equations are distributed over the devices of a backend. Each device owns a contiguous range of the numbered
/// equations and keeps copies ("ghosts", the halo) of those equations of others that its rows refer to. One device has
/// no ghosts, and nothing is exchanged.
class Layout {
 public:
  /// The values that a device receives from another: the owner's local indices to send, and where they are stored here.
  struct Exchange {
    int from = 0;                  ///< the device that owns the values
    Array<std::int32_t> send;      ///< local indices of the values on the owner, in order; stored there
    std::int32_t first_ghost = 0;  ///< local index of the first of them on the receiving device
  };

  /// `first[d] … first[d+1]` are the equations that device d owns; `ghosts[d]`, ascending, those it needs of others.
  Layout(std::vector<std::shared_ptr<DeviceMemory>> memories, std::vector<std::int64_t> first,
         std::vector<std::vector<std::int64_t>> ghosts);

  int devices() const { return static_cast<int>(memories_.size()); }  ///< number of devices
  std::int64_t size() const { return first_.back(); }                 ///< number of equations
  std::int64_t first(int device) const { return first_[device]; }     ///< first equation owned by a device
  /// Number of equations that a device owns.
  std::int32_t owned(int device) const { return static_cast<std::int32_t>(first_[device + 1] - first_[device]); }
  /// Number of ghosts of a device: equations of other devices of which it has copies.
  std::int32_t ghosts(int device) const { return static_cast<std::int32_t>(ghosts_[device].size()); }
  std::int32_t local_size(int device) const { return owned(device) + ghosts(device); }     ///< owned plus ghosts
  const std::vector<Exchange>& exchanges(int device) const { return exchanges_[device]; }  ///< what a device receives
  /// The memory of a device, which has its parts of vectors.
  const std::shared_ptr<DeviceMemory>& memory(int device) const { return memories_[device]; }

  /// Local index of an equation on a device, or −1 where it is neither owned nor a ghost there.
  std::int32_t local(int device, std::int64_t equation) const;
  /// Equation number of a local index.
  std::int64_t global(int device, std::int32_t local) const {
    return local < owned(device) ? first_[device] + local : ghosts_[device][local - owned(device)];
  }

 private:
  std::vector<std::shared_ptr<DeviceMemory>> memories_;
  std::vector<std::int64_t> first_;
  std::vector<std::vector<std::int64_t>> ghosts_;
  std::vector<std::vector<Exchange>> exchanges_;
};

}  // namespace voussoir
