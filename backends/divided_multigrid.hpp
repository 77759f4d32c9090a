#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/service.hpp>

namespace voussoir {

/// Multigrid whose levels are divided over the devices of a backend: the services of multigrid on each device, and each
/// device's rows of the finest level. solvers/amg combines the steps and exchanges halos.
///
/// A device has the rows of the nodes that it owns. Columns have local numbers: owned nodes first, then ghosts in the
/// order of the model's local nodes.
class DividedMultigrid : public Service {
 public:
  static constexpr std::string_view service_name = "divided multigrid";  ///< by which Backend::service() finds it

  /// The services of multigrid with all data on one device; devices are counted from 0. Its take() and give() need
  /// vectors whose layout has only that device.
  virtual MultigridServices& on(int device) = 0;
  /// Whether services of different devices may be called by different threads at the same time. Rows are taken by the
  /// thread of the device that gives them; otherwise, services below use all devices that they name.
  virtual bool devices_at_once() const = 0;
  /// Whether rows_of() supports a matrix; where it does not, the hierarchy has to be gathered on the first device.
  virtual bool divides(const DeviceModel& model, const SparseMatrix& matrix) const = 0;
  /// The block rows of the nodes that a device owns, as MultigridServices::rows_of(): `rows` are owned nodes and
  /// `columns` local nodes.
  virtual LevelMatrix rows_of(const DeviceModel& model, const SparseMatrix& matrix, int device) = 0;
  /// Updates the values of such rows after the matrix was assembled again, in double or single precision.
  virtual void update_rows(const DeviceModel& model, const SparseMatrix& matrix, int device, LevelMatrix& rows,
                           bool single) = 0;
  /// The local equation of each row of a device, or −1 for a row that only fills a block. Empty where rows and owned
  /// equations are in the same order.
  virtual Array<std::int32_t> equations_of(const DeviceModel& model, int height, int device) = 0;
  /// Rigid-body modes at the rows of the nodes that a device owns, as MultigridServices::rigid_modes(). `motion` has
  /// `height` entries, the same at each node.
  virtual Array<double> rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height, int modes,
                                    const std::array<double, 3>& centre, double length, int device) = 0;

  // --- rows for other devices ------------------------------------------------------------------------------------
  /// The block rows `rows` of a matrix on device `from`, in that order, as a matrix with `columns` columns on device
  /// `to`. Column c becomes number[c]; blocks with a negative number are left out, and the others sorted. Values are in
  /// double precision. Columns that occur in one row need different numbers.
  virtual LevelMatrix take_rows(const LevelMatrix& a, int from, std::span<const std::int32_t> rows,
                                std::span<const std::int32_t> number, std::int32_t columns, int to) = 0;
  /// The same for all rows.
  virtual LevelMatrix take_all_rows(const LevelMatrix& a, int from, std::span<const std::int32_t> number,
                                    std::int32_t columns, int to) = 0;
  /// The columns in which these rows have blocks, ascending.
  virtual std::vector<std::int32_t> columns_of(const LevelMatrix& a, int device,
                                               std::span<const std::int32_t> rows) = 0;
  /// The rows that have a block in column `first` or in a later one, ascending.
  virtual std::vector<std::int32_t> rows_reaching(const LevelMatrix& a, int device, std::int32_t first) = 0;
  /// Copies all of an array on device `from` to a place in one on device `to`.
  virtual void copy_numbers(const Array<double>& values, int from, Array<double>& target, int to, std::size_t at) = 0;
  /// As MultigridServices::fill_with_noise(), for values whose first index among those of all devices is `first`.
  virtual void fill_with_noise(LevelVector& x, int device, std::uint64_t first) = 0;

  // --- in cycles -------------------------------------------------------------------------------------------------
  /// Copies the listed rows of a vector to the beginning of `values`, with all columns of a row together.
  virtual void pack(const LevelVector& x, int device, const Array<std::int32_t>& rows, Array<double>& values) = 0;
  /// Row first + i of x becomes row places[i] of `values`.
  virtual void unpack(const Array<double>& values, int device, const Array<std::int32_t>& places, LevelVector& x,
                      std::int64_t first) = 0;
};

}  // namespace voussoir
