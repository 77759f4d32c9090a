#include <voussoir/engines/petsc/own_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/engines/petsc/mpi_processes.hpp>

namespace voussoir::petsc {
namespace {

/// Sorts by columns and adds up entries of one column, in the order in which they stand.
void merge_columns(Row& row) {
  std::stable_sort(row.begin(), row.end(), [](const RowEntry& a, const RowEntry& b) { return a.column < b.column; });
  std::size_t end = 0;
  for (const RowEntry& entry : row) {
    if (end > 0 && row[end - 1].column == entry.column)
      row[end - 1].value += entry.value;
    else
      row[end++] = entry;
  }
  row.resize(end);
}

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

}  // namespace

void require_countable(std::int64_t entries, std::int64_t rows) {
  if (entries > static_cast<std::int64_t>(PETSC_MAX_INT))
    throw Error(ErrorCode::unavailable, std::to_string(entries) + " entries in the rows of one process (" +
                                            std::to_string(rows) +
                                            " of them) exceed the integers of this PETSc; use more processes, or a "
                                            "PETSc that was configured with --with-64-bit-indices");
}

double stiff_diagonal(const SystemShare& share, const HostMatrix& m) {
  const std::int64_t s = m.block_size, size = static_cast<std::int64_t>(share.number.size());
  double largest = 0;
  for (std::int64_t e = 0; e < size; ++e)
    for (auto k = m.row_start[e / s]; k < m.row_start[e / s + 1]; ++k)
      if (m.column[k] == e / s) largest = std::max(largest, std::abs(m.value[(k * s + e % s) * s + e % s]));
  return largest > 0 ? largest : 1;
}

ShareRows::ShareRows(const SystemShare& share, const HostMatrix& matrix, Diagonal diagonal, FixedEntries fixed)
    : share_(share),
      matrix_(matrix),
      diagonal_(diagonal),
      whole_blocks_(fixed == FixedEntries::blocks && share.block_size > 1),
      stiff_(stiff_diagonal(share, matrix)) {}

void ShareRows::get(std::int64_t equation, Row& row) {
  row.clear();
  const bool free = share_.free[static_cast<std::size_t>(equation)];
  if (!free && !whole_blocks_) {
    if (diagonal_ == Diagonal::stiff) row.push_back({number(equation), stiff_});
    return;
  }
  load(block_of(equation));
  const std::int64_t s = matrix_.block_size;
  for (const Block& block : blocks_) {
    const double* const value = values_.data() + block.values + equation % s * s;
    for (std::int64_t j = 0; j < s; ++j) {
      const std::int64_t column = block.column + j;
      if (free && share_.free[static_cast<std::size_t>(column)])
        row.push_back({number(column), value[j]});
      else if (whole_blocks_)
        row.push_back({number(column), column == equation && diagonal_ == Diagonal::stiff ? stiff_ : 0.0});
    }
  }
  const auto not_ascending = [](const RowEntry& a, const RowEntry& b) { return a.column >= b.column; };
  if (std::adjacent_find(row.begin(), row.end(), not_ascending) != row.end()) merge_columns(row);
}

void ShareRows::load(std::int64_t block_row) {
  if (block_row == loaded_) return;
  loaded_ = block_row;
  const std::int64_t s = matrix_.block_size;
  const auto row = static_cast<std::size_t>(block_row);
  blocks_.clear();
  for (std::int64_t k = matrix_.row_start[row]; k < matrix_.row_start[row + 1]; ++k)
    blocks_.push_back({static_cast<std::int64_t>(matrix_.column[static_cast<std::size_t>(k)]) * s,
                       static_cast<std::size_t>((k - matrix_.row_start[row]) * s * s)});
  values_.assign(matrix_.value.begin() + first_value(block_row), matrix_.value.begin() + first_value(block_row + 1));
  const auto before = [&](const Block& a, const Block& b) { return number(a.column) < number(b.column); };
  if (!std::is_sorted(blocks_.begin(), blocks_.end(), before)) std::sort(blocks_.begin(), blocks_.end(), before);
}

void ShareRows::count(std::int64_t equation, EntryCount& entries) {
  if (!share_.free[static_cast<std::size_t>(equation)] && !whole_blocks_) {
    entries.inner += diagonal_ == Diagonal::stiff ? 1 : 0;
    return;
  }
  if (kept_.empty()) count_kept();
  const auto row = static_cast<std::size_t>(block_of(equation));
  for (std::int64_t k = matrix_.row_start[row]; k < matrix_.row_start[row + 1]; ++k) {
    const EntryCount& block = kept_[static_cast<std::size_t>(matrix_.column[static_cast<std::size_t>(k)])];
    entries.inner += block.inner;
    entries.outer += block.outer;
  }
}

void ShareRows::count_kept() {
  const auto s = static_cast<std::size_t>(matrix_.block_size);
  kept_.assign(share_.free.size() / s, {});
  for (std::size_t e = 0; e < share_.free.size(); ++e)
    if (share_.free[e] || whole_blocks_) ++(is_own(share_, share_.number[e]) ? kept_[e / s].inner : kept_[e / s].outer);
}

OwnRows::OwnRows(MPI_Comm communicator, const SystemShare& share, const HostMatrix& entries, Diagonal diagonal,
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

/// Calls visit(local equation, entries of the row) for each own row.
template <class Visit>
void OwnRows::count_rows(const Visit& visit) {
  auto shared = shared_.begin();
  for (std::int64_t i = 0; i < share_.owned; ++i) {
    EntryCount entries;
    const std::int64_t equation = equation_[static_cast<std::size_t>(i)];
    if (shared != shared_.end() && shared->first == i) {
      for (const RowEntry& entry : shared->second) ++(is_own(share_, entry.column) ? entries.inner : entries.outer);
      ++shared;
    } else if (equation >= 0) {
      rows_.count(equation, entries);
    } else {
      entries.inner += diagonal_ == Diagonal::stiff ? 1 : 0;
    }
    visit(equation, entries);
  }
}

EntryCount OwnRows::count() {
  EntryCount all;
  count_rows([&](std::int64_t, const EntryCount& row) {
    all.inner += row.inner;
    all.outer += row.outer;
  });
  return all;
}

bool OwnRows::may_overwrite_values() {
  bool may = true;
  std::int64_t written = 0, read = 0;  // entries; block rows
  count_rows([&](std::int64_t equation, const EntryCount& row) {
    if (equation >= 0) {
      const std::int64_t block = rows_.block_of(equation);
      may = may && block + 1 >= read;
      read = std::max(read, block + 1);
    }
    written += row.inner;
    may = may && written <= rows_.first_value(read);
  });
  return may;
}

}  // namespace voussoir::petsc
