#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/partition/partition.hpp>

namespace voussoir {

/// What a method of decomposition meets in one part.
struct PartQuality {
  int part = 0;                      ///< number of the part
  std::int64_t elements = 0;         ///< number of elements
  double weight = 0;                 ///< sum of the weights of its elements
  std::int64_t nodes = 0;            ///< those on the interface included
  std::int64_t interface_nodes = 0;  ///< shared with other parts
  int neighbours = 0;                ///< parts that share a node with it
  int pieces = 0;                    ///< sets of elements that no face, or edge in the plane, connects
  int floating_pieces = 0;           ///< pieces without a node that a support holds
  double aspect = 1;                 ///< longest divided by shortest side of the box around its elements' centroids
};

/// The quality of a partition for methods of decomposition.
struct PartitionQuality {
  std::vector<PartQuality> parts;    ///< one per part
  double imbalance = 1;              ///< weight of the heaviest part divided by the mean
  std::int64_t edge_cut = 0;         ///< pairs of neighbouring elements in different parts
  std::int64_t interface_nodes = 0;  ///< nodes of two or more parts
  bool supported = true;             ///< whether the model has any support; without, all pieces float

  /// Parts that methods have trouble with, one sentence each: those in several pieces, floating ones, and parts with
  /// fewer than three interface nodes, which too little connects to the others.
  std::vector<std::string> findings() const;
  /// A table with a row for each part.
  CsvTable table() const;
};

/// Examines a partition. A piece counts as floating if none of its nodes has a prescribed unknown or a support along a
/// direction; springs to ground and films are not looked at.
PartitionQuality examine_partition(const Domain& domain, const Partition& partition);

}  // namespace voussoir
