// A program outside the project that links the installed package: an element, a material and an analysis of its own,
// a Domain from arrays, and numbers checked against closed forms. Built by plain g++.

#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "seepage_by_hand.hpp"

using namespace voussoir;

namespace {

/// A soil whose conductivity follows from its porosity n by Kozeny and Carman, k = C n³ / (1 − n)².
class Soil : public Material {
 public:
  Soil(std::string name, double porosity) : Material(std::move(name)), porosity_(porosity) {}
  bool has(std::string_view parameter) const override { return parameter == "along" || parameter == "across"; }
  double value(std::string_view parameter, double) const override {
    const double k = 1e-2 * std::pow(porosity_, 3) / std::pow(1 - porosity_, 2);
    return parameter == "along" ? 4 * k : k;
  }

 private:
  double porosity_;
};

/// How much water goes through the ground for a head difference of one: the sum of what the upper boundary feeds in.
class Permeability : public StaticAnalysis {
 public:
  using StaticAnalysis::StaticAnalysis;
  double measure() {
    const auto results = run();
    heads_ = results.front().unknowns;
    return sum_over(results.front().reactions, domain(), "top", "head");
  }
  double head(Id node) const { return heads_.at(domain().node_index(node), "head"); }

 private:
  NodalField heads_;
};

int failures = 0;

void expect_near(const char* what, double got, double wanted, double tolerance) {
  const bool ok = std::abs(got - wanted) <= tolerance * std::abs(wanted);
  std::printf("%-44s %.12g (wanted %.12g) %s\n", what, got, wanted, ok ? "ok" : "WRONG");
  failures += !ok;
}

void expect_route(const Backend& backend, const std::string& type, Route wanted) {
  const ElementProgram& program = ElementLibrary::instance().find(type).program();
  const Route route = backend.route(program);
  const std::string reason = backend.route_reason(program);
  std::printf("%s: %s by route %s%s%s%s %s\n", backend.name().c_str(), type.c_str(), to_string(route),
              reason.empty() ? "" : " (", reason.c_str(), reason.empty() ? "" : ")", route == wanted ? "ok" : "WRONG");
  failures += route != wanted;
}

/// Two layers of one metre, n × n × 2n elements, from plain arrays as another program would hand them over.
void build(Domain& domain, int n, const std::string& type, const std::shared_ptr<Material>& lower,
           const std::shared_ptr<Material>& upper) {
  std::vector<double> coordinates;
  const int m = n + 1, layers = 2 * n;
  for (int k = 0; k <= layers; ++k)
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i) {
        const double x = double(i) / n, y = double(j) / n;
        // Distorted inside each layer, straight at its borders.
        const double z = double(k) / n + (k % n == 0 ? 0.0 : 0.1 / n * std::sin(5 * x + 3 * y));
        coordinates.insert(coordinates.end(), {x, y, z});
      }
  domain.add_nodes({}, coordinates);
  ElementBlock& below = domain.add_block("below", type).set_material(lower);
  ElementBlock& above = domain.add_block("above", type).set_material(upper);
  for (int k = 0; k < layers; ++k) {
    std::vector<Id> nodes;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const Id a = 1 + i + m * (j + Id(m) * k), b = a + Id(m) * m;
        for (Id id : {a, a + 1, a + 1 + m, a + m, b, b + 1, b + 1 + m, b + m}) nodes.push_back(id);
      }
    (k < n ? below : above).add_many({}, nodes);
  }
  domain.add_node_set_where("bottom", [](double, double, double z) { return z < 1e-9; });
  domain.add_node_set_where("top", [](double, double, double z) { return z > 2 - 1e-9; });
  domain.prescribe("bottom", "head", 0);
  domain.prescribe("top", "head", 1);
}

/// Flow and heads of two layers in series, of one element type on one backend, by every way of solving.
void check_flow(const std::shared_ptr<Backend>& backend, const std::string& type) {
  const auto clay = std::make_shared<Soil>("clay", 0.4), sand = std::make_shared<Soil>("sand", 0.3);
  const double k1 = clay->value("across", 0), k2 = sand->value("across", 0);
  const double flow = 1 / (1 / k1 + 1 / k2);
  Domain domain;
  build(domain, 4, type, clay, sand);
  struct Way {
    const char *solver, *storage;
  };
  for (const Way way : {Way{"direct", "auto"}, Way{"cg+jacobi", "csr"}, Way{"cg+jacobi", "matrix-free"}}) {
    StaticOptions options;
    options.solver = way.solver;
    options.storage = way.storage;
    options.relative_tolerance = 1e-12;
    auto parts = make_static_analysis(domain, backend, options);
    Permeability analysis(domain, parts->collaborators());
    std::printf("%s, %s, %s, %s\n", backend->name().c_str(), type.c_str(), way.solver, way.storage);
    expect_near("  flow through two layers", analysis.measure(), flow, 1e-9);
    expect_near("  head between the layers", analysis.head(1 + 25 * 4), flow / k1, 1e-9);
  }
}

/// The same elements on a GPU: the kernel compiled from its text, the class computed here and shipped.
void check_gpu() {
  for (const BackendInfo& info : Backend::available())
    if (info.name == "cuda" && !info.usable) {
      std::printf("cuda: skipped (%s)\n", info.reason.c_str());
      return;
    }
  for (const char* specification : {"cuda", "cuda:0,0"}) {
    const auto backend = Backend::open(specification);
    const ElementProgram& kernel = ElementLibrary::instance().find("seepage.hex8").program();
    const bool compiles = backend->route(kernel) == Route::jit;
    if (compiles)
      expect_route(*backend, "seepage.hex8", Route::jit);
    else
      std::printf("cuda: route jit skipped (%s)\n", backend->route_reason(kernel).c_str());
    expect_route(*backend, "seepage_by_hand.hex8", Route::host);
    check_flow(backend, "seepage.hex8");
    check_flow(backend, "seepage_by_hand.hex8");
    if (!compiles) continue;
    try {
      check_flow(backend, "cpu_only.hex8");
      std::printf("a kernel with the standard library was compiled for a GPU: WRONG\n");
      ++failures;
    } catch (const Error& error) {
      const bool ok = error.code() == ErrorCode::bad_input && error.where() == "cpu_only.hpp:2";
      std::printf("%s: %s\n", ok ? "as it should be" : "WRONG", error.what());
      failures += !ok;
    }
  }
}

}  // namespace

int main() try {
  register_host_element("seepage_by_hand.hex8", "hex8", std::make_shared<SeepageByHand>());

  // Any backend that this machine has, by its name; the answer is the same.
  for (const char* specification : {"openmp:1", "openmp", "debug", "debug:2"}) {
    const auto backend = Backend::open(specification);
    expect_route(*backend, "seepage.hex8", Route::native);
    expect_route(*backend, "seepage_by_hand.hex8", Route::host);
    check_flow(backend, "seepage.hex8");
    check_flow(backend, "seepage_by_hand.hex8");
  }
  check_gpu();

  const std::vector<double> corners{0, 0, 0, 1, 0.1, 0, 1.1, 1, 0, 0, 1, 0.1, 0, 0, 1, 1, 0, 1.2, 1, 1, 1, 0.1, 1, 1};
  const TangentReport report =
      check_tangent(ElementLibrary::instance().find("seepage.hex8").program(), corners, std::vector<double>{4.0, 1.0});
  std::printf("check_tangent: %s\n", report.text.c_str());
  failures += !report.good();

  try {
    Domain domain;
    domain.add_block("ground", "seepage.hex9");
    std::printf("an unknown element type was accepted: WRONG\n");
    ++failures;
  } catch (const Error& error) {
    std::printf("as it should be: %s\n", error.what());
  }

  if (!ElementLibrary::instance().find("seepage.hex8").program().source()) {
    std::printf("the kernel's text was not embedded: WRONG\n");
    ++failures;
  }
  std::printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
  return failures ? 1 : 0;
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
