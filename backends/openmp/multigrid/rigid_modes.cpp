#include <voussoir/backends/detail/node_table.hpp>
#include <voussoir/backends/detail/rigid_mode.hpp>
#include <voussoir/backends/openmp/multigrid/services.hpp>

// Rigid-body modes and the equations of the finest level's rows.

namespace voussoir::cpu {

Array<std::int32_t> CpuMultigrid::equations_of(const DeviceModel& model, int height) {
  if (model.uniform_components() == height) return {};
  const detail::NodeTable table(model);
  const std::int32_t nodes = model.node_count();
  auto equation = array<std::int32_t>(static_cast<std::int64_t>(nodes) * height);
  DeviceSection section(*memory());
  const std::int32_t* first = table.first_equation().read_device();
  std::int32_t* target = equation.write_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t n = 0; n < nodes; ++n)
    for (int r = 0; r < height; ++r)
      target[static_cast<std::int64_t>(n) * height + r] = first[n] + r < first[n + 1] ? first[n] + r : -1;
  return equation;
}

Array<double> CpuMultigrid::rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height, int modes,
                                        const std::array<double, 3>& centre, double length) {
  const std::int32_t nodes = model.node_count();
  const auto rows = static_cast<std::int64_t>(nodes) * height;
  const bool alike = motion.size() == static_cast<std::size_t>(height);
  if (!alike && motion.size() != static_cast<std::size_t>(rows))
    throw Error(ErrorCode::misuse, "rigid_modes: " + std::to_string(motion.size()) +
                                       " modes were given; one for each of the " + std::to_string(height) +
                                       " rows of a node is needed, or one for each of all " + std::to_string(rows));
  if (modes < 1 || !(length > 0))
    throw Error(ErrorCode::misuse, "rigid_modes: the number of modes and the length must be positive");
  const detail::NodeTable table(model);
  // Motions come from the host; device work reads them from its own memory.
  std::vector<std::uint8_t> bytes(motion.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(motion[i]);
  const Array<std::uint8_t> motions(memory(), std::span<const std::uint8_t>(bytes));
  auto result = array<double>(rows * modes);

  DeviceSection section(*memory());
  const std::uint8_t* moved = motions.read_device();
  const double* points = table.coordinates().read_device();
  const std::int32_t* first = table.first_equation().read_device();
  const std::uint8_t* constrained = table.constrained().read_device();
  double* target = result.write_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t n = 0; n < nodes; ++n) {
    const double* point = points + static_cast<std::int64_t>(n) * 3;
    const double x = (point[0] - centre[0]) / length, y = (point[1] - centre[1]) / length,
                 z = (point[2] - centre[2]) / length;
    for (int r = 0; r < height; ++r) {
      const std::int64_t row = static_cast<std::int64_t>(n) * height + r;
      const std::int32_t equation = first[n] + r;
      const bool is_free = equation < first[n + 1] && constrained[equation] == 0;
      const auto kind = static_cast<Motion>(moved[alike ? r : row]);
      detail::rigid_mode(is_free ? kind : Motion::nothing, modes, x, y, z, length, target + row * modes);
    }
  }
  return result;
}

}  // namespace voussoir::cpu
