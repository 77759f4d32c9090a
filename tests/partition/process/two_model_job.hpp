#pragma once
#include <memory>

#include <voussoir/partition/process/process_part.hpp>

#include "../loaded_bar.hpp"
#include "part_systems.hpp"

namespace voussoir::testing {

/// A bar of `across` × `across` distorted hexahedra and a row of trusses along one edge, with numbers that begin at
/// 5001; the hexahedra of its left half conduct heat in a second model.
inline Job two_model_job(int across = 1) {
  auto domain = std::make_unique<Domain>();
  add_loaded_bar(*domain, across);
  ElementBlock& bars = domain->add_block("bars", "truss");
  bars.set_material(std::make_shared<IsotropicMaterial>("wire", 2000.0, 0.3, 2.0, 1e-3)).set_section("area", 0.1);
  for (int k = 0; k < 8; ++k) bars.add(5001 + k, {domain->node_id(k), domain->node_id(k + 1)});
  auto heat = std::make_unique<Domain>();
  for (std::int32_t n = 0; n < domain->node_count(); ++n) {
    const double* const x = domain->coordinates().data() + 3 * static_cast<std::size_t>(n);
    heat->add_node(domain->node_id(n), x[0], x[1], x[2]);
  }
  ElementBlock& block = heat->add_block("heat", "heat.hex8");
  auto copper = std::make_shared<Material>("copper");
  copper->set("conductivity", 400);
  block.set_material(copper);
  const ElementBlock& solid = std::as_const(*domain).block(0);
  for (std::int32_t e = 0; e < solid.size(); ++e) {
    std::vector<Id> nodes;
    for (const std::int32_t n : solid.nodes(e)) nodes.push_back(domain->node_id(n));
    if (e % 8 < 4) block.add(solid.id(e), nodes);
  }
  Job job = job_of(std::move(domain));
  job.source = "bar.inp";
  job.domains.push_back(std::move(heat));
  return job;
}

}  // namespace voussoir::testing
