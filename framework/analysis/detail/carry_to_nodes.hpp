#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
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

/// Values at the points of an element, carried to one of its nodes: `columns` of the field, into `out`. `row` is the
/// node's row of the program's extrapolation.
inline void carry_to_node(const double* row, const PointField& field, const Columns& columns, std::int32_t element,
                          double* out) {
  const std::size_t names = field.names.size();
  for (std::size_t k = 0; k < columns.width(); ++k) out[k] = 0;
  const double* point = field.values.data() + static_cast<std::size_t>(element) * field.points * names;
  for (int p = 0; p < field.points; ++p, point += names) columns.add(row[p], point, out);
}

/// The same for all nodes of the element, node by node. `extrapolation` is that of the element's program, nodes ×
/// points.
inline void carry_to_nodes(std::span<const double> extrapolation, const PointField& field, const Columns& columns,
                           std::int32_t element, int nodes, double* out) {
  for (int a = 0; a < nodes; ++a)
    carry_to_node(extrapolation.data() + static_cast<std::size_t>(a) * field.points, field, columns, element,
                  out + static_cast<std::size_t>(a) * columns.width());
}

}  // namespace voussoir::detail
