#pragma once
#include <gtest/gtest.h>

#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir::testing {

/// The message of the Error that `work` throws, or "" if it throws none.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Expects `text` to contain `part`.
inline void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace voussoir::testing
