#include <voussoir/backends/host_memory.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

namespace voussoir {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// The number at the start of a file; infinite where there is none ("max").
double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : endless;
}

/// Values of a file of lines "name value", of which `wanted` are added up.
double sum_in(const std::string& path, std::initializer_list<const char*> wanted) {
  std::ifstream file(path);
  double sum = 0;
  std::string name, rest;
  for (double value; file >> name >> value; std::getline(file, rest))
    for (const char* each : wanted)
      if (name == each) sum += value;
  return sum;
}

void tighten(AvailableMemory& room, double bytes, const char* limit, bool allocation_fails) {
  if (!(bytes < room.bytes)) return;
  room = {std::max(bytes, 0.0), limit, allocation_fails};
}

/// One limit of a process: what it is, less what is in use.
void tighten_by_limit(AvailableMemory& room, decltype(RLIMIT_AS) resource, double used, const char* text) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  tighten(room, static_cast<double>(limit.rlim_cur) - used, text, true);
}

/// "/a/b", "/a" and "" for "/a/b": a group and all above it.
std::vector<std::string> with_all_above(std::string group) {
  while (group.ends_with('/')) group.pop_back();
  std::vector<std::string> all;
  for (; !group.empty(); group.resize(group.rfind('/'))) {
    all.push_back(group);
    if (group.find('/') == group.npos) break;
  }
  all.emplace_back();
  return all;
}

}  // namespace

namespace detail {

AvailableMemory available_cgroup_memory(const SystemFiles& files) {
  AvailableMemory room{endless, "", false};
  // Lines are "4:memory:/path" for version 1 and "0::/path" for version 2.
  std::ifstream groups(files.proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version_1 = controllers.find(",memory,") != controllers.npos;
    if (!version_1 && controllers != ",,") continue;
    // In a container the path may be that of the host, where its own root holds the limit.
    for (const std::string& group : with_all_above(line.substr(second + 1))) {
      const std::string folder = files.cgroup + (version_1 ? "/memory" : "") + group;
      const double limit = number_in(folder + (version_1 ? "/memory.limit_in_bytes" : "/memory.max"));
      const double used = number_in(folder + (version_1 ? "/memory.usage_in_bytes" : "/memory.current"));
      // Version 1 writes "no limit" as a number near 2⁶³.
      if (!(limit < 1e18) || !(used < 1e18)) continue;
      // Pages of files that were read count as used, and go when memory is needed.
      const double files_kept = version_1
                                    ? sum_in(folder + "/memory.stat", {"total_inactive_file", "total_active_file"})
                                    : sum_in(folder + "/memory.stat", {"inactive_file", "active_file"});
      tighten(room, limit - std::max(used - files_kept, 0.0), "the memory limit of the control group", false);
    }
  }
  return room;
}

}  // namespace detail

AvailableMemory available_host_memory() {
  AvailableMemory room = detail::available_cgroup_memory({});
  const double machine = 1024 * sum_in("/proc/meminfo", {"MemAvailable:", "SwapFree:"});
  if (machine > 0) tighten(room, machine, "the memory of this machine", false);

  // Pages of the process: all of its address space, …, data and stack (proc(5)).
  double pages[6] = {};
  std::ifstream statm("/proc/self/statm");
  for (double& value : pages) statm >> value;
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  tighten_by_limit(room, RLIMIT_AS, page * pages[0], "the limit of the address space (ulimit -v)");
  tighten_by_limit(room, RLIMIT_DATA, page * pages[5], "the limit of the data segment (ulimit -d)");
  return room;
}

}  // namespace voussoir
