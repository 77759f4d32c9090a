#pragma once
#include <cstdint>

namespace voussoir {

/// The increment of SplitMix64: the golden ratio as a fraction of 2⁶⁴.
inline constexpr std::uint64_t splitmix_increment = 0x9e3779b97f4a7c15u;

/// The output function of SplitMix64 (Steele, Lea and Flood 2014): scatters the bits of a number. Unlike the
/// distributions of the standard library, it is the same everywhere.
inline std::uint64_t splitmix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A number in [−1, 1) from the 53 highest bits.
inline double symmetric_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-52 - 1; }

}  // namespace voussoir
