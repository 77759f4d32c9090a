#pragma once
#include <petscmat.h>

#include <memory>

#include <voussoir/engines/petsc/petsc_system.hpp>
#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

/// A matrix of PETSc that is not stored (MATSHELL): the backend of each process multiplies with the elements of its own
/// part (SystemShare::product), and PETSc's scatters exchange the numbers of shared equations before and after it. Rows
/// of equations that are not free, and of those that no process has, have a unit diagonal.
///
/// It has products and a diagonal, which conjugate gradients with the preconditioner jacobi need.
class ProductMatrix {
 public:
  /// Collective. `system` must outlive this object, `share` need not.
  ProductMatrix(MPI_Comm communicator, PetscSystem& system, const SystemShare& share);
  ~ProductMatrix();
  ProductMatrix(const ProductMatrix&) = delete;
  ProductMatrix& operator=(const ProductMatrix&) = delete;

  /// The matrix, with a reference of its own that the caller releases by MatDestroy(). This object must outlive it.
  Mat matrix() const;

 private:
  void multiply(Vec x, Vec y);
  static PetscErrorCode multiply_shell(Mat matrix, Vec x, Vec y);
  static PetscErrorCode diagonal_of_shell(Mat matrix, Vec diagonal);

  PetscSystem& system_;
  std::function<void(std::span<const double>, std::span<double>)> product_;
  std::vector<std::uint8_t> free_;  // per local equation
  std::vector<double> from_, to_;   // numbers of local equations
  Vec held_ = nullptr;              // 1 where an equation is not free or does not exist, 0 elsewhere
  Vec diagonal_ = nullptr;
  Mat matrix_ = nullptr;
};

}  // namespace voussoir::petsc
