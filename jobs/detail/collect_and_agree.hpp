#pragma once
#include <functional>
#include <string>

#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// Processes::collect() with a `take` that may throw: once the bytes of all processes have arrived, all processes throw
/// its first error as agree() does.
void collect_and_agree(Processes& processes, const std::string& bytes,
                       const std::function<void(int process, std::string bytes)>& take);

}  // namespace voussoir::detail
