#pragma once
#include <array>
#include <memory>
#include <vector>

#include <voussoir/backends/sweep_services.hpp>
#include <voussoir/framework/grid/grid_field.hpp>

namespace voussoir::detail {

/// Solves (1 − weight D) d = f along all lines of an axis, D the second difference of the grid with its sides: one
/// matrix per axis, factored once. Prescribed ends are rows of the identity.
class LineSweeps {
 public:
  /// `weight` is time step × diffusivity × implicit part along each axis; 0 leaves an axis out.
  LineSweeps(std::shared_ptr<const GridSpace> space, const std::array<double, 3>& weight);
  /// In place. May return before the work is done.
  void solve(int axis, Vector& d);
  /// Waits, and throws Error for the first line whose values are not finite.
  void check();

 private:
  struct Device {
    std::array<std::unique_ptr<SweepPlan>, 3> plans;
    std::unique_ptr<SweepFaults> faults;
    Array<double> lines;  ///< lines across planes, where several devices share them
    std::int64_t first_column = 0, columns = 0;
  };
  void solve_across_devices(Vector& d);
  SweepShape shape(int axis, int device) const;

  std::shared_ptr<const GridSpace> space_;
  SweepServices& services_;
  std::vector<Device> devices_;
};

}  // namespace voussoir::detail
