#include <voussoir/framework/io/safe_text.hpp>

#include <cstdint>
#include <cstdio>

#include <voussoir/framework/io/detail/xml_text.hpp>

namespace voussoir {
namespace {

/// The character that begins at `at` and has so many bytes, which are valid UTF-8.
std::uint32_t character(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) return byte(0);
  std::uint32_t value = byte(0) & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) value = value << 6 | (byte(i) & 0x3Fu);
  return value;
}

/// Whether a terminal would do something else than draw it.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) ||  // C0, DEL and C1
         c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string escaped(const char* format, std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string escape_controls(std::string_view text, std::string_view allowed) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = detail::utf8_length(text, i);
    if (length == 0) {
      result += escaped("\\x%02x", static_cast<unsigned char>(text[i++]));
      continue;
    }
    const std::uint32_t c = character(text, i, length);
    if (!is_control(c) || (length == 1 && allowed.find(text[i]) != allowed.npos))
      result += text.substr(i, length);
    else
      result += escaped(c < 0x80 ? "\\x%02x" : "\\u%04x", c);
    i += length;
  }
  return result;
}

}  // namespace

std::string printable_text(std::string_view text) { return escape_controls(text, "\n\t"); }
std::string printable_line(std::string_view text) { return escape_controls(text, ""); }

std::string printable_json(std::string_view document) {
  std::string result;
  for (std::size_t i = 0; i < document.size();) {
    const std::size_t length = detail::utf8_length(document, i);
    const std::uint32_t c = length ? character(document, i, length) : 0xFFFD;
    // Line feeds and blanks between the entries are the document's own; in its strings they are escapes already.
    if (length && (!is_control(c) || c < 0x20))
      result += document.substr(i, length);
    else
      result += escaped("\\u%04x", c);
    i += length ? length : 1;
  }
  return result;
}

}  // namespace voussoir
