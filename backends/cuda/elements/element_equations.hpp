#pragma once
#include <voussoir/backends/detail/element_equations.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

using voussoir::detail::ElementEquations;

/// The equations of a batch's elements, for device work.
inline ElementEquations element_equations(const DeviceModel::Part& part, int batch) {
  const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
  return {part.first_equation.read_device(), elements.slot.empty() ? nullptr : elements.slot.read_device(),
          elements.program->components()};
}

/// The same for work on the host.
inline ElementEquations host_element_equations(const DeviceModel::Part& part, int batch) {
  const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
  return {part.first_equation.read_host().data(), elements.slot.empty() ? nullptr : elements.slot.read_host().data(),
          elements.program->components()};
}

}  // namespace voussoir::cuda
