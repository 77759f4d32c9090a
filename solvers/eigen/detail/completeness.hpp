#pragma once
#include <cstdint>
#include <span>
#include <string>

#include <voussoir/framework/analysis/eigen_solver.hpp>

namespace voussoir::detail {

/// Eigenvalues that differ by less than this, relatively, belong to one group of equal frequencies.
inline constexpr double same_eigenvalue = 1e-6;

/// A value just above the first `count` of ascending eigenvalues and all that are equal to the last of them, and below
/// what comes `next`, as far as that is known: where modes are counted.
double limit_above(std::span<const double> values, int count, double next);

/// "verified: 27 of 27 below 203.1 Hz", or what is to be said instead.
std::string sturm_statement(std::int64_t found, std::int64_t counted, double from, double limit);
/// Residuals up to which a probe iterates, and which modes must have for it to say anything: shapes that are less exact
/// contain parts of modes that were missed, so that these are not in the complement that is searched.
inline constexpr double probe_tolerance = 1e-3;

/// What is said instead of probe_statement() where the modes are not exact enough.
std::string loose_statement(std::int64_t found, double tolerance, double limit);
/// "probe found none missing below 203.1 Hz (16 vectors)", or that it found some.
std::string probe_statement(std::int64_t found, std::int64_t missing, int vectors, double limit);

}  // namespace voussoir::detail
