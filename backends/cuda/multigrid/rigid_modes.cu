#include <voussoir/backends/cuda/multigrid/gathered_nodes.hpp>
#include <voussoir/backends/cuda/multigrid/node_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/detail/rigid_mode.hpp>

// Rigid-body modes and the equations of the finest level's rows.

namespace voussoir::cuda {

namespace {

__global__ void list_equations(std::int64_t rows, int height, const std::int32_t* first, std::int32_t* equation) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const std::int64_t node = i / height;
  const auto r = static_cast<std::int32_t>(i - node * height);
  equation[i] = first[node] + r < first[node + 1] ? first[node] + r : -1;
}

struct ModeInput {
  std::int64_t rows = 0;
  int height = 1, modes = 1;
  const std::uint8_t* motion = nullptr;
  bool alike = true;  // the same motions at each node
  const double* points = nullptr;
  const std::int32_t* first = nullptr;
  const std::uint8_t* constrained = nullptr;
  double centre[3] = {};
  double length = 1;
};

/// A thread per row.
__global__ void make_modes(ModeInput in, double* result) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.rows) return;
  const std::int64_t node = i / in.height;
  const auto r = static_cast<std::int32_t>(i - node * in.height);
  const double* point = in.points + node * 3;
  const std::int32_t equation = in.first[node] + r;
  const bool is_free = equation < in.first[node + 1] && in.constrained[equation] == 0;
  const Motion kind = is_free ? static_cast<Motion>(in.motion[in.alike ? r : i]) : Motion::nothing;
  voussoir::detail::rigid_mode(kind, in.modes, (point[0] - in.centre[0]) / in.length,
                               (point[1] - in.centre[1]) / in.length, (point[2] - in.centre[2]) / in.length, in.length,
                               result + i * in.modes);
}

}  // namespace

Array<std::int32_t> CudaMultigrid::equations_of(const DeviceModel& model, int height) {
  if (model.uniform_components() == height) return {};
  const GatheredNodes table(model);
  const std::int64_t rows = static_cast<std::int64_t>(model.node_count()) * height;
  auto equation = array<std::int32_t>(rows);
  DeviceSection section(*memory());
  launch(list_equations, grid_for(rows), stream(), rows, height, table.first_equation().read_device(),
         equation.write_device());
  return equation;
}

Array<double> CudaMultigrid::rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height,
                                         int modes, const std::array<double, 3>& centre, double length) {
  const auto rows = static_cast<std::int64_t>(model.node_count()) * height;
  const bool alike = motion.size() == static_cast<std::size_t>(height);
  if (!alike && motion.size() != static_cast<std::size_t>(rows))
    throw Error(ErrorCode::misuse, "rigid_modes: " + std::to_string(motion.size()) +
                                       " modes were given; one for each of the " + std::to_string(height) +
                                       " rows of a node is needed, or one for each of all " + std::to_string(rows));
  if (modes < 1 || !(length > 0))
    throw Error(ErrorCode::misuse, "rigid_modes: the number of modes and the length must be positive");
  const GatheredNodes table(model);
  return rigid_modes_at(memory(), {table.coordinates(), table.first_equation(), table.constrained(), rows}, motion,
                        height, modes, centre, length);
}

Array<double> rigid_modes_at(const std::shared_ptr<DeviceMemory>& memory, const NodeRows& nodes,
                             std::span<const Motion> motion, int height, int modes, const std::array<double, 3>& centre,
                             double length) {
  Array<std::uint8_t> motions(memory, motion.size());
  {
    const auto target = motions.write_host();
    for (std::size_t i = 0; i < motion.size(); ++i) target[i] = static_cast<std::uint8_t>(motion[i]);
  }
  Array<double> result(memory, static_cast<std::size_t>(nodes.rows) * static_cast<std::size_t>(modes));
  DeviceSection section(*memory);
  ModeInput in;
  in.rows = nodes.rows;
  in.height = height;
  in.modes = modes;
  in.motion = motions.read_device();
  in.alike = motion.size() == static_cast<std::size_t>(height);
  in.points = nodes.coordinates.read_device();
  in.first = nodes.first_equation.read_device();
  in.constrained = nodes.constrained.read_device();
  for (std::size_t c = 0; c < 3; ++c) in.centre[c] = centre[c];
  in.length = length;
  launch(make_modes, grid_for(in.rows), stream_of(memory), in, result.write_device());
  return result;
}

}  // namespace voussoir::cuda
