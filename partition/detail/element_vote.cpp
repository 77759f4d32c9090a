#include <voussoir/partition/detail/element_vote.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace voussoir::detail {
namespace {

using Parts = std::vector<std::int32_t>;

std::size_t place(std::int32_t number) { return static_cast<std::size_t>(number); }

/// How many elements of each part are at each node.
class PartsAtNodes {
 public:
  explicit PartsAtNodes(std::size_t nodes) : entries_(nodes) {}

  std::int32_t count(std::int32_t node, std::int32_t part) const {
    for (const auto& [p, number] : entries_[place(node)])
      if (p == part) return number;
    return 0;
  }
  void change(std::int32_t node, std::int32_t part, std::int32_t by) {
    auto& here = entries_[place(node)];
    const auto at = std::find_if(here.begin(), here.end(), [&](const auto& entry) { return entry.first == part; });
    if (at == here.end()) {
      here.push_back({part, by});
    } else if ((at->second += by) == 0) {
      *at = here.back();
      here.pop_back();
    }
  }
  const std::vector<std::pair<std::int32_t, std::int32_t>>& at(std::int32_t node) const {
    return entries_[place(node)];
  }

 private:
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> entries_;
};

/// From the parts of the nodes to those of the elements.
class ElementVote {
 public:
  ElementVote(const ElementGraph& graph, const VertexNodes& nodes, std::vector<double> shares)
      : graph_(graph),
        nodes_(nodes),
        shares_(std::move(shares)),
        load_(shares_.size(), 0.0),
        size_(shares_.size(), 0),
        part_(graph.weight.size(), -1),
        at_nodes_(node_count(nodes)) {
    const double total = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0),
                 all = std::accumulate(shares_.begin(), shares_.end(), 0.0);
    for (const double share : shares_) limit_.push_back(1.03 * total * share / all);
  }

  /// Each vertex goes to the part that has most of its nodes; those with several such parts follow when the others have
  /// been given away. They join elements at their nodes, and the lightest part if that makes no difference.
  void count(const Parts& part_of_node) {
    std::vector<std::int32_t> votes(shares_.size(), 0), open;
    Parts best;
    const auto find_best = [&](std::int32_t v) {
      best.clear();
      std::int32_t most = 0;
      const auto part = [&](std::int32_t n) { return part_of_node[place(n)]; };
      for (const std::int32_t n : nodes_.of(v)) most = std::max(most, ++votes[place(part(n))]);
      for (const std::int32_t n : nodes_.of(v))
        if (std::exchange(votes[place(part(n))], 0) == most) best.push_back(part(n));
      std::sort(best.begin(), best.end());
    };
    for (std::int32_t v = 0; v < graph_.vertices(); ++v) {
      find_best(v);
      if (best.size() == 1)
        give(v, best.front());
      else
        open.push_back(v);
    }
    for (const std::int32_t v : open) {
      find_best(v);
      give(v, *std::min_element(best.begin(), best.end(), [&](std::int32_t a, std::int32_t b) {
             const auto rank = [&](std::int32_t p) {
               return std::tuple(!has_room(p, v), new_places(v, p), fullness(p));
             };
             return rank(a) < rank(b);
           }));
    }
  }

  /// Moves elements to other parts at their nodes while that removes nodes from the interface or, with as many nodes,
  /// joins more faces or improves the balance. Parts that are too heavy give elements away in any case.
  void refine() {
    constexpr int most_passes = 12;
    bool moved = true;
    for (int pass = 0; pass < most_passes && moved; ++pass) {
      moved = false;
      for (std::int32_t v = 0; v < graph_.vertices(); ++v) moved = improve(v) || moved;
    }
  }

  void take(const Parts& parts) {
    for (std::int32_t v = 0; v < graph_.vertices(); ++v) give(v, parts[place(v)]);
  }

  /// Keeps the heaviest piece of each part; the others join the parts around them. `near` must be connected.
  void connect(const ElementGraph& near) {
    const std::vector<std::int32_t> kept = main_pieces(near);
    Parts next = part_;
    std::vector<std::int32_t> open;
    for (std::int32_t v = 0; v < graph_.vertices(); ++v) {
      if (kept[place(v)]) continue;
      take_away(v);
      next[place(v)] = -1;
      open.push_back(v);
    }
    std::vector<std::int64_t> shared(shares_.size(), 0);
    while (!open.empty()) {
      std::vector<std::int32_t> still;
      for (const std::int32_t v : open) {
        const std::int32_t part = most_shared(near, v, shared);
        if (part < 0)
          still.push_back(v);
        else
          next[place(v)] = part;
      }
      for (const std::int32_t v : open)
        if (next[place(v)] >= 0) give(v, next[place(v)]);
      open = std::move(still);
    }
  }

  /// Gives each empty part a vertex of the one that has most, which stays as connected as it was.
  void fill_empty(const ElementGraph& near) {
    for (std::size_t p = 0; p < size_.size(); ++p) {
      if (size_[p] > 0) continue;
      const auto richest = static_cast<std::int32_t>(std::max_element(size_.begin(), size_.end()) - size_.begin());
      give(last_of(near, richest), static_cast<std::int32_t>(p));
    }
  }

  Parts result() && { return std::move(part_); }

 private:
  static std::size_t node_count(const VertexNodes& nodes) {
    return nodes.node.empty() ? 0 : place(*std::max_element(nodes.node.begin(), nodes.node.end())) + 1;
  }

  void take_away(std::int32_t v) {
    const std::int32_t part = std::exchange(part_[place(v)], -1);
    load_[place(part)] -= graph_.weight[place(v)];
    --size_[place(part)];
    for (const std::int32_t n : nodes_.of(v)) at_nodes_.change(n, part, -1);
  }

  void give(std::int32_t v, std::int32_t part) {
    if (part_[place(v)] >= 0) take_away(v);
    part_[place(v)] = part;
    load_[place(part)] += graph_.weight[place(v)];
    ++size_[place(part)];
    for (const std::int32_t n : nodes_.of(v)) at_nodes_.change(n, part, 1);
  }

  double fullness(std::int32_t part) const { return load_[place(part)] / shares_[place(part)]; }
  bool has_room(std::int32_t part, std::int32_t v) const {
    return load_[place(part)] + graph_.weight[place(v)] <= limit_[place(part)];
  }

  /// Nodes of a vertex at which a part has no other one: it would get so many more nodes.
  int new_places(std::int32_t v, std::int32_t part) const {
    const std::int32_t own = part_[place(v)] == part ? 1 : 0;
    int count = 0;
    for (const std::int32_t n : nodes_.of(v)) count += at_nodes_.count(n, part) == own;
    return count;
  }

  bool improve(std::int32_t v) {
    const std::int32_t from = part_[place(v)];
    if (size_[place(from)] < 2) return false;
    const bool is_too_heavy = load_[place(from)] > limit_[place(from)];
    const auto stays_lighter = [&](std::int32_t p) {
      return (load_[place(p)] + graph_.weight[place(v)]) / shares_[place(p)] < fullness(from);
    };
    Parts others;
    for (const std::int32_t n : nodes_.of(v))
      for (const auto& [p, number] : at_nodes_.at(n))
        if (p != from && (has_room(p, v) || (is_too_heavy && stays_lighter(p)))) others.push_back(p);
    if (others.empty()) return false;
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    const auto rank = [&](std::int32_t p) { return std::tuple(new_places(v, p), -faces(v, p), fullness(p)); };
    const std::int32_t to = *std::min_element(others.begin(), others.end(),
                                              [&](std::int32_t a, std::int32_t b) { return rank(a) < rank(b); });
    const std::pair change(new_places(v, to) - new_places(v, from), faces(v, from) - faces(v, to));
    const bool better = change < std::pair(0, 0) || (change == std::pair(0, 0) && stays_lighter(to));
    if (!better && !is_too_heavy) return false;
    give(v, to);
    return true;
  }

  /// Nodes of the faces that a vertex shares with a part.
  int faces(std::int32_t v, std::int32_t part) const {
    int nodes = 0;
    for (auto k = graph_.row_start[place(v)]; k < graph_.row_start[place(v) + 1]; ++k)
      if (part_[place(graph_.column[static_cast<std::size_t>(k)])] == part)
        nodes += graph_.shared_nodes[static_cast<std::size_t>(k)];
    return nodes;
  }

  std::int32_t lightest(const Parts& parts) const {
    return *std::min_element(parts.begin(), parts.end(),
                             [&](std::int32_t a, std::int32_t b) { return fullness(a) < fullness(b); });
  }

  /// The part that shares most nodes with a vertex, or −1 if no neighbour has a part yet.
  std::int32_t most_shared(const ElementGraph& near, std::int32_t v, std::vector<std::int64_t>& shared) const {
    Parts around;
    std::int64_t most = 0;
    const auto visit = [&](const auto& work) {
      for (auto k = near.row_start[place(v)]; k < near.row_start[place(v) + 1]; ++k)
        if (const std::int32_t p = part_[place(near.column[static_cast<std::size_t>(k)])]; p >= 0)
          work(p, near.shared_nodes[static_cast<std::size_t>(k)]);
    };
    visit([&](std::int32_t p, std::int32_t nodes) { most = std::max(most, shared[place(p)] += nodes); });
    visit([&](std::int32_t p, std::int32_t) {
      if (std::exchange(shared[place(p)], 0) == most) around.push_back(p);
    });
    std::sort(around.begin(), around.end());
    return around.empty() ? -1 : lightest(around);
  }

  /// Calls visit(v) for the vertices of a part that its members connect with one of them, nearest first.
  template <class Visit>
  void walk(const ElementGraph& near, std::int32_t from, std::vector<char>& met, const Visit& visit) const {
    std::vector<std::int32_t> queue{from};
    met[place(from)] = 1;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      visit(queue[i]);
      for (auto k = near.row_start[place(queue[i])]; k < near.row_start[place(queue[i]) + 1]; ++k) {
        const std::int32_t w = near.column[static_cast<std::size_t>(k)];
        if (met[place(w)] || part_[place(w)] != part_[place(from)]) continue;
        met[place(w)] = 1;
        queue.push_back(w);
      }
    }
  }

  std::vector<std::int32_t> main_pieces(const ElementGraph& near) const {
    struct Piece {
      double weight = 0;
      std::int64_t size = 0;
      std::int32_t seed = -1;
    };
    std::vector<Piece> main(shares_.size());
    std::vector<char> met(part_.size(), 0);
    for (std::int32_t v = 0; v < graph_.vertices(); ++v) {
      if (met[place(v)]) continue;
      Piece own{0, 0, v};
      walk(near, v, met, [&](std::int32_t w) { own.weight += graph_.weight[place(w)], ++own.size; });
      Piece& best = main[place(part_[place(v)])];
      if (std::pair(own.weight, own.size) > std::pair(best.weight, best.size)) best = own;
    }
    std::vector<std::int32_t> kept(part_.size(), 0);
    std::fill(met.begin(), met.end(), 0);
    for (const Piece& piece : main)
      if (piece.seed >= 0) walk(near, piece.seed, met, [&](std::int32_t w) { kept[place(w)] = 1; });
    return kept;
  }

  /// The vertex of a part that is farthest from its first one: without it, the others stay connected.
  std::int32_t last_of(const ElementGraph& near, std::int32_t part) const {
    std::vector<char> met(part_.size(), 0);
    std::int32_t last = -1;
    const auto first = std::find(part_.begin(), part_.end(), part) - part_.begin();
    walk(near, static_cast<std::int32_t>(first), met, [&](std::int32_t v) { last = v; });
    return last;
  }

  const ElementGraph& graph_;
  const VertexNodes& nodes_;
  std::vector<double> shares_, load_, limit_;  // of each part: weight, and how much it may have
  std::vector<std::int64_t> size_;
  Parts part_;
  PartsAtNodes at_nodes_;
};

}  // namespace

std::vector<std::int32_t> parts_of_elements(const ElementGraph& graph, const VertexNodes& nodes,
                                            std::span<const double> shares, const KnownParts& known,
                                            const ElementGraph& near, bool connected) {
  ElementVote vote(graph, nodes, {shares.begin(), shares.end()});
  if (known.of_vertex.empty())
    vote.count(known.of_node);
  else
    vote.take(known.of_vertex);
  vote.refine();
  if (connected) vote.connect(near);
  vote.fill_empty(near);
  return std::move(vote).result();
}

}  // namespace voussoir::detail
