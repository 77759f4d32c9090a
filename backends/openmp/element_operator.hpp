#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/overlap.hpp>
#include <voussoir/backends/openmp/element_matrices.hpp>
#include <voussoir/backends/openmp/sweep.hpp>

namespace voussoir {
class CpuBackend;
}

namespace voussoir::cpu {

/// A matrix kept as its elements. Columns of a block of vectors share the reading of stored element matrices, and where
/// nothing is stored the geometry of elements whose programs take several columns. An operator keeps scratch for its
/// products, so one thread at a time may use it. Where VOUSSOIR_OVERLAP=1 when it is assembled on several devices, the
/// elements that need no values of other devices are multiplied before these have arrived.
class CpuElementOperator final : public ElementOperator {
 public:
  CpuElementOperator(const DeviceModel& model, ElementProduct product, OperatorEquations equations, int threads);

  const std::shared_ptr<const Layout>& layout() const override { return model_->layout(); }
  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;
  std::size_t bytes() const override;
  std::size_t bytes_moved() const override;
  std::string describe() const override;
  ElementProduct product() const override { return product_; }
  OperatorEquations equations() const override { return equations_; }

  const DeviceModel* model() const { return model_; }
  void assemble(CpuBackend& backend, const ElementState& state, const MatrixTerms& terms);
  BlockDiagonal block_diagonal(int block_size) const;
  /// Whether what it consists of are upper triangles of element matrices. Throws as products do where it cannot be
  /// used.
  bool is_stored_symmetric() const;
  /// The stored matrices of a batch, [group][entry][lane]; empty where it contributes nothing.
  const Array<double>& stored_matrices(int device, int number) const { return part(device, number).matrices; }

 private:
  struct BatchPart {
    BatchTerms terms;
    Array<double> matrices;             ///< [group][entry][lane], or tangents at points; none where matrix-free
    std::unique_ptr<GatherPlan> whole;  ///< scatter: the batch as one chunk, the connectivity matrix by nodes
    mutable Array<double> spread;       ///< scatter: element vectors, [group][dof][column][lane]
  };

  const ElementBatch& batch(int device, int number) const {
    return model_->part(device).batches[static_cast<std::size_t>(number)];
  }
  const BatchPart& part(int device, int number) const {
    return parts_[static_cast<std::size_t>(device)][static_cast<std::size_t>(number)];
  }
  BatchPart& part(int device, int number) {
    return parts_[static_cast<std::size_t>(device)][static_cast<std::size_t>(number)];
  }
  /// Columns of a block of vectors that are done at once, at most.
  int columns_together() const;
  void apply_together(const Vector& x, Vector& y) const;
  /// Whether the elements of a batch are stored as matrices.
  bool stores_matrices(int device, int number) const {
    return product_ != ElementProduct::matrix_free && !stores_points(device, number);
  }
  /// Whether they are stored as tangents at points.
  bool stores_points(int device, int number) const {
    return product_ == ElementProduct::points && batch(device, number).program->point_numbers() > 0 &&
           part(device, number).terms.mass == 0;
  }
  /// Products of stored matrices, or of tangents at points.
  ElementStatus add_stored(int device, int number, const GatherPlan& plan, Array<double>& y) const;
  void add_spread(int device, int number, Array<double>& y) const;
  ElementStatus add_action(int device, int number, const GatherPlan& plan, Array<double>& y) const;
  /// expanded_ = x where free, else 0, dependent entries filled in, and y = 0, on one device.
  void open(int device, const Vector& x, Vector& y, detail::ProductPhase phase) const;
  /// Adds the products of the elements of a phase.
  void add_batches(int device, Vector& y, detail::ProductPhase phase, FaultKeeper& faults) const;
  /// y = x where not free, once dependent entries have been handed on.
  void close(int device, const Vector& x, Vector& y) const;
  ElementStatus add_diagonal(int device, int number, int block_size, Array<double>& blocks) const;
  /// Stores matrices, or tangents at points.
  ElementStatus store(int device, int number, const ElementState& state);

  const DeviceModel* model_;
  ModelRevision revision_;  ///< of the model that the operator was made for
  ElementProduct product_;
  OperatorEquations equations_;
  int threads_;
  bool assembled_ = false;
  bool overlaps_ = false;
  std::vector<std::vector<BatchPart>> parts_;
  KeptElementState state_;                      ///< matrix-free and points: where the tangent is taken
  mutable Vector expanded_;                     ///< x with constrained entries zero and dependent ones filled in
  mutable std::vector<Array<double>> buffers_;  ///< values of one chunk, per device
};

}  // namespace voussoir::cpu
