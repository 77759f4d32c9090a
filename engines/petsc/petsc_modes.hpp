#pragma once
#include <slepceps.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/engines/petsc/petsc_engine.hpp>
#include <voussoir/engines/petsc/petsc_system.hpp>
#include <voussoir/partition/process/process_eigen.hpp>

namespace voussoir::petsc {

/// Natural modes by SLEPc: Krylov–Schur with the inverse of K − σM, by a factorisation of MUMPS or by conjugate
/// gradients with a preconditioner. Options of the user may choose methods that only need a preconditioner, such as
/// LOBPCG.
///
/// Both matrices are divided by the mean mass, so that M-normalised vectors have a size of about 1 in any units.
class PetscModes : public ProcessEigenSolver {
 public:
  PetscModes(PetscEngine& engine, const EngineSettings& settings);
  ~PetscModes() override;
  PetscModes(const PetscModes&) = delete;
  PetscModes& operator=(const PetscModes&) = delete;

  void set_system(EigenShare share) override;
  bool inverts() const override { return inverts_; }
  bool factorises() const override { return factorises_; }
  std::string method() const override { return method_; }
  std::string options() const override;
  std::int64_t solves() const override { return solves_; }
  int factorisations() const override { return factorisations_; }
  std::vector<double> values() const override { return values_; }
  void keep(std::span<const int> modes) override;
  std::optional<std::int64_t> count_below(double value) override;
  EigenSearch search(double shift, int want, double tolerance, int max_iterations) override;
  std::vector<ModeMeasure> measure(const std::vector<char>& free) override;
  std::vector<double> scaled_bounds() override;
  double orthogonality() override;
  void shape(int mode, std::span<double> values) override;

 private:
  /// SLEPc's solver, destroyed where an error is thrown.
  struct Solver {
    EPS eps = nullptr;
    Solver() = default;
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;
    ~Solver() { EPSDestroy(&eps); }
  };

  void release();
  void examine_options();
  void fill_mass_of_supports(double largest_ratio);
  void form_shifted(ST transform, double shift);
  void make(Solver& solver, double shift, int want, double tolerance, int max_iterations);
  bool set_up(Solver& solver, EigenSearch& result);
  void take(Solver& solver, EigenSearch& result, int want);
  void orthonormalise();
  std::vector<double> products(Mat matrix);
  static PetscErrorCode stop(EPS eps, PetscInt iteration, PetscInt most, PetscInt converged, PetscInt wanted,
                             EPSConvergedReason* reason, void* self);
  static PetscErrorCode judge(EPS eps, PetscScalar value, PetscScalar imaginary, PetscReal residual,
                              PetscReal* estimate, void* self);

  PetscEngine& engine_;
  EngineSettings settings_;
  std::vector<std::pair<std::string, std::string>> starting_options_;
  std::unique_ptr<PetscSystem> system_;
  Mat stiffness_ = nullptr, mass_ = nullptr;
  Mat shifted_ = nullptr;  // K − σM, of which preconditioners are made; null with a factorisation
  Vec diagonal_ = nullptr, scale_ = nullptr, free_ = nullptr, work_ = nullptr, image_ = nullptr;
  std::vector<Vec> vectors_;    // of all modes, M-orthonormal
  std::vector<double> values_;  // their Rayleigh quotients, ascending
  double mean_mass_ = 1, largest_ratio_ = 0, shift_ = 0;
  bool inverts_ = true, factorises_ = true, cancelled_ = false;
  std::string method_;
  std::int64_t solves_ = 0;
  int factorisations_ = 0;
};

}  // namespace voussoir::petsc
