#include <voussoir/partition/device_division.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/detail/metis_division.hpp>

#if defined(VOUSSOIR_HAVE_METIS)
#include <metis.h>

#include <voussoir/solvers/direct/termination.hpp>
#endif

namespace voussoir {

namespace {

/// The graph of nodes in the form that partitioners take.
ElementGraph graph_of_nodes(const NodesToDivide& nodes) {
  const NodeGraph& from = nodes.graph();
  ElementGraph graph;
  graph.row_start = from.row_start;
  graph.column = from.column;
  graph.shared_nodes.assign(graph.column.size(), 1);
  graph.weight = nodes.weight;
  graph.centroid.resize(static_cast<std::size_t>(nodes.nodes()));
  for (std::size_t n = 0; n < graph.centroid.size(); ++n)
    graph.centroid[n] = {nodes.coordinates[3 * n], nodes.coordinates[3 * n + 1], nodes.coordinates[3 * n + 2]};
  graph.vertex.resize(graph.centroid.size());
  std::iota(graph.vertex.begin(), graph.vertex.end(), 0);
  return graph;
}

#if defined(VOUSSOIR_HAVE_METIS)
const Registration metis_divides_nodes{node_dividers(), "metis", "METIS, multilevel: small halos on any mesh",
                                       NodeDivider{divide_nodes_by_metis}};
#endif

}  // namespace

std::vector<std::int32_t> owners_of_nodes(const Partition& partition, const Domain& domain) {
  std::vector<std::int32_t> owner;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) owner.push_back(partition.owner(n));
  return owner;
}

NodeDivider node_divider(std::shared_ptr<const GraphPartitioner> partitioner) {
  if (!partitioner) throw Error(ErrorCode::misuse, "node_divider: there is no partitioner");
  return {[partitioner = std::move(partitioner)](const NodesToDivide& nodes) {
    for (const double share : nodes.share)
      if (std::abs(share * nodes.parts() - 1) > 1e-9)
        throw Error(ErrorCode::bad_input, "it makes parts of equal weight, but the devices have different speeds",
                    "partitioner '" + partitioner->name() + "'");
    if (nodes.parts() > nodes.nodes())
      throw Error(
          ErrorCode::bad_input,
          std::to_string(nodes.parts()) + " parts of " + std::to_string(nodes.nodes()) + " nodes; use fewer devices",
          "partitioner '" + partitioner->name() + "'");
    return partitioner->partition(graph_of_nodes(nodes), nodes.parts());
  }};
}

#if defined(VOUSSOIR_HAVE_METIS)

std::vector<std::int32_t> divide_nodes_by_metis(const NodesToDivide& nodes) {
  if (nodes.parts() == 1) return std::vector<std::int32_t>(static_cast<std::size_t>(nodes.nodes()), 0);
  // METIS fails where there is a part for every vertex or so.
  if (nodes.nodes() < 4 * nodes.parts()) return node_dividers().find("coordinate").divide(nodes);
  const NodeGraph& graph = nodes.graph();
  if (static_cast<std::int64_t>(graph.column.size()) > std::numeric_limits<idx_t>::max())
    throw Error(ErrorCode::unavailable,
                "the graph of the nodes has too many edges for this METIS, which counts with " +
                    std::to_string(8 * sizeof(idx_t)) + " bits; use 'coordinate'",
                "node divider 'metis'");
  std::vector<idx_t> start(graph.row_start.begin(), graph.row_start.end());
  std::vector<idx_t> column(graph.column.begin(), graph.column.end());
  const double scale = detail::metis_scale(nodes.weight);
  std::vector<idx_t> weight, size;
  for (std::size_t n = 0; n < nodes.weight.size(); ++n) {
    weight.push_back(static_cast<idx_t>(std::max<long long>(1, std::llround(scale * nodes.weight[n]))));
    size.push_back(nodes.equations[n]);  // what is sent where a neighbour is in another part
  }
  std::vector<real_t> share(nodes.share.begin(), nodes.share.end());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_UFACTOR] = 10;  // parts at most 1 % heavier than they should be
  // In small graphs the values that travel are counted, not the edges, and several tries are made; in large ones that
  // takes seconds.
  const bool small = nodes.nodes() < 20000;
  options[METIS_OPTION_OBJTYPE] = small ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
  options[METIS_OPTION_NCUTS] = small ? 4 : 1;
  idx_t vertices = nodes.nodes(), constraints = 1, wanted = nodes.parts(), volume = 0;
  std::vector<idx_t> part(static_cast<std::size_t>(nodes.nodes()));
  const int status =
      METIS_PartGraphKway(&vertices, &constraints, start.data(), column.data(), weight.data(), size.data(), nullptr,
                          &wanted, share.data(), nullptr, options, &volume, part.data());
  if (status == METIS_ERROR) send_termination_again();
  if (status == METIS_ERROR_MEMORY) throw Error(ErrorCode::out_of_memory, "out of memory in METIS");
  if (status != METIS_OK) throw Error(ErrorCode::internal, "METIS failed with code " + std::to_string(status));
  return {part.begin(), part.end()};
}

#else

std::vector<std::int32_t> divide_nodes_by_metis(const NodesToDivide&) {
  throw Error(ErrorCode::unavailable,
              "this build has no METIS; install it (Debian: libmetis-dev) and build again, or use 'coordinate'",
              "node divider 'metis'");
}

#endif

}  // namespace voussoir
