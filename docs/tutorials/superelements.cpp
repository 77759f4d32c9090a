// The program of docs/superelements.md: the two halves of a wing are each reduced to the nodes that they share and the
// nodes of the root, and written to files. The modes of the assembly are compared with those of the whole wing.

#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/io/superelement/part_vtu.hpp>
#include <voussoir/framework/io/superelement/reduced_part_file.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/reduce_part.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

#include <cmath>
#include <cstdio>

using namespace voussoir;

constexpr int wanted = 6;

ModeSet lowest_modes(const Domain& domain) {
  ModalOptions options;
  options.backend = "openmp";
  EigenRequest request;
  request.modes = wanted;
  return make_modal_analysis(domain, options)->solve(request);
}

int main() try {
  Domain wing;  // 6 m long, 1 m wide, 0.1 m thick, of aluminium
  BoxMesh mesh;
  mesh.cells = {24, 4, 1};
  mesh.upper = {6.0, 1.0, 0.1};
  add_box_mesh(wing, mesh).set_material(std::make_shared<IsotropicMaterial>("aluminium", 70e9, 0.33, 2700.0));
  const Partition halves = DomainPartitioner(wing).partition(CoordinateBisection(), 2);

  int wrong = 0;
  std::vector<std::vector<double>> table;
  for (const int modes : {0, 2, 5, 20}) {
    Domain assembly;
    std::shared_ptr<SuperelementInstance> tip;
    for (const auto& half : make_subdomains(wing, halves)) {
      // The root is part of the interface, so that the supports are those of the assembly.
      std::vector<std::int32_t> interface(half->interface_nodes().begin(), half->interface_nodes().end());
      if (half->domain().has_node_set("xmin"))
        for (const std::int32_t node : half->domain().node_set("xmin")) interface.push_back(node);
      ReduceOptions options;
      options.name = "half" + std::to_string(half->part());
      options.modes = modes;
      const std::string file = options.name + ".vsup";
      write_reduced_part(file, reduce_part(half->domain(), interface, Backend::open("openmp"), options), true);
      SuperelementOptions placing;
      placing.add_nodes = true;
      tip = add_superelement(assembly, read_reduced_part(file), placing);
    }
    for (const std::int32_t node : wing.node_set("xmin")) assembly.prescribe_at(wing.node_id(node), "all");
    const ModeSet own = lowest_modes(assembly);
    table.emplace_back();
    for (int m = 0; m < wanted; ++m) table.back().push_back(own.frequency(m));
    write_part_vtu("half1_mode_001.vtu", PartRecovery(tip), assembly, own.shapes[0], {}, {.overwrite = true});
  }
  wing.prescribe("xmin", "all");
  const ModeSet whole = lowest_modes(wing);

  std::printf("mode   whole Hz    error with 0, 2, 5 and 20 fixed-interface modes per half, in percent\n");
  for (std::size_t m = 0; m < wanted; ++m) {
    const double exact = whole.frequency(static_cast<int>(m));
    std::printf("%4zu %10.3f", m + 1, exact);
    for (std::size_t k = 0; k < table.size(); ++k) {
      std::printf(" %11.5f", 100 * (table[k][m] / exact - 1));
      if (table[k][m] < exact * (1 - 1e-6) || (k > 0 && table[k][m] > table[k - 1][m] * (1 + 1e-6))) ++wrong;
    }
    if (std::abs(table.back()[m] / exact - 1) > 1e-3) ++wrong;
    std::printf("\n");
  }
  return wrong;
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
