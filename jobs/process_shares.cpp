#include <voussoir/jobs/detail/process_shares.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace voussoir::detail {

std::vector<ProcessShare> collect_shares(Processes& processes, const ProcessPlacement& placement,
                                         const Backend& backend, const ProcessPart& part, std::int64_t part_bytes) {
  std::vector<ProcessShare> shares;
  std::int64_t elements = 0, owned = 0;
  if (!part.job.domains.empty()) elements = part.job.domains.front()->element_count();
  for (std::int32_t n = 0; n < part.node_count(); ++n) owned += part.owns(n);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::int64_t kilobyte = 1024;
  const std::string text =
      std::to_string(placement.processors) + " " + std::to_string(backend.threads()) + " " + std::to_string(elements) +
      " " + std::to_string(part.node_count()) + " " + std::to_string(owned) + " " + std::to_string(part_bytes) + " " +
      std::to_string(usage.ru_maxrss * kilobyte) + " " + placement.machine + "\n" + backend.describe();
  processes.collect(text, [&](int, const std::string& from) {
    ProcessShare share;
    char* at = const_cast<char*>(from.c_str());
    share.processors = static_cast<int>(std::strtoll(at, &at, 10));
    share.threads = static_cast<int>(std::strtoll(at, &at, 10));
    share.elements = std::strtoll(at, &at, 10);
    share.nodes = std::strtoll(at, &at, 10);
    share.owned_nodes = std::strtoll(at, &at, 10);
    share.part_bytes = std::strtoll(at, &at, 10);
    share.peak_bytes = std::strtoll(at, &at, 10);
    const std::string rest = *at ? at + 1 : at;
    share.machine = rest.substr(0, rest.find('\n'));
    share.backend = rest.substr(std::min(rest.size(), rest.find('\n') + 1));
    shares.push_back(std::move(share));
  });
  return shares;
}

}  // namespace voussoir::detail
