#pragma once
#include <memory>

#include <voussoir/elements/kernel/point_kernel.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

// Models whose matrices are not symmetric. unsymmetric_schwarz_test.cpp registers the laws.

namespace voussoir::testing {

/// k ∇c and b · ∇c: convection and diffusion.
struct StreamLaw {
  static constexpr const char* name = "stream";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"diffusivity", "bx", "by"};
  static constexpr bool linear = true, symmetric = false;
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[0] * grad;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>&, const Mat<R, 1, 3>& grad) {
    return {{p[1] * grad(0, 0) + p[2] * grad(0, 1)}};
  }
};

/// Hooke's law with forces drift · ∂u/∂x.
struct DriftingSolidLaw {
  static constexpr const char* name = "drifting_solid";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu", "drift"};
  static constexpr bool linear = true, symmetric = false;
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> stress;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        stress(i, k) = p[1] * (grad(i, k) + grad(k, i)) + (i == k ? p[0] * trace(grad) : R(0.0));
    return stress;
  }
  template <class R>
  VSR_FN static Vec<R, 3> source(const Point<R>& p, const Vec<R, 3>&, const Mat3<R>& grad) {
    return {{p[2] * grad(0, 0), p[2] * grad(1, 0), p[2] * grad(2, 0)}};
  }
};

/// A square with an oblique stream between sides of concentration 0 and 1, and a source at some nodes.
inline void add_stream(Domain& domain, int cells, double diffusivity = 0.05) {
  BoxMesh mesh;
  mesh.type = "stream.quad4";
  mesh.cells = {cells, cells, 1};
  mesh.distortion = 0.15;
  auto water = std::make_shared<Material>("water");
  water->set("diffusivity", diffusivity).set("bx", 1).set("by", 0.4);
  ElementBlock& block = add_box_mesh(domain, mesh);
  block.set_material(water);
  block.set_section("thickness", 1.0);
  domain.prescribe("xmin", "c");
  domain.prescribe("xmax", "c", 1.0);
  auto& source = domain.add_load_case("source");
  for (Id node = 5; node < domain.node_count(); node += 11) source.nodal_at(node, "c", 0.01 * (node % 7));
}

/// A bar of hexahedra, 4 × 1 × 1, clamped at x = 0 and pulled at its end.
inline void add_drifting_bar(Domain& domain, int cells_across) {
  BoxMesh mesh;
  mesh.type = "drifting_solid.hex8";
  mesh.cells = {8, cells_across, cells_across};
  mesh.upper = {4, 1, 1};
  mesh.distortion = 0.1;
  auto moving = std::make_shared<Material>("moving");
  moving->set("lambda", 500).set("mu", 400).set("drift", 300);
  add_box_mesh(domain, mesh).set_material(moving);
  domain.prescribe("xmin", "all");
  domain.add_load_case("pull").nodal("xmax", "ux", 2).nodal("xmax", "uy", -1).nodal("xmax", "uz", 0.5);
}

}  // namespace voussoir::testing
