#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// A linear operator on vectors of a Layout. CG requires it to be symmetric.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual const std::shared_ptr<const Layout>& layout() const = 0;  ///< the layout of x and y
  /// y = A x, for one vector or a block of them. Refreshes the ghosts of x.
  virtual void apply(const Vector& x, Vector& y) const = 0;
  /// y = A x; returns x·y, computed in the same pass if the backend supports it.
  virtual double apply_dot(const Vector& x, Vector& y) const = 0;
  /// Memory of the operator on all devices.
  virtual std::size_t bytes() const = 0;
  /// Bytes that one application must move: each stored number once, x read and y written.
  virtual std::size_t bytes_moved() const = 0;
  /// True if every apply() enqueues the same work on the same memory and does nothing else, so that a
  /// backend may record it once and replay it, as CG on a GPU does. False is always safe.
  virtual bool replayable() const { return false; }
  /// A description on one line: kind, size, memory.
  virtual std::string describe() const = 0;
};

/// Rows of blocks on the host, in equation numbering. Block row i has the blocks row_start[i] … row_start[i+1], columns
/// ascending, each `block_size × block_size` numbers by rows. block_size 1 is plain CSR.
struct HostMatrix {
  int block_size = 1;                   ///< rows of a block
  std::vector<std::int64_t> row_start;  ///< first block of each block row, and the number of blocks
  std::vector<std::int32_t> column;     ///< block column of each block
  std::vector<double> value;            ///< entries, block by block
  std::int64_t block_rows() const { return static_cast<std::int64_t>(row_start.size()) - 1; }  ///< number of block rows
};

/// The diagonal of a matrix, by blocks, for preconditioners: `block_size²` numbers per block row, owned rows only.
struct BlockDiagonal {
  int block_size = 1;                    ///< rows of a block
  std::shared_ptr<const Layout> layout;  ///< the layout of the matrix
  std::vector<Array<double>> blocks;     ///< entries in double precision, one array per device
  /// If not empty, the values are stored here instead, in single precision: half the bytes for a preconditioner,
  /// which need not be exact. Vectors and sums stay double.
  std::vector<Array<float>> single_blocks = {};
};

/// A stored matrix. CSR is block size 1.
class SparseMatrix : public Operator {
 public:
  virtual int block_size() const = 0;              ///< rows of a block
  virtual std::int64_t stored_blocks() const = 0;  ///< blocks on all devices; of the upper half if only that is stored
  /// A copy of the whole matrix on the host, in equation numbering.
  virtual HostMatrix to_host() const = 0;
};

/// The form of element-by-element products (FEStudio's gather and scatter forms, tangents at points, and matrix-free).
enum class ElementProduct {
  gather,       ///< element matrices stored; components read by index, results summed in tiles
  scatter,      ///< element matrices stored; x distributed to element vectors, multiplied, summed by the connectivity
  matrix_free,  ///< nothing stored; geometry and material evaluated in every product
  /// The tangent at each integration point stored, in the directions of the cell: neither geometry nor material is
  /// evaluated in a product. Elements without such tangents (B-bar, incompatible modes, beams) and sums with a mass
  /// are stored as element matrices.
  points
};

/// The equations that an ElementOperator acts on.
enum class OperatorEquations {
  free,  ///< those that are solved for: T'AT, with a unit diagonal where an equation is prescribed or dependent
  all    ///< all of them, as the elements define A: for forces on supports, base motion and inertial reactions
};

/// A matrix as the sum of its element matrices, never assembled.
class ElementOperator : public Operator {
 public:
  virtual ElementProduct product() const = 0;       ///< how products are computed; fixed when it is created
  virtual OperatorEquations equations() const = 0;  ///< the equations that it acts on; fixed when it is created
};

}  // namespace voussoir
