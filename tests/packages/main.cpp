// Solves a bar in tension with nothing but the installed package; the elongation is F l / (E A).
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

int main() {
  using namespace voussoir;
  Domain domain;
  BoxMesh bar;
  bar.type = "solid.hex8";
  bar.cells = {4, 1, 1};
  bar.upper = {4, 1, 1};
  add_box_mesh(domain, bar).set_material(std::make_shared<IsotropicMaterial>("steel", 200e9, 0.0, 7850));
  domain.prescribe("xmin", "all");
  domain.add_load_case("pull").traction("xmax", {50e6, 0, 0});
  const StepResult result = make_static_analysis(domain, {.backend = "openmp"})->run().front();
  const double elongation = result.unknowns.largest("ux").value, expected = 50e6 * 4 / 200e9;
  std::printf("elongation %.6e m\n", elongation);
  return std::abs(elongation - expected) < 1e-9 * expected ? 0 : 1;
}
