#include <voussoir/framework/io/vtk/detail/huffman_code.hpp>

#include <algorithm>
#include <array>

namespace voussoir::detail {
namespace {

/// The length of each symbol's code in Huffman's tree; 0 where a count is 0. Ties go to the symbol of lower number.
std::vector<int> tree_depths(std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> symbols;
  for (std::uint32_t s = 0; s < counts.size(); ++s)
    if (counts[s] > 0) symbols.push_back(s);
  std::stable_sort(symbols.begin(), symbols.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] < counts[b]; });
  // Leaves in ascending order, then inner nodes, which arise in ascending order: two queues.
  const std::size_t leaves = symbols.size();
  std::vector<std::uint64_t> weight;
  for (const std::uint32_t s : symbols) weight.push_back(counts[s]);
  std::vector<std::size_t> parent(2 * leaves, 0);
  std::size_t leaf = 0, inner = leaves;
  const auto take = [&] {
    const bool of_leaves = leaf < leaves && (inner >= weight.size() || weight[leaf] <= weight[inner]);
    return of_leaves ? leaf++ : inner++;
  };
  while (weight.size() + 1 < 2 * leaves) {
    const std::size_t a = take(), b = take();
    parent[a] = parent[b] = weight.size();
    weight.push_back(weight[a] + weight[b]);
  }
  std::vector<int> depth(2 * leaves, 0), lengths(counts.size(), 0);
  for (std::size_t node = weight.size() - 1; node-- > 0;) depth[node] = depth[parent[node]] + 1;
  for (std::size_t i = 0; i < leaves; ++i) lengths[symbols[i]] = depth[i];
  return lengths;
}

std::uint16_t reversed(unsigned code, int length) {
  unsigned result = 0;
  for (int i = 0; i < length; ++i) result |= (code >> i & 1u) << (length - 1 - i);
  return static_cast<std::uint16_t>(result);
}

}  // namespace

std::vector<HuffmanBits> huffman_code(std::span<const std::uint32_t> given, int longest) {
  std::vector<std::uint32_t> counts(given.begin(), given.end());
  auto used = static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](auto c) { return c > 0; }));
  for (std::size_t s = 0; used < 2; ++s)
    if (counts[s] == 0) counts[s] = 1, ++used;
  std::vector<int> lengths = tree_depths(counts);
  while (*std::max_element(lengths.begin(), lengths.end()) > longest) {
    for (std::uint32_t& c : counts) c = (c + 1) / 2;  // flatter, until no code is too long
    lengths = tree_depths(counts);
  }
  std::array<unsigned, 17> count{}, first{};
  for (const int length : lengths) ++count[length];
  count[0] = 0;
  for (std::size_t l = 1; l < first.size(); ++l) first[l] = (first[l - 1] + count[l - 1]) << 1;
  std::vector<HuffmanBits> code(counts.size());
  for (std::size_t s = 0; s < code.size(); ++s)
    if (lengths[s] > 0) code[s] = {reversed(first[lengths[s]]++, lengths[s]), static_cast<std::uint8_t>(lengths[s])};
  return code;
}

std::vector<LengthSymbol> run_lengths(std::span<const std::uint8_t> lengths) {
  std::vector<LengthSymbol> text;
  for (std::size_t i = 0; i < lengths.size();) {
    const std::uint8_t length = lengths[i];
    std::size_t run = 1;
    while (i + run < lengths.size() && lengths[i + run] == length) ++run;
    i += run;
    if (length > 0) text.push_back({length, 0}), --run;
    while (run > 0) {
      const std::size_t shortest = length == 0 && run >= 11 ? 11 : 3;
      const std::size_t most = length > 0 ? 6 : shortest == 11 ? 138 : 10;
      if (run < shortest) {
        text.push_back({length, 0}), --run;
        continue;
      }
      const std::size_t taken = std::min(run, most);
      const int symbol = length > 0 ? 16 : shortest == 11 ? 18 : 17;
      text.push_back({static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(taken - shortest)});
      run -= taken;
    }
  }
  return text;
}

}  // namespace voussoir::detail
