#include <charconv>
#include <cmath>
#include <string>

#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>

// CalculiX's .dat, as its version 2.20 writes it: Fortran's formats i10, i3, 1p e13.6 and, for the time, e14.7.

namespace voussoir::detail {
namespace {

void append_right(std::string& text, std::string_view entry, std::size_t width) {
  if (entry.size() < width) text.append(width - entry.size(), ' ');
  text += entry;
}

void append_integer(std::string& text, std::int64_t value, std::size_t width) {
  char digits[24];
  append_right(text,
               {digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits)},
               width);
}

/// "1.234567e-05" → "1.234567E-05"; an exponent of three digits takes the place of the E, as in Fortran.
std::string_view fortran(char* begin, char* end) {
  char* e = begin;
  while (e != end && *e != 'e') ++e;
  if (e == end) return {begin, static_cast<std::size_t>(end - begin)};  // nan, inf
  if (end - e > 4) {
    for (char* c = e; c + 1 != end; ++c) *c = c[1];
    return {begin, static_cast<std::size_t>(end - 1 - begin)};
  }
  *e = 'E';
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// 1x, 1p e13.6. What is not known reads as nought, as it does there.
void append_value(std::string& text, double value) {
  if (std::isnan(value) || value == 0) value = 0.0;
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific, 6).ptr;
  append_right(text, fortran(digits, end), 14);
}

}  // namespace

/// e14.7: a nought before the point.
std::string fortran_exponent(double time) {
  if (!std::isfinite(time)) time = 0;
  int exponent = 0;
  if (time != 0) {
    char digits[40];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, std::abs(time), std::chars_format::scientific, 6).ptr;
    std::string mantissa(digits, end);  // d.dddddde±xx
    exponent = std::stoi(mantissa.substr(mantissa.find('e') + 1)) + 1;
    std::string text = (time < 0 ? "-0." : "0.") + mantissa.substr(0, 1) + mantissa.substr(2, 6);
    char sign = exponent < 0 ? '-' : '+';
    std::string power = std::to_string(std::abs(exponent));
    if (power.size() < 2) power = "0" + power;
    text += power.size() > 2 ? sign + power : std::string("E") + sign + power;
    return std::string(text.size() < 14 ? 14 - text.size() : 0, ' ') + text;
  }
  return " 0.0000000E+00";
}

std::string calculix_text(const PrintTable& table, double time) {
  std::string text;
  const auto heading = [&](const std::string& words) {
    text += "\n " + words + " for set " + printable_line(table.set) + " and time " + fortran_exponent(time) + "\n\n";
  };
  const auto columns = static_cast<std::size_t>(table.calculix_columns);
  const std::size_t rows = table.ids.size();
  if (table.wants_rows) {
    heading(table.heading);
    text.reserve(text.size() + rows * (16 + 14 * columns));
    for (std::size_t row = 0; row < rows; ++row) {
      append_integer(text, table.ids[row], 10);
      if (table.has_points) {
        text += ' ';
        append_integer(text, table.points[row], 3);
      }
      const double slice = table.slice.empty() ? 1.0 : table.slice[row];
      for (std::size_t c = 0; c < columns; ++c) append_value(text, slice * table.at(row, c));
      text += '\n';
    }
  }
  if (table.wants_totals) {
    heading(table.total_heading);
    text += "      ";
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t row = 0; row < rows; ++row) {
        const double value = (table.slice.empty() ? 1.0 : table.slice[row]) * table.at(row, c);
        if (!std::isnan(value)) sum += value;
      }
      append_value(text, sum);
    }
    text += '\n';
  }
  return text;
}

}  // namespace voussoir::detail
