#include <voussoir/backends/openmp/cpu_backend.hpp>

#include <voussoir/backends/openmp/cpu_grouped_dots.hpp>
#include <voussoir/backends/openmp/dense/cpu_condensation.hpp>
#include <voussoir/backends/openmp/dense/cpu_dense_blocks.hpp>
#include <voussoir/backends/openmp/explicit/cpu_explicit.hpp>
#include <voussoir/backends/openmp/grid/cpu_grid.hpp>
#include <voussoir/backends/openmp/multigrid/cpu_divided_multigrid.hpp>
#include <voussoir/backends/openmp/multigrid/cpu_multigrid.hpp>
#include <voussoir/backends/openmp/openmp_memory.hpp>
#include <voussoir/backends/openmp/projection/cpu_projection.hpp>
#include <voussoir/backends/openmp/stencils/cpu_stencils.hpp>
#include <voussoir/backends/openmp/sweeps/cpu_sweeps.hpp>
#include <voussoir/backends/threads.hpp>

namespace voussoir {

CpuBackend::CpuBackend(std::string name, std::string description, std::vector<std::shared_ptr<DeviceMemory>> memories,
                       int threads)
    : name_(std::move(name)), description_(std::move(description)), memories_(std::move(memories)), threads_(threads) {
  if (memories_.empty()) throw Error(ErrorCode::misuse, "a backend needs at least one device");
  if (threads_ < 1)
    throw Error(ErrorCode::misuse, "a backend needs at least one thread, not " + std::to_string(threads_));
  start_threads(threads_);
  multigrid_ = cpu::make_multigrid(memories_, threads_);
  provide(*multigrid_);
  divided_multigrid_ = cpu::make_divided_multigrid(memories_, threads_);
  provide(*divided_multigrid_);
  grouped_dots_ = cpu::make_grouped_dots(*this);
  provide(*grouped_dots_);
  projection_ = cpu::make_projection(*this);
  provide(*projection_);
  grids_ = cpu::make_grid_services(*this);
  provide(*grids_);
  sweeps_ = cpu::make_sweeps(*this);
  provide(*sweeps_);
  stencils_ = cpu::make_stencils(*this);
  provide(*stencils_);
  provide(cpu::dense_block_services());
  provide(cpu::condensation_services());
  explicit_ = cpu::make_explicit_services(*this);
  provide(*explicit_);
}

const std::shared_ptr<DeviceMemory>& CpuBackend::memory(int device) const {
  if (device < 0 || device >= devices())
    throw Error(ErrorCode::misuse, "there is no device " + std::to_string(device) + " in backend " + name_ +
                                       ", which has " + std::to_string(devices()));
  return memories_[static_cast<std::size_t>(device)];
}

Route CpuBackend::route(const ElementProgram& program) const {
  // A program with embedded text was compiled for the CPU as well: there is nothing left to compile at run time.
  return program.route() == Route::host ? Route::host : Route::native;
}

std::shared_ptr<Backend> make_openmp_backend(int threads, const std::string& remark) {
  const bool all = threads <= 0;
  if (all) threads = default_threads();
  std::string note = all ? default_threads_note() : std::string();
  if (!remark.empty()) note += (note.empty() ? "" : "; ") + remark;
  std::vector<std::shared_ptr<DeviceMemory>> memories{std::make_shared<OpenMpMemory>(threads)};
  return std::make_shared<CpuBackend>(all ? "openmp" : "openmp:" + std::to_string(threads),
                                      "openmp: " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
                                          (note.empty() ? "" : " (" + note + ")"),
                                      std::move(memories), threads);
}

}  // namespace voussoir
