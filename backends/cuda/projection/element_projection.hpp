#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/projection/panels.hpp>
#include <voussoir/backends/detail/element_equations.hpp>
#include <voussoir/backends/element_program.hpp>

namespace voussoir::cuda {

/// Element matrices in the layout of lanes, and what belongs to them, as plain arrays on a device.
struct ProjectedElements {
  const double* matrices = nullptr;      ///< upper triangles
  std::int64_t count = 0;                ///< elements
  const std::int32_t* number = nullptr;  ///< local number of each, −1: it does not count; null: its own
  int nodes = 0;
  int dofs = 0;
  const std::int32_t* node = nullptr;  ///< of local elements
  voussoir::detail::ElementEquations equations;
  const std::uint8_t* constrained = nullptr;  ///< equations whose x counts as zero; null: none
  const double* x = nullptr;
  int columns = 1;
};

/// Whether matrices of elements of so many unknowns find room on the chip.
bool fits_projection(int dofs, const CudaMemory& memory);
/// Enqueues sums += Σ XₑᵀLₑXₑ for upper_panels(). Inside a section.
void project_elements(const ProjectedElements& elements, PanelSums& sums, const CudaMemory& memory);
/// Enqueues sums += Σ xᵢᵀxᵢ over rows of X. Inside a section.
void project_rows(const std::int32_t* rows, std::int64_t count, const double* x, int columns, PanelSums& sums,
                  const CudaMemory& memory);

}  // namespace voussoir::cuda
