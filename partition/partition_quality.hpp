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
  /// Corners of the decomposition: interface nodes that no element connects with another node of the same parts.
  int corners = 0;
  /// Corners that would hold a floating part: 3 in space, 2 in the plane, 1 for elements with rotations, bodies of
  /// revolution and heat.
  int corners_needed = 0;
  int corners_missed = 0;  ///< corners that would hold a floating piece, which has fewer; 0: there is no such piece
  double aspect = 1;       ///< longest divided by shortest side of the box around its nodes; sides of length 0 left out
};

/// The quality of a partition for methods of decomposition.
struct PartitionQuality {
  std::vector<PartQuality> parts;    ///< one per part
  double imbalance = 1;              ///< weight of the heaviest part divided by the mean
  std::int64_t edge_cut = 0;         ///< pairs of neighbouring elements in different parts
  std::int64_t interface_nodes = 0;  ///< nodes of two or more parts
  bool supported = true;             ///< whether the model has any support; without, all pieces float

  /// What methods have trouble with, one sentence for each kind, which lists the parts: those in several pieces,
  /// floating ones, parts with fewer interface nodes than would hold them, which too little connects to the others, and
  /// parts with a floating piece that has fewer corners than would hold it. Without `with_supports`, what depends on
  /// supports is left out, as for a mesh that has none yet.
  std::vector<std::string> findings(bool with_supports = true) const;
  /// A text table with a line for each part, of less than 100 characters; for more than 8 parts also the lowest and the
  /// highest number of each column. Then the sums and the findings.
  std::string describe(bool with_supports = true) const;
  /// A table with a row for each part.
  CsvTable table() const;
};

/// Examines a partition. Parts may be empty. A piece counts as floating if none of its nodes has a prescribed unknown
/// or a support along a direction, itself or through equations with a node that has, such as the reference node of a
/// rigid body or of a coupling; springs to ground and films are not looked at.
PartitionQuality examine_partition(const Domain& domain, const Partition& partition);

}  // namespace voussoir
