#pragma once
#include <cstdint>

#include <voussoir/backends/detail/any_side.hpp>

// The rules of multigrid by smoothed aggregation that all backends must share to the letter: with them a hierarchy has
// the same groups wherever it is built.

namespace voussoir::detail {

/// What a node is while roots are being chosen. The order matters: a root beats what is undecided.
enum class RootStatus : std::uint32_t { out = 0, undecided = 1, root = 2 };

/// A fixed mix of the number of a node: neighbours get unrelated priorities, the same on each run.
VSR_ANY_SIDE inline std::uint32_t node_priority(std::uint32_t node) {
  std::uint32_t h = node + 0x9e3779b9u;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

/// Status (2 bits), priority (30) and number (32) of a node in one word, so that the larger word is the node that goes
/// first and no two nodes tie.
VSR_ANY_SIDE inline std::uint64_t root_word(RootStatus status, std::uint32_t node) {
  return (static_cast<std::uint64_t>(status) << 62) | (static_cast<std::uint64_t>(node_priority(node) >> 2) << 32) |
         node;
}

VSR_ANY_SIDE inline RootStatus root_status(std::uint64_t word) { return static_cast<RootStatus>(word >> 62); }

/// What becomes of a node after a round, from the largest word within two strong steps of it.
VSR_ANY_SIDE inline std::uint64_t next_root_word(std::uint64_t own, std::uint64_t largest_nearby, std::uint32_t node) {
  if (root_status(own) != RootStatus::undecided) return own;
  if (largest_nearby == own) return root_word(RootStatus::root, node);
  if (root_status(largest_nearby) == RootStatus::root) return root_word(RootStatus::out, node);
  return own;
}

/// Whether two nodes are tied at all: `norm2_ij` is the squared Frobenius norm of the block between them, the others
/// the norms of their diagonal blocks. What is zero but for rounding does not tie, since backends round differently.
VSR_ANY_SIDE inline bool is_tied(double norm2_ij, double norm_ii, double norm_jj) {
  return norm2_ij > 1e-20 * norm_ii * norm_jj;
}

/// Whether a neighbour is a strong one.
VSR_ANY_SIDE inline bool is_strong(double norm2_ij, double norm_ii, double norm_jj, double threshold) {
  return is_tied(norm2_ij, norm_ii, norm_jj) && norm2_ij > threshold * threshold * norm_ii * norm_jj;
}

/// How strongly two nodes are tied, in small steps: backends round differently, and meshes have many ties that are
/// equal but for rounding. 0 where they are not tied. The odd factor keeps fractions that meshes like off the edges of
/// steps.
VSR_ANY_SIDE inline std::uint32_t strength_step(double norm2_ij, double norm_ii, double norm_jj) {
  if (!is_tied(norm2_ij, norm_ii, norm_jj)) return 0;
  const double share = __builtin_sqrt(norm2_ij / (norm_ii * norm_jj));
  return 1 + static_cast<std::uint32_t>(share < 4 ? 1013.37 * share : 4054);
}

/// A neighbour in one word, so that the larger word is the neighbour that goes first: the stronger one, else the one
/// with the higher number.
VSR_ANY_SIDE inline std::uint64_t neighbour_word(std::uint32_t step, std::uint32_t node) {
  return (static_cast<std::uint64_t>(step) << 32) | node;
}

/// A number between −1/2 and 1/2 that follows from a place alone.
VSR_ANY_SIDE inline double noise(std::uint64_t place) {
  std::uint64_t h = place + 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  h ^= h >> 31;
  // 52 bits and a half: never one of the ends.
  return (static_cast<double>(h >> 12) + 0.5) / 4503599627370496.0 - 0.5;
}

/// A column of the tentative basis is left out where what remains after orthogonalisation is but rounding.
VSR_ANY_SIDE inline bool is_dependent(double norm_after, double norm_before) {
  return !(norm_after > 1e-8 * norm_before);
}

/// The step along the first direction of a K-cycle: c·b / c·v, or 0 where c has no energy.
VSR_ANY_SIDE inline double k_first_step(double c_v, double c_b) { return c_v > 0 ? c_b / c_v : 0; }

/// How much of each direction a K-cycle takes.
struct KSteps {
  double c = 0;
  double d = 0;
};

/// Minimises the energy of the error over c and d (Notay and Vassilevski 2008). Where d adds no direction of its own,
/// down to the rounding of single precision, only c is taken; where c has no energy, nothing.
VSR_ANY_SIDE inline KSteps k_steps(double c_v, double c_b, double d_v, double d_w, double d_r) {
  KSteps steps;
  if (!(c_v > 0)) return steps;
  steps.c = c_b / c_v;
  const double own_energy = d_w - d_v * d_v / c_v;
  if (!(own_energy > 1e-6 * d_w) || !(d_w > 0)) return steps;
  steps.d = d_r / own_energy;
  steps.c -= d_v / c_v * steps.d;
  return steps;
}

}  // namespace voussoir::detail
