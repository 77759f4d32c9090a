#pragma once
#include <string>

#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/grid_view.hpp>

namespace voussoir {

/// A kernel over the nodes of a grid, as backends see it: a stencil, which reads the neighbours of a node, or a source,
/// which does not. One object per kernel; it stays until the program ends.
class GridProgram {
 public:
  virtual ~GridProgram() = default;
  virtual const std::string& name() const = 0;      ///< by which the kernel is found: "grid.diffusion"
  virtual std::size_t parameter_bytes() const = 0;  ///< size of its Parameters
  virtual bool reads_neighbours() const = 0;        ///< true for a stencil, false for a source
  /// Computes the job at the nodes begin … end − 1 of a row on the CPU. Rows are the lines along x of the device's
  /// part of the grid; nodes are counted from its first one.
  virtual void run_row(const GridJob& job, int row, int begin, int end) const = 0;
  /// The text of the kernel, for backends that compile it; null if none was embedded.
  virtual const KernelSource* source() const { return nullptr; }
};

}  // namespace voussoir
