#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir {

/// Reads a job file (.json), which refers to a Gmsh mesh and defines materials, sections, supports, loads, steps and
/// tables by the names of its groups. docs/job-file.md describes the format, docs/job.schema.json defines it.
///
/// A syntax error is an Error with file, line and column; any other error has file, line and JSON pointer
/// ("job.json:12, /loads/0/pressure"). An unknown key is rejected, with the nearest known one. `progress` is called
/// while the mesh is read.
Job read_job_file(const std::filesystem::path& path, const ReadProgress& progress = {});

/// As read_job_file(), for text in memory. `name` stands for the file name in messages, and the mesh is searched for in
/// `folder`.
Job read_job_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                  const ReadProgress& progress = {});

/// As read_job_file(), for text and mesh in memory: the file named by "mesh" is not opened.
Job read_job_text(std::string_view text, const std::string& name, GmshMesh mesh);

/// What a process that has a part of a mesh must know of the others to read a job.
struct JobShare {
  /// Whether an element of the mesh belongs to the part of this process. Others may be there as well, so that each
  /// group has elements and faces have their neighbours.
  std::function<bool(Id element)> is_own;
  /// Called with the share of the own elements in a quantity of the whole model, in the same order by all processes;
  /// returns the sum.
  std::function<double(double share)> total;
};

/// As read_job_text(), for a part of a mesh with all its groups and batches. `folder` is that of the job file. Loads on
/// surfaces, and total forces, are those of the whole model. Equations, superelements and total loads on points are an
/// Error (unavailable): they need the whole mesh.
Job read_job_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                  const GmshMesh& mesh, const JobShare& share);

/// Of a job file as text: the name of its mesh, as it is written there.
std::string mesh_of_job(std::string_view text, const std::string& name);
/// Of a job file as text: whether each batch of its mesh has a section. Batches may be empty.
std::vector<char> batches_with_sections(std::string_view text, const std::string& name, const GmshMesh& mesh);

/// A job for checking a mesh only (Job::mesh_only): its nodes, the elements of its highest dimension, and its groups as
/// sets and surfaces. Elements that a file of version 2.2 repeats for each group are added once. `name` is the path of
/// the file.
Job mesh_as_job(GmshMesh mesh, const std::string& name);

}  // namespace voussoir
