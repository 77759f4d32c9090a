#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <source_location>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir::testing {

/// Runs `work` and expects an Error of this code whose message has every one of the given pieces: an error is only as
/// good as the place that it names.
template <class Work>
void expect_error(ErrorCode code, std::initializer_list<std::string> pieces, Work work,
                  const std::source_location& here = std::source_location::current()) {
  const ::testing::ScopedTrace trace(here.file_name(), static_cast<int>(here.line()), "expect_error");
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& piece : pieces)
      EXPECT_NE(std::string(error.what()).find(piece), std::string::npos)
          << "the message does not say '" << piece << "': " << error.what();
  }
}

}  // namespace voussoir::testing
