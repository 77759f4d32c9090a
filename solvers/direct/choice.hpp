#pragma once
#include <cstdint>
#include <span>
#include <string>

// Which direct solver to use, and why.

namespace voussoir {

/// The available direct solvers.
enum class DirectMethod {
  automatic,  ///< the best that this build has
  mumps,      ///< multifrontal, pivots for stability, blocks of right-hand sides; the fastest on large models
  eigen,      ///< Eigen's simplicial LDLᵀ; always there
  cholmod,    ///< SuiteSparse's supernodal Cholesky, only in builds that enable it (part of it is under the GPL)
  band,       ///< LDLᵀ within a band, in the order given: for small or slender models numbered well
  profile     ///< LDLᵀ within a skyline, in the order given
};

const char* to_string(DirectMethod method);

/// All methods but `automatic`, also those that this build lacks.
std::span<const DirectMethod> direct_methods();

/// The method called `name` ("auto", "mumps", "eigen", "cholmod", "band", "profile"). Throws Error{not_found} that
/// lists them.
DirectMethod direct_method(const std::string& name);

/// Why this build lacks a method; empty where it has it.
std::string why_unavailable(DirectMethod method);

/// A method, and the reason for its choice as text.
struct DirectChoice {
  DirectMethod method = DirectMethod::eigen;  ///< never automatic
  std::string why;                            ///< for reports
};

/// Picks a direct method for a symmetric matrix of n equations and `entries` stored entries (upper triangle). What the
/// user selects by name is used, or rejected with Error{unavailable}; `automatic` selects MUMPS if it is built in,
/// since only MUMPS pivots for stability, else Eigen.
DirectChoice choose_direct(std::int64_t n, std::int64_t entries, DirectMethod wanted = DirectMethod::automatic);

}  // namespace voussoir
