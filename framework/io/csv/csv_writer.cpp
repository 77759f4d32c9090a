#include <voussoir/framework/io/csv/csv_writer.hpp>

#include <charconv>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/safe_text.hpp>

namespace voussoir {
namespace {

template <class Number>
void append_number(std::string& text, Number value) {
  char digits[40];  // the longest double needs 24
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

/// Spreadsheets take text that begins like this for a formula, and carry it out.
bool looks_like_a_formula(std::string_view entry) {
  return !entry.empty() && std::string_view("=+-@\t\r").find(entry.front()) != std::string_view::npos;
}

void append_text(std::string& text, std::string_view given) {
  const std::string entry = (looks_like_a_formula(given) ? "'" : "") + printable_text(given);
  if (entry.find_first_of(",\"\r\n") == std::string::npos) {
    text += entry;
    return;
  }
  text += '"';
  for (char c : entry) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

}  // namespace

CsvTable::CsvTable(const std::vector<std::string>& columns) : columns_(columns.size()), entries_(columns.size()) {
  if (columns.empty()) throw Error(ErrorCode::misuse, "a table needs at least one column");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i) text_ += ',';
    append_text(text_, columns[i]);
  }
}

CsvTable::CsvTable(std::size_t columns, std::string lines)
    : columns_(columns), entries_(columns), text_(std::move(lines)) {
  if (columns == 0) throw Error(ErrorCode::misuse, "a table needs at least one column");
}

void CsvTable::append_lines(std::string_view rows) {
  check_row();
  text_ += rows;
}

void CsvTable::check_row() const {
  if (entries_ != columns_)
    throw Error(ErrorCode::misuse,
                "it has " + std::to_string(entries_) + " entries for " + std::to_string(columns_) + " columns",
                "row " + std::to_string(rows_) + " of a table");
}

CsvTable& CsvTable::row() {
  check_row();
  text_ += '\n';
  entries_ = 0;
  ++rows_;
  return *this;
}

void CsvTable::separate() {
  if (rows_ == 0) throw Error(ErrorCode::misuse, "begin a row() before adding entries to a table");
  if (entries_++ > 0) text_ += ',';
}

CsvTable& CsvTable::add(double value) {
  separate();
  if (!std::isnan(value)) append_number(text_, value);
  return *this;
}

CsvTable& CsvTable::add_integer(std::int64_t value) {
  separate();
  append_number(text_, value);
  return *this;
}

CsvTable& CsvTable::add(std::string_view entry) {
  separate();
  append_text(text_, entry);
  return *this;
}

std::string CsvTable::text() const {
  check_row();
  return text_ + "\n";
}

void CsvTable::write(const std::filesystem::path& path, bool overwrite) const {
  check_row();
  OutputFile file(path, overwrite);
  file.write(text_);
  file.write("\n");
  file.commit();
}

CsvTable csv_table(const Domain& domain, const NodalField& field) {
  if (field.values.size() != static_cast<std::size_t>(domain.node_count()) * field.components.size())
    throw Error(ErrorCode::bad_input,
                "it has " + std::to_string(field.values.size()) + " values, which does not fit " +
                    std::to_string(field.components.size()) + " components at " + std::to_string(domain.node_count()) +
                    " nodes",
                "field '" + field.name + "'");
  std::vector<std::string> columns = {"node", "x", "y", "z"};
  columns.insert(columns.end(), field.components.begin(), field.components.end());
  CsvTable table(columns);
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    table.row().add(domain.node_id(n));
    for (int a = 0; a < 3; ++a) table.add(domain.coordinates()[3 * static_cast<std::size_t>(n) + a]);
    for (int c = 0; c < field.width(); ++c) table.add(field.at(n, c));
  }
  return table;
}

CsvTable csv_table(const Domain& domain, const PointField& field) {
  if (field.block < 0 || field.block >= static_cast<std::int32_t>(domain.block_count()) ||
      field.values.size() !=
          static_cast<std::size_t>(domain.block(field.block).size()) * field.points * field.names.size())
    throw Error(ErrorCode::bad_input,
                "the values at points do not fit block " + std::to_string(field.block) + " of this domain");
  const ElementBlock& block = domain.block(field.block);
  std::vector<std::string> columns = {"element", "block", "point"};
  columns.insert(columns.end(), field.names.begin(), field.names.end());
  CsvTable table(columns);
  for (std::int32_t e = 0; e < block.size(); ++e)
    for (int p = 0; p < field.points; ++p) {
      table.row().add(block.id(e)).add(block.name()).add(p + 1);
      for (int k = 0; k < static_cast<int>(field.names.size()); ++k) table.add(field.at(e, p, k));
    }
  return table;
}

}  // namespace voussoir
