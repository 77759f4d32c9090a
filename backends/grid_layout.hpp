#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <voussoir/backends/grid_view.hpp>
#include <voussoir/backends/layout.hpp>

namespace voussoir {

class Backend;

/// Size and position of a grid of nodes, x fastest. Axes with one node do not count as dimensions.
struct GridShape {
  std::array<int, 3> nodes{1, 1, 1};                  ///< nodes along x, y, z
  std::array<double, 3> origin{0, 0, 0};              ///< position of the first node
  std::array<double, 3> spacing{1, 1, 1};             ///< distance of neighbouring nodes
  std::array<bool, 3> periodic{false, false, false};  ///< whether the ends of an axis are neighbours
  std::int64_t node_count() const {                   ///< number of nodes
    return std::int64_t{nodes[0]} * nodes[1] * nodes[2];
  }
};

/// A grid distributed over the devices of a backend: each has whole planes across the last axis with more than one
/// node, and copies of the planes next to them.
class GridLayout {
 public:
  /// Throws Error (bad_input) for a shape without nodes, with a spacing that is not positive, or too large.
  GridLayout(const Backend& backend, const GridShape& shape);

  const GridShape& shape() const { return shape_; }                        ///< the whole grid
  const std::shared_ptr<const Layout>& layout() const { return layout_; }  ///< of vectors over the nodes
  int devices() const { return layout_->devices(); }                       ///< number of devices
  int split_axis() const { return split_axis_; }                           ///< axis across which planes lie
  std::int64_t plane_nodes() const { return plane_nodes_; }                ///< nodes of a plane
  int first_plane(int device) const { return first_plane_[static_cast<std::size_t>(device)]; }  ///< of a device
  int planes(int device) const {  ///< number of planes of a device
    return first_plane_[static_cast<std::size_t>(device) + 1] - first_plane_[static_cast<std::size_t>(device)];
  }
  /// Rows along x of a device's part, and nodes of each.
  int rows(int device) const;
  int row_nodes(int device) const;  ///< nodes of each row of a device's part
  /// The part of a device, without sides.
  GridView view(int device) const;

 private:
  GridShape shape_;
  int split_axis_ = 0;
  std::int64_t plane_nodes_ = 1;
  std::vector<int> first_plane_;
  std::shared_ptr<const Layout> layout_;
};

}  // namespace voussoir
