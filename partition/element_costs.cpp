#include <voussoir/partition/element_costs.hpp>

#include <numeric>

namespace voussoir {

double element_cost(const ElementBlock& block) {
  const auto unknowns = static_cast<double>(block.type().program().dofs());
  return unknowns * unknowns;
}

std::vector<double> relative_costs(std::vector<double> costs) {
  const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
  if (!(total > 0)) return costs;
  const double mean = total / static_cast<double>(costs.size());
  for (double& cost : costs) cost /= mean;
  return costs;
}

std::vector<double> element_costs(const Domain& domain) {
  std::vector<double> costs;
  costs.reserve(static_cast<std::size_t>(domain.element_count()));
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    costs.insert(costs.end(), static_cast<std::size_t>(domain.block(b).size()), element_cost(domain.block(b)));
  return relative_costs(std::move(costs));
}

}  // namespace voussoir
