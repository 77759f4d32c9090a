#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <voussoir/framework/grid/grid_field.hpp>
#include <voussoir/framework/grid/grid_source.hpp>

namespace voussoir {

/// An explicit scheme with kernels of the user's own: u ← u + Δt Σ kernel(u), each kernel a stencil or a source that
/// returns a part of ∂u/∂t. It runs on every backend.
///
///   ExplicitGridAnalysis analysis(grid, 1e-3, Backend::open("auto"));
///   analysis.add<AdvectionDiffusion>({1.0, 0.01});
///   analysis.field().fill([](const GridPosition& x) { return std::exp(-x[0] * x[0]); });
///   analysis.run(100);
///
/// Values of prescribed sides are those of the grid at the current time; the value of a flux side is the slope of u
/// along the outward normal. The scheme is of first order in time; how large a step may be depends on the kernels.
class ExplicitGridAnalysis {
 public:
  /// The field is zero until it is set. Throws Error (bad_input) for a step that is not positive.
  ExplicitGridAnalysis(Grid grid, double time_step, std::shared_ptr<Backend> backend);

  /// Adds a kernel with its parameters.
  template <class Kernel>
  ExplicitGridAnalysis& add(const typename Kernel::Parameters& parameters) {
    return add(GridTerm::of<Kernel>(parameters));
  }
  ExplicitGridAnalysis& add(GridTerm term);  ///< adds a kernel

  const Grid& grid() const { return space_->grid(); }                       ///< the grid
  const std::shared_ptr<const GridSpace>& space() const { return space_; }  ///< grid and backend
  GridField& field() { return field_; }                                     ///< values at the current time
  const GridField& field() const { return field_; }                         ///< values at the current time
  double time() const { return static_cast<double>(step_) * time_step_; }   ///< steps · time step
  std::int64_t step_count() const { return step_; }                         ///< steps taken

  void step();  ///< takes a step; may return before the work is done. Without kernels it is an Error (misuse).
  /// Takes steps, waits, and throws Error (not_finite) where a value is infinite or not a number.
  void run(std::int64_t steps);

 private:
  void put_sides(double time);

  std::shared_ptr<const GridSpace> space_;
  double time_step_;
  GridField field_, next_;
  GridSides sides_;
  std::vector<GridTerm> terms_;
  std::int64_t step_ = 0;
  bool steady_ = true, begun_ = false;
};

}  // namespace voussoir
