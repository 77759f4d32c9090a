#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/load_balancer.hpp>

// The balance of devices: speeds from times, and divisions that change as little as possible.

namespace voussoir {
namespace {

std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

/// Potentials u of the parts with L u = excess, where L is the Laplacian of the graph of parts that share a boundary:
/// u_p − u_q is the weight that moves from p to q. Each connected set of parts has a potential of its own.
std::vector<double> potentials(const std::vector<std::uint8_t>& adjacent, const std::vector<double>& excess) {
  const std::size_t n = excess.size();
  std::vector<double> a(n * n, 0.0), u(excess);
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q < n; ++q)
      if (adjacent[p * n + q]) {
        a[p * n + q] -= 1;
        a[p * n + p] += 1;
      }
  // Gaussian elimination without pivoting, which a Laplacian does not need. The last part of each connected set has a
  // zero pivot: its potential is 0.
  for (std::size_t k = 0; k < n; ++k) {
    if (a[k * n + k] < 1e-9) continue;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      if (factor == 0) continue;
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      u[i] -= factor * u[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    if (a[k * n + k] < 1e-9) {
      u[k] = 0;
      continue;
    }
    for (std::size_t j = k + 1; j < n; ++j) u[k] -= a[k * n + j] * u[j];
    u[k] /= a[k * n + k];
  }
  return u;
}

/// What is needed while nodes move.
struct Moving {
  const NodesToDivide& nodes;
  const NodeGraph& graph;
  std::vector<std::int32_t>& part;

  /// Moves nodes of weight `wanted` from one part to another, layer by layer from their boundary.
  void move(std::int32_t from, std::int32_t to, double wanted) {
    std::deque<std::int32_t> front;
    std::vector<std::uint8_t> met(part.size(), 0);
    const auto meet_neighbours = [&](std::int32_t n) {
      for (auto k = graph.row_start[at(n)]; k < graph.row_start[at(n) + 1]; ++k) {
        const std::int32_t m = graph.column[at(k)];
        if (part[at(m)] != from || met[at(m)]) continue;
        met[at(m)] = 1;
        front.push_back(m);
      }
    };
    for (std::int32_t n = 0; n < nodes.nodes(); ++n)
      if (part[at(n)] == to) meet_neighbours(n);
    double moved = 0;
    while (!front.empty()) {
      const std::int32_t n = front.front();
      front.pop_front();
      const double weight = nodes.weight[at(n)];
      if (moved + weight / 2 > wanted) return;  // nearer to what is wanted without it
      meet_neighbours(n);
      part[at(n)] = to;
      moved += weight;
    }
  }
};

/// Which parts share a boundary.
std::vector<std::uint8_t> adjacent_parts(const NodeGraph& graph, std::span<const std::int32_t> part,
                                         std::size_t parts) {
  std::vector<std::uint8_t> adjacent(parts * parts, 0);
  for (std::size_t n = 0; n < part.size(); ++n)
    for (auto k = graph.row_start[n]; k < graph.row_start[n + 1]; ++k) {
      const std::int32_t other = part[at(graph.column[at(k)])];
      if (other != part[n]) adjacent[at(part[n]) * parts + at(other)] = 1;
    }
  return adjacent;
}

}  // namespace

std::vector<double> LoadBalancer::speeds(std::span<const double> work, std::span<const double> seconds) const {
  if (work.size() != seconds.size() || work.empty())
    throw Error(ErrorCode::bad_input,
                std::to_string(seconds.size()) + " times for " + std::to_string(work.size()) + " amounts of work");
  std::vector<double> speeds(work.size(), 0.0);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t d = 0; d < work.size(); ++d) {
    if (work[d] == 0) continue;
    if (!(work[d] > 0) || !(seconds[d] > 0) || !std::isfinite(work[d]) || !std::isfinite(seconds[d]))
      throw Error(ErrorCode::bad_input, "its work or its time is not a positive number", "device " + std::to_string(d));
    speeds[d] = std::pow(work[d] / seconds[d], damping_);
    sum += speeds[d];
    ++count;
  }
  if (count == 0) throw Error(ErrorCode::bad_input, "no device has any work");
  const double mean = sum / static_cast<double>(count);
  for (double& speed : speeds) speed = speed == 0 ? 1.0 : speed / mean;
  return speeds;
}

LoadBalancer::Rebalanced LoadBalancer::rebalance(const NodesToDivide& nodes, std::span<const std::int32_t> part) {
  if (static_cast<std::int32_t>(part.size()) != nodes.nodes() || !nodes.graph)
    throw Error(ErrorCode::misuse, "rebalance: the parts are not those of the nodes, or the nodes have no graph");
  const auto parts = static_cast<std::size_t>(nodes.parts());
  for (const std::int32_t p : part)
    if (p < 0 || at(p) >= parts)
      throw Error(ErrorCode::bad_input, "there is no part " + std::to_string(p) + "; the parts are 0 to " +
                                            std::to_string(nodes.parts() - 1));
  Rebalanced result{{part.begin(), part.end()}, 0, 0};
  const NodeGraph& graph = nodes.graph();
  const double total = std::accumulate(nodes.weight.begin(), nodes.weight.end(), 0.0);
  const double shares = std::accumulate(nodes.share.begin(), nodes.share.end(), 0.0);
  Moving moving{nodes, graph, result.part};
  // What moves through a part that has less weight than that has to wait for what arrives there: a few rounds.
  for (int round = 0; round < 4; ++round) {
    std::vector<double> excess(parts, 0.0);
    for (std::size_t n = 0; n < part.size(); ++n) excess[at(result.part[n])] += nodes.weight[n];
    double worst = 0;
    for (std::size_t p = 0; p < parts; ++p) {
      const double wanted = total * nodes.share[p] / shares;
      excess[p] -= wanted;
      worst = std::max(worst, std::abs(excess[p]) / std::max(wanted, 1e-300));
    }
    if (worst < 0.01) break;
    const std::vector<std::uint8_t> adjacent = adjacent_parts(graph, result.part, parts);
    const std::vector<double> u = potentials(adjacent, excess);
    for (std::size_t p = 0; p < parts; ++p)
      for (std::size_t q = 0; q < parts; ++q)
        if (adjacent[p * parts + q] && u[p] > u[q])
          moving.move(static_cast<std::int32_t>(p), static_cast<std::int32_t>(q), u[p] - u[q]);
  }
  for (std::size_t n = 0; n < part.size(); ++n)
    if (result.part[n] != part[n]) {
      ++result.moved_nodes;
      result.moved_weight += nodes.weight[n];
    }
  return result;
}

std::vector<std::int32_t> LoadBalancer::rebalanced_parts(const AnalysisModel& model, std::span<const double> seconds,
                                                         double tolerance) const {
  const DeviceModel& device_model = model.device_model();
  const Domain& domain = model.domain();
  const auto devices = static_cast<std::size_t>(device_model.devices());
  if (seconds.size() != devices)
    throw Error(ErrorCode::bad_input,
                std::to_string(seconds.size()) + " times for " + std::to_string(devices) + " devices");
  std::vector<std::int32_t> part_of_node(at(domain.node_count()), -1), position(part_of_node);
  NodesToDivide nodes;
  std::vector<std::int32_t> part;
  for (std::size_t d = 0; d < devices; ++d)
    part.insert(part.end(), at(device_model.part(static_cast<int>(d)).owned_nodes), static_cast<std::int32_t>(d));
  const auto numbered = model.numbered_nodes();
  for (std::size_t k = 0; k < numbered.size(); ++k) {
    position[at(numbered[k])] = static_cast<std::int32_t>(k);
    part_of_node[at(numbered[k])] = part[k];
    nodes.equations.push_back(model.first_equation()[k + 1] - model.first_equation()[k]);
  }
  std::vector<std::vector<std::int32_t>> elements(domain.block_count());
  for (std::size_t b = 0; b < elements.size(); ++b) {
    for (const std::int32_t n : domain.block(b).connectivity()) elements[b].push_back(position[at(n)]);
    nodes.elements.push_back({elements[b], domain.block(b).nodes_per_element()});
  }
  nodes.weight = node_weights(nodes.elements, nodes.equations);
  std::vector<double> work(devices, 0.0);
  for (std::size_t n = 0; n < part.size(); ++n) work[at(part[n])] += nodes.weight[n];
  nodes.share = speeds(work, seconds);
  std::vector<double> busy;
  for (std::size_t d = 0; d < devices; ++d)
    if (work[d] > 0) busy.push_back(seconds[d]);
  if (busy.size() == devices && !worth_repartition(busy, tolerance)) return part_of_node;
  const NodeGraph graph = node_graph(nodes.elements, nodes.nodes());
  nodes.graph = [&]() -> const NodeGraph& { return graph; };
  const Rebalanced rebalanced = rebalance(nodes, part);
  for (std::size_t k = 0; k < numbered.size(); ++k) part_of_node[at(numbered[k])] = rebalanced.part[k];
  return part_of_node;
}

}  // namespace voussoir
