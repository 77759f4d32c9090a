#include <voussoir/backends/cuda/elements/element_curve.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace voussoir::cuda {

namespace {

/// Bits of v with two places between each and the next.
std::uint64_t spread_bits(std::uint64_t v) {
  v &= 0x1fffff;
  v = (v | v << 32) & 0x1f00000000ffff;
  v = (v | v << 16) & 0x1f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  return (v | v << 2) & 0x1249249249249249;
}

struct Box {
  std::array<double, 3> low, high, extent{};
  Box() {
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
  }
};

}  // namespace

std::vector<std::int32_t> curve_order(const std::vector<double>& coordinates, const std::vector<std::int32_t>& nodes,
                                      std::size_t width) {
  constexpr std::size_t grain = 16384;
  const std::size_t count = nodes.size() / width, corners = std::min<std::size_t>(width, 8);
  std::vector<std::array<double, 3>> centre(count);
  std::vector<Box> boxes((count + grain - 1) / grain);
  in_pieces(count, grain, [&](std::size_t begin, std::size_t end) {
    Box box;
    for (std::size_t e = begin; e < end; ++e)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto at = [&](std::size_t a) {
          return coordinates[3 * static_cast<std::size_t>(nodes[e * width + a]) + k];
        };
        double middle = 0, distance = 0;
        for (std::size_t a = 0; a < corners; ++a) middle += at(a) / static_cast<double>(corners);
        for (std::size_t a = 0; a < corners; ++a) distance += std::abs(at(a) - middle);
        centre[e][k] = middle;
        box.extent[k] += 2 * distance / static_cast<double>(corners * count);
        for (std::size_t a = 0; a < width; ++a) {
          box.low[k] = std::min(box.low[k], at(a));
          box.high[k] = std::max(box.high[k], at(a));
        }
      }
    boxes[begin / grain] = box;
  });
  Box whole;
  std::array<double, 3> scale{};
  for (std::size_t k = 0; k < 3; ++k) {
    for (const Box& box : boxes) {
      whole.low[k] = std::min(whole.low[k], box.low[k]);
      whole.high[k] = std::max(whole.high[k], box.high[k]);
      whole.extent[k] += box.extent[k];
    }
    const double span = whole.high[k] - whole.low[k];
    if (!(span > 0) || !std::isfinite(span)) continue;
    constexpr double most_cells = 1 << 20;
    const double elements = whole.extent[k] > 0 ? std::round(span / whole.extent[k]) : most_cells;
    scale[k] = std::min(2 * std::max(elements, 1.0), most_cells) / span;
  }
  std::vector<std::pair<std::uint64_t, std::int32_t>> items(count), other(count);
  in_pieces(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      std::uint64_t key = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double at = (centre[e][k] - whole.low[k]) * scale[k];
        if (at > 0) key |= spread_bits(static_cast<std::uint64_t>(std::min(at, 2097151.0))) << k;
      }
      items[e] = {key, static_cast<std::int32_t>(e)};
    }
  });
  std::uint64_t used = 0;
  for (const auto& item : items) used |= item.first;
  // By digits, the lowest first: equal keys stay in the order of the elements.
  constexpr int digit = 12;
  std::vector<std::size_t> start(std::size_t{1} << digit);
  for (int shift = 0; shift < static_cast<int>(std::bit_width(used)); shift += digit) {
    const auto digit_of = [=](std::uint64_t key) {
      return static_cast<std::size_t>(key >> shift & ((1u << digit) - 1));
    };
    std::fill(start.begin(), start.end(), 0);
    for (const auto& item : items) ++start[digit_of(item.first)];
    std::size_t before = 0;
    for (std::size_t& s : start) before += std::exchange(s, before);
    for (const auto& item : items) other[start[digit_of(item.first)]++] = item;
    items.swap(other);
  }
  std::vector<std::int32_t> order(count);
  for (std::size_t e = 0; e < count; ++e) order[e] = items[e].second;
  return order;
}

}  // namespace voussoir::cuda
