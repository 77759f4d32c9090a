#include <voussoir/framework/io/job_file.hpp>

#include <voussoir/framework/io/detail/job/actions.hpp>
#include <voussoir/framework/io/detail/job/body.hpp>
#include <voussoir/framework/io/detail/job/groups.hpp>
#include <voussoir/framework/io/detail/job/json.hpp>
#include <voussoir/framework/io/detail/job/materials.hpp>
#include <voussoir/framework/io/detail/job/sections.hpp>
#include <voussoir/framework/io/detail/job/steps.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>

namespace voussoir {
namespace {

using job::Body;
using job::Json;

Json read_root(std::string_view text, const std::string& name) {
  const Json root = Json::parse(text, name);
  root.allow({"$schema", "title", "mesh", "mesh_scale", "reference_temperature", "materials", "sections", "ignore",
              "supports", "equations", "loads", "steps", "print"});
  root.at("mesh").text();
  return root;
}

/// Body elements that no section has would silently be missing from the model.
void require_sections(const Json& root, const job::Groups& groups, const std::vector<Body>& bodies) {
  std::vector<job::Selection> ignored;
  if (root.has("ignore"))
    for (const Json& item : root.at("ignore").items())
      for (const Json& one : item.items()) {
        ignored.push_back(groups.select(one, {0, 1, 2, 3}, "a job ignores"));
        for (const Body& body : bodies)
          if (body.has_elements_of(ignored.back()))
            one.fail("elements of '" + ignored.back().name +
                     "' have a section, and are to be ignored too; take the group from 'ignore', or give the section "
                     "groups that do not hold these elements");
      }
  std::string forgotten;
  for (const Body& body : bodies) {
    forgotten = body.forgotten_group(ignored);
    if (forgotten.empty()) return;  // what one procedure does not need, the other may have
  }
  root.at("sections")
      .fail("elements of '" + forgotten +
            "' have no section; give them one, or list the group under "
            "'ignore'");
}

Job make_job(const Json& root, const std::string& name, const GmshMesh& mesh) {
  Job result;
  result.source = name;
  result.name = std::filesystem::path(name).stem().string();
  if (root.has("title")) result.title = root.at("title").text();

  const job::Groups groups(mesh);
  const job::Materials materials = root.has("materials") ? job::read_materials(root.at("materials")) : job::Materials();
  const auto sections = job::read_sections(root.at("sections"), groups, materials);
  const job::UsedNodes nodes(mesh, sections, root.has("mesh_scale") ? root.at("mesh_scale").positive() : 1.0);
  std::vector<Body> bodies;
  for (const Procedure procedure : {Procedure::statics, Procedure::steady_heat})
    for (const auto& section : sections)
      if (section.physics->procedure == procedure) {
        bodies.emplace_back(groups, nodes, sections, procedure);
        break;
      }
  require_sections(root, groups, bodies);
  const double reference = root.has("reference_temperature") ? root.at("reference_temperature").number() : 0.0;
  for (Body& body : bodies) {
    body.make_all_sets();
    body.domain().set_reference_temperature(reference);
  }

  job::Model model(groups, bodies);
  if (root.has("equations")) job::read_equations(root.at("equations"), model);
  const auto supports =
      root.has("supports") ? job::read_supports(root.at("supports"), model) : std::vector<job::Support>();
  const auto loads = root.has("loads") ? job::read_loads(root.at("loads"), model) : std::vector<job::Load>();
  job::read_steps(root, model, loads, supports, reference, result);
  result.own_nodes = bodies.front().domain().node_count();
  for (Body& body : bodies) result.domains.push_back(body.take_domain());
  return result;
}

}  // namespace

Job read_job_text(std::string_view text, const std::string& name, GmshMesh mesh) {
  return make_job(read_root(text, name), name, mesh);
}

Job read_job_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                  const ReadProgress& progress) {
  const Json root = read_root(text, name);
  const Json file = root.at("mesh");
  GmshMesh mesh;
  try {
    mesh = read_gmsh(folder / file.text(), progress);
  } catch (const Error& error) {
    // A mesh that is damaged is told with its own line; one that is not there, with the line that names it.
    if (error.code() != ErrorCode::io) throw;
    throw Error(ErrorCode::io, error.what(), file.where());
  }
  return make_job(root, name, mesh);
}

Job read_job_file(const std::filesystem::path& path, const ReadProgress& progress) {
  const FileBytes file(path);
  Job result = read_job_text(file.bytes(), path.filename().string(), path.parent_path(), progress);
  result.source = path.string();
  return result;
}

}  // namespace voussoir
