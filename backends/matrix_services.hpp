#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/element_state.hpp>
#include <voussoir/backends/matrix_terms.hpp>
#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// Matrices of a model: assembled, stored as element matrices or applied matrix-free; and their diagonal blocks.
class MatrixServices : public Service {
 public:
  static constexpr std::string_view service_name = "matrices";  ///< by which Backend::service() finds it

  /// A matrix with the pattern of the model's elements and undefined values, which assemble() computes. Block size 1 is
  /// CSR; other block sizes require a model with that many equations at every node.
  virtual std::unique_ptr<SparseMatrix> make_matrix(const DeviceModel& model, int block_size) = 0;
  /// A matrix given by its rows, for preconditioners and matrices that are not assembled from elements. On the device
  /// that owns a row, all its columns must be owned or ghosts. It need not be symmetric.
  virtual std::unique_ptr<SparseMatrix> make_matrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows) = 0;
  /// The same matrix in the hardware vendor's library, for benchmarks: one operator per storage format of that library,
  /// whose name describe() returns. Empty if there is no such library.
  virtual std::vector<std::unique_ptr<Operator>> make_vendor_matrices(std::shared_ptr<const Layout> layout,
                                                                      const HostMatrix& rows);
  /// Integrates the element matrices and assembles them. Rows and columns of equations that are not free are set to
  /// zero, except for the absolute value of their diagonal entry (1 where it is zero).
  virtual void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                        SparseMatrix& matrix) = 0;

  /// An operator that assemble() must prepare before its first product. The model must outlive it.
  virtual std::unique_ptr<ElementOperator> make_element_operator(
      const DeviceModel& model, ElementProduct product, OperatorEquations equations = OperatorEquations::free) = 0;
  /// Computes the data that the operator stores. A matrix-free operator stores the terms and the state, with a copy of
  /// the unknowns.
  virtual void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                        ElementOperator& matrix) = 0;

  /// The diagonal blocks of a stored matrix, not inverted. invert() turns them into a preconditioner.
  virtual BlockDiagonal block_diagonal(const SparseMatrix& matrix, int block_size) = 0;
  /// The diagonal blocks of an operator that is not assembled.
  virtual BlockDiagonal block_diagonal(const DeviceModel& model, const ElementOperator& matrix, int block_size) = 0;
  /// Inverts each block. A singular block is an Error (singular) whose where() is "equation N".
  virtual void invert(BlockDiagonal& diagonal) = 0;
  /// Converts the blocks to single precision, for diagonals that are only applied from now on.
  virtual void to_single(BlockDiagonal& diagonal) = 0;
  /// z = D r
  virtual void apply(const BlockDiagonal& diagonal, const Vector& r, Vector& z) = 0;
  /// z = D r; returns r·z, computed in the same pass if the backend supports it.
  virtual double apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) = 0;
};

}  // namespace voussoir
