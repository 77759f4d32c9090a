#include <voussoir/partition/decomposition.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/detail/element_unknowns.hpp>

namespace voussoir {
namespace {

/// The unknowns of each part, ascending, from the elements.
std::vector<std::vector<std::int32_t>> unknowns_of_parts(const AnalysisModel& model, const Partition& partition,
                                                         const std::vector<std::int32_t>& unknown_of) {
  const detail::FreeCombinations free(model, unknown_of);
  std::vector<std::vector<std::int32_t>> unknowns(static_cast<std::size_t>(partition.parts()));
  for (int b = 0; b < static_cast<int>(model.batches().size()); ++b) {
    if (!detail::has_matrices(model, b)) continue;
    const detail::BatchEquations batch = detail::batch_equations(model, b);
    if (batch.dofs == 0) continue;
    const auto dofs = static_cast<std::size_t>(batch.dofs);
    for (std::size_t e = 0; e < batch.equations.size() / dofs; ++e) {
      const auto part = static_cast<std::size_t>(partition.part(model.element_of(b, static_cast<std::int32_t>(e))));
      for (std::size_t i = 0; i < dofs; ++i)
        free.each(batch.equations[e * dofs + i],
                  [&](std::int32_t unknown, double) { unknowns[part].push_back(unknown); });
    }
    for (auto& list : unknowns) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
  return unknowns;
}

}  // namespace

Decomposition::Decomposition(const AnalysisModel& model, const Partition& partition)
    : model_(&model), part_of_element_(partition.part_of_element().begin(), partition.part_of_element().end()) {
  if (static_cast<std::int64_t>(part_of_element_.size()) != model.domain().element_count())
    throw Error(ErrorCode::misuse, "the partition belongs to another domain: the numbers of elements differ");
  unknown_of_.assign(static_cast<std::size_t>(model.equation_count()), -1);
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_free(e)) {
      unknown_of_[static_cast<std::size_t>(e)] = size();
      equations_.push_back(e);
    }
  unknowns_ = unknowns_of_parts(model, partition, unknown_of_);
  std::vector<std::vector<std::int32_t>> parts_of(equations_.size());
  for (std::size_t p = 0; p < unknowns_.size(); ++p) {
    for (const std::int32_t u : unknowns_[p]) parts_of[static_cast<std::size_t>(u)].push_back(static_cast<int>(p));
  }
  first_part_.push_back(0);
  bool orphans = false;
  for (std::size_t u = 0; u < parts_of.size(); ++u) {
    if (parts_of[u].empty()) {
      parts_of[u].push_back(0);
      unknowns_[0].push_back(static_cast<std::int32_t>(u));
      orphans = true;
    }
    if (parts_of[u].size() > 1) interface_.push_back(static_cast<std::int32_t>(u));
    parts_of_.insert(parts_of_.end(), parts_of[u].begin(), parts_of[u].end());
    first_part_.push_back(parts_of_.size());
  }
  if (orphans) std::sort(unknowns_[0].begin(), unknowns_[0].end());
  std::vector<std::int32_t> place(equations_.size(), -1);
  for (std::size_t i = 0; i < interface_.size(); ++i)
    place[static_cast<std::size_t>(interface_[i])] = static_cast<std::int32_t>(i);
  interior_.resize(unknowns_.size());
  boundary_.resize(unknowns_.size());
  places_.resize(unknowns_.size());
  for (std::size_t p = 0; p < unknowns_.size(); ++p)
    for (std::size_t i = 0; i < unknowns_[p].size(); ++i) {
      const std::int32_t at = place[static_cast<std::size_t>(unknowns_[p][i])];
      (at < 0 ? interior_ : boundary_)[p].push_back(static_cast<std::int32_t>(i));
      if (at >= 0) places_[p].push_back(at);
    }
}

const char* to_string(InterfaceKind kind) {
  return kind == InterfaceKind::face ? "face" : kind == InterfaceKind::edge ? "edge" : "corner";
}

namespace {

/// Interface nodes with their unknowns, and which of them elements connect.
class InterfaceNodes {
 public:
  explicit InterfaceNodes(const Decomposition& decomposition) : decomposition_(decomposition) {
    for (const std::int32_t u : decomposition.interface()) {
      const std::int32_t node =
          decomposition.model().place(decomposition.equations()[static_cast<std::size_t>(u)]).node;
      const auto [it, is_new] = number_.emplace(node, static_cast<int>(nodes_.size()));
      if (is_new) {
        nodes_.push_back(node);
        unknowns_.emplace_back();
      }
      unknowns_[static_cast<std::size_t>(it->second)].push_back(u);
    }
    parent_.resize(nodes_.size());
    std::iota(parent_.begin(), parent_.end(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto own = decomposition.parts_of(unknowns_[i][0]);
      parts_.emplace_back(own.begin(), own.end());
      bool alike = true;
      for (const std::int32_t u : unknowns_[i]) {
        const auto other = decomposition.parts_of(u);
        alike = alike && std::equal(other.begin(), other.end(), own.begin(), own.end());
      }
      uniform_.push_back(alike);
    }
    join_along_elements();
  }

  std::vector<InterfaceClass> classes() {
    std::map<int, InterfaceClass> of_root;  // by the lowest node number, so ascending
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      InterfaceClass& one = of_root[find(static_cast<int>(i))];
      one.nodes.push_back(nodes_[i]);
      one.unknowns.insert(one.unknowns.end(), unknowns_[i].begin(), unknowns_[i].end());
      for (const std::int32_t u : unknowns_[i]) {
        const auto parts = decomposition_.parts_of(u);
        one.parts.insert(one.parts.end(), parts.begin(), parts.end());
      }
    }
    std::vector<InterfaceClass> result;
    for (auto& [root, one] : of_root) {
      std::sort(one.nodes.begin(), one.nodes.end());
      std::sort(one.unknowns.begin(), one.unknowns.end());
      std::sort(one.parts.begin(), one.parts.end());
      one.parts.erase(std::unique(one.parts.begin(), one.parts.end()), one.parts.end());
      one.kind = one.nodes.size() == 1   ? InterfaceKind::corner
                 : one.parts.size() == 2 ? InterfaceKind::face
                                         : InterfaceKind::edge;
      result.push_back(std::move(one));
    }
    return result;
  }

 private:
  int find(int i) {
    while (parent_[static_cast<std::size_t>(i)] != i)
      i = parent_[static_cast<std::size_t>(i)] =
          parent_[static_cast<std::size_t>(parent_[static_cast<std::size_t>(i)])];
    return i;
  }

  void join_along_elements() {
    const Domain& domain = decomposition_.model().domain();
    std::vector<int> here;
    for (std::size_t b = 0; b < domain.block_count(); ++b)
      for (std::int32_t e = 0; e < domain.block(b).size(); ++e) {
        here.clear();
        for (const std::int32_t n : domain.block(b).nodes(e))
          if (const auto it = number_.find(n); it != number_.end() && uniform_[static_cast<std::size_t>(it->second)])
            here.push_back(it->second);
        for (std::size_t i = 0; i < here.size(); ++i)
          for (std::size_t j = 0; j < i; ++j)
            if (parts_[static_cast<std::size_t>(here[i])] == parts_[static_cast<std::size_t>(here[j])]) {
              const int a = find(here[i]), c = find(here[j]);
              parent_[static_cast<std::size_t>(std::max(a, c))] = std::min(a, c);
            }
      }
  }

  const Decomposition& decomposition_;
  std::map<std::int32_t, int> number_;
  std::vector<std::int32_t> nodes_;
  std::vector<std::vector<std::int32_t>> unknowns_, parts_;
  std::vector<char> uniform_;  // all unknowns of the node have the same parts
  std::vector<int> parent_;
};

}  // namespace

std::vector<InterfaceClass> interface_classes(const Decomposition& decomposition) {
  return InterfaceNodes(decomposition).classes();
}

}  // namespace voussoir
