#pragma once
#include <cstdint>
#include <span>
#include <string>

// The choice of a direct solver.

namespace voussoir {

/// The direct solvers.
enum class DirectMethod {
  automatic,    ///< the best that this build has
  mumps,        ///< multifrontal, pivots for stability, blocks of right-hand sides; the fastest on large models
  eigen,        ///< Eigen's simplicial LDLᵀ; in every build
  cholmod,      ///< SuiteSparse's supernodal Cholesky, only in builds that enable it (part of it is under the GPL)
  band,         ///< LDLᵀ within a band in the given order: for small or slender models with a good numbering
  profile,      ///< LDLᵀ under a skyline in the given order
  multifrontal  ///< the project's own multifrontal LDLᵀ, in every build: one thread for each object, and objects side
                ///< by side, which MUMPS does not allow; the choice for the parts of a decomposition
};

/// The name of a method: "auto", "mumps", …
const char* to_string(DirectMethod method);

/// All methods except `automatic`, including those that this build lacks.
std::span<const DirectMethod> direct_methods();

/// The method of a name: "auto", "mumps", "eigen", "cholmod", "band", "profile",
/// "multifrontal". An unknown name is an Error
/// (not_found) that lists them.
DirectMethod direct_method(const std::string& name);

/// Why this build lacks a method; empty if it has the method.
std::string why_unavailable(DirectMethod method);

/// A chosen method and the reason.
struct DirectChoice {
  DirectMethod method = DirectMethod::eigen;  ///< never automatic
  std::string why;                            ///< the reason, for reports
};

/// Chooses a direct method for a symmetric matrix of n equations with `entries` stored entries (upper triangle). A
/// method other than `automatic` is used as requested, or is an Error (unavailable); `automatic` is MUMPS if it is
/// built in, since only MUMPS pivots for stability, else Eigen.
DirectChoice choose_direct(std::int64_t n, std::int64_t entries, DirectMethod wanted = DirectMethod::automatic);

}  // namespace voussoir
