// Multi-point equations: ties, periodic cells, rigid offsets, inclined supports, by transformation and by penalty.
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

/// A cantilever of one mesh, or of two halves with nodes of their own that equations tie together.
struct Halves {
  Domain domain;
  std::int32_t second = 0;  ///< first node of the second half

  explicit Halves(const std::string& type, bool tied) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.upper = {4, 1, 1};
    if (!tied) {
      mesh.cells = {8, 2, 2};
      add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3, 1));
      load("xmin", "xmax");
      return;
    }
    mesh.cells = {4, 2, 2};
    mesh.upper = {2, 1, 1};
    mesh.set_prefix = "a ";
    mesh.block = "a";
    const auto material = elastic(1000, 0.3, 1);
    add_box_mesh(domain, mesh).set_material(material);
    second = domain.node_count();
    mesh.lower = {2, 0, 0};
    mesh.upper = {4, 1, 1};
    mesh.set_prefix = "b ";
    mesh.block = "b";
    add_box_mesh(domain, mesh).set_material(material);
    for (std::int32_t n : domain.node_set("a xmax"))
      for (std::int32_t m : domain.node_set("b xmin"))
        if (position(domain, n) == position(domain, m))
          for (const char* u : {"ux", "uy", "uz"})
            domain.add_equation({{domain.node_id(m), u, 1}, {domain.node_id(n), u, -1}});
    load("a xmin", "b xmax");
  }
  void load(const char* root, const char* tip) {
    domain.prescribe(root, "all");
    domain.add_load_case("tip").traction(tip, {1, 2, -3}).gravity("", {0, 0, -0.1});
  }
  /// By place: the two models number their nodes differently.
  double compare(const StepResult& mine, const Halves& other, const StepResult& theirs) const {
    double worst = 0;
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const std::int32_t m = node_at(other.domain, position(domain, n));
      for (int k = 0; k < 3; ++k) worst = std::max(worst, std::abs(mine.unknowns.at(n, k) - theirs.unknowns.at(m, k)));
    }
    return worst / std::abs(theirs.unknowns.largest("uz").value);
  }
};

TEST(Equations, TiedHalvesAreOneBody) {
  for (const char* type : {"solid.hex8", "solid.hex20", "solid.tet10", "solid.wedge6"}) {
    SCOPED_TRACE(type);
    Halves whole(type, false), tied(type, true);
    const StepResult expected = solve(whole.domain);
    for (const char* solver : {"direct", "cg"}) {
      StaticOptions options;
      options.solver = solver;
      options.relative_tolerance = 1e-13;
      const StepResult result = solve(tied.domain, options);
      EXPECT_LT(tied.compare(result, whole, expected), 1e-9) << solver;
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(result.reaction_sum[k], expected.reaction_sum[k], 1e-9);
        EXPECT_NEAR(result.load_sum[k], expected.load_sum[k], 1e-9);
      }
      expect_relative(result.energy, expected.energy, 1e-9);
    }
  }
}

TEST(Equations, PenaltyComesNearTransformation) {
  Halves tied("solid.hex8", true);
  const StepResult exact = solve(tied.domain);
  StaticOptions options;
  options.constraints = "penalty";
  const StepResult near = solve(tied.domain, options);
  EXPECT_LT(tied.compare(near, tied, exact), 1e-5);
  EXPECT_GT(tied.compare(near, tied, exact), 0.0) << "it is another method";
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(near.reaction_sum[k], exact.reaction_sum[k], 1e-5);
}

TEST(Equations, PenaltyHoldsPrescribedValues) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad8";
  mesh.cells = {4, 2, 1};
  mesh.upper = {2, 1, 1};
  add_box_mesh(domain, mesh).set_material(elastic(1000, 0.25)).set_section("thickness", 1);
  domain.prescribe("xmin", "ux");
  domain.prescribe("ymin", "uy");
  domain.prescribe("xmax", "ux", 0.02);
  StaticOptions options;
  options.constraints = "penalty";
  const StepResult result = solve(domain, options);
  expect_relative(result.unknowns.at(node_at(domain, {2, 1, 0}), "ux"), 0.02, 1e-6);
  double pull = 0;
  for (std::int32_t n : domain.node_set("xmax")) pull += result.reactions.at(n, "ux");
  expect_relative(pull, 1000 * 0.01, 1e-5);
}

/// A periodic cell of two layers, sheared by a jump from bottom to top: the layers share one shear stress,
/// τ = γ / (½/G₁ + ½/G₂), however the cell is repeated.
TEST(Equations, PeriodicCellWithAJump) {
  for (const char* type : {"solid.hex8.full", "solid.hex20"}) {
    SCOPED_TRACE(type);
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 2, 4};
    add_box_mesh(domain, mesh).set_material(elastic(100, 0.25));
    // Soft below, stiff above.
    std::vector<double> young;
    ElementBlock& block = domain.block(0);
    for (std::int32_t e = 0; e < block.size(); ++e) {
      double z = 0;
      for (std::int32_t n : block.nodes(e)) z += position(domain, n)[2] / block.nodes_per_element();
      young.push_back(z < 0.5 ? 100 : 700);
    }
    block.set_per_element("young", young);
    const double gamma = 0.01;
    const std::int32_t corner = node_at(domain, {0, 0, 0});
    domain.prescribe(only(domain, corner), "all");
    const auto pair = [&](int axis, double jump) {
      for (std::int32_t n = 0; n < domain.node_count(); ++n) {
        Position p = position(domain, n);
        if (p[axis] != 1) continue;
        p[axis] = 0;
        const Id other = domain.node_id(node_at(domain, p));
        domain.add_equation({{domain.node_id(n), "ux", 1}, {other, "ux", -1}}, jump);
        for (const char* u : {"uy", "uz"}) domain.add_equation({{domain.node_id(n), u, 1}, {other, u, -1}});
      }
    };
    pair(0, 0);
    pair(1, 0);
    pair(2, gamma);
    const StepResult result = solve(domain);
    const double g1 = 100 / 2.5, g2 = 700 / 2.5, tau = gamma / (0.5 / g1 + 0.5 / g2);
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (int q = 0; q < result.points[0].points; ++q) {
        expect_relative(result.points[0].at(e, q, "sxz"), tau, 1e-9);
        EXPECT_NEAR(result.points[0].at(e, q, "sxx"), 0, 1e-9);
      }
    expect_relative(result.energy, 0.5 * tau * gamma, 1e-9);
  }
}

/// A plate on a support that slopes: sin t · ux = cos t · uy along its foot. The force on it is at right angles to the
/// slope.
TEST(Equations, InclinedSupport) {
  const double t = 0.4, c = std::cos(t), s = std::sin(t);
  // The same plate turned by t, where the support is an ordinary one.
  const auto plate = [&](Domain& domain, double turn) {
    BoxMesh mesh;
    mesh.type = "plane_stress.quad4";
    mesh.cells = {4, 3, 1};
    mesh.upper = {2, 1, 1};
    mesh.map = [turn](double x, double y, double) {
      return Position{x * std::cos(turn) - y * std::sin(turn), x * std::sin(turn) + y * std::cos(turn), 0};
    };
    add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3)).set_section("thickness", 1);
  };
  Domain flat, sloping;
  plate(flat, 0);
  plate(sloping, t);
  flat.prescribe("ymin", "uy");
  flat.prescribe(only(flat, 0), "ux");
  flat.add_load_case("push").traction("ymax", {1, -2, 0});
  for (std::int32_t n : sloping.node_set("ymin")) {
    const Id id = sloping.node_id(n);
    if (n == 0)
      sloping.prescribe(only(sloping, n), "all");
    else
      sloping.add_equation({{id, "uy", c}, {id, "ux", -s}});
  }
  sloping.add_load_case("push").traction("ymax", {c * 1 + s * 2, s * 1 - c * 2, 0});
  const StepResult a = solve(flat), b = solve(sloping);
  for (std::int32_t n = 0; n < flat.node_count(); ++n) {
    EXPECT_NEAR(b.unknowns.at(n, 0), c * a.unknowns.at(n, 0) - s * a.unknowns.at(n, 1), 1e-12);
    EXPECT_NEAR(b.unknowns.at(n, 1), s * a.unknowns.at(n, 0) + c * a.unknowns.at(n, 1), 1e-12);
  }
  expect_relative(b.energy, a.energy, 1e-10);
}

/// Chains: each node of a face follows its neighbour, which follows the next; one is prescribed. The face moves as one.
TEST(Equations, ChainsFollowEachOther) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex8.full";
  mesh.cells = {3, 3, 1};
  mesh.upper = {3, 1, 1};
  add_box_mesh(domain, mesh).set_material(elastic(1000, 0));
  domain.prescribe("xmin", "all");
  const auto face = domain.node_set("xmax");
  for (std::size_t i = 0; i + 1 < face.size(); ++i)
    domain.add_equation({{domain.node_id(face[i]), "ux", 2}, {domain.node_id(face[i + 1]), "ux", -2}});
  domain.prescribe(only(domain, face.back()), "ux", 0.03);
  const StepResult result = solve(domain);
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    EXPECT_NEAR(result.unknowns.at(n, "ux"), 0.01 * position(domain, n)[0], 1e-13);
  expect_relative(result.reactions.at(face.back(), "ux"), 1000 * 0.01, 1e-10, "the whole face hangs on one node");
}

}  // namespace
}  // namespace voussoir::validation
