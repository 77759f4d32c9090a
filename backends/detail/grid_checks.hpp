#pragma once
#include <cstring>
#include <string>
#include <vector>

#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/grid_services.hpp>

// What implementations of GridServices have in common.

namespace voussoir::detail {

inline void require_grid(const GridLayout& grid, const Vector& u, const char* what) {
  require_one_column(*grid.layout(), u, what);
}

/// Throws where nodes to be sampled do not exist, or there is no room for their values.
inline void check_samples(const GridLayout& grid, std::span<const std::int64_t> nodes, std::span<double> values) {
  if (nodes.size() != values.size())
    throw Error(ErrorCode::misuse,
                std::to_string(values.size()) + " places for the values of " + std::to_string(nodes.size()) + " nodes");
  for (const std::int64_t node : nodes)
    if (node < 0 || node >= grid.shape().node_count())
      throw Error(ErrorCode::misuse, "there is no node " + std::to_string(node) + " in a grid of " +
                                         std::to_string(grid.shape().node_count()) + " nodes");
}

/// Throws where the arguments of GridServices::apply() do not fit.
inline void check_grid_arguments(const GridProgram& program, const GridLayout& grid, const GridArguments& arguments,
                                 const Vector& out) {
  const std::string what = "grid kernel '" + program.name() + "'";
  require_grid(grid, out, what.c_str());
  if (!arguments.fields[0]) throw Error(ErrorCode::misuse, what + ": the first field is missing");
  for (const Vector* field : arguments.fields)
    if (field) require_grid(grid, *field, what.c_str());
  if (program.reads_neighbours() && arguments.fields[0] == &out)
    throw Error(ErrorCode::misuse, what + " reads neighbours; its result needs another vector than its first field");
  if (program.parameter_bytes() > grid_parameter_bytes ||
      (program.parameter_bytes() > 1 && !arguments.parameters))  // an empty struct has one byte
    throw Error(ErrorCode::misuse, what + " needs its parameters");
}

/// The job of a device. Inside a section of it. `out` is asked for last, so that fields may be the same vector.
inline GridJob grid_job(const GridProgram& program, const GridLayout& grid, const GridSides& sides,
                        const GridArguments& arguments, Vector& out, int device) {
  GridJob job;
  job.grid = grid.view(device);
  sides.add_to(job.grid, device);
  job.time = arguments.time;
  job.step = arguments.step;
  job.from_field = arguments.from_field;
  job.factor = arguments.factor;
  job.keep = arguments.keep;
  bool read = arguments.keep != 0;
  for (const Vector* field : arguments.fields) read = read || field == &out;
  job.out = read ? out.part(device).update_device() : out.part(device).write_device();
  for (std::size_t f = 0; f < arguments.fields.size(); ++f)
    if (const Vector* field = arguments.fields[f])
      job.fields[f] = field == &out ? job.out : field->part(device).read_device();
  if (arguments.parameters) std::memcpy(job.parameters, arguments.parameters, program.parameter_bytes());
  return job;
}

/// Sums along rows are taken by this many running sums: entry i belongs to sum i % 32. They are added by halves. The
/// order is that of a warp of a GPU, and CPUs follow it.
inline constexpr int row_sum_lanes = 32;
/// Rows are cut in pieces of this many nodes, which are summed each by itself.
inline constexpr int row_piece = 8192;

/// What a piece of a row says.
struct RowSummary {
  double sum = 0, least = 0, greatest = 0;
  std::int32_t least_at = 0, greatest_at = 0;  ///< in the piece
  std::int32_t not_finite = -1, reserved = 0;
};

/// Adds neighbours, then neighbours of those.
inline double add_pairwise(std::vector<double> parts) {
  if (parts.empty()) return 0;
  for (std::size_t n = parts.size(); n > 1; n = (n + 1) / 2)
    for (std::size_t i = 0; i < (n + 1) / 2; ++i)
      parts[i] = 2 * i + 1 < n ? parts[2 * i] + parts[2 * i + 1] : parts[2 * i];
  return parts[0];
}

/// Collects the pieces of all rows of all devices, in the order of nodes.
class GridSummaryBuilder {
 public:
  explicit GridSummaryBuilder(const GridShape& shape) : shape_(shape) {}
  /// The piece that begins at a node of the whole grid.
  void add(const RowSummary& piece, std::int64_t node) {
    const int j = static_cast<int>(node / shape_.nodes[0] % shape_.nodes[1]),
              k = static_cast<int>(node / (std::int64_t{shape_.nodes[0]} * shape_.nodes[1]));
    const auto end = [&](std::size_t axis, int at) {
      return shape_.nodes[axis] > 1 && !shape_.periodic[axis] && (at == 0 || at == shape_.nodes[axis] - 1);
    };
    sums_.push_back((end(1, j) ? 0.5 : 1.0) * (end(2, k) ? 0.5 : 1.0) * piece.sum);
    const bool first = sums_.size() == 1;
    if (first || piece.least < result_.least) result_.least = piece.least, result_.least_at = node + piece.least_at;
    if (first || piece.greatest > result_.greatest)
      result_.greatest = piece.greatest, result_.greatest_at = node + piece.greatest_at;
    if (piece.not_finite >= 0 && result_.not_finite < 0) result_.not_finite = node + piece.not_finite;
  }
  GridSummary result() const {
    GridSummary all = result_;
    all.sum = add_pairwise(sums_);
    return all;
  }

 private:
  const GridShape& shape_;
  std::vector<double> sums_;
  GridSummary result_;
};

}  // namespace voussoir::detail
