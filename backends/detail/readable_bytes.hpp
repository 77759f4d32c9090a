#pragma once
#include <cstddef>
#include <cstdio>
#include <string>

namespace voussoir::detail {

/// "690 MB", for people.
inline std::string readable_bytes(std::size_t bytes) {
  char text[32];
  if (bytes >= 10'000'000'000u)
    std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) / 1e9);
  else if (bytes >= 1'000'000)
    std::snprintf(text, sizeof text, "%.0f MB", static_cast<double>(bytes) / 1e6);
  else
    std::snprintf(text, sizeof text, "%.1f kB", static_cast<double>(bytes) / 1e3);
  return text;
}

}  // namespace voussoir::detail
