#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {

/// Blocks of threads of a projection, at most: two for each multiprocessor of a large GPU. Each adds what it computes
/// in the order of its work and leaves one sum, and the sums of blocks are added in their order. Never a device's own
/// number, so that the bits do not depend on how many multiprocessors a GPU has.
inline constexpr int projection_blocks = 264;
inline constexpr int projection_threads = 256;
inline constexpr int projection_warps = projection_threads / 32;

/// Columns of X that a panel of rows of XᵀAX has, in four tiles of eight.
inline constexpr int panel_columns = 32;

/// A part of XᵀAX that one launch computes: rows from column `top` of X on, columns from column `left` on.
struct Panel {
  int top = 0, left = 0;
  int width = panel_columns;  ///< columns; rows are panel_columns
};

/// Sums of all blocks for some panels of XᵀAX.
class PanelSums {
 public:
  /// All sums are zero. Inside a section.
  PanelSums(std::vector<Panel> panels, const std::shared_ptr<DeviceMemory>& memory);

  const std::vector<Panel>& panels() const { return panels_; }
  /// Where the blocks of a launch add their sums: projection_blocks times panel_columns × width numbers, by rows.
  double* sums(std::size_t panel) { return sums_.update_device() + start_[panel] * projection_blocks; }
  /// Enqueues the sum over blocks. Inside a section.
  void enqueue_total();
  /// Adds what belongs to an n × n matrix by rows; waits. Outside a section.
  void add_to(std::span<double> result, int n) const;

 private:
  std::vector<Panel> panels_;
  std::vector<std::int64_t> start_;  ///< of each panel's numbers, and the total
  std::shared_ptr<DeviceMemory> memory_;
  Array<double> sums_, total_;
};

/// Panels on and right of the diagonal: for symmetric products. Panels apart from it are half as wide.
std::vector<Panel> upper_panels(int columns);
/// All panels.
std::vector<Panel> all_panels(int columns);

}  // namespace voussoir::cuda
