#pragma once
#include <vector>

#include <voussoir/framework/io/job/detail/actions.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::job {

/// Reads "steps" (or makes the one step of a job without) and gives each its load case.
void read_steps(const Json& root, Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports,
                Job& job);

}  // namespace voussoir::job
