#include <algorithm>
#include <cmath>

#include <voussoir/backends/detail/aggregation_rules.hpp>
#include <voussoir/backends/openmp/multigrid/block_norms.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Groups of strongly connected nodes. Roots are chosen in rounds (Luby 1986, for sets in which any two are more than
// two steps apart: Bell, Dalton and Olson 2012); what a round decides depends on the round before alone, not on
// threads.

namespace voussoir::cpu {

namespace {

using detail::RootStatus;

/// Squared norms of the blocks of a row, in the order of the columns. The size of blocks is S, or `any_size` where that
/// is 0.
template <int S>
void block_norms(const double* value, std::int32_t length, int any_size, double* norm2) {
  const int size = S > 0 ? S : any_size;
  std::fill(norm2, norm2 + length, 0.0);
  for (int r = 0; r < size; ++r)
    for (std::int32_t k = 0; k < length; ++k, value += size) {
      double sum = norm2[k];
      for (int c = 0; c < size; ++c) sum += value[c] * value[c];
      norm2[k] = sum;
    }
}

/// Strong neighbours of all nodes, without the nodes themselves.
struct StrongGraph {
  std::int32_t nodes = 0;
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> column;
  std::vector<std::uint8_t> tied;  ///< per node: there is an entry beside its diagonal block

  template <class Visit>
  void for_neighbours(std::int32_t node, const Visit& visit) const {
    for (std::int64_t k = start[static_cast<std::size_t>(node)]; k < start[static_cast<std::size_t>(node) + 1]; ++k)
      visit(column[static_cast<std::size_t>(k)]);
  }
};

StrongGraph strong_graph(const LevelRows<const double>& a, int size, double threshold, int threads) {
  const std::vector<double> norm = diagonal_norms(a, size, threads);
  StrongGraph graph;
  graph.nodes = a.rows;
  graph.start.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  graph.tied.assign(static_cast<std::size_t>(a.rows), 0);
  std::vector<std::uint8_t> strong(static_cast<std::size_t>(a.start[a.rows]), 0);
  const auto norms = size == 1   ? block_norms<1>
                     : size == 3 ? block_norms<3>
                     : size == 6 ? block_norms<6>
                                 : block_norms<0>;
  ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads)
  {
    std::vector<double> norm2;
#pragma omp for schedule(static)
    for (std::int32_t i = 0; i < a.rows; ++i)
      keeper.guard([&] {
        const std::int32_t n = a.length(i);
        if (norm2.size() < static_cast<std::size_t>(n)) norm2.resize(2 * static_cast<std::size_t>(n));
        norms(a.value + a.start[i] * size * size, n, size, norm2.data());
        std::int64_t count = 0;
        bool tied = false;
        for (std::int32_t k = 0; k < n; ++k) {
          const std::int32_t j = a.column[a.start[i] + k];
          if (j >= a.rows) break;  // columns ascend; the others are those of other devices
          if (j == i) continue;
          const double between = norm2[static_cast<std::size_t>(k)];
          tied |= detail::is_tied(between, norm[static_cast<std::size_t>(i)], norm[static_cast<std::size_t>(j)]);
          const bool is_strong = detail::is_strong(between, norm[static_cast<std::size_t>(i)],
                                                   norm[static_cast<std::size_t>(j)], threshold);
          strong[static_cast<std::size_t>(a.start[i] + k)] = is_strong;
          count += is_strong;
        }
        graph.start[static_cast<std::size_t>(i) + 1] = count;
        graph.tied[static_cast<std::size_t>(i)] = tied;
      });
  }
  keeper.rethrow();
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) graph.start[i + 1] += graph.start[i];
  graph.column.resize(static_cast<std::size_t>(graph.start.back()));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int32_t i = 0; i < a.rows; ++i) {
    auto at = static_cast<std::size_t>(graph.start[static_cast<std::size_t>(i)]);
    for (std::int64_t k = a.start[i]; k < a.start[i + 1]; ++k)
      if (strong[static_cast<std::size_t>(k)]) graph.column[at++] = a.column[k];
  }
  return graph;
}

/// The word of each node at the end, when none is undecided.
std::vector<std::uint64_t> choose_roots(const StrongGraph& graph, int threads) {
  const std::int32_t nodes = graph.nodes;
  // The word of each node, and the largest one within a step of it.
  std::vector<std::uint64_t> word(static_cast<std::size_t>(nodes)), beside(static_cast<std::size_t>(nodes));
  std::uint64_t* own = word.data();
  std::uint64_t* one_step = beside.data();
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int32_t i = 0; i < nodes; ++i)
    one_step[i] = own[i] =
        detail::root_word(graph.tied[static_cast<std::size_t>(i)] ? RootStatus::undecided : RootStatus::out,
                          static_cast<std::uint32_t>(i));
  for (std::int64_t undecided = 1; undecided > 0;) {
    undecided = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
      for (std::int32_t i = 0; i < nodes; ++i) {
        // A root stays one, and where all are out nothing changes any more.
        if (detail::root_status(one_step[i]) != RootStatus::undecided) continue;
        std::uint64_t largest = own[i];
        graph.for_neighbours(i, [&](std::int32_t j) { largest = std::max(largest, own[j]); });
        one_step[i] = largest;
      }
#pragma omp for schedule(static) reduction(+ : undecided)
      for (std::int32_t i = 0; i < nodes; ++i) {
        if (detail::root_status(own[i]) != RootStatus::undecided) continue;
        std::uint64_t largest = one_step[i];
        graph.for_neighbours(i, [&](std::int32_t j) { largest = std::max(largest, one_step[j]); });
        own[i] = detail::next_root_word(own[i], largest, static_cast<std::uint32_t>(i));
        undecided += detail::root_status(own[i]) == RootStatus::undecided;
      }
    }
  }
  return word;
}

/// The group that most of these are in, the lower number where they tie; sorts them.
std::int32_t most_frequent(std::vector<std::int32_t>& groups) {
  std::sort(groups.begin(), groups.end());
  std::int32_t best = -1;
  std::ptrdiff_t most = 0;
  for (auto at = groups.begin(); at != groups.end();) {
    const auto next = std::upper_bound(at, groups.end(), *at);
    if (next - at > most) {
      most = next - at;
      best = *at;
    }
    at = next;
  }
  return best;
}

}  // namespace

Aggregates CpuMultigrid::aggregate(const LevelMatrix& a, double threshold) {
  detail::require_own_rows(a, "aggregation");
  Aggregates groups;
  groups.of_node = array<std::int32_t>(a.rows);
  DeviceSection section(*memory());
  const StrongGraph graph = strong_graph(read_rows(a), a.height, threshold, threads_);
  const std::vector<std::uint64_t> word = choose_roots(graph, threads_);

  std::int32_t* of_node = groups.of_node.write_device();
  for (std::int32_t i = 0; i < a.rows; ++i)
    of_node[i] = detail::root_status(word[static_cast<std::size_t>(i)]) == RootStatus::root ? groups.count++ : -1;
  std::vector<std::int32_t> joined(static_cast<std::size_t>(a.rows));
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t i = 0; i < a.rows; ++i) {
    std::int32_t group = of_node[i];
    if (group < 0)
      graph.for_neighbours(i, [&](std::int32_t j) {
        if (of_node[j] >= 0 && (group < 0 || of_node[j] < group)) group = of_node[j];
      });
    joined[static_cast<std::size_t>(i)] = group;
  }
  ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads_)
  {
    std::vector<std::int32_t> nearby;
#pragma omp for schedule(static)
    for (std::int32_t i = 0; i < a.rows; ++i)
      keeper.guard([&] {
        of_node[i] = joined[static_cast<std::size_t>(i)];
        if (of_node[i] >= 0) return;
        nearby.clear();
        graph.for_neighbours(i, [&](std::int32_t j) {
          if (joined[static_cast<std::size_t>(j)] >= 0) nearby.push_back(joined[static_cast<std::size_t>(j)]);
        });
        of_node[i] = most_frequent(nearby);
      });
  }
  keeper.rethrow();
  return groups;
}

}  // namespace voussoir::cpu
