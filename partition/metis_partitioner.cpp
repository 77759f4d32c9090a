#include <voussoir/partition/graph_partitioner.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/host_memory.hpp>
#include <voussoir/partition/detail/division_by_shares.hpp>
#include <voussoir/partition/detail/metis_division.hpp>
#include <voussoir/partition/ordered_partitioners.hpp>

#if defined(VOUSSOIR_HAVE_METIS)
#include <metis.h>

#include <voussoir/solvers/direct/termination.hpp>
#endif

namespace voussoir {

bool detail::is_connected(const ElementGraph& graph) {
  if (graph.vertices() == 0) return true;
  std::vector<char> met(static_cast<std::size_t>(graph.vertices()), 0);
  std::vector<std::int32_t> stack{0};
  std::int32_t count = 0;
  met[0] = 1;
  while (!stack.empty()) {
    const auto v = static_cast<std::size_t>(stack.back());
    stack.pop_back();
    ++count;
    for (auto k = graph.row_start[v]; k < graph.row_start[v + 1]; ++k) {
      const std::int32_t w = graph.column[static_cast<std::size_t>(k)];
      if (met[static_cast<std::size_t>(w)]) continue;
      met[static_cast<std::size_t>(w)] = 1;
      stack.push_back(w);
    }
  }
  return count == graph.vertices();
}

double detail::metis_scale(std::span<const double> weights) {
  double total = 0, heaviest = 0, lightest = std::numeric_limits<double>::infinity();
  for (const double w : weights) {
    total += w;
    heaviest = std::max(heaviest, w);
    if (w > 0) lightest = std::min(lightest, w);
  }
  return total > 0 ? std::min(1e9 / total, std::max(1e4 / heaviest, 10 / lightest)) : 0;
}

#if defined(VOUSSOIR_HAVE_METIS)

namespace {

/// METIS 5.1 ends the process, or goes on with what is not there, when memory ends: what it needs is asked for first.
void require_memory(const ElementGraph& graph, const std::string& what) {
  // The copies made for it, the graphs of all levels with their weights, and what it works with.
  const double bytes = sizeof(idx_t) * (8.0 * static_cast<double>(graph.column.size()) + 40.0 * graph.vertices());
  const AvailableMemory room = available_host_memory();
  // Of memory that is reserved, a part is as a rule never used. Only limits on what is reserved count all of it.
  if ((room.allocation_fails ? bytes : 0.8 * bytes) <= room.bytes) return;
  throw Error(ErrorCode::out_of_memory, "the partition of " + std::to_string(graph.vertices()) + " " + what +
                                            " by METIS needs about " + std::to_string(std::llround(bytes / 1e6)) +
                                            " MB, and " + room.limit + " leaves " +
                                            std::to_string(std::llround(room.bytes / 1e6)) +
                                            " MB; use CoordinateBisection, or a machine with more");
}

}  // namespace

std::vector<std::int32_t> detail::divide_by_metis(const ElementGraph& graph, int parts, MetisMethod method,
                                                  const MetisPartitioner::Options& settings,
                                                  std::span<const double> shares, const char* what) {
  if (parts == 1) return std::vector<std::int32_t>(graph.vertices(), 0);  // METIS divides by zero
  if (parts == graph.vertices()) {  // METIS prints complaints and leaves some parts empty
    std::vector<std::int32_t> each(static_cast<std::size_t>(parts));
    std::iota(each.begin(), each.end(), 0);
    return each;
  }
  if (static_cast<std::int64_t>(graph.column.size()) > std::numeric_limits<idx_t>::max())
    throw Error(ErrorCode::unavailable, std::string("the graph of the ") + what +
                                            " has too many edges for this METIS, which counts with " +
                                            std::to_string(8 * sizeof(idx_t)) + " bits; use CoordinateBisection");
  require_memory(graph, what);
  std::vector<idx_t> start(graph.row_start.begin(), graph.row_start.end());
  std::vector<idx_t> column(graph.column.begin(), graph.column.end());
  std::vector<idx_t> edge(graph.shared_nodes.begin(), graph.shared_nodes.end());
  const double scale = metis_scale(graph.weight);
  std::vector<idx_t> weight;
  for (const double w : graph.weight) weight.push_back(static_cast<idx_t>(std::llround(scale * w)));
  // Fewer weights than parts cannot be balanced, and METIS complains of parts without vertices: all count alike then.
  if (std::count_if(weight.begin(), weight.end(), [](idx_t w) { return w > 0; }) < parts)
    std::fill(weight.begin(), weight.end(), 1);

  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = settings.seed;
  options[METIS_OPTION_NUMBERING] = 0;
  // The best of eight tries: on small graphs one try is often a poor one, and on large ones the others cost seconds.
  options[METIS_OPTION_NCUTS] = graph.vertices() < 100000 ? 8 : 1;
  options[METIS_OPTION_UFACTOR] = std::max(1, static_cast<int>(std::lround(1000 * settings.imbalance)));
  if (method == MetisMethod::contiguous) {
    if (!is_connected(graph))
      throw Error(ErrorCode::bad_input,
                  "the elements are not connected by faces, so that parts cannot all be; metis:graph=nodes:contiguous "
                  "takes elements that share a node for connected",
                  "partitioner 'metis:contiguous'");
    options[METIS_OPTION_CONTIG] = 1;
  }
  std::vector<real_t> target(shares.begin(), shares.end());  // of each part; METIS wants their sum to be 1
  const real_t sum = std::accumulate(target.begin(), target.end(), real_t{0});
  for (real_t& share : target) share /= sum;
  idx_t vertices = graph.vertices(), constraints = 1, wanted = parts, cut = 0;
  std::vector<idx_t> part(graph.vertices());
  const auto divide = method == MetisMethod::recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status = divide(&vertices, &constraints, start.data(), column.data(), weight.data(), nullptr, edge.data(),
                            &wanted, target.empty() ? nullptr : target.data(), nullptr, options, &cut, part.data());
  if (status == METIS_ERROR) send_termination_again();
  if (status == METIS_ERROR_MEMORY) throw Error(ErrorCode::out_of_memory, "out of memory in METIS");
  if (status != METIS_OK) throw Error(ErrorCode::internal, "METIS failed with code " + std::to_string(status));
  return {part.begin(), part.end()};
}

bool MetisPartitioner::available() { return true; }

#else

bool MetisPartitioner::available() { return false; }

namespace {

[[noreturn]] void lacks_metis() {
  throw Error(ErrorCode::unavailable,
              "this build has no METIS; install it (Debian: libmetis-dev) and build again, or use CoordinateBisection");
}

}  // namespace

std::vector<std::int32_t> detail::divide_by_metis(const ElementGraph&, int, MetisMethod,
                                                  const MetisPartitioner::Options&, std::span<const double>,
                                                  const char*) {
  lacks_metis();
}

#endif

std::vector<std::int32_t> MetisPartitioner::partition(const ElementGraph& graph, int parts) const {
  return detail::divide_by_metis(graph, parts, detail::MetisMethod::kway, options_);
}

MetisVariant::MetisVariant(Kind kind, std::vector<double> shares) : kind_(kind), shares_(std::move(shares)) {
  if (!shares_.empty()) detail::check_shares(shares_);
}

std::string MetisVariant::name() const {
  return std::string(kind_ == Kind::recursive ? "metis:recursive" : "metis:contiguous") +
         (shares_.empty() ? "" : ":shares");
}

std::vector<std::int32_t> MetisVariant::partition(const ElementGraph& graph, int parts) const {
  using detail::MetisMethod;
  return detail::divide_by_metis(graph, parts,
                                 kind_ == Kind::recursive ? MetisMethod::recursive : MetisMethod::contiguous, {},
                                 shares_.empty() ? std::span<const double>{} : detail::shares_of_parts(shares_, parts));
}

std::vector<std::int32_t> detail::divide_by_shares(const ElementGraph& graph, std::span<const double> shares) {
  return divide_by_metis(graph, static_cast<int>(shares.size()), MetisMethod::kway, {}, shares);
}

}  // namespace voussoir
