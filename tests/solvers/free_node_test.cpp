#include <gtest/gtest.h>

#include <memory>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// A clamped brick with a bar at one corner, whose other end nothing holds across the bar.
void add_brick_with_bar(Domain& domain) {
  const auto steel = std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850);
  add_box_mesh(domain, BoxMesh{}).set_material(steel);
  domain.prescribe("zmin", "all");
  domain.add_node(100, 1, 1, 2);
  domain.add_block("bar", "truss").set_material(steel).set_section("area", 1e-3).add(50, {8, 100});
  domain.add_load_case("pull").nodal_at(100, "uz", 1);
}

TEST(FreeNode, IsNamedByEveryPreconditioner) {
  for (const char* solver : {"direct", "cg+amg", "cg+block-jacobi", "cg+fsai", "cg+jacobi"}) {
    SCOPED_TRACE(solver);
    Domain domain;
    add_brick_with_bar(domain);
    expect_error(ErrorCode::singular, {"the model is under-constrained", "node 100, u", "Add supports"},
                 [&] { make_static_analysis(domain, {.backend = "openmp:2", .solver = solver})->run(); });
  }
}

}  // namespace
}  // namespace voussoir
