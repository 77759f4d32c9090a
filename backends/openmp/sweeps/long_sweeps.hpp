#pragma once
#include <algorithm>
#include <vector>

#include <voussoir/backends/openmp/sweeps/sweep_kernels.hpp>

namespace voussoir::cpu {

/// From this length on, systems are cut into parts unless the method `sequential` is asked for: what the forward pass
/// of eight whole systems keeps would no longer fit the cache of a core, and one system alone would occupy one core.
/// The choice and the cuts depend on the length alone, so that a system has the same bits in any batch.
inline constexpr std::int64_t long_system = 16384;
/// The shortest system that is cut.
inline constexpr std::int64_t shortest_cut = 64;

/// How the rows of a system are cut: parts of equal length, a pack of them at a time, and a shorter one for the rest.
struct SystemCut {
  explicit SystemCut(std::int64_t length);
  std::int64_t length;  ///< rows of the system
  std::int64_t packs;   ///< of sweep_lanes equal parts each
  std::int64_t rows;    ///< of each of these parts
  std::int64_t rest;    ///< rows of the last part; 0: there is none
  std::int64_t parts() const { return packs * sweep_lanes + (rest > 0 ? 1 : 0); }  ///< of the system
  std::int64_t jobs() const { return packs + (rest > 0 ? 1 : 0); }                 ///< packs, and the rest as one more
};

/// What the parts of a system leave for each other: coefficients of row 0 of each part, reduced, and its last unknown
/// as last_beta − last_gamma s − last_alpha s_next, where s is the first unknown of the part.
template <class T>
struct PartEnds {
  T lower = 0, size = 0, coupling = 0, diagonal = 0, right = 0;
  T last_alpha = 0, last_beta = 0, last_gamma = 0;
  T first = 0;  ///< s, once it is known
};

/// Eliminates the rows of one job of a system. `scratch` has cut_scratch() numbers. Returns the lowest fault.
template <class T>
detail::SweepWord reduce_parts(const SweepBatch<T>& batch, bool periodic, std::int64_t system, const SystemCut& cut,
                               std::int64_t job, T* scratch, PartEnds<T>* ends);

/// Solves for the first unknowns of all parts.
template <class T>
detail::SweepWord couple_parts(const SweepBatch<T>& batch, std::int64_t system, const SystemCut& cut,
                               PartEnds<T>* ends);

/// Computes the unknowns of one job. Its rows are eliminated again, which takes less time than to keep those of a long
/// system in memory. Returns whether all unknowns are finite.
template <class T>
bool finish_parts(const SweepBatch<T>& batch, bool periodic, std::int64_t system, const SystemCut& cut,
                  std::int64_t job, T* scratch, const PartEnds<T>* ends);

/// Numbers of scratch that a thread needs.
inline std::int64_t cut_scratch(const SystemCut& cut) { return 3 * sweep_lanes * std::max(cut.rows, cut.rest); }

/// The first unknown of a system that is not finite.
template <class T>
detail::SweepWord first_not_finite(const SweepBatch<T>& batch, std::int64_t system);

}  // namespace voussoir::cpu
