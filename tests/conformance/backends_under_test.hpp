#pragma once
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "support/further_backends.hpp"

namespace voussoir::conformance {

using voussoir::further::split_specifications;

/// The backend that all others are measured against.
inline constexpr const char* oracle = "openmp:1";

/// Specifications of the backends that every test here runs on: those of the library, and further ones from plugins.
inline std::vector<std::string> backends_under_test() {
  static const voussoir::further::EmulationPath until_the_end;
  std::vector<std::string> all{oracle, "openmp", "debug", "debug:2"};
  for (const std::string& one : voussoir::further::specifications())
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  return all;
}

/// The same with one emulated device at most: for what each device does by itself, since the emulation is slow.
inline std::vector<std::string> single_emulated_backend() {
  auto all = backends_under_test();
  std::erase(all, "emulated:0,0");
  return all;
}

/// The same without the emulation, where threads run one after another, so that no order could ever change.
inline std::vector<std::string> backends_that_run_at_once() {
  auto all = single_emulated_backend();
  std::erase(all, "emulated");
  return all;
}

/// A specification as part of a test's name: letters and digits alone.
inline std::string test_name(std::string specification) {
  for (char& c : specification)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return specification;
}

}  // namespace voussoir::conformance
