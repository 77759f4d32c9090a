#pragma once
#include <span>
#include <string_view>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/element_matrix_source.hpp>
#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// Matrices projected on the span of a block of vectors, K* = XᵀKX and M* = XᵀMX, as subspace iteration and other
/// Rayleigh–Ritz methods need them. Nothing of the size of X is written where the matrix is stored.
///
/// All sums are taken in a fixed order: the same bits for the same input, whatever the number of threads.
class ProjectionServices : public Service {
 public:
  static constexpr std::string_view service_name = "projection";  ///< by which Backend::service() finds it

  /// `result` (n × n by rows, n columns of X) = XᵀAX for any operator on X's layout. Symmetric to the last bit where
  /// the operator was made by the backend for a symmetric model. Halves of stored matrices and stored element matrices
  /// are read once and nothing else is formed; other operators multiply X. Refreshes the ghosts of x.
  virtual void project(const Operator& a, const Vector& x, std::span<double> result) = 0;

  /// `result` = Σ XₑᵀLₑXₑ over all elements of a source, on all equations, free or not, symmetric to the last bit. So
  /// X is zero at prescribed equations where these are supports, and dependent ones have been set, column by
  /// column, by ElementServices::expand_dependencies(). While a device computes with a group of matrices, the next one
  /// is copied to it. Throws Error (misuse) where the source is not one for this model. Refreshes the ghosts of x.
  virtual void project(const DeviceModel& model, ElementMatrixSource& source, const Vector& x,
                       std::span<double> result) = 0;
};

}  // namespace voussoir
