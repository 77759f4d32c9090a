#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/jobs/process_share.hpp>
#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// The shares of all processes in a run, in their order, on process 0; nothing on the others. The arguments are those
/// of this process; `part_bytes` is the encoded size of its part. Collective.
std::vector<ProcessShare> collect_shares(Processes& processes, const ProcessPlacement& placement,
                                         const Backend& backend, const ProcessPart& part, std::int64_t part_bytes);

}  // namespace voussoir::detail
