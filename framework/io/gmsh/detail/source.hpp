#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <voussoir/backends/error.hpp>

// Where the numbers of a mesh file come from: text or bytes. Both answer the same questions, so that each section of
// the format is written once.

namespace voussoir::gmsh {

/// The bytes of a file and how far they were read.
class Cursor {
 public:
  Cursor(std::string_view bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  std::string_view bytes() const { return bytes_; }
  std::size_t position() const { return position_; }
  void move_to(std::size_t position) { position_ = position; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return position_ >= bytes_.size(); }
  char look() const { return at_end() ? '\0' : bytes_[position_]; }
  const std::string& file() const { return file_; }

  void skip_white() {
    while (!at_end() && is_white(bytes_[position_])) ++position_;
  }
  /// The characters up to the next white one.
  std::string_view word() {
    const std::size_t start = position_;
    while (!at_end() && !is_white(bytes_[position_])) ++position_;
    return bytes_.substr(start, position_ - start);
  }
  /// The rest of the line, without its end; stands at the next line afterwards.
  std::string_view line() {
    const std::size_t end = std::min(bytes_.find('\n', position_), bytes_.size());
    std::string_view text = bytes_.substr(position_, end - position_);
    position_ = std::min(end + 1, bytes_.size());
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }

  /// "mesh.msh:12". Lines are counted when something is wrong, and not before.
  std::string line_at(std::size_t position) const {
    position = std::min(position, bytes_.size());
    return file_ + ":" + std::to_string(1 + std::count(bytes_.begin(), bytes_.begin() + position, '\n'));
  }
  std::string byte_at(std::size_t position) const { return file_ + ", byte " + std::to_string(position); }

  static bool is_white(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

 private:
  std::string_view bytes_;
  std::string file_;
  std::size_t position_ = 0;
};

/// A word of a file for a message: short, and printable whatever the bytes were.
inline std::string printable(std::string_view word) {
  std::string text;
  for (char c : word.substr(0, 40)) text += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return text + (word.size() > 40 ? "…" : "");
}

/// Numbers written as text. A record stands on a line of its own: its numbers are read by integer() and real(), which
/// do not look beyond the end of the line, so that a line with a number too few is noticed there and not pages later.
class TextSource {
 public:
  static constexpr std::int64_t integer_bytes = 2, size_bytes = 2, real_bytes = 2;  // the least that one takes

  explicit TextSource(Cursor& cursor) : cursor_(cursor) {}

  void begin_record() { cursor_.skip_white(); }
  void end_record() {
    skip_blanks();
    if (!cursor_.at_end() && cursor_.look() != '\n')
      fail("the line continues with '" + printable(cursor_.word()) + "' where it should end", cursor_.position());
  }
  /// The next integer, be it on this line or on one of the next.
  std::int64_t free_integer() {
    cursor_.skip_white();
    return integer();
  }
  double free_real() {
    cursor_.skip_white();
    return real();
  }
  std::int64_t free_size() { return free_integer(); }
  std::int64_t size() { return integer(); }

  std::int64_t integer() {
    skip_blanks();
    const char* p = here();
    const char* const end = stop();
    const bool negative = p < end && *p == '-';
    const char* digits = p + (negative || (p < end && *p == '+'));
    std::int64_t value = 0;
    const char* q = digits;
    // 18 digits always fit.
    while (q < end && static_cast<unsigned char>(*q - '0') < 10 && q - digits < 18) value = 10 * value + (*q++ - '0');
    if (q == digits || (q < end && !Cursor::is_white(*q))) fail_word("an integer");
    advance(q);
    return negative ? -value : value;
  }
  double real() {
    skip_blanks();
    const char* p = here();
    const char* const end = stop();
    if (p < end && *p == '+') ++p;
    double value = 0;
    const auto [rest, error] = std::from_chars(p, end, value);
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(p, rest).c_str(), nullptr);
    if (rest == p || error == std::errc::invalid_argument || !std::isfinite(value) ||
        (rest < end && !Cursor::is_white(*rest)))
      fail_word("a finite number");
    advance(rest);
    return value;
  }
  /// Whether a text in quotes comes next on this line.
  bool at_quote() {
    skip_blanks();
    return cursor_.look() == '"';
  }
  /// Passes over `count` numbers.
  void skip_reals(int count) {
    for (int i = 0; i < count; ++i) real();
  }

  /// The text from here on.
  std::string_view ahead() const { return cursor_.bytes().substr(cursor_.position()); }
  void skip_bytes(std::size_t count) { cursor_.move_to(cursor_.position() + count); }

  std::size_t position() const { return cursor_.position(); }
  std::string where() const { return cursor_.line_at(cursor_.position()); }
  std::int64_t remaining() const { return static_cast<std::int64_t>(cursor_.remaining()); }
  [[noreturn]] void fail(const std::string& text, std::size_t position) const {
    throw Error(ErrorCode::bad_input, text, cursor_.line_at(position));
  }

 private:
  const char* here() const { return cursor_.bytes().data() + cursor_.position(); }
  const char* stop() const { return cursor_.bytes().data() + cursor_.bytes().size(); }
  void advance(const char* to) { cursor_.move_to(static_cast<std::size_t>(to - cursor_.bytes().data())); }
  void skip_blanks() {
    while (cursor_.look() == ' ' || cursor_.look() == '\t' || cursor_.look() == '\r')
      cursor_.move_to(cursor_.position() + 1);
  }
  [[noreturn]] void fail_word(const char* wanted) {
    const std::size_t position = cursor_.position();
    if (cursor_.at_end())
      fail("the file ends where " + std::string(wanted) + " is expected; it is truncated: save it again", position);
    if (cursor_.look() == '\n') fail("the line ends where " + std::string(wanted) + " is expected", position);
    fail("'" + printable(cursor_.word()) + "' is found where " + wanted + " is expected", position);
  }

  Cursor& cursor_;
};

/// Numbers written as they lie in memory, on a machine of this byte order or of the other.
class BinarySource {
 public:
  static constexpr std::int64_t integer_bytes = 4, size_bytes = 8, real_bytes = 8;

  BinarySource(Cursor& cursor, bool swapped) : cursor_(cursor), swapped_(swapped) {}

  void begin_record() {}
  void end_record() {}
  std::int64_t free_integer() { return integer(); }
  double free_real() { return real(); }
  std::int64_t free_size() { return size(); }

  std::int64_t integer() { return take<std::int32_t>(); }
  std::int64_t size() {
    const auto value = take<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail("a number is too large to be a tag or a count; the file is corrupt: save it again",
           cursor_.position() - sizeof(value));
    return static_cast<std::int64_t>(value);
  }
  double real() {
    const double value = take<double>();
    if (!std::isfinite(value))
      fail("a coordinate is not a finite number; the mesh is corrupt: generate it again",
           cursor_.position() - sizeof(value));
    return value;
  }
  void skip_reals(int count) { need(8 * static_cast<std::size_t>(count)); }

  std::size_t position() const { return cursor_.position(); }
  std::string where() const { return cursor_.byte_at(cursor_.position()); }
  std::int64_t remaining() const { return static_cast<std::int64_t>(cursor_.remaining()); }
  [[noreturn]] void fail(const std::string& text, std::size_t position) const {
    throw Error(ErrorCode::bad_input, text, cursor_.byte_at(position));
  }

 private:
  /// Moves on by so many bytes and returns where they start.
  const char* need(std::size_t bytes) {
    if (cursor_.remaining() < bytes)
      fail("the file ends in the middle of its numbers; it is truncated: save it again", cursor_.position());
    const char* start = cursor_.bytes().data() + cursor_.position();
    cursor_.move_to(cursor_.position() + bytes);
    return start;
  }
  template <class T>
  T take() {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Bits bits;
    std::memcpy(&bits, need(sizeof(T)), sizeof(T));
    if (swapped_) {
      if constexpr (sizeof(T) == 4)
        bits = __builtin_bswap32(bits);
      else
        bits = __builtin_bswap64(bits);
    }
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }

  Cursor& cursor_;
  bool swapped_;
};

}  // namespace voussoir::gmsh
