#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// The largest number of rows or columns of a block that the services support.
inline constexpr int largest_level_block = 12;
/// The largest number of rows of the small systems that define an approximate inverse.
inline constexpr int largest_factor_rows = 64;

/// A matrix of small dense blocks on the first device of a backend: the levels of a multigrid hierarchy and the
/// transfers between them. Rows are complete; symmetry is not assumed.
///
/// Block row i has the blocks start[i] … start[i+1], columns ascending. Its values are contiguous, row by row: entry
/// (r, c) of its k-th block is at
///
///   start[i] · height · width + (r · n + k) · width + c      with n = start[i+1] − start[i]
///
/// so that a product gathers the row's part of x once and takes `height` dot products of n · width numbers.
struct LevelMatrix {
  std::int32_t rows = 0;       ///< block rows
  std::int32_t columns = 0;    ///< block columns
  int height = 1;              ///< rows of a block
  int width = 1;               ///< columns of a block
  Array<std::int64_t> start;   ///< index of the first block of each block row, and the number of blocks
  Array<std::int32_t> column;  ///< block column of each block, ascending within a row
  Array<double> value;         ///< entries in double precision; empty in single precision or without values
  Array<float> single_value;   ///< entries in single precision; empty in double precision or without values

  std::int64_t blocks() const { return static_cast<std::int64_t>(column.size()); }  ///< stored blocks
  std::int64_t entries() const { return blocks() * height * width; }                ///< stored numbers
  bool is_square() const { return rows == columns && height == width; }             ///< square, with square blocks
  /// Memory on the device.
  std::size_t bytes() const { return start.bytes() + column.bytes() + value.bytes() + single_value.bytes(); }
};

/// The inverse of a level's diagonal: a dense block of size × size numbers, by rows, for each block row.
struct LevelDiagonal {
  int size = 1;                                                               ///< rows of a block
  Array<double> value;                                                        ///< empty in single precision
  Array<float> single_value;                                                  ///< empty in double precision
  std::size_t bytes() const { return value.bytes() + single_value.bytes(); }  ///< memory on the device
};

/// The dense inverse of the coarsest matrix, by rows.
struct DenseInverse {
  std::int32_t size = 0;                                                      ///< rows of the matrix
  Array<double> value;                                                        ///< empty in single precision
  Array<float> single_value;                                                  ///< empty in double precision
  std::size_t bytes() const { return value.bytes() + single_value.bytes(); }  ///< memory on the device
};

/// A vector on a level, or a block of `columns` vectors whose entries of one row are contiguous. It has the
/// precision of the matrices that it is used with.
struct LevelVector {
  int columns = 1;                                                            ///< number of vectors
  Array<double> value;                                                        ///< empty in single precision
  Array<float> single_value;                                                  ///< empty in double precision
  std::size_t bytes() const { return value.bytes() + single_value.bytes(); }  ///< memory on the device
};

/// Aggregates of nodes: the nodes of the next coarser level.
struct Aggregates {
  std::int32_t count = 0;       ///< number of aggregates
  Array<std::int32_t> of_node;  ///< per node: its aggregate, or −1 for a node that is not connected to others
};

/// The motion that an equation describes, for rigid-body modes: `nothing` in rows that only fill a block, `value` for a
/// scalar unknown such as a temperature.
enum class Motion : std::uint8_t { nothing, x, y, z, rotation_x, rotation_y, rotation_z, value };

/// The backend's part of smoothed-aggregation algebraic multigrid; solvers/amg combines the steps.
/// All data is on the first device of the backend; with several devices, the finest level is gathered there.
///
/// Set-up is in double precision. Results do not depend on the number of threads, and aggregates do not depend on the
/// backend. The services used in cycles only enqueue work, so that a backend may record and replay it.
class MultigridServices : public Service {
 public:
  static constexpr std::string_view service_name = "multigrid";  ///< by which Backend::service() finds it

  // --- the finest level ------------------------------------------------------------------------------------------
  /// An assembled matrix with one block row per node of the model. Where nodes have different numbers of equations,
  /// blocks have the largest number, and the rows that are missing have a unit diagonal.
  virtual LevelMatrix rows_of(const DeviceModel& model, const SparseMatrix& matrix) = 0;
  /// Updates the values after the matrix was assembled again with the same pattern, in double or single precision. Here
  /// and below, new values replace all earlier values of a matrix with a pattern, in either precision.
  virtual void update_rows(const DeviceModel& model, const SparseMatrix& matrix, LevelMatrix& rows, bool single) = 0;
  /// The equation of each row of the finest level, or −1 for a row that only fills a block. Empty where rows and
  /// equations are in the same order.
  virtual Array<std::int32_t> equations_of(const DeviceModel& model, int height) = 0;
  /// Rigid-body modes at all rows: `modes` numbers per row. `motion` gives the motion that a row describes: `height`
  /// entries, the same at each node, or one for every row. Modes 0 … 2 are translations along x, y, z and 3 … 5
  /// rotations about them where there are six; two translations and a rotation where there are three; Motion::value is
  /// 1 in mode 0 of one. Coordinates are taken from `centre` and divided by `length`. Rows that are not free are 0.
  virtual Array<double> rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height, int modes,
                                    const std::array<double, 3>& centre, double length) = 0;

  // --- setting up ------------------------------------------------------------------------------------------------
  /// Aggregates of strongly connected nodes. Node j is a strong neighbour of i if
  /// ‖A_ij‖² > threshold² · ‖A_ii‖ ‖A_jj‖ in the Frobenius norm. Roots are a maximal set of nodes no two of which are
  /// within distance two of each other, chosen by a fixed hash of their number; nodes join an adjacent root, else the
  /// aggregate of most of their strong neighbours, with ties broken by the lower number. Aggregates are numbered in the
  /// order of their roots. A node without off-diagonal entries, up to rounding, is in no aggregate. Columns beyond the
  /// rows are those of nodes that other devices own; connections to them are ignored.
  virtual Aggregates aggregate(const LevelMatrix& a, double threshold) = 0;
  /// The tentative prolongator: an orthonormal basis of the near-null space on each aggregate, one block (height ×
  /// modes) for each row that is in an aggregate. `near_null` has `modes` values per row. `coarse` gets the factors by
  /// which the basis reproduces `near_null`: `modes` values for each of count · modes rows. A vector that depends on
  /// previous ones in an aggregate (the aggregate is too small for it) gets zero columns.
  virtual LevelMatrix tentative(const Aggregates& groups, int height, int modes, const Array<double>& near_null,
                                Array<double>& coarse) = 0;
  /// A matrix with the pattern of A B, without values.
  virtual LevelMatrix product_pattern(const LevelMatrix& a, const LevelMatrix& b) = 0;
  /// C = A B, where C has the pattern from product_pattern().
  virtual void multiply(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) = 0;
  /// As multiply(), for a C with symmetric pattern and values, as Pᵀ (A P) has: the lower triangle is copied from the
  /// upper one. Columns beyond the rows are those of nodes that other devices own; their blocks are computed.
  virtual void multiply_symmetric(const LevelMatrix& a, const LevelMatrix& b, LevelMatrix& c) = 0;
  /// P = T − factor · D⁻¹ P, where P is A T.
  virtual void smooth_prolongator(const LevelDiagonal& inverse, const LevelMatrix& tentative, double factor,
                                  LevelMatrix& p) = 0;
  virtual LevelMatrix transposed(const LevelMatrix& p) = 0;  ///< Pᵀ, pattern and values
  /// Updates the values of Pᵀ, whose pattern is that of an earlier transposed().
  virtual void update_transposed(const LevelMatrix& p, LevelMatrix& transposed) = 0;
  /// Sets the diagonal of rows without entries to 1: unknowns that no basis vector represents.
  virtual void set_unit_diagonal_of_empty_rows(LevelMatrix& a) = 0;
  /// Inverts the diagonal blocks. Returns the first row (not block row) at which a block is not positive definite, −1
  /// where all are.
  virtual std::int64_t invert_diagonal(const LevelMatrix& a, LevelDiagonal& inverse) = 0;
  /// The inverse of l1-Jacobi: diagonal blocks with 1 / Σ |a_ij| over the whole row on their diagonal, else zero.
  virtual void invert_row_sums(const LevelMatrix& a, LevelDiagonal& inverse) = 0;
  /// The pattern of a sparse factor G with GᵀG ≈ A⁻¹: each block row has its diagonal block and, before it, the
  /// neighbours with lower numbers that it is connected to; if they exceed `most`, the most strongly connected ones. A
  /// row and its neighbours have at most largest_factor_rows rows.
  virtual LevelMatrix inverse_factor_pattern(const LevelMatrix& a, int most) = 0;
  /// G in a pattern that inverse_factor_pattern() made, from the lower triangle of A: on the nodes of each of its rows
  /// A = L Lᵀ, and the last rows of L⁻¹ are those of G, so that the diagonal blocks of G A Gᵀ are unit matrices
  /// (Kolotilina and Yeremin 1993). Returns the first row at which A is not positive definite on them, in which case G
  /// is invalid, or −1 if there is none.
  virtual std::int64_t inverse_factor(const LevelMatrix& a, LevelMatrix& g) = 0;
  /// The pseudo-inverse of a small matrix: directions with nearly zero eigenvalues are omitted.
  virtual DenseInverse invert(const LevelMatrix& a) = 0;
  /// Converts to single precision and frees the double-precision values.
  virtual void to_single(LevelMatrix& a) = 0;
  virtual void to_single(LevelDiagonal& d) = 0;  ///< converts to single precision and frees the double values
  virtual void to_single(DenseInverse& d) = 0;   ///< converts to single precision and frees the double values

  // --- vectors of a level ----------------------------------------------------------------------------------------
  /// Pseudo-random values between −1/2 and 1/2 that depend only on their index.
  virtual void fill_with_noise(LevelVector& x) = 0;
  virtual void fill(LevelVector& x, double value) = 0;                               ///< x_i = value
  virtual void axpby(double a, const LevelVector& x, double b, LevelVector& y) = 0;  ///< y = a x + b y
  virtual double dot(const LevelVector& x, const LevelVector& y) = 0;  ///< x·y over all columns; waits for the device
  /// scalars[slot · columns + c] = x·y of column c; the result stays on the device.
  virtual void dot(const LevelVector& x, const LevelVector& y, Array<double>& scalars, int slot) = 0;
  /// Gathers a vector over the equations from all devices into one on the finest level. `equation` is the result of
  /// equations_of().
  virtual void take(const Vector& from, const Array<std::int32_t>& equation, LevelVector& to) = 0;
  /// Distributes a vector on the finest level to all devices: the inverse of take().
  virtual void give(const LevelVector& from, const Array<std::int32_t>& equation, Vector& to) = 0;

  // --- in cycles -------------------------------------------------------------------------------------------------
  virtual void product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) = 0;      ///< y = A x
  virtual void add_product(const LevelMatrix& a, const LevelVector& x, LevelVector& y) = 0;  ///< y += A x
  /// r = b − A x
  virtual void residual(const LevelMatrix& a, const LevelVector& x, const LevelVector& b, LevelVector& r) = 0;
  /// y = D x
  virtual void apply(const LevelDiagonal& d, const LevelVector& x, LevelVector& y) = 0;
  virtual void apply(const DenseInverse& d, const LevelVector& x, LevelVector& y) = 0;  ///< y = D x
  /// A step of a smoother from x = 0: d = alpha D⁻¹ b, x = d.
  virtual void first_step(const LevelDiagonal& inverse, const LevelVector& b, double alpha, LevelVector& d,
                          LevelVector& x) = 0;
  /// A step of a smoother: d = beta d + alpha D⁻¹ (b − A x), next = x + d. With beta 0, earlier values of d are
  /// ignored.
  virtual void step(const LevelMatrix& a, const LevelDiagonal& inverse, const LevelVector& b, const LevelVector& x,
                    double alpha, double beta, LevelVector& d, LevelVector& next) = 0;
  /// A step of a smoother with a given residual b − A x: d = beta d + alpha D⁻¹ residual, x += d.
  virtual void step(const LevelDiagonal& inverse, const LevelVector& residual, double alpha, double beta,
                    LevelVector& d, LevelVector& x) = 0;

  /// Two steps of flexible CG on a level, as in the K-cycle (Notay and Vassilevski 2008), with scalars on the device. c
  /// and d are the directions, v = A c, w = A d. `scalars` has the slots 0 c·v, 1 c·b, 2 d·v, 3 d·w, 4 d·r.
  /// k_residual() needs slots 0 and 1: r = b − (c·b / c·v) v.
  virtual void k_residual(const Array<double>& scalars, const LevelVector& b, const LevelVector& v, LevelVector& r) = 0;
  /// x = the combination of c and d that minimises the energy of the error. Needs all slots of `scalars`.
  virtual void k_combine(const Array<double>& scalars, const LevelVector& c, const LevelVector& d, LevelVector& x) = 0;
};

}  // namespace voussoir
