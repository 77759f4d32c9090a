#include <voussoir/backends/detail/dense_block_rows.hpp>

#include <algorithm>
#include <limits>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir::detail {
namespace {

void check_dense_blocks(const Layout& layout, std::span<const DenseBlock> blocks) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const DenseBlock& block = blocks[b];
    const auto fail = [&](const std::string& text) {
      throw Error(ErrorCode::misuse, "make_block_sum: block " + std::to_string(b) + " " + text);
    };
    if (block.values.size() != block.equations.size() * block.equations.size())
      fail("has " + std::to_string(block.values.size()) + " numbers for " + std::to_string(block.equations.size()) +
           " equations");
    std::vector<std::int32_t> sorted = block.equations;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) fail("has an equation twice");
    if (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= layout.size()))
      fail("has an equation that the layout does not have");
  }
}

}  // namespace

std::size_t DenseBlockRows::bytes() const {
  return row_start.bytes() + value_start.bytes() + column_start.bytes() + length.bytes() + column.bytes() +
         value.bytes();
}

std::vector<DenseBlockRows> dense_block_rows(const Layout& layout, std::span<const DenseBlock> blocks) {
  check_dense_blocks(layout, blocks);
  struct Place {
    std::size_t block, row;
  };
  std::vector<std::vector<Place>> places(static_cast<std::size_t>(layout.size()));  // of each equation
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::size_t r = 0; r < blocks[b].equations.size(); ++r)
      places[static_cast<std::size_t>(blocks[b].equations[r])].push_back({b, r});
  std::vector<DenseBlockRows> devices(static_cast<std::size_t>(layout.devices()));
  for (int d = 0; d < layout.devices(); ++d) {
    const std::int64_t first = layout.first(d);
    const std::int32_t owned = layout.owned(d);
    std::vector<std::int64_t> row_start{0}, value_start;
    std::vector<std::int32_t> column_start, length, column;
    std::vector<std::int64_t> start_of(blocks.size(), -1);
    std::vector<double> value;
    for (std::int32_t i = 0; i < owned; ++i) {
      for (const Place& place : places[static_cast<std::size_t>(first + i)]) {
        const DenseBlock& block = blocks[place.block];
        const std::size_t n = block.equations.size();
        if (start_of[place.block] < 0) {
          start_of[place.block] = static_cast<std::int64_t>(column.size());
          for (const std::int32_t e : block.equations) {
            const std::int32_t local = layout.local(d, e);
            if (local < 0)
              throw Error(ErrorCode::misuse, "make_block_sum: equation " + std::to_string(e) +
                                                 " is neither owned by device " + std::to_string(d) +
                                                 " nor a ghost there");
            column.push_back(local);
          }
          if (column.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw Error(ErrorCode::misuse, "make_block_sum: the blocks have too many equations for one device");
        }
        value_start.push_back(static_cast<std::int64_t>(value.size()));
        column_start.push_back(static_cast<std::int32_t>(start_of[place.block]));
        length.push_back(static_cast<std::int32_t>(n));
        const auto row = block.values.begin() + static_cast<std::ptrdiff_t>(place.row * n);
        value.insert(value.end(), row, row + static_cast<std::ptrdiff_t>(n));
      }
      row_start.push_back(static_cast<std::int64_t>(length.size()));
    }
    DenseBlockRows& rows = devices[static_cast<std::size_t>(d)];
    const auto& memory = layout.memory(d);
    rows.equations = owned;
    rows.row_start = Array<std::int64_t>(memory, std::span<const std::int64_t>(row_start));
    rows.value_start = Array<std::int64_t>(memory, std::span<const std::int64_t>(value_start));
    rows.column_start = Array<std::int32_t>(memory, std::span<const std::int32_t>(column_start));
    rows.length = Array<std::int32_t>(memory, std::span<const std::int32_t>(length));
    rows.column = Array<std::int32_t>(memory, std::span<const std::int32_t>(column));
    rows.value = Array<double>(memory, std::span<const double>(value));
  }
  return devices;
}

namespace {

/// "3 dense blocks of 27 to 81 equations, 0.1 MB"
std::string describe_dense_blocks(std::span<const DenseBlock> blocks, std::size_t bytes) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const DenseBlock& block : blocks) {
    least = std::min(least, block.equations.size());
    most = std::max(most, block.equations.size());
  }
  return std::to_string(blocks.size()) + " dense blocks of " + std::to_string(blocks.empty() ? 0 : least) + " to " +
         std::to_string(most) + " equations, " + short_number(1e-6 * static_cast<double>(bytes), 3) + " MB";
}

}  // namespace

DenseBlockSum::DenseBlockSum(Backend& backend, std::shared_ptr<const Layout> layout, std::span<const DenseBlock> blocks)
    : backend_(backend), layout_(std::move(layout)), rows_(dense_block_rows(*layout_, blocks)) {
  description_ = describe_dense_blocks(blocks, bytes());
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
