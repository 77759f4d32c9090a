#pragma once
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace voussoir::testing {

/// A PNG file taken apart by the rules of its format (RFC 2083).
struct Decoded {
  std::uint32_t width = 0, height = 0;
  std::string palette;
  std::vector<unsigned char> index;
  std::array<int, 3> at(int x, int y) const {
    const std::size_t entry = 3 * std::size_t{index[static_cast<std::size_t>(y) * width + x]};
    return {static_cast<unsigned char>(palette[entry]), static_cast<unsigned char>(palette[entry + 1]),
            static_cast<unsigned char>(palette[entry + 2])};
  }
};

inline Decoded decode(const std::string& file) {
  Decoded result;
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto number = [&](std::size_t place) {
    std::uint32_t n = 0;
    for (int i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(file.at(place + i));
    return n;
  };
  std::string packed, last;
  for (std::size_t place = 8; place < file.size();) {
    const std::uint32_t size = number(place);
    last = file.substr(place + 4, 4);
    const auto* body = reinterpret_cast<const Bytef*>(file.data() + place + 4);
    EXPECT_EQ(number(place + 8 + size), crc32(0, body, size + 4)) << last;
    if (last == "IHDR") {
      result.width = number(place + 8);
      result.height = number(place + 12);
      EXPECT_EQ(file.substr(place + 16, 5), std::string("\x08\x03\x00\x00\x00", 5));
    }
    if (last == "PLTE") result.palette = file.substr(place + 8, size);
    if (last == "IDAT") packed += file.substr(place + 8, size);
    place += 12 + size;
  }
  EXPECT_EQ(last, "IEND");
  std::vector<unsigned char> rows((std::size_t{result.width} + 1) * result.height);
  uLongf size = rows.size();
  EXPECT_EQ(uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size()), Z_OK);
  EXPECT_EQ(size, rows.size());
  for (std::uint32_t y = 0; y < result.height; ++y) {
    EXPECT_EQ(rows[y * (result.width + 1)], 0) << "rows are stored as they are";
    for (std::uint32_t x = 0; x < result.width; ++x) result.index.push_back(rows[y * (result.width + 1) + 1 + x]);
  }
  for (const unsigned char i : result.index) EXPECT_LT(3u * i, result.palette.size());
  return result;
}

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace voussoir::testing
