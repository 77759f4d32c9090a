#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>

namespace voussoir {

/// A mode of one set and the mode of another that is most like it.
struct ModePair {
  int a = 0;               ///< mode of the first set, counted from 0
  int b = 0;               ///< mode of the second set, likewise
  double frequency_a = 0;  ///< in cycles per time
  double frequency_b = 0;  ///< likewise
  double mac = 0;          ///< modal assurance criterion of the two: 1 for the same shape
  /// The share of shape a that the modes of the second set with the frequency of b have together. Modes of equal
  /// frequency may be mixed at will, so that this is what tells whether such modes agree; else it is about `mac`.
  double group_mac = 0;
};

/// How modes are matched.
struct MatchOptions {
  double smallest_mac = 0.1;      ///< pairs that are less alike are not reported
  double equal_frequency = 0.01;  ///< relative difference up to which modes of the second set are one group
  double most_skipped = 0.5;      ///< share of the nodes that may lie outside of the second body
};

/// The modes of two meshes of one body, matched.
struct ModeMatch {
  int modes_a = 0;              ///< number of modes of the first set
  int modes_b = 0;              ///< number of modes of the second set
  std::vector<double> mac;      ///< of each mode of a with each of b, by rows
  std::vector<ModePair> pairs;  ///< each mode in at most one pair, most alike first found; in the order of a
  std::int64_t nodes = 0;       ///< nodes of the first mesh that were compared
  std::int64_t skipped = 0;     ///< nodes that lie outside of the second mesh

  double at(int a, int b) const { return mac[static_cast<std::size_t>(a * modes_b + b)]; }  ///< an entry of `mac`
};

/// Matches modes of two different meshes of one body, which may have different element types and orders: the
/// displacements of the second mesh are interpolated at the nodes of the first, where the modal assurance criterion
/// (aᵀb)² / (aᵀa · bᵀb) compares them. Nodes outside of the second mesh, as on curved boundaries, are skipped and
/// counted. For one and the same mesh there is modal_assurance(). Throws Error (bad_input) where the directions of
/// displacements differ, where modes belong to other meshes, or where too many nodes are outside.
ModeMatch match_modes(const Domain& mesh_a, const ModeSet& a, const Domain& mesh_b, const ModeSet& b,
                      const MatchOptions& options = {});

}  // namespace voussoir
