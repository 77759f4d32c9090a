#pragma once
#include <string>
#include <string_view>

namespace voussoir::detail {

/// Bytes of the UTF-8 character that begins at `at`; 0 where none does. Names come from files of any encoding.
inline std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xF0 && byte(at + 1) < 0x90);
  const bool no_character = (first == 0xED && byte(at + 1) >= 0xA0) || (first == 0xF4 && byte(at + 1) >= 0x90);
  return overlong || no_character ? 0 : length;
}

/// Whether a UTF-8 character of several bytes is one that XML forbids (U+FFFE, U+FFFF) or advises against (C1).
inline bool is_no_xml(std::string_view character) {
  return (character.size() == 2 && character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0) ||
         character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

/// Text as XML has it between tags, in attributes and in comments: what XML cannot hold becomes '_'.
inline std::string xml_escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const char c = text[i];
    if (length > 1)
      result += is_no_xml(text.substr(i, length)) ? "_" : text.substr(i, length);
    else if (length == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      result += '_';
    else if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
    i += length > 1 ? length : 1;
  }
  return result;
}

}  // namespace voussoir::detail
