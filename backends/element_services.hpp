#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/element_state.hpp>
#include <voussoir/backends/matrix_terms.hpp>
#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// Element computations at a state: residuals and body loads summed to nodal vectors, results at the points of
/// elements, history, and the equations that depend on others.
class ElementServices : public Service {
 public:
  static constexpr std::string_view service_name = "elements";  ///< by which Backend::service() finds it

  /// The route by which this backend runs an element program.
  virtual Route route(const ElementProgram& program) const = 0;
  /// The reason for the result of route(); empty if the element program was compiled for this backend.
  virtual std::string route_reason(const ElementProgram& program) const {
    return route(program) == Route::host ? "the element type is written for the host" : "";
  }
  /// Integrates the element matrices of one batch, with zero unknowns and at initial temperatures, and discards them.
  /// For benchmarks.
  virtual void integrate(const DeviceModel& model, int batch, const MatrixTerms& terms);
  /// r += Σ factor · (internal − external force) of the batches at a state, on all equations, free or not. With
  /// `through_dependencies` the contributions of dependent equations are added to the equations they depend on.
  virtual void residual(const DeviceModel& model, const ElementState& state, std::span<const double> batch_factors,
                        bool through_dependencies, Vector& r) = 0;
  /// f += external force of a body load on one batch. Only the temperatures of the state are read: densities may depend
  /// on them.
  virtual void body_load(const DeviceModel& model, int batch, const ElementState& state, const BodyLoad& load,
                         Vector& f) = 0;
  /// Values at the points of all elements of a batch, element by element in the order of its description.
  virtual std::vector<double> recover(const DeviceModel& model, int batch, const ElementState& state) = 0;
  /// Nodal temperatures taken from unknowns on the devices: component `component` of each node's unknowns, and the
  /// initial temperature at nodes that have fewer.
  virtual NodalValues temperatures(const DeviceModel& model, const Vector& unknowns, int component) = 0;
  /// The history that results from a state, to be committed with the step; null where no element has a history.
  virtual std::shared_ptr<const ElementHistory> history(const DeviceModel& model, const ElementState& state) = 0;
  /// Elements per group in the history of a type: ElementHistory::Batch::lanes.
  virtual int history_lanes(const ElementProgram& program) const = 0;
  /// Sets the entries of dependent equations from those that they depend on: x = T x.
  virtual void expand_dependencies(const DeviceModel& model, Vector& x) = 0;
  /// Adds the entries of dependent equations to those that they depend on (the transpose) and sets them to zero.
  virtual void reduce_dependencies(const DeviceModel& model, Vector& x) = 0;
  /// Zeroes the entries of equations that are not free.
  virtual void clear_constrained(const DeviceModel& model, Vector& x) = 0;
};

}  // namespace voussoir
