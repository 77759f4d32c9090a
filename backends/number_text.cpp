#include <voussoir/backends/number_text.hpp>

#include <charconv>
#include <cstdio>

namespace voussoir {

std::string short_number(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string exact_number(double value) {
  char digits[40];  // the longest double needs 24
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

}  // namespace voussoir
