#include <voussoir/framework/io/accelerogram/accelerogram_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/safe_text.hpp>

namespace voussoir {
namespace {

constexpr std::string_view accelerogram_blanks = " \t\r\v\f";

bool is_comment_line(std::string_view line) {
  return line.starts_with("//") || std::string_view("#%!*$\"'").find(line.front()) != std::string_view::npos;
}

/// Whether a line of the header might be meant as numbers: then it has to be one.
bool begins_like_a_number(std::string_view word) {
  if (word.empty()) return true;  // an empty first column
  if (word.front() == '+' || word.front() == '-') word.remove_prefix(1);
  if (!word.empty() && word.front() == '.') word.remove_prefix(1);
  return !word.empty() && word.front() >= '0' && word.front() <= '9';
}

/// A number, also with a leading + and with Fortran's exponents (1.5D-3); nothing if the word is none. Infinity and NaN
/// are numbers here, so that they are named as what they are.
std::optional<double> real_number(std::string_view word) {
  char text[64];
  if (word.starts_with('+') && word.size() > 1 && word[1] != '-') word.remove_prefix(1);
  if (word.empty() || word.size() > sizeof text) return {};
  std::copy(word.begin(), word.end(), text);
  std::replace_if(
      text, text + word.size(), [](char c) { return c == 'D' || c == 'd'; }, 'e');
  double value = 0;
  const auto [end, error] = std::from_chars(text, text + word.size(), value);
  if (end != text + word.size()) return {};
  if (error == std::errc::result_out_of_range) {
    // Too small is zero, too large is refused as infinite.
    const bool tiny = word.find('-', 1) != std::string_view::npos;
    return tiny ? 0.0 : HUGE_VAL;
  }
  if (error != std::errc()) return {};
  return value;
}

class AccelerogramParser {
 public:
  AccelerogramParser(const std::string& name, const AccelerogramFormat& format)
      : name_(printable_line(name)), format_(format) {
    const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
    const bool has_times = format.layout == AccelerogramLayout::time_and_value;
    if (!has_times && !positive(format.time_step))
      fail("values without times need a positive time step, but it is " + short_number(format.time_step, 9));
    if (has_times && format.time_step != 0)
      fail("a time step is given, but the file has a column of times: choose one of them");
    if (!std::isfinite(format.scale) || format.scale == 0 || !positive(format.time_scale) ||
        !std::isfinite(format.start))
      fail("the factor of the values must be finite and not 0, that of times positive, and the start finite");
  }

  Accelerogram read(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (line_ > format_.skip_lines) read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (values_.size() < 2)
      fail("the file has " + std::to_string(values_.size()) + " values; an accelerogram needs at least two");
    if (format_.layout == AccelerogramLayout::time_and_value)
      return Accelerogram(std::move(times_), std::move(values_), name_);
    return Accelerogram::evenly_spaced(format_.time_step, std::move(values_), format_.start, name_);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw Error(ErrorCode::bad_input, text, line_ > 0 ? name_ + ":" + std::to_string(line_) : name_);
  }

  void read_line(std::string_view line) {
    if (line_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // the mark of UTF-8 files
    const std::size_t first = line.find_first_not_of(accelerogram_blanks);
    if (first == std::string_view::npos) return;
    line.remove_prefix(first);
    if (is_comment_line(line)) return;
    split(line);
    const bool numeric = words_.empty() || begins_like_a_number(words_[0]) || real_number(words_[0]);
    if (values_.empty() && !numeric) return;  // the header

    if (format_.layout != AccelerogramLayout::many_values) {
      const std::size_t columns = format_.layout == AccelerogramLayout::time_and_value ? 2 : 1;
      if (words_.size() != columns)
        fail("the line has " + std::to_string(words_.size()) + (words_.size() == 1 ? " column" : " columns") +
             " instead of " + std::to_string(columns) +
             "; decimals are written with a point, and headers that begin with a number are skipped by their number of "
             "lines");
    }
    if (format_.layout == AccelerogramLayout::time_and_value) add_time(finite(words_[0]) * format_.time_scale);
    for (std::size_t i = format_.layout == AccelerogramLayout::time_and_value ? 1 : 0; i < words_.size(); ++i) {
      const double value = finite(words_[i]) * format_.scale;
      if (!std::isfinite(value)) fail("the value " + printable_line(words_[i]) + " is too large after scaling");
      values_.push_back(value);
    }
  }

  /// Commas separate columns only where the number of these is known: among many values they may be decimal commas. Two
  /// commas in a row enclose an empty column.
  void split(std::string_view line) {
    const bool columns = format_.layout != AccelerogramLayout::many_values;
    words_.clear();
    std::size_t at = 0;
    bool expects = false;  // a separator has been read, and no word after it
    while (true) {
      at = std::min(line.find_first_not_of(accelerogram_blanks, at), line.size());
      if (at == line.size()) break;
      if (columns && (line[at] == ',' || line[at] == ';')) {
        if (expects || words_.empty()) words_.push_back({});
        expects = true;
        ++at;
        continue;
      }
      const std::size_t end =
          std::min(line.find_first_of(columns ? " \t\r\v\f,;" : accelerogram_blanks, at), line.size());
      words_.push_back(line.substr(at, end - at));
      expects = false;
      at = end;
    }
  }

  double finite(std::string_view word) const {
    const std::optional<double> value = real_number(word);
    if (!value)
      fail("'" + printable_line(word.substr(0, 40)) +
           "' is not a number; headers that begin with a number are skipped by their number of lines");
    if (!std::isfinite(*value)) fail("'" + printable_line(word.substr(0, 40)) + "' is not finite");
    return *value;
  }

  void add_time(double time) {
    if (!std::isfinite(time)) fail("the time is too large after scaling");
    if (!times_.empty() && !(time > times_.back()))
      fail("the time " + short_number(time, 9) + " is not after the previous one, " + short_number(times_.back(), 9) +
           "; times must increase");
    times_.push_back(time);
  }

  std::string name_;
  AccelerogramFormat format_;
  std::size_t line_ = 0;
  std::vector<std::string_view> words_;
  std::vector<double> times_, values_;
};

}  // namespace

Accelerogram parse_accelerogram(std::string_view text, const std::string& name, const AccelerogramFormat& format) {
  return AccelerogramParser(name, format).read(text);
}

Accelerogram read_accelerogram(const std::filesystem::path& path, const AccelerogramFormat& format) {
  const FileBytes file(path);
  return parse_accelerogram(file.bytes(), path.string(), format);
}

}  // namespace voussoir
