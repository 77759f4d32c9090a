#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/partition/dense_interiors.hpp>
#include <voussoir/partition/host_operator.hpp>
#include <voussoir/partition/part_matrices.hpp>
#include <voussoir/partition/part_solver.hpp>

namespace voussoir {

/// The Schur complement of the interface as an operator, S = Σ R_pᵀ S_p R_p with S_p = A_bb − A_bi A_ii⁻¹ A_ib of each
/// part. There are two forms:
///
///   implicit   S_p is never formed: a product solves with the interior of every part, on the host
///   dense      all interiors are eliminated as dense matrices on the devices (CondensationServices), which keep the
///              factors and S_p; products read S_p there. A part whose interior may be singular is factorised on the
///              host as well, which gives its S_p or the same error as the other form.
///
/// condense() and expand() reduce a system of the whole to the interface and bring its solution back:
///
///   g = condense(f);   solve S u_b = g by any method;   u = expand(u_b, f)
class SchurComplement : public HostOperator {
 public:
  /// Factorises the interior of each part by an exact part solver (make_part_solver()), or as uses_dense_interiors()
  /// says. The matrices and the backend must outlive the operator. An interior that can move while the interface is
  /// fixed is an Error (singular) that names a node.
  SchurComplement(Backend& backend, const PartMatrices& matrices, const std::string& part_solver = "direct",
                  Interiors interiors = Interiors::sparse);

  const Decomposition& decomposition() const { return matrices_.decomposition(); }  ///< of the matrices
  void multiply(std::span<const double> x, std::span<double> y) const override;
  /// y = S_p x of one part, over the unknowns of Decomposition::boundary(). In the dense form, the first product of a
  /// part copies its S_p to the host, where it is kept; multiply_parts() multiplies on the devices.
  void multiply_part(int part, std::span<const double> x, std::span<double> y) const;
  /// The same for all parts: replaces the vectors of their boundaries by the products.
  void multiply_parts(std::vector<std::vector<double>>& vectors) const;
  /// S on the devices in the dense form, and null in the implicit one.
  const Operator* blocks() const { return blocks_.get(); }
  /// Threads that may call multiply_part() for different parts at the same time.
  int threads() const { return threads_; }
  std::size_t bytes() const override;
  std::string describe() const override;

  /// g = f_b − Σ A_bi A_ii⁻¹ f_i: loads of the whole, condensed to the interface.
  std::vector<double> condense(std::span<const double> f) const;
  /// u from its values on the interface: u_i = A_ii⁻¹ (f_i − A_ib u_b).
  std::vector<double> expand(std::span<const double> interface_values, std::span<const double> f) const;

 private:
  void factorise(int part);
  void eliminate_dense(const std::string& part_solver);
  std::unique_ptr<Operator> sum_of_blocks(std::int64_t size,
                                          const std::vector<std::vector<std::int32_t>>& equations) const;
  std::vector<double> multiplied(const Operator& blocks, std::span<const double> x) const;
  void multiply_implicitly(int part, std::span<const double> x, std::span<double> y) const;
  /// Loads of the interiors of all parts, one after the other.
  std::vector<double> interior_loads(std::span<const double> f) const;
  void expand_on_devices(std::span<const double> interface_values, std::span<const double> f,
                         std::vector<double>& u) const;
  bool on_host(int part) const { return interior_[static_cast<std::size_t>(part)] != nullptr; }

  Backend& backend_;
  const PartMatrices& matrices_;
  int threads_;
  std::vector<std::unique_ptr<PartSolver>> interior_;  // null for parts that the devices have eliminated
  std::unique_ptr<CondensedParts> condensed_;          // null in the implicit form
  std::unique_ptr<Operator> blocks_;                   // S
  mutable std::unique_ptr<Operator> separate_;         // S_p of all parts, one after the other; made where it is needed
  mutable std::vector<std::vector<double>>
      complements_;  // dense form: S_p of the parts that multiply_part() was asked for
};

/// S_p of a part as a dense symmetric matrix, by rows, in the order of Decomposition::boundary().
std::vector<double> dense_schur_complement(const PartMatrices& matrices, int part);
/// S_p of every part, computed by up to `threads` threads at the same time.
std::vector<std::vector<double>> dense_schur_complements(const PartMatrices& matrices, int threads);

/// The assembled Schur complement as a stored matrix on the devices of a backend, the explicit form: setting it up
/// costs more, a product less. Its rows are dense between all unknowns of a part's interface.
std::unique_ptr<SparseMatrix> explicit_schur_complement(Backend& backend, const PartMatrices& matrices);

}  // namespace voussoir
