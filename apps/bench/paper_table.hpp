#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <voussoir/apps/bench/rig.hpp>

// What the tables of FEStudio's paper have in common.

namespace voussoir::app {

/// A table as a page shows it, and its numbers.
class PaperTable {
 public:
  PaperTable(std::string name, std::string title, std::vector<std::string> columns)
      : name_(std::move(name)), title_(std::move(title)), columns_(std::move(columns)) {}

  /// Text as it is, numbers as seconds; a number of 0 is not known.
  void add(const std::vector<nlohmann::ordered_json>& cells) {
    nlohmann::ordered_json row;
    std::string line = "|";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const nlohmann::ordered_json& cell = cells[i];
      row[columns_[i]] = cell;
      line += " " +
              (cell.is_string()           ? cell.get<std::string>()
               : cell.is_number_integer() ? std::to_string(cell.get<long long>())
               : cell.get<double>() > 0   ? readable_time(cell.get<double>())
                                          : std::string("–")) +
              " |";
    }
    rows_.push_back(std::move(row));
    lines_ += line + "\n";
  }

  void put(BenchRig& rig, const std::string& remarks) const {
    std::string head = "|", rule = "|";
    for (const std::string& column : columns_) {
      head += " " + column + " |";
      rule += "---|";
    }
    rig.add_page("\n## " + title_ + "\n\n" + head + "\n" + rule + "\n" + lines_ + "\n" + remarks + "\n", name_, rows_);
  }

 private:
  std::string name_, title_;
  std::vector<std::string> columns_;
  std::string lines_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
};

/// Throws an Error (internal) where a timed result is wrong.
inline void require_alike(double difference, double tolerance, const std::string& what) {
  if (!(difference <= tolerance))
    throw Error(ErrorCode::internal, fmt::format("{}: the timed result differs by {:.1e}", what, difference));
}

/// Scales meshes by --size, for quick trials of the benchmark.
struct Scale {
  double factor;
  explicit Scale(const BenchRig& rig) : factor(rig.setup().size / 84.0) {}
  std::array<int, 3> operator()(std::array<int, 3> cells, bool plane) const {
    const double f = plane ? std::pow(factor, 1.5) : factor;
    for (int i = 0; i < (plane ? 2 : 3); ++i)
      cells[static_cast<std::size_t>(i)] =
          std::max(1, static_cast<int>(std::lround(cells[static_cast<std::size_t>(i)] * f)));
    return cells;
  }
};

/// Table 5: CG on several devices.
void paper_table_five(BenchRig& rig);

}  // namespace voussoir::app
