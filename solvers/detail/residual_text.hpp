#pragma once
#include <cstdio>
#include <string>

namespace voussoir::detail {

/// What the true residual of an iterative solver may be above the tolerance.
inline constexpr double residual_slack = 1.05;

/// A residual in messages: "1.2e-09".
inline std::string residual_text(double residual) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", residual);
  return text;
}

}  // namespace voussoir::detail
