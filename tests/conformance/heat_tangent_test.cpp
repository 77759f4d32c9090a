#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/full_tangent.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "backends_under_test.hpp"

// Conductivity that depends on the unknown temperature, with the whole tangent and with its symmetric part, on every
// backend: k = k₀ (1 + b T) between T = 0 and T = t, where T + b T² / 2 is linear in x. The elements' own integrals are
// exact for it, so nodal values are too.

namespace voussoir::conformance {

/// The same conductivity as a law that reads the temperature.
struct WarmFlow {
  static constexpr const char* name = "warm_flow";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"T"};
  static constexpr const char* parameters[] = {"k0", "b"};
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[0] * (R(1.0) + p[1] * p.temperature) * grad;
  }
};

}  // namespace voussoir::conformance

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(voussoir::conformance::WarmFlow, Hex8);

namespace {

using namespace voussoir;

template <class Law>
using FullHex8 = FullTangentElement<Law, Hex8, Full>;
const RegisterKernel<FullHex8<conformance::WarmFlow>> warm_flow{"warm_flow.hex8.full_tangent", "hex8",
                                                                VSR_KERNEL_FILE_OR_NULL};
const RegisterKernel<FullHex8<Heat>> heat{"heat.hex8.full_tangent", "hex8", VSR_KERNEL_FILE_OR_NULL};
const RegisterKernel<FullHex8<OrthotropicHeat>> orthotropic_heat{"orthotropic_heat.hex8.full_tangent", "hex8",
                                                                 VSR_KERNEL_FILE_OR_NULL};

}  // namespace

namespace voussoir::conformance {
namespace {

constexpr double k0 = 5, b = 0.03, hot = 100;  // k grows by a factor of 4

struct HeatTangentOn : ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, HeatTangentOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

void build(const std::string& type, Domain& d) {
  BoxMesh mesh;
  const std::string prefix = "orthotropic_";  // which the material brings
  mesh.type = type.starts_with(prefix) ? type.substr(prefix.size()) : type;
  mesh.cells = {8, 2, 2};
  auto& block = add_box_mesh(d, mesh);
  std::shared_ptr<Material> m = std::make_shared<Material>("warm");
  if (type.starts_with("orthotropic")) m = std::make_shared<OrthotropicMaterial>("warm");
  const std::vector<std::pair<double, double>> table{{0, k0}, {2 * hot, k0 * (1 + 2 * b * hot)}};
  if (type.starts_with("warm_flow"))
    m->set("k0", k0).set("b", b);
  else if (type.starts_with("orthotropic"))
    for (const char* k : {"k1", "k2", "k3"}) m->set_table(k, table);
  else
    m->set_table("conductivity", table);
  block.set_material(m);
  if (type.starts_with("orthotropic")) block.set_orientation(Orientation::rectangular({0, 1, 0}, {0, 0, 1}));
  d.prescribe("xmin", "T");
  d.prescribe("xmax", "T", hot);
}

/// The number of Newton's iterations; temperatures are compared with the exact ones. `tangent` is of types that leave
/// something to choose.
std::size_t iterations(const std::string& backend, const std::string& type, const std::string& solver,
                       const std::string& storage, const std::string& tangent = "symmetric") {
  Domain d;
  build(type, d);
  StaticOptions options;
  options.solver = solver;
  options.storage = storage;
  options.tangent = tangent;
  options.relative_tolerance = 1e-10;
  auto analysis = make_static_analysis(d, Backend::open(backend), options);
  const StepResult result = analysis->run().front();
  EXPECT_EQ(analysis->model().device_model().symmetric(), !type.ends_with(".full_tangent") && tangent == "symmetric");
  const double end = hot + b * hot * hot / 2;
  const double tolerance = solver == "auto" || solver == "direct" ? 1e-8 : 1e-6;
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double theta = end * d.coordinates()[3 * n];
    EXPECT_NEAR(result.unknowns.at(n, "T"), (std::sqrt(1 + 2 * b * theta) - 1) / b, tolerance * hot);
  }
  EXPECT_NEAR(sum_over(result.reactions, d, "xmax", "T"), k0 * end, 10 * tolerance * k0 * end);
  return result.report.history.size() - 1;
}

TEST_P(HeatTangentOn, TheWholeTangentConvergesQuadratically) {
  for (const std::string type : {"heat.hex8", "orthotropic_heat.hex8", "warm_flow.hex8"})
    for (const auto& [solver, storage] : std::vector<std::pair<std::string, std::string>>{
             {"auto", "auto"}, {"direct", "csr"}, {"gmres", "bsr"}, {"bicgstab+jacobi", "matrix-free"}}) {
      EXPECT_LE(iterations(GetParam(), type + ".full_tangent", solver, storage), 7u) << type << " by " << solver;
      if (type != "heat.hex8") break;
    }
}

TEST_P(HeatTangentOn, EveryTypeHasItWithoutAKernelOfItsOwn) {
  for (const std::string type : {"heat.hex8", "orthotropic_heat.hex8", "warm_flow.hex8"})
    for (const auto& [solver, storage] : std::vector<std::pair<std::string, std::string>>{
             {"auto", "auto"}, {"direct", "csr"}, {"gmres", "bsr"}, {"bicgstab+jacobi", "matrix-free"}}) {
      EXPECT_LE(iterations(GetParam(), type, solver, storage, "full"), 6u) << type << " by " << solver;
      if (type != "heat.hex8") break;
    }
}

TEST_P(HeatTangentOn, WithoutItNewtonIteratesBySubstitution) {
  for (const std::string type : {"heat.hex8", "warm_flow.hex8"})
    for (const char* solver : {"cg", "direct"}) {
      const std::size_t found = iterations(GetParam(), type, solver, "auto");
      EXPECT_GE(found, 9u) << solver;
      EXPECT_LE(found, 40u) << solver;
    }
}

TEST(HeatTangent, SolversForSymmetricMatricesRefuseIt) {
  Domain d;
  build("heat.hex8.full_tangent", d);
  StaticOptions options;
  options.backend = oracle;
  options.solver = "cg";
  EXPECT_THROW(make_static_analysis(d, options)->run(), Error);
}

}  // namespace
}  // namespace voussoir::conformance
