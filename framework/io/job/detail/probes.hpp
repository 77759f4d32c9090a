#pragma once
#include <voussoir/framework/io/job/detail/json.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::job {

/// "points", "paths" and "units": where results are wanted, and what their units are called.
void read_probes(const Json& root, Job& job);

}  // namespace voussoir::job
