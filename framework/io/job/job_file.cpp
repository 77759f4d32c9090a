#include <voussoir/framework/io/job/job_file.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/job/detail/actions.hpp>
#include <voussoir/framework/io/job/detail/body.hpp>
#include <voussoir/framework/io/job/detail/groups.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>
#include <voussoir/framework/io/job/detail/materials.hpp>
#include <voussoir/framework/io/job/detail/probes.hpp>
#include <voussoir/framework/io/job/detail/sections.hpp>
#include <voussoir/framework/io/job/detail/steps.hpp>

namespace voussoir {
namespace {

using job::Body;
using job::Json;

Json read_root(std::string_view text, const std::string& name) {
  const Json root = Json::parse(text, name);
  if (root.has("grid") && !root.has("mesh")) root.at("grid").fail("this is a job of heat on a grid; use voussoir heat");
  root.allow({"$schema", "title", "mesh", "mesh_scale", "reference_temperature", "initial_temperature", "materials",
              "sections", "ignore", "superelements", "supports", "equations", "loads", "steps", "print", "points",
              "paths", "units", "checkpoints"});
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
                     "' have a section and are also to be ignored; remove the group from 'ignore', or give the section "
                     "groups without these elements");
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

void read_checkpoints(const Json& json, CheckpointRequest& request) {
  json.allow({"every_seconds", "every_increments"});
  if (json.has("every_seconds")) request.every_seconds = json.at("every_seconds").positive();
  if (json.has("every_increments")) {
    const double every = json.at("every_increments").positive();
    if (every > 1e9 || every != static_cast<int>(every))
      json.at("every_increments").fail("this is a whole number of increments");
    request.every_increments = static_cast<int>(every);
  }
  if (!json.has("every_seconds") && !json.has("every_increments"))
    json.fail("give 'every_seconds', 'every_increments' or both");
}

/// Plane stress and plane strain share displacements in the plane: that is possible, and seldom meant.
void note_mixed_planes(const std::vector<job::Section>& sections, Job& result) {
  const auto find = [&](const char* name) {
    return std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.physics->name == name; });
  };
  const auto stress = find("plane_stress"), strain = find("plane_strain");
  if (stress != sections.end() && strain != sections.end())
    result.notes.push_back({strain->json.where(),
                            "the job has sections of plane stress and of plane strain: they share displacements in the "
                            "plane, and each keeps its own state across it"});
}

/// What a process with a part of the mesh cannot read.
void require_parts_suffice(const Json& root) {
  for (const char* key : {"equations", "superelements", "points", "paths"})
    if (root.has(key))
      throw Error(ErrorCode::unavailable,
                  "'" + std::string(key) + "' cannot be read in slices of a mesh; run without --slices",
                  root.at(key).where());
}

Job make_job(const Json& root, const std::string& name, const GmshMesh& mesh, const std::filesystem::path& folder,
             const JobShare* share = nullptr) {
  if (share) require_parts_suffice(root);
  Job result;
  result.source = name;
  result.name = std::filesystem::path(name).stem().string();
  if (root.has("title")) result.title = root.at("title").text();

  const job::Groups groups(mesh);
  const job::Materials materials = root.has("materials") ? job::read_materials(root.at("materials")) : job::Materials();
  const auto sections = job::read_sections(root.at("sections"), groups, materials);
  note_mixed_planes(sections, result);
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

  job::Model model(groups, bodies, share);
  result.own_nodes = bodies.front().domain().node_count();
  if (root.has("superelements")) result.own_nodes = job::read_superelements(root.at("superelements"), folder, model);
  if (root.has("initial_temperature")) job::read_initial_temperature(root.at("initial_temperature"), model);
  if (root.has("equations")) job::read_equations(root.at("equations"), model);
  const auto supports =
      root.has("supports") ? job::read_supports(root.at("supports"), model) : std::vector<job::Support>();
  const auto loads = root.has("loads") ? job::read_loads(root.at("loads"), model) : std::vector<job::Load>();
  job::read_steps(root, model, loads, supports, folder, result);
  job::read_probes(root, result);
  if (root.has("checkpoints")) read_checkpoints(root.at("checkpoints"), result.checkpoints);
  for (Body& body : bodies) result.domains.push_back(body.take_domain());
  return result;
}

/// Keeps one of the elements that are written once per group; it then belongs to all of these groups.
void join_copies(GmshMesh& mesh, int dimension) {
  struct Place {
    std::size_t batch, element;
  };
  std::map<std::pair<std::string, std::vector<Id>>, std::vector<Place>> by_nodes;
  std::vector<std::size_t> batches;
  for (std::size_t b = 0; b < mesh.batches.size(); ++b)
    if (mesh.batches[b].dimension == dimension) batches.push_back(b);
  if (batches.size() < 2) return;
  for (const std::size_t b : batches) {
    const GmshMesh::Batch& batch = mesh.batches[b];
    for (std::size_t e = 0; e < batch.ids.size(); ++e) {
      const auto first = batch.nodes.begin() + static_cast<std::ptrdiff_t>(e) * batch.nodes_per_element;
      std::vector<Id> nodes(first, first + batch.nodes_per_element);
      by_nodes[{batch.shape, std::move(nodes)}].push_back({b, e});
    }
  }
  if (std::all_of(by_nodes.begin(), by_nodes.end(), [](const auto& entry) { return entry.second.size() == 1; })) return;
  // Elements by their groups, in the order of their first copies.
  std::map<std::tuple<std::size_t, std::size_t>, std::vector<Place>> in_order;
  for (auto& [nodes, places] : by_nodes) in_order[{places.front().batch, places.front().element}] = places;
  std::vector<GmshMesh::Batch> joined;
  std::map<std::pair<std::string, std::vector<std::int32_t>>, std::size_t> batch_of;
  for (const auto& [key, places] : in_order) {
    const GmshMesh::Batch& source = mesh.batches[places.front().batch];
    std::set<std::int32_t> groups;
    for (const Place& place : places)
      groups.insert(mesh.batches[place.batch].groups.begin(), mesh.batches[place.batch].groups.end());
    const std::vector<std::int32_t> list(groups.begin(), groups.end());
    const auto [it, is_new] = batch_of.try_emplace({source.shape, list}, joined.size());
    if (is_new) {
      joined.push_back(source);
      joined.back().groups = list;
      joined.back().ids.clear();
      joined.back().nodes.clear();
    }
    GmshMesh::Batch& target = joined[it->second];
    const std::size_t e = places.front().element;
    target.ids.push_back(source.ids[e]);
    const auto first = source.nodes.begin() + static_cast<std::ptrdiff_t>(e) * source.nodes_per_element;
    target.nodes.insert(target.nodes.end(), first, first + source.nodes_per_element);
  }
  std::erase_if(mesh.batches, [&](const GmshMesh::Batch& b) { return b.dimension == dimension; });
  for (GmshMesh::Batch& batch : joined) mesh.batches.push_back(std::move(batch));
}

}  // namespace

Job mesh_as_job(GmshMesh mesh, const std::string& name) {
  int dimension = 0;
  for (const auto& batch : mesh.batches) dimension = std::max(dimension, batch.dimension);
  join_copies(mesh, dimension);
  const job::Groups groups(mesh);
  const std::vector<job::Section> sections{job::stand_in_section(groups, dimension, name)};
  const job::UsedNodes nodes(mesh, sections, 1.0);
  Body body(groups, nodes, sections, Procedure::statics);
  body.make_all_sets();
  Job result;
  result.source = name;
  result.name = std::filesystem::path(name).stem().string();
  result.mesh_only = true;
  if (const std::size_t unused = mesh.node_ids.size() - nodes.ids.size(); unused > 0)
    result.notes.push_back({name, std::to_string(unused) +
                                      (unused == 1 ? " node of the file is" : " nodes of the file are") +
                                      " not used by its " + gmsh_dimension_name(dimension) + " elements"});
  result.domains.push_back(body.take_domain());
  result.own_nodes = result.domains.front()->node_count();
  return result;
}

Job read_job_text(std::string_view text, const std::string& name, GmshMesh mesh) {
  return make_job(read_root(text, name), name, mesh, {});
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
  return make_job(root, name, mesh, folder);
}

Job read_job_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                  const GmshMesh& mesh, const JobShare& share) {
  return make_job(read_root(text, name), name, mesh, folder, &share);
}

std::string mesh_of_job(std::string_view text, const std::string& name) {
  return read_root(text, name).at("mesh").text();
}

std::vector<char> batches_with_sections(std::string_view text, const std::string& name, const GmshMesh& mesh) {
  const Json root = read_root(text, name);
  const job::Groups groups(mesh);
  const job::Materials materials = root.has("materials") ? job::read_materials(root.at("materials")) : job::Materials();
  std::vector<char> has(mesh.batches.size(), 0);
  for (const job::Section& section : job::read_sections(root.at("sections"), groups, materials))
    for (const std::size_t b : section.selection.batches) has[b] = 1;
  return has;
}

Job read_job_file(const std::filesystem::path& path, const ReadProgress& progress) {
  const FileBytes file(path);
  Job result = read_job_text(file.bytes(), path.filename().string(), path.parent_path(), progress);
  result.source = path.string();
  return result;
}

}  // namespace voussoir
