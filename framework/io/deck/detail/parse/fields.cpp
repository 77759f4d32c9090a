#include <voussoir/framework/io/deck/detail/parse/fields.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace voussoir::deck {
namespace {

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a number that a double cannot hold is too small rather than too large.
bool is_tiny(std::string_view text) {
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos && exponent + 1 < text.size()) return text[exponent + 1] == '-';
  return text.find_first_of("123456789") > text.find('.');
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string canonical_name(std::string_view text) {
  text = trimmed(text);
  std::string name;
  bool inside = false;
  for (const char c : text)
    if (c == '"')
      inside = !inside;
    else if (inside || !is_blank(c))
      name += upper(c);
  return name;
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (!is_blank(c)) result += upper(c);
  return result;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) result += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return result + (text.size() > longest ? "…'" : "'");
}

void split_fields(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  std::size_t first = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') inside = !inside;
    if (i < line.size() && (line[i] != ',' || inside)) continue;
    fields.push_back(trimmed(line.substr(first, i - first)));
    first = i + 1;
  }
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
}

NumberFault read_integer(std::string_view field, Id& value) {
  if (!field.empty() && field.front() == '+' && field.size() > 1 && is_digit(field[1])) field.remove_prefix(1);
  const auto [after, fault] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (fault == std::errc::invalid_argument || after != field.data() + field.size()) return NumberFault::not_a_number;
  return fault == std::errc{} ? NumberFault::none : NumberFault::too_large;
}

NumberFault read_real(std::string_view field, double& value) {
  std::array<char, 128> buffer;
  if (!field.empty() && field.front() == '+') {
    field.remove_prefix(1);
    if (!field.empty() && (field.front() == '-' || field.front() == '+')) return NumberFault::not_a_number;
  }
  const std::string_view digits = field.substr(!field.empty() && field.front() == '-' ? 1 : 0);
  if (digits.empty()) return NumberFault::not_a_number;
  if (!is_digit(digits.front()) && digits.front() != '.') {
    const std::string word = squeezed(digits);
    return word == "INF" || word == "INFINITY" || word.starts_with("NAN") ? NumberFault::not_finite
                                                                          : NumberFault::not_a_number;
  }
  auto result = std::from_chars(field.data(), field.data() + field.size(), value);
  std::string_view text = field;
  if (result.ptr != field.data() + field.size() && field.size() < buffer.size() - 1) {
    // Fortran writes D for E, and leaves the letter away before an exponent of three digits.
    std::size_t n = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
      const char c = field[i];
      if (i > 0 && (c == '+' || c == '-') && (is_digit(field[i - 1]) || field[i - 1] == '.')) buffer[n++] = 'e';
      buffer[n++] = c == 'd' || c == 'D' ? 'e' : c;
      if (n >= buffer.size() - 1) return NumberFault::not_a_number;
    }
    text = {buffer.data(), n};
    result = std::from_chars(buffer.data(), buffer.data() + n, value);
  }
  if (result.ec == std::errc::invalid_argument || result.ptr != text.data() + text.size())
    return NumberFault::not_a_number;
  if (result.ec == std::errc::result_out_of_range) {
    if (!is_tiny(text)) return NumberFault::too_large;
    value = 0;
  }
  return std::isfinite(value) ? NumberFault::none : NumberFault::not_finite;
}

}  // namespace voussoir::deck
