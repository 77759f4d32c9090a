#include <voussoir/engines/petsc/product_matrix.hpp>

#include <algorithm>

#include <voussoir/engines/petsc/calls.hpp>

namespace voussoir::petsc {
namespace {

constexpr const char* no_memory_for_products = "not enough memory for a product";

}  // namespace

ProductMatrix::ProductMatrix(MPI_Comm communicator, PetscSystem& system, const SystemShare& share)
    : system_(system),
      product_(share.product),
      free_(share.free),
      from_(share.number.size(), 0.0),
      to_(share.number.size(), 0.0) {
  std::vector<double> numbers(share.number.size());
  for (std::size_t e = 0; e < numbers.size(); ++e) numbers[e] = free_[e] ? 1 : 0;
  held_ = system_.make_vector();
  diagonal_ = system_.make_vector();
  system_.to_global(numbers, INSERT_VALUES, held_);
  VSR_PETSC(VecScale(held_, -1.0));
  VSR_PETSC(VecShift(held_, 1.0));
  for (std::size_t e = 0; e < numbers.size(); ++e) numbers[e] = free_[e] ? share.diagonal[e] : 0;
  system_.to_global(numbers, ADD_VALUES, diagonal_);
  VSR_PETSC(VecAXPY(diagonal_, 1.0, held_));
  const auto owned = static_cast<PetscInt>(share.owned), size = static_cast<PetscInt>(share.size);
  VSR_PETSC(MatCreateShell(communicator, owned, owned, size, size, this, &matrix_));
  using Function = void (*)(void);
  VSR_PETSC(MatShellSetOperation(matrix_, MATOP_MULT, reinterpret_cast<Function>(multiply_shell)));
  if (share.symmetric)
    VSR_PETSC(MatShellSetOperation(matrix_, MATOP_MULT_TRANSPOSE, reinterpret_cast<Function>(multiply_shell)));
  VSR_PETSC(MatShellSetOperation(matrix_, MATOP_GET_DIAGONAL, reinterpret_cast<Function>(diagonal_of_shell)));
}

ProductMatrix::~ProductMatrix() {
  MatDestroy(&matrix_);
  VecDestroy(&held_);
  VecDestroy(&diagonal_);
}

Mat ProductMatrix::matrix() const {
  VSR_PETSC(PetscObjectReference(reinterpret_cast<PetscObject>(matrix_)));
  return matrix_;
}

void ProductMatrix::multiply(Vec x, Vec y) {
  system_.to_local(x, from_);
  if (!from_.empty()) product_(from_, to_);
  for (std::size_t e = 0; e < to_.size(); ++e)
    if (!free_[e]) to_[e] = 0;
  system_.to_global(to_, ADD_VALUES, y);
  const PetscScalar *held = nullptr, *given = nullptr;
  PetscScalar* result = nullptr;
  PetscInt own = 0;
  VSR_PETSC(VecGetLocalSize(y, &own));
  VSR_PETSC(VecGetArrayRead(held_, &held));
  VSR_PETSC(VecGetArrayRead(x, &given));
  VSR_PETSC(VecGetArray(y, &result));
  for (PetscInt i = 0; i < own; ++i) result[i] += held[i] * given[i];
  VSR_PETSC(VecRestoreArray(y, &result));
  VSR_PETSC(VecRestoreArrayRead(x, &given));
  VSR_PETSC(VecRestoreArrayRead(held_, &held));
}

PetscErrorCode ProductMatrix::multiply_shell(Mat matrix, Vec x, Vec y) {
  return guarded(no_memory_for_products, [&] {
    void* self = nullptr;
    VSR_PETSC(MatShellGetContext(matrix, &self));
    static_cast<ProductMatrix*>(self)->multiply(x, y);
  });
}

PetscErrorCode ProductMatrix::diagonal_of_shell(Mat matrix, Vec diagonal) {
  return guarded(no_memory_for_products, [&] {
    void* self = nullptr;
    VSR_PETSC(MatShellGetContext(matrix, &self));
    VSR_PETSC(VecCopy(static_cast<ProductMatrix*>(self)->diagonal_, diagonal));
  });
}

}  // namespace voussoir::petsc
