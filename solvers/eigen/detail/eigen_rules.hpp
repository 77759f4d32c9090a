#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <voussoir/framework/analysis/eigen_problem.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

// What the eigen-solvers and their automatic choice go by.

namespace voussoir::detail {

/// The largest dimension of the elements of a domain; 0 if none has a shape (springs, masses).
inline int dimension_of(const Domain& domain) {
  int dimension = 0;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (const std::string& shape = domain.block(b).type().shape(); !shape.empty())
      dimension = std::max(dimension, shape_topology(shape).dim);
  return dimension;
}

/// Unknowns up to which K − σM is factorised in some seconds, whatever the shape of the mesh: up to here `auto` takes
/// lanczos, and a factorisation is made only to count modes.
inline std::int64_t affordable_equations(int dimension) { return dimension == 3 ? 60000 : 400000; }
inline std::int64_t affordable_equations(const Domain& domain) { return affordable_equations(dimension_of(domain)); }

/// A shift s of the order of the lowest eigenvalue of a compact body, for K + sM where K is singular.
inline double first_shift(double largest_ratio, std::int64_t free_equations) {
  return 1e-2 * largest_ratio * std::pow(static_cast<double>(std::max<std::int64_t>(free_equations, 1)), -2.0 / 3);
}
inline double first_shift(const EigenProblem& problem) {
  return first_shift(problem.largest_ratio(), problem.free_equations());
}

/// Whether so many modes are a large part of all, for which block methods without a factorisation are not made: the
/// modes, their guard vectors and two more blocks must fit into the space, which a singular mass makes smaller.
inline bool is_large_part(std::int64_t modes, const EigenProblem& problem) {
  return 4 * modes > problem.free_equations();
}

}  // namespace voussoir::detail
