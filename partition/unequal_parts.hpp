#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/partition/graph_partitioner.hpp>

namespace voussoir {

/// Divides a graph into parts of given relative sizes, for processes or devices of different speeds that share one
/// model: with the shares 8, 1 and 1, the first part has 80 % of the weight. The names of these methods are those of
/// equal parts with an option: `metis:shares=8/1/1`, `coordinate:shares=8/1/1`, `inertial:shares=8/1/1`.
class UnequalParts : public GraphPartitioner {
 public:
  /// How the graph is divided.
  enum class Method {
    metis,       ///< as MetisPartitioner
    coordinate,  ///< as CoordinateBisection along the coordinate axes
    inertial     ///< as CoordinateBisection along the principal axes
  };
  /// Shares that are not positive and finite are an Error (bad_input).
  UnequalParts(Method method, std::vector<double> shares);

  std::string name() const override;
  /// With fewer parts than shares, the first ones count; more parts than shares are an Error (bad_input).
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override;

 private:
  Method method_;
  std::vector<double> shares_;
};

}  // namespace voussoir
