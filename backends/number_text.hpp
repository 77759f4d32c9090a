#pragma once
#include <string>

namespace voussoir {

/// A number for messages, with at most `digits` significant digits: "0.25", "1e-09".
std::string short_number(double value, int digits);

/// A number in the shortest form that reads back as the same double.
std::string exact_number(double value);

}  // namespace voussoir
