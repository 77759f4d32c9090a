#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/backends/device_model.hpp>

// A ModelDescription, checked and cut into the shares of devices.

namespace voussoir::detail {

/// Throws Error (misuse) where nodes or batches of a description contradict each other. The dependencies are checked
/// when they are indexed.
void check_description(const ModelDescription& model);
/// The same of the batches alone, whose nodes have been checked before.
void check_batches(const ModelDescription& model);

inline std::int32_t element_count(const BatchDescription& batch) {
  return static_cast<std::int32_t>(batch.nodes.size() / static_cast<std::size_t>(batch.program->nodes()));
}

/// The unknowns of a node.
inline UnknownSet unknowns_of(const ModelDescription& model, std::int32_t node) {
  return model.unknowns.empty() ? UnknownSet::first(model.first_equation[node + 1] - model.first_equation[node])
                                : model.unknowns[static_cast<std::size_t>(node)];
}
/// Which of a node's equations belongs to a component of a batch's elements.
inline int slot_of(const ModelDescription& model, const BatchDescription& batch, std::int32_t node, int component) {
  if (model.unknowns.empty() && batch.unknowns.empty()) return component;
  return unknowns_of(model, node).slot(batch.unknowns.empty() ? component : batch.unknowns[component]);
}

/// The node that an equation belongs to.
std::int32_t node_of(const ModelDescription& model, std::int32_t equation);

/// Which dependency an equation follows, and quickly whether a node has such an equation. Empty in models without any,
/// so that they pay nothing.
struct DependencyIndex {
  std::vector<std::int32_t> of_equation;  // number of the dependency, or −1
  std::vector<std::uint8_t> node_has;

  bool empty() const { return of_equation.empty(); }

  /// Calls `visit` with the number of each dependency that one of the element's unknowns follows.
  template <class Visit>
  void for_element(const ModelDescription& model, const BatchDescription& batch, const std::int32_t* nodes,
                   Visit visit) const {
    for (int a = 0; a < batch.program->nodes(); ++a) {
      if (!node_has[nodes[a]]) continue;
      for (int c = 0; c < batch.program->components(); ++c) {
        const std::int32_t equation = model.first_equation[nodes[a]] + slot_of(model, batch, nodes[a], c);
        if (of_equation[equation] >= 0) visit(of_equation[equation]);
      }
    }
  }
};

/// Throws Error (misuse) where dependencies contradict each other or the prescribed equations.
DependencyIndex index_dependencies(const ModelDescription& model);

/// What one device needs of the model, in the description's numbering.
struct Share {
  std::vector<std::vector<std::int32_t>> elements;  // per batch; empty and `all_elements` where it is every one
  std::vector<std::uint8_t> all_elements;
  std::vector<std::int32_t> dependencies;
  std::vector<std::int32_t> ghost_nodes;
};

/// The share of the device that owns the nodes begin … end, where others own the rest.
Share share_of(const ModelDescription& model, const DependencyIndex& index, std::int32_t begin, std::int32_t end);

/// A device that owns everything needs no list to say so.
Share whole_share(const ModelDescription& model);

/// Contiguous ranges of nodes: those of DeviceRanges, else with nearly equal numbers of equations.
std::vector<std::int32_t> split_nodes(const ModelDescription& model, int devices);

}  // namespace voussoir::detail
