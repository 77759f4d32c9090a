#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::app {

/// Reads what a file asks for, by its ending: .inp is a deck, .json a job file. A mesh (.msh) asks for nothing and is
/// an Error that shows what to write instead; so is any other ending.
Job read_model(const std::filesystem::path& path, Dialect dialect,
               const std::function<bool(double fraction)>& progress);

/// The same for looking at: also takes a mesh (.msh) and a deck of nodes and elements alone (Job::mesh_only).
Job read_model_or_mesh(const std::filesystem::path& path, Dialect dialect,
                       const std::function<bool(double fraction)>& progress);

/// "calculix" or "abaqus".
Dialect dialect_of(const std::string& name);

}  // namespace voussoir::app
