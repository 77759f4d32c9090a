#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <voussoir/framework/domain/domain.hpp>

// Rules of the eigen-solvers that searches for modes on several processes follow, too.

namespace voussoir {

/// Whether two eigenvalues belong to one group of equal frequencies.
bool are_equal_eigenvalues(double a, double b);
/// The value at which modes are counted: just above the first `count` of ascending eigenvalues and any that are equal
/// to the last of these.
double counting_limit(std::span<const double> values, int count);
/// "verified: 27 of 27 below 203.1 Hz", or the corresponding statement if modes are missing, between two eigenvalues.
std::string counted_statement(std::int64_t found, std::int64_t counted, double from, double limit);
/// A shift s of the order of the lowest eigenvalue of a compact body, for K + sM where K is singular.
double first_trial_shift(double largest_ratio, std::int64_t free_equations);
/// The largest dimension of the elements of a domain; 0 if none has a shape.
int largest_dimension(const Domain& domain);
/// Unknowns up to which a factorisation is made only to count modes, by the dimension of the elements.
std::int64_t countable_equations(int dimension);

}  // namespace voussoir
