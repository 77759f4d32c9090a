#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/dense_block_services.hpp>
#include <voussoir/backends/operator.hpp>

namespace voussoir::detail {

/// Rows of dense blocks whose equations a device owns, sorted by equation, and for one equation by block.
struct DenseBlockRows {
  std::int32_t equations = 0;        ///< that the device owns
  Array<std::int64_t> row_start;     ///< first row of each owned equation, and the number of rows
  Array<std::int64_t> value_start;   ///< first number of each row
  Array<std::int32_t> column_start;  ///< where the columns of the row's block begin in `column`
  Array<std::int32_t> length;        ///< numbers of each row
  Array<std::int32_t> column;        ///< local equations of each block
  Array<double> value;               ///< row by row
  std::size_t bytes() const;
};

/// The block, and the row in it, that a row of DenseBlockRows is.
struct DenseBlockPlace {
  std::int32_t block = 0;
  std::int32_t row = 0;
};

/// Checks the blocks and makes the rows of each device of a layout.
std::vector<DenseBlockRows> dense_block_rows(const Layout& layout, std::span<const DenseBlock> blocks);
/// The rows of blocks between these equations, without their values, which are undefined. `places` becomes the place of
/// each row, for each device.
std::vector<DenseBlockRows> dense_block_rows(const Layout& layout, std::span<const std::vector<std::int32_t>> equations,
                                             std::vector<std::vector<DenseBlockPlace>>& places);
/// "3 dense blocks of 27 to 81 equations, 0.1 MB"
std::string describe_dense_blocks(std::span<const std::vector<std::int32_t>> equations, std::size_t bytes);

/// The sum of dense blocks as an operator; a backend brings the product on one device.
class DenseBlockSum : public Operator {
 public:
  DenseBlockSum(Backend& backend, std::shared_ptr<const Layout> layout, std::span<const DenseBlock> blocks);
  /// From rows that are there already.
  DenseBlockSum(Backend& backend, std::shared_ptr<const Layout> layout, std::vector<DenseBlockRows> rows,
                std::string description)
      : backend_(backend), layout_(std::move(layout)), rows_(std::move(rows)), description_(std::move(description)) {}

  const std::shared_ptr<const Layout>& layout() const override { return layout_; }
  std::size_t bytes() const override;
  std::size_t bytes_moved() const override { return bytes() + 16 * static_cast<std::size_t>(layout_->size()); }
  std::string describe() const override { return description_; }
  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;

 protected:
  /// y = A x for the equations that a device owns; there is at least one. Ghosts of x are fresh.
  virtual void multiply(int device, const DenseBlockRows& rows, const Vector& x, Vector& y) const = 0;
  Backend& backend() const { return backend_; }
  std::vector<DenseBlockRows>& rows() { return rows_; }

 private:
  Backend& backend_;
  std::shared_ptr<const Layout> layout_;
  std::vector<DenseBlockRows> rows_;  // of each device
  std::string description_;
};

}  // namespace voussoir::detail
