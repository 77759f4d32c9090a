#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/cuda/matrix/cuda_operator.hpp>
#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>
#include <voussoir/backends/cuda/matrix/symmetric_product.hpp>
#include <voussoir/backends/cuda/matrix/symmetric_tiles.hpp>
#include <voussoir/backends/operator.hpp>

namespace voussoir {
class DeviceModel;
}

namespace voussoir::cuda {

struct AssemblyPlan;  // assembly_plan.hpp

/// A matrix in slices of 32 block rows: a thread multiplies a block row, and entry after entry of 32 of them stand side
/// by side, so that a warp reads whole lines of memory and nothing is summed across threads. Entry e of the block in
/// lane l of cell c stands at (c · block_size² + e) · 32 + l.
///
/// The matrix of a model whose elements all give symmetric matrices is symmetric, and half of it may be all that a
/// device stores: see symmetric_tiles.hpp.
class CudaSparseMatrix final : public SparseMatrix, public CudaOperator {
 public:
  struct Part {
    SlicedRows rows;
    Array<double> value;
    /// Null where all blocks are stored; otherwise `rows` are half a matrix.
    std::unique_ptr<SymmetricTiles> tiles;
    std::shared_ptr<AssemblyPlan> plan;  ///< how elements are summed; null where the matrix was given by its rows
  };

  /// For a model: without a pattern yet.
  CudaSparseMatrix(const DeviceModel& model, int block_size);
  CudaSparseMatrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows);

  const std::shared_ptr<const Layout>& layout() const override { return layout_; }
  int block_size() const override { return block_size_; }
  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;
  std::size_t bytes() const override;
  std::size_t bytes_moved() const override;
  std::string describe() const override;
  /// Blocks in memory: where half a matrix is stored, the other half is not counted.
  std::int64_t stored_blocks() const override;
  HostMatrix to_host() const override;

  int dot_partials(int device) const override;
  void enqueue(int device, const Vector& x, Vector& y, double* partials) const override;
  bool has_interior(int device) const override;
  void enqueue_interior(int device, const Vector& x, Vector& y) const override;
  void enqueue_rest(int device, const Vector& x, Vector& y, double* partials) const override;

  /// Blocks of `block_size` on the diagonal of a device's rows, inside a section.
  void copy_diagonal(int device, int block_size, double* values) const;

  /// The model it was made for, or null.
  const DeviceModel* model() const { return model_; }
  Part& part(int device) { return parts_[static_cast<std::size_t>(device)]; }
  const Part& part(int device) const { return parts_[static_cast<std::size_t>(device)]; }

 private:
  CudaSparseMatrix(std::shared_ptr<const Layout> layout, int block_size);
  void take(int device, const HostMatrix& rows);
  void enqueue_half(int device, const Vector& x, Vector& y, double* partials, TilePhase phase) const;
  /// y = A x for some slices of a whole matrix, inside a section.
  void enqueue_slices(int device, const Vector& x, Vector& y, std::int32_t first, std::int32_t end) const;
  void require_fitting(const Vector& x, const Vector& y) const;

  std::shared_ptr<const Layout> layout_;
  int block_size_;
  const DeviceModel* model_ = nullptr;
  std::vector<Part> parts_;
};

}  // namespace voussoir::cuda
