#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>

namespace voussoir::detail {

/// Some columns of a field of points, in the order of their names. Neighbouring ones are kept as runs, whose loops a
/// compiler turns into SIMD code.
class Columns {
 public:
  Columns() = default;
  Columns(const PointField& field, const std::vector<std::string>& names) : width_(names.size()) {
    for (const std::string& name : names) {
      const auto column = static_cast<std::size_t>(field.name_index(name));
      if (!runs_.empty() && column == runs_.back().first + runs_.back().count)
        ++runs_.back().count;
      else
        runs_.push_back({column, 1});
    }
  }

  std::size_t width() const { return width_; }
  /// Whether they stand side by side in a record.
  bool contiguous() const { return runs_.size() == 1; }
  /// Where they begin in a record, if they stand side by side.
  std::size_t first() const { return runs_.front().first; }
  /// out += factor · the columns of a record
  void add(double factor, const double* record, double* __restrict out) const {
    for (const Run& run : runs_) {
      for (std::size_t k = 0; k < run.count; ++k) out[k] += factor * record[run.first + k];
      out += run.count;
    }
  }
  /// out = the columns of a record
  void copy(const double* record, double* __restrict out) const {
    for (const Run& run : runs_) {
      for (std::size_t k = 0; k < run.count; ++k) out[k] = record[run.first + k];
      out += run.count;
    }
  }

 private:
  struct Run {
    std::size_t first, count;
  };
  std::size_t width_ = 0;
  std::vector<Run> runs_;
};

}  // namespace voussoir::detail
