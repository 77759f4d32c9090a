#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

// The expressions of *PARAMETER: those of Python, as far as they are arithmetic.

namespace voussoir::deck::expression {

using Value = std::variant<std::int64_t, double, std::string>;
using Names = std::map<std::string, Value, std::less<>>;

/// What an expression comes to. There are + - * / // % **, brackets, numbers, texts in quotes, the names that are
/// given, pi, and the functions abs, acos, asin, atan, atan2, ceil, cos, cosh, exp, float, floor, int, log, log10, max,
/// min, pow, round, sin, sinh, sqrt, tan, tanh. Everything else, and what has no value, is an Error without a place.
Value evaluate(std::string_view text, const Names& names);

/// As it stands in a line of the deck in place of <name>.
std::string text_of(const Value& value);

}  // namespace voussoir::deck::expression
