#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/divided_multigrid.hpp>
#include <voussoir/backends/explicit_services.hpp>
#include <voussoir/backends/grid_services.hpp>
#include <voussoir/backends/grouped_dots.hpp>
#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/projection_services.hpp>
#include <voussoir/backends/stencil_services.hpp>
#include <voussoir/backends/sweep_services.hpp>

namespace voussoir {

/// All services on the cores of this machine, with OpenMP. The memories say what a "device" is: main memory itself for
/// the openmp backend, guarded and poisoned pseudo-devices for the debug backend. Device work is done strictly between
/// the brackets of a DeviceSection and on device pointers, as if the memory were far away.
class CpuBackend : public Backend {
 public:
  /// One device per memory; each uses `threads` threads, one device after another.
  CpuBackend(std::string name, std::string description, std::vector<std::shared_ptr<DeviceMemory>> memories,
             int threads);

  std::string name() const override { return name_; }
  std::string describe() const override { return description_; }
  int devices() const override { return static_cast<int>(memories_.size()); }
  const std::shared_ptr<DeviceMemory>& memory(int device) const override;
  Route route(const ElementProgram& program) const override;
  int threads() const override { return threads_; }

  void fill(Vector& x, double value) override;
  void copy(const Vector& x, Vector& y) override;
  void scale(double a, Vector& x) override;
  void axpy(double a, const Vector& x, Vector& y) override;
  void axpby(double a, const Vector& x, double b, Vector& y) override;
  void multiply(const Vector& d, const Vector& x, Vector& y) override;
  double dot(const Vector& x, const Vector& y) override;
  double cg_update(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) override;
  void exchange(const Vector& x) override;
  void block_dot(const Vector& x, const Vector& y, std::span<double> result) override;
  void block_axpy(const Vector& x, std::span<const double> c, Vector& y) override;
  void column_dots(const Vector& x, const Vector& y, std::span<double> result) override;
  void column_axpby(std::span<const double> a, const Vector& x, std::span<const double> b, Vector& y) override;
  void copy_columns(const Vector& x, int from, int count, Vector& y, int to) override;

  std::unique_ptr<SparseMatrix> make_matrix(const DeviceModel& model, int block_size) override;
  std::unique_ptr<SparseMatrix> make_matrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows) override;
  void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                SparseMatrix& matrix) override;
  std::unique_ptr<ElementOperator> make_element_operator(const DeviceModel& model, ElementProduct product,
                                                         OperatorEquations equations) override;
  void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                ElementOperator& matrix) override;

  void residual(const DeviceModel& model, const ElementState& state, std::span<const double> batch_factors,
                bool through_dependencies, Vector& r) override;
  void body_load(const DeviceModel& model, int batch, const ElementState& state, const BodyLoad& load,
                 Vector& f) override;
  std::vector<double> recover(const DeviceModel& model, int batch, const ElementState& state) override;
  NodalValues temperatures(const DeviceModel& model, const Vector& unknowns, int component) override;
  std::shared_ptr<const ElementHistory> history(const DeviceModel& model, const ElementState& state) override;
  int history_lanes(const ElementProgram& program) const override { return program.lanes(); }
  void expand_dependencies(const DeviceModel& model, Vector& x) override;
  void reduce_dependencies(const DeviceModel& model, Vector& x) override;
  void clear_constrained(const DeviceModel& model, Vector& x) override;

  BlockDiagonal block_diagonal(const SparseMatrix& matrix, int block_size) override;
  BlockDiagonal block_diagonal(const DeviceModel& model, const ElementOperator& matrix, int block_size) override;
  void invert(BlockDiagonal& diagonal) override;
  void to_single(BlockDiagonal& diagonal) override;
  void apply(const BlockDiagonal& diagonal, const Vector& r, Vector& z) override;
  double apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) override;

 private:
  std::string name_;
  std::string description_;
  std::vector<std::shared_ptr<DeviceMemory>> memories_;
  int threads_;
  std::unique_ptr<MultigridServices> multigrid_;
  std::unique_ptr<DividedMultigrid> divided_multigrid_;
  std::unique_ptr<GroupedDots> grouped_dots_;
  std::unique_ptr<ProjectionServices> projection_;
  std::unique_ptr<GridServices> grids_;
  std::unique_ptr<SweepServices> sweeps_;
  std::unique_ptr<ExplicitServices> explicit_;
  std::unique_ptr<StencilServices> stencils_;
};

/// The cores of this machine as one device. `threads` 0 takes all that the process may run on (or OMP_NUM_THREADS).
/// `note`, where there is one, follows in describe() in brackets: why this backend was chosen.
std::shared_ptr<Backend> make_openmp_backend(int threads, const std::string& note = {});

}  // namespace voussoir
