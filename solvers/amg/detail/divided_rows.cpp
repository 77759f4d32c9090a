#include <voussoir/solvers/amg/detail/divided_rows.hpp>

#include <algorithm>
#include <numeric>

namespace voussoir::detail {
namespace {

/// Copies the first `count` entries of an array to a place in another one on the same device.
template <class T>
void copy_array(DeviceMemory& memory, const Array<T>& from, std::size_t count, Array<T>& to, std::size_t at) {
  if (count == 0) return;
  DeviceSection section(memory);
  memory.copy(to.update_device() + at, from.read_device(), count * sizeof(T));
}

std::vector<std::int32_t> numbers_up_to(std::int32_t count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Matrices on one device, one below the other. The row starts of all but the first pass through the host, together.
LevelMatrix stack(const std::shared_ptr<DeviceMemory>& memory, const std::vector<const LevelMatrix*>& parts,
                  std::int32_t columns) {
  LevelMatrix stacked;
  stacked.columns = columns;
  stacked.height = parts.front()->height;
  stacked.width = parts.front()->width;
  std::size_t blocks = 0;
  for (const LevelMatrix* part : parts) {
    stacked.rows += part->rows;
    blocks += part->column.size();
  }
  stacked.start = Array<std::int64_t>(memory, static_cast<std::size_t>(stacked.rows) + 1);
  stacked.column = Array<std::int32_t>(memory, blocks);
  stacked.value = Array<double>(memory, static_cast<std::size_t>(stacked.entries()));
  const auto block_entries = static_cast<std::size_t>(stacked.height * stacked.width);
  std::vector<std::int64_t> later_starts;
  std::size_t block = 0;
  for (const LevelMatrix* part : parts) {
    if (part != parts.front()) {
      const auto start = part->start.read_host();
      for (std::size_t i = 1; i < start.size(); ++i)
        later_starts.push_back(start[i] + static_cast<std::int64_t>(block));
    } else {
      copy_array(*memory, part->start, part->start.size(), stacked.start, 0);
    }
    copy_array(*memory, part->column, part->column.size(), stacked.column, block);
    copy_array(*memory, part->value, part->column.size() * block_entries, stacked.value, block * block_entries);
    block += part->column.size();
  }
  if (later_starts.empty()) return stacked;
  const Array<std::int64_t> shifted(memory, std::span<const std::int64_t>(later_starts));
  copy_array(*memory, shifted, shifted.size(), stacked.start, parts.front()->start.size());
  return stacked;
}

/// The rows that a device wants, by their owners.
struct WantedRows {
  std::vector<std::vector<std::int32_t>> of_owner;  ///< local numbers
  std::vector<std::int32_t> place;                  ///< of each wanted row among those of all owners in turn

  WantedRows() = default;
  WantedRows(const std::vector<std::int64_t>& wanted, const DividedNodes& rows)
      : of_owner(static_cast<std::size_t>(rows.devices())) {
    std::vector<std::int32_t> within;
    within.reserve(wanted.size());
    place.reserve(wanted.size());
    for (const std::int64_t node : wanted) {
      const int e = rows.owner(node);
      auto& list = of_owner[static_cast<std::size_t>(e)];
      within.push_back(static_cast<std::int32_t>(list.size()));
      list.push_back(rows.local(e, node));
    }
    std::vector<std::int32_t> before(of_owner.size() + 1, 0);
    for (std::size_t e = 0; e < of_owner.size(); ++e)
      before[e + 1] = before[e] + static_cast<std::int32_t>(of_owner[e].size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      place.push_back(before[static_cast<std::size_t>(rows.owner(wanted[i]))] + within[i]);
  }
  bool in_order() const { return std::is_sorted(place.begin(), place.end()); }
};

/// The rows that devices take from each other: pieces[d][e] are those of device e that device d wants.
class FetchedRows {
 public:
  FetchedRows(DividedMultigrid& services, DeviceThreads& threads, const DeviceMatrices& matrices,
              const std::vector<WantedRows>& wanted, DividedNodes& columns)
      : services_(services), matrices_(matrices), wanted_(wanted), columns_(columns) {
    const std::size_t devices = matrices.size();
    used_.resize(devices);
    pieces_.resize(devices);
    for (std::size_t d = 0; d < devices; ++d) {
      used_[d].resize(devices);
      pieces_[d].resize(devices);
    }
    // Each step touches the data of one device only: of the owner, of the one that wants the rows, of the owner.
    threads.run([&](int owner) { list_columns(static_cast<std::size_t>(owner)); });
    threads.run([&](int device) { number_columns(static_cast<std::size_t>(device)); });
    threads.run([&](int owner) { send(static_cast<std::size_t>(owner)); });
  }

  /// Those that a device wants, by owners that have some.
  std::vector<const LevelMatrix*> pieces(std::size_t device) const {
    std::vector<const LevelMatrix*> list;
    for (std::size_t e = 0; e < pieces_.size(); ++e)
      if (!wanted_[device].of_owner[e].empty()) list.push_back(&pieces_[device][e]);
    return list;
  }
  void clear(std::size_t device) { pieces_[device].clear(); }

 private:
  /// Columns of one owner that a device needs.
  struct UsedColumns {
    std::vector<std::int32_t> local;    // numbers on the owner
    std::vector<std::int64_t> node;     // among all
    std::vector<std::int32_t> renamed;  // numbers on the device
  };

  void list_columns(std::size_t owner) {
    for (std::size_t d = 0; d < used_.size(); ++d) {
      const auto& rows = wanted_[d].of_owner[owner];
      if (rows.empty()) continue;
      UsedColumns& used = used_[d][owner];
      used.local = services_.columns_of(matrices_[owner], static_cast<int>(owner), rows);
      for (const std::int32_t c : used.local) used.node.push_back(columns_.global(static_cast<int>(owner), c));
    }
  }

  /// Columns that the device does not have yet become ghosts.
  void number_columns(std::size_t d) {
    const auto device = static_cast<int>(d);
    std::vector<std::int64_t> fresh;
    for (const UsedColumns& used : used_[d])
      for (const std::int64_t node : used.node)
        if (columns_.local(device, node) < 0) fresh.push_back(node);
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    columns_.add_ghosts(device, fresh);
    for (UsedColumns& used : used_[d])
      for (const std::int64_t node : used.node) used.renamed.push_back(columns_.local(device, node));
  }

  void send(std::size_t owner) {
    for (std::size_t d = 0; d < used_.size(); ++d) {
      const auto& rows = wanted_[d].of_owner[owner];
      if (rows.empty()) continue;
      std::vector<std::int32_t> number(static_cast<std::size_t>(matrices_[owner].columns), -1);
      const UsedColumns& used = used_[d][owner];
      for (std::size_t i = 0; i < used.local.size(); ++i)
        number[static_cast<std::size_t>(used.local[i])] = used.renamed[i];
      pieces_[d][owner] = services_.take_rows(matrices_[owner], static_cast<int>(owner), rows, number,
                                              columns_.local_count(static_cast<int>(d)), static_cast<int>(d));
    }
  }

  DividedMultigrid& services_;
  const DeviceMatrices& matrices_;
  const std::vector<WantedRows>& wanted_;
  DividedNodes& columns_;
  std::vector<std::vector<UsedColumns>> used_;    // by devices, then owners
  std::vector<std::vector<LevelMatrix>> pieces_;  // by devices, then owners
};

}  // namespace

LevelMatrix own_columns(DividedMultigrid& services, const LevelMatrix& a, int device) {
  std::vector<std::int32_t> number = numbers_up_to(a.columns);
  std::fill(number.begin() + a.rows, number.end(), -1);
  return services.take_all_rows(a, device, number, a.rows, device);
}

DeviceMatrices stack_rows(Backend& backend, DeviceThreads& threads, const DeviceMatrices& matrices,
                          const DividedNodes& rows, const std::vector<std::vector<std::int64_t>>& wanted,
                          DividedNodes& columns) {
  DividedMultigrid& services = backend.service<DividedMultigrid>();
  std::vector<WantedRows> lists(matrices.size());
  threads.run([&](int d) {
    const auto i = static_cast<std::size_t>(d);
    lists[i] = WantedRows(wanted[i], rows);
  });
  FetchedRows fetched(services, threads, matrices, lists, columns);
  DeviceMatrices stacked(matrices.size());
  threads.run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    const std::int32_t count = columns.local_count(device);
    std::vector<const LevelMatrix*> parts = fetched.pieces(d);
    LevelMatrix sorted;
    if (!lists[d].in_order()) {
      sorted = services.take_rows(stack(backend.memory(device), parts, count), device, lists[d].place,
                                  numbers_up_to(count), count, device);
      fetched.clear(d);
      parts = {&sorted};
    }
    parts.insert(parts.begin(), &matrices[d]);
    stacked[d] = stack(backend.memory(device), parts, count);
    fetched.clear(d);
  });
  return stacked;
}

std::vector<std::vector<std::int64_t>> rows_that_reach(DividedMultigrid& services, DeviceThreads& threads,
                                                       const DeviceMatrices& matrices, const DividedNodes& rows,
                                                       const DividedNodes& columns) {
  using Lists = std::vector<std::vector<std::int64_t>>;  // by owners of columns
  std::vector<Lists> of_device(matrices.size(), Lists(matrices.size()));
  threads.run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    const std::int32_t own = columns.owned(device);
    const std::vector<std::int32_t> list = services.rows_reaching(matrices[d], device, own);
    if (list.empty()) return;
    std::vector<std::int32_t> number = numbers_up_to(matrices[d].columns);
    std::fill(number.begin(), number.begin() + own, -1);
    const LevelMatrix some = services.take_rows(matrices[d], device, list, number, matrices[d].columns, device);
    const auto start = some.start.read_host();
    const auto column = some.column.read_host();
    for (std::size_t i = 0; i < list.size(); ++i)
      for (auto k = static_cast<std::size_t>(start[i]); k < static_cast<std::size_t>(start[i + 1]); ++k) {
        auto& target = of_device[d][static_cast<std::size_t>(columns.owner(columns.global(device, column[k])))];
        const std::int64_t node = rows.global(device, list[i]);
        if (target.empty() || target.back() != node) target.push_back(node);
      }
  });
  // Nodes of one device ascend, and those of the next follow.
  Lists from(matrices.size());
  for (std::size_t e = 0; e < from.size(); ++e)
    for (const Lists& lists : of_device) from[e].insert(from[e].end(), lists[e].begin(), lists[e].end());
  return from;
}

LevelMatrix first_rows(const std::shared_ptr<DeviceMemory>& memory, const LevelMatrix& a, std::int32_t rows) {
  const auto count = static_cast<std::size_t>(rows);
  const auto blocks = static_cast<std::size_t>(a.start.read_host()[count]);
  const std::size_t entries = blocks * static_cast<std::size_t>(a.height * a.width);
  LevelMatrix some;
  some.rows = rows;
  some.columns = a.columns;
  some.height = a.height;
  some.width = a.width;
  some.start = Array<std::int64_t>(memory, count + 1);
  some.column = Array<std::int32_t>(memory, blocks);
  some.value = Array<double>(memory, entries);
  copy_array(*memory, a.start, count + 1, some.start, 0);
  copy_array(*memory, a.column, blocks, some.column, 0);
  copy_array(*memory, a.value, entries, some.value, 0);
  return some;
}

LevelMatrix gather_rows(Backend& backend, DeviceThreads& threads, const DeviceMatrices& matrices,
                        const DividedNodes& nodes) {
  DividedMultigrid& services = backend.service<DividedMultigrid>();
  const auto count = static_cast<std::int32_t>(nodes.count());
  std::vector<LevelMatrix> pieces(matrices.size());
  threads.run([&](int device) {
    const auto d = static_cast<std::size_t>(device);
    std::vector<std::int32_t> number(static_cast<std::size_t>(matrices[d].columns));
    for (std::int32_t c = 0; c < matrices[d].columns; ++c)
      number[static_cast<std::size_t>(c)] = static_cast<std::int32_t>(nodes.global(device, c));
    pieces[d] = services.take_all_rows(matrices[d], device, number, count, 0);
  });
  std::vector<const LevelMatrix*> parts;
  for (const LevelMatrix& piece : pieces) parts.push_back(&piece);
  return stack(backend.memory(0), parts, count);
}

}  // namespace voussoir::detail
