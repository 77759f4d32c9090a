#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/backends/cost_model/machine_profile.hpp>

// Predicted times of the operations of the framework, from a MachineProfile. docs/cost_model.md derives the formulas.

namespace voussoir {

/// The times of formula (1) of the paper, as it defines them.
struct LongVectorTimes {
  double copies = 0;     ///< τ: both copies between host and device
  double launch = 0;     ///< t_kernel: latency of a vector operation
  double add = 0;        ///< t_add: seconds of one round of s sums
  double saxpy = 0;      ///< t_saxpy: the same of y = a x + y
  double border = 0;     ///< t_0: restoring the border
  double in_flight = 1;  ///< s: threads in flight
};
/// Formula (1), the predicted time of explicit heat conduction on a grid of n × n inner points in `steps` steps:
///
///   T = τ + steps [4 t_kernel + t_add ⌈((n+2)² − 1)/s⌉ + t_add ⌈(n(n+2) − 2)/s⌉ + t_saxpy ⌈(n(n+2) − 2)/s⌉ + t_0]
double long_vector_formula(const LongVectorTimes& times, std::int64_t n, std::int64_t steps);

/// Formula (2), the predicted time of one pass of `height` iterations over a grid of n³ points in slabs of `slab`
/// layers with their overlap: `blocks` [(3 R − 2 h) t_copy + t_a ⌈h (R − h − 1)(n − 2)² / s⌉]. `copy` is the time to
/// move one layer of n² values, `update` that of one round of s stencils.
double pyramid_formula(std::int64_t n, std::int64_t blocks, std::int64_t slab, int height, double copy, double update,
                       double in_flight);

/// Bytes between two uses of an entry in a step on long vectors, at least: every operation reads what the one before it
/// wrote, so that two vectors of (n + 2)² numbers pass in between. For what it writes, and for V in the scaled sum, it
/// is three vectors.
double long_vector_bytes(std::int64_t n);

/// A 3D grid in host memory, iterated by a 7-point stencil slab by slab on devices: the generalisation of formula (2).
struct PyramidJob {
  std::int64_t nx = 0,        ///< points along x, the contiguous direction
      ny = 0,                 ///< points along y
      nz = 0;                 ///< points along z, the direction in which slabs are cut
  bool source = true;         ///< whether a right-hand side travels too
  int real_bytes = 8;         ///< bytes of a number
  int tile = 1;               ///< largest number of iterations per pass through device memory
  int devices = 1;            ///< devices that share the layers
  bool keeps_overlap = true;  ///< whether overlaps of neighbouring slabs cross the bus once only
  double budget = 0;          ///< bytes of device memory for slabs; 0: unlimited
  /// Bytes that slabs of R layers with height h take on a device. Empty: three arrays of R layers, twice.
  std::function<double(std::int64_t slab, int height)> slab_bytes;

  /// slab_bytes(), or its default.
  double bytes(std::int64_t slab, int height) const;
};

/// What a pass of h iterations does: the counts that formula (2) multiplies with times.
struct PyramidCounts {
  std::int64_t slabs = 0;        ///< slabs per device, of the device that has most
  double layers_in = 0;          ///< layers of nx × ny numbers copied to one device, all fields
  double layers_out = 0;         ///< layers copied back from it
  std::vector<double> computed;  ///< layers computed in each of the h iterations, overlaps included
  double repeated = 0;           ///< computed layers over those that plain iterations would compute, minus 1
};
/// Counts a pass slab by slab; a slab at the end of the grid has no overlap there. Error (bad_input) unless
/// h ≥ 1 and R > 2h.
PyramidCounts count_pyramid(const PyramidJob& job, int height, std::int64_t slab);

/// A choice of pyramid height and slab, and what it costs.
struct HeightChoice {
  int height = 1;          ///< h: iterations per pass
  std::int64_t slab = 0;   ///< R: layers of a slab with its overlap of h on either side
  double seconds = 0;      ///< predicted seconds of one iteration: those of a pass over h
  std::int64_t slabs = 0;  ///< number of slabs
};

/// A block of elements of one type in a model.
struct ElementCount {
  ElementClass type;    ///< the type
  double elements = 0;  ///< their number
};

/// The sizes of a finite-element model on which times depend.
struct ModelShape {
  double nodes = 0;                  ///< nodes that elements use
  double equations = 0;              ///< unknowns of these nodes
  int components = 0;                ///< unknowns per node; 0 if nodes differ
  double node_pairs = 0;             ///< pairs of different nodes that share an element, each once
  int dimension = 3;                 ///< 1 lines, 2 plane, 3 solid
  double layer = 1;                  ///< nodes in a cross-section, as ModelSize::layer
  std::vector<ElementCount> blocks;  ///< elements by type

  /// Numbers that half a matrix in blocks has: (pairs + nodes) c².
  double half_matrix_numbers() const;
  /// Numbers of the whole matrix: (2 pairs + nodes) c².
  double matrix_numbers() const;
  /// Bytes of half a matrix in blocks, indices included.
  double half_matrix_bytes() const;
};

/// The form of the matrix in products, as storages() names it.
enum class OperatorForm { bsr, csr, element, matrix_free };
/// "bsr", "csr", "element", "matrix-free".
const char* to_string(OperatorForm form);

/// Predicts times from a profile. Predictions that need an operation that the profile does not have are std::nullopt:
/// nothing is invented.
class CostModel {
 public:
  explicit CostModel(MachineProfile profile);  ///< the profile is copied

  const MachineProfile& profile() const { return profile_; }  ///< what the predictions are made of

  /// An operation of the profile on so many units and bytes.
  std::optional<double> operation(std::string_view name, double units, double working_set) const;
  /// The cost of an operation on elements (`what` as in operations::of_type()) of a type. A type that was not measured
  /// is predicted from the measured one with the same number of components (or, without one, any) and the nearest
  /// work per element, in proportion to ElementClass::work().
  std::optional<double> element_operation(std::string_view what, const ElementClass& type, double elements,
                                          double working_set) const;

  // --- difference schemes -----------------------------------------------------------------------------------------
  /// Formula (1): explicit heat conduction on a grid of N × N inner points, unrolled to a vector of (N + 2)², in
  /// `steps` steps of two sums, one saxpy and the border:
  ///
  ///   T = τ + steps [4 t_kernel + t_add ⌈((N+2)² − 1)/s⌉ + t_add ⌈(N(N+2) − 2)/s⌉ + t_saxpy ⌈(N(N+2) − 2)/s⌉ + t_0]
  ///
  /// t_kernel is the latency of each operation. Where operations are queued (OperationCost::queued), launches overlap
  /// with execution, and a step takes the larger one of 4 t_kernel and the rest of the bracket. Rates are the mean of
  /// those for two and for three vectors, see long_vector_bytes(). `with_copies` includes τ, the copies to the device
  /// and back through buffers that are used again.
  std::optional<double> long_vectors(std::int64_t n, std::int64_t steps, bool with_copies = true) const;
  /// Formula (2) in the framework's form: seconds of one pass of h iterations over a grid in host memory,
  ///
  ///   T = I + O + U,   or M + (I + O + U − M) / slabs, M = max(I, O, U),   where copies overlap with computing,
  ///   I = layers_in t_in,   O = layers_out t_out,   U = Σ_j computed_j t_a,
  ///
  /// with the counts of count_pyramid(): what is done for the first and the last slab overlaps with nothing. The time
  /// t_a of an update depends on the time tile and on the bytes of a slab. std::nullopt if the profile lacks an
  /// operation.
  std::optional<double> pyramid_pass(const PyramidJob& job, int height, std::int64_t slab) const;
  /// The largest slab for a height that fits the budget, at most the layers of a device with the overlap; 0 if none
  /// fits.
  static std::int64_t largest_slab(const PyramidJob& job, int height);
  /// The heights that are tried: 10 to 15 values from 1 to `largest`, about equally spaced in log h.
  static std::vector<int> candidate_heights(int largest);
  /// Slabs that are tried for a height: the largest that fits the budget, and those that return a half, a quarter, an
  /// eighth … of its layers, down to four. Small slabs hide more of the copies, large ones repeat less work.
  static std::vector<std::int64_t> candidate_slabs(const PyramidJob& job, int height);
  /// The slab among candidate_slabs() with the least time for a height. std::nullopt if none fits or the profile lacks
  /// an operation.
  std::optional<HeightChoice> choose_slab(const PyramidJob& job, int height) const;
  /// The height with the least time per iteration among candidate_heights(), each with the best slab, up to
  /// min(iterations, max(2, nz / 10)), the range in which the paper recommends its model. std::nullopt if nothing fits
  /// or the profile lacks an operation.
  std::optional<HeightChoice> choose_height(const PyramidJob& job, int iterations) const;

  // --- finite elements --------------------------------------------------------------------------------------------
  /// Integration of all element matrices, and their assembly into a stored matrix or preparation of an operator.
  std::optional<double> assemble(const ModelShape& model, OperatorForm form) const;
  /// The pattern of a stored matrix; zero for other forms.
  std::optional<double> pattern(const ModelShape& model, OperatorForm form) const;
  /// One product y = A x.
  std::optional<double> product(const ModelShape& model, OperatorForm form) const;
  /// One iteration of CG with block Jacobi: a product, and what is done with vectors. On several devices each does its
  /// share, and a halo of `layer` nodes per cut is exchanged.
  std::optional<double> cg_iteration(const ModelShape& model, OperatorForm form, int devices = 1) const;
  /// The set-up of multigrid for the whole model.
  std::optional<double> multigrid_set_up(const ModelShape& model) const;
  /// One cycle of multigrid.
  std::optional<double> multigrid_cycle(const ModelShape& model) const;
  /// Halo exchange of the unknowns of one cross-section between two devices.
  std::optional<double> halo_exchange(const ModelShape& model) const;
  /// A direct factorisation: numbers of the factor, as estimate_memory() counts them, and operations
  /// c³ n layer^1.5 (solids, more in long ones), c³ n layer (plane), c³ n (lines): nested dissection; see
  /// factor_work().
  std::optional<double> factorise(const ModelShape& model) const;
  /// The number of devices from 1 to `available` with the least time of a CG iteration; 1 if the profile lacks the
  /// halo exchange.
  int choose_devices(const ModelShape& model, OperatorForm form, int available) const;

 private:
  MachineProfile profile_;
};

/// Numbers of the factor of a direct solver: nested dissection of a body with `layer` nodes across.
double factor_numbers(const ModelShape& model);
/// Operations of that factorisation, up to a constant: c³ n layer^1.5, c³ n layer or c³ n. In solids that are r times
/// as long as wide, they are multiplied by 1 + 1.65 (1 − 1/r).
double factor_work(const ModelShape& model);

/// Assumed CG iterations to a relative residual of 1e-8. They depend on the model, so they are assumptions that every
/// table states. The condition number of a second-order problem grows like h⁻², so Jacobi-type preconditioners take
/// a √(L n^(1/d)) iterations with n nodes in d dimensions and L layers along the body. Measured for block Jacobi: 752
/// on a cube of 614 125 nodes, 832 on a cantilever of 10 : 1 with 102 124 nodes; a = 8.8 gives 748 and 880. Multigrid
/// took between 14 and 32, so 20, whatever the size.
struct IterationAssumption {
  double iterations = 0;  ///< for one right-hand side
  std::string text;       ///< where the number comes from
};
/// The assumption for a preconditioner of the library: "none", "jacobi", "block-jacobi", "chebyshev", "fsai", "amg".
/// std::nullopt for any other name.
std::optional<IterationAssumption> assumed_iterations(const std::string& preconditioner, const ModelShape& model,
                                                      double relative_tolerance = 1e-8);

}  // namespace voussoir
