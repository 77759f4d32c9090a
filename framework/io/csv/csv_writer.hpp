#pragma once
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// A table of text and numbers, written as comma-separated values (RFC 4180): a line of column names, then the rows.
/// For spreadsheets, pandas and gnuplot.
///
///   CsvTable table({"parts", "cut", "seconds"});
///   table.row().add(4).add(112).add(0.25);
///   table.write("study.csv");
///
/// Numbers keep all their digits: reading them gives back the same bits. NaN is an empty field. Text with commas,
/// quotes or line breaks is quoted. Text that a spreadsheet would take for a formula (it begins with =, +, -, @, a tab
/// or a carriage return) gets an apostrophe in front; numbers never do.
class CsvTable {
 public:
  /// A table with these column names and no rows.
  explicit CsvTable(const std::vector<std::string>& columns);
  /// A table with this number of columns that continues another one, given its lines().
  CsvTable(std::size_t columns, std::string lines);

  /// Begins a row. A row with more or fewer entries than there are columns is an Error (misuse) at the next row, or
  /// when the table is written.
  CsvTable& row();
  /// Appends a number to the current row with all its digits; NaN becomes an empty field.
  CsvTable& add(double value);
  /// Appends an integer to the current row.
  CsvTable& add(std::integral auto value) { return add_integer(static_cast<std::int64_t>(value)); }
  /// Appends text to the current row, quoted where necessary.
  CsvTable& add(std::string_view text);
  /// Appends text to the current row, quoted where necessary.
  CsvTable& add(const char* text) { return add(std::string_view(text)); }

  std::size_t columns() const { return columns_; }    ///< number of columns
  const std::string& lines() const { return text_; }  ///< names and rows so far, without the last line break
  /// Appends rows as another table has them in lines(), with the line break before each.
  void append_lines(std::string_view rows);
  /// The contents of the file that write() would write.
  std::string text() const;
  /// Writes the file atomically. An existing file is replaced only with `overwrite`. Failures are Errors (io) with the
  /// path and the system's error message.
  void write(const std::filesystem::path& path, bool overwrite = false) const;

 private:
  CsvTable& add_integer(std::int64_t value);
  void separate();
  void check_row() const;

  std::size_t columns_;
  std::size_t entries_;  // of the last row
  std::size_t rows_ = 0;
  std::string text_;
};

/// A table with a row for each node: its id, x, y, z and the components of the field, empty where the node has no
/// value.
CsvTable csv_table(const Domain& domain, const NodalField& field);
/// A table with a row for each point of each element: element id, block, point (from 1) and the values of the field.
CsvTable csv_table(const Domain& domain, const PointField& field);

}  // namespace voussoir
