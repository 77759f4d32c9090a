#pragma once
#include <CLI/CLI.hpp>

// What numbers of the command line must be, in words that a person reads once.

namespace voussoir::app {

/// "must be a number above 0, not 'abc'"
CLI::Validator above_zero();
/// "must be a number from 1e-15 to 0.5, not '0'"
CLI::Validator number_between(double least, double greatest);
/// "must be an integer from 1 to 1024, not '0'"
CLI::Validator whole_number_between(long long least, long long greatest);

}  // namespace voussoir::app
