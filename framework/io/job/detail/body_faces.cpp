#include <algorithm>

#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/job/detail/body.hpp>
#include <voussoir/framework/io/job/detail/corner_table.hpp>

// Which faces of the body the surfaces (or edges) of the mesh are, and how large they are.

namespace voussoir::job {

void Body::match_faces() {
  if (faces_matched_) return;
  faces_matched_ = true;
  const GmshMesh& mesh = groups_.mesh();
  struct Entry {
    std::size_t batch, element;
  };
  std::vector<Entry> entries;
  std::vector<char> on_surface(nodes_.ids.size());
  std::size_t count = 0;
  const auto may_be_face = [&](const GmshMesh::Batch& batch) {
    return batch.dimension > 0 &&
           std::find(face_dimensions_.begin(), face_dimensions_.end(), batch.dimension) != face_dimensions_.end();
  };
  for (const auto& batch : mesh.batches)
    if (may_be_face(batch)) count += batch.ids.size();
  CornerTable<4> table(count);
  for (std::size_t b = 0; b < mesh.batches.size(); ++b) {
    const auto& batch = mesh.batches[b];
    if (!may_be_face(batch)) continue;
    faces_[b].resize(batch.ids.size());
    const int corners = shape_topology(batch.shape).corners;
    for (std::size_t e = 0; e < batch.ids.size(); ++e) {
      const Id* nodes = &batch.nodes[e * batch.nodes_per_element];
      const auto key = CornerTable<4>::key(corners, [&](int i) { return nodes_.find(nodes[i]); });
      table.add(key);
      entries.push_back({b, e});
      for (const std::int32_t n : key)
        if (n >= 0) on_surface[n] = 1;
    }
  }
  for (std::size_t b = 0; b < domain_->block_count(); ++b) {
    const ElementBlock& block = domain_->block(b);
    const std::string& shape = block.type().shape();
    if (shape.empty()) continue;
    const auto& faces = shape_topology(shape).faces;
    for (std::size_t f = 0; f < faces.size(); ++f) {
      if (faces[f].shape.empty()) continue;
      const int corners = shape_topology(faces[f].shape).corners;
      const std::vector<int>& local = faces[f].nodes;
      for (std::int32_t e = 0; e < block.size(); ++e) {
        const auto nodes = block.nodes(e);
        // Most faces are inside the body, far from any surface: a look at their corners spares them the table.
        if (!std::all_of(local.begin(), local.begin() + corners, [&](int i) { return on_surface[nodes[i]]; })) continue;
        const auto key = CornerTable<4>::key(corners, [&](int i) { return nodes[local[i]]; });
        table.find(key, [&](std::int32_t at) {
          MatchedFace& m = faces_[entries[at].batch][entries[at].element];
          m.inner = m.face.block >= 0;
          if (!m.inner) m.face = {static_cast<std::int32_t>(b), e, static_cast<std::int32_t>(f)};
        });
      }
    }
  }
}

std::string Body::surface(const Selection& selection, const Json& json, bool one_sided) {
  match_faces();
  std::vector<FaceRef> faces;
  for (const std::size_t b : selection.batches) {
    const GmshMesh::Batch& batch = groups_.mesh().batches[b];
    for (std::size_t e = 0; e < faces_[b].size(); ++e) {
      const MatchedFace& m = faces_[b][e];
      const auto label = [&] {
        return gmsh_dimension_name(batch.dimension) + " element " + std::to_string(batch.ids[e]) + " of '" +
               selection.name + "'";
      };
      if (m.face.block < 0)
        json.fail(label() + " is not a face of any element that has a section; check that the surface bounds the body");
      if (m.inner && one_sided)
        json.fail(label() + " is inside the body, with elements on both sides; this load acts on the boundary");
      faces.push_back(m.face);
    }
  }
  if (!domain_->has_surface(selection.name)) domain_->add_surface(selection.name, faces);
  return selection.name;
}

double Body::area(const std::string& surface, const std::function<bool(Id)>& counts) const {
  // The heat that a unit flux brings in is the area, by the same rule that every load on the face is integrated with.
  double area = 0;
  for (const FaceRef& f : domain_->surface(surface)) {
    const ElementBlock& block = domain_->block(f.block);
    if (counts && !counts(block.id(f.element))) continue;
    const auto& topology = shape_topology(block.type().shape());
    const ShapeFace& face = topology.faces[f.face];
    const bool plane = topology.dim == 2, ring = plane && block.type().program().axisymmetric();
    const ElementProgram& program = ElementLibrary::instance()
                                        .find((ring    ? "axisymmetric_"
                                               : plane ? "plane_"
                                                       : "") +
                                              ("flux." + face.shape))
                                        .program();
    std::vector<std::int32_t> nodes;
    for (const int local : face.nodes) nodes.push_back(block.nodes(f.element)[local]);
    std::vector<double> parameters = {0, 1};  // temperature of the row, flux
    if (plane && !ring) {
      const auto thickness = block.section().find("thickness");
      parameters.push_back(thickness == block.section().end() ? 1.0 : thickness->second);
    }
    ElementView view;
    view.element_count = 1;
    view.nodes = nodes.data();
    view.coordinates = domain_->coordinates().data();
    view.parameters = parameters.data();
    std::vector<double> residual(static_cast<std::size_t>(program.dofs()) * program.lanes());
    program.residual(view, 0, 1, residual.data());
    for (int k = 0; k < program.dofs(); ++k) area -= residual[static_cast<std::size_t>(k) * program.lanes()];
  }
  return area;
}

}  // namespace voussoir::job
