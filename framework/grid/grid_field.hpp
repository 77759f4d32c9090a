#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/grid_services.hpp>
#include <voussoir/framework/grid/grid.hpp>

namespace voussoir {

/// A grid on the devices of a backend, which the fields on it share.
class GridSpace {
 public:
  /// Throws Error (unavailable) where the backend has no grids.
  GridSpace(Grid grid, std::shared_ptr<Backend> backend);

  const Grid& grid() const { return grid_; }                                   ///< the grid
  Backend& backend() const { return *backend_; }                               ///< the backend
  const std::shared_ptr<Backend>& shared_backend() const { return backend_; }  ///< the backend
  const GridLayout& layout() const { return layout_; }   ///< how nodes are distributed over devices
  GridServices& services() const { return *services_; }  ///< kernels over the nodes

 private:
  Grid grid_;
  std::shared_ptr<Backend> backend_;
  GridServices* services_;
  GridLayout layout_;
};

/// Values at the nodes of a grid, on the devices of a backend. Nodes are ordered by x, then y, then z.
class GridField {
 public:
  /// All values zero.
  explicit GridField(std::shared_ptr<const GridSpace> space);

  const std::shared_ptr<const GridSpace>& space() const { return space_; }  ///< grid and backend
  const Grid& grid() const { return space_->grid(); }                       ///< the grid
  Vector& vector() { return values_; }                                      ///< the values on the devices
  const Vector& vector() const { return values_; }                          ///< the values on the devices

  void fill(double value);                                                  ///< the same value everywhere
  void fill(const std::function<double(const GridPosition& x)>& function);  ///< values of a function
  void from_host(std::span<const double> values);                           ///< values in the order of nodes
  std::vector<double> to_host() const { return values_.to_host(); }         ///< values in the order of nodes
  double at(std::int64_t node) const;                                       ///< the value at a node
  std::vector<double> at(std::span<const std::int64_t> nodes) const;        ///< the values at some nodes
  /// Sum and extremes. Throws Error (not_finite) that names the node where a value is infinite or not a number.
  GridSummary summary() const;
  /// The integral over the grid by the trapezoidal rule.
  double integral() const;

 private:
  std::shared_ptr<const GridSpace> space_;
  Vector values_;
};

}  // namespace voussoir
