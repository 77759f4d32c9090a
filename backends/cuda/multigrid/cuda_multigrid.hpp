#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cuda {

/// Multigrid on the first of these logical devices, in the order of its stream; the others' shares of vectors and
/// matrices are gathered there.
std::unique_ptr<MultigridServices> make_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories);

}  // namespace voussoir::cuda
