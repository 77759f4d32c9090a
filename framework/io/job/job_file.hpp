#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir {

/// Reads a job file (.json): a Gmsh mesh, and by the names of its groups the materials, sections, supports, loads,
/// steps and tables. docs/job-file.md describes it, docs/job.schema.json defines it.
///
/// What is not JSON is an Error with file, line and column; whatever else is wrong, with file, line and JSON pointer
/// ("job.json:12, /loads/0/pressure"). A key that is not known is refused with the nearest one that is. `progress` is
/// notified while the mesh is read.
Job read_job_file(const std::filesystem::path& path, const ReadProgress& progress = {});

/// The same for text in memory; `name` replaces the file in messages, and the mesh is searched for in `folder`.
Job read_job_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                  const ReadProgress& progress = {});

/// The same with a mesh that is there already: the job's "mesh" is not opened.
Job read_job_text(std::string_view text, const std::string& name, GmshMesh mesh);

/// A mesh without a job, to be checked (Job::mesh_only): its nodes, the elements of its highest dimension, and its
/// groups as sets and surfaces. Elements that version 2.2 wrote once per group are there once. `name` is the file.
Job mesh_as_job(GmshMesh mesh, const std::string& name);

}  // namespace voussoir
