#pragma once
#include <span>
#include <string_view>
#include <vector>

#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// Operations on vectors and blocks of vectors.
///
/// All sums are taken in a fixed order: the same bits for the same input, whatever the number of threads.
class VectorServices : public Service {
 public:
  static constexpr std::string_view service_name = "vectors";  ///< by which Backend::service() finds it

  virtual void fill(Vector& x, double value) = 0;                          ///< x_i = value
  virtual void copy(const Vector& x, Vector& y) = 0;                       ///< y = x
  virtual void scale(double a, Vector& x) = 0;                             ///< x = a x
  virtual void axpy(double a, const Vector& x, Vector& y) = 0;             ///< y = a x + y
  virtual void axpby(double a, const Vector& x, double b, Vector& y) = 0;  ///< y = a x + b y; b = 0 ignores y, even NaN
  virtual void multiply(const Vector& d, const Vector& x, Vector& y) = 0;  ///< y_i = d_i x_i
  virtual double dot(const Vector& x, const Vector& y) = 0;                ///< x·y, summed over all columns
  /// x += a p, r −= a q, and returns r·r: the vector update of CG in one pass.
  virtual double cg_update(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) = 0;
  /// Refreshes the ghosts of x from their owners.
  virtual void exchange(const Vector& x) = 0;
  /// Blocks of vectors: `result` (columns of X × columns of Y, by rows) = Xᵀ Y.
  virtual void block_dot(const Vector& x, const Vector& y, std::span<double> result) = 0;
  /// Y += X C, with C (columns of X × columns of Y, by rows) on the host.
  virtual void block_axpy(const Vector& x, std::span<const double> c, Vector& y) = 0;
  /// Column by column: result[c] = x_c · y_c.
  virtual void column_dots(const Vector& x, const Vector& y, std::span<double> result) = 0;
  /// y_c = a[c] x_c + b[c] y_c for each column. An operand with factor 0 is ignored, even if it is NaN.
  virtual void column_axpby(std::span<const double> a, const Vector& x, std::span<const double> b, Vector& y) = 0;
  /// Copies `count` columns of x, starting at column `from`, to y, starting at column `to`. Other columns of y keep
  /// their values.
  virtual void copy_columns(const Vector& x, int from, int count, Vector& y, int to) = 0;
  /// ‖x‖₂ over all columns. Intermediate results neither overflow nor underflow.
  double norm(const Vector& x);
  /// ‖x_c‖₂ of each column. Intermediate results neither overflow nor underflow.
  std::vector<double> column_norms(const Vector& x);
};

}  // namespace voussoir
