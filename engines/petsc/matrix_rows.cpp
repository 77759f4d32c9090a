#include <voussoir/engines/petsc/matrix_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/engines/petsc/mpi_processes.hpp>

namespace voussoir::petsc {
namespace {

struct RowEntry {
  PetscInt column;  // global number
  PetscScalar value;
};
using Row = std::vector<RowEntry>;

bool by_column(const RowEntry& a, const RowEntry& b) { return a.column < b.column; }

bool is_own(const SystemShare& share, std::int64_t number) {
  return number >= share.first && number < share.first + share.owned;
}

/// Numbers of entries in own columns, and in those of other processes.
struct EntryCount {
  std::int64_t inner = 0, outer = 0;
};

/// Sorts by columns and adds up entries of one column, in the order in which they stand.
void merge_columns(Row& row) {
  std::stable_sort(row.begin(), row.end(), by_column);
  std::size_t end = 0;
  for (const RowEntry& entry : row) {
    if (end > 0 && row[end - 1].column == entry.column)
      row[end - 1].value += entry.value;
    else
      row[end++] = entry;
  }
  row.resize(end);
}

/// The rows of a share by global numbers.
class ShareRows {
 public:
  ShareRows(const SystemShare& share, const HostMatrix& matrix, Diagonal diagonal, FixedEntries fixed)
      : share_(share),
        matrix_(matrix),
        diagonal_(diagonal),
        whole_blocks_(fixed == FixedEntries::blocks && share.block_size > 1),
        stiff_(stiff_diagonal(share, matrix)) {}

  /// The entries of a local equation's row, columns ascending.
  void get(std::int64_t equation, Row& row) {
    row.clear();
    const bool free = share_.free[static_cast<std::size_t>(equation)];
    if (!free && !whole_blocks_) {
      if (diagonal_ == Diagonal::stiff) row.push_back({number(equation), stiff_});
      return;
    }
    const std::int64_t s = matrix_.block_size, block_row = equation / s;
    sort_blocks(block_row);
    for (const std::int64_t k : order_) {
      const std::int64_t column = static_cast<std::int64_t>(matrix_.column[static_cast<std::size_t>(k)]) * s;
      const double* const value = matrix_.value.data() + (k * s + equation % s) * s;
      for (std::int64_t j = 0; j < s; ++j)
        if (free && share_.free[static_cast<std::size_t>(column + j)])
          row.push_back({number(column + j), value[j]});
        else if (whole_blocks_)
          row.push_back({number(column + j), column + j == equation && diagonal_ == Diagonal::stiff ? stiff_ : 0.0});
    }
    const auto not_ascending = [](const RowEntry& a, const RowEntry& b) { return a.column >= b.column; };
    if (std::adjacent_find(row.begin(), row.end(), not_ascending) != row.end()) merge_columns(row);
  }

  /// Adds the numbers of entries that get() returns for an own equation, if no two equations have the same number.
  void count(std::int64_t equation, EntryCount& entries) {
    if (!share_.free[static_cast<std::size_t>(equation)] && !whole_blocks_) {
      entries.inner += diagonal_ == Diagonal::stiff ? 1 : 0;
      return;
    }
    if (kept_.empty()) count_kept();
    const auto row = static_cast<std::size_t>(equation / matrix_.block_size);
    for (std::int64_t k = matrix_.row_start[row]; k < matrix_.row_start[row + 1]; ++k) {
      const EntryCount& block = kept_[static_cast<std::size_t>(matrix_.column[static_cast<std::size_t>(k)])];
      entries.inner += block.inner;
      entries.outer += block.outer;
    }
  }

  PetscInt number(std::int64_t equation) const {
    return static_cast<PetscInt>(share_.number[static_cast<std::size_t>(equation)]);
  }

 private:
  void count_kept() {
    const auto s = static_cast<std::size_t>(matrix_.block_size);
    kept_.assign(share_.free.size() / s, {});
    for (std::size_t e = 0; e < share_.free.size(); ++e)
      if (share_.free[e] || whole_blocks_)
        ++(is_own(share_, share_.number[e]) ? kept_[e / s].inner : kept_[e / s].outer);
  }

  /// The places of the blocks of a block row by ascending global numbers.
  void sort_blocks(std::int64_t block_row) {
    if (block_row == sorted_) return;
    sorted_ = block_row;
    const auto row = static_cast<std::size_t>(block_row);
    order_.clear();
    for (std::int64_t k = matrix_.row_start[row]; k < matrix_.row_start[row + 1]; ++k) order_.push_back(k);
    const auto first = [&](std::int64_t k) {
      return number(static_cast<std::int64_t>(matrix_.column[static_cast<std::size_t>(k)]) * matrix_.block_size);
    };
    const auto before = [&](std::int64_t a, std::int64_t b) { return first(a) < first(b); };
    if (!std::is_sorted(order_.begin(), order_.end(), before)) std::sort(order_.begin(), order_.end(), before);
  }

  const SystemShare& share_;
  const HostMatrix& matrix_;
  const Diagonal diagonal_;
  const bool whole_blocks_;
  const double stiff_;
  std::int64_t sorted_ = -1;
  std::vector<std::int64_t> order_;
  std::vector<EntryCount> kept_;  // per block column: its equations that rows have entries for
};

template <class Number>
void append(std::string& bytes, const Number& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class Number>
Number take(const std::string& bytes, std::size_t& at) {
  Number number{};
  if (at + sizeof number > bytes.size())
    throw Error(ErrorCode::internal, "a message with rows of the matrix is incomplete");
  std::memcpy(&number, bytes.data() + at, sizeof number);
  at += sizeof number;
  return number;
}

/// Sends rows of other processes' equations to their owners.
class RowExchange {
 public:
  RowExchange(MPI_Comm communicator, const SystemShare& share)
      : communicator_(communicator), processes_(communicator), share_(share) {
    first_.resize(static_cast<std::size_t>(processes_.count()) + 1, share.size);
    VSR_MPI(MPI_Allgather(&share.first, 1, MPI_INT64_T, first_.data(), 1, MPI_INT64_T, communicator_));
  }

  /// Rows of own equations that other processes have sent, by their place among the own equations; the contributions
  /// of one process after the other.
  std::map<std::int64_t, Row> run(ShareRows& rows) {
    std::map<int, std::string> sent;
    Row row;
    for (std::size_t e = 0; e < share_.number.size(); ++e) {
      const int owner = owner_of(share_.number[e]);
      if (owner == processes_.own()) continue;
      rows.get(static_cast<std::int64_t>(e), row);
      std::string& bytes = sent[owner];
      append(bytes, share_.number[e]);
      append(bytes, static_cast<std::int64_t>(row.size()));
      for (const RowEntry& entry : row) {
        append(bytes, static_cast<std::int64_t>(entry.column));
        append(bytes, entry.value);
      }
    }
    return read(exchange(sent));
  }

 private:
  /// The process that stores a row. Processes without rows begin where the next one does.
  int owner_of(std::int64_t number) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), number) - first_.begin()) - 1;
  }

  /// What neighbours have sent, in the order of the processes.
  std::vector<std::string> exchange(std::map<int, std::string>& sent) {
    std::vector<char> sends(static_cast<std::size_t>(processes_.count()), 0), receives(sends.size(), 0);
    for (const auto& [process, bytes] : sent) sends[static_cast<std::size_t>(process)] = 1;
    VSR_MPI(MPI_Alltoall(sends.data(), 1, MPI_CHAR, receives.data(), 1, MPI_CHAR, communicator_));
    std::vector<int> neighbours;
    std::vector<std::string> messages;
    for (std::size_t p = 0; p < sends.size(); ++p)
      if (sends[p] || receives[p]) {
        neighbours.push_back(static_cast<int>(p));
        messages.push_back(std::move(sent[static_cast<int>(p)]));
      }
    return processes_.exchange(neighbours, messages);
  }

  std::map<std::int64_t, Row> read(const std::vector<std::string>& received) const {
    std::map<std::int64_t, Row> rows;
    for (const std::string& bytes : received)
      for (std::size_t at = 0; at < bytes.size();) {
        const auto number = take<std::int64_t>(bytes, at) - share_.first;
        const auto count = take<std::int64_t>(bytes, at);
        if (number < 0 || number >= share_.owned)
          throw Error(ErrorCode::internal, "a process has received a row of the matrix that is not its own");
        Row& row = rows[number];
        for (std::int64_t k = 0; k < count; ++k) {
          const auto column = static_cast<PetscInt>(take<std::int64_t>(bytes, at));
          row.push_back({column, take<double>(bytes, at)});
        }
      }
    return rows;
  }

  MPI_Comm communicator_;
  MpiProcesses processes_;
  const SystemShare& share_;
  std::vector<std::int64_t> first_;  // row of each process, and the number of rows
};

/// The rows of own equations, complete.
class OwnRows {
 public:
  OwnRows(MPI_Comm communicator, const SystemShare& share, const HostMatrix& entries, Diagonal diagonal,
          FixedEntries fixed)
      : share_(share),
        diagonal_(diagonal),
        rows_(share, entries, diagonal, fixed),
        equation_(static_cast<std::size_t>(share.owned), -1) {
    for (std::size_t e = 0; e < share.number.size(); ++e) {
      const std::int64_t own = share.number[e] - share.first;
      if (own < 0 || own >= share.owned) continue;
      if (equation_[static_cast<std::size_t>(own)] >= 0)
        throw Error(ErrorCode::internal, "two equations of a process have the same number");
      equation_[static_cast<std::size_t>(own)] = static_cast<std::int64_t>(e);
    }
    shared_ = RowExchange(communicator, share).run(rows_);
    Row own;
    for (auto& [number, row] : shared_) {
      const std::int64_t equation = equation_[static_cast<std::size_t>(number)];
      if (equation >= 0) {
        rows_.get(equation, own);
        row.insert(row.begin(), own.begin(), own.end());
      }
      merge_columns(row);
    }
  }

  /// The numbers of entries of all own rows.
  EntryCount count() {
    EntryCount entries;
    auto shared = shared_.begin();
    for (std::int64_t i = 0; i < share_.owned; ++i) {
      const std::int64_t equation = equation_[static_cast<std::size_t>(i)];
      if (shared != shared_.end() && shared->first == i) {
        for (const RowEntry& entry : shared->second) ++(is_own(share_, entry.column) ? entries.inner : entries.outer);
        ++shared;
      } else if (equation >= 0) {
        rows_.count(equation, entries);
      } else {
        entries.inner += diagonal_ == Diagonal::stiff ? 1 : 0;
      }
    }
    return entries;
  }

  /// Calls visit(number of the row, entries) for each own row.
  template <class Visit>
  void visit(const Visit& visit) {
    Row row;
    auto shared = shared_.begin();
    for (std::int64_t i = 0; i < share_.owned; ++i) {
      const auto number = static_cast<PetscInt>(share_.first + i);
      const std::int64_t equation = equation_[static_cast<std::size_t>(i)];
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
  const SystemShare& share_;
  const Diagonal diagonal_;
  ShareRows rows_;
  std::vector<std::int64_t> equation_;  // of this process, per own row; -1 where it has none
  std::map<std::int64_t, Row> shared_;  // own rows to which other processes contribute
};

/// Reserves memory for the rows, entry by entry.
void preallocate(Mat matrix, const SystemShare& share, OwnRows& rows) {
  std::vector<PetscInt> inner, outer;  // per own row: entries in own columns, and in others
  inner.reserve(static_cast<std::size_t>(share.owned));
  outer.reserve(static_cast<std::size_t>(share.owned));
  rows.visit([&](PetscInt, const Row& row) {
    PetscInt own = 0;
    for (const RowEntry& entry : row) own += is_own(share, entry.column) ? 1 : 0;
    inner.push_back(own);
    outer.push_back(static_cast<PetscInt>(row.size()) - own);
  });
  VSR_PETSC(MatSeqAIJSetPreallocation(matrix, 0, inner.data()));
  VSR_PETSC(MatMPIAIJSetPreallocation(matrix, 0, inner.data(), 0, outer.data()));
  VSR_PETSC(MatSetUp(matrix));  // of other types, which options may have chosen
}

/// Rows are put into matrices of type aij and those made of it, such as aijcusparse.
void refuse_other_types(Mat matrix) {
  const char* name = nullptr;
  VSR_PETSC(MatGetType(matrix, &name));
  const std::string type = name ? name : "";
  if (type.find("aij") != std::string::npos && type.find("baij") == std::string::npos) return;
  VSR_PETSC(MatDestroy(&matrix));
  throw SharedError(
      Error(ErrorCode::bad_input,
            "-mat_type " + type +
                " is not supported: the engine assembles matrices of type aij and of types derived from it, such as "
                "aijcusparse. Leave out -mat_type"),
      0);
}

/// A matrix whose type the options choose.
Mat matrix_of_any_type(MPI_Comm communicator, const SystemShare& share, OwnRows& rows) {
  Mat matrix = nullptr;
  const auto owned = static_cast<PetscInt>(share.owned), size = static_cast<PetscInt>(share.size);
  VSR_PETSC(MatCreate(communicator, &matrix));
  VSR_PETSC(MatSetSizes(matrix, owned, owned, size, size));
  VSR_PETSC(MatSetType(matrix, MATAIJ));
  if (share.block_size > 1) VSR_PETSC(MatSetBlockSize(matrix, share.block_size));
  VSR_PETSC(MatSetFromOptions(matrix));
  refuse_other_types(matrix);
  preallocate(matrix, share, rows);
  VSR_PETSC(MatSetOption(matrix, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> values;
  rows.visit([&](PetscInt number, const Row& row) {
    columns.clear();
    values.clear();
    for (const RowEntry& entry : row) {
      columns.push_back(entry.column);
      values.push_back(entry.value);
    }
    VSR_PETSC(MatSetValues(matrix, 1, &number, static_cast<PetscInt>(row.size()), columns.data(), values.data(),
                           INSERT_VALUES));
  });
  VSR_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  VSR_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return matrix;
}

/// The arrays of a matrix by rows, which PETSc uses without a copy: entries of own columns by local numbers, and the
/// others by global ones until PETSc changes them.
struct RowArrays {
  std::unique_ptr<PetscInt[]> inner_start, outer_start, inner_column, outer_column;
  std::unique_ptr<PetscScalar[]> inner_value, outer_value;

  RowArrays(const SystemShare& share, OwnRows& rows) {
    const auto owned = static_cast<std::size_t>(share.owned);
    const auto [inner, outer] = rows.count();
    require_countable(inner, share);
    require_countable(outer, share);
    for (auto* start : {&inner_start, &outer_start}) *start = std::make_unique_for_overwrite<PetscInt[]>(owned + 1);
    inner_column = std::make_unique_for_overwrite<PetscInt[]>(static_cast<std::size_t>(inner));
    outer_column = std::make_unique_for_overwrite<PetscInt[]>(static_cast<std::size_t>(outer));
    inner_value = std::make_unique_for_overwrite<PetscScalar[]>(static_cast<std::size_t>(inner));
    outer_value = std::make_unique_for_overwrite<PetscScalar[]>(static_cast<std::size_t>(outer));
    fill(share, rows);
  }

 private:
  /// The starts of rows are integers of PETSc.
  static void require_countable(std::int64_t entries, const SystemShare& share) {
    if (entries > static_cast<std::int64_t>(PETSC_MAX_INT))
      throw Error(ErrorCode::unavailable, std::to_string(entries) + " entries in the rows of one process (" +
                                              std::to_string(share.owned) +
                                              " of them) exceed the integers of this PETSc; use more processes, or a "
                                              "PETSc that was configured with --with-64-bit-indices");
  }

  void fill(const SystemShare& share, OwnRows& rows) {
    std::size_t inner = 0, outer = 0, number = 0;
    inner_start[0] = outer_start[0] = 0;
    rows.visit([&](PetscInt, const Row& row) {
      for (const RowEntry& entry : row)
        if (is_own(share, entry.column)) {
          inner_column[inner] = entry.column - static_cast<PetscInt>(share.first);
          inner_value[inner++] = entry.value;
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
Mat matrix_in_arrays(MPI_Comm communicator, const SystemShare& share, OwnRows& rows) {
  auto kept = std::make_unique<RowArrays>(share, rows);
  Mat matrix = nullptr;
  const auto owned = static_cast<PetscInt>(share.owned), size = static_cast<PetscInt>(share.size);
  int processes = 0;
  VSR_MPI(MPI_Comm_size(communicator, &processes));
  if (processes == 1)
    VSR_PETSC(MatCreateSeqAIJWithArrays(communicator, owned, owned, kept->inner_start.get(), kept->inner_column.get(),
                                        kept->inner_value.get(), &matrix));
  else
    VSR_PETSC(MatCreateMPIAIJWithSplitArrays(communicator, owned, owned, size, size, kept->inner_start.get(),
                                             kept->inner_column.get(), kept->inner_value.get(), kept->outer_start.get(),
                                             kept->outer_column.get(), kept->outer_value.get(), &matrix));
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

double stiff_diagonal(const SystemShare& share, const HostMatrix& m) {
  const std::int64_t s = m.block_size, size = static_cast<std::int64_t>(share.number.size());
  double largest = 0;
  for (std::int64_t e = 0; e < size; ++e)
    for (auto k = m.row_start[e / s]; k < m.row_start[e / s + 1]; ++k)
      if (m.column[k] == e / s) largest = std::max(largest, std::abs(m.value[(k * s + e % s) * s + e % s]));
  return largest > 0 ? largest : 1;
}

Mat assemble_rows(MPI_Comm communicator, const SystemShare& share, const HostMatrix& entries, Diagonal diagonal,
                  FixedEntries fixed) {
  OwnRows rows(communicator, share, entries, diagonal, fixed);
  PetscBool another_type = PETSC_FALSE;
  VSR_PETSC(PetscOptionsHasName(nullptr, nullptr, "-mat_type", &another_type));
  return another_type ? matrix_of_any_type(communicator, share, rows) : matrix_in_arrays(communicator, share, rows);
}

}  // namespace voussoir::petsc
