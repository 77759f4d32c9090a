#pragma once
#include <array>
#include <memory>
#include <vector>

#include <voussoir/backends/sweep_services.hpp>
#include <voussoir/framework/grid/detail/layered_material.hpp>
#include <voussoir/framework/grid/grid_field.hpp>

namespace voussoir::detail {

/// Solves (1 − weight A) d = f along all lines of an axis, A the second difference of the grid with its sides times the
/// diffusivity. Prescribed ends are rows of the identity. Of one material, all lines of an axis have one matrix, which
/// is factored once; of several, each line has its own.
class LineSweeps {
 public:
  /// One material: `weight` is time step × diffusivity × implicit part along each axis; 0 leaves an axis out. A step so
  /// large that the systems cannot be solved in double precision is an Error (bad_input) that states it.
  LineSweeps(std::shared_ptr<const GridSpace> space, const std::array<double, 3>& weight, double time_step);
  /// Several materials, which must outlive this object.
  LineSweeps(std::shared_ptr<const GridSpace> space, const LayeredMaterial& material, double time_step);
  /// In place. May return before the work is done.
  void solve(int axis, Vector& d);
  /// Waits, and throws Error (not_finite) for the first line whose values are not finite: place and time step.
  void check();

 private:
  struct Device {
    std::array<std::unique_ptr<SweepPlan>, 3> plans;
    std::array<std::unique_ptr<SweepFaults>, 3> faults;
    Array<double> lines;                    ///< lines across planes, where several devices share them
    std::array<Array<double>, 3> matrices;  ///< lower, diagonal, upper of these lines, where each has its own
    std::int64_t first_column = 0, columns = 0;
  };
  void make_devices();
  void gather_matrices();
  void solve_lines(int axis, int device, const SweepShape& shape, Array<double>& d);
  void solve_across_devices(Vector& d);
  SweepShape shape(int axis, int device) const;
  bool is_shared(int axis) const { return axis == space_->layout().split_axis() && space_->layout().devices() > 1; }
  [[noreturn]] void refuse(int axis, int device, const SweepOutcome& outcome) const;

  std::shared_ptr<const GridSpace> space_;
  SweepServices& services_;
  const LayeredMaterial* material_ = nullptr;  ///< null: one material
  double time_step_;
  std::vector<Device> devices_;
};

}  // namespace voussoir::detail
