#include <voussoir/framework/grid/detail/line_sweeps.hpp>

#include <algorithm>

#include <voussoir/backends/number_text.hpp>

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

[[noreturn]] void refuse_step(const Grid& grid, int axis, double weight, double time_step) {
  throw Error(ErrorCode::bad_input, std::string("the time step ") + short_number(time_step, 6) + " is " +
                                        short_number(2 * weight / (grid.spacing(axis) * grid.spacing(axis)), 3) +
                                        " times rho c h^2 / k along " + "xyz"[axis] +
                                        ", too large for an implicit step in double precision; use a smaller step");
}

}  // namespace

LineSweeps::LineSweeps(std::shared_ptr<const GridSpace> space, const std::array<double, 3>& weight, double time_step)
    : space_(std::move(space)), services_(space_->backend().service<SweepServices>()), time_step_(time_step) {
  make_devices();
  const Grid& grid = space_->grid();
  for (Device& device : devices_)
    for (int axis = 0; axis < grid.dimensions(); ++axis) {
      const double own = weight[static_cast<std::size_t>(axis)];
      if (own == 0) continue;
      const LineMatrix matrix(grid, axis, own);
      const int d = static_cast<int>(&device - devices_.data());
      const auto& memory = space_->backend().memory(d);
      const Array<double> lower(memory, std::span<const double>(matrix.lower)),
          diagonal(memory, std::span<const double>(matrix.diagonal)),
          upper(memory, std::span<const double>(matrix.upper));
      SweepOptions options;
      options.periodic = grid.is_periodic(axis);
      options.device = d;
      try {
        device.plans[static_cast<std::size_t>(axis)] =
            services_.prepare(SweepCoefficients<double>{lower, diagonal, upper}, grid.nodes(axis), options);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::singular || error.code() == ErrorCode::not_finite)
          refuse_step(grid, axis, own, time_step);
        throw;
      }
    }
}

LineSweeps::LineSweeps(std::shared_ptr<const GridSpace> space, const LayeredMaterial& material, double time_step)
    : space_(std::move(space)),
      services_(space_->backend().service<SweepServices>()),
      material_(&material),
      time_step_(time_step) {
  make_devices();
  if (is_shared(space_->layout().split_axis())) gather_matrices();
}

void LineSweeps::make_devices() {
  const GridLayout& layout = space_->layout();
  devices_.resize(static_cast<std::size_t>(layout.devices()));
  for (int d = 0; d < layout.devices(); ++d) {
    Device& device = devices_[static_cast<std::size_t>(d)];
    for (auto& faults : device.faults) faults = services_.make_faults(d);
    device.first_column = layout.plane_nodes() * d / layout.devices();
    device.columns = layout.plane_nodes() * (d + 1) / layout.devices() - device.first_column;
  }
}

/// The matrices of lines across planes, as the lines themselves are distributed over devices.
void LineSweeps::gather_matrices() {
  const int axis = space_->layout().split_axis();
  const auto planes = static_cast<std::size_t>(space_->grid().nodes(axis));
  const auto plane = static_cast<std::size_t>(space_->layout().plane_nodes());
  const Vector* parts[] = {&material_->lower(axis), &material_->diagonal(axis), &material_->upper(axis)};
  for (std::size_t m = 0; m < 3; ++m) {
    const std::vector<double> all = parts[m]->to_host();
    for (Device& own : devices_) {
      if (own.columns == 0) continue;
      const auto columns = static_cast<std::size_t>(own.columns), first = static_cast<std::size_t>(own.first_column);
      own.matrices[m] =
          Array<double>(space_->backend().memory(static_cast<int>(&own - devices_.data())), planes * columns);
      const auto to = own.matrices[m].write_host();
      for (std::size_t p = 0; p < planes; ++p)
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(p * plane + first), columns,
                    to.begin() + static_cast<std::ptrdiff_t>(p * columns));
    }
  }
}

SweepShape LineSweeps::shape(int axis, int device) const {
  const GridLayout& layout = space_->layout();
  if (is_shared(axis))
    return SweepShape::interleaved(space_->grid().nodes(axis), devices_[static_cast<std::size_t>(device)].columns);
  std::array<std::int64_t, 3> n{};
  for (int a = 0; a < 3; ++a)
    n[static_cast<std::size_t>(a)] = a == layout.split_axis() ? layout.planes(device) : space_->grid().nodes(a);
  return axis == 0   ? SweepShape::x_lines(n[0], n[1], n[2])
         : axis == 1 ? SweepShape::y_lines(n[0], n[1], n[2])
                     : SweepShape::z_lines(n[0], n[1], n[2]);
}

void LineSweeps::solve_lines(int axis, int device, const SweepShape& shape, Array<double>& d) {
  Device& own = devices_[static_cast<std::size_t>(device)];
  SweepFaults* const faults = own.faults[static_cast<std::size_t>(axis)].get();
  if (!material_) return services_.solve(*own.plans[static_cast<std::size_t>(axis)], shape, d, d, faults);
  SweepOptions options;
  options.periodic = space_->grid().is_periodic(axis);
  options.device = device;
  options.faults = faults;
  if (is_shared(axis))
    return services_.solve(shape, SweepCoefficients<double>{own.matrices[0], own.matrices[1], own.matrices[2]}, d, d,
                           options);
  services_.solve(shape,
                  SweepCoefficients<double>{material_->lower(axis).part(device), material_->diagonal(axis).part(device),
                                            material_->upper(axis).part(device)},
                  d, d, options);
}

void LineSweeps::solve(int axis, Vector& d) {
  const GridLayout& layout = space_->layout();
  if (is_shared(axis)) return solve_across_devices(d);
  for (int device = 0; device < layout.devices(); ++device)
    if (layout.planes(device) > 0) solve_lines(axis, device, shape(axis, device), d.part(device));
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
    solve_lines(axis, device, shape(axis, device), own.lines);
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

void LineSweeps::refuse(int axis, int device, const SweepOutcome& outcome) const {
  const GridLayout& layout = space_->layout();
  const SweepShape lines = shape(axis, device);
  const std::int64_t row = std::max<std::int64_t>(0, outcome.row);
  std::int64_t node = lines.first + outcome.system / lines.inner * lines.outer_stride +
                      outcome.system % lines.inner * lines.inner_stride + row * lines.stride;
  if (is_shared(axis))
    node = row * layout.plane_nodes() + devices_[static_cast<std::size_t>(device)].first_column + outcome.system;
  else
    node += layout.layout()->first(device);
  const GridPosition x = space_->grid().position(node);
  throw Error(ErrorCode::not_finite,
              "temperatures became infinite or not a number at x = " + short_number(x[0], 6) +
                  ", y = " + short_number(x[1], 6) + ", z = " + short_number(x[2], 6) + ", along " + "xyz"[axis] +
                  ", with the time step " + short_number(time_step_, 6) +
                  "; use a smaller step, and check initial temperatures, sides, sources and materials");
}

void LineSweeps::check() {
  for (int d = 0; d < static_cast<int>(devices_.size()); ++d)
    for (int axis = 0; axis < space_->grid().dimensions(); ++axis)
      if (const SweepOutcome outcome =
              devices_[static_cast<std::size_t>(d)].faults[static_cast<std::size_t>(axis)]->take();
          !outcome.good())
        refuse(axis, d, outcome);
}

}  // namespace voussoir::detail
