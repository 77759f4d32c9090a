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

/// Matrices of a model: assembled, kept as elements or applied without storage; and their diagonals.
class MatrixServices : public Service {
 public:
  static constexpr std::string_view service_name = "matrices";

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

  /// An operator without values, which assemble() computes; the model must outlive it.
  virtual std::unique_ptr<ElementOperator> make_element_operator(
      const DeviceModel& model, ElementProduct product, OperatorEquations equations = OperatorEquations::free) = 0;
  /// Computes the data that the operator stores; a matrix-free one keeps the terms and the state, with a copy of the
  /// unknowns.
  virtual void assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                        ElementOperator& matrix) = 0;

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
  virtual double apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) = 0;
};

}  // namespace voussoir
