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

/// Hooke's law with expansion by a temperature, which a stream along x carries: four unknowns, and heat flows alone.
struct WarmSolidLaw {
  static constexpr const char* name = "warm_solid";
  static constexpr int components = 4;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz", "T"};
  static constexpr const char* parameters[] = {"lambda", "mu", "pressure", "diffusivity", "stream"};
  static constexpr bool linear = true, symmetric = false, reads_temperature = false;
  template <class R>
  VSR_FN static Mat<R, 4, 3> flux(const Point<R>& p, const Vec<R, 4>& value, const Mat<R, 4, 3>& grad) {
    Mat<R, 4, 3> f;
    const R mean = p[0] * (grad(0, 0) + grad(1, 1) + grad(2, 2)) - p[2] * value[3];
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) f(i, k) = p[1] * (grad(i, k) + grad(k, i)) + (i == k ? mean : R(0.0));
    for (int k = 0; k < 3; ++k) f(3, k) = p[3] * grad(3, k);
    return f;
  }
  template <class R>
  VSR_FN static Vec<R, 4> source(const Point<R>& p, const Vec<R, 4>&, const Mat<R, 4, 3>& grad) {
    return {{R(0.0), R(0.0), R(0.0), p[4] * grad(3, 0)}};
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

/// A bar of hexahedra, 4 × 1 × 1, clamped at x = 0 and pulled at its end. Returns its loads.
inline LoadCase& add_pulled_bar(Domain& domain, const std::string& type, int cells_across, const Material& material) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {8, cells_across, cells_across};
  mesh.upper = {4, 1, 1};
  mesh.distortion = 0.1;
  add_box_mesh(domain, mesh).set_material(std::make_shared<Material>(material));
  domain.prescribe("xmin", "all");
  return domain.add_load_case("pull").nodal("xmax", "ux", 2).nodal("xmax", "uy", -1).nodal("xmax", "uz", 0.5);
}

/// The bar of DriftingSolidLaw.
inline void add_drifting_bar(Domain& domain, int cells_across) {
  Material moving("moving");
  moving.set("lambda", 500).set("mu", 400).set("drift", 300);
  add_pulled_bar(domain, "drifting_solid.hex8", cells_across, moving);
}

/// The bar of WarmSolidLaw, with heat that comes in at its end.
inline void add_warm_bar(Domain& domain, int cells_across) {
  Material warm("warm");
  warm.set("lambda", 500).set("mu", 400).set("pressure", 30).set("diffusivity", 300).set("stream", 200);
  add_pulled_bar(domain, "warm_solid.hex8", cells_across, warm).nodal("xmax", "T", 10);
}

}  // namespace voussoir::testing
