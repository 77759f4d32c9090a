#pragma once
#include <memory>

#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir::testing {

/// A bar of distorted hexahedra, 4 × 1 × 1, held at x = 0 and loaded by a traction at its end and by its weight.
inline void add_loaded_bar(Domain& domain, int cells_across) {
  BoxMesh mesh;
  mesh.cells = {8, cells_across, cells_across};
  mesh.upper = {4, 1, 1};
  mesh.distortion = 0.1;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0, 1e-3));
  domain.prescribe("xmin", "all");
  domain.add_load_case("push").traction("xmax", {1, -2, 0.5}).gravity("", {0, 0, -1});
}

/// Supports in oblique directions along a whole edge of the bar, and so on interfaces too; some of them are moved.
/// Returns how many there are; their nodes are the set "edge".
inline int support_edge_obliquely(Domain& domain) {
  int count = 0;
  domain.add_node_set_where("edge", [](double x, double y, double z) { return x > 0.1 && y == 0 && z == 0; });
  for (const std::int32_t n : domain.node_set("edge")) {
    domain.prescribe_along(domain.node_id(n), {0.3, 1, 0.5 + 0.1 * count}, count % 3 == 0 ? 0.02 : 0.0);
    ++count;
  }
  return count;
}

}  // namespace voussoir::testing
