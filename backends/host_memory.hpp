#pragma once
#include <string>

// How much more host memory this process may allocate. It is checked before work begins, since some libraries do not
// handle a failed allocation.

namespace voussoir {

/// The tightest limit on the memory of this process.
struct AvailableMemory {
  double bytes = 0;   ///< memory that may still be allocated; infinite if the system does not report it
  std::string limit;  ///< name of the limit for messages: "the limit of the address space (ulimit -v)"
  /// True if allocating more fails; false if the system overcommits and would kill the process when memory is used.
  bool allocation_fails = false;
};

/// The tightest of: the limits of address space and data (ulimit -v, ulimit -d), those of the control group and its
/// parents (cgroup versions 1 and 2), and the free memory and swap space of the machine.
AvailableMemory available_host_memory();

namespace detail {

/// Where the system's files are; tests use a folder of their own.
struct SystemFiles {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};
/// The part of available_host_memory() that the control groups decide.
AvailableMemory available_cgroup_memory(const SystemFiles& files);

}  // namespace detail
}  // namespace voussoir
