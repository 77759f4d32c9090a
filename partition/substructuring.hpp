#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/partition/decomposition_options.hpp>
#include <voussoir/partition/feti_dp.hpp>
#include <voussoir/partition/interface_preconditioner.hpp>
#include <voussoir/partition/schur_complement.hpp>
#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

/// A system divided without overlap: the part matrices, the Schur complement of the interface and a preconditioner M
/// for it, "bddc", "nn", "jacobi" or "none"; or, with "feti-dp", the dual problem of Lagrange multipliers.
class SubstructuredSystem {
 public:
  /// From part matrices, which the system keeps. The decomposition of the matrices must outlive it.
  SubstructuredSystem(Backend& backend, PartMatrices matrices, const DecompositionOptions& options);
  ~SubstructuredSystem();

  const PartMatrices& matrices() const { return matrices_; }  ///< of the parts
  const SchurComplement& schur() const { return *schur_; }    ///< S
  /// Whether products take S from dense blocks on the devices.
  bool is_explicit() const { return blocks_ || schur_->blocks(); }
  const HostOperator* interface_preconditioner() const { return interface_.get(); }  ///< M; null for none
  std::int32_t coarse_size() const;                  ///< unknowns of the coarse problem of M; 0 where there is none
  double coarse_seconds() const;                     ///< time in the coarse problem so far
  bool is_dual() const { return feti_ != nullptr; }  ///< whether CG iterates on multipliers (feti-dp)
  /// Solves A x = b over the unknowns of the whole by CG on the interface, or on multipliers, from zero. The tolerances
  /// of the request apply to the condensed residual, or to the jumps.
  CgOutcome solve(Backend& backend, std::span<const double> b, std::vector<double>& x, const CgRequest& request) const;
  std::size_t bytes() const;     ///< memory of matrices and factors
  std::string describe() const;  ///< method, parts and sizes on one line

 private:
  PartMatrices matrices_;
  std::unique_ptr<SchurComplement> schur_;
  std::unique_ptr<Operator> blocks_;  // S in its explicit form; null for the implicit one
  std::unique_ptr<HostOperator> interface_;
  std::unique_ptr<FetiDpOperator> feti_;  // made of the BddcOperator in interface_
  std::unique_ptr<DirichletPreconditioner> dirichlet_;
};

/// The part matrices of a system of equations. Element matrices are those of the model at rest; if their sum is not the
/// matrix of the system, as for tangents of nonlinear models, masses and load cases with other film coefficients, the
/// system is rejected by an Error (bad_input) at `where`.
PartMatrices part_matrices_of(const LinearSOE& soe, const Decomposition& decomposition, const std::string& where);

/// BDDC and balancing Neumann–Neumann as preconditioners of the whole system: interiors are eliminated exactly, the
/// interface is preconditioned. CG converges as on the interface alone. Registered as bddc and nn.
class SubstructuringPreconditioner : public Preconditioner {
 public:
  /// `options.interface_preconditioner` names the method.
  explicit SubstructuringPreconditioner(DecompositionOptions options);
  ~SubstructuringPreconditioner() override;

  std::string name() const override { return options_.interface_preconditioner; }
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override;
  std::string summary() const override { return system_ ? system_->describe() : std::string(); }

 private:
  class Inverse;
  DecompositionOptions options_;
  std::unique_ptr<Decomposition> decomposition_;
  std::unique_ptr<SubstructuredSystem> system_;
  std::unique_ptr<Inverse> inverse_;
};

/// Substructuring with an iterative interface solve: the loads are condensed, CG solves S u = g with a preconditioner,
/// and the interiors follow; or CG on the multipliers of FETI-DP. Registered as the solvers schur and feti-dp.
class SchurSolver : public Solver {
 public:
  /// Tolerances and limits of the iteration.
  struct Options {
    double relative_tolerance = 1e-8;  ///< tolerance of the true residual ‖b − A x‖ / ‖b‖ of each body and column
    int max_iterations = 50000;        ///< number of iterations after which a column stops unconverged
  };
  SchurSolver(DecompositionOptions decomposition, const Options& options);  ///< how the model is divided and iterated
  ~SchurSolver() override;

  std::string name() const override {
    return choice_.interface_preconditioner == "feti-dp" ? "feti-dp" : "schur:with=" + choice_.interface_preconditioner;
  }
  SolveReport solve(LinearSOE& soe) override;

 private:
  /// Solves A x = b for the unknowns in at most `left` iterations, which it reduces; adds to the report.
  std::vector<double> solve_once(Backend& backend, const std::vector<double>& b, double scale, int& left,
                                 SolveReport& report);

  DecompositionOptions choice_;
  Options options_;
  std::uint64_t version_ = 0;
  const LinearSOE* ready_for_ = nullptr;
  std::unique_ptr<Decomposition> decomposition_;
  std::unique_ptr<SubstructuredSystem> system_;
};

}  // namespace voussoir
