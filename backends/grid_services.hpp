#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/grid_layout.hpp>
#include <voussoir/backends/grid_program.hpp>
#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// The sides of a grid with their values on the devices: lower and upper side across x, y, z.
class GridSides {
 public:
  GridSides() = default;
  /// Periodic sides where the shape says so, slope 0 elsewhere.
  explicit GridSides(const GridShape& shape);

  /// A prescribed value or slope that is the same on the whole side. Throws Error (misuse) for a side that is periodic
  /// or does not exist.
  void set(int side, GridSideKind kind, double value);
  /// Values at the nodes of a side, in the order of GridSideView::values, copied to all devices.
  void set(int side, GridSideKind kind, const GridLayout& grid, const std::vector<double>& values);
  GridSideKind kind(int side) const { return sides_[static_cast<std::size_t>(side)].kind; }  ///< what holds there
  double value(int side) const { return sides_[static_cast<std::size_t>(side)].value; }      ///< of a uniform side
  /// Adds the sides to a view of a device. Inside a section of the device.
  void add_to(GridView& view, int device) const;
  /// The same with values on the host, for kernels that run there: the view points into the lists that are returned.
  std::vector<std::vector<double>> on_host(GridView& view, int device) const;

 private:
  struct Side {
    GridSideKind kind = GridSideKind::none;
    double value = 0;
    std::vector<Array<double>> values;  // per device; empty: uniform
  };
  std::array<Side, 6> sides_;
};

/// Nodes of a side: the product of the nodes along the other axes.
std::int64_t side_nodes(const GridShape& shape, int side);

/// What a kernel over a grid is applied to. `out = from_field · field 0 + factor · value + keep · out`, see GridJob.
struct GridArguments {
  std::array<const Vector*, grid_fields> fields{};  ///< the first must be given
  double time = 0;                                  ///< for kernels that depend on it
  double step = 0;                                  ///< time step, for kernels that use it
  double from_field = 0;                            ///< factor of the first field
  double factor = 1;                                ///< factor of the kernel's value
  double keep = 0;                                  ///< factor of what is in the result
  const void* parameters = nullptr;                 ///< GridProgram::parameter_bytes() bytes
};

/// Sums and extremes of a field over a grid.
struct GridSummary {
  /// Σ w u, with weights ½ at the ends of axes that are not periodic (trapezoidal rule), without the volume of a cell.
  /// The order of additions is the same on every backend and for any number of devices and threads.
  double sum = 0;
  double least = 0,              ///< smallest value
      greatest = 0;              ///< largest value
  std::int64_t least_at = -1,    ///< first node with the smallest value
      greatest_at = -1;          ///< first node with the largest value
  std::int64_t not_finite = -1;  ///< first node whose value is infinite or not a number; −1: none
};

/// Kernels over the nodes of grids, written once by users or by the library. docs/grids.md describes them.
class GridServices : public Service {
 public:
  static constexpr std::string_view service_name = "grids";  ///< by which Backend::service() finds it

  virtual Route route(const GridProgram& program) const = 0;               ///< how a kernel reaches the backend
  virtual std::string route_reason(const GridProgram& program) const = 0;  ///< why it is not native; may be empty

  /// Applies a kernel to all nodes. The result must not be the first field of a stencil; it may be another field.
  /// Fields of other grids, a missing first field or missing parameters are an Error (misuse).
  virtual void apply(const GridProgram& program, const GridLayout& grid, const GridSides& sides,
                     const GridArguments& arguments, Vector& out) = 0;
  /// Writes the prescribed values to the nodes of the sides across `axis`, or across all axes where it is −1; of two
  /// sides that share a node the later one counts.
  virtual void set_prescribed(const GridLayout& grid, const GridSides& sides, int axis, Vector& u) = 0;
  /// Adds factor · slope at the nodes of sides across `axis` whose slope is given, except at prescribed nodes.
  virtual void add_slopes(const GridLayout& grid, const GridSides& sides, int axis, double factor, Vector& u) = 0;
  /// The values at some nodes of the whole grid. Waits for the devices. A node that does not exist is an Error
  /// (misuse).
  virtual void sample(const GridLayout& grid, const Vector& u, std::span<const std::int64_t> nodes,
                      std::span<double> values) = 0;
  /// Sums and extremes.
  virtual GridSummary summary(const GridLayout& grid, const Vector& u) = 0;
};

}  // namespace voussoir
