#include <voussoir/solvers/direct/detail/guards.hpp>

#include <cstdio>

namespace voussoir::detail {

void throw_out_of_memory(double bytes, const std::string& what) {
  std::string size;
  if (bytes > 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", bytes / 1e6);
    size = std::string(" of ") + text + " MB";
  }
  throw Error(
      ErrorCode::out_of_memory,
      "memory" + size + " for " + what + " cannot be had; use the CG solver, a coarser mesh, or a machine with more",
      "direct solver");
}

}  // namespace voussoir::detail
