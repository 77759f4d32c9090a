#include <voussoir/solvers/amg/detail/divided_rows.hpp>

#include <algorithm>
#include <numeric>

namespace voussoir::detail {
namespace {

/// Copies all of one array to a place in another one on the same device.
template <class T>
void copy_array(DeviceMemory& memory, const Array<T>& from, std::size_t count, Array<T>& to, std::size_t at) {
  if (count == 0) return;
  DeviceSection section(memory);
  memory.copy(to.update_device() + at, from.read_device(), count * sizeof(T));
}

/// Adds row i of `from` to `to`.
void append_row(const HostRows& from, std::size_t i, HostRows& to) {
  const std::int64_t first = from.start[i], last = from.start[i + 1];
  const std::int64_t block = std::int64_t{from.height} * from.width;
  to.column.insert(to.column.end(), from.column.begin() + first, from.column.begin() + last);
  to.value.insert(to.value.end(), from.value.begin() + first * block, from.value.begin() + last * block);
  to.start.push_back(static_cast<std::int64_t>(to.column.size()));
}

}  // namespace

LevelMatrix HostRows::upload(const std::shared_ptr<DeviceMemory>& memory, std::int32_t columns) const {
  LevelMatrix m;
  m.rows = static_cast<std::int32_t>(start.size() - 1);
  m.columns = columns;
  m.height = height;
  m.width = width;
  m.start = Array<std::int64_t>(memory, std::span<const std::int64_t>(start));
  m.column = Array<std::int32_t>(memory, column.size());
  m.value = Array<double>(memory, value.size());
  const auto target = m.column.write_host();
  const auto numbers = m.value.write_host();
  const auto h = static_cast<std::size_t>(height), w = static_cast<std::size_t>(width);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i + 1 < start.size(); ++i) {
    const auto first = static_cast<std::size_t>(start[i]), n = static_cast<std::size_t>(start[i + 1]) - first;
    order.resize(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return column[first + a] < column[first + b]; });
    for (std::size_t k = 0; k < n; ++k) {
      target[first + k] = static_cast<std::int32_t>(column[first + order[k]]);
      for (std::size_t r = 0; r < h; ++r)
        std::copy_n(value.data() + first * h * w + (r * n + order[k]) * w, w,
                    numbers.data() + first * h * w + (r * n + k) * w);
    }
  }
  m.start.drop_host_mirror();
  m.column.drop_host_mirror();
  m.value.drop_host_mirror();
  return m;
}

LevelMatrix selection(const std::shared_ptr<DeviceMemory>& memory, std::span<const std::int32_t> pick,
                      std::int32_t columns, int size) {
  HostRows rows;
  rows.height = rows.width = size;
  const auto s = static_cast<std::size_t>(size);
  for (const std::int32_t column : pick) {
    if (column >= 0) rows.column.push_back(column);
    rows.start.push_back(static_cast<std::int64_t>(rows.column.size()));
  }
  rows.value.assign(rows.column.size() * s * s, 0.0);
  for (std::size_t k = 0; k < rows.column.size(); ++k)
    for (std::size_t r = 0; r < s; ++r) rows.value[(k * s + r) * s + r] = 1;
  return rows.upload(memory, columns);
}

LevelMatrix own_columns(MultigridServices& services, const std::shared_ptr<DeviceMemory>& memory,
                        const LevelMatrix& a) {
  std::vector<std::int32_t> pick(static_cast<std::size_t>(a.columns), -1);
  std::iota(pick.begin(), pick.begin() + a.rows, 0);
  const LevelMatrix keep = selection(memory, pick, a.rows, a.width);
  LevelMatrix own = services.product_pattern(a, keep);
  services.multiply(a, keep, own);
  return own;
}

HostRows rows_to_host(const LevelMatrix& a, const DividedNodes& columns, int device) {
  HostRows rows;
  rows.height = a.height;
  rows.width = a.width;
  const auto start = a.start.read_host();
  const auto column = a.column.read_host();
  const auto value = a.value.read_host();
  rows.start.assign(start.begin(), start.end());
  rows.value.assign(value.begin(), value.end());
  rows.column.reserve(column.size());
  for (const std::int32_t c : column) rows.column.push_back(columns.global(device, c));
  return rows;
}

std::vector<HostRows> fetch_rows(Backend& backend, const DeviceMatrices& matrices, const DividedNodes& rows,
                                 const std::vector<std::vector<std::int64_t>>& wanted, const DividedNodes& columns) {
  DividedMultigrid& services = backend.service<DividedMultigrid>();
  const int devices = rows.devices();
  // What others want of each device, ascending, brought to the host.
  std::vector<std::vector<std::int64_t>> sent(static_cast<std::size_t>(devices));
  for (const auto& list : wanted)
    for (const std::int64_t node : list) sent[static_cast<std::size_t>(rows.owner(node))].push_back(node);
  std::vector<HostRows> of_owner(sent.size());
  for (int e = 0; e < devices; ++e) {
    auto& list = sent[static_cast<std::size_t>(e)];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (list.empty()) continue;
    std::vector<std::int32_t> pick;
    for (const std::int64_t node : list) pick.push_back(rows.local(e, node));
    const LevelMatrix& matrix = matrices[static_cast<std::size_t>(e)];
    const LevelMatrix keep = selection(backend.memory(e), pick, matrix.rows, matrix.height);
    LevelMatrix some = services.on(e).product_pattern(keep, matrix);
    services.on(e).multiply(keep, matrix, some);
    of_owner[static_cast<std::size_t>(e)] = rows_to_host(some, columns, e);
  }
  std::vector<HostRows> result(sent.size());
  for (std::size_t d = 0; d < result.size(); ++d) {
    result[d].height = matrices[d].height;
    result[d].width = matrices[d].width;
    for (const std::int64_t node : wanted[d]) {
      const auto e = static_cast<std::size_t>(rows.owner(node));
      const auto i = static_cast<std::size_t>(std::lower_bound(sent[e].begin(), sent[e].end(), node) - sent[e].begin());
      append_row(of_owner[e], i, result[d]);
    }
  }
  return result;
}

LevelMatrix stack_rows(const std::shared_ptr<DeviceMemory>& memory, const LevelMatrix& own, const HostRows& more,
                       DividedNodes& columns, int device) {
  std::vector<std::int64_t> fresh;
  for (const std::int64_t c : more.column)
    if (columns.local(device, c) < 0) fresh.push_back(c);
  std::sort(fresh.begin(), fresh.end());
  for (const std::int64_t c : fresh) columns.add_ghost(device, c);

  HostRows tail = more;
  for (std::int64_t& c : tail.column) c = columns.local(device, c);
  LevelMatrix stacked;
  stacked.rows = own.rows + static_cast<std::int32_t>(more.start.size() - 1);
  stacked.columns = columns.local_count(device);
  stacked.height = own.height;
  stacked.width = own.width;
  const auto own_rows = static_cast<std::size_t>(own.rows);
  const auto own_blocks = static_cast<std::size_t>(own.blocks()), own_entries = static_cast<std::size_t>(own.entries());
  stacked.start = Array<std::int64_t>(memory, static_cast<std::size_t>(stacked.rows) + 1);
  stacked.column = Array<std::int32_t>(memory, own_blocks + more.column.size());
  stacked.value = Array<double>(memory, own_entries + more.value.size());
  copy_array(*memory, own.start, own_rows, stacked.start, 0);
  copy_array(*memory, own.column, own_blocks, stacked.column, 0);
  copy_array(*memory, own.value, own_entries, stacked.value, 0);
  const LevelMatrix below = tail.upload(memory, stacked.columns);
  std::vector<std::int64_t> start = more.start;
  for (std::int64_t& s : start) s += own.blocks();
  const Array<std::int64_t> starts(memory, std::span<const std::int64_t>(start));
  copy_array(*memory, starts, starts.size(), stacked.start, own_rows);
  copy_array(*memory, below.column, below.column.size(), stacked.column, own_blocks);
  copy_array(*memory, below.value, below.value.size(), stacked.value, own_entries);
  return stacked;
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

LevelMatrix gather_rows(const std::shared_ptr<DeviceMemory>& memory, const DeviceMatrices& matrices,
                        const DividedNodes& nodes) {
  HostRows all;
  all.height = matrices.front().height;
  all.width = matrices.front().width;
  for (int d = 0; d < nodes.devices(); ++d) {
    const HostRows rows = rows_to_host(matrices[static_cast<std::size_t>(d)], nodes, d);
    const std::int64_t before = all.start.back();
    for (std::size_t i = 1; i < rows.start.size(); ++i) all.start.push_back(before + rows.start[i]);
    all.column.insert(all.column.end(), rows.column.begin(), rows.column.end());
    all.value.insert(all.value.end(), rows.value.begin(), rows.value.end());
  }
  return all.upload(memory, static_cast<std::int32_t>(nodes.count()));
}

}  // namespace voussoir::detail
