#pragma once
#include <string>

namespace voussoir {

/// A number for people, with at most so many significant digits: "0.25", "1e-09".
std::string short_number(double value, int digits);

/// A number with the fewest digits that are read back as the same number.
std::string exact_number(double value);

}  // namespace voussoir
