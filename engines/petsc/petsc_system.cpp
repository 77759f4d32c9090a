#include <voussoir/engines/petsc/petsc_system.hpp>

#include <petscis.h>

#include <algorithm>
#include <cmath>

#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/engines/petsc/matrix_rows.hpp>
#include <voussoir/engines/petsc/own_rows.hpp>

namespace voussoir::petsc {
namespace {

PetscInt petsc_int(std::int64_t number) { return static_cast<PetscInt>(number); }

/// Calls add(row, column, value) for each entry of a share's matrix between free equations, and for a positive diagonal
/// of those that are not free, by local numbers.
template <class Add>
void visit_entries(const SystemShare& share, const HostMatrix& m, Diagonal diagonal, const Add& add) {
  const int s = m.block_size;
  const auto size = static_cast<std::int64_t>(share.number.size());
  const double largest = stiff_diagonal(share, m);
  for (std::int64_t e = 0; e < size; ++e) {
    if (!share.free[e]) {
      if (diagonal == Diagonal::stiff) add(e, e, largest);
      continue;
    }
    for (auto k = m.row_start[e / s]; k < m.row_start[e / s + 1]; ++k)
      for (int j = 0; j < s; ++j) {
        const std::int64_t column = static_cast<std::int64_t>(m.column[k]) * s + j;
        if (share.free[column]) add(e, column, m.value[(k * s + e % s) * s + j]);
      }
  }
}

}  // namespace

Numbers::Numbers(Vec vector) : vector_(vector) { VSR_PETSC(VecGetArray(vector_, &values_)); }
Numbers::~Numbers() { VecRestoreArray(vector_, &values_); }

PetscSystem::PetscSystem(MPI_Comm communicator, const SystemShare& share)
    : communicator_(communicator), free_(share.free) {
  if (share.size > static_cast<std::int64_t>(PETSC_MAX_INT))
    throw Error(ErrorCode::unavailable, std::to_string(share.size) +
                                            " unknowns exceed the integers of this PETSc; use one that was configured "
                                            "with --with-64-bit-indices");
  VSR_PETSC(VecCreateMPI(communicator_, petsc_int(share.owned), petsc_int(share.size), &whole_));
  VSR_PETSC(VecSetFromOptions(whole_));  // -vec_type
  VSR_PETSC(VecCreateSeq(PETSC_COMM_SELF, petsc_int(static_cast<std::int64_t>(share.number.size())), &local_));
  std::vector<PetscInt> numbers(share.number.begin(), share.number.end());
  IS from = nullptr;
  VSR_PETSC(ISCreateGeneral(PETSC_COMM_SELF, petsc_int(static_cast<std::int64_t>(numbers.size())), numbers.data(),
                            PETSC_COPY_VALUES, &from));
  VSR_PETSC(VecScatterCreate(whole_, from, local_, nullptr, &scatter_));
  VSR_PETSC(ISDestroy(&from));
}

PetscSystem::~PetscSystem() {
  VecDestroy(&whole_);
  VecDestroy(&local_);
  VecScatterDestroy(&scatter_);
}

Vec PetscSystem::make_vector() const {
  Vec vector = nullptr;
  VSR_PETSC(VecDuplicate(whole_, &vector));
  return vector;
}

void PetscSystem::to_global(std::span<const double> local, InsertMode mode, Vec global) {
  {
    Numbers numbers(local_);
    for (std::size_t i = 0; i < local.size(); ++i) numbers[i] = local[i];
  }
  VSR_PETSC(VecSet(global, 0.0));
  VSR_PETSC(VecScatterBegin(scatter_, local_, global, mode, SCATTER_REVERSE));
  VSR_PETSC(VecScatterEnd(scatter_, local_, global, mode, SCATTER_REVERSE));
}

void PetscSystem::to_local(Vec global, std::span<double> local) {
  VSR_PETSC(VecScatterBegin(scatter_, global, local_, INSERT_VALUES, SCATTER_FORWARD));
  VSR_PETSC(VecScatterEnd(scatter_, global, local_, INSERT_VALUES, SCATTER_FORWARD));
  Numbers numbers(local_);
  for (std::size_t e = 0; e < local.size(); ++e) local[e] = free_[e] ? numbers[e] : 0.0;
}

Mat PetscSystem::assemble(const SystemShare& share, HostMatrix matrix, Diagonal diagonal, FixedEntries fixed) {
  return assemble_rows(communicator_, share, std::move(matrix), diagonal, fixed);
}

Mat PetscSystem::keep_parts(const SystemShare& share) {
  Mat matrix = nullptr;
  const auto size = petsc_int(static_cast<std::int64_t>(share.number.size()));
  // By nodes, where their unknowns follow each other: BDDC then knows which unknowns belong together.
  PetscInt block = share.block_size;
  for (std::size_t e = 0; e < share.number.size(); ++e)
    if (share.number[e] % share.block_size != static_cast<std::int64_t>(e) % share.block_size ||
        share.number[e] - share.number[e - e % static_cast<std::size_t>(share.block_size)] !=
            static_cast<std::int64_t>(e) % share.block_size)
      block = 1;
  if (size % share.block_size != 0) block = 1;
  VSR_MPI(MPI_Allreduce(MPI_IN_PLACE, &block, 1, MPIU_INT, MPI_MIN, communicator_));
  std::vector<PetscInt> numbers;
  for (std::size_t e = 0; e < share.number.size(); e += static_cast<std::size_t>(block))
    numbers.push_back(petsc_int(share.number[e]) / block);
  ISLocalToGlobalMapping map = nullptr;
  VSR_PETSC(ISLocalToGlobalMappingCreate(communicator_, block, size / block, numbers.data(), PETSC_COPY_VALUES, &map));
  VSR_PETSC(MatCreateIS(communicator_, block, petsc_int(share.owned), petsc_int(share.owned), petsc_int(share.size),
                        petsc_int(share.size), map, map, &matrix));
  VSR_PETSC(ISLocalToGlobalMappingDestroy(&map));
  std::int64_t entries = 0;
  visit_entries(share, share.matrix, Diagonal::stiff, [&](std::int64_t, std::int64_t, double) { ++entries; });
  require_countable(entries, size);
  std::vector<PetscInt> row, column;
  std::vector<PetscScalar> value;
  for (auto* list : {&row, &column}) list->reserve(static_cast<std::size_t>(entries));
  value.reserve(static_cast<std::size_t>(entries));
  visit_entries(share, share.matrix, Diagonal::stiff, [&](std::int64_t i, std::int64_t j, double a) {
    row.push_back(petsc_int(i));
    column.push_back(petsc_int(j));
    value.push_back(a);
  });
  Mat own = nullptr;
  VSR_PETSC(MatCreate(PETSC_COMM_SELF, &own));
  VSR_PETSC(MatSetSizes(own, size, size, size, size));
  VSR_PETSC(MatSetType(own, MATSEQAIJ));
  VSR_PETSC(MatSetBlockSize(own, block));
  VSR_PETSC(MatSetPreallocationCOO(own, static_cast<PetscCount>(row.size()), row.data(), column.data()));
  VSR_PETSC(MatSetValuesCOO(own, value.data(), INSERT_VALUES));
  VSR_PETSC(MatISSetLocalMat(matrix, own));
  VSR_PETSC(MatDestroy(&own));
  VSR_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  VSR_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return matrix;
}

void PetscSystem::add_motions(const SystemShare& share, Mat matrix) {
  if (share.modes == 0) return;
  std::vector<Vec> motions;
  std::vector<double> local(share.number.size());
  for (int m = 0; m < share.modes; ++m) {
    for (std::size_t e = 0; e < local.size(); ++e)
      local[e] = share.motions[e * static_cast<std::size_t>(share.modes) + m];
    Vec motion = make_vector();
    to_global(local, INSERT_VALUES, motion);
    // PETSc wants them orthonormal. A second pass removes what rounding has left.
    double before = 0, norm = 0;
    VSR_PETSC(VecNorm(motion, NORM_2, &before));
    for (int pass = 0; pass < 2; ++pass)
      for (Vec other : motions) {
        PetscScalar product = 0;
        VSR_PETSC(VecDot(motion, other, &product));
        VSR_PETSC(VecAXPY(motion, -product, other));
      }
    VSR_PETSC(VecNorm(motion, NORM_2, &norm));
    if (!(norm > 1e-10 * before)) {  // a straight row of nodes does not show a rotation about itself
      VSR_PETSC(VecDestroy(&motion));
      continue;
    }
    VSR_PETSC(VecScale(motion, 1 / norm));
    motions.push_back(motion);
  }
  MatNullSpace space = nullptr;
  VSR_PETSC(
      MatNullSpaceCreate(communicator_, PETSC_FALSE, static_cast<PetscInt>(motions.size()), motions.data(), &space));
  VSR_PETSC(MatSetNearNullSpace(matrix, space));
  VSR_PETSC(MatNullSpaceDestroy(&space));
  for (Vec& motion : motions) VSR_PETSC(VecDestroy(&motion));
}

}  // namespace voussoir::petsc
