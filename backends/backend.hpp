#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/element_state.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// A backend and whether it can be used on this machine.
struct BackendInfo {
  std::string name;     ///< "openmp", "debug", "cuda", …
  bool usable = false;  ///< on this machine, now
  std::string reason;   ///< what it would run on, or why it cannot
};

/// A weighted sum of element matrices: stiffness · K + mass · M. `batch_factors` scales each batch (a batch
/// with factor 0 is skipped); empty means 1 for all. `mass_factors`, where it is given, scales the mass of each batch
/// instead.
struct MatrixTerms {
  double stiffness = 1;                        ///< factor of K
  double mass = 0;                             ///< factor of M
  MassKind mass_kind = MassKind::consistent;   ///< of M
  std::span<const double> batch_factors = {};  ///< per batch, must outlive the call; empty: 1
  std::span<const double> mass_factors = {};   ///< per batch, must outlive the call; empty: batch_factors

  /// Factor of the stiffness of a batch.
  double stiffness_of(int batch) const {
    return stiffness * (batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(batch)]);
  }
  /// Factor of the mass of a batch.
  double mass_of(int batch) const {
    return mass_factors.empty() ? mass * (batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(batch)])
                                : mass * mass_factors[static_cast<std::size_t>(batch)];
  }
};

/// How element matrices are integrated, if a backend has several methods (FEStudio's levels, docs/backends.md).
enum class Integration {
  automatic,  ///< the method measured to be fastest for the element type
  thread,     ///< level I: a thread per element
  block,      ///< level II: a thread block per element, a thread per integration point, pairwise sums
  blocks,     ///< level IIa: several elements per thread block of 32 threads
  pairs       ///< a thread per pair of nodes, integration points in shared memory
};
/// Where element matrices are assembled to a stored matrix.
enum class Assembly {
  automatic,
  device,  ///< integration, constraints and assembly on the device that stores the matrix
  host     ///< element matrices from the device, assembly on the host
};
/// Methods that a user may select. By default the backend chooses.
struct WorkChoices {
  Integration integration = Integration::automatic;  ///< of element matrices
  Assembly assembly = Assembly::automatic;           ///< of stored matrices
  bool deterministic = true;                         ///< false allows sums in any order, where that is faster
};
const char* to_string(Integration integration);
const char* to_string(Assembly assembly);

/// Settings of a CG solve.
struct CgRequest {
  double relative_tolerance = 1e-8;  ///< stop when ‖b − A x‖ ≤ relative_tolerance · ‖b‖ …
  double absolute_tolerance = 0;     ///< … or ≤ this
  int max_iterations = 10000;        ///< after which it stops unconverged
  /// Stops after this many iterations if the residual has not been reduced by checkpoint_reduction; 0 disables the
  /// check.
  int checkpoint = 0;
  double checkpoint_reduction = 1;  ///< fraction of the first ‖r‖ that must be reached at the checkpoint
  bool keep_history = true;         ///< whether CgOutcome::history is filled
  /// Flexible CG, for a preconditioner that varies between iterations (Notay 2000): one more dot product.
  bool flexible = false;
  /// Called every few iterations with (iteration, residual norm); returning false stops the iteration.
  std::function<bool(int, double)> progress;
};

/// The outcome of a CG solve.
struct CgOutcome {
  enum class Stop {
    converged,
    max_iterations,
    breakdown,  ///< p·A p ≤ 0: the matrix is not positive definite
    not_finite,
    cancelled,
    bad_preconditioner,  ///< r·M r ≤ 0: the preconditioner is not positive definite
    slow                 ///< the residual was not reduced enough at the checkpoint
  } stop = Stop::max_iterations;
  int iterations = 0;           ///< that were made
  double residual = 0;          ///< ‖r‖ of the recurrence at the end
  double right_hand_side = 0;   ///< ‖b‖
  std::vector<double> history;  ///< ‖r‖ at each iteration, the start included
  /// Ritz values of the preconditioned matrix from the CG coefficients: smallest and largest, 0 where unknown.
  double smallest_ritz = 0;
  double largest_ritz = 0;  ///< as smallest_ritz
};

/// A compute backend: memory and services on one or several devices. An object, not a global; several
/// may exist at once. An analysis uses one for everything from the uploaded elements to the solution.
class Backend {
 public:
  /// Opens a backend by its specification:
  ///
  ///   auto        CUDA where a plugin, a driver and a device are found, else OpenMP
  ///   openmp      all threads            openmp:8     eight
  ///   debug       one pseudo-device with separate, poisoned memory; debug:2, two of them
  ///   cuda        the first GPU; cuda:0,1 two of them; cuda:0,0 two logical devices on one
  ///   NAME[:ARG]  a plugin libvoussoir_NAME.so
  ///
  /// An explicit name never falls back: it throws Error (unavailable) that says why.
  static std::shared_ptr<Backend> open(std::string_view specification = "auto");
  /// All backends found on this machine, and the reasons why some cannot be used.
  static std::vector<BackendInfo> available();

  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual std::string name() const = 0;      ///< the specification that opens it again
  virtual std::string describe() const = 0;  ///< one line of text: devices, threads, and why it was chosen
  virtual int devices() const = 0;           ///< number of (logical) devices
  /// Number of host threads that the backend may use; 0 if it does not specify one.
  virtual int threads() const { return 0; }
  /// Of a device, from 0; shared by its arrays.
  virtual const std::shared_ptr<DeviceMemory>& memory(int device) const = 0;
  /// How this backend would run an element program.
  virtual Route route(const ElementProgram& program) const = 0;
  std::size_t bytes_in_use() const;  ///< memory in use on all devices
  std::size_t bytes_peak() const;    ///< peak memory on all devices
  /// Selects methods from now on. Throws Error (unavailable) for a method that this backend does not have.
  virtual void choose(const WorkChoices& choices);
  const WorkChoices& choices() const { return choices_; }  ///< the methods selected by choose()
  /// Waits until all enqueued work is done. Services whose results stay on a device may return earlier.
  virtual void wait() {}
  /// The time of `work` in seconds, measured by the device if it has a clock.
  virtual double time(const std::function<void()>& work);

  template <class T>
  /// An array on a device, without values.
  Array<T> make_array(int device, std::size_t size) const {
    return Array<T>(memory(device), size);
  }

  // --- vectors -------------------------------------------------------------------------------------------------
  // All sums are taken in a fixed order: the same bits for the same input, whatever the number of threads.
  virtual void fill(Vector& x, double value) = 0;                          ///< x_i = value
  virtual void copy(const Vector& x, Vector& y) = 0;                       ///< y = x
  virtual void scale(double a, Vector& x) = 0;                             ///< x = a x
  virtual void axpy(double a, const Vector& x, Vector& y) = 0;             ///< y = a x + y
  virtual void axpby(double a, const Vector& x, double b, Vector& y) = 0;  ///< y = a x + b y; b = 0 ignores y, even NaN
  virtual void multiply(const Vector& d, const Vector& x, Vector& y) = 0;  ///< y_i = d_i x_i
  virtual double dot(const Vector& x, const Vector& y) = 0;                ///< over all columns
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
  /// Columns to, to + 1, … of y = columns from, from + 1, … of x, `count` of them; the other columns of y stay.
  virtual void copy_columns(const Vector& x, int from, int count, Vector& y, int to) = 0;
  /// ‖x‖ over all columns. Neither overflows nor underflows on the way.
  double norm(const Vector& x);
  /// ‖x_c‖ of each column, likewise.
  std::vector<double> column_norms(const Vector& x);

  // --- models --------------------------------------------------------------------------------------------------
  std::unique_ptr<DeviceModel> make_model(const ModelDescription& description) const;

  /// A matrix with the pattern of the model's elements and no values yet. block_size 1 is CSR; other block sizes need a
  /// model with that many equations on every node.
  virtual std::unique_ptr<SparseMatrix> make_matrix(const DeviceModel& model, int block_size) = 0;
  /// A matrix given by its rows, for preconditioners and for matrices that come from elsewhere. Every column must be
  /// owned or a ghost where its row is owned. Not necessarily symmetric.
  virtual std::unique_ptr<SparseMatrix> make_matrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows) = 0;
  /// The same matrix in the hardware vendor's library, for comparison: one operator per storage format of the
  /// library, described by its name. Empty if there is no such library.
  virtual std::vector<std::unique_ptr<Operator>> make_vendor_matrices(std::shared_ptr<const Layout> layout,
                                                                      const HostMatrix& rows);
  /// Integrates and assembles. Rows and columns of equations that are not free are zeroed; of their diagonal the size
  /// is kept (1 where it is zero).
  virtual void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                        SparseMatrix& matrix) = 0;

  /// Only integrates the element matrices of one batch, at rest and at initial temperatures, and discards them: for
  /// benchmarks.
  virtual void integrate(const DeviceModel& model, int batch, const MatrixTerms& terms);

  /// An operator without values, which assemble() computes; the model must outlive it.
  virtual std::unique_ptr<ElementOperator> make_element_operator(
      const DeviceModel& model, ElementProduct product, OperatorEquations equations = OperatorEquations::free) = 0;
  /// Computes the data that the operator stores; a matrix-free one keeps the terms and the state, with a copy of the
  /// unknowns.
  virtual void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                        ElementOperator& matrix) = 0;

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
  /// A history for the elements of a model, without values yet; null where no element has any.
  std::unique_ptr<ElementHistory> make_history(const DeviceModel& model) const;
  /// Values of dependent equations from those they depend on.
  virtual void expand_dependencies(const DeviceModel& model, Vector& x) = 0;
  /// Moves the entries of dependent equations to those they depend on (the transpose), and leaves zero.
  virtual void reduce_dependencies(const DeviceModel& model, Vector& x) = 0;
  /// Zeroes the entries of equations that are not free.
  virtual void clear_constrained(const DeviceModel& model, Vector& x) = 0;

  // --- preconditioning and CG ----------------------------------------------------------------------------------
  /// The diagonal blocks of a stored matrix, as they are; invert() makes a preconditioner of them.
  virtual BlockDiagonal block_diagonal(const SparseMatrix& matrix, int block_size) = 0;
  /// The same of an operator that is not assembled.
  virtual BlockDiagonal block_diagonal(const DeviceModel& model, const ElementOperator& matrix, int block_size) = 0;
  /// Inverts each block; throws Error (singular) whose `where` is "equation N" for a singular one.
  virtual void invert(BlockDiagonal& diagonal) = 0;
  /// Converts the blocks to single precision, for diagonals that are only applied.
  virtual void to_single(BlockDiagonal& diagonal) = 0;
  /// z = D r
  virtual void apply(const BlockDiagonal& diagonal, const Vector& r, Vector& z) = 0;
  /// z = D r and r·z, in one pass if the backend supports it; for the apply_dot of a preconditioner.
  virtual double apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) {
    apply(diagonal, r, z);
    return dot(r, z);
  }

  /// Preconditioned conjugate gradients for A x = b from the given x. `preconditioner` may be null.
  virtual CgOutcome cg(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
                       const CgRequest& request);
  /// The same for all columns of b at once: the matrix and the preconditioner are read once for all of them. Each
  /// column has its own scalars, its own tolerance (relative_tolerances[c] instead of the request's; infinity leaves a
  /// column as it is) and its own outcome, without Ritz values, and leaves the iteration when it stops. Where one
  /// column is slow at the checkpoint, all stop. The request's progress is called with the largest ‖r‖ / ‖b‖ of a
  /// column.
  std::vector<CgOutcome> cg_columns(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
                                    const CgRequest& request, std::span<const double> relative_tolerances);

  /// The services for algebraic multigrid; valid as long as the backend. Throws Error (unavailable) if there are none.
  virtual MultigridServices& multigrid();
  virtual bool has_multigrid() const { return false; }  ///< whether multigrid() returns

  // --- for people ----------------------------------------------------------------------------------------------
  /// The reason for the result of route(); empty if the element program was compiled for this backend.
  virtual std::string route_reason(const ElementProgram& program) const {
    return route(program) == Route::host ? "the element type is written for the host" : "";
  }

 protected:
  Backend() = default;
  WorkChoices choices_;  ///< of choose()
};

}  // namespace voussoir
