#include <voussoir/backends/detail/dense_block_rows.hpp>

#include <algorithm>
#include <limits>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir::detail {
namespace {

using BlockEquations = std::span<const std::vector<std::int32_t>>;

[[noreturn]] void refuse_block(std::size_t block, const std::string& text) {
  throw Error(ErrorCode::misuse, "make_block_sum: block " + std::to_string(block) + " " + text);
}

void check_equations(const Layout& layout, BlockEquations blocks) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::vector<std::int32_t> sorted = blocks[b];
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) refuse_block(b, "has an equation twice");
    if (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= layout.size()))
      refuse_block(b, "has an equation that the layout does not have");
  }
}

/// The places of the rows of a device: equation by equation, and for one equation block by block.
std::vector<DenseBlockPlace> places_on(const Layout& layout, int device, BlockEquations blocks,
                                       std::vector<std::int64_t>& row_start) {
  const std::int64_t first = layout.first(device), end = first + layout.owned(device);
  std::vector<std::vector<DenseBlockPlace>> of_equation(static_cast<std::size_t>(layout.owned(device)));
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::size_t r = 0; r < blocks[b].size(); ++r)
      if (const std::int64_t e = blocks[b][r]; e >= first && e < end)
        of_equation[static_cast<std::size_t>(e - first)].push_back(
            {static_cast<std::int32_t>(b), static_cast<std::int32_t>(r)});
  std::vector<DenseBlockPlace> places;
  row_start.assign(1, 0);
  for (const auto& each : of_equation) {
    places.insert(places.end(), each.begin(), each.end());
    row_start.push_back(static_cast<std::int64_t>(places.size()));
  }
  return places;
}

std::vector<std::int32_t> local_equations(const Layout& layout, int device, const std::vector<std::int32_t>& block) {
  std::vector<std::int32_t> locals;
  for (const std::int32_t e : block) {
    locals.push_back(layout.local(device, e));
    if (locals.back() < 0)
      throw Error(ErrorCode::misuse, "make_block_sum: equation " + std::to_string(e) + " is neither owned by device " +
                                         std::to_string(device) + " nor a ghost there");
  }
  return locals;
}

}  // namespace

std::size_t DenseBlockRows::bytes() const {
  return row_start.bytes() + value_start.bytes() + column_start.bytes() + length.bytes() + column.bytes() +
         value.bytes();
}

std::vector<DenseBlockRows> dense_block_rows(const Layout& layout, BlockEquations equations,
                                             std::vector<std::vector<DenseBlockPlace>>& places) {
  check_equations(layout, equations);
  std::vector<DenseBlockRows> devices(static_cast<std::size_t>(layout.devices()));
  places.assign(devices.size(), {});
  for (int d = 0; d < layout.devices(); ++d) {
    std::vector<std::int64_t> row_start, value_start, start_of(equations.size(), -1);
    std::vector<std::int32_t> column_start, length, column;
    const auto& own = places[static_cast<std::size_t>(d)] = places_on(layout, d, equations, row_start);
    std::int64_t numbers = 0;
    for (const DenseBlockPlace& place : own) {
      const auto& block = equations[static_cast<std::size_t>(place.block)];
      std::int64_t& start = start_of[static_cast<std::size_t>(place.block)];
      if (start < 0) {
        start = static_cast<std::int64_t>(column.size());
        const auto locals = local_equations(layout, d, block);
        column.insert(column.end(), locals.begin(), locals.end());
        if (column.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
          throw Error(ErrorCode::misuse, "make_block_sum: the blocks have too many equations for one device");
      }
      value_start.push_back(numbers);
      column_start.push_back(static_cast<std::int32_t>(start));
      length.push_back(static_cast<std::int32_t>(block.size()));
      numbers += static_cast<std::int64_t>(block.size());
    }
    DenseBlockRows& rows = devices[static_cast<std::size_t>(d)];
    const auto& memory = layout.memory(d);
    rows.equations = layout.owned(d);
    rows.row_start = Array<std::int64_t>(memory, std::span<const std::int64_t>(row_start));
    rows.value_start = Array<std::int64_t>(memory, std::span<const std::int64_t>(value_start));
    rows.column_start = Array<std::int32_t>(memory, std::span<const std::int32_t>(column_start));
    rows.length = Array<std::int32_t>(memory, std::span<const std::int32_t>(length));
    rows.column = Array<std::int32_t>(memory, std::span<const std::int32_t>(column));
    rows.value = Array<double>(memory, static_cast<std::size_t>(numbers));
  }
  return devices;
}

std::vector<DenseBlockRows> dense_block_rows(const Layout& layout, std::span<const DenseBlock> blocks) {
  std::vector<std::vector<std::int32_t>> equations;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::size_t n = blocks[b].equations.size();
    if (blocks[b].values.size() != n * n)
      refuse_block(
          b, "has " + std::to_string(blocks[b].values.size()) + " numbers for " + std::to_string(n) + " equations");
    equations.push_back(blocks[b].equations);
  }
  std::vector<std::vector<DenseBlockPlace>> places;
  auto devices = dense_block_rows(layout, equations, places);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    auto to = devices[d].value.write_host().begin();
    for (const DenseBlockPlace& place : places[d]) {
      const DenseBlock& block = blocks[static_cast<std::size_t>(place.block)];
      const auto n = static_cast<std::ptrdiff_t>(block.equations.size());
      to = std::copy_n(block.values.begin() + place.row * n, n, to);
    }
  }
  return devices;
}

std::string describe_dense_blocks(BlockEquations equations, std::size_t bytes) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const auto& block : equations) {
    least = std::min(least, block.size());
    most = std::max(most, block.size());
  }
  return std::to_string(equations.size()) + " dense blocks of " + std::to_string(equations.empty() ? 0 : least) +
         " to " + std::to_string(most) + " equations, " + short_number(1e-6 * static_cast<double>(bytes), 3) + " MB";
}

DenseBlockSum::DenseBlockSum(Backend& backend, std::shared_ptr<const Layout> layout, std::span<const DenseBlock> blocks)
    : backend_(backend), layout_(std::move(layout)), rows_(dense_block_rows(*layout_, blocks)) {
  std::vector<std::vector<std::int32_t>> equations;
  for (const DenseBlock& block : blocks) equations.push_back(block.equations);
  description_ = describe_dense_blocks(equations, bytes());
}

std::size_t DenseBlockSum::bytes() const {
  std::size_t sum = 0;
  for (const DenseBlockRows& rows : rows_) sum += rows.bytes();
  return sum;
}

void DenseBlockSum::apply(const Vector& x, Vector& y) const {
  require_layout(*layout_, x, "block sum");
  require_alike(x, y, "block sum");
  backend_.exchange(x);
  for (int d = 0; d < layout_->devices(); ++d)
    if (const DenseBlockRows& rows = rows_[static_cast<std::size_t>(d)]; rows.equations > 0) multiply(d, rows, x, y);
}

double DenseBlockSum::apply_dot(const Vector& x, Vector& y) const {
  apply(x, y);
  return backend_.dot(x, y);
}

}  // namespace voussoir::detail
