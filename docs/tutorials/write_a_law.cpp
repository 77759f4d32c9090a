// The program of write_a_law.md: laws with a source, an energy, an unsymmetric tangent and a history, against closed
// forms.

#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace voussoir;

namespace {

void require(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

/// A bar of unit length and cross-section.
ElementBlock& add_bar(Domain& domain, const std::string& type, int cells, const std::shared_ptr<Material>& material) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells, 1, 1};
  ElementBlock& block = add_box_mesh(domain, mesh);
  block.set_material(material);
  return block;
}

/// The largest error of the field c against a function of x.
template <class Exact>
double error_of(const Domain& domain, const StepResult& result, const Exact& exact) {
  double error = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    error = std::max(error, std::abs(result.unknowns.at(n, "c") - exact(domain.coordinates()[3 * n])));
  return error;
}

void decay(const std::string& backend) {
  auto m = std::make_shared<Material>("water");
  m->set("diffusivity", 2).set("rate", 18);
  Domain domain;
  add_bar(domain, "decay.hex8", 32, m);
  domain.prescribe("xmin", "c", 1.0);
  const StepResult result = make_static_analysis(domain, Backend::open(backend))->run().front();
  const double error = error_of(domain, result, [](double x) { return std::cosh(3 * (1 - x)) / std::cosh(3.0); });
  std::printf("%-8s decay: largest error %.1e\n", backend.c_str(), error);
  require(error < 1e-3, "decay");
}

void stream(const std::string& backend) {
  auto m = std::make_shared<Material>("water");
  m->set("diffusivity", 0.25).set("velocity", 1);
  Domain domain;
  add_bar(domain, "stream.hex8", 32, m);
  domain.prescribe("xmin", "c");
  domain.prescribe("xmax", "c", 1.0);
  const StepResult result = make_static_analysis(domain, Backend::open(backend))->run().front();
  const double error = error_of(domain, result, [](double x) { return std::expm1(4 * x) / std::expm1(4.0); });
  std::printf("%-8s stream: largest error %.1e, by %s\n", backend.c_str(), error, result.report.solver.c_str());
  require(error < 1e-3, "stream");
}

void rubber(const std::string& backend) {
  // Stretched to twice its length with its sides fixed: P = μ (s − 1/s) + λ ln s / s.
  auto m = std::make_shared<Material>("rubber");
  m->set("lambda", 3).set("mu", 2);
  Domain domain;
  add_bar(domain, "rubber.hex8", 2, m);
  domain.prescribe("xmin", "all");
  for (const char* side : {"ymin", "ymax"}) domain.prescribe(side, "uy");
  for (const char* side : {"zmin", "zmax"}) domain.prescribe(side, "uz");
  domain.prescribe("xmax", "ux", 1.0);
  const StepResult result = make_static_analysis(domain, Backend::open(backend))->run().front();
  const double force = sum_over(result.reactions, domain, "xmax", "ux");
  const double exact = 2 * (2 - 0.5) + 3 * std::log(2.0) / 2;
  std::printf("%-8s rubber: force %.10g, exact %.10g\n", backend.c_str(), force, exact);
  require(std::abs(force - exact) < 1e-8 * exact, "rubber");
}

/// A loading cycle in increments of the given size at most. Each step begins with the history of the one before.
void metal(const std::string& backend, const std::string& type, double largest) {
  const double young = 200, poisson = 0.3, yield = 1, hardening = 20;
  auto m = std::make_shared<Material>("metal");
  m->set("bulk", young / (3 * (1 - 2 * poisson))).set("mu", young / (2 * (1 + poisson)));
  m->set("yield", yield).set("hardening", hardening);
  Domain domain;
  add_bar(domain, type, 3, m);
  domain.prescribe("xmin", "ux");
  domain.prescribe("ymin", "uy");
  domain.prescribe("zmin", "uz");
  domain.prescribe("xmax", "ux", 1.0);
  std::vector<double> strains;
  double strain = 0;
  for (const double turn : {0.010, 0.0, -0.012, 0.0, 0.015}) {
    const int increments = std::max(1, static_cast<int>(std::lround(std::abs(turn - strain) / largest)));
    const double start = strain;
    for (int i = 1; i <= increments; ++i) strains.push_back(strain = start + (turn - start) * i / increments);
  }
  auto analysis = make_static_analysis(domain, Backend::open(backend));
  for (const double value : strains) {
    Step step;
    step.name = "strain " + std::to_string(value);
    step.prescribed_factor = value;
    analysis->add_step(step);
  }
  const std::vector<StepResult> results = analysis->run();
  double plastic = 0, hardened = 0;
  for (std::size_t i = 0; i < strains.size(); ++i) {
    const double trial = young * (strains[i] - plastic);
    const double flow = std::max(0.0, std::abs(trial) - yield - hardening * hardened) / (young + hardening);
    plastic += trial > 0 ? flow : -flow;
    hardened += flow;
    const double exact = young * (strains[i] - plastic), stress = results[i].points.front().at(0, 0, "sxx");
    if (i % 10 == 9 || strains.size() < 10)
      std::printf("%-8s %s: strain %7.3f, stress %9.6f, exact %9.6f, %s\n", backend.c_str(), type.c_str(), strains[i],
                  stress, exact, results[i].report.reason.c_str());
    require(std::abs(stress - exact) < 1e-6, "metal");
  }
}

}  // namespace

int main(int count, char** names) {
  std::vector<std::string> backends{"openmp", "debug:2"};
  if (count > 1) backends.assign(names + 1, names + count);
  // Whatever a law says, its tangent is the derivative of its residual.
  const double corners[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1.1, 1, 1, 0, 1, 1};
  std::vector<double> moved;
  for (int i = 0; i < 24; ++i) moved.push_back(0.02 * std::sin(1.0 + 2.0 * i));
  const double numbers[] = {100, 80, 1, 20};
  const TangentReport report =
      check_tangent(ElementLibrary::instance().find("metal.hex8").program(), corners, numbers, moved);
  std::printf("%s\n", report.text.c_str());
  require(report.good(), "tangent of the metal");
  for (const std::string& backend : backends) {
    decay(backend);
    stream(backend);
    rubber(backend);
    metal(backend, "metal.hex8", 1e-3);
    metal(backend, "metal.hex8.bbar", 1e-3);
    metal(backend, "metal.hex8", 1);  // loaded and unloaded in one step each, by the line search
  }
}
