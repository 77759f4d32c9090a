// The program of link_it.md: Voussoir inside another program. Arrays in, arrays out, errors as values, progress shown.

#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

namespace house {  // the in-house tool: knows nothing of Voussoir's types

struct Model {
  std::vector<double> xyz;      // three per node
  std::vector<int> hexahedra;   // eight node numbers each, from 0
  std::vector<int> clamped;     // nodes
  std::vector<int> loaded;      // nodes
  double force[3] = {0, 0, 0};  // on each loaded node
  double young = 0, poisson = 0;
};

struct Answer {
  std::vector<double> displacement;  // three per node
  std::vector<double> mises;         // one per node
  std::string error;                 // empty where all went well
  std::string how;                   // what solved it
};

Answer solve(const Model& model, const std::string& backend) {
  using namespace voussoir;
  Answer answer;
  try {
    Domain domain;
    domain.add_nodes({}, model.xyz);  // ids 1, 2, 3, …

    ElementBlock& block = domain.add_block("body", "solid.hex8");
    block.set_material(std::make_shared<IsotropicMaterial>("material", model.young, model.poisson));
    const std::vector<Id> nodes = [&] {
      std::vector<Id> ids;
      for (int n : model.hexahedra) ids.push_back(n + 1);
      return ids;
    }();
    block.add_many({}, nodes);

    const auto ids_of = [](const std::vector<int>& numbers) {
      std::vector<Id> ids;
      for (int n : numbers) ids.push_back(n + 1);
      return ids;
    };
    domain.add_node_set("clamped", ids_of(model.clamped));
    domain.add_node_set("loaded", ids_of(model.loaded));
    domain.prescribe("clamped", "all");
    LoadCase& load = domain.add_load_case("load");
    const char* directions[] = {"ux", "uy", "uz"};
    for (int i = 0; i < 3; ++i)
      if (model.force[i] != 0) load.nodal("loaded", directions[i], model.force[i]);

    StaticOptions options;
    options.backend = backend;
    auto analysis = make_static_analysis(domain, options);
    analysis->observer = [](const Progress& p) {
      if (p.iteration == 0) std::printf("  %6.2f s  %s\n", p.seconds, p.stage.c_str());
      return true;  // false would stop the analysis
    };
    const StepResult result = analysis->run().front();
    answer.displacement = result.unknowns.values;
    const NodalField stress = nodal_stress(domain, result).front().field;
    for (std::int32_t n = 0; n < domain.node_count(); ++n) answer.mises.push_back(stress.at(n, "mises"));
    answer.how = result.report.solver + "; " + result.report.choice;
  } catch (const voussoir::Error& error) {
    answer.error = error.what();
  }
  return answer;
}

}  // namespace house

namespace {

/// A bar of n cubes along x.
house::Model bar(int n) {
  house::Model m;
  for (int i = 0; i <= n; ++i)
    for (int c = 0; c < 4; ++c) m.xyz.insert(m.xyz.end(), {double(i), double(c == 1 || c == 2), double(c > 1)});
  for (int i = 0; i < n; ++i) {
    const int a = 4 * i, b = a + 4;
    for (int node : {a, b, b + 1, a + 1, a + 3, b + 3, b + 2, a + 2}) m.hexahedra.push_back(node);
  }
  m.clamped = {0, 1, 2, 3};
  m.loaded = {4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3};
  m.young = 1000;
  m.poisson = 0;
  return m;
}

}  // namespace

int main() {
  house::Model model = bar(10);
  model.force[0] = 0.25;  // one in all: stress 1, strain 1/1000
  const house::Answer pulled = house::solve(model, "auto");
  std::printf("%s%s\n", pulled.error.c_str(), pulled.how.c_str());
  if (!pulled.error.empty()) return 1;
  const double end = pulled.displacement[3 * 40], stress = pulled.mises[20];
  std::printf("end moves by %.12g (10/1000), stress %.12g (1)\n", end, stress);
  if (std::abs(end - 0.01) > 1e-9 || std::abs(stress - 1) > 1e-9) return 1;

  model.clamped = {0};  // one node holds the bar: it can turn
  const house::Answer loose = house::solve(model, "auto");
  std::printf("as it should be: %s\n", loose.error.c_str());
  return loose.error.find("under-constrained") == std::string::npos ? 1 : 0;
}
