#pragma once
#include <petscsys.h>

#include <cstdint>
#include <map>
#include <vector>

#include <voussoir/engines/petsc/petsc_system.hpp>
#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

struct RowEntry {
  PetscInt column;  ///< number in the whole system
  PetscScalar value;
};
using Row = std::vector<RowEntry>;

/// Whether the row of an equation of the whole system is stored on the process of a share.
inline bool is_own(const SystemShare& share, std::int64_t number) {
  return number >= share.first && number < share.first + share.owned;
}

/// Numbers of entries in own columns, and in those of other processes.
struct EntryCount {
  std::int64_t inner = 0, outer = 0;
};

/// The rows of a process's own share of a matrix, by numbers of the whole system.
class ShareRows {
 public:
  ShareRows(const SystemShare& share, const HostMatrix& matrix, Diagonal diagonal, FixedEntries fixed);

  /// The entries of a local equation's row, columns ascending.
  void get(std::int64_t equation, Row& row);
  /// Copies a block row, so that get() does not read the matrix again until another block row is requested.
  void load(std::int64_t block_row);
  /// Adds the numbers of entries that get() returns for an own equation, if no two equations have the same number.
  void count(std::int64_t equation, EntryCount& entries);
  std::int64_t block_of(std::int64_t equation) const { return equation / matrix_.block_size; }
  /// Where the values of a block row begin in the matrix.
  std::int64_t first_value(std::int64_t block_row) const {
    return matrix_.row_start[static_cast<std::size_t>(block_row)] * matrix_.block_size * matrix_.block_size;
  }

 private:
  struct Block {
    std::int64_t column;  // first local equation
    std::size_t values;   // place in values_
  };

  PetscInt number(std::int64_t equation) const {
    return static_cast<PetscInt>(share_.number[static_cast<std::size_t>(equation)]);
  }
  void count_kept();

  const SystemShare& share_;
  const HostMatrix& matrix_;
  const Diagonal diagonal_;
  const bool whole_blocks_;
  const double stiff_;
  std::int64_t loaded_ = -1;
  std::vector<Block> blocks_;     // of the loaded block row, by ascending numbers
  std::vector<double> values_;    // of the loaded block row
  std::vector<EntryCount> kept_;  // per block column: its equations that rows have entries for
};

/// The rows of own equations, complete: rows of other processes' equations are sent to their owners, who add what they
/// receive in the order of the processes. Creating one is collective.
class OwnRows {
 public:
  OwnRows(MPI_Comm communicator, const SystemShare& share, const HostMatrix& entries, Diagonal diagonal,
          FixedEntries fixed);

  /// The numbers of entries of all own rows.
  EntryCount count();
  /// Whether the entries of own columns, written one after the other over the values of the matrix while visit() runs,
  /// never reach values that visit() has yet to read.
  bool may_overwrite_values();

  /// Calls visit(number of the row, entries) for each own row.
  template <class Visit>
  void visit(const Visit& visit) {
    Row row;
    auto shared = shared_.begin();
    for (std::int64_t i = 0; i < share_.owned; ++i) {
      const auto number = static_cast<PetscInt>(share_.first + i);
      const std::int64_t equation = equation_[static_cast<std::size_t>(i)];
      if (equation >= 0) rows_.load(rows_.block_of(equation));
      if (shared != shared_.end() && shared->first == i) {
        visit(number, shared->second);
        ++shared;
        continue;
      }
      row.clear();
      if (equation >= 0)
        rows_.get(equation, row);
      else if (diagonal_ == Diagonal::stiff)
        row.push_back({number, 1.0});
      visit(number, row);
    }
  }

 private:
  template <class Visit>
  void count_rows(const Visit& visit);

  const SystemShare& share_;
  const Diagonal diagonal_;
  ShareRows rows_;
  std::vector<std::int64_t> equation_;  // of this process, per own row; -1 where it has none
  std::map<std::int64_t, Row> shared_;  // own rows to which other processes contribute
};

/// Throws Error (unavailable) if these rows of one process have more entries than PETSc can count with its integers: it
/// counts those of own columns and those of others each for themselves.
void require_countable(std::int64_t entries, std::int64_t rows);

/// What the diagonal of equations that are not free gets with Diagonal::stiff: the largest diagonal entry of the
/// process, or 1 where there is none.
double stiff_diagonal(const SystemShare& share, const HostMatrix& entries);

}  // namespace voussoir::petsc
