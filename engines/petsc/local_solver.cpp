#include <voussoir/engines/petsc/local_solver.hpp>

#include <petscksp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/partition/part_solver.hpp>

namespace voussoir::petsc {
namespace {

/// Of this process. PETSc makes preconditioners by their names, without a word from who asks for them, and a process
/// has one engine.
std::shared_ptr<Backend>& local_backend() {
  static std::shared_ptr<Backend> backend;
  return backend;
}

/// What a preconditioner `voussoir` keeps. Its matrix is symmetric: the upper triangle is taken.
class LocalSolver {
 public:
  void set_up(PC preconditioner);
  void apply(Vec b, Vec x);
  void describe(PetscViewer viewer) const;

 private:
  std::string name_ = "direct", place_;
  std::unique_ptr<PartSolver> solver_;
  std::vector<double> numbers_;
};

/// The upper triangle of a matrix of one process.
SymmetricCsr upper_triangle(Mat matrix) {
  PetscInt rows = 0, columns = 0;
  VSR_PETSC(MatGetSize(matrix, &rows, &columns));
  SymmetricCsr upper;
  upper.n = rows;
  upper.row_start.assign(1, 0);
  std::vector<std::pair<std::int32_t, double>> row;
  for (PetscInt i = 0; i < rows; ++i) {
    PetscInt count = 0;
    const PetscInt* column = nullptr;
    const PetscScalar* value = nullptr;
    VSR_PETSC(MatGetRow(matrix, i, &count, &column, &value));
    row.assign(1, {static_cast<std::int32_t>(i), 0.0});  // a diagonal that is not stored is zero
    for (PetscInt k = 0; k < count; ++k) {
      if (column[k] == i) row.front().second = value[k];
      if (column[k] > i) row.emplace_back(static_cast<std::int32_t>(column[k]), value[k]);
    }
    VSR_PETSC(MatRestoreRow(matrix, i, &count, &column, &value));
    std::sort(row.begin() + 1, row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [j, a] : row) {
      upper.column.push_back(j);
      upper.value.push_back(a);
    }
    upper.row_start.push_back(static_cast<std::int64_t>(upper.column.size()));
  }
  return upper;
}

/// Throws Error (bad_input) for a matrix that differs from its transpose by more than rounding.
void require_symmetric(Mat matrix) {
  PetscBool known = PETSC_FALSE, symmetric = PETSC_FALSE;
  VSR_PETSC(MatIsSymmetricKnown(matrix, &known, &symmetric));
  if (!known) {
    double size = 0;
    VSR_PETSC(MatNorm(matrix, NORM_INFINITY, &size));
    VSR_PETSC(MatIsTranspose(matrix, matrix, 1e-10 * size, &symmetric));
  }
  if (!symmetric)
    throw Error(ErrorCode::bad_input, "the preconditioner voussoir is for symmetric matrices; use -sub_pc_type lu");
}

void LocalSolver::set_up(PC preconditioner) {
  Mat given = nullptr;
  VSR_PETSC(PCGetOperators(preconditioner, nullptr, &given));
  int processes = 0;
  VSR_MPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(given)), &processes));
  if (processes > 1)
    throw Error(ErrorCode::bad_input,
                "the preconditioner voussoir solves matrices of one process; use it within another: -pc_type asm "
                "-sub_pc_type voussoir");
  const char* prefix = nullptr;
  VSR_PETSC(PCGetOptionsPrefix(preconditioner, &prefix));
  std::array<char, 256> text{};
  PetscBool set = PETSC_FALSE;
  VSR_PETSC(PetscOptionsGetString(nullptr, prefix, "-pc_voussoir_solver", text.data(), text.size(), &set));
  name_ = set ? std::string(text.data()) : "direct";
  // PETSc's symmetric storage gives upper triangles of rows only on request.
  Mat matrix = nullptr;
  VSR_PETSC(MatConvert(given, MATSEQAIJ, MAT_INITIAL_MATRIX, &matrix));
  const std::unique_ptr<Mat, void (*)(Mat*)> released(&matrix, [](Mat* m) { MatDestroy(m); });
  require_symmetric(matrix);
  solver_ = make_part_solver(name_, local_backend());
  place_ =
      solver_->name() == "direct" ? "on the host" : "backend " + (local_backend() ? local_backend()->name() : "openmp");
  if (solver_->is_flexible())
    throw Error(ErrorCode::bad_input, "part solver '" + name_ +
                                          "' is not linear, and PETSc's conjugate gradients need one that is; use "
                                          "direct or amg");
  solver_->set_up(upper_triangle(matrix), "a block of this process",
                  [](std::int64_t i) { return "row " + std::to_string(i); });
}

void LocalSolver::apply(Vec b, Vec x) {
  const PetscScalar* given = nullptr;
  PetscInt size = 0;
  VSR_PETSC(VecGetLocalSize(b, &size));
  VSR_PETSC(VecGetArrayRead(b, &given));
  numbers_.assign(given, given + size);
  VSR_PETSC(VecRestoreArrayRead(b, &given));
  solver_->solve(numbers_);
  PetscScalar* found = nullptr;
  VSR_PETSC(VecGetArrayWrite(x, &found));
  std::copy(numbers_.begin(), numbers_.end(), found);
  VSR_PETSC(VecRestoreArrayWrite(x, &found));
}

void LocalSolver::describe(PetscViewer viewer) const {
  const std::string line =
      "  part solver " + name_ + ", " + place_ + (solver_ ? ", " + std::to_string(solver_->bytes()) + " bytes" : "");
  VSR_PETSC(PetscViewerASCIIPrintf(viewer, "%s\n", line.c_str()));
}

constexpr const char* no_memory_for_parts = "the part solver has no memory";

LocalSolver& solver_of(PC preconditioner) {
  void* kept = nullptr;
  VSR_PETSC(PCShellGetContext(preconditioner, &kept));
  return *static_cast<LocalSolver*>(kept);
}

PetscErrorCode set_up_local(PC preconditioner) {
  return guarded(no_memory_for_parts, [&] { solver_of(preconditioner).set_up(preconditioner); });
}
PetscErrorCode apply_local(PC preconditioner, Vec b, Vec x) {
  return guarded(no_memory_for_parts, [&] { solver_of(preconditioner).apply(b, x); });
}
PetscErrorCode view_local(PC preconditioner, PetscViewer viewer) {
  return guarded(no_memory_for_parts, [&] { solver_of(preconditioner).describe(viewer); });
}
PetscErrorCode destroy_local(PC preconditioner) {
  return guarded(no_memory_for_parts, [&] { delete &solver_of(preconditioner); });
}

/// Creates a preconditioner `voussoir`, which is a PCSHELL.
PetscErrorCode create_local(PC preconditioner) {
  return guarded(no_memory_for_parts, [&] {
    VSR_PETSC(PCSetType(preconditioner, PCSHELL));
    VSR_PETSC(PCShellSetContext(preconditioner, new LocalSolver));
    VSR_PETSC(PCShellSetName(preconditioner, "voussoir"));
    VSR_PETSC(PCShellSetSetUp(preconditioner, set_up_local));
    VSR_PETSC(PCShellSetApply(preconditioner, apply_local));
    VSR_PETSC(PCShellSetApplyTranspose(preconditioner, apply_local));
    VSR_PETSC(PCShellSetView(preconditioner, view_local));
    VSR_PETSC(PCShellSetDestroy(preconditioner, destroy_local));
  });
}

}  // namespace

void set_local_backend(std::shared_ptr<Backend> backend) { local_backend() = std::move(backend); }

void register_local_solver() { VSR_PETSC(PCRegister("voussoir", create_local)); }

}  // namespace voussoir::petsc
