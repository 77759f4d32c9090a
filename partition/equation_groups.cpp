#include <voussoir/partition/equation_groups.hpp>

#include <algorithm>
#include <numeric>

namespace voussoir {

EquationGroups equation_groups(const Domain& domain) {
  EquationGroups groups;
  groups.has_elements.assign(domain.node_count(), 0);
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (const std::int32_t n : domain.block(b).connectivity()) groups.has_elements[n] = 1;
  const auto& equations = domain.equations();
  std::vector<std::int32_t> parent(equations.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](std::int32_t q) {
    while (parent[q] != q) q = parent[q] = parent[parent[q]];
    return q;
  };
  std::vector<std::int32_t> first_with(domain.node_count(), -1);  // the first equation that names a node
  for (std::size_t q = 0; q < equations.size(); ++q)
    for (const auto& term : equations[q].terms) {
      if (groups.has_elements[term.node]) continue;
      std::int32_t& first = first_with[term.node];
      if (first < 0) first = static_cast<std::int32_t>(q);
      const std::int32_t a = find(first), b = find(static_cast<std::int32_t>(q));
      parent[std::max(a, b)] = std::min(a, b);
    }
  std::vector<std::int32_t> number(equations.size(), -1);
  for (std::size_t q = 0; q < equations.size(); ++q) {
    std::int32_t& n = number[find(static_cast<std::int32_t>(q))];
    if (n < 0) n = groups.count++;
    groups.of_equation.push_back(n);
  }
  return groups;
}

}  // namespace voussoir
