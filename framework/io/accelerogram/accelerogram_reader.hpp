#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <voussoir/framework/response/accelerogram.hpp>

namespace voussoir {

/// How the numbers of an accelerogram file are arranged.
enum class AccelerogramLayout {
  time_and_value,  ///< two columns; steps of time may be uneven
  one_value,       ///< one value per line, at a constant step of time
  many_values  ///< lines of several values, read row by row, at a constant step of time (as PEER's AT2 files have them)
};

/// What a reader has to know about an accelerogram file.
struct AccelerogramFormat {
  AccelerogramLayout layout = AccelerogramLayout::time_and_value;  ///< how its numbers are arranged
  double time_step = 0;        ///< between values; needed by all layouts without times, and by these alone
  double start = 0;            ///< the time of the first value, in layouts without times
  double scale = 1;            ///< factor of all values, for example 9.81 from g to m/s²
  double time_scale = 1;       ///< factor of times in the file, for example 0.001 from ms to s
  std::size_t skip_lines = 0;  ///< lines at the beginning of the file that are not read
};

/// Reads an accelerogram from a text file. Numbers are separated by blanks, tabs and, in the layouts of one or two
/// columns, by commas or semicolons; exponents may be written with E or D. Empty lines and lines that begin with # % !
/// * $ " ' or
/// // are comments. Before the first number, lines that do not begin like a number are a header. A file that cannot be
/// read is an Error (io). Everything else that does not fit is an Error (bad_input) with file and line: text among the
/// numbers, a wrong number of columns, values that are not finite, times that do not increase, fewer than two values.
Accelerogram read_accelerogram(const std::filesystem::path& path, const AccelerogramFormat& format = {});

/// The same, from text; `name` stands for the file in messages.
Accelerogram parse_accelerogram(std::string_view text, const std::string& name, const AccelerogramFormat& format = {});

}  // namespace voussoir
