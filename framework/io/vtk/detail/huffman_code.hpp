#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace voussoir::detail {

/// A symbol's bits, the first one lowest, as deflate writes them.
struct HuffmanBits {
  std::uint16_t bits = 0;
  std::uint8_t length = 0;  ///< 0: the symbol does not occur
};

/// A canonical prefix code (RFC 1951, 3.2.2) for symbols that occur so often, none longer than `longest` bits. At least
/// two symbols get a code, so that the code is complete.
std::vector<HuffmanBits> huffman_code(std::span<const std::uint32_t> counts, int longest);

/// A code as text of a dynamic block (RFC 1951, 3.2.7): the lengths of its codes, runs of equal ones shortened.
struct LengthSymbol {
  std::uint8_t symbol;  ///< 0 to 15: a length; 16, 17, 18: a run
  std::uint8_t extra;   ///< of a run: its length, less the shortest one
};
std::vector<LengthSymbol> run_lengths(std::span<const std::uint8_t> lengths);

/// Bits that follow the symbols of runs.
constexpr int extra_bits_of_run(std::uint8_t symbol) {
  return symbol == 16 ? 2 : symbol == 17 ? 3 : symbol == 18 ? 7 : 0;
}

}  // namespace voussoir::detail
