#include <voussoir/partition/partition.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

#include <voussoir/backends/error.hpp>

namespace voussoir {

Partition::Partition(const Domain& domain, std::vector<std::int32_t> part_of_element, int parts,
                     std::vector<double> weights)
    : parts_(parts), part_of_element_(std::move(part_of_element)) {
  build(domain, element_graph(domain, std::move(weights)));
}

Partition::Partition(const Domain& domain, std::vector<std::int32_t> part_of_element, int parts,
                     const ElementGraph& graph)
    : parts_(parts), part_of_element_(std::move(part_of_element)) {
  build(domain, graph);
}

Partition Partition::with_empty_parts(const Domain& domain, std::vector<std::int32_t> part_of_element, int parts,
                                      std::vector<double> weights) {
  Partition partition(std::move(part_of_element), parts);
  partition.build(domain, element_graph(domain, std::move(weights)), true);
  return partition;
}

void Partition::build(const Domain& domain, const ElementGraph& graph, bool may_be_empty) {
  if (parts_ < 1)
    throw Error(ErrorCode::bad_input,
                "a partition into " + std::to_string(parts_) + " parts was requested; at least 1 is needed");
  const std::int64_t count = domain.element_count();
  if (static_cast<std::int64_t>(part_of_element_.size()) != count || graph.elements() != count ||
      graph.vertices() != count)
    throw Error(ErrorCode::bad_input, "the partition has " + std::to_string(part_of_element_.size()) +
                                          " entries, but the domain has " + std::to_string(count) + " elements");
  weights_ = graph.weight;
  element_count_.assign(parts_, 0);
  weight_.assign(parts_, 0.0);
  nodes_.resize(parts_);
  first_of_block_.push_back(0);

  // Parts of each node, met in the order of elements; sorted and made unique below.
  std::vector<std::int64_t> first(domain.node_count() + 1, 0);
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    for (std::int32_t n : domain.block(b).connectivity()) ++first[n + 1];
    first_of_block_.push_back(first_of_block_.back() + domain.block(b).size());
  }
  for (std::int32_t n = 0; n < domain.node_count(); ++n) first[n + 1] += first[n];
  std::vector<std::int32_t> met(first.back());
  auto cursor = first;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const std::int64_t global = first_of_block_[b] + e;
      const std::int32_t p = part_of_element_[global];
      if (p < 0 || p >= parts_)
        throw Error(ErrorCode::bad_input,
                    "it is in part " + std::to_string(p) + ", but parts count from 0 to " + std::to_string(parts_ - 1),
                    domain.element_label({static_cast<std::int32_t>(b), e}));
      ++element_count_[p];
      weight_[p] += weights_[global];
      for (std::int32_t n : block.nodes(e)) met[cursor[n]++] = p;
    }
  }
  for (int p = 0; p < parts_; ++p)
    if (element_count_[p] == 0 && !may_be_empty)
      throw Error(ErrorCode::bad_input, "part " + std::to_string(p) + " has no elements; request fewer parts");

  std::vector<std::set<std::int32_t>> neighbours(parts_);
  first_of_node_.push_back(0);
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const auto begin = met.begin() + first[n];
    auto end = met.begin() + first[n + 1];
    std::sort(begin, end);
    end = std::unique(begin, end);
    for (auto p = begin; p != end; ++p) {
      nodes_[*p].push_back(n);
      if (end - begin > 1)
        for (auto q = begin; q != end; ++q)
          if (*q != *p) neighbours[*p].insert(*q);
    }
    if (end - begin > 1) interface_.push_back(n);
    parts_of_nodes_.insert(parts_of_nodes_.end(), begin, end);
    first_of_node_.push_back(static_cast<std::int64_t>(parts_of_nodes_.size()));
  }
  for (const auto& set : neighbours) neighbours_.emplace_back(set.begin(), set.end());

  for (std::int32_t e = 0; e < graph.vertices(); ++e)
    for (auto k = graph.row_start[e]; k < graph.row_start[e + 1]; ++k)
      if (graph.column[k] > e && part_of_element_[graph.column[k]] != part_of_element_[e]) ++edge_cut_;
}

std::vector<ElementRef> Partition::elements(int part) const {
  std::vector<ElementRef> list;
  list.reserve(element_count_[part]);
  for (std::size_t b = 0; b + 1 < first_of_block_.size(); ++b)
    for (std::int64_t e = first_of_block_[b]; e < first_of_block_[b + 1]; ++e)
      if (part_of_element_[e] == part)
        list.push_back({static_cast<std::int32_t>(b), static_cast<std::int32_t>(e - first_of_block_[b])});
  return list;
}

double Partition::balance() const {
  double total = 0, heaviest = 0;
  for (double w : weight_) total += w, heaviest = std::max(heaviest, w);
  return total > 0 ? heaviest * parts_ / total : 1.0;
}

CsvTable Partition::summary() const {
  std::vector<std::int64_t> owned(parts_, 0), shared(parts_, 0);
  for (std::int32_t n = 0; n + 1 < static_cast<std::int32_t>(first_of_node_.size()); ++n)
    if (owner(n) >= 0) ++owned[owner(n)];
  for (std::int32_t n : interface_)
    for (std::int32_t p : parts_of_node(n)) ++shared[p];
  CsvTable table({"part", "elements", "weight", "nodes", "interface_nodes", "owned_nodes", "neighbours"});
  for (int p = 0; p < parts_; ++p)
    table.row()
        .add(p)
        .add(element_count_[p])
        .add(weight_[p])
        .add(nodes_[p].size())
        .add(shared[p])
        .add(owned[p])
        .add(neighbours_[p].size());
  return table;
}

std::string Partition::describe() const {
  std::vector<std::int64_t> shared(parts_, 0);
  for (std::int32_t n : interface_)
    for (std::int32_t p : parts_of_node(n)) ++shared[p];
  std::string text;
  char line[160];
  std::snprintf(line, sizeof line, "%6s %10s %12s %10s %10s %10s\n", "part", "elements", "weight", "nodes", "interface",
                "neighbours");
  text += line;
  for (int p = 0; p < parts_; ++p) {
    std::snprintf(line, sizeof line, "%6d %10lld %12.6g %10zu %10lld %10zu\n", p,
                  static_cast<long long>(element_count_[p]), weight_[p], nodes_[p].size(),
                  static_cast<long long>(shared[p]), neighbours_[p].size());
    text += line;
  }
  std::snprintf(line, sizeof line, "%d parts, balance %.4f, edge cut %lld, %zu interface nodes\n", parts_, balance(),
                static_cast<long long>(edge_cut_), interface_.size());
  return text + line;
}

CsvTable csv_table(const Domain& domain, const Partition& partition) {
  if (domain.element_count() != static_cast<std::int64_t>(partition.part_of_element().size()))
    throw Error(ErrorCode::bad_input, "the partition belongs to another domain: the numbers of elements differ");
  CsvTable table({"element", "block", "part"});
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e)
      table.row()
          .add(domain.block(b).id(e))
          .add(domain.block(b).name())
          .add(partition.part({static_cast<std::int32_t>(b), e}));
  return table;
}

}  // namespace voussoir
