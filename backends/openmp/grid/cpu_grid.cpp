#include <voussoir/backends/openmp/grid/cpu_grid.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/detail/grid_checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir::cpu {

namespace {

using detail::row_piece;
using detail::RowSummary;

/// Nodes that are worth a thread of their own.
constexpr std::int64_t fewest_nodes = 8192;

/// Calls work(row, begin, end) for pieces of all rows of a device's part. Which nodes form a piece depends on the grid
/// alone.
template <class Work>
void for_row_pieces(const GridLayout& grid, int device, int threads, Work&& work) {
  const int rows = grid.rows(device), nodes = grid.row_nodes(device);
  const std::int64_t pieces = (nodes + row_piece - 1) / row_piece, count = rows * pieces;
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads) schedule(static) if (std::int64_t{rows} * nodes > fewest_nodes)
  for (std::int64_t p = 0; p < count; ++p)
    keeper.guard([&] {
      const int begin = static_cast<int>(p % pieces) * row_piece;
      work(static_cast<int>(p / pieces), begin, std::min(nodes, begin + row_piece));
    });
  keeper.rethrow();
}

/// Sum (with weights ½ at the ends of the line) and extremes of a piece whose first node is `first` along x.
RowSummary summarise(const double* u, int count, std::int64_t first, const GridShape& shape) {
  RowSummary all;
  double sums[detail::row_sum_lanes] = {};
  const bool ends = shape.nodes[0] > 1 && !shape.periodic[0];
  for (int i = 0; i < count; ++i) {
    const bool end = ends && (first + i == 0 || first + i == shape.nodes[0] - 1);
    sums[i % detail::row_sum_lanes] += end ? 0.5 * u[i] : u[i];
  }
  for (int step = detail::row_sum_lanes / 2; step > 0; step /= 2)
    for (int l = 0; l < step; ++l) sums[l] += sums[l + step];
  all.sum = sums[0];
  all.least = all.greatest = u[0];
  for (int i = 0; i < count; ++i) {
    if (u[i] < all.least) all.least = u[i], all.least_at = i;
    if (u[i] > all.greatest) all.greatest = u[i], all.greatest_at = i;
    if (all.not_finite < 0 && !std::isfinite(u[i])) all.not_finite = i;
  }
  return all;
}

class CpuGridServices final : public GridServices {
 public:
  explicit CpuGridServices(CpuBackend& backend) : backend_(backend) {}

  Route route(const GridProgram&) const override { return Route::native; }
  std::string route_reason(const GridProgram&) const override { return {}; }

  void apply(const GridProgram& program, const GridLayout& grid, const GridSides& sides, const GridArguments& arguments,
             Vector& out) override {
    detail::require_own(backend_, out, "grid kernel");
    detail::check_grid_arguments(program, grid, arguments, out);
    if (program.reads_neighbours() && grid.devices() > 1) backend_.exchange(*arguments.fields[0]);
    for (int d = 0; d < grid.devices(); ++d) {
      if (grid.planes(d) == 0) continue;
      DeviceSection section(*backend_.memory(d));
      const GridJob job = detail::grid_job(program, grid, sides, arguments, out, d);
      for_row_pieces(grid, d, backend_.threads(),
                     [&](int row, int begin, int end) { program.run_row(job, row, begin, end); });
    }
  }

  void set_prescribed(const GridLayout& grid, const GridSides& sides, int axis, Vector& u) override {
    for_side_nodes(grid, sides, axis, GridSideKind::prescribed, u,
                   [](const GridView& view, int side, int i, int j, int k, double& value) {
                     value = value_on_side(view, side, i, j, k);
                   });
  }

  void add_slopes(const GridLayout& grid, const GridSides& sides, int axis, double factor, Vector& u) override {
    for_side_nodes(grid, sides, axis, GridSideKind::slope, u,
                   [factor](const GridView& view, int side, int i, int j, int k, double& value) {
                     if (!is_prescribed(view, i, j, k)) value += factor * value_on_side(view, side, i, j, k);
                   });
  }

  void sample(const GridLayout& grid, const Vector& u, std::span<const std::int64_t> nodes,
              std::span<double> values) override {
    detail::require_own(backend_, u, "values of a grid");
    detail::require_grid(grid, u, "values of a grid");
    detail::check_samples(grid, nodes, values);
    for (int d = 0; d < grid.devices(); ++d) {
      if (grid.planes(d) == 0) continue;
      DeviceSection section(*backend_.memory(d));
      const double* own = u.part(d).read_device();
      const std::int64_t first = grid.layout()->first(d), count = grid.layout()->owned(d);
      for (std::size_t n = 0; n < nodes.size(); ++n)
        if (nodes[n] >= first && nodes[n] < first + count) values[n] = own[nodes[n] - first];
    }
  }

  GridSummary summary(const GridLayout& grid, const Vector& u) override {
    detail::require_own(backend_, u, "summary of a grid");
    detail::require_grid(grid, u, "summary of a grid");
    detail::GridSummaryBuilder builder(grid.shape());
    for (int d = 0; d < grid.devices(); ++d) {
      if (grid.planes(d) == 0) continue;
      const int nodes = grid.row_nodes(d), pieces = (nodes + row_piece - 1) / row_piece;
      std::vector<RowSummary> rows(static_cast<std::size_t>(grid.rows(d)) * static_cast<std::size_t>(pieces));
      {
        DeviceSection section(*backend_.memory(d));
        const double* values = u.part(d).read_device();
        const std::int64_t first = grid.split_axis() == 0 ? grid.first_plane(d) : 0;
        for_row_pieces(grid, d, backend_.threads(), [&](int row, int begin, int end) {
          rows[static_cast<std::size_t>(row) * pieces + begin / row_piece] = summarise(
              values + static_cast<std::int64_t>(row) * nodes + begin, end - begin, first + begin, grid.shape());
        });
      }
      const std::int64_t first = grid.layout()->first(d);
      for (std::size_t r = 0; r < rows.size(); ++r)
        builder.add(rows[r], first + static_cast<std::int64_t>(r / pieces) * nodes +
                                 static_cast<std::int64_t>(r % pieces) * row_piece);
    }
    return builder.result();
  }

 private:
  /// Calls work(view, side, i, j, k, value) for the nodes of sides of a kind across an axis (−1: all).
  template <class Work>
  void for_side_nodes(const GridLayout& grid, const GridSides& sides, int axis, GridSideKind kind, Vector& u,
                      Work&& work) {
    detail::require_own(backend_, u, "sides of a grid");
    detail::require_grid(grid, u, "sides of a grid");
    for (int d = 0; d < grid.devices(); ++d) {
      if (grid.planes(d) == 0) continue;
      DeviceSection section(*backend_.memory(d));
      GridView view = grid.view(d);
      sides.add_to(view, d);
      double* values = u.part(d).update_device();
      for (int side = 0; side < 6; ++side)
        if ((axis < 0 || axis == side / 2) && view.side[side].kind == kind) visit(view, side, values, work);
    }
  }

  template <class Work>
  void visit(const GridView& view, int side, double* values, Work& work) {
    int low[3] = {0, 0, 0}, high[3] = {view.nodes[0], view.nodes[1], view.nodes[2]};
    low[view.split_axis] = view.first_plane;
    high[view.split_axis] = view.first_plane + view.plane_count;
    const int a = side / 2, at = side % 2 ? view.nodes[a] - 1 : 0;
    if (at < low[a] || at >= high[a]) return;
    low[a] = at;
    high[a] = at + 1;
    const std::int64_t nodes = std::int64_t{high[0] - low[0]} * (high[1] - low[1]) * (high[2] - low[2]);
    const std::int64_t offset = view.plane_nodes * view.first_plane;
#pragma omp parallel for collapse(2) num_threads(backend_.threads()) if (nodes > fewest_nodes)
    for (int k = low[2]; k < high[2]; ++k)
      for (int j = low[1]; j < high[1]; ++j)
        for (int i = low[0]; i < high[0]; ++i)
          work(view, side, i, j, k,
               values[i + view.nodes[0] * (j + static_cast<std::int64_t>(view.nodes[1]) * k) - offset]);
  }

  CpuBackend& backend_;
};

}  // namespace

std::unique_ptr<GridServices> make_grid_services(CpuBackend& backend) {
  return std::make_unique<CpuGridServices>(backend);
}

}  // namespace voussoir::cpu
