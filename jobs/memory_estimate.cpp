#include <voussoir/jobs/memory_estimate.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

#include <voussoir/backends/host_memory.hpp>
#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {
namespace {

/// Elements of all blocks, one after the other, and the elements of each node.
class Adjacency {
 public:
  explicit Adjacency(const Domain& domain) : start_(static_cast<std::size_t>(domain.node_count()) + 1, 0) {
    for (std::size_t b = 0; b < domain.block_count(); ++b) {
      const ElementBlock& block = domain.block(b);
      for (std::int32_t e = 0; e < block.size(); ++e) {
        elements_.push_back(block.nodes(e));
        for (std::int32_t node : block.nodes(e)) ++start_[static_cast<std::size_t>(node) + 1];
      }
    }
    for (std::size_t n = 1; n < start_.size(); ++n) start_[n] += start_[n - 1];
    of_node_.resize(static_cast<std::size_t>(start_.back()));
    std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
    for (std::size_t e = 0; e < elements_.size(); ++e)
      for (std::int32_t node : elements_[e]) of_node_[static_cast<std::size_t>(next[node]++)] = static_cast<int>(e);
  }

  std::size_t elements() const { return elements_.size(); }
  std::size_t nodes() const { return start_.size() - 1; }
  bool used(std::int32_t node) const { return start_[node] != start_[node + 1]; }
  std::span<const int> elements_of(std::int32_t node) const {
    return std::span(of_node_).subspan(static_cast<std::size_t>(start_[node]),
                                       static_cast<std::size_t>(start_[node + 1] - start_[node]));
  }
  std::span<const std::int32_t> nodes_of(int element) const { return elements_[element]; }

 private:
  std::vector<std::span<const std::int32_t>> elements_;
  std::vector<std::int64_t> start_;
  std::vector<int> of_node_;
};

/// Peels a connected part from `first`: marks its nodes with `round`; tells the number of layers and the last node.
struct Peeling {
  std::int64_t layers = 0;
  std::int64_t nodes = 0;
  std::int32_t last = 0;
};
Peeling peel(const Adjacency& mesh, std::int32_t first, int round, std::vector<int>& node_round,
             std::vector<int>& element_round) {
  Peeling p;
  std::vector<std::int32_t> layer{first}, next;
  node_round[first] = round;
  while (!layer.empty()) {
    ++p.layers;
    p.nodes += static_cast<std::int64_t>(layer.size());
    p.last = layer.back();
    next.clear();
    for (std::int32_t node : layer)
      for (int element : mesh.elements_of(node)) {
        if (element_round[element] == round) continue;
        element_round[element] = round;
        for (std::int32_t other : mesh.nodes_of(element))
          if (node_round[other] != round) {
            node_round[other] = round;
            next.push_back(other);
          }
      }
    layer.swap(next);
  }
  return p;
}

void count_pairs_and_layers(const Adjacency& mesh, ModelSize& size) {
  std::vector<std::int32_t> seen(mesh.nodes(), -1);
  std::vector<int> node_round(mesh.nodes(), 0), element_round(mesh.elements(), 0);
  int round = 0;
  double layers_weighted = 0;
  for (std::int32_t n = 0; n < static_cast<std::int32_t>(mesh.nodes()); ++n) {
    if (!mesh.used(n)) continue;
    for (int element : mesh.elements_of(n))
      for (std::int32_t other : mesh.nodes_of(element))
        if (other > n && seen[other] != n) {
          seen[other] = n;
          ++size.node_pairs;
        }
    if (node_round[n] != 0) continue;
    // The last node of a first peeling lies at an end of the part.
    const Peeling first = peel(mesh, n, ++round, node_round, element_round);
    const Peeling second = peel(mesh, first.last, ++round, node_round, element_round);
    layers_weighted += static_cast<double>(second.nodes) * static_cast<double>(second.nodes) /
                       static_cast<double>(std::max<std::int64_t>(1, second.layers));
  }
  size.layer = size.nodes > 0 ? layers_weighted / static_cast<double>(size.nodes) : 0;
}

}  // namespace

ModelSize model_size(const Domain& domain) {
  ModelSize size;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const ElementType& type = ElementLibrary::instance().find(block.type_name());
    const ElementProgram& program = type.program();
    const std::int64_t count = block.size(), nodes = block.nodes_per_element();
    size.elements += count;
    size.connectivity += count * nodes;
    size.blocks_of_elements += count * nodes * nodes;
    size.element_matrix_numbers += count * program.matrix_entries();
    size.recovered_numbers += count * program.points() * static_cast<std::int64_t>(program.recovered_names().size());
    if (count > 0)
      size.dimension = std::max(size.dimension, type.shape().empty() ? 1 : shape_topology(type.shape()).dim);
  }
  for (const UnknownSet set : node_unknowns(domain).of_node) {
    const int c = set.count();
    if (c == 0) continue;
    ++size.nodes;
    size.equations += c;
    if (size.components != 0 && c != size.components) size.uniform = false;
    size.components = std::max<int>(size.components, c);
  }
  count_pairs_and_layers(Adjacency(domain), size);
  return size;
}

double amg_set_up_bytes(const ModelSize& size) {
  const double n = static_cast<double>(size.nodes), c = size.components;
  const double modes = size.components >= 3 ? 6 : size.components == 2 ? 3 : 1;
  return (2 * static_cast<double>(size.node_pairs) + n) * (8 * c * c + 4) + 18 * c * modes * 8 * n;
}

std::vector<MemoryEstimate> estimate_memory(const ModelSize& size) {
  const double n = static_cast<double>(size.nodes), equations = static_cast<double>(size.equations);
  // Where nodes differ, the mean is what the matrix is made of.
  const double c = n > 0 ? equations / n : 0, pairs = static_cast<double>(size.node_pairs);
  const double places = static_cast<double>(size.blocks_of_elements);
  const double csr = (pairs * c * c + n * c * (c + 1) / 2) * 12 + places + 12 * equations;
  const double bsr = (pairs + n) * (8 * c * c + 4) + places + 12 * n;
  // The mesh as it was read and as it is numbered; a dozen vectors; unknowns, reactions, values at points and at nodes.
  const double results = 1.3 * 8 * static_cast<double>(size.recovered_numbers) + 8 * 40 * n;
  const double model = n * (24 + 8 + 24 + 12) + static_cast<double>(size.elements) * 12 +
                       static_cast<double>(size.connectivity) * (4 + 4 + 8) + 12 * 8 * equations + results + 20e6;
  const double factor = size.dimension >= 3   ? 13 * c * c * n * std::sqrt(size.layer)
                        : size.dimension == 2 ? 8 * c * c * n * std::log2(std::max(size.layer, 2.0))
                                              : 6 * c * c * n;
  const std::string storage = size.uniform ? "bsr" : "csr";
  const double matrix = size.uniform ? bsr : csr;

  std::vector<MemoryEstimate> all;
  all.push_back({"direct", storage, model, matrix, 8 * factor + 4.2 * csr});
  all.push_back({"cg+block-jacobi", storage, model, matrix, 8 * c * equations});
  all.push_back({"cg+chebyshev", storage, model, matrix, 16 * c * equations});
  all.push_back({"cg+fsai", storage, model, matrix, 3 * csr});
  // The set-up is over before there are results. What cycles read is kept, about half of it.
  const double set_up = amg_set_up_bytes(size);
  all.push_back({"cg+amg", storage, model, matrix, std::max(set_up - results, 0.5 * set_up)});
  if (size.uniform) all.push_back({"cg+jacobi", "csr", model, csr, 8 * equations});
  all.push_back(
      {"cg+block-jacobi", "element", model, 8.0 * static_cast<double>(size.element_matrix_numbers), 8 * c * equations});
  all.push_back({"cg+chebyshev", "matrix-free", model, 40 * equations, 16 * c * equations});
  return all;
}

MainMemory main_memory() {
  MainMemory memory;
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (double kilobytes; file >> name >> kilobytes;) {
    if (name == "MemTotal:") memory.all = 1024 * kilobytes;
    if (name == "MemAvailable:") memory.available = 1024 * kilobytes;
    std::getline(file, unit);
  }
  // A limit on the process (ulimit -v, a control group) may leave less than the machine has.
  if (memory.available > 0) memory.available = std::min(memory.available, available_host_memory().bytes);
  return memory;
}

}  // namespace voussoir
