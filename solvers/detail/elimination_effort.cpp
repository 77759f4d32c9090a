#include <voussoir/solvers/detail/elimination_effort.hpp>

#include <algorithm>

#include <voussoir/framework/domain/node_unknowns.hpp>

namespace voussoir::detail {
namespace {

/// Nodes and elements as a graph: which elements a node belongs to.
class Levels {
 public:
  explicit Levels(const Domain& domain)
      : domain_(domain), unknowns_(node_unknowns(domain).of_node), seen_(domain.node_count(), 0) {
    for (std::size_t b = 0; b < domain.block_count(); ++b) {
      first_of_block_.push_back(elements_);
      elements_ += domain.block(b).size();
    }
    start_.assign(static_cast<std::size_t>(domain.node_count()) + 1, 0);
    for_each_corner([&](std::int64_t, std::int32_t node) { ++start_[static_cast<std::size_t>(node) + 1]; });
    for (std::size_t n = 1; n < start_.size(); ++n) start_[n] += start_[n - 1];
    element_of_.resize(static_cast<std::size_t>(start_.back()));
    std::vector<std::int64_t> at(start_.begin(), start_.end() - 1);
    for_each_corner([&](std::int64_t element, std::int32_t node) {
      element_of_[static_cast<std::size_t>(at[static_cast<std::size_t>(node)]++)] = element;
    });
    visited_.assign(static_cast<std::size_t>(elements_), 0);
  }

  /// Σ w³ over all parts.
  double effort() {
    double sum = 0;
    for (std::int32_t n = 0; n < domain_.node_count(); ++n) {
      if (unknowns_[static_cast<std::size_t>(n)].empty() || seen_[static_cast<std::size_t>(n)] != 0) continue;
      // From any node to the farthest one, which is at the rim, and back from there.
      double ignored = 0;
      const std::int32_t rim = walk(n, ignored);
      walk(rim, sum);
    }
    return sum;
  }

 private:
  template <class Visitor>
  void for_each_corner(Visitor visit) const {
    for (std::size_t b = 0; b < domain_.block_count(); ++b) {
      const auto nodes = domain_.block(b).connectivity();
      const std::int64_t size = domain_.block(b).size();
      if (size == 0) continue;
      const std::int64_t per_element = static_cast<std::int64_t>(nodes.size()) / size;
      for (std::size_t k = 0; k < nodes.size(); ++k)
        visit(first_of_block_[b] + static_cast<std::int64_t>(k) / per_element, nodes[k]);
    }
  }

  /// Breadth first through the part of a node; returns the first node of the last level.
  std::int32_t walk(std::int32_t from, double& effort) {
    ++round_;
    std::vector<std::int32_t> level{from}, next;
    seen_[static_cast<std::size_t>(from)] = round_;
    std::int32_t last = from;
    while (!level.empty()) {
      last = level.front();
      double width = 0;
      next.clear();
      for (const std::int32_t node : level) {
        const auto n = static_cast<std::size_t>(node);
        width += unknowns_[n].count();
        for (std::int64_t k = start_[n]; k < start_[n + 1]; ++k) visit(element_of_[static_cast<std::size_t>(k)], next);
      }
      effort += width * width * width;
      std::swap(level, next);
    }
    return last;
  }

  /// Adds the nodes of an element that were not met before.
  void visit(std::int64_t element, std::vector<std::int32_t>& next) {
    if (visited_[static_cast<std::size_t>(element)] == round_) return;
    visited_[static_cast<std::size_t>(element)] = round_;
    const auto after = std::upper_bound(first_of_block_.begin(), first_of_block_.end(), element);
    const auto b = static_cast<std::size_t>(after - first_of_block_.begin()) - 1;
    const auto nodes = domain_.block(b).connectivity();
    const std::size_t per_element = nodes.size() / static_cast<std::size_t>(domain_.block(b).size());
    const std::size_t first = static_cast<std::size_t>(element - first_of_block_[b]) * per_element;
    for (std::size_t k = first; k < first + per_element; ++k) {
      std::int32_t& seen = seen_[static_cast<std::size_t>(nodes[k])];
      if (seen == round_) continue;
      seen = round_;
      next.push_back(nodes[k]);
    }
  }

  const Domain& domain_;
  std::vector<UnknownSet> unknowns_;
  std::vector<std::int64_t> first_of_block_;
  std::int64_t elements_ = 0;
  std::vector<std::int64_t> start_, element_of_;  // elements of each node
  std::vector<std::int32_t> seen_, visited_;      // the last walk that met a node, an element
  std::int32_t round_ = 0;
};

}  // namespace

double elimination_effort(const Domain& domain) { return Levels(domain).effort(); }

}  // namespace voussoir::detail
