#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/divided_multigrid.hpp>

namespace voussoir::detail {

/// One vector of a level, by devices.
using DeviceVectors = std::vector<LevelVector>;
/// One matrix of a level, by devices.
using DeviceMatrices = std::vector<LevelMatrix>;

/// The nodes of a level on several devices: each owns a range of the numbered nodes and refers to ghosts, nodes of
/// other devices. Local numbers are those of owned nodes, then those of ghosts in the order in which they were added.
class DividedNodes {
 public:
  DividedNodes() = default;
  /// `first[d] … first[d+1]` are the nodes of device d.
  explicit DividedNodes(std::vector<std::int64_t> first);

  int devices() const { return static_cast<int>(ghosts_.size()); }
  std::int64_t count() const { return first_.back(); }
  const std::vector<std::int64_t>& first() const { return first_; }
  std::int32_t owned(int device) const;
  /// Owned nodes and ghosts.
  std::int32_t local_count(int device) const;
  const std::vector<std::int64_t>& ghosts(int device) const { return ghosts_[static_cast<std::size_t>(device)]; }
  int owner(std::int64_t node) const;
  /// Number of a node among all.
  std::int64_t global(int device, std::int32_t local) const;
  /// Local number of a node, or −1 where it is neither owned nor a ghost.
  std::int32_t local(int device, std::int64_t node) const;
  /// Adds ghosts in this order, each once. None of them may be a node that the device has.
  void add_ghosts(int device, std::span<const std::int64_t> nodes);

  /// A node and its local number.
  struct Ghost {
    std::int64_t node = 0;
    std::int32_t local = 0;
  };
  /// The ghosts of a device by the numbers of the nodes, ascending.
  const std::vector<Ghost>& sorted_ghosts(int device) const { return sorted_[static_cast<std::size_t>(device)]; }

 private:
  std::vector<std::int64_t> first_;
  std::vector<std::vector<std::int64_t>> ghosts_;
  std::vector<std::vector<Ghost>> sorted_;
};

/// A layout of `size` equations on one device.
std::shared_ptr<const Layout> one_device_layout(const std::shared_ptr<DeviceMemory>& memory, std::int64_t size);

/// Copies numbers on one device: to[at …] = from.
void copy_into(DeviceMemory& memory, const LevelVector& from, LevelVector& to, std::size_t at);

/// Brings the values of ghosts to the devices that need them, by Backend::exchange() on a vector of these values alone.
class NodeHalo {
 public:
  /// For nodes of `height` rows.
  NodeHalo(std::shared_ptr<Backend> backend, const DividedNodes& nodes, int height);

  /// local[d] = x[d] followed by the values of the ghosts of device d.
  void exchange(const DeviceVectors& x, DeviceVectors& local);
  /// Rows of local vectors on a device.
  std::int64_t local_rows(int device) const { return local_rows_[static_cast<std::size_t>(device)]; }
  std::size_t bytes(int device) const;

 private:
  /// Sent values and ghosts, for one number of columns.
  Vector& values_for(int columns);

  std::shared_ptr<Backend> backend_;
  DividedMultigrid& services_;
  std::shared_ptr<const Layout> layout_;     // of sent values
  std::vector<Array<std::int32_t>> pack_;    // rows that are sent
  std::vector<Array<std::int32_t>> unpack_;  // per row of a ghost: its place in layout_
  std::vector<std::int64_t> local_rows_;
  std::map<int, Vector> values_;
};

/// Moves vectors between the levels of each device and the owned entries of a Vector.
class OwnedTransfer {
 public:
  /// `equations` as DividedMultigrid::equations_of() returned them, one per device.
  OwnedTransfer(std::shared_ptr<Backend> backend, std::shared_ptr<const Layout> layout,
                const std::vector<Array<std::int32_t>>& equations);

  const std::shared_ptr<const Layout>& layout() const { return layout_; }
  void take(const Vector& from, DeviceVectors& to);
  void give(const DeviceVectors& from, Vector& to);

 private:
  std::vector<Vector>& stage_for(int columns);
  /// Whether the rows of a level are the owned entries in order, in double precision.
  bool is_plain(std::size_t device, const LevelVector& v, std::size_t count) const;

  std::shared_ptr<Backend> backend_;
  DividedMultigrid& services_;
  std::shared_ptr<const Layout> layout_;
  const std::vector<Array<std::int32_t>>& equations_;
  std::vector<std::shared_ptr<const Layout>> one_device_;
  std::map<int, std::vector<Vector>> stage_;  // by columns
};

}  // namespace voussoir::detail
