#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include <cstdio>
#include <memory>

using namespace voussoir;

int main() {
  Domain domain;
  BoxMesh beam;
  beam.type = "solid.hex8";
  beam.cells = {40, 4, 4};
  beam.upper = {10, 1, 1};
  add_box_mesh(domain, beam).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  domain.prescribe("xmin", "all");
  domain.add_load_case("tip").traction("xmax", {0, 0, -1e6});

  auto analysis = make_static_analysis(domain, {.backend = "openmp"});
  const StepResult result = analysis->run().front();
  const auto tip = result.unknowns.largest("uz");
  std::printf("node %ld moves by %g m\n", long(domain.node_id(tip.node)), tip.value);
}
