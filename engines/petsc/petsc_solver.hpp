#pragma once
#include <petscksp.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/engines/petsc/backend_cg.hpp>
#include <voussoir/engines/petsc/petsc_engine.hpp>
#include <voussoir/engines/petsc/petsc_system.hpp>
#include <voussoir/engines/petsc/product_matrix.hpp>
#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

/// A method of the engine: options of PETSc to start with, which those of the user override.
struct Method {
  std::string name, text;
  std::vector<std::pair<std::string, std::string>> options;
  bool unassembled = false;  ///< whether the matrix stays a sum of the parts' matrices (MATIS)
  bool direct = false;       ///< whether the matrix is factorised
  bool products = false;     ///< whether products and a diagonal suffice
  bool on_backends = false;  ///< whether the backends of the processes solve, rather than PETSc
};
/// "auto" and the others.
const std::vector<Method>& solver_methods();

/// A Krylov method of PETSc or of the backends, or a factorisation by MUMPS.
class PetscSolver : public ProcessSolver {
 public:
  PetscSolver(PetscEngine& engine, const EngineSettings& settings);
  ~PetscSolver() override;
  PetscSolver(const PetscSolver&) = delete;
  PetscSolver& operator=(const PetscSolver&) = delete;

  void set_system(SystemShare share) override;
  SolveReport solve(std::span<const double> b, std::span<double> x) override;

 private:
  void release();
  void choose(const SystemShare& share);
  void require_products(const SystemShare& share) const;
  void set_petsc_system(SystemShare share);
  SolveReport solve_on_backends(std::span<const double> b, std::span<double> x);
  std::string automatic_method(const SystemShare& share);
  void make_solver();
  void set_up();
  double residual();
  void judge(SolveReport& report);
  void require_small_residual(SolveReport& report) const;
  void refine(SolveReport& report);
  static PetscErrorCode test(KSP solver, PetscInt iteration, PetscReal norm, KSPConvergedReason* reason, void* self);

  PetscEngine& engine_;
  EngineSettings settings_;
  const Method* method_ = nullptr;
  bool direct_ = false;  // whether the solver is a factorisation, with the options as they are
  std::string why_;      // reason for the method where it was chosen here
  std::unique_ptr<PetscSystem> system_;
  std::unique_ptr<ProductMatrix> products_;  // null with a stored matrix
  std::unique_ptr<BackendCg> backend_cg_;    // instead of all that follows
  Mat matrix_ = nullptr;
  KSP solver_ = nullptr;
  Vec b_ = nullptr, x_ = nullptr, rest_ = nullptr;
  void* default_test_ = nullptr;
  std::vector<std::uint8_t> free_;
  std::vector<double> history_;
  double first_norm_ = 0;
  bool cancelled_ = false;
  double setup_seconds_ = 0;
  PetscInt negative_pivots_ = 0;  // of a symmetric factorisation
  std::string fault_;             // of the factorisation: why there is no solution
};

}  // namespace voussoir::petsc
