#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/projection/panels.hpp>
#include <voussoir/backends/detail/element_equations.hpp>
#include <voussoir/backends/element_program.hpp>

namespace voussoir::cuda {

/// Which equations belong to the rows of the X of elements, as plain arrays on a device: what rows_of_elements() reads.
struct ElementRowSource {
  std::int64_t count = 0;                 ///< elements
  const std::int32_t* order = nullptr;    ///< the element at each place; null: its own
  const std::int32_t* counted = nullptr;  ///< local number of each element, −1: it does not count; null: its own
  int nodes = 0;
  int dofs = 0;
  const std::int32_t* node = nullptr;  ///< of local elements
  voussoir::detail::ElementEquations equations;
  const std::uint8_t* constrained = nullptr;  ///< equations whose x counts as zero; null: none
};

/// Rows of the X of an element in a list: its unknowns, filled up to whole tiles of eight.
constexpr int listed_rows(int dofs) { return (dofs + 7) / 8 * 8; }
/// Numbers of a list of the rows of so many elements: whole groups of 32.
constexpr std::int64_t row_list_size(std::int64_t count, int dofs) {
  return (count + 31) / 32 * 32 * listed_rows(dofs);
}
/// Enqueues: the row of X for every unknown of every element, −1 where it counts as zero, and −2 for the first unknown
/// of an element that does not count. From elements to nodes to equations is a long way through memory, which a
/// projection does not go again. Inside a section.
void list_rows(const ElementRowSource& source, std::int32_t* rows, const CudaMemory& memory);

/// Element matrices in the layout of lanes, and what belongs to them, as plain arrays on a device.
struct ProjectedElements {
  const double* matrices = nullptr;    ///< upper triangles
  std::int64_t count = 0;              ///< elements
  const std::int32_t* rows = nullptr;  ///< list_rows()
  int dofs = 0;
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
