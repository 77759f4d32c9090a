#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/partition/process/process_eigen.hpp>

namespace voussoir {

/// What is known of the whole model before its modes are searched for; equal on all processes.
struct ModeSearchFacts {
  std::int64_t free_equations = 0;          ///< unknowns that are solved for
  std::int64_t equations_without_mass = 0;  ///< of these, unknowns with a zero diagonal entry in M
  double largest_ratio = 0;                 ///< largest ratio of diagonal entries of K and M
  /// Unknowns up to which a factorisation is made only to count modes.
  std::int64_t affordable_equations = 0;
  int possible_free_motions = 0;  ///< motions without stiffness that the geometry allows
  bool others_possible = true;    ///< whether there may be others
  std::int64_t fillers = 0;       ///< of the unknowns without mass, those that only fill up a node of a superelement
};

/// Finds the modes of a request by searches of an engine, and counts them by Sturm sequences where that is affordable.
/// Collective. At the end the solver keeps the modes of the report, in its order. Errors: bad_input for requests that
/// make no sense or that the method does not support, singular for stiffness that is lost in rounding errors.
EigenReport find_process_modes(ProcessEigenSolver& solver, const ModeSearchFacts& facts, const EigenRequest& request);

}  // namespace voussoir
