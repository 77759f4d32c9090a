#pragma once
#include <string>

// How much more main memory this process may take, so that work can be refused before it runs into a limit in the
// middle of a library that does not expect that.

namespace voussoir {

/// The tightest of the limits on the memory of this process.
struct HostMemoryRoom {
  double bytes = 0;   ///< that may still be allocated; infinite where the system tells nothing
  std::string limit;  ///< what ends it: "the limit of the address space (ulimit -v)"
  /// True where allocating more fails; false where the system would hand it out, and end the process when it is used.
  bool allocation_fails = false;
};

/// Looks at the limits of address space and data (ulimit -v, ulimit -d), at those of the control group and the groups
/// above it (cgroup versions 1 and 2), and at the memory and swap space that the machine has left.
HostMemoryRoom host_memory_room();

namespace detail {

/// Where the system's files are looked for; tests give a folder of their own.
struct SystemFiles {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};
/// The part of host_memory_room() that the control groups decide.
HostMemoryRoom cgroup_memory_room(const SystemFiles& files);

}  // namespace detail
}  // namespace voussoir
