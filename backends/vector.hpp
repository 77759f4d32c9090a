#pragma once
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/layout.hpp>

namespace voussoir {

/// A vector over the equations of a Layout, or a block of `columns` vectors whose entries of one equation are
/// contiguous. Each device stores its owned entries followed by its ghosts; products refresh the ghosts.
class Vector {
 public:
  Vector() = default;
  /// Entries are undefined until they are written; ghosts are zero.
  explicit Vector(std::shared_ptr<const Layout> layout, int columns = 1);
  Vector(Vector&&) noexcept = default;             ///< leaves the other vector without entries
  Vector& operator=(Vector&&) noexcept = default;  ///< leaves the other vector without entries
  // Copies of device memory are explicit: x.clone(), or Backend::copy(x, y) into existing memory.
  Vector(const Vector&) = delete;             // copy a Vector with x.clone()
  Vector& operator=(const Vector&) = delete;  // copy a Vector with x.clone(), or with Backend::copy(x, y)
  /// Another vector with the same layout and the same values, ghosts included, copied on the devices.
  Vector clone() const;

  const std::shared_ptr<const Layout>& layout() const { return layout_; }  ///< null for a Vector without entries
  int columns() const { return columns_; }                                 ///< number of vectors in the block
  std::int64_t size() const { return layout_ ? layout_->size() : 0; }      ///< number of equations

  Array<double>& part(int device) { return parts_[device]; }              ///< entries on a device: owned, then ghosts
  const Array<double>& part(int device) const { return parts_[device]; }  ///< entries on a device: owned, then ghosts
  /// The part of a device with writable ghosts: ghosts are copies, so this does not change the vector.
  Array<double>& part_for_exchange(int device) const { return parts_[device]; }

  /// Copies the owned entries of all devices to `values` in equation order (size() × columns() numbers).
  void to_host(std::span<double> values) const;
  std::vector<double> to_host() const;  ///< the owned entries of all devices in equation order
  /// Sets the owned entries from values in equation order. Ghosts are stale afterwards.
  void from_host(std::span<const double> values);

 private:
  std::shared_ptr<const Layout> layout_;
  int columns_ = 1;
  mutable std::vector<Array<double>> parts_;
};

}  // namespace voussoir
