#include <voussoir/framework/io/job/detail/body.hpp>

#include <algorithm>
#include <set>

#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/job/detail/corner_table.hpp>

namespace voussoir::job {

UsedNodes::UsedNodes(const GmshMesh& mesh, const std::vector<Section>& sections, double scale) {
  const IdIndex mesh_index(mesh.node_ids);
  std::vector<char> used(mesh.node_ids.size());
  for (const Section& section : sections)
    for (const std::size_t b : section.selection.batches)
      for (const Id node : mesh.batches[b].nodes) {
        const std::int32_t n = mesh_index.find(node);
        if (n < 0) section.json.fail("an element refers to node " + std::to_string(node) + ", which the mesh does not");
        used[n] = 1;
      }
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) order.push_back(static_cast<std::int32_t>(i));
  std::sort(order.begin(), order.end(),
            [&](std::int32_t a, std::int32_t b) { return mesh.node_ids[a] < mesh.node_ids[b]; });
  ids.reserve(order.size());
  coordinates.reserve(3 * order.size());
  for (const std::int32_t i : order) {
    ids.push_back(mesh.node_ids[i]);
    for (int k = 0; k < 3; ++k) coordinates.push_back(scale * mesh.coordinates[3 * static_cast<std::size_t>(i) + k]);
  }
  index_ = IdIndex(ids);
}

namespace {

int corner_count(const std::string& shape) { return shape == "point" ? 1 : shape_topology(shape).corners; }

void add_once(std::vector<int>& values, int value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

}  // namespace

Body::Body(const Groups& groups, const UsedNodes& nodes, const std::vector<Section>& sections, Procedure procedure)
    : groups_(groups), nodes_(nodes), procedure_(procedure), section_of_(groups.mesh().batches.size(), nullptr) {
  for (const Section& section : sections) {
    if (section.physics->procedure != procedure) continue;
    for (const std::size_t b : section.selection.batches) {
      if (section_of_[b])
        section.json.fail("some elements of '" + section.selection.name +
                          "' have a section already: " + section_of_[b]->json.where() + " ('" +
                          section_of_[b]->selection.name + "'); an element has one section");
      section_of_[b] = &section;
    }
    add_once(element_dimensions_, section.physics->dimension);
    if (section.physics->continuum) add_once(face_dimensions_, section.physics->dimension - 1);
  }
  find_duplicates();
  domain_->add_nodes(nodes.ids, nodes.coordinates);
  add_blocks(sections);
  has_node_.assign(nodes.ids.size(), 0);
  for (std::size_t b = 0; b < domain_->block_count(); ++b) {
    const ElementBlock& block = domain_->block(b);
    for (const std::int32_t n : block.connectivity()) has_node_[n] = 1;
  }
  unknowns_ = node_unknowns(*domain_).names;
}

void Body::add_blocks(const std::vector<Section>& sections) {
  std::set<std::string> names;
  for (const Section& section : sections) {
    if (section.physics->procedure != procedure_) continue;
    std::vector<std::string> shapes;
    for (const std::size_t b : section.selection.batches)
      if (const std::string& shape = groups_.mesh().batches[b].shape;
          std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
        shapes.push_back(shape);
    for (const std::string& shape : shapes) {
      std::string name = section.selection.name + (shapes.size() > 1 ? " (" + shape + ")" : "");
      if (!names.insert(name).second) name += ", section " + std::to_string(&section - sections.data() + 1);
      section.json.doing([&] {
        ElementBlock& block = domain_->add_block(name, element_type(section, shape));
        if (section.material) block.set_material(section.material);
        if (section.orientation) block.set_orientation(*section.orientation);
        for (const auto& [parameter, value] : section.numbers) block.set_section(parameter, value);
        for (const std::size_t b : section.selection.batches) {
          const GmshMesh::Batch& batch = groups_.mesh().batches[b];
          if (batch.shape == shape) block.add_many(batch.ids, batch.nodes);
        }
        block.parameters();  // throws where the material lacks a number
      });
    }
  }
}

template <class Visit>
void Body::each_corner_key(const GmshMesh::Batch& batch, Visit visit) const {
  const int corners = corner_count(batch.shape);
  for (std::size_t e = 0; e < batch.ids.size(); ++e)
    visit(e, CornerTable<8>::key(corners,
                                 [&](int i) { return nodes_.find(batch.nodes[e * batch.nodes_per_element + i]); }));
}

void Body::find_duplicates() const {
  // Version 2.2 writes an element that belongs to two groups twice, with two ids. With a section for each group it
  // would silently count double.
  std::map<std::string, std::vector<std::size_t>> by_shape;
  for (std::size_t b = 0; b < section_of_.size(); ++b)
    if (section_of_[b] && section_of_[b]->physics->continuum) by_shape[groups_.mesh().batches[b].shape].push_back(b);
  for (const auto& [shape, batches] : by_shape) {
    if (batches.size() < 2) continue;
    std::size_t count = 0;
    for (const std::size_t b : batches) count += groups_.mesh().batches[b].ids.size();
    CornerTable<8> table(count);
    for (const std::size_t b : batches) {
      const GmshMesh::Batch& batch = groups_.mesh().batches[b];
      each_corner_key(batch, [&](std::size_t e, const auto& key) {
        if (table.contains(key))
          section_of_[b]->json.fail(
              "element " + std::to_string(batch.ids[e]) + " of '" + section_of_[b]->selection.name +
              "' coincides with another element of the same nodes that also has a section; an element "
              "has one section");
        table.add(key);
      });
    }
  }
}

std::string Body::forgotten_group(const std::vector<Selection>& ignored) const {
  const GmshMesh& mesh = groups_.mesh();
  const int dimension = *std::max_element(element_dimensions_.begin(), element_dimensions_.end());
  std::vector<char> left_out(mesh.batches.size());
  for (const Selection& selection : ignored)
    for (const std::size_t b : selection.batches) left_out[b] = 1;
  std::vector<std::size_t> without;
  std::size_t count = 0;
  for (std::size_t b = 0; b < mesh.batches.size(); ++b) {
    if (mesh.batches[b].dimension != dimension || left_out[b]) continue;
    if (section_of_[b])
      count += mesh.batches[b].ids.size();
    else
      without.push_back(b);
  }
  if (without.empty()) return {};
  CornerTable<8> table(count);
  for (std::size_t b = 0; b < mesh.batches.size(); ++b)
    if (section_of_[b] && mesh.batches[b].dimension == dimension)
      each_corner_key(mesh.batches[b], [&](std::size_t, const auto& key) { table.add(key); });
  for (const std::size_t b : without) {
    bool all_there = true;
    each_corner_key(mesh.batches[b],
                    [&](std::size_t, const auto& key) { all_there = all_there && table.contains(key); });
    if (!all_there) return mesh.label(mesh.groups[mesh.batches[b].groups.front()]);
  }
  return {};
}

std::vector<Id> Body::nodes_of(const Selection& selection) const {
  std::vector<char> chosen(nodes_.ids.size());
  for (const std::size_t b : selection.batches)
    for (const Id node : groups_.mesh().batches[b].nodes)
      if (const std::int32_t n = nodes_.find(node); n >= 0 && has_node_[n]) chosen[n] = 1;
  std::vector<Id> found;
  for (std::size_t n = 0; n < chosen.size(); ++n)
    if (chosen[n]) found.push_back(nodes_.ids[n]);
  return found;
}

bool Body::has_elements_of(const Selection& selection) const { return !elements_of(selection).empty(); }

std::vector<Id> Body::elements_of(const Selection& selection) const {
  const GmshMesh& mesh = groups_.mesh();
  std::vector<Id> found;
  std::vector<std::size_t> copies;
  for (const std::size_t b : selection.batches) {
    if (section_of_[b])
      found.insert(found.end(), mesh.batches[b].ids.begin(), mesh.batches[b].ids.end());
    else
      copies.push_back(b);
  }
  if (copies.empty()) return found;
  // Elements that version 2.2 wrote once more for this group are those of a section with the same corners.
  std::size_t count = 0;
  for (const std::size_t b : copies) count += mesh.batches[b].ids.size();
  CornerTable<8> table(count);
  for (const std::size_t b : copies)
    each_corner_key(mesh.batches[b], [&](std::size_t, const auto& key) { table.add(key); });
  for (std::size_t b = 0; b < mesh.batches.size(); ++b)
    if (section_of_[b] && mesh.batches[b].dimension == selection.dimension)
      each_corner_key(mesh.batches[b], [&](std::size_t e, const auto& key) {
        if (table.contains(key)) found.push_back(mesh.batches[b].ids[e]);
      });
  return found;
}

std::string Body::node_set(const Selection& selection, const Json& json) {
  if (domain_->has_node_set(selection.name)) return selection.name;
  const auto nodes = nodes_of(selection);
  if (nodes.empty())
    json.fail("no element with a section uses a node of '" + selection.name +
              "', so nothing can be restrained or loaded there");
  domain_->add_node_set(selection.name, nodes);
  return selection.name;
}

std::string Body::element_set(const Selection& selection, const Json& json) {
  if (domain_->has_element_set(selection.name)) return selection.name;
  const auto elements = elements_of(selection);
  if (elements.empty()) json.fail("no element of '" + selection.name + "' has a section");
  domain_->add_element_set(selection.name, elements);
  return selection.name;
}

void Body::make_all_sets() {
  match_faces();
  for (const Selection& selection : groups_.all()) {
    if (!domain_->has_node_set(selection.name))
      if (const auto nodes = nodes_of(selection); !nodes.empty()) domain_->add_node_set(selection.name, nodes);
    const auto has = [&](const std::vector<int>& dimensions) {
      return std::find(dimensions.begin(), dimensions.end(), selection.dimension) != dimensions.end();
    };
    if (has(element_dimensions_) && !domain_->has_element_set(selection.name))
      if (const auto elements = elements_of(selection); !elements.empty())
        domain_->add_element_set(selection.name, elements);
    if (has(face_dimensions_) && !domain_->has_surface(selection.name)) {
      std::vector<FaceRef> faces;
      for (const std::size_t b : selection.batches)
        for (const MatchedFace& m : faces_[b])
          if (m.face.block >= 0) faces.push_back(m.face);
      if (!faces.empty()) domain_->add_surface(selection.name, faces);
    }
  }
}

}  // namespace voussoir::job
