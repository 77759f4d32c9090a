// rigid_motions() against the matrix of unsupported models, which maps each of them to zero.
#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/coarse_space.hpp>
#include <voussoir/partition/decomposition_options.hpp>

namespace voussoir {
namespace {

/// The largest |A v| relative to |A| |v| over all motions, and their number.
std::pair<double, std::size_t> resistance(const Domain& domain) {
  const AnalysisModel model(domain, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  DecompositionOptions options;
  options.parts = 1;
  const Decomposition decomposition(model, make_partition(model, options));
  const PartMatrices matrices = PartMatrices::at_rest(decomposition);
  const auto motions = rigid_motions(model, decomposition.equations());
  double worst = 0;
  for (const auto& motion : motions) {
    std::vector<double> force(motion.size());
    multiply(matrices.neumann(0), motion, force);
    double largest = 0, size = 0;
    for (std::size_t i = 0; i < force.size(); ++i) {
      largest = std::max(largest, std::abs(force[i]));
      size = std::max(size, std::abs(motion[i]));
    }
    EXPECT_GT(size, 0.1) << "a motion of entries of about 1";
    worst = std::max(worst, largest / (size * infinity_norm(matrices.neumann(0))));
  }
  EXPECT_EQ(orthonormal_basis(motions).size(), motions.size()) << "linearly independent";
  return {worst, motions.size()};
}

void add_plate(Domain& domain, const char* type, double left = 0) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {3, 2, 1};
  mesh.lower = {left, 0, 0};
  mesh.upper = {left + 3, 1, 1};
  ElementBlock& block = add_box_mesh(domain, mesh);
  auto material = std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3);
  material->set("conductivity", 2.0);
  block.set_material(material);
  if (std::string(type).starts_with("plane_stress") || std::string(type).starts_with("plane_heat"))
    block.set_section("thickness", 1.0);
}

TEST(RigidMotions, MeetNoResistance) {
  for (const auto& [type, count] : {std::pair{"solid.hex8", 6u},
                                    {"plane_stress.quad4", 3u},
                                    {"plane_strain.quad8", 3u},
                                    {"heat.hex8", 1u},
                                    {"plane_heat.quad4", 1u}}) {
    SCOPED_TRACE(type);
    Domain domain;
    add_plate(domain, type);
    const auto [worst, number] = resistance(domain);
    EXPECT_EQ(number, count);
    EXPECT_LT(worst, 1e-13);
  }
}

TEST(RigidMotions, OfABodyOfRevolutionIsAlongTheAxisOnly) {
  Domain domain;
  add_plate(domain, "axisymmetric.quad4", 2.0);
  const auto [worst, number] = resistance(domain);
  EXPECT_EQ(number, 1u);
  EXPECT_LT(worst, 1e-13);
}

TEST(RigidMotions, TurnTheReferenceNodeOfAPlaneRigidBody) {
  Domain domain;
  add_plate(domain, "plane_stress.quad4");
  domain.add_node(901, 5, 2);
  domain.add_node(902, 5, 2);
  domain.set_rotation_node(902, 901, true);
  for (const std::int32_t n : domain.node_set("xmax")) {
    const double x = domain.coordinates()[3 * static_cast<std::size_t>(n)] - 5,
                 y = domain.coordinates()[3 * static_cast<std::size_t>(n) + 1] - 2;
    const Id id = domain.node_id(n);
    domain.add_equation({{id, "ux", 1}, {901, "ux", -1}, {902, "ux", y}});
    domain.add_equation({{id, "uy", 1}, {901, "uy", -1}, {902, "ux", -x}});
  }
  const auto [worst, number] = resistance(domain);
  EXPECT_EQ(number, 3u);
  EXPECT_LT(worst, 1e-13);
}

}  // namespace
}  // namespace voussoir
