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

/// Matrices on one device, one below the other. The row starts of all but the first pass through the host.
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
  std::size_t row = 0, block = 0;
  for (const LevelMatrix* part : parts) {
    const std::size_t block_entries = static_cast<std::size_t>(part->height * part->width);
    if (row == 0) {
      copy_array(*memory, part->start, part->start.size(), stacked.start, 0);
    } else {
      Array<std::int64_t> shifted(memory, part->start.read_host());
      for (std::int64_t& s : shifted.update_host()) s += static_cast<std::int64_t>(block);
      copy_array(*memory, shifted, shifted.size(), stacked.start, row);
    }
    copy_array(*memory, part->column, part->column.size(), stacked.column, block);
    copy_array(*memory, part->value, part->column.size() * block_entries, stacked.value, block * block_entries);
    row += static_cast<std::size_t>(part->rows);
    block += part->column.size();
  }
  return stacked;
}

/// The rows that a device wants, by their owners.
struct WantedRows {
  std::vector<std::vector<std::int32_t>> of_owner;  ///< local numbers
  std::vector<std::int32_t> place;                  ///< of each wanted row among those of all owners in turn

  WantedRows(const std::vector<std::int64_t>& wanted, const DividedNodes& rows)
      : of_owner(static_cast<std::size_t>(rows.devices())) {
    std::vector<std::int32_t> within;
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

/// The wanted rows on a device. Columns that it does not have yet become ghosts.
std::vector<LevelMatrix> fetch_rows(DividedMultigrid& services, const DeviceMatrices& matrices,
                                    const WantedRows& wanted, DividedNodes& columns, int device) {
  const std::size_t devices = matrices.size();
  std::vector<std::vector<std::int32_t>> used(devices);
  std::vector<std::int64_t> fresh;
  for (std::size_t e = 0; e < devices; ++e) {
    if (wanted.of_owner[e].empty()) continue;
    used[e] = services.columns_of(matrices[e], static_cast<int>(e), wanted.of_owner[e]);
    for (const std::int32_t c : used[e])
      if (const std::int64_t node = columns.global(static_cast<int>(e), c); columns.local(device, node) < 0)
        fresh.push_back(node);
  }
  std::sort(fresh.begin(), fresh.end());
  for (const std::int64_t node : fresh) columns.add_ghost(device, node);
  std::vector<LevelMatrix> pieces;
  for (std::size_t e = 0; e < devices; ++e) {
    if (wanted.of_owner[e].empty()) continue;
    std::vector<std::int32_t> number(static_cast<std::size_t>(matrices[e].columns), -1);
    for (const std::int32_t c : used[e])
      number[static_cast<std::size_t>(c)] = columns.local(device, columns.global(static_cast<int>(e), c));
    pieces.push_back(services.take_rows(matrices[e], static_cast<int>(e), wanted.of_owner[e], number,
                                        columns.local_count(device), device));
  }
  return pieces;
}

}  // namespace

LevelMatrix own_columns(DividedMultigrid& services, const LevelMatrix& a, int device) {
  std::vector<std::int32_t> number = numbers_up_to(a.columns);
  std::fill(number.begin() + a.rows, number.end(), -1);
  return services.take_all_rows(a, device, number, a.rows, device);
}

DeviceMatrices stack_rows(Backend& backend, const DeviceMatrices& matrices, const DividedNodes& rows,
                          const std::vector<std::vector<std::int64_t>>& wanted, DividedNodes& columns) {
  DividedMultigrid& services = backend.service<DividedMultigrid>();
  DeviceMatrices stacked;
  for (std::size_t d = 0; d < matrices.size(); ++d) {
    const auto device = static_cast<int>(d);
    const WantedRows list(wanted[d], rows);
    std::vector<LevelMatrix> pieces = fetch_rows(services, matrices, list, columns, device);
    const std::int32_t count = columns.local_count(device);
    std::vector<const LevelMatrix*> parts;
    for (const LevelMatrix& piece : pieces) parts.push_back(&piece);
    LevelMatrix sorted;
    if (!list.in_order()) {
      sorted = services.take_rows(stack(backend.memory(device), parts, count), device, list.place, numbers_up_to(count),
                                  count, device);
      pieces.clear();
      parts = {&sorted};
    }
    parts.insert(parts.begin(), &matrices[d]);
    stacked.push_back(stack(backend.memory(device), parts, count));
  }
  return stacked;
}

std::vector<std::vector<std::int64_t>> rows_that_reach(DividedMultigrid& services, const DeviceMatrices& matrices,
                                                       const DividedNodes& rows, const DividedNodes& columns) {
  std::vector<std::vector<std::int64_t>> from(matrices.size());
  for (std::size_t d = 0; d < matrices.size(); ++d) {
    const auto device = static_cast<int>(d);
    const std::int32_t own = columns.owned(device);
    const std::vector<std::int32_t> list = services.rows_reaching(matrices[d], device, own);
    if (list.empty()) continue;
    std::vector<std::int32_t> number = numbers_up_to(matrices[d].columns);
    std::fill(number.begin(), number.begin() + own, -1);
    const LevelMatrix some = services.take_rows(matrices[d], device, list, number, matrices[d].columns, device);
    const auto start = some.start.read_host();
    const auto column = some.column.read_host();
    for (std::size_t i = 0; i < list.size(); ++i)
      for (auto k = static_cast<std::size_t>(start[i]); k < static_cast<std::size_t>(start[i + 1]); ++k) {
        auto& target = from[static_cast<std::size_t>(columns.owner(columns.global(device, column[k])))];
        const std::int64_t node = rows.global(device, list[i]);
        if (target.empty() || target.back() != node) target.push_back(node);
      }
  }
  for (auto& list : from) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
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

LevelMatrix gather_rows(Backend& backend, const DeviceMatrices& matrices, const DividedNodes& nodes) {
  DividedMultigrid& services = backend.service<DividedMultigrid>();
  const auto count = static_cast<std::int32_t>(nodes.count());
  std::vector<LevelMatrix> pieces;
  for (std::size_t d = 0; d < matrices.size(); ++d) {
    std::vector<std::int32_t> number;
    for (std::int32_t c = 0; c < matrices[d].columns; ++c)
      number.push_back(static_cast<std::int32_t>(nodes.global(static_cast<int>(d), c)));
    pieces.push_back(services.take_all_rows(matrices[d], static_cast<int>(d), number, count, 0));
  }
  std::vector<const LevelMatrix*> parts;
  for (const LevelMatrix& piece : pieces) parts.push_back(&piece);
  return stack(backend.memory(0), parts, count);
}

}  // namespace voussoir::detail
