#include <voussoir/framework/io/gmsh/detail/mesh_builder.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/io/detail/id_index.hpp>

namespace voussoir::gmsh {

bool MeshBuilder::name_group(int dimension, int tag, std::string_view name) {
  std::string& known = names_[{dimension, tag}];
  if (!known.empty() && known != name) return false;
  known = name;
  return true;
}

void MeshBuilder::add_entity(int dimension, int tag, std::vector<int> physical_tags) {
  for (int& physical : physical_tags) physical = physical < 0 ? -physical : physical;
  std::sort(physical_tags.begin(), physical_tags.end());
  physical_tags.erase(std::unique(physical_tags.begin(), physical_tags.end()), physical_tags.end());
  entities_[{dimension, tag}] = std::move(physical_tags);
}

const std::vector<int>& MeshBuilder::physical_tags(int dimension, int entity) const {
  static const std::vector<int> none;
  const auto it = entities_.find({dimension, entity});
  return it == entities_.end() ? none : it->second;
}

std::size_t MeshBuilder::batch_index(const Shape& shape, const std::vector<int>& physical_tags) {
  const auto [it, is_new] = batch_of_.try_emplace({shape.type, physical_tags}, mesh_.batches.size());
  if (is_new) {
    GmshMesh::Batch& batch = mesh_.batches.emplace_back();
    batch.dimension = shape.dimension;
    batch.shape = shape.name;
    batch.nodes_per_element = shape.nodes;
    // Tags until finish() knows all groups.
    batch.groups.assign(physical_tags.begin(), physical_tags.end());
    if (batch.groups.empty()) batch.groups.push_back(0);
    for (const int tag : batch.groups) names_.try_emplace({shape.dimension, tag});
  }
  return it->second;
}

GmshMesh MeshBuilder::finish(Contents contents) {
  // Names that were given to a tag of any dimension.
  for (auto& [key, name] : names_)
    if (key.first >= 0 && name.empty())
      if (const auto it = names_.find({-1, key.second}); it != names_.end()) name = it->second;
  std::erase_if(names_, [](const auto& entry) { return entry.first.first < 0; });
  std::map<GroupKey, std::int32_t> index;
  for (const auto& [key, name] : names_) {
    index[key] = static_cast<std::int32_t>(mesh_.groups.size());
    mesh_.groups.push_back({key.first, key.second, name});
  }
  for (GmshMesh::Batch& batch : mesh_.batches) {
    for (std::int32_t& group : batch.groups) group = index[{batch.dimension, group}];
    batch.ids.shrink_to_fit();
    batch.nodes.shrink_to_fit();
  }
  if (contents == Contents::slice) return std::move(mesh_);

  const IdIndex nodes(mesh_.node_ids);
  if (const auto twice = nodes.duplicate())
    throw Error(ErrorCode::bad_input, "node " + std::to_string(*twice) + " occurs twice; save the mesh again from Gmsh",
                file_);
  for (const GmshMesh::Batch& batch : mesh_.batches) {
    bool wrong = false;
#pragma omp parallel for schedule(static) reduction(|| : wrong) if (batch.nodes.size() > detail::worth_threads)
    for (std::size_t i = 0; i < batch.nodes.size(); ++i) wrong = wrong || nodes.find(batch.nodes[i]) < 0;
    for (std::size_t i = 0; wrong && i < batch.nodes.size(); ++i)  // names the first one
      if (nodes.find(batch.nodes[i]) < 0)
        throw Error(ErrorCode::not_found,
                    "element " + std::to_string(batch.ids[i / batch.nodes_per_element]) + " (" + batch.shape +
                        ") has the node " + std::to_string(batch.nodes[i]) +
                        ", which is not in the file; save the mesh again from Gmsh",
                    file_);
  }
  return std::move(mesh_);
}

}  // namespace voussoir::gmsh
