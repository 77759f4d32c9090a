#include <voussoir/partition/domain_partitioner.hpp>

#include <algorithm>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/equation_groups.hpp>
#include <voussoir/partition/mesh_partitioner.hpp>

namespace voussoir {
namespace {

/// Sets of elements that grow together.
struct UnionFind {
  std::vector<std::int32_t> parent;
  explicit UnionFind(std::int64_t count) : parent(count) { std::iota(parent.begin(), parent.end(), 0); }
  std::int32_t find(std::int32_t e) {
    while (parent[e] != e) e = parent[e] = parent[parent[e]];
    return e;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = find(a), b = find(b);
    parent[std::max(a, b)] = std::min(a, b);
  }
};

/// Methods may leave a part empty on tiny graphs; it then gets a vertex of the part that has most.
void fill_empty_parts(std::vector<std::int32_t>& part, int parts) {
  std::vector<std::int64_t> count(parts, 0);
  for (std::int32_t p : part) ++count[p];
  for (int p = 0; p < parts; ++p) {
    if (count[p] > 0) continue;
    const auto richest = static_cast<std::int32_t>(std::max_element(count.begin(), count.end()) - count.begin());
    *std::find(part.rbegin(), part.rend(), richest) = p;
    --count[richest];
    ++count[p];
  }
}

}  // namespace

DomainPartitioner& DomainPartitioner::set_weights(std::vector<double> weights) {
  if (!weights.empty() && static_cast<std::int64_t>(weights.size()) != domain_->element_count())
    throw Error(ErrorCode::bad_input, std::to_string(weights.size()) + " weights for " +
                                          std::to_string(domain_->element_count()) + " elements");
  weights_ = std::move(weights);
  return *this;
}

DomainPartitioner& DomainPartitioner::keep_together(std::span<const Id> elements) {
  std::vector<ElementRef> group;
  for (Id id : elements) group.push_back(domain_->element_ref(id));
  together_.push_back(std::move(group));
  return *this;
}

DomainPartitioner& DomainPartitioner::keep_together(const std::string& element_set) {
  const auto set = domain_->element_set(element_set);
  together_.emplace_back(set.begin(), set.end());
  return *this;
}

namespace {

/// The number of elements that are the first of their group.
std::int64_t count_groups(const std::vector<std::int32_t>& group) {
  std::int64_t count = 0;
  for (std::size_t e = 0; e < group.size(); ++e) count += group[e] == static_cast<std::int32_t>(e);
  return count;
}

}  // namespace

std::vector<std::int32_t> DomainPartitioner::groups() const {
  const Domain& domain = *domain_;
  const std::int64_t count = domain.element_count();
  std::vector<std::int64_t> first{0};
  for (std::size_t b = 0; b < domain.block_count(); ++b) first.push_back(first.back() + domain.block(b).size());
  UnionFind sets(count);
  for (const auto& group : together_)
    for (const ElementRef& ref : group)
      sets.join(static_cast<std::int32_t>(first[group[0].block] + group[0].element),
                static_cast<std::int32_t>(first[ref.block] + ref.element));
  if (!domain.equations().empty() && !cuts_equations_) {
    // The elements at the nodes of an equation, and of those it is grouped with, are joined through one of them.
    const EquationGroups groups = equation_groups(domain);
    std::vector<std::vector<std::int32_t>> equations_of(domain.node_count());
    for (std::size_t q = 0; q < domain.equations().size(); ++q)
      for (const auto& term : domain.equations()[q].terms) equations_of[term.node].push_back(groups.of_equation[q]);
    std::vector<std::int32_t> representative(groups.count, -1);
    for (std::size_t b = 0; b < domain.block_count(); ++b)
      for (std::int32_t e = 0; e < domain.block(b).size(); ++e)
        for (std::int32_t n : domain.block(b).nodes(e))
          for (std::int32_t q : equations_of[n]) {
            const auto global = static_cast<std::int32_t>(first[b] + e);
            if (representative[q] < 0) representative[q] = global;
            sets.join(representative[q], global);
          }
  }
  std::vector<std::int32_t> group(count);
  for (std::int32_t e = 0; e < static_cast<std::int32_t>(count); ++e) group[e] = sets.find(e);
  return group;
}

std::int64_t DomainPartitioner::group_count() const { return count_groups(groups()); }

Partition DomainPartitioner::partition(const GraphPartitioner& method, int parts) const {
  const Domain& domain = *domain_;
  const std::int64_t count = domain.element_count();
  if (parts < 1)
    throw Error(ErrorCode::bad_input, std::to_string(parts) + " parts were requested; at least 1 is needed");
  if (parts > count)
    throw Error(ErrorCode::bad_input, std::to_string(parts) + " parts were requested, but the domain has only " +
                                          std::to_string(count) + " elements; request fewer parts");
  const ElementGraph graph = element_graph(domain, weights_);

  const std::vector<std::int32_t> group = groups();
  const std::int64_t vertices = count_groups(group);
  if (parts > vertices)
    throw Error(ErrorCode::bad_input,
                std::to_string(parts) + " parts were requested, but the elements form only " +
                    std::to_string(vertices) +
                    " groups that may be separated (elements kept together, or coupled by equations)");

  std::vector<std::int32_t> part_of_vertex;
  std::vector<std::int32_t> part_of_element(count);
  const bool grouped = vertices < count;
  const ElementGraph coarse = grouped ? merged(graph, group) : ElementGraph{};
  const ElementGraph& to_cut = grouped ? coarse : graph;
  const auto* by_nodes = dynamic_cast<const MeshPartitioner*>(&method);
  part_of_vertex =
      by_nodes ? by_nodes->divide(to_cut, vertex_nodes(domain, to_cut), parts) : method.partition(to_cut, parts);
  if (static_cast<std::int64_t>(part_of_vertex.size()) != vertices)
    throw Error(ErrorCode::misuse, "the method '" + method.name() + "' gave " + std::to_string(part_of_vertex.size()) +
                                       " parts for " + std::to_string(vertices) + " vertices");
  for (std::int32_t p : part_of_vertex)
    if (p < 0 || p >= parts)
      throw Error(ErrorCode::misuse,
                  "the method '" + method.name() + "' returned a part that does not exist: " + std::to_string(p));
  fill_empty_parts(part_of_vertex, parts);
  for (std::int64_t e = 0; e < count; ++e) part_of_element[e] = part_of_vertex[to_cut.vertex[e]];
  return Partition(domain, std::move(part_of_element), parts, graph);
}

}  // namespace voussoir
