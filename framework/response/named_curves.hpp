#pragma once
#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace voussoir {

/// Histories of results with their names; each has a value for every time.
using NamedHistories = std::vector<std::pair<std::string, std::vector<double>>>;
/// Complex amplitudes of results with their names; each has one for every frequency.
using NamedSweeps = std::vector<std::pair<std::string, std::vector<std::complex<double>>>>;

}  // namespace voussoir
