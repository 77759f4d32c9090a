#ifndef EIGEN_MPL2_ONLY
#define EIGEN_MPL2_ONLY
#endif
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include <algorithm>
#include <numeric>

#include <voussoir/solvers/direct/detail/front_tree.hpp>
#include <voussoir/solvers/direct/detail/nested_dissection.hpp>

namespace voussoir::detail {
namespace {

/// Neighbours of vertices, ascending.
struct Graph {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> neighbour;
  std::int32_t size() const { return static_cast<std::int32_t>(start.size()) - 1; }
  std::span<const std::int32_t> of(std::int32_t v) const {
    return std::span(neighbour).subspan(
        static_cast<std::size_t>(start[static_cast<std::size_t>(v)]),
        static_cast<std::size_t>(start[static_cast<std::size_t>(v) + 1] - start[static_cast<std::size_t>(v)]));
  }
};

/// Both triangles of a pattern, with the diagonal.
Graph closed_neighbourhoods(const SymmetricCsr& matrix) {
  const auto n = static_cast<std::size_t>(matrix.n);
  std::vector<std::int64_t> next(n + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::size_t i = 0; i < n; ++i)
      for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
        visit(i, static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)]));
  };
  each([&](std::size_t i, std::size_t j) {
    ++next[i + 1];
    if (j != i) ++next[j + 1];
  });
  for (std::size_t i = 0; i < n; ++i) next[i + 1] += next[i];
  Graph graph;
  graph.start = next;
  graph.neighbour.resize(static_cast<std::size_t>(next[n]));
  // Rows are taken in order, so the entries below the diagonal come first and ascend.
  each([&](std::size_t i, std::size_t j) {
    if (j != i) graph.neighbour[static_cast<std::size_t>(next[j]++)] = static_cast<std::int32_t>(i);
    graph.neighbour[static_cast<std::size_t>(next[i]++)] = static_cast<std::int32_t>(j);
  });
  return graph;
}

/// Equations with the same neighbours, as one vertex.
struct Quotient {
  Graph graph;                                     // without the diagonal
  std::vector<std::vector<std::int32_t>> members;  // equations of each vertex, ascending
  std::vector<std::int32_t> boundary;              // vertices, ascending; they have equations of the boundary alone

  Quotient(const SymmetricCsr& matrix, std::span<const std::int32_t> kept) {
    const Graph whole = closed_neighbourhoods(matrix);
    const auto n = static_cast<std::size_t>(matrix.n);
    std::vector<char> is_kept(n, 0);
    for (const std::int32_t e : kept) is_kept[static_cast<std::size_t>(e)] = 1;
    std::vector<std::uint64_t> sum(n, 0);  // equal for equal neighbours
    for (std::size_t i = 0; i < n; ++i)
      for (const std::int32_t j : whole.of(static_cast<std::int32_t>(i)))
        sum[i] += (static_cast<std::uint64_t>(j) + 1) * 0x9E3779B97F4A7C15ull;
    std::vector<std::int32_t> vertex(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      if (vertex[i] >= 0) continue;
      const auto v = static_cast<std::int32_t>(members.size());
      members.emplace_back();
      const auto own = whole.of(static_cast<std::int32_t>(i));
      for (const std::int32_t j : own) {
        const auto other = static_cast<std::size_t>(j);
        if (other < i || vertex[other] >= 0 || sum[other] != sum[i] || is_kept[other] != is_kept[i]) continue;
        const auto same = whole.of(j);
        if (!std::equal(own.begin(), own.end(), same.begin(), same.end())) continue;
        vertex[other] = v;
        members.back().push_back(j);
      }
      if (is_kept[i]) boundary.push_back(v);
    }
    for (std::int32_t v = 0; v < static_cast<std::int32_t>(members.size()); ++v) {
      const std::int32_t first = members[static_cast<std::size_t>(v)].front();
      for (const std::int32_t j : whole.of(first)) {
        const std::int32_t other = vertex[static_cast<std::size_t>(j)];
        if (other != v && members[static_cast<std::size_t>(other)].front() == j) graph.neighbour.push_back(other);
      }
      graph.start.push_back(static_cast<std::int64_t>(graph.neighbour.size()));
    }
  }
};

std::vector<std::int32_t> minimum_degree(const Graph& graph, std::span<const std::int32_t> last) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(graph.size()), 0), vertex;
  for (const std::int32_t v : last) number[static_cast<std::size_t>(v)] = -1;
  for (std::int32_t v = 0; v < graph.size(); ++v) {
    if (number[static_cast<std::size_t>(v)] < 0) continue;
    number[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(vertex.size());
    vertex.push_back(v);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (const std::int32_t v : vertex) {
    const auto own = number[static_cast<std::size_t>(v)];
    entries.emplace_back(own, own, 1.0);
    for (const std::int32_t u : graph.of(v))
      if (number[static_cast<std::size_t>(u)] >= 0) entries.emplace_back(number[static_cast<std::size_t>(u)], own, 1.0);
  }
  const auto n = static_cast<Eigen::Index>(vertex.size());
  Eigen::SparseMatrix<double> pattern(n, n);
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  if (n > 0) Eigen::AMDOrdering<int>()(pattern, permutation);
  std::vector<std::int32_t> order;
  for (Eigen::Index k = 0; k < n; ++k) order.push_back(vertex[static_cast<std::size_t>(permutation.indices()(k))]);
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

/// The elimination tree of the vertices before the boundary, and the sizes of their columns.
class VertexTree {
 public:
  VertexTree(const Quotient& quotient, std::vector<std::int32_t> order)
      : quotient_(quotient),
        order_(std::move(order)),
        inner_(static_cast<std::int32_t>(order_.size() - quotient.boundary.size())),
        place_(order_.size()) {
    number();
    find_parents();
    postorder();
    number();
    find_parents();
    count_columns();
  }

  std::int32_t inner() const { return inner_; }
  std::int32_t vertex(std::int32_t place) const { return order_[static_cast<std::size_t>(place)]; }
  std::int32_t parent(std::int32_t place) const { return parent_[static_cast<std::size_t>(place)]; }
  std::int32_t below(std::int32_t place) const { return below_[static_cast<std::size_t>(place)]; }
  std::int64_t equations_below(std::int32_t place) const { return equations_below_[static_cast<std::size_t>(place)]; }
  std::int64_t weight(std::int32_t place) const {
    return static_cast<std::int64_t>(quotient_.members[static_cast<std::size_t>(vertex(place))].size());
  }
  /// Calls visit(place) for each neighbour of a place.
  template <class Visit>
  void neighbours(std::int32_t place, Visit visit) const {
    for (const std::int32_t v : quotient_.graph.of(vertex(place))) visit(place_[static_cast<std::size_t>(v)]);
  }

 private:
  void number() {
    for (std::size_t k = 0; k < order_.size(); ++k)
      place_[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
  }
  /// J. W. H. Liu: The role of elimination trees in sparse factorization. SIAM J. Matrix Anal. Appl. 11 (1990).
  void find_parents() {
    parent_.assign(static_cast<std::size_t>(inner_), -1);
    std::vector<std::int32_t> ancestor(static_cast<std::size_t>(inner_), -1);
    for (std::int32_t i = 0; i < inner_; ++i)
      neighbours(i, [&](std::int32_t k) {
        while (k < i) {
          const std::int32_t next = ancestor[static_cast<std::size_t>(k)];
          if (next == i) break;
          ancestor[static_cast<std::size_t>(k)] = i;
          if (next < 0) {
            parent_[static_cast<std::size_t>(k)] = i;
            break;
          }
          k = next;
        }
      });
  }
  void postorder() {
    std::vector<std::int32_t> first(static_cast<std::size_t>(inner_), -1), next(static_cast<std::size_t>(inner_), -1);
    std::vector<std::int32_t> roots, result;
    for (std::int32_t k = inner_; k-- > 0;)
      if (const std::int32_t p = parent_[static_cast<std::size_t>(k)]; p >= 0) {
        next[static_cast<std::size_t>(k)] = first[static_cast<std::size_t>(p)];
        first[static_cast<std::size_t>(p)] = k;
      } else {
        roots.push_back(k);
      }
    std::vector<std::int32_t> stack;
    for (std::size_t r = roots.size(); r-- > 0;) {
      stack.push_back(roots[r]);
      while (!stack.empty()) {
        const std::int32_t top = stack.back();
        if (const std::int32_t child = first[static_cast<std::size_t>(top)]; child >= 0) {
          first[static_cast<std::size_t>(top)] = next[static_cast<std::size_t>(child)];
          stack.push_back(child);
        } else {
          result.push_back(order_[static_cast<std::size_t>(top)]);
          stack.pop_back();
        }
      }
    }
    std::copy(result.begin(), result.end(), order_.begin());
  }
  void count_columns() {
    below_.assign(static_cast<std::size_t>(inner_), 0);
    equations_below_.assign(static_cast<std::size_t>(inner_), 0);
    std::vector<std::int32_t> seen(static_cast<std::size_t>(inner_), -1);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(order_.size()); ++i) {
      const std::int64_t weight_of_row = weight(i);
      neighbours(i, [&](std::int32_t k) {
        while (k >= 0 && k < i && k < inner_ && seen[static_cast<std::size_t>(k)] != i) {
          seen[static_cast<std::size_t>(k)] = i;
          ++below_[static_cast<std::size_t>(k)];
          equations_below_[static_cast<std::size_t>(k)] += weight_of_row;
          k = parent_[static_cast<std::size_t>(k)];
        }
      });
    }
  }

  const Quotient& quotient_;
  std::vector<std::int32_t> order_;  // vertex of each place
  std::int32_t inner_;
  std::vector<std::int32_t> place_, parent_, below_;
  std::vector<std::int64_t> equations_below_;
};

/// Neighbouring vertices that are eliminated together.
struct VertexFront {
  std::int32_t first = 0, last = 0;   // places of vertices
  std::int64_t width = 0, below = 0;  // equations
  std::int64_t entries = 0;           // of the factor, without stored zeros
};

std::int64_t trapezoid(std::int64_t width, std::int64_t below) { return width * (width + 1) / 2 + width * below; }

/// Whether few enough zeros are stored if the columns of two fronts become one.
bool worth_merging(std::int64_t width, std::int64_t all, std::int64_t entries) {
  const double zeros = static_cast<double>(all - entries) / static_cast<double>(all);
  return zeros <= 0 || (width <= 16 && zeros < 0.8) || (width <= 48 && zeros < 0.25) || (width <= 144 && zeros < 0.1) ||
         zeros < 0.04;
}

std::vector<VertexFront> vertex_fronts(const VertexTree& tree) {
  std::vector<VertexFront> plain;
  for (std::int32_t k = 0; k < tree.inner(); ++k) {
    const bool joins = k > 0 && tree.parent(k - 1) == k && tree.below(k - 1) == tree.below(k) + 1;
    if (!joins) plain.push_back({k, k, 0, 0, 0});
    plain.back().last = k;
    plain.back().width += tree.weight(k);
    plain.back().below = tree.equations_below(k);
  }
  // In this order, the fronts before a front are its last child and what is below that.
  std::vector<VertexFront> fronts;
  for (VertexFront front : plain) {
    front.entries = trapezoid(front.width, front.below);
    while (!fronts.empty()) {
      const VertexFront& child = fronts.back();
      const std::int32_t parent = tree.parent(child.last);
      if (parent < front.first || parent > front.last) break;
      const std::int64_t width = front.width + child.width, entries = front.entries + child.entries;
      if (!worth_merging(width, trapezoid(width, front.below), entries)) break;
      front = {child.first, front.last, width, front.below, entries};
      fronts.pop_back();
    }
    fronts.push_back(front);
  }
  return fronts;
}

/// The fronts with their rows. `start` has the first place of each vertex.
void add_fronts(FrontTree& result, const VertexTree& tree, const std::vector<std::int32_t>& start) {
  const std::vector<VertexFront> list = vertex_fronts(tree);
  const auto vertices = static_cast<std::int32_t>(start.size()) - 1;
  const bool keeps = tree.inner() < vertices;
  const auto count = static_cast<std::int32_t>(list.size());
  std::vector<std::int32_t> front_of(static_cast<std::size_t>(vertices), count);
  for (std::int32_t f = 0; f < count; ++f)
    for (std::int32_t k = list[static_cast<std::size_t>(f)].first; k <= list[static_cast<std::size_t>(f)].last; ++k)
      front_of[static_cast<std::size_t>(k)] = f;
  result.children.resize(static_cast<std::size_t>(count) + (keeps ? 1 : 0));
  std::vector<std::vector<std::int32_t>> below(static_cast<std::size_t>(count));  // vertices
  std::vector<std::int32_t> seen(static_cast<std::size_t>(vertices), -1);
  const auto add_rows = [&](std::int32_t first, std::int32_t last) {
    for (std::int32_t k = first; k < last; ++k)
      for (std::int32_t e = start[static_cast<std::size_t>(k)]; e < start[static_cast<std::size_t>(k) + 1]; ++e)
        result.rows.push_back(e);
  };
  for (std::int32_t f = 0; f < count; ++f) {
    const VertexFront& own = list[static_cast<std::size_t>(f)];
    auto& rows = below[static_cast<std::size_t>(f)];
    const auto visit = [&](std::int32_t k) {
      if (k <= own.last || seen[static_cast<std::size_t>(k)] == f) return;
      seen[static_cast<std::size_t>(k)] = f;
      rows.push_back(k);
    };
    for (std::int32_t k = own.first; k <= own.last; ++k) tree.neighbours(k, visit);
    for (const std::int32_t child : result.children[static_cast<std::size_t>(f)])
      for (const std::int32_t k : below[static_cast<std::size_t>(child)]) visit(k);
    std::sort(rows.begin(), rows.end());
    FrontTree::Front front;
    front.first = start[static_cast<std::size_t>(own.first)];
    front.width = start[static_cast<std::size_t>(own.last) + 1] - front.first;
    front.rows = static_cast<std::int64_t>(result.rows.size());
    add_rows(own.first, own.last + 1);
    for (const std::int32_t k : rows) add_rows(k, k + 1);
    front.height = static_cast<std::int32_t>(static_cast<std::int64_t>(result.rows.size()) - front.rows);
    front.panel = result.panel_entries;
    result.panel_entries += static_cast<std::int64_t>(front.height) * front.width;
    for (double h = front.height; h > front.height - front.width; --h) result.flops += h * h;
    if (!rows.empty()) {
      front.parent = front_of[static_cast<std::size_t>(rows.front())];
      result.children[static_cast<std::size_t>(front.parent)].push_back(f);
    }
    result.fronts.push_back(front);
    for (const std::int32_t child : result.children[static_cast<std::size_t>(f)])
      std::vector<std::int32_t>().swap(below[static_cast<std::size_t>(child)]);
  }
  if (!keeps) return;
  FrontTree::Front last;
  last.first = result.eliminated;
  last.rows = static_cast<std::int64_t>(result.rows.size());
  add_rows(tree.inner(), vertices);
  last.height = static_cast<std::int32_t>(static_cast<std::int64_t>(result.rows.size()) - last.rows);
  last.panel = result.panel_entries;
  result.fronts.push_back(last);
}

void place_entries(FrontTree& tree, const SymmetricCsr& matrix) {
  const auto n = static_cast<std::size_t>(matrix.n);
  std::vector<std::int64_t> next(n + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::size_t i = 0; i < n; ++i)
      for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
        const std::int32_t a = tree.place[i];
        const std::int32_t b = tree.place[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)])];
        visit(static_cast<std::size_t>(std::min(a, b)), std::max(a, b), k);
      }
  };
  each([&](std::size_t column, std::int32_t, std::int64_t) { ++next[column + 1]; });
  for (std::size_t i = 0; i < n; ++i) next[i + 1] += next[i];
  tree.entry_start = next;
  tree.entry_row.resize(static_cast<std::size_t>(next[n]));
  tree.entry_source.resize(tree.entry_row.size());
  each([&](std::size_t column, std::int32_t row, std::int64_t k) {
    const auto at = static_cast<std::size_t>(next[column]++);
    tree.entry_row[at] = row;
    tree.entry_source[at] = k;
  });
}

}  // namespace

FrontTree::FrontTree(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) {
  const Quotient quotient(matrix, boundary);
  SymmetricCsr pattern;  // of the quotient, without values
  pattern.n = quotient.graph.size();
  pattern.row_start.push_back(0);
  for (std::int32_t v = 0; v < quotient.graph.size(); ++v) {
    pattern.column.push_back(v);
    for (const std::int32_t u : quotient.graph.of(v))
      if (u > v) pattern.column.push_back(u);
    pattern.row_start.push_back(static_cast<std::int64_t>(pattern.column.size()));
  }
  std::vector<std::int32_t> order = nested_dissection(pattern, quotient.boundary);
  dissected = !order.empty();
  if (!dissected) order = minimum_degree(quotient.graph, quotient.boundary);
  const VertexTree tree(quotient, std::move(order));

  // Places of equations from those of vertices.
  std::vector<std::int32_t> start{0};
  for (std::int32_t k = 0; k < quotient.graph.size(); ++k) {
    const auto& members = quotient.members[static_cast<std::size_t>(tree.vertex(k))];
    equation.insert(equation.end(), members.begin(), members.end());
    start.push_back(static_cast<std::int32_t>(equation.size()));
  }
  eliminated = start[static_cast<std::size_t>(tree.inner())];
  place.resize(equation.size());
  for (std::size_t k = 0; k < equation.size(); ++k)
    place[static_cast<std::size_t>(equation[k])] = static_cast<std::int32_t>(k);
  add_fronts(*this, tree, start);
  place_entries(*this, matrix);
}

}  // namespace voussoir::detail
