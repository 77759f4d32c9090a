#include <voussoir/framework/grid/detail/line_sweeps.hpp>

#include <algorithm>

namespace voussoir::detail {

namespace {

/// The matrix 1 − weight D of the lines along an axis.
struct LineMatrix {
  std::vector<double> lower, diagonal, upper;

  LineMatrix(const Grid& grid, int axis, double weight) {
    const auto n = static_cast<std::size_t>(grid.nodes(axis));
    const double r = weight / (grid.spacing(axis) * grid.spacing(axis));
    lower.assign(n, -r);
    diagonal.assign(n, 1 + 2 * r);
    upper.assign(n, -r);
    if (grid.is_periodic(axis)) return;
    for (const int end : {0, 1}) {
      const std::size_t row = end ? n - 1 : 0;
      std::vector<double>& inward = end ? lower : upper;
      if (grid.side(2 * axis + end).kind == SideKind::prescribed) {
        diagonal[row] = 1;
        inward[row] = 0;
      } else {
        inward[row] = -2 * r;
      }
      (end ? upper : lower)[row] = 0;
    }
  }
};

}  // namespace

LineSweeps::LineSweeps(std::shared_ptr<const GridSpace> space, const std::array<double, 3>& weight)
    : space_(std::move(space)), services_(space_->backend().service<SweepServices>()) {
  const Grid& grid = space_->grid();
  const GridLayout& layout = space_->layout();
  devices_.resize(static_cast<std::size_t>(layout.devices()));
  for (int d = 0; d < layout.devices(); ++d) {
    Device& device = devices_[static_cast<std::size_t>(d)];
    device.faults = services_.make_faults(d);
    device.first_column = layout.plane_nodes() * d / layout.devices();
    device.columns = layout.plane_nodes() * (d + 1) / layout.devices() - device.first_column;
    for (int axis = 0; axis < grid.dimensions(); ++axis) {
      if (weight[static_cast<std::size_t>(axis)] == 0) continue;
      const LineMatrix matrix(grid, axis, weight[static_cast<std::size_t>(axis)]);
      const auto& memory = space_->backend().memory(d);
      const Array<double> lower(memory, std::span<const double>(matrix.lower)),
          diagonal(memory, std::span<const double>(matrix.diagonal)),
          upper(memory, std::span<const double>(matrix.upper));
      SweepOptions options;
      options.periodic = grid.is_periodic(axis);
      options.device = d;
      device.plans[static_cast<std::size_t>(axis)] =
          services_.prepare(SweepCoefficients<double>{lower, diagonal, upper}, grid.nodes(axis), options);
    }
  }
}

SweepShape LineSweeps::shape(int axis, int device) const {
  const GridLayout& layout = space_->layout();
  std::array<std::int64_t, 3> n{};
  for (int a = 0; a < 3; ++a)
    n[static_cast<std::size_t>(a)] = a == layout.split_axis() ? layout.planes(device) : space_->grid().nodes(a);
  return axis == 0   ? SweepShape::x_lines(n[0], n[1], n[2])
         : axis == 1 ? SweepShape::y_lines(n[0], n[1], n[2])
                     : SweepShape::z_lines(n[0], n[1], n[2]);
}

void LineSweeps::solve(int axis, Vector& d) {
  const GridLayout& layout = space_->layout();
  if (axis == layout.split_axis() && layout.devices() > 1) return solve_across_devices(d);
  for (int device = 0; device < layout.devices(); ++device) {
    if (layout.planes(device) == 0) continue;
    Device& own = devices_[static_cast<std::size_t>(device)];
    services_.solve(*own.plans[static_cast<std::size_t>(axis)], shape(axis, device), d.part(device), d.part(device),
                    own.faults.get());
  }
}

void LineSweeps::solve_across_devices(Vector& d) {
  // Each device gets all planes of its share of the columns; values travel through the host.
  const GridLayout& layout = space_->layout();
  const int axis = layout.split_axis();
  const auto planes = static_cast<std::size_t>(space_->grid().nodes(axis));
  const auto plane = static_cast<std::size_t>(layout.plane_nodes());
  std::vector<double> all = d.to_host();
  for (Device& own : devices_) {
    const auto columns = static_cast<std::size_t>(own.columns), first = static_cast<std::size_t>(own.first_column);
    if (columns == 0) continue;
    const int device = static_cast<int>(&own - devices_.data());
    if (own.lines.empty()) own.lines = Array<double>(space_->backend().memory(device), planes * columns);
    const auto lines = own.lines.write_host();
    for (std::size_t p = 0; p < planes; ++p)
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(p * plane + first), columns,
                  lines.begin() + static_cast<std::ptrdiff_t>(p * columns));
    services_.solve(*own.plans[static_cast<std::size_t>(axis)],
                    SweepShape::interleaved(static_cast<std::int64_t>(planes), own.columns), own.lines, own.lines,
                    own.faults.get());
  }
  for (const Device& own : devices_) {
    const auto columns = static_cast<std::size_t>(own.columns), first = static_cast<std::size_t>(own.first_column);
    if (columns == 0) continue;
    const auto lines = own.lines.read_host();
    for (std::size_t p = 0; p < planes; ++p)
      std::copy_n(lines.begin() + static_cast<std::ptrdiff_t>(p * columns), columns,
                  all.begin() + static_cast<std::ptrdiff_t>(p * plane + first));
  }
  d.from_host(all);
}

void LineSweeps::check() {
  for (Device& own : devices_) own.faults->take().require();
}

}  // namespace voussoir::detail
