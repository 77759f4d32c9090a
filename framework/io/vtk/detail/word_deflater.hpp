#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace voussoir::detail {

/// Compresses floating-point numbers of eight bytes in zlib's format (RFC 1950 and 1951), several times faster than
/// zlib's fastest level. It looks for repetitions of whole words only and codes the other bytes with a Huffman code of
/// their own for each call: the trailing bytes of computed results repeat nothing, and searching them for short
/// matches is what zlib spends its time on. The output depends on the input only, and any inflater reads it.
class WordDeflater {
 public:
  /// At most 2^30 bytes; those behind the last whole word are taken as they are.
  void pack(const std::byte* in, std::size_t bytes, std::vector<unsigned char>& out);

 private:
  static constexpr std::size_t literals_and_lengths = 286, distances = 30;

  /// Words that repeat nothing, and behind them words that are those `distance` words before.
  struct Piece {
    std::uint32_t plain, repeated, distance;
  };

  void find_repetitions(const std::byte* in, std::size_t words);
  void count_symbols(const std::byte* in, std::size_t bytes);

  std::vector<Piece> pieces_;
  std::array<std::uint32_t, 8192> last_;  // where a word with this hash value was seen last, counted from 1
  std::array<std::uint32_t, literals_and_lengths> literal_count_;
  std::array<std::uint32_t, distances> distance_count_;
};

}  // namespace voussoir::detail
