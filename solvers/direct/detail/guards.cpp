#include <voussoir/solvers/direct/detail/guards.hpp>

#include <voussoir/backends/host_memory.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir::detail {

namespace {

std::string megabytes(double bytes) { return short_number(bytes / 1e6, 4) + " MB"; }

}  // namespace

void throw_out_of_memory(double bytes, const std::string& what) {
  const std::string size = bytes > 0 ? megabytes(bytes) : "";
  throw Error(ErrorCode::out_of_memory,
              "out of memory" + (size.empty() ? "" : " (" + size + ")") + " in " + what +
                  "; use the CG solver, a coarser mesh, or a machine with more memory",
              "direct solver");
}

void require_room(double bytes, const std::string& what) {
  const AvailableMemory room = available_host_memory();
  // Of memory that is reserved, a part is as a rule never used. Only limits on what is reserved count all of it.
  const double wanted = room.allocation_fails ? bytes : 0.8 * bytes;
  if (wanted <= room.bytes) return;
  throw Error(ErrorCode::out_of_memory,
              what + " needs about " + megabytes(bytes) + ", and " + room.limit + " leaves " + megabytes(room.bytes) +
                  "; use the CG solver, a coarser mesh, or a machine with more memory",
              "direct solver");
}

}  // namespace voussoir::detail
