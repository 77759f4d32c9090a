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

/// What the elements of a model compute at a state, summed to nodal vectors or at their points.
class ElementServices : public Service {
 public:
  static constexpr std::string_view service_name = "elements";

  /// How this backend would run an element program.
  virtual Route route(const ElementProgram& program) const = 0;
  /// The reason for the result of route(); empty if the element program was compiled for this backend.
  virtual std::string route_reason(const ElementProgram& program) const {
    return route(program) == Route::host ? "the element type is written for the host" : "";
  }
  /// Only integrates the element matrices of one batch, at rest and at initial temperatures, and discards them: for
  /// benchmarks.
  virtual void integrate(const DeviceModel& model, int batch, const MatrixTerms& terms);
  /// r += Σ factor · (internal − external force) of the batches at a state, on all equations, free or not. With
  /// `through_dependencies` the contributions of dependent equations are added to the equations they depend on.
  virtual void residual(const DeviceModel& model, const ElementState& state, std::span<const double> batch_factors,
                        bool through_dependencies, Vector& r) = 0;
  /// f += external force of a body load on one batch. Of the state, the temperatures matter: densities may follow them.
  virtual void body_load(const DeviceModel& model, int batch, const ElementState& state, const BodyLoad& load,
                         Vector& f) = 0;
  /// Values at the points of all elements of a batch, element by element in the order of its description.
  virtual std::vector<double> recover(const DeviceModel& model, int batch, const ElementState& state) = 0;
  /// A nodal temperature from unknowns, without leaving the devices: component `component` of each node's unknowns, and
  /// the initial temperature where a node has fewer.
  virtual NodalValues temperatures(const DeviceModel& model, const Vector& unknowns, int component) = 0;
  /// The history that follows from a state: what a step commits. Null where no element has any.
  virtual std::shared_ptr<const ElementHistory> history(const DeviceModel& model, const ElementState& state) = 0;
  /// Elements side by side in the history of a type, as ElementHistory::Batch::lanes.
  virtual int history_lanes(const ElementProgram& program) const = 0;
  /// Values of dependent equations from those they depend on.
  virtual void expand_dependencies(const DeviceModel& model, Vector& x) = 0;
  /// Moves the entries of dependent equations to those they depend on (the transpose), and leaves zero.
  virtual void reduce_dependencies(const DeviceModel& model, Vector& x) = 0;
  /// Zeroes the entries of equations that are not free.
  virtual void clear_constrained(const DeviceModel& model, Vector& x) = 0;
};

}  // namespace voussoir
