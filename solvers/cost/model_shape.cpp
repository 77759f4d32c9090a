#include <voussoir/solvers/cost/model_shape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {
namespace {

constexpr std::int32_t sampled_nodes = 2000;

/// Mean number of neighbours of a node, from a sample.
double mean_neighbours(const Domain& domain) {
  const std::int32_t n = domain.node_count(), stride = std::max(1, n / sampled_nodes);
  std::vector<std::vector<std::int32_t>> near(static_cast<std::size_t>(n / stride + 1));
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (const std::int32_t node : block.nodes(e)) {
        if (node % stride != 0) continue;
        auto& list = near[static_cast<std::size_t>(node / stride)];
        for (const std::int32_t other : block.nodes(e))
          if (other != node) list.push_back(other);
      }
  }
  double neighbours = 0, used = 0;
  for (auto& list : near) {
    if (list.empty()) continue;
    std::sort(list.begin(), list.end());
    neighbours += static_cast<double>(std::unique(list.begin(), list.end()) - list.begin());
    ++used;
  }
  return used > 0 ? neighbours / used : 0;
}

int corners_of(const std::string& shape) {
  const std::pair<const char*, int> known[] = {{"hex", 8}, {"tet", 4}, {"wedge", 6}, {"quad", 4}, {"tri", 3}};
  for (const auto& [name, corners] : known)
    if (shape.starts_with(name)) return corners;
  return 2;
}

/// Mean distance of neighbouring nodes along edges, from a sample of the elements.
double mean_spacing(const Domain& domain) {
  double sum = 0, count = 0;
  const auto place = domain.coordinates();
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    if (block.size() == 0 || block.nodes_per_element() < 2) continue;
    const bool quadratic = block.nodes_per_element() > corners_of(block.type().shape());
    const std::int32_t stride = std::max(1, block.size() / sampled_nodes);
    for (std::int32_t e = 0; e < block.size(); e += stride) {
      double squared = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double d = place[3 * static_cast<std::size_t>(block.nodes(e)[1]) + i] -
                         place[3 * static_cast<std::size_t>(block.nodes(e)[0]) + i];
        squared += d * d;
      }
      sum += stride * std::sqrt(squared) / (quadratic ? 2 : 1);
      count += stride;
    }
  }
  return count > 0 ? sum / count : 0;
}

double longest_side(const Domain& domain) {
  std::array<double, 3> low, high;
  low.fill(HUGE_VAL);
  high.fill(-HUGE_VAL);
  const auto place = domain.coordinates();
  for (std::size_t i = 0; i < place.size(); ++i) {
    low[i % 3] = std::min(low[i % 3], place[i]);
    high[i % 3] = std::max(high[i % 3], place[i]);
  }
  return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2], 0.0});
}

}  // namespace

ModelShape model_shape(const Domain& domain) {
  ModelShape shape;
  shape.dimension = 1;
  int components = 0;
  bool uniform = true;
  for (const UnknownSet set : node_unknowns(domain).of_node) {
    if (set.empty()) continue;
    const int c = set.count();
    shape.nodes += 1;
    shape.equations += c;
    uniform = uniform && (components == 0 || c == components);
    components = c;
  }
  shape.components = uniform ? components : 0;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    if (block.size() == 0) continue;
    const ElementProgram& program = block.type().program();
    shape.blocks.push_back({{block.type_name(), program.nodes(), program.points(), program.components()},
                            static_cast<double>(block.size())});
    const std::string& name = block.type().shape();
    shape.dimension = std::max(shape.dimension, name.empty() ? 1 : shape_topology(name).dim);
  }
  shape.node_pairs = 0.5 * shape.nodes * mean_neighbours(domain);
  const double spacing = mean_spacing(domain), layers = spacing > 0 ? 1 + longest_side(domain) / spacing : 1;
  shape.layer = std::max(1.0, shape.nodes / std::max(1.0, layers));
  return shape;
}

}  // namespace voussoir
