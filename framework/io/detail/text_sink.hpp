#pragma once
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include <voussoir/framework/io/output_file.hpp>

namespace voussoir::detail {

/// Text and numbers on their way to a file, in large portions: numbers are formed in place, without a string for each.
class TextSink {
 public:
  explicit TextSink(OutputFile& file) : file_(file) { buffer_.reserve(portion + 4096); }

  TextSink& operator<<(std::string_view text) {
    buffer_ += text;
    return flush_if_full();
  }
  TextSink& operator<<(std::integral auto value) {
    char digits[24];
    buffer_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return flush_if_full();
  }
  /// The shortest text that reads back as the same number.
  TextSink& operator<<(double value) {
    char digits[32];
    buffer_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return flush_if_full();
  }
  TextSink& operator<<(char) = delete;  // would be written as a number

  /// Bytes as they are.
  void bytes(const void* data, std::size_t size) {
    buffer_.append(static_cast<const char*>(data), size);
    flush_if_full();
  }
  template <class T>
  void raw(T value) {
    bytes(&value, sizeof value);
  }
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t portion = std::size_t{1} << 20;
  TextSink& flush_if_full() {
    if (buffer_.size() >= portion) flush();
    return *this;
  }

  OutputFile& file_;
  std::string buffer_;
};

}  // namespace voussoir::detail
