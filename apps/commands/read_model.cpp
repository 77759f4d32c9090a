#include <voussoir/apps/commands/read_model.hpp>

#include <algorithm>
#include <cctype>

#include <voussoir/backends/threads.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/partition/process/part_file.hpp>

namespace voussoir::app {
namespace {

std::string ending_of(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

std::string about_meshes(const std::filesystem::path& path) {
  const std::string file = path.filename().string(), name = path.stem().string();
  return "a mesh has no materials, supports and loads. Write a job file for it, " + name +
         ".json, and run that:\n"
         "  {\n"
         "    \"mesh\": \"" +
         file +
         "\",\n"
         "    \"materials\": {\"steel\": {\"young\": 210e9, \"poisson\": 0.3}},\n"
         "    \"sections\": [{\"group\": \"body\", \"physics\": \"solid\", \"material\": \"steel\"}],\n"
         "    \"supports\": [{\"name\": \"bolted\", \"group\": \"foot\", \"all\": 0}],\n"
         "    \"loads\": [{\"name\": \"push\", \"group\": \"top\", \"pressure\": 1e6}],\n"
         "    \"steps\": [{\"name\": \"in use\", \"loads\": [\"push\"]}]\n"
         "  }\n"
         "Groups are the physical groups of the mesh; docs/job-file.md describes job files. voussoir check " +
         file + " shows the sizes and the quality of the mesh";
}

Job read(const std::filesystem::path& path, Dialect dialect, const std::function<bool(double fraction)>& progress,
         bool mesh_will_do) {
  start_default_threads();  // large files are read by several
  std::error_code problem;
  if (!std::filesystem::exists(path, problem))
    throw Error(ErrorCode::io, problem ? problem.message() : "there is no such file", path.string());
  if (std::filesystem::is_directory(path, problem))
    throw Error(ErrorCode::io, "this is a folder; name a file in it", path.string());
  const std::string ending = ending_of(path);
  if (ending == ".msh") {
    if (mesh_will_do) return mesh_as_job(read_gmsh(path, progress), path.string());
    throw Error(ErrorCode::bad_input, about_meshes(path), path.string());
  }
  if (is_part_file_name(path))
    throw Error(
        ErrorCode::bad_input,
        "this is a divided job, which is solved by as many processes as it has parts: mpirun -n N voussoir run " +
            path.string() + " --engine petsc",
        path.string());
  if (ending != ".inp" && ending != ".json")
    throw Error(ErrorCode::bad_input,
                "the file extension determines the type: .inp for an Abaqus or CalculiX deck, .json for a job file" +
                    std::string(ending.empty() ? "; this one has none" : "; there is no '" + ending + "'"),
                path.string());
  if (ending == ".json") return read_job_file(path, progress);
  DeckOptions options;
  options.dialect = dialect;
  options.progress = progress;
  options.allow_mesh_only = mesh_will_do;
  return read_deck(path, options);
}

}  // namespace

Job read_model(const std::filesystem::path& path, Dialect dialect,
               const std::function<bool(double fraction)>& progress) {
  return read(path, dialect, progress, false);
}

Job read_model_or_mesh(const std::filesystem::path& path, Dialect dialect,
                       const std::function<bool(double fraction)>& progress) {
  return read(path, dialect, progress, true);
}

Dialect dialect_of(const std::string& name) { return name == "abaqus" ? Dialect::abaqus : Dialect::calculix; }

}  // namespace voussoir::app
