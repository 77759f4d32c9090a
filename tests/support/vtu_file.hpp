#pragma once
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace voussoir {

/// A second reading of the format, from the description on vtk.org: header, blocks, zlib. Understands what it needs.
class VtuFile {
 public:
  explicit VtuFile(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    text_ = all.str();
    const std::string marker = "<AppendedData encoding=\"raw\">";
    const std::size_t at = text_.find(marker);
    head_ = text_.substr(0, at);
    start_ = text_.find('_', at) + 1;
    compressed_ = head_.find("vtkZLibDataCompressor") != std::string::npos;
    EXPECT_NE(head_.find("header_type=\"UInt64\""), std::string::npos);
    EXPECT_TRUE(text_.ends_with("</VTKFile>\n")) << path;
  }
  const std::string& head() const { return head_; }
  std::string attribute(const std::string& array, const std::string& name) const {
    std::size_t at = head_.find("Name=\"" + array + "\"");
    if (at == std::string::npos) return "";
    const std::size_t begin = head_.rfind('<', at), end = head_.find("/>", at);
    const std::string element = head_.substr(begin, end - begin);
    const std::size_t value = element.find(" " + name + "=\"");
    if (value == std::string::npos) return "";
    const std::size_t first = value + name.size() + 3;
    return element.substr(first, element.find('"', first) - first);
  }
  template <class T>
  std::vector<T> array(const std::string& name) const {
    const char* type = std::is_same_v<T, double>         ? "Float64"
                       : std::is_same_v<T, std::int32_t> ? "Int32"
                       : std::is_same_v<T, std::int64_t> ? "Int64"
                                                         : "UInt8";
    EXPECT_EQ(attribute(name, "type"), type) << name;
    const char* data = text_.data() + start_ + std::stoull(attribute(name, "offset"));
    const auto number = [&](int i) {
      std::uint64_t value;
      std::memcpy(&value, data + 8 * i, 8);
      return value;
    };
    std::string bytes;
    if (!compressed_)
      bytes.assign(data + 8, number(0));
    else {
      const std::uint64_t blocks = number(0), full = number(1), partial = number(2);
      const char* source = data + 8 * (3 + blocks);
      for (std::uint64_t b = 0; b < blocks; ++b) {
        uLongf size = b + 1 == blocks && partial ? partial : full;
        std::string block(size, '\0');
        EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(block.data()), &size, reinterpret_cast<const Bytef*>(source),
                             number(3 + static_cast<int>(b))),
                  Z_OK);
        EXPECT_EQ(size, block.size());
        bytes += block;
        source += number(3 + static_cast<int>(b));
      }
    }
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  std::string text_, head_;
  std::size_t start_ = 0;
  bool compressed_ = false;
};

}  // namespace voussoir
