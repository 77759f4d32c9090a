#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/cuda/matrix/cuda_operator.hpp>
#include <voussoir/backends/cuda/model_plans.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/cuda/vectors/overlapped_exchange.hpp>

namespace voussoir::cuda {

/// A matrix kept as its elements. Columns of a block of vectors share the reading of stored element matrices, and in
/// clusters, where nothing is stored, the geometry of the elements. An operator keeps scratch for its products, so one
/// thread at a time may use it. Where overlap is wanted when it is assembled (OverlappedExchange::is_wanted), ghosts of
/// x travel while the clusters that do not need them are multiplied.
class CudaElementOperator final : public ElementOperator, public CudaOperator {
 public:
  CudaElementOperator(const DeviceModel& model, ElementProduct product, OperatorEquations equations);

  const std::shared_ptr<const Layout>& layout() const override { return model_->layout(); }
  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;
  std::size_t bytes() const override;
  std::size_t bytes_moved() const override;
  std::string describe() const override;
  ElementProduct product() const override { return product_; }
  OperatorEquations equations() const override { return equations_; }

  int dot_partials(int device) const override;
  void enqueue(int device, const Vector& x, Vector& y, double* partials) const override;
  bool only_enqueues() const override;
  void rethrow_faults() const override;
  bool has_interior(int device) const override;
  void enqueue_interior(int device, const Vector& x, Vector& y) const override;
  void enqueue_rest(int device, const Vector& x, Vector& y, double* partials) const override;

  const DeviceModel* model() const { return model_; }
  void assemble(const ElementState& state, const MatrixTerms& terms, const WorkChoices& choices);
  BlockDiagonal block_diagonal(int block_size) const;
  /// Whether what it consists of are upper triangles of element matrices. Throws as products do where it cannot be
  /// used.
  bool is_stored_symmetric() const;
  /// The stored matrices of a batch; empty where it contributes nothing.
  const Array<double>& stored_matrices(int device, int number) const { return part(device, number).matrices; }
  /// The clusters in whose order these matrices are stored; null: in the order of the batch.
  std::shared_ptr<const ClusterSet> clusters_of(int device, int number) const {
    return part(device, number).clustered ? part(device).clusters : nullptr;
  }

 private:
  struct BatchPart {
    MatrixMix mix{0, 0};
    bool clustered = false;
    int kept = 0;            ///< numbers of an element that are stored at its points; 0: none
    bool at_once = false;    ///< from nodes to nodes in one go, with sums in any order
    Array<double> matrices;  ///< or tangents at points; in the order of the clusters, or plain; none if matrix-free
    Array<double> vectors;   ///< element vectors, where they are not summed in clusters
    Array<double> products;  ///< where a product cannot take their place
  };
  struct DevicePart {
    std::vector<BatchPart> batches;
    std::shared_ptr<const ClusterSet> clusters;
    std::shared_ptr<const SplitClusters> split;  ///< the same clusters where products begin before ghosts are there
    bool plain = false;  ///< a product is nothing but clusters: free equations, no dependencies, no other batches
    // Room for `width` columns, one after another.
    int width = 0;
    Array<double> expanded;  ///< x with entries that are not free zero and dependent ones filled in; none if plain
    Array<double> partial;   ///< sums of nodes that clusters share; none where they are taken in any order
    Array<double> dot;       ///< shares of x·y, of all clusters
  };
  /// Columns that are done together.
  struct Columns {
    int first = 0;
    int width = 1;
    double* dot = nullptr;  ///< null, or dot_partials() sums of x·y for each, one after another
  };

  const ElementBatch& batch(int device, int number) const {
    return model_->part(device).batches[static_cast<std::size_t>(number)];
  }
  DevicePart& part(int device) const { return parts_[static_cast<std::size_t>(device)]; }
  BatchPart& part(int device, int number) const { return part(device).batches[static_cast<std::size_t>(number)]; }

  void plan_device(int device);
  void make_room(int device, int columns) const;
  /// Whether the elements of a batch are stored as matrices.
  bool stores_matrices(const BatchPart& part) const {
    return product_ != ElementProduct::matrix_free && part.kept == 0;
  }
  void store_matrices(int device, int number, const ElementState& state);
  void store_points(int device, int number, const ElementState& state);
  /// y = A x, the ghosts of x being exchanged, and with `dot`, one address per device, sums of x·y for all columns.
  void multiply(const Vector& x, Vector& y, const std::vector<double*>& dot) const;
  void enqueue_columns(int device, const Vector& x, Vector& y, const Columns& columns, ProductPhase phase) const;
  void add_clusters(int device, const Array<double>& x, const ClusterSums& sums, double* dot, ProductPhase phase) const;
  /// The product of one plan, whose matrices or tangents begin at place `first` of the batch.
  void add_plan(int device, int number, const ClusterPlan& plan, std::int64_t first, const double* x,
                const ClusterSums& sums) const;
  /// The clusters of a batch that need no ghosts; null where there are none.
  const ClusterPlan* interior(int device, int number) const;
  void add_vectors(int device, int number, int width, const NodalTarget& y) const;
  void add_diagonal(int device, int number, int block_size, Array<double>& blocks) const;

  const DeviceModel* model_;
  ModelRevision revision_;  ///< of the model that the operator was made for
  ElementProduct product_;
  OperatorEquations equations_;
  WorkChoices choices_;
  bool assembled_ = false;
  mutable bool judged_ = false;  ///< a product since assemble() has been asked for faults
  mutable std::vector<DevicePart> parts_;
  KeptElementState state_;  ///< matrix-free and points: where the tangent is taken
  mutable FaultWords faults_;
  mutable std::unique_ptr<OverlappedExchange> exchange_;  ///< of apply(), made when it is first needed
};

}  // namespace voussoir::cuda
