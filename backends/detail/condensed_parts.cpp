#include <voussoir/backends/detail/condensed_parts.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/backends/dense_block_services.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/threads.hpp>

namespace voussoir::detail {
namespace {

// The free motions of an interior show in pivots that are rounding errors of the diagonal. Factorization, which looks
// closely at all pivots below 1e-6 of an equilibrated matrix, takes those for suspicious; the factor of four is that to
// which it equilibrates.
constexpr double doubtful_pivot = 4e-6;

std::int32_t padded(std::int32_t n) { return (n + PartGroup::block - 1) / PartGroup::block * PartGroup::block; }

void check_system(const PartSystem& system, std::size_t part) {
  const auto fail = [&](const std::string& text) {
    throw Error(ErrorCode::misuse, "condense: part " + std::to_string(part) + " " + text);
  };
  if (system.interior < 0 || system.boundary < 0) fail("has a negative number of unknowns");
  const auto rows = static_cast<std::size_t>(system.interior) + static_cast<std::size_t>(system.boundary);
  if (system.row_start.size() != rows + 1 || system.row_start.front() != 0 ||
      system.row_start.back() != static_cast<std::int64_t>(system.column.size()) ||
      system.column.size() != system.value.size() || !std::is_sorted(system.row_start.begin(), system.row_start.end()))
    fail("has rows that do not fit its " + std::to_string(rows) + " unknowns");
  if (!system.sizes.empty() && system.sizes.size() != static_cast<std::size_t>(system.interior))
    fail("has " + std::to_string(system.sizes.size()) + " sizes for " + std::to_string(system.interior) + " unknowns");
  for (const std::int32_t c : system.column)
    if (c < 0 || static_cast<std::size_t>(c) >= rows) fail("has an entry for an unknown that it does not have");
}

/// Work and memory of a front as it is eliminated.
struct FrontCost {
  double flops = 0, numbers = 0;
};
FrontCost padded_cost(std::int32_t interior, std::int32_t boundary) {
  const double n = static_cast<double>(interior) + boundary;
  return {condensation_flops(interior, boundary), n * n};
}

}  // namespace

double condensation_flops(double interior, double boundary) {
  return interior * (interior * interior / 3 + interior * boundary + boundary * boundary);
}

std::vector<PartGroup> group_parts(int devices, std::span<const std::int32_t> interior,
                                   std::span<const std::int32_t> boundary) {
  std::vector<int> order(interior.size());
  std::iota(order.begin(), order.end(), 0);
  const auto cost = [&](int p) {
    return padded_cost(padded(interior[static_cast<std::size_t>(p)]), padded(boundary[static_cast<std::size_t>(p)]));
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return cost(a).flops > cost(b).flops; });
  std::vector<double> load(static_cast<std::size_t>(devices), 0.0);
  std::vector<PartGroup> groups;
  std::vector<FrontCost> sums;  // of the members of each group, padded to blocks alone
  for (const int p : order) {
    const FrontCost own = cost(p);
    const auto device = static_cast<int>(std::min_element(load.begin(), load.end()) - load.begin());
    load[static_cast<std::size_t>(device)] += own.flops + own.numbers;
    const std::int32_t i = padded(interior[static_cast<std::size_t>(p)]),
                       b = padded(boundary[static_cast<std::size_t>(p)]);
    std::size_t g = groups.size();
    while (g > 0 && groups[g - 1].device != device) --g;  // the last group of the device
    if (g > 0) {
      PartGroup& group = groups[g - 1];
      FrontCost& sum = sums[g - 1];
      const FrontCost each = padded_cost(std::max(i, group.interior), std::max(b, group.boundary));
      const double count = static_cast<double>(group.count() + 1);
      if (each.flops * count <= 1.3 * (sum.flops + own.flops) &&
          each.numbers * count <= 1.5 * (sum.numbers + own.numbers)) {
        group.interior = std::max(i, group.interior);
        group.boundary = std::max(b, group.boundary);
        group.members.push_back(p);
        sum.flops += own.flops;
        sum.numbers += own.numbers;
        continue;
      }
    }
    PartGroup& group = groups.emplace_back();
    group.device = device;
    group.interior = i;
    group.boundary = b;
    group.members.push_back(p);
    sums.push_back(own);
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(devices), 0);
  for (PartGroup& group : groups) {
    std::sort(group.members.begin(), group.members.end());
    std::int64_t& before = rows[static_cast<std::size_t>(group.device)];
    group.first_row = before;
    before += group.count() * group.height();
  }
  return groups;
}

std::size_t group_bytes(std::span<const PartGroup> groups, int devices, std::int32_t work_columns) {
  std::vector<std::size_t> kept(static_cast<std::size_t>(devices), 0), work(kept);
  for (const PartGroup& group : groups) {
    const auto d = static_cast<std::size_t>(group.device);
    const auto numbers =
        group.front_numbers() + group.inverse_numbers() + static_cast<std::size_t>(group.count() * group.interior);
    kept[d] += sizeof(double) * numbers;
    work[d] = std::max(work[d], sizeof(double) * static_cast<std::size_t>(group.count() * group.height()) *
                                    static_cast<std::size_t>(work_columns));
  }
  std::size_t most = 0;
  for (std::size_t d = 0; d < kept.size(); ++d) most = std::max(most, kept[d] + work[d]);
  return most;
}

void GroupEntries::upload() const {
  (void)interior.read_device();
  (void)first_row.read_device();
  (void)row_start.read_device();
  (void)column.read_device();
  (void)value.read_device();
}

CondensedGroups::CondensedGroups(Backend& backend, std::span<const PartSystem> systems) : backend_(backend) {
  std::vector<std::int32_t> interior, boundary;
  for (std::size_t p = 0; p < systems.size(); ++p) {
    check_system(systems[p], p);
    interior.push_back(systems[p].interior);
    boundary.push_back(systems[p].boundary);
    flops_ += condensation_flops(systems[p].interior, systems[p].boundary);
  }
  groups_ = group_parts(backend.devices(), interior, boundary);
  places_.resize(systems.size());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (std::size_t m = 0; m < groups_[g].members.size(); ++m) {
      Place& place = places_[static_cast<std::size_t>(groups_[g].members[m])];
      place.group = g;
      place.member = m;
    }
  for (std::size_t p = 0; p < systems.size(); ++p) {
    Place& place = places_[p];
    place.interior = systems[p].interior;
    place.boundary = systems[p].boundary;
    place.first_interior = interior_size_;
    place.first_boundary = boundary_size_;
    interior_size_ += static_cast<std::size_t>(place.interior);
    boundary_size_ += static_cast<std::size_t>(place.boundary);
  }
}

GroupEntries CondensedGroups::entries_of(const PartGroup& group, std::span<const PartSystem> systems) const {
  const auto& memory = backend_.memory(group.device);
  std::vector<std::int64_t> first_row{0}, first_entry{0};
  std::vector<std::int32_t> interior;
  GroupEntries entries;
  for (const int p : group.members) {
    const PartSystem& system = systems[static_cast<std::size_t>(p)];
    const std::int32_t rows = system.interior + system.boundary;
    interior.push_back(system.interior);
    entries.most_rows = std::max(entries.most_rows, rows);
    first_row.push_back(first_row.back() + rows);
    first_entry.push_back(first_entry.back() + static_cast<std::int64_t>(system.column.size()));
  }
  entries.interior = Array<std::int32_t>(memory, std::span<const std::int32_t>(interior));
  entries.first_row = Array<std::int64_t>(memory, std::span<const std::int64_t>(first_row));
  entries.row_start = Array<std::int64_t>(memory, static_cast<std::size_t>(first_row.back()) + 1);
  entries.column = Array<std::int32_t>(memory, static_cast<std::size_t>(first_entry.back()));
  entries.value = Array<double>(memory, static_cast<std::size_t>(first_entry.back()));
  const auto row_start = entries.row_start.write_host();
  const auto column = entries.column.write_host();
  const auto value = entries.value.write_host();
  row_start.back() = first_entry.back();
  const auto count = static_cast<std::int64_t>(group.members.size());
#pragma omp parallel for num_threads(default_threads()) schedule(static)
  for (std::int64_t m = 0; m < count; ++m) {
    const PartSystem& system = systems[static_cast<std::size_t>(group.members[static_cast<std::size_t>(m)])];
    const auto row = static_cast<std::size_t>(first_row[static_cast<std::size_t>(m)]);
    const auto entry = first_entry[static_cast<std::size_t>(m)];
    for (std::size_t r = 0; r + 1 < system.row_start.size(); ++r) row_start[row + r] = entry + system.row_start[r];
    std::copy(system.column.begin(), system.column.end(), column.begin() + entry);
    std::copy(system.value.begin(), system.value.end(), value.begin() + entry);
  }
  return entries;
}

void CondensedGroups::eliminate_all(std::span<const PartSystem> systems) {
  for (PartGroup& group : groups_) {
    const auto& memory = backend_.memory(group.device);
    group.front = Array<double>(memory, group.front_numbers());
    group.inverse = Array<double>(memory, group.inverse_numbers());
    group.pivot = Array<double>(memory, static_cast<std::size_t>(group.count() * group.interior));
  }
  std::vector<GroupEntries> entries;
  for (const PartGroup& group : groups_) {
    entries.push_back(entries_of(group, systems));
    const DeviceSection section(*backend_.memory(group.device));
    entries.back().upload();
  }
  seconds_ = backend_.time([&] {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].front_numbers() > 0) eliminate(groups_[g], entries[g]);
  });
  find_doubtful(systems);
}

void CondensedGroups::find_doubtful(std::span<const PartSystem> systems) {
  for (int p = 0; p < parts(); ++p) {
    const Place& at = place(p);
    if (at.interior == 0) continue;
    const PartGroup& group = groups_[at.group];
    const PartSystem& system = systems[static_cast<std::size_t>(p)];
    const auto pivot = group.pivot.read_host().subspan(at.member * static_cast<std::size_t>(group.interior));
    bool fine = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(at.interior) && fine; ++i) {
      double diagonal = 0;
      for (auto k = system.row_start[i]; k < system.row_start[i + 1]; ++k)
        if (static_cast<std::size_t>(system.column[static_cast<std::size_t>(k)]) == i)
          diagonal = std::abs(system.value[static_cast<std::size_t>(k)]);
      const double least = doubtful_pivot * (system.sizes.empty() ? diagonal : std::max(diagonal, system.sizes[i]));
      fine = diagonal > 0 && std::isfinite(pivot[i]) && std::abs(pivot[i]) > least;
    }
    if (!fine) doubtful_.push_back(p);
  }
}

std::vector<double> CondensedGroups::schur_complement(int part) const {
  const Place& at = place(part);
  if (at.boundary == 0) return {};
  return copy_complement(groups_[at.group], at.member, at.boundary);
}

void CondensedGroups::require_blocks(std::span<const std::vector<std::int32_t>> equations) const {
  if (!doubtful_.empty())
    throw Error(ErrorCode::misuse, "make_block_sum: the complement of part " + std::to_string(doubtful_.front()) +
                                       " is not known, since its interior may be singular");
  bool fits = equations.size() == places_.size();
  for (std::size_t p = 0; p < equations.size() && fits; ++p)
    fits = equations[p].size() == static_cast<std::size_t>(places_[p].boundary);
  if (!fits) throw Error(ErrorCode::misuse, "make_block_sum: the equations are not those of the boundaries");
}

std::unique_ptr<Operator> CondensedGroups::make_block_sum(std::shared_ptr<const Layout> layout,
                                                          std::span<const std::vector<std::int32_t>> equations) const {
  require_blocks(equations);
  std::vector<DenseBlock> blocks;
  for (int p = 0; p < parts(); ++p) blocks.push_back({equations[static_cast<std::size_t>(p)], schur_complement(p)});
  return backend_.service<DenseBlockServices>().make_block_sum(backend_, std::move(layout), blocks);
}

void CondensedGroups::check_vectors(std::size_t interior, std::size_t boundary, int columns, const char* what) const {
  const auto count = static_cast<std::size_t>(std::max(columns, 0));
  if (columns < 1 || interior != interior_size_ * count || boundary != boundary_size_ * count)
    throw Error(ErrorCode::misuse, std::string(what) + ": expected " + std::to_string(columns) + " vectors of " +
                                       std::to_string(interior_size_) + " and " + std::to_string(boundary_size_) +
                                       " numbers, but got " + std::to_string(interior) + " and " +
                                       std::to_string(boundary) + " numbers");
}

std::size_t CondensedGroups::first_number(const Place& at, std::size_t column, int columns) const {
  const PartGroup& group = groups_[at.group];
  const auto height = static_cast<std::size_t>(group.height()), first = static_cast<std::size_t>(group.first_row);
  return (first + at.member * height) * static_cast<std::size_t>(columns) + column * height;
}

std::vector<Array<double>> CondensedGroups::gathered(std::span<const double> interior, std::span<const double> boundary,
                                                     int columns) const {
  const auto count = static_cast<std::size_t>(columns);
  std::vector<std::size_t> rows(static_cast<std::size_t>(backend_.devices()), 0);
  for (const PartGroup& group : groups_)
    rows[static_cast<std::size_t>(group.device)] += static_cast<std::size_t>(group.count() * group.height());
  std::vector<Array<double>> vectors;
  std::vector<std::span<double>> of_device;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    vectors.emplace_back(backend_.memory(static_cast<int>(d)), rows[d] * count);
    of_device.push_back(vectors.back().write_host());
    std::fill(of_device.back().begin(), of_device.back().end(), 0.0);
  }
  for (const Place& at : places_) {
    const PartGroup& group = groups_[at.group];
    for (std::size_t c = 0; c < count; ++c) {
      const auto to = of_device[static_cast<std::size_t>(group.device)].subspan(first_number(at, c, columns));
      const auto inner =
          interior.subspan(c * interior_size_ + at.first_interior, static_cast<std::size_t>(at.interior));
      std::copy(inner.begin(), inner.end(), to.begin());
      if (boundary.empty()) continue;
      const auto outer =
          boundary.subspan(c * boundary_size_ + at.first_boundary, static_cast<std::size_t>(at.boundary));
      std::copy(outer.begin(), outer.end(), to.begin() + group.interior);
    }
  }
  return vectors;
}

void CondensedGroups::condense(std::span<const double> interior, std::span<double> boundary, int columns) const {
  check_vectors(interior.size(), boundary.size(), columns, "condense");
  std::vector<Array<double>> vectors = gathered(interior, boundary, columns);
  for (std::size_t d = 0; d < vectors.size(); ++d)
    if (!vectors[d].empty()) forwards(static_cast<int>(d), vectors[d], columns, false);
  for (const Place& at : places_) {
    if (at.boundary == 0) continue;
    const PartGroup& group = groups_[at.group];
    const auto all = vectors[static_cast<std::size_t>(group.device)].read_host();
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first_number(at, c, columns)) + group.interior, at.boundary,
                  boundary.begin() + static_cast<std::ptrdiff_t>(c * boundary_size_ + at.first_boundary));
  }
}

void CondensedGroups::recover(std::span<double> interior, std::span<const double> boundary, int columns) const {
  check_vectors(interior.size(), boundary.size(), columns, "recover");
  std::vector<Array<double>> vectors = gathered(interior, boundary, columns);
  for (std::size_t d = 0; d < vectors.size(); ++d) {
    if (vectors[d].empty()) continue;
    forwards(static_cast<int>(d), vectors[d], columns, true);
    backwards(static_cast<int>(d), vectors[d], columns);
  }
  for (const Place& at : places_) {
    if (at.interior == 0) continue;
    const auto all = vectors[static_cast<std::size_t>(groups_[at.group].device)].read_host();
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first_number(at, c, columns)), at.interior,
                  interior.begin() + static_cast<std::ptrdiff_t>(c * interior_size_ + at.first_interior));
  }
}

std::size_t CondensedGroups::bytes() const {
  std::size_t sum = 0;
  for (const PartGroup& group : groups_) sum += group.bytes();
  return sum;
}

std::string CondensedGroups::describe() const {
  std::int32_t inner = 0, outer = 0;
  for (const Place& at : places_) {
    inner = std::max(inner, at.interior);
    outer = std::max(outer, at.boundary);
  }
  return std::to_string(parts()) + " parts with dense interiors of up to " + std::to_string(inner) +
         " unknowns and up to " + std::to_string(outer) + " on the boundary, in " + std::to_string(groups_.size()) +
         (groups_.size() == 1 ? " group, " : " groups, ") + short_number(1e-6 * static_cast<double>(bytes()), 3) +
         " MB";
}

}  // namespace voussoir::detail
