#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/partition/mesh_partitioner.hpp>

namespace voussoir {

/// METIS on the graph of the nodes instead of the dual graph of the elements: `metis:graph=nodes`. Two nodes are
/// neighbours if an element has both. METIS divides the nodes; each element then goes to the part that has most of its
/// nodes, and of several such parts to the one that it adds fewest nodes to, or else the lightest. Finally, elements at
/// the boundaries change parts where that makes the interface smaller or the balance better.
///
/// Elements that touch in an edge or in a corner are neighbours here, which the dual graph knows nothing about: plane
/// elements and solids that meet in corners, bodies joined in single nodes. A node weighs its share of the weights of
/// its elements, so that the parts are balanced by the weights of elements, as by any other method. Nodes that no
/// element uses are ignored. A group of elements that stay together is one vertex with its nodes.
class NodeGraphPartitioner : public MeshPartitioner {
 public:
  /// What METIS does.
  enum class Method {
    kway,       ///< multilevel k-way
    recursive,  ///< recursive bisection
    contiguous  ///< k-way with connected parts: by faces if these connect the mesh, else by nodes
  };
  /// Equal parts, or with `shares` those of UnequalParts. Shares that are not positive and finite are an Error
  /// (bad_input).
  explicit NodeGraphPartitioner(Method method = Method::kway, std::vector<double> shares = {});

  std::string name() const override;
  /// Meshes with fewer than four nodes per part are divided by CoordinateBisection. No part is empty. Elements that
  /// nodes do not connect are an Error (bad_input) for contiguous parts; without METIS in this build, every mesh is an
  /// Error (unavailable).
  std::vector<std::int32_t> divide(const ElementGraph& graph, const VertexNodes& nodes, int parts) const override;

 private:
  Method method_;
  std::vector<double> shares_;
};

}  // namespace voussoir
