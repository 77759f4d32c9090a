#pragma once
#include <span>
#include <vector>

#include <voussoir/partition/decomposition.hpp>
#include <voussoir/solvers/direct/lu.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir {

/// The rows of a matrix with all their entries, below the diagonal too, as in a CSR matrix. Wherever there is an entry
/// (i, j) there is one at (j, i), with the same value if the matrix is symmetric.
struct FullRows {
  std::vector<std::int64_t> row_start{0};  ///< first entry of each row, and the number of entries
  std::vector<std::int32_t> column;        ///< column of each entry, ascending within a row
  std::vector<double> value;               ///< value of each entry
  /// Number of rows.
  std::int32_t size() const { return static_cast<std::int32_t>(row_start.size()) - 1; }
};
/// Both triangles of a symmetric matrix.
FullRows full_rows(const SymmetricCsr& matrix);
/// The rows of a matrix that need not be symmetric, with a zero where only the transposed matrix has an entry.
FullRows full_rows(const GeneralCsr& matrix);
/// The transposed matrix.
FullRows transposed(const FullRows& matrix);

/// The rows and columns `unknowns`, ascending, of a symmetric matrix: its restriction R A Rᵀ.
SymmetricCsr submatrix(const SymmetricCsr& matrix, std::span<const std::int32_t> unknowns);
/// The same for a matrix that need not be symmetric.
GeneralCsr submatrix(const FullRows& matrix, std::span<const std::int32_t> unknowns);

/// The matrices of the parts of a decomposition on the host.
///
/// neumann(p) is A_p, the sum over the elements of part p alone: its interface is not assembled, and a part without
/// supports has rigid motions in its null space. assembled() is A = Σ R_pᵀ A_p R_p; dirichlet(p) is the block of A for
/// the unknowns of p, whose interface is assembled.
class PartMatrices {
 public:
  /// Integrates the elements at a state and sums them by parts, in the order of the elements. Element types with
  /// unsymmetric matrices are an Error (unavailable).
  PartMatrices(const Decomposition& decomposition, const ElementState& state, const MatrixTerms& terms);
  /// The stiffness at zero unknowns, with all load cases at factor 1.
  static PartMatrices at_rest(const Decomposition& decomposition);

  const Decomposition& decomposition() const { return *decomposition_; }  ///< as given to the constructor
  /// A_p by local numbers, without what other parts add on the interface.
  const SymmetricCsr& neumann(int part) const { return matrices_[static_cast<std::size_t>(part)]; }
  /// Magnitude of the terms from which the diagonal of A_p was summed, by local numbers; empty for a model without
  /// dependent unknowns. Inside a rigid body they cancel, and what remains is rounding error
  /// (Factorization::factorise).
  const std::vector<double>& sizes(int part) const { return sizes_[static_cast<std::size_t>(part)]; }
  /// A, by unknowns of the whole; computed at each call.
  SymmetricCsr assembled() const;
  /// The block of `assembled` for the unknowns of a part, by local numbers.
  SymmetricCsr dirichlet(const SymmetricCsr& assembled, int part) const {
    return submatrix(assembled, decomposition_->unknowns(part));
  }
  /// Multiplies the matrix of a part by a positive factor: studies of materials with contrast.
  void scale(int part, double factor);
  /// The product of all factors of scale(), for each part.
  const std::vector<double>& factors() const { return factors_; }
  std::size_t bytes() const;  ///< memory of all part matrices

 private:
  const Decomposition* decomposition_;
  std::vector<SymmetricCsr> matrices_;
  std::vector<std::vector<double>> sizes_;
  std::vector<double> factors_;
};

/// The matrices of sets of unknowns that may overlap, with unassembled boundary: matrix s is the sum of the elements
/// all of whose unknowns are in set s, by positions in the set. Sets ascend. `factors` multiplies the elements of each
/// part of the decomposition, as PartMatrices::factors() has them; empty for 1.
std::vector<SymmetricCsr> overlapping_neumann(const Decomposition& decomposition,
                                              std::span<const std::vector<std::int32_t>> sets,
                                              const ElementState& state, const MatrixTerms& terms,
                                              std::span<const double> factors = {});
/// The same for the stiffness at zero unknowns, as PartMatrices::at_rest().
std::vector<SymmetricCsr> overlapping_neumann_at_rest(const Decomposition& decomposition,
                                                      std::span<const std::vector<std::int32_t>> sets);

}  // namespace voussoir
