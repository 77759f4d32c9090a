#pragma once
#include <memory>
#include <string>

#include <voussoir/backends/cuda/grid/grid_kernels.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/grid_program.hpp>

namespace voussoir::cuda {

/// A grid kernel as it runs on CUDA devices.
class DeviceGridProgram {
 public:
  virtual ~DeviceGridProgram() = default;
  virtual Route route() const = 0;
  /// Enqueues the job of all nodes of a device. Inside a section of it.
  virtual void run(const GridJob& job, const CudaMemory& memory) const = 0;
};

/// The launch of a kernel over all nodes of a device's part.
inline Grid grid_of_rows(const GridView& view) {
  const std::int64_t nodes = view.split_axis == 0 ? view.plane_count : view.nodes[0];
  const std::int64_t rows = nodes == 0 ? 0 : view.plane_count * view.plane_nodes / nodes;
  return {rows * blocks_of_row(static_cast<int>(nodes)), grid_threads, 0};
}

/// A kernel compiled with this backend.
template <class Kernel>
class NativeGridProgram final : public DeviceGridProgram {
 public:
  Route route() const override { return Route::native; }
  void run(const GridJob& job, const CudaMemory& memory) const override {
    launch(grid_values<Kernel>, grid_of_rows(job.grid), memory.stream(), job);
  }
};

void add_native_grid_program(const std::string& name, std::shared_ptr<const DeviceGridProgram> program);

/// The device program of a grid kernel: compiled with this backend, or from its text; null where it has to be computed
/// on the host. `why` receives why a route other than native was taken.
const DeviceGridProgram* find_grid_program(const GridProgram& program, std::string& why);
/// Of the second kind; null where there is no text or no compiler.
const DeviceGridProgram* find_jit_grid_program(const GridProgram& program, std::string& why);

}  // namespace voussoir::cuda
