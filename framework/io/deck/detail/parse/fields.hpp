#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/domain/element_block.hpp>

// The words and numbers of a line.

namespace voussoir::deck {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view trimmed(std::string_view text);

/// A name as decks compare them: upper case, and without blanks unless it stands in quotes.
std::string canonical_name(std::string_view text);

/// Upper case without any blanks.
std::string squeezed(std::string_view text);

/// Text of a file for a message: in quotes, short, and without bytes that a terminal could take for commands.
std::string in_quotes(std::string_view text);

/// Cuts a line at its commas (not at those within double quotes) into trimmed fields. Empty fields at the end, as a
/// comma at the end makes them, are left out.
void split_fields(std::string_view line, std::vector<std::string_view>& fields);

enum class NumberFault { none, not_a_number, not_finite, too_large };

/// A whole number, with or without sign.
NumberFault read_integer(std::string_view field, Id& value);
/// A real number as Fortran writes them, too: 1.5, +1.5, 1.D-3, 1.0+5.
NumberFault read_real(std::string_view field, double& value);

/// Takes a plain whole number and the comma behind it off the front of [at, end). False, with `at` as it was, where
/// anything else stands there: the slow functions above then find out what.
inline bool take_integer(const char*& at, const char* end, Id& value) {
  const char* p = at;
  while (p != end && is_blank(*p)) ++p;
  const char* const first = p;
  std::uint64_t number = 0;
  while (p != end && static_cast<unsigned char>(*p - '0') < 10)
    number = number * 10 + static_cast<unsigned>(*p++ - '0');
  if (p == first || p - first > 18) return false;
  while (p != end && is_blank(*p)) ++p;
  if (p != end && *p++ != ',') return false;
  value = static_cast<Id>(number);
  at = p;
  return true;
}

/// The same for a plain real number.
inline bool take_real(const char*& at, const char* end, double& value) {
  const char* p = at;
  while (p != end && is_blank(*p)) ++p;
  if (p == end) return false;
  const char* const digits = p + (*p == '-' ? 1 : 0);
  if (digits == end || !(static_cast<unsigned char>(*digits - '0') < 10 || *digits == '.')) return false;
  const auto [after, fault] = std::from_chars(p, end, value);
  if (fault != std::errc{}) return false;
  p = after;
  while (p != end && is_blank(*p)) ++p;
  if (p != end && *p++ != ',') return false;
  at = p;
  return true;
}

}  // namespace voussoir::deck
