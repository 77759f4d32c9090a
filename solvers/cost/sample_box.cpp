#include <voussoir/solvers/cost/detail/sample_box.hpp>

#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir::detail {

std::unique_ptr<Domain> make_sample_box(const std::string& type, int n) {
  auto domain = std::make_unique<Domain>();
  BoxMesh box;
  box.type = type;
  box.cells = {n, n, n};
  ElementBlock& block = add_box_mesh(*domain, box);
  auto steel = std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850);
  const bool heat = type.starts_with("heat");
  if (heat) steel->set("conductivity", 50.0);
  block.set_material(steel);
  if (type.starts_with("plane_")) block.set_section("thickness", 1.0);
  domain->prescribe("xmin", "all");
  LoadCase& load = domain->add_load_case("end");
  if (heat)
    load.heat_flux("xmax", 1.0);
  else
    load.traction("xmax", {0, -1e6, 0});
  return domain;
}

}  // namespace voussoir::detail
