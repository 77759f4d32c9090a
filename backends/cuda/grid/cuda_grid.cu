#include <voussoir/backends/cuda/grid/cuda_grid.hpp>

#include <algorithm>
#include <map>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/grid/device_grid_program.hpp>
#include <voussoir/backends/detail/grid_checks.hpp>
#include <voussoir/elements/grid/stock_stencils.hpp>

namespace voussoir::cuda {

namespace {

namespace common = voussoir::detail;

std::map<std::string, std::shared_ptr<const DeviceGridProgram>>& native_grid_programs() {
  static std::map<std::string, std::shared_ptr<const DeviceGridProgram>> programs;
  return programs;
}

template <class Kernel>
void add_stock() {
  add_native_grid_program(Kernel::name, std::make_shared<NativeGridProgram<Kernel>>());
}

[[maybe_unused]] const bool stock_added = [] {
  add_stock<DiffusionStencil>();
  add_stock<LayeredStencil>();
  add_stock<ConstantSource>();
  add_stock<BoxSource>();
  add_stock<GaussianSource>();
  return true;
}();

/// The nodes of a side that a device has, as a range along each axis.
struct SideNodes {
  int low[3], count[3];
};

/// Prescribed values, or slopes times a factor added, at the nodes of a side: a thread per node.
template <bool Prescribed>
__global__ void __launch_bounds__(grid_threads)
    side_values(GridView view, int side, SideNodes nodes, double factor, double* u) {
  const long long n = static_cast<long long>(blockIdx.x) * grid_threads + static_cast<long long>(threadIdx.x);
  if (n >= static_cast<long long>(nodes.count[0]) * nodes.count[1] * nodes.count[2]) return;
  const int i = nodes.low[0] + static_cast<int>(n % nodes.count[0]);
  const int j = nodes.low[1] + static_cast<int>(n / nodes.count[0] % nodes.count[1]);
  const int k = nodes.low[2] + static_cast<int>(n / (static_cast<long long>(nodes.count[0]) * nodes.count[1]));
  const long long at =
      i + view.nodes[0] * (j + static_cast<long long>(view.nodes[1]) * k) - view.plane_nodes * view.first_plane;
  const double value = value_on_side(view, side, i, j, k);
  if constexpr (Prescribed)
    u[at] = value;
  else if (!is_prescribed(view, i, j, k))
    u[at] += factor * value;
}

/// A piece of a row by a warp, in the order of common::row_sum_lanes.
__global__ void __launch_bounds__(grid_threads) summarise_rows(int rows, int row_nodes, int pieces, int first,
                                                               int end_node, const double* u, common::RowSummary* out) {
  const int warps = grid_threads / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const long long p = static_cast<long long>(blockIdx.x) * warps + threadIdx.x / 32;
  if (p >= static_cast<long long>(rows) * pieces) return;  // a whole warp
  const int row = static_cast<int>(p / pieces), begin = static_cast<int>(p % pieces) * common::row_piece;
  const int count = row_nodes - begin < common::row_piece ? row_nodes - begin : common::row_piece;
  const double* values = u + static_cast<long long>(row) * row_nodes + begin;
  double sum = 0, least = values[0], greatest = values[0];
  int least_at = 0, greatest_at = 0, bad = count;
  for (int i = lane; i < count; i += 32) {
    const double v = values[i];
    const int node = first + begin + i;
    sum += end_node > 0 && (node == 0 || node == end_node) ? 0.5 * v : v;
    if (v < least) least = v, least_at = i;
    if (v > greatest) greatest = v, greatest_at = i;
    if (!(v - v == 0) && i < bad) bad = i;
  }
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
    const double less = __shfl_xor_sync(0xffffffffu, least, step), more = __shfl_xor_sync(0xffffffffu, greatest, step);
    const int less_at = __shfl_xor_sync(0xffffffffu, least_at, step),
              more_at = __shfl_xor_sync(0xffffffffu, greatest_at, step),
              worse = __shfl_xor_sync(0xffffffffu, bad, step);
    if (less < least || (less == least && less_at < least_at)) least = less, least_at = less_at;
    if (more > greatest || (more == greatest && more_at < greatest_at)) greatest = more, greatest_at = more_at;
    if (worse < bad) bad = worse;
  }
  if (lane == 0) {
    common::RowSummary all;
    all.sum = sum;
    all.least = least;
    all.greatest = greatest;
    all.least_at = least_at;
    all.greatest_at = greatest_at;
    all.not_finite = bad < count ? bad : -1;
    out[p] = all;
  }
}

/// Values at some entries.
__global__ void __launch_bounds__(grid_threads)
    sample_entries(int count, const std::int64_t* entries, const double* u, double* out) {
  const int n = static_cast<int>(blockIdx.x) * grid_threads + static_cast<int>(threadIdx.x);
  if (n < count) out[n] = u[entries[n]];
}

class CudaGridServices final : public GridServices {
 public:
  explicit CudaGridServices(CudaBackend& backend) : backend_(backend) {}

  Route route(const GridProgram& program) const override {
    std::string why;
    const DeviceGridProgram* found = find_grid_program(program, why);
    return found ? found->route() : Route::host;
  }
  std::string route_reason(const GridProgram& program) const override {
    std::string why;
    find_grid_program(program, why);
    return why;
  }

  void apply(const GridProgram& program, const GridLayout& grid, const GridSides& sides, const GridArguments& arguments,
             Vector& out) override {
    common::require_own(backend_, out, "grid kernel");
    common::check_grid_arguments(program, grid, arguments, out);
    if (program.reads_neighbours() && grid.devices() > 1) exchange_ghosts(*arguments.fields[0]);
    std::string why;
    const DeviceGridProgram* found = find_grid_program(program, why);
    for (int d = 0; d < grid.devices(); ++d) {
      if (grid.planes(d) == 0) continue;
      const CudaMemory& memory = cuda_memory(backend_.memory(d));
      if (!found) {
        run_on_host(program, grid, sides, arguments, out, d);
        continue;
      }
      DeviceSection section(*backend_.memory(d));
      found->run(common::grid_job(program, grid, sides, arguments, out, d), memory);
    }
  }

  void set_prescribed(const GridLayout& grid, const GridSides& sides, int axis, Vector& u) override {
    for_sides(grid, sides, axis, GridSideKind::prescribed, u,
              [](const GridView& view, int side, const SideNodes& nodes, Grid size, cudaStream_t stream,
                 double* values) { launch(side_values<true>, size, stream, view, side, nodes, 0.0, values); });
  }

  void add_slopes(const GridLayout& grid, const GridSides& sides, int axis, double factor, Vector& u) override {
    for_sides(
        grid, sides, axis, GridSideKind::slope, u,
        [factor](const GridView& view, int side, const SideNodes& nodes, Grid size, cudaStream_t stream,
                 double* values) { launch(side_values<false>, size, stream, view, side, nodes, factor, values); });
  }

  void sample(const GridLayout& grid, const Vector& u, std::span<const std::int64_t> nodes,
              std::span<double> values) override {
    common::require_own(backend_, u, "values of a grid");
    common::require_grid(grid, u, "values of a grid");
    common::check_samples(grid, nodes, values);
    for (int d = 0; d < grid.devices(); ++d) {
      const std::int64_t first = grid.layout()->first(d), count = grid.layout()->owned(d);
      std::vector<std::int64_t> entries;
      std::vector<std::size_t> places;
      for (std::size_t n = 0; n < nodes.size(); ++n)
        if (nodes[n] >= first && nodes[n] < first + count) {
          entries.push_back(nodes[n] - first);
          places.push_back(n);
        }
      if (entries.empty()) continue;
      const Array<std::int64_t> list(backend_.memory(d), std::span<const std::int64_t>(entries));
      Array<double> out(backend_.memory(d), entries.size());
      {
        DeviceSection section(*backend_.memory(d));
        launch(sample_entries, grid_for(static_cast<std::int64_t>(entries.size()), grid_threads),
               stream_of(backend_.memory(d)), static_cast<int>(entries.size()), list.read_device(),
               u.part(d).read_device(), out.write_device());
      }
      const auto found = out.read_host();
      for (std::size_t n = 0; n < places.size(); ++n) values[places[n]] = found[n];
    }
  }

  GridSummary summary(const GridLayout& grid, const Vector& u) override {
    common::require_own(backend_, u, "summary of a grid");
    common::require_grid(grid, u, "summary of a grid");
    common::GridSummaryBuilder builder(grid.shape());
    for (int d = 0; d < grid.devices(); ++d) {
      if (grid.planes(d) == 0) continue;
      const int rows = grid.rows(d), nodes = grid.row_nodes(d),
                pieces = (nodes + common::row_piece - 1) / common::row_piece;
      const bool ends = grid.shape().nodes[0] > 1 && !grid.shape().periodic[0];
      Array<common::RowSummary> out(backend_.memory(d), static_cast<std::size_t>(rows) * pieces);
      {
        DeviceSection section(*backend_.memory(d));
        launch(summarise_rows, grid_for(static_cast<std::int64_t>(rows) * pieces * 32, grid_threads),
               stream_of(backend_.memory(d)), rows, nodes, pieces, grid.split_axis() == 0 ? grid.first_plane(d) : 0,
               ends ? grid.shape().nodes[0] - 1 : 0, u.part(d).read_device(), out.write_device());
      }
      const auto pieces_of_rows = out.read_host();
      const std::int64_t first = grid.layout()->first(d);
      for (std::size_t r = 0; r < pieces_of_rows.size(); ++r)
        builder.add(pieces_of_rows[r], first + static_cast<std::int64_t>(r / pieces) * nodes +
                                           static_cast<std::int64_t>(r % pieces) * common::row_piece);
    }
    return builder.result();
  }

 private:
  /// Values travel to the host and back: for kernels that have neither code nor text for the GPU.
  void run_on_host(const GridProgram& program, const GridLayout& grid, const GridSides& sides,
                   const GridArguments& arguments, Vector& out, int device) {
    GridView view = grid.view(device);
    std::vector<std::vector<double>> side_values = sides.on_host(view, device);
    GridJob job;
    job.grid = view;
    job.time = arguments.time;
    job.step = arguments.step;
    job.from_field = arguments.from_field;
    job.factor = arguments.factor;
    job.keep = arguments.keep;
    if (arguments.parameters) std::memcpy(job.parameters, arguments.parameters, program.parameter_bytes());
    bool read = arguments.keep != 0;
    for (const Vector* field : arguments.fields) read = read || field == &out;
    job.out = read ? out.part(device).update_host().data() : out.part(device).write_host().data();
    for (std::size_t f = 0; f < arguments.fields.size(); ++f)
      if (const Vector* field = arguments.fields[f])
        job.fields[f] = field == &out ? job.out : field->part(device).read_host().data();
    for (int row = 0; row < grid.rows(device); ++row) program.run_row(job, row, 0, grid.row_nodes(device));
  }

  /// Calls work(view, side, nodes, launch, stream, values) for sides of a kind across an axis (−1: all).
  template <class Work>
  void for_sides(const GridLayout& grid, const GridSides& sides, int axis, GridSideKind kind, Vector& u, Work&& work) {
    common::require_own(backend_, u, "sides of a grid");
    common::require_grid(grid, u, "sides of a grid");
    for (int d = 0; d < grid.devices(); ++d) {
      if (grid.planes(d) == 0) continue;
      DeviceSection section(*backend_.memory(d));
      GridView view = grid.view(d);
      sides.add_to(view, d);
      double* values = u.part(d).update_device();
      for (int side = 0; side < 6; ++side) {
        if ((axis >= 0 && axis != side / 2) || view.side[side].kind != kind) continue;
        SideNodes nodes{{0, 0, 0}, {view.nodes[0], view.nodes[1], view.nodes[2]}};
        nodes.low[view.split_axis] = view.first_plane;
        nodes.count[view.split_axis] = view.plane_count;
        const int a = side / 2, at = side % 2 ? view.nodes[a] - 1 : 0;
        if (at < nodes.low[a] || at >= nodes.low[a] + nodes.count[a]) continue;
        nodes.low[a] = at;
        nodes.count[a] = 1;
        const std::int64_t count = std::int64_t{nodes.count[0]} * nodes.count[1] * nodes.count[2];
        work(view, side, nodes, grid_for(count, grid_threads), stream_of(backend_.memory(d)), values);
      }
    }
  }

  CudaBackend& backend_;
};

}  // namespace

void add_native_grid_program(const std::string& name, std::shared_ptr<const DeviceGridProgram> program) {
  native_grid_programs()[name] = std::move(program);
}

const DeviceGridProgram* find_grid_program(const GridProgram& program, std::string& why) {
  const auto native = native_grid_programs().find(program.name());
  if (native != native_grid_programs().end()) return native->second.get();
  return find_jit_grid_program(program, why);
}

std::unique_ptr<GridServices> make_grid_services(CudaBackend& backend) {
  return std::make_unique<CudaGridServices>(backend);
}

}  // namespace voussoir::cuda
