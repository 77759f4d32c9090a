#pragma once
#include <cstdint>
#include <span>

namespace voussoir::detail {

/// FNV-1a of 64 bits (Fowler, Noll and Vo) over some bytes, continued from `before`: notices damage, not malice.
inline std::uint64_t fnv_hash(std::span<const char> bytes, std::uint64_t before = 14695981039346656037ull) {
  for (const char byte : bytes) before = (before ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
  return before;
}

}  // namespace voussoir::detail
