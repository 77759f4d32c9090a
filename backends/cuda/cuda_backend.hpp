#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/divided_multigrid.hpp>
#include <voussoir/backends/explicit_services.hpp>
#include <voussoir/backends/grid_services.hpp>
#include <voussoir/backends/grouped_dots.hpp>
#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/projection_services.hpp>
#include <voussoir/backends/stencil_services.hpp>
#include <voussoir/backends/sweep_services.hpp>

namespace voussoir::cuda {

/// All services on NVIDIA GPUs. Each logical device has a stream; services whose results stay on the devices return as
/// soon as their work is enqueued. Everything that a service needs lies on the devices: nothing crosses the bus but
/// sums that the caller asks for, and elements of route host.
class CudaBackend final : public Backend {
 public:
  /// `ordinals` are GPUs, one per logical device, possibly repeated.
  explicit CudaBackend(std::string name, const std::vector<int>& ordinals);
  ~CudaBackend() override;

  std::string name() const override { return name_; }
  std::string describe() const override;
  int devices() const override { return static_cast<int>(memories_.size()); }
  const std::shared_ptr<DeviceMemory>& memory(int device) const override;
  Route route(const ElementProgram& program) const override;
  std::string route_reason(const ElementProgram& program) const override;
  void choose(const WorkChoices& choices) override { choices_ = choices; }
  void wait() override;
  double time(const std::function<void()>& work) override;

  // vectors.cu
  void fill(Vector& x, double value) override;
  void copy(const Vector& x, Vector& y) override;
  void scale(double a, Vector& x) override;
  void axpy(double a, const Vector& x, Vector& y) override;
  void axpby(double a, const Vector& x, double b, Vector& y) override;
  void multiply(const Vector& d, const Vector& x, Vector& y) override;
  double dot(const Vector& x, const Vector& y) override;
  double cg_update(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) override;
  // exchange.cu
  void exchange(const Vector& x) override;
  // block_vectors.cu
  void block_dot(const Vector& x, const Vector& y, std::span<double> result) override;
  void block_axpy(const Vector& x, std::span<const double> c, Vector& y) override;
  void column_dots(const Vector& x, const Vector& y, std::span<double> result) override;
  void column_axpby(std::span<const double> a, const Vector& x, std::span<const double> b, Vector& y) override;
  void copy_columns(const Vector& x, int from, int count, Vector& y, int to) override;

  // sparse_matrix.cu, matrix_pattern.cu, assemble.cu
  std::unique_ptr<SparseMatrix> make_matrix(const DeviceModel& model, int block_size) override;
  std::unique_ptr<SparseMatrix> make_matrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows) override;
  void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                SparseMatrix& matrix) override;
  // vendor.cpp
  std::vector<std::unique_ptr<Operator>> make_vendor_matrices(std::shared_ptr<const Layout> layout,
                                                              const HostMatrix& rows) override;
  // element_operator.cu
  void integrate(const DeviceModel& model, int batch, const MatrixTerms& terms) override;
  std::unique_ptr<ElementOperator> make_element_operator(const DeviceModel& model, ElementProduct product,
                                                         OperatorEquations equations) override;
  void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                ElementOperator& matrix) override;

  // element_vectors.cu
  void residual(const DeviceModel& model, const ElementState& state, std::span<const double> batch_factors,
                bool through_dependencies, Vector& r) override;
  void body_load(const DeviceModel& model, int batch, const ElementState& state, const BodyLoad& load,
                 Vector& f) override;
  std::vector<double> recover(const DeviceModel& model, int batch, const ElementState& state) override;
  // element_state.cu
  NodalValues temperatures(const DeviceModel& model, const Vector& unknowns, int component) override;
  std::shared_ptr<const ElementHistory> history(const DeviceModel& model, const ElementState& state) override;
  int history_lanes(const ElementProgram& program) const override;
  // dependencies.cu
  void expand_dependencies(const DeviceModel& model, Vector& x) override;
  void reduce_dependencies(const DeviceModel& model, Vector& x) override;
  void clear_constrained(const DeviceModel& model, Vector& x) override;

  // block_diagonal.cu
  BlockDiagonal block_diagonal(const SparseMatrix& matrix, int block_size) override;
  BlockDiagonal block_diagonal(const DeviceModel& model, const ElementOperator& matrix, int block_size) override;
  void invert(BlockDiagonal& diagonal) override;
  void to_single(BlockDiagonal& diagonal) override;
  void apply(const BlockDiagonal& diagonal, const Vector& r, Vector& z) override;
  double apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) override;
  // multigrid/cuda_multigrid.hpp
  // cg.cu
  CgOutcome cg(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
               const CgRequest& request) override;

 private:
  std::string name_;
  std::vector<std::shared_ptr<DeviceMemory>> memories_;
  std::unique_ptr<MultigridServices> multigrid_;
  std::unique_ptr<DividedMultigrid> divided_multigrid_;
  std::unique_ptr<GroupedDots> grouped_dots_;
  std::unique_ptr<ProjectionServices> projection_;
  std::unique_ptr<GridServices> grids_;
  std::unique_ptr<StencilServices> stencils_;
  std::unique_ptr<SweepServices> sweeps_;
  std::unique_ptr<ExplicitServices> explicit_;
};

/// A kernel of this library, to ask whether the library has code for a GPU at all.
const void* any_kernel();

/// Refreshes the ghosts of x from their owners, in the order of the devices' streams.
void exchange_ghosts(const Vector& x);

}  // namespace voussoir::cuda
