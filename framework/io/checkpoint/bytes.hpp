#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <voussoir/backends/error.hpp>

namespace voussoir {

static_assert(std::endian::native == std::endian::little, "checkpoints are written as the machine keeps numbers");

/// Collects numbers, texts and lists as bytes, which ByteReader reads in the same order.
class ByteWriter {
 public:
  /// Appends a number as it is in memory.
  template <class T>
  requires std::is_arithmetic_v<T> ByteWriter& put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  /// Appends a text with its length.
  ByteWriter& put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  /// Appends a text with its length.
  ByteWriter& put(const std::string& text) { return put(std::string_view(text)); }
  /// Appends a text with its length.
  ByteWriter& put(const char* text) { return put(std::string_view(text)); }
  /// Appends a list of numbers with its length.
  template <class T>
  requires std::is_arithmetic_v<T> ByteWriter& put(const std::vector<T>& list) {
    put(static_cast<std::uint64_t>(list.size()));
    bytes_.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
    return *this;
  }
  /// Appends a list of texts with its length.
  ByteWriter& put(const std::vector<std::string>& list) {
    put(static_cast<std::uint64_t>(list.size()));
    for (const std::string& text : list) put(text);
    return *this;
  }
  /// Appends bytes without their length.
  void raw(std::string_view bytes) { bytes_.append(bytes); }

  const std::string& bytes() const { return bytes_; }  ///< everything appended so far
  std::string take() { return std::move(bytes_); }     ///< the same, moved out

 private:
  std::string bytes_;
};

/// Reads what a ByteWriter wrote. Reading beyond the end is an Error (bad_input) at `where`.
class ByteReader {
 public:
  /// The bytes must outlive the reader. `where` is what errors name, usually a path.
  ByteReader(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  /// The next number.
  template <class T>
  requires std::is_arithmetic_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// The next text.
  std::string text() { return std::string(take(count(1))); }
  /// The next list of numbers.
  template <class T>
  requires std::is_arithmetic_v<T> std::vector<T> list() {
    const std::size_t size = count(sizeof(T));
    std::vector<T> values(size);
    const std::string_view bytes = take(size * sizeof(T));
    if (size > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  /// The next list of texts.
  std::vector<std::string> texts() {
    std::vector<std::string> list(count(sizeof(std::uint64_t)));
    for (std::string& entry : list) entry = text();
    return list;
  }
  bool at_end() const { return at_ == bytes_.size(); }  ///< whether everything was read
  /// Throws Error (bad_input) unless everything was read.
  void expect_end() const {
    if (!at_end()) fail("there is more in it than was written");
  }
  /// Throws Error (bad_input): the bytes are damaged, because of `why`.
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::bad_input, "the checkpoint is damaged: " + why, where_);
  }

 private:
  /// A length, of entries that have at least `each` bytes.
  std::size_t count(std::size_t each) {
    const auto size = get<std::uint64_t>();
    if (size > (bytes_.size() - at_) / each) fail("it ends too early");
    return static_cast<std::size_t>(size);
  }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size() - at_) fail("it ends too early");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  std::string_view bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

/// FNV-1a of 64 bits over some bytes: detects damage, not malice.
std::uint64_t checksum(std::string_view bytes);
/// The same, continued from the checksum of the bytes before.
std::uint64_t checksum(std::string_view bytes, std::uint64_t before);

}  // namespace voussoir
