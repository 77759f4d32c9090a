#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <voussoir/backends/halo_traffic.hpp>
#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/device_distribution.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "backends_under_test.hpp"

// Products that begin before the values of other devices have arrived. In the emulation and on the debug backend these
// arrive as late as they may, so that whoever reads them too early has another answer.

namespace voussoir::conformance {
namespace {

/// Sets VOUSSOIR_OVERLAP while it lives.
class OverlapSetting {
 public:
  explicit OverlapSetting(const char* value) { setenv("VOUSSOIR_OVERLAP", value, 1); }
  ~OverlapSetting() { unsetenv("VOUSSOIR_OVERLAP"); }
  OverlapSetting(const OverlapSetting&) = delete;
  OverlapSetting& operator=(const OverlapSetting&) = delete;
};

ElementBlock& add_long_bar(Domain& d, const std::string& type) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {40, 4, 4};  // long enough for elements that need no values of others
  mesh.upper = {10, 1, 1};
  mesh.distortion = 0.2;
  ElementBlock& block = add_box_mesh(d, mesh);
  auto material = std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 2);
  material->set("conductivity", 50).set("specific_heat", 3);
  block.set_material(material);
  d.prescribe("ymin", "all");  // along the bar, so that CG needs few iterations
  return block;
}

/// The node nearest to a point.
Id node_at(const Domain& d, double x, double y, double z) {
  std::int32_t nearest = 0;
  double least = 1e30;
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double* c = d.coordinates().data() + 3 * static_cast<std::ptrdiff_t>(n);
    const double apart = std::hypot(c[0] - x, c[1] - y, c[2] - z);
    if (apart < least) {
      least = apart;
      nearest = n;
    }
  }
  return d.node_id(nearest);
}

void build_elastic(Domain& d) {
  add_long_bar(d, "solid.hex8");
  d.add_load_case("pull").traction("xmax", {1, 0.2, -0.3});
}

/// Equations within a device, between neighbours and between nodes far apart; supports on slopes.
void build_constrained(Domain& d) {
  build_elastic(d);
  d.add_equation({{node_at(d, 10, 1, 1), "uy", 1}, {node_at(d, 10, 1, 0.75), "uz", -0.5}});
  d.add_equation({{node_at(d, 7.5, 1, 1), "uy", 1}, {node_at(d, 2.5, 0.5, 0), "uy", -1}});
  d.add_equation(
      {{node_at(d, 2, 1, 1), "uz", 1}, {node_at(d, 5, 0.5, 1), "uz", -0.3}, {node_at(d, 9, 0.5, 1), "ux", 0.2}});
  d.prescribe_along(node_at(d, 5, 1, 0), {0, 1, 1});
  d.prescribe_along(node_at(d, 8, 1, 0.5), {1, 2, 0.5});
}

void build_heat(Domain& d) {
  add_long_bar(d, "heat.hex8");
  d.add_equation({{node_at(d, 7.5, 1, 1), "T", 1}, {node_at(d, 2.5, 0.5, 0), "T", -1}});
  d.add_load_case("flux").heat_flux("xmax", 3);
}

/// Elements of two kinds, one of which has no clusters of its own on a GPU.
void build_mixed(Domain& d) {
  build_elastic(d);
  ElementBlock& ties = d.add_block("ties", "truss");
  ties.set_material(std::make_shared<IsotropicMaterial>("rope", 500, 0.3, 1));
  ties.set_section("area", 0.1);
  for (int k = 0; k < 12; ++k)
    ties.add(100000 + k, std::vector<Id>{node_at(d, 0.5 + 0.75 * k, 0, 0), node_at(d, 1.25 + 0.75 * k, 1, 1)});
}

struct Model {
  const char* name;
  void (*build)(Domain& d);
};
constexpr Model models[] = {
    {"elastic", build_elastic}, {"constrained", build_constrained}, {"heat", build_heat}, {"mixed", build_mixed}};
constexpr const char* storages[] = {"element", "matrix-free", "point", "element-scatter", "csr", "bsr"};
bool is_stored(const std::string& storage) { return storage == "csr" || storage == "bsr"; }

/// A formed system in the order of equations that as many devices have.
struct System {
  System(const Domain& domain, const std::string& storage, const std::string& spec, int parts)
      : model(domain, Backend::open(spec), TransformationHandler(), numberer(parts)), soe(make_soe(storage)) {
    state.case_factors.assign(domain.load_case_count(), 1.0);
    integrator.begin_step(model, state);
    soe->set_model(model);
    integrator.form_tangent(model, state, *soe);
    integrator.form_unbalance(model, state, soe->b());
  }
  static DividedNumberer numberer(int parts) {
    DividedNumberer::Options options;
    options.method = "coordinate";
    options.parts = parts;
    return DividedNumberer(options);
  }
  /// A product with columns that are not alike, and behind it the sum of x·y.
  std::vector<double> product(int columns) const {
    const auto n = static_cast<std::size_t>(model.equation_count()), width = static_cast<std::size_t>(columns);
    std::vector<double> numbers(n * width);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::sin(0.37 * static_cast<double>(i / width) + 1.3 * static_cast<double>(i % width));
    Vector x = model.make_vector(columns), y = model.make_vector(columns);
    x.from_host(numbers);
    soe->matrix().apply(x, y);
    std::vector<double> found = y.to_host();
    found.push_back(soe->matrix().apply_dot(x, y));
    const std::vector<double> again = y.to_host();
    found.insert(found.end(), again.begin(), again.end());
    return found;
  }
  std::pair<int, std::vector<double>> solve(int most_iterations) {
    JacobiPreconditioner jacobi;
    jacobi.set_up(*soe);
    CgRequest request;
    request.relative_tolerance = 1e-10;
    request.max_iterations = most_iterations;
    model.backend().fill(soe->x(), 0.0);
    const CgOutcome outcome = model.backend().cg(soe->matrix(), jacobi.inverse(), soe->b(), soe->x(), request);
    EXPECT_EQ(outcome.stop, most_iterations < 100 ? CgOutcome::Stop::max_iterations : CgOutcome::Stop::converged);
    return {outcome.iterations, soe->x().to_host()};
  }
  AnalysisModel model;
  std::shared_ptr<LinearSOE> soe;
  StaticIntegrator integrator;
  AnalysisState state;
};

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    apart = std::isnan(found[i]) ? INFINITY : std::max(apart, std::abs(found[i] - wanted[i]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(apart, tolerance * largest);
}

struct OverlapOn : ::testing::TestWithParam<std::string> {};

/// Two emulated GPUs rather than two devices of one: what travels is packed and sent.
std::vector<std::string> several_devices() {
  std::vector<std::string> all{"debug:3"};
  for (const std::string& one : backends_under_test())
    if (one.find(',') != std::string::npos) all.push_back(one == "emulated:0,0" ? "emulated:0,1" : one);
  return all;
}
/// Whether all devices are on one GPU: there, CG computes ghosts itself where nothing travels, by other kernels.
bool is_one_gpu(const std::string& specification) { return specification.ends_with(":0,0"); }

TEST_P(OverlapOn, ChangesNoProduct) {
  for (const Model& model : models) {
    Domain d;
    model.build(d);
    for (const std::string storage : storages) {
      if (storage == "bsr" && model.build == build_mixed) continue;
      SCOPED_TRACE(model.name + (", " + storage));
      const int devices = Backend::open(GetParam())->devices();
      const System one(d, storage, oracle, devices);
      std::unique_ptr<System> with, without;
      {
        const OverlapSetting setting("0");
        without = std::make_unique<System>(d, storage, GetParam(), devices);
      }
      const OverlapSetting setting("1");
      with = std::make_unique<System>(d, storage, GetParam(), devices);
      const auto bytes = device_distribution(with->model.device_model()).bytes_per_product;
      for (const int columns : {1, 3, 6}) {
        SCOPED_TRACE(std::to_string(columns) + " columns");
        const std::vector<double> wanted = one.product(columns);
        expect_near(without->product(columns), wanted, 1e-13);
        const HaloTraffic before = halo_traffic();
        const std::vector<double> found = with->product(columns);
        expect_near(found, wanted, 1e-13);
        // Each of the two products exchanges each column once, however many columns are done together.
        EXPECT_EQ((halo_traffic() - before).bytes, 2 * columns * bytes);
        EXPECT_EQ(with->product(columns), found) << "bits differ from run to run";
      }
    }
  }
}

TEST_P(OverlapOn, ChangesNoSolution) {
  const int most = GetParam().starts_with("emulated") ? 8 : 1000;  // the emulation is slow
  for (const Model& model : {models[1], models[2]}) {
    Domain d;
    model.build(d);
    for (const std::string storage : {"element", "matrix-free", "point", "bsr"}) {
      SCOPED_TRACE(model.name + (", " + storage));
      const int devices = Backend::open(GetParam())->devices();
      const auto [iterations, wanted] = System(d, storage, oracle, devices).solve(most);
      const OverlapSetting setting("1");
      System system(d, storage, GetParam(), devices);
      const auto [with_iterations, with] = system.solve(most);
      expect_near(with, wanted, 1e-12);
      EXPECT_LE(std::abs(with_iterations - iterations), 1);
      // The same elements in the same order, their halo exchanged first.
      const OverlapSetting off("0");
      const auto [without_iterations, without] = system.solve(most);
      EXPECT_EQ(without_iterations, with_iterations);
      if (is_stored(storage) || is_one_gpu(GetParam()))
        expect_near(without, with, 1e-12);
      else
        EXPECT_EQ(without, with);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, OverlapOn, ::testing::ValuesIn(several_devices()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
