#pragma once
#include <array>
#include <memory>
#include <span>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cuda {

/// The nodes of rows on a device: arrays as in DeviceModel::Part.
struct NodeRows {
  const Array<double>& coordinates;
  const Array<std::int32_t>& first_equation;
  const Array<std::uint8_t>& constrained;
  std::int64_t rows = 0;
};

/// Rigid-body modes at these rows, as MultigridServices::rigid_modes() defines them.
Array<double> rigid_modes_at(const std::shared_ptr<DeviceMemory>& memory, const NodeRows& nodes,
                             std::span<const Motion> motion, int height, int modes, const std::array<double, 3>& centre,
                             double length);

}  // namespace voussoir::cuda
