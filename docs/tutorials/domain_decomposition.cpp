// The program of domain_decomposition.md: a box is cut in several ways, each cut is measured, solved by substructures
// and compared with the undivided solution. Writes domain_decomposition.csv and domain_decomposition.vtu to the working
// directory and fails where the numbers are off.

#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/load_balancer.hpp>
#include <voussoir/partition/substructure_solver.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

using namespace voussoir;

// [model] A cantilever of 24 × 8 × 8 hexahedra, clamped at x = 0, pressed from above.
void build(Domain& domain) {
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {24, 8, 8};
  mesh.upper = {3.0, 1.0, 1.0};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850.0));
  domain.prescribe("xmin", "all");
  domain.add_load_case("load").pressure("zmax", 1e5).gravity("", {0, 0, -9.81});
}
// [model]

double difference(const NodalField& a, const NodalField& b) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    largest = std::max(largest, std::abs(b.values[i]));
    apart = std::max(apart, std::abs(a.values[i] - b.values[i]));
  }
  return apart / largest;
}

/// Partitions for elements that cost different times; returns how many things are wrong.
int balance(const Domain& domain) {
  // [balance] Elements near the clamp cost five times as much, say: the balancer finds out from times alone.
  std::vector<double> cost(domain.element_count(), 1.0);
  std::fill_n(cost.begin(), cost.size() / 4, 5.0);
  const auto measured = [&](const Partition& partition) {
    std::vector<double> seconds(partition.parts(), 0.0);
    for (std::size_t e = 0; e < cost.size(); ++e) seconds[partition.part_of_element()[e]] += 1e-6 * cost[e];
    return seconds;
  };
  DomainPartitioner partitioner(domain);
  Partition partition = partitioner.partition(CoordinateBisection(), 4);
  const LoadBalancer balancer;
  std::printf("\nimbalance of times:");
  for (int round = 0; round < 4; ++round) {
    std::printf(" %.3f", LoadBalancer::imbalance(measured(partition)));
    partitioner.set_weights(balancer.weights(partition, measured(partition)));
    partition = partitioner.partition(CoordinateBisection(), 4);
  }
  // [balance]
  const double left = LoadBalancer::imbalance(measured(partition));
  std::printf(" %.3f\n", left);
  if (left < 1.1) return 0;
  std::printf("  ^ the balancer did not balance\n");
  return 1;
}

int study() {
  Domain domain;
  build(domain);
  const auto backend = Backend::open("openmp");

  // [reference] The undivided model, solved directly.
  StaticOptions options;
  options.solver = "direct";
  const StepResult whole = make_static_analysis(domain, backend, options)->run().front();
  // [reference]
  std::printf("undivided: %d nodes, %lld elements, residual %.1e\n\n", domain.node_count(),
              static_cast<long long>(domain.element_count()), whole.report.true_residual);

  // [study]
  std::vector<std::unique_ptr<GraphPartitioner>> methods;
  if (MetisPartitioner::available()) methods.push_back(std::make_unique<MetisPartitioner>());
  methods.push_back(std::make_unique<CoordinateBisection>());

  CsvTable table({"method", "parts", "edge_cut", "balance", "interface_nodes", "interface_unknowns", "condense_seconds",
                  "slowest_part_seconds", "interface_seconds", "error"});
  std::printf("%-12s %5s %8s %8s %10s %9s %9s %9s %9s\n", "method", "parts", "cut", "balance", "interface", "unknowns",
              "condense", "interf.", "error");
  int wrong = 0;
  std::unique_ptr<Partition> last;
  for (const auto& method : methods)
    for (int parts : {2, 4, 8}) {
      const Partition partition = DomainPartitioner(domain).partition(*method, parts);
      SubstructureSolver solver(domain, partition, backend);
      const StepResult result = solver.solve().front();

      const SubstructureReport& cost = solver.report();
      const double condense = std::accumulate(cost.condense_seconds.begin(), cost.condense_seconds.end(), 0.0);
      const double slowest = *std::max_element(cost.condense_seconds.begin(), cost.condense_seconds.end());
      const double error = difference(result.unknowns, whole.unknowns);
      table.row().add(method->name()).add(parts).add(partition.edge_cut()).add(partition.balance());
      table.add(partition.interface_nodes().size()).add(cost.interface_unknowns);
      table.add(condense).add(slowest).add(cost.interface_seconds).add(error);
      std::printf("%-12s %5d %8lld %8.4f %10zu %9lld %8.3fs %8.3fs %9.1e\n", method->name().c_str(), parts,
                  static_cast<long long>(partition.edge_cut()), partition.balance(), partition.interface_nodes().size(),
                  static_cast<long long>(cost.interface_unknowns), condense, cost.interface_seconds, error);
      // [study]

      // Facts that hold whatever the machine: the solution is that of the undivided model, the parts are balanced, and
      // planes across a box of 24 × 8 × 8 cells cut 64 faces each while they cut across its length.
      if (!(error < 1e-9)) ++wrong, std::printf("  ^ the solution is wrong\n");
      if (!(partition.balance() < 1.06)) ++wrong, std::printf("  ^ the parts are not balanced\n");
      if (method->name() == "coordinate" && parts <= 4 && partition.edge_cut() != 64 * (parts - 1))
        ++wrong, std::printf("  ^ the cut should be %d\n", 64 * (parts - 1));
      last = std::make_unique<Partition>(partition);
    }

  wrong += balance(domain);

  // [write]
  table.write("domain_decomposition.csv", true);
  VtuOptions vtu;
  vtu.overwrite = true;
  VtuWriter(domain)
      .add(whole.unknowns)
      .add_cells("part", std::vector<std::int32_t>(last->part_of_element().begin(), last->part_of_element().end()))
      .write("domain_decomposition.vtu", vtu);
  // [write]
  std::printf("\n%swritten: domain_decomposition.csv, domain_decomposition.vtu\n", last->describe().c_str());
  return wrong;
}

int main() {
  try {
    return study() == 0 ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
