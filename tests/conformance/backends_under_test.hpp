#pragma once
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

namespace voussoir::conformance {

/// The backend that all others are measured against.
inline constexpr const char* oracle = "openmp:1";

/// "cuda,cuda:0,0" has two specifications: a comma before a digit belongs to the one before it.
inline std::vector<std::string> split_specifications(const std::string& text) {
  std::vector<std::string> all;
  std::string one;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool more = i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]));
    if (i < text.size() && (text[i] != ',' || more)) {
      one += text[i];
    } else if (!one.empty()) {
      all.push_back(one);
      one.clear();
    }
  }
  return all;
}

/// Specifications of the backends that every test here runs on; the environment variable VOUSSOIR_TEST_BACKENDS adds to
/// them.
inline std::vector<std::string> backends_under_test() {
  std::vector<std::string> all{oracle, "openmp", "debug", "debug:2"};
  if (const char* more = std::getenv("VOUSSOIR_TEST_BACKENDS"))
    for (auto& one : split_specifications(more)) all.push_back(std::move(one));
  return all;
}

/// A specification as part of a test's name: letters and digits alone.
inline std::string test_name(std::string specification) {
  for (char& c : specification)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return specification;
}

}  // namespace voussoir::conformance
