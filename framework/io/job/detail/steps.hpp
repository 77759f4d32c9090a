#pragma once
#include <filesystem>
#include <vector>

#include <voussoir/framework/io/job/detail/actions.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::job {

/// Reads "steps" (or makes the one step of a job without) and gives each its load case. Files that steps name are
/// sought in `folder`.
void read_steps(const Json& root, Model& model, const std::vector<Load>& loads, const std::vector<Support>& supports,
                const std::filesystem::path& folder, Job& job);

}  // namespace voussoir::job
