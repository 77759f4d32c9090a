#include <voussoir/framework/io/matrix_market/matrix_market.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/safe_text.hpp>

namespace voussoir {
namespace {

constexpr std::string_view market_blanks = " \t\r\v\f";
constexpr std::int64_t most_market_rows = std::numeric_limits<std::int32_t>::max() - 1;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

struct MarketEntry {
  std::int32_t row, column;
  double value;
  std::size_t line;
};

class MarketParser {
 public:
  MarketParser(std::string_view text, const std::string& name) : text_(text), size_(text.size()), name_(name) {}

  MarketMatrix read() {
    read_header();
    read_sizes();
    if (matrix_.is_array)
      read_array();
    else
      read_coordinates();
    if (next_line())
      fail("this follows the last entry: the " + std::string(matrix_.is_array ? "sizes" : "third size") + " in line " +
           std::to_string(sizes_line_) + " promised fewer");
    arrange();
    return std::move(matrix_);
  }

 private:
  [[noreturn]] void fail(const std::string& text, std::size_t line = 0) const {
    throw Error(ErrorCode::bad_input, text,
                printable_line(name_) + ":" + std::to_string(std::max<std::size_t>(1, line ? line : line_)));
  }

  /// The next line of any kind, without its end.
  bool any_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    rest_ = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++line_;
    return true;
  }
  /// The next line that is neither empty nor a comment.
  bool next_line() {
    while (any_line()) {
      const std::size_t first = rest_.find_first_not_of(market_blanks);
      if (first == std::string_view::npos || rest_[first] == '%') continue;
      return true;
    }
    return false;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() {
    const std::size_t first = std::min(rest_.find_first_not_of(market_blanks), rest_.size());
    rest_.remove_prefix(first);
    const std::size_t end = std::min(rest_.find_first_of(market_blanks), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }
  void end_of_line() {
    if (const auto more = word(); !more.empty()) fail("'" + shown(more) + "' is one item too many in this line");
  }
  static std::string shown(std::string_view text) {
    return printable_line(text.substr(0, 40)) + (text.size() > 40 ? "…" : "");
  }

  void read_header() {
    if (!any_line() || lower_case(word()) != "%%matrixmarket") {
      line_ = 1;
      fail("a Matrix Market file begins with '%%MatrixMarket matrix …'");
    }
    const std::string object = lower_case(word()), format = lower_case(word()), field = lower_case(word()),
                      symmetry = lower_case(word());
    if (object != "matrix") fail("'" + shown(object) + "' is not supported; the object must be matrix");
    if (format != "coordinate" && format != "array")
      fail("the format '" + shown(format) + "' does not exist; there are coordinate and array");
    if (field != "real" && field != "integer" && field != "double")
      fail("entries of the kind '" + shown(field) + "' are not supported; they must be real or integer");
    if (symmetry != "general" && symmetry != "symmetric")
      fail("'" + shown(symmetry) + "' matrices are not supported; the matrix must be general or symmetric");
    end_of_line();
    matrix_.is_array = format == "array";
    matrix_.symmetric = symmetry == "symmetric";
    integer_ = field == "integer";
  }

  std::int64_t whole(std::string_view text, std::int64_t least, std::int64_t most, const char* what) const {
    std::int64_t number = 0;
    if (text.empty()) fail(std::string(what) + " is missing");
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < least || number > most)
      fail(std::string(what) + " '" + shown(text) + "' is not a whole number from " + std::to_string(least) + " to " +
           std::to_string(most));
    return number;
  }

  double value(std::string_view text) const {
    if (text.empty()) fail("the value is missing");
    if (integer_)
      return static_cast<double>(whole(text, -(std::int64_t{1} << 53), std::int64_t{1} << 53, "the integer"));
    std::string number(text.substr(0, 64));
    std::replace_if(
        number.begin(), number.end(), [](char c) { return c == 'D' || c == 'd'; }, 'e');
    const char *begin = number.data(), *const end = begin + number.size();
    if (*begin == '+' && number.size() > 1 && number[1] != '-') ++begin;
    double result = 0;
    const auto read = std::from_chars(begin, end, result);
    if (text.size() > 64 || read.ptr != end || read.ec == std::errc::invalid_argument)
      fail("'" + shown(text) + "' is not a number");
    if (read.ec == std::errc::result_out_of_range) {
      // Too small is zero; too large is not finite.
      if (number.find('-', number.find_first_of("eE")) == std::string::npos)
        fail("'" + shown(text) + "' is too large for a number");
      return 0;
    }
    if (!std::isfinite(result)) fail("the value '" + shown(text) + "' is not finite");
    return result;
  }

  void read_sizes() {
    if (!next_line()) fail("the line of sizes is missing", line_ + 1);
    sizes_line_ = line_;
    matrix_.rows = whole(word(), 0, most_market_rows, "the number of rows");
    matrix_.columns = whole(word(), 0, most_market_rows, "the number of columns");
    if (matrix_.symmetric && matrix_.rows != matrix_.columns) fail("a symmetric matrix has as many rows as columns");
    if (!matrix_.is_array)
      count_ = whole(word(), 0, std::numeric_limits<std::int64_t>::max(), "the number of entries");
    else if (matrix_.rows > 0 && matrix_.columns > std::numeric_limits<std::int64_t>::max() / matrix_.rows)
      fail("the array has too many entries");
    else
      count_ = matrix_.symmetric ? matrix_.rows * (matrix_.rows + 1) / 2 : matrix_.rows * matrix_.columns;
    end_of_line();
    // Each entry takes two characters at least: what a damaged file promises is not believed.
    if (count_ > static_cast<std::int64_t>(size_ / 2) + 1)
      fail("the file is too short for " + std::to_string(count_) + " entries");
    // Rows without an entry take memory too.
    if (matrix_.rows > 64 + 8 * static_cast<std::int64_t>(size_))
      fail("the file is too short for a matrix of " + std::to_string(matrix_.rows) + " rows");
    list_.reserve(static_cast<std::size_t>(count_));
  }

  void read_array() {
    // Column by column; of a symmetric matrix from the diagonal down.
    std::int64_t row = 0, column = 0;
    for (std::int64_t k = 0; k < count_; ++k) {
      if (!next_line()) missing(k);
      const double number = value(word());
      end_of_line();
      list_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), number, line_});
      if (++row == matrix_.rows) row = matrix_.symmetric ? ++column : (++column, 0);
    }
  }
  void read_coordinates() {
    for (std::int64_t k = 0; k < count_; ++k) {
      if (!next_line()) missing(k);
      const std::int64_t row = whole(word(), 1, matrix_.rows, "the row"),
                         column = whole(word(), 1, matrix_.columns, "the column");
      const double number = value(word());
      end_of_line();
      if (matrix_.symmetric && column > row)
        fail("entry (" + std::to_string(row) + ", " + std::to_string(column) +
             ") is above the diagonal; a symmetric file has the lower triangle only");
      list_.push_back({static_cast<std::int32_t>(row - 1), static_cast<std::int32_t>(column - 1), number, line_});
    }
  }
  [[noreturn]] void missing(std::int64_t read) const {
    fail("the file ends after " + std::to_string(read) + " of " + std::to_string(count_) + " entries", line_ + 1);
  }

  /// Sorts the entries into rows.
  void arrange() {
    if (matrix_.symmetric) {
      const std::size_t lower = list_.size();
      for (std::size_t k = 0; k < lower; ++k)
        if (list_[k].row != list_[k].column)
          list_.push_back({list_[k].column, list_[k].row, list_[k].value, list_[k].line});
    }
    std::stable_sort(list_.begin(), list_.end(), [](const MarketEntry& a, const MarketEntry& b) {
      return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    HostMatrix& rows = matrix_.entries;
    rows.row_start.assign(static_cast<std::size_t>(matrix_.rows) + 1, 0);
    rows.column.reserve(list_.size());
    rows.value.reserve(list_.size());
    for (std::size_t k = 0; k < list_.size(); ++k) {
      const MarketEntry& one = list_[k];
      if (k > 0 && one.row == list_[k - 1].row && one.column == list_[k - 1].column)
        fail("entry (" + std::to_string(std::max(one.row, matrix_.symmetric ? one.column : one.row) + 1) + ", " +
                 std::to_string((matrix_.symmetric ? std::min(one.row, one.column) : one.column) + 1) +
                 ") is in line " + std::to_string(list_[k - 1].line) + " already",
             one.line);
      ++rows.row_start[static_cast<std::size_t>(one.row) + 1];
      rows.column.push_back(one.column);
      rows.value.push_back(one.value);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(matrix_.rows); ++i) rows.row_start[i + 1] += rows.row_start[i];
  }

  std::string_view text_;
  std::size_t size_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 0, sizes_line_ = 0;
  std::string_view rest_;  // of the line
  bool integer_ = false;
  std::int64_t count_ = 0;
  std::vector<MarketEntry> list_;
  MarketMatrix matrix_;
};

}  // namespace

std::vector<double> MarketMatrix::by_columns() const {
  std::vector<double> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
    for (auto k = entries.row_start[i]; k < entries.row_start[i + 1]; ++k)
      values[static_cast<std::size_t>(entries.column[static_cast<std::size_t>(k)]) * static_cast<std::size_t>(rows) +
             i] = entries.value[static_cast<std::size_t>(k)];
  return values;
}

MarketMatrix parse_matrix_market(std::string_view text, const std::string& name) {
  return MarketParser(text, name).read();
}

MarketMatrix read_matrix_market(const std::filesystem::path& path) {
  const FileBytes file(path);
  return parse_matrix_market(file.bytes(), path.string());
}

void write_matrix_market(const std::filesystem::path& path, std::int64_t rows, std::span<const double> values,
                         const std::string& comment, bool overwrite) {
  if (rows < 0 || (rows == 0 && !values.empty()) || (rows > 0 && values.size() % static_cast<std::size_t>(rows) != 0))
    throw Error(ErrorCode::misuse, std::to_string(values.size()) + " values are no columns of " + std::to_string(rows),
                path.string());
  OutputFile file(path, overwrite);
  file.write("%%MatrixMarket matrix array real general\n");
  if (!comment.empty()) file.write("% " + printable_line(comment) + "\n");
  file.write(std::to_string(rows) + " " +
             std::to_string(rows > 0 ? values.size() / static_cast<std::size_t>(rows) : 0) + "\n");
  for (const double v : values) file.write(exact_number(v) + "\n");
  file.commit();
}

}  // namespace voussoir
