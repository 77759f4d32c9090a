#include <voussoir/engines/petsc/matrix_rows.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/engines/petsc/mpi_processes.hpp>
#include <voussoir/engines/petsc/own_rows.hpp>

namespace voussoir::petsc {
namespace {

/// How entries are put into a matrix of a type that the user has named.
enum class Family {
  rows,         // aij itself: arrays without a copy
  coordinates,  // types derived from aij, such as aijcusparse: MatSetValuesCOO, which each of them implements
  blocks        // baij
};

/// An error that all processes find.
[[noreturn]] void refuse(const std::string& text) { throw SharedError(Error(ErrorCode::bad_input, text), 0); }

Family family_of(const std::string& type) {
  for (const std::string kind : {"", "seq", "mpi"}) {
    if (type == kind + "aij") return Family::rows;
    if (type == kind + "baij") return Family::blocks;
    if (type.rfind(kind + "aij", 0) == 0) return Family::coordinates;
  }
  refuse("-mat_type " + type +
         " is not supported: the engine assembles matrices of type aij, of types derived from it, such as aijcusparse, "
         "and of type baij. Leave out -mat_type");
}

/// The value of -mat_type; empty if it was not given.
std::string type_of_options() {
  std::array<char, 128> text{};
  PetscBool is_given = PETSC_FALSE;
  VSR_PETSC(PetscOptionsGetString(nullptr, nullptr, "-mat_type", text.data(), text.size(), &is_given));
  return is_given ? text.data() : "";
}

Mat matrix_of_type(MPI_Comm communicator, const SystemShare& share, const std::string& type) {
  Mat matrix = nullptr;
  const auto owned = static_cast<PetscInt>(share.owned), size = static_cast<PetscInt>(share.size);
  VSR_PETSC(MatCreate(communicator, &matrix));
  VSR_PETSC(MatSetSizes(matrix, owned, owned, size, size));
  VSR_PETSC(MatSetBlockSize(matrix, share.block_size));
  VSR_PETSC(MatSetType(matrix, type.c_str()));
  VSR_PETSC(MatSetFromOptions(matrix));
  return matrix;
}

/// A matrix of a type derived from aij.
Mat matrix_by_coordinates(MPI_Comm communicator, const SystemShare& share, OwnRows& rows, const std::string& type) {
  std::vector<PetscInt> row_of, column_of;
  std::vector<PetscScalar> values;
  const auto [inner, outer] = rows.count();
  require_countable(inner, share.owned);
  require_countable(outer, share.owned);
  for (auto* list : {&row_of, &column_of}) list->reserve(static_cast<std::size_t>(inner + outer));
  values.reserve(static_cast<std::size_t>(inner + outer));
  rows.visit([&](PetscInt number, const Row& row) {
    for (const RowEntry& entry : row) {
      row_of.push_back(number);
      column_of.push_back(entry.column);
      values.push_back(entry.value);
    }
  });
  Mat matrix = matrix_of_type(communicator, share, type);
  VSR_PETSC(MatSetPreallocationCOO(matrix, static_cast<PetscCount>(values.size()), row_of.data(), column_of.data()));
  VSR_PETSC(MatSetValuesCOO(matrix, values.data(), INSERT_VALUES));
  return matrix;
}

/// Calls visit(block row, block columns ascending, its rows) for the own block rows.
template <class Visit>
void visit_block_rows(const SystemShare& share, OwnRows& rows, const Visit& visit) {
  std::vector<Row> of_block;
  std::vector<PetscInt> columns;
  const PetscInt size = share.block_size;
  rows.visit([&](PetscInt number, const Row& row) {
    of_block.push_back(row);
    if ((number + 1) % size != 0) return;
    columns.clear();
    for (const Row& one : of_block)
      for (const RowEntry& entry : one) columns.push_back(entry.column / size);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    visit(number / size, columns, of_block);
    of_block.clear();
  });
}

/// A matrix of dense blocks: one for each pair of nodes that share an element.
Mat matrix_of_blocks(MPI_Comm communicator, const SystemShare& share, OwnRows& rows, const std::string& type) {
  const PetscInt size = share.block_size;
  std::vector<PetscInt> inner, outer;  // blocks of each own block row
  visit_block_rows(share, rows, [&](PetscInt, const std::vector<PetscInt>& columns, const std::vector<Row>&) {
    const auto own = std::count_if(columns.begin(), columns.end(),
                                   [&](PetscInt column) { return is_own(share, std::int64_t{column} * size); });
    inner.push_back(static_cast<PetscInt>(own));
    outer.push_back(static_cast<PetscInt>(columns.size()) - inner.back());
  });
  for (const auto* blocks : {&inner, &outer})
    require_countable(std::accumulate(blocks->begin(), blocks->end(), std::int64_t{0}) * size * size, share.owned);
  Mat matrix = matrix_of_type(communicator, share, type);
  VSR_PETSC(MatSeqBAIJSetPreallocation(matrix, size, 0, inner.data()));
  VSR_PETSC(MatMPIBAIJSetPreallocation(matrix, size, 0, inner.data(), 0, outer.data()));
  VSR_PETSC(MatSetOption(matrix, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  std::vector<PetscScalar> values;
  visit_block_rows(
      share, rows, [&](PetscInt block, const std::vector<PetscInt>& columns, const std::vector<Row>& of_block) {
        const std::size_t width = columns.size() * static_cast<std::size_t>(size);
        values.assign(of_block.size() * width, 0.0);
        for (std::size_t i = 0; i < of_block.size(); ++i)
          for (const RowEntry& entry : of_block[i]) {
            const auto place = std::lower_bound(columns.begin(), columns.end(), entry.column / size) - columns.begin();
            values[i * width + static_cast<std::size_t>(place * size + entry.column % size)] = entry.value;
          }
        VSR_PETSC(MatSetValuesBlocked(matrix, 1, &block, static_cast<PetscInt>(columns.size()), columns.data(),
                                      values.data(), INSERT_VALUES));
      });
  VSR_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  VSR_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return matrix;
}

/// The arrays of a matrix by rows, which PETSc uses without a copy: entries of own columns by local numbers, and the
/// others by global ones until PETSc changes them.
struct RowArrays {
  std::unique_ptr<PetscInt[]> inner_start, outer_start, inner_column, outer_column;
  std::vector<PetscScalar> inner_value;
  std::unique_ptr<PetscScalar[]> outer_value;

  /// `entries` is what the rows are made of; if possible, its values are overwritten by those of the rows.
  RowArrays(const SystemShare& share, OwnRows& rows, HostMatrix& entries) {
    const auto owned = static_cast<std::size_t>(share.owned);
    const auto [inner, outer] = rows.count();
    require_countable(inner, share.owned);
    require_countable(outer, share.owned);
    for (auto* start : {&inner_start, &outer_start}) *start = std::make_unique_for_overwrite<PetscInt[]>(owned + 1);
    inner_column = std::make_unique_for_overwrite<PetscInt[]>(static_cast<std::size_t>(inner));
    outer_column = std::make_unique_for_overwrite<PetscInt[]>(static_cast<std::size_t>(outer));
    outer_value = std::make_unique_for_overwrite<PetscScalar[]>(static_cast<std::size_t>(outer));
    if (rows.may_overwrite_values()) {
      fill(share, rows, entries.value.data());
      inner_value = std::move(entries.value);
    } else {
      inner_value.resize(static_cast<std::size_t>(inner));
      fill(share, rows, inner_value.data());
    }
    entries = {};
  }

 private:
  void fill(const SystemShare& share, OwnRows& rows, PetscScalar* inner_entries) {
    std::size_t inner = 0, outer = 0, number = 0;
    inner_start[0] = outer_start[0] = 0;
    rows.visit([&](PetscInt, const Row& row) {
      for (const RowEntry& entry : row)
        if (is_own(share, entry.column)) {
          inner_column[inner] = entry.column - static_cast<PetscInt>(share.first);
          inner_entries[inner++] = entry.value;
        } else {
          outer_column[outer] = entry.column;
          outer_value[outer++] = entry.value;
        }
      ++number;
      inner_start[number] = static_cast<PetscInt>(inner);
      outer_start[number] = static_cast<PetscInt>(outer);
    });
  }
};

PetscErrorCode release_arrays(void* arrays) {
  delete static_cast<RowArrays*>(arrays);
  return 0;
}

/// A matrix of type AIJ in arrays that are released with it.
Mat matrix_in_arrays(MPI_Comm communicator, const SystemShare& share, OwnRows& rows, HostMatrix& entries) {
  auto kept = std::make_unique<RowArrays>(share, rows, entries);
  Mat matrix = nullptr;
  const auto owned = static_cast<PetscInt>(share.owned), size = static_cast<PetscInt>(share.size);
  int processes = 0;
  VSR_MPI(MPI_Comm_size(communicator, &processes));
  if (processes == 1)
    VSR_PETSC(MatCreateSeqAIJWithArrays(communicator, owned, owned, kept->inner_start.get(), kept->inner_column.get(),
                                        kept->inner_value.data(), &matrix));
  else
    VSR_PETSC(MatCreateMPIAIJWithSplitArrays(
        communicator, owned, owned, size, size, kept->inner_start.get(), kept->inner_column.get(),
        kept->inner_value.data(), kept->outer_start.get(), kept->outer_column.get(), kept->outer_value.get(), &matrix));
  PetscContainer container = nullptr;
  VSR_PETSC(PetscContainerCreate(PETSC_COMM_SELF, &container));
  VSR_PETSC(PetscContainerSetPointer(container, kept.release()));
  VSR_PETSC(PetscContainerSetUserDestroy(container, release_arrays));
  VSR_PETSC(PetscObjectCompose(reinterpret_cast<PetscObject>(matrix), "voussoir arrays",
                               reinterpret_cast<PetscObject>(container)));
  VSR_PETSC(PetscContainerDestroy(&container));
  if (share.block_size > 1) {
    VSR_PETSC(MatSetBlockSize(matrix, share.block_size));
    if (processes > 1) {
      Mat inner = nullptr, outer = nullptr;
      VSR_PETSC(MatMPIAIJGetSeqAIJ(matrix, &inner, &outer, nullptr));
      VSR_PETSC(MatSetBlockSize(inner, share.block_size));
      VSR_PETSC(MatSetBlockSizes(outer, share.block_size, 1));
    }
  }
  return matrix;
}

}  // namespace

Mat assemble_rows(MPI_Comm communicator, const SystemShare& share, HostMatrix entries, Diagonal diagonal,
                  FixedEntries fixed) {
  const std::string type = type_of_options();
  const Family family = type.empty() ? Family::rows : family_of(type);
  if (family == Family::blocks && fixed == FixedEntries::diagonal)
    refuse(
        "-mat_type baij is for iterative methods of linear systems, such as jacobi, asm and hypre; factorisations "
        "and natural modes need rows. Leave out -mat_type");
  OwnRows rows(communicator, share, entries, diagonal, fixed);
  if (family == Family::rows) return matrix_in_arrays(communicator, share, rows, entries);
  return family == Family::blocks ? matrix_of_blocks(communicator, share, rows, type)
                                  : matrix_by_coordinates(communicator, share, rows, type);
}

}  // namespace voussoir::petsc
